;;; org-agent-answer.el --- Answers as they arrive in a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An answer comes twice: as deltas while it is written, the *preview*,
;; and then as a whole, the *act*.  The act decides: a preview with the
;; same text stays, another preview is changed to it, and without a preview
;; the whole text is inserted.  An act is performed once; its `:ID:' in the
;; buffer shows that it was.  If the kernel was killed meanwhile, the act
;; says so, and what was shown until then is kept below it: nobody else has
;; it.
;;
;; The text is inserted at the end of the subtree of its question.  Point,
;; windows, mark, kill ring and draft stay as they are, and one answer is
;; one undo step (see `org-agent-undo.el').  While an answer is being
;; written, and only then, it is read-only.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-agent-rpc)
(require 'org-agent-undo)
(require 'org-agent-inert)
(require 'org-agent-fontify)
(require 'org-agent-page)
(require 'org-agent-heading)
(require 'org-agent-draft)

(defvar-local org-agent-answer-previews nil
  "An alist of turns and their previews, `org-agent-answer-partial's.")
(put 'org-agent-answer-previews 'permanent-local t)

(defvar-local org-agent-answer--last-record nil
  "The turn whose answer was last written and its undo record, (TURN . RECORD).")
(put 'org-agent-answer--last-record 'permanent-local t)

(defvar-local org-agent-answer--begun nil
  "The turn that began last and its place in the undo list: (TURN . PLACE).")
(put 'org-agent-answer--begun 'permanent-local t)

(defvar org-agent-answer-undoable t
  "Non-nil means that an inserted answer is an undo step.
It is nil while earlier turns are inserted.")

(defvar org-agent-answer-writing nil
  "Non-nil while Emacs, and not the person, changes the conversation.")

(cl-defstruct (org-agent-answer-partial (:copier nil))
  "An answer that is being written.
Its region is from BEG to END.  The text begins at TEXT, before which a
missing line end may stand.  It ends with a line end, which may not be a
part of the answer.  The unfinished line begins at LINE.  TAIL is its
text, and STATE the state in which it is to be checked.  FONTIFIED says
how far the text is highlighted."
  id event beg end text line record
  (received 0 :documentation "The number of code points that came.")
  (tail "")
  (state (make-org-agent-inert-state))
  (fontified (make-org-agent-fontify-progress))
  (gap-requested nil :documentation "Non-nil while a missing part is requested."))

(defconst org-agent-answer--line-limit 4000
  "How much of an unfinished line is checked again with each delta.")

;;;; Changing the buffer

(defvar org-agent-answer-point nil
  "A marker at which point is to be after the change.")

(defmacro org-agent-answer-undisturbed (&rest body)
  "Run BODY, which changes the conversation, without disturbing its user.
The buffer is widened and writable.  Point, match data and an active
region stay.  No question is asked when the file has changed on disk."
  (declare (indent 0) (debug t))
  `(let ((inhibit-read-only t)
         (deactivate-mark nil)
         (org-agent-answer-writing t)
         (org-agent-answer-point (point-marker))
         (buffer-file-name nil)
         (buffer-file-truename nil))
     (unwind-protect
         (save-restriction
           (widen)
           (save-match-data ,@body))
       (goto-char org-agent-answer-point)
       (set-marker org-agent-answer-point nil))))

(defun org-agent-answer-refuse (&rest _)
  "Refuse to change an answer that is being written, also by undo."
  (unless org-agent-answer-writing
    (signal 'text-read-only
            (list "The answer is being written; C-c C-k stops it"))))

;; The category of the text of an answer that is being written.  Nothing can be
;; inserted within it; text can be inserted after it.  One property costs less
;; than four, at each change of a face within the text.
(put 'org-agent-answer-protected 'read-only
     "The answer is being written; C-c C-k stops it")
(put 'org-agent-answer-protected 'modification-hooks '(org-agent-answer-refuse))
(put 'org-agent-answer-protected 'front-sticky '(read-only))
(put 'org-agent-answer-protected 'rear-nonsticky
     '(category read-only modification-hooks))

(defun org-agent-answer--with-properties (text preview-begins ours)
  "Give TEXT, a new string, the text properties that it has in a preview.
Return it.  So inserting it is one change of the buffer.  When
PREVIEW-BEGINS with TEXT, other text can be inserted before it.  OURS is
as for `org-agent-fontify-ours'."
  (let ((end (length text)))
    (put-text-property 0 end 'category 'org-agent-answer-protected text)
    (put-text-property 0 end 'fontified ours text))
  (when preview-begins
    (put-text-property 0 1 'front-sticky nil text))
  text)

(defun org-agent-answer--release (preview)
  "Make the text of PREVIEW ordinary text and delete its markers.
From now on font lock highlights it."
  (let ((beg (org-agent-answer-partial-beg preview))
        (end (org-agent-answer-partial-end preview)))
    (org-agent-fontify-no-later (org-agent-answer-partial-fontified preview))
    (org-agent-undo-off
      (remove-text-properties beg end '(category nil front-sticky nil)))
    (font-lock-flush beg end)
    (dolist (marker (list beg end (org-agent-answer-partial-text preview)
                          (org-agent-answer-partial-line preview)))
      (set-marker marker nil))))

(defun org-agent-answer-insert (position text &optional heading record)
  "Insert TEXT at POSITION as one undo step and return its record.
TEXT ends in a line end.  Point, mark and window points that were before
the text that follows stay before it.  When HEADING, below which TEXT is
inserted, is folded, TEXT is folded, too.  RECORD is a record of the same
turn: if its text was removed, or ends at POSITION, TEXT belongs to it."
  (let* ((end (+ position (length text)))
         (followers (and (< position (point-max))
                         (org-agent-answer--points-at position)))
         (fold (and heading (org-agent-answer--fold-start position heading)))
         (record (cond
                  ((or (org-agent-undo-vacant-p record)
                       (org-agent-undo-ends-at-p record position))
                   (org-agent-undo-insert record position text)
                   record)
                  (org-agent-answer-undoable
                   (org-agent-undo-insert-new position text))
                  (t (org-agent-undo-insert nil position text)))))
    (org-agent-answer--move followers end)
    (when fold
      (org-agent-answer--fold fold end))
    record))

(defun org-agent-answer-begin (turn)
  "Note that TURN begins.
Changes that the user makes from now on are undone before its answer,
even if none of it has come yet."
  (unless (equal turn (car org-agent-answer--begun))
    (setq org-agent-answer--begun (cons turn (org-agent-undo-place)))))

(defun org-agent-answer-end (turn)
  "Note that TURN has ended.
If its text is gone, remove its undo record.  Text that still comes gets
a record at the same place of the undo list."
  (let ((record (and (equal turn (car org-agent-answer--last-record))
                     (cdr org-agent-answer--last-record))))
    (when (org-agent-undo-vacant-p record)
      (setq org-agent-answer--begun (cons turn (org-agent-undo-drop record))
            org-agent-answer--last-record nil))))

(defun org-agent-answer--record (turn &optional record)
  "Return the undo record of TURN, or nil; with RECORD set it.
A turn without a record gets one where it began."
  (cond
   (record (cdr (setq org-agent-answer--last-record (cons turn record))))
   ((not org-agent-answer-undoable) nil)
   ((equal turn (car org-agent-answer--last-record))
    (cdr org-agent-answer--last-record))
   ((equal turn (car org-agent-answer--begun))
    (org-agent-undo-vacant (cdr org-agent-answer--begun)))))

(defun org-agent-answer--points-at (position)
  "Return the points that are at POSITION: windows, `point' and `mark'."
  (append
   (and org-agent-answer-point (= org-agent-answer-point position) '(point))
   (and (mark t) (= (mark t) position) '(mark))
   (cl-remove-if-not (lambda (window) (= (window-point window) position))
                     (get-buffer-window-list nil nil t))))

(defun org-agent-answer--move (followers position)
  "Move FOLLOWERS, see `org-agent-answer--points-at', to POSITION."
  (dolist (follower followers)
    (pcase follower
      ('point (set-marker org-agent-answer-point position))
      ('mark (set-marker (mark-marker) position))
      (window (set-window-point window position)))))

;;;; Folding

(defun org-agent-answer--folded-p (position)
  "Return non-nil when POSITION is in a fold of the outline.
Hidden drawers and the hidden parts of links do not count."
  (and (>= position (point-min))
       (if (fboundp 'org-fold-folded-p) ; Org 9.6
           (funcall 'org-fold-folded-p position 'outline)
         (eq (get-char-property position 'invisible) 'outline))))

(defun org-agent-answer--hidden-from (position)
  "Return the beginning of the fold that contains or ends at POSITION."
  (while (and (> position (point-min))
              (org-agent-answer--folded-p (1- position)))
    (setq position (previous-single-char-property-change position 'invisible)))
  position)

(defun org-agent-answer--fold-start (position heading)
  "Return the start of the fold that text inserted at POSITION belongs to.
POSITION is the end of the subtree of HEADING.  Return nil unless all
text from the end of HEADING's line on is folded."
  (let ((last (- position 2))
        (line-end (save-excursion (goto-char heading) (line-end-position))))
    (when (and (> last line-end) (org-agent-answer--folded-p last))
      (let ((beg (org-agent-answer--hidden-from last)))
        (and (<= beg line-end) beg)))))

(defun org-agent-answer--fold (beg end &optional open)
  "Fold the text from BEG to END, up to its last line end; or OPEN it."
  (org-agent-heading-call-org 'org-fold-region 'org-flag-region
                              beg (1- end) (not open) 'outline))

(defmacro org-agent-answer-folded-alike (heading &rest body)
  "Run BODY, which rewrites the subtree of HEADING, and keep its fold.
If the fold begins after the heading, it begins after the new heading
afterwards."
  (declare (indent 1) (debug t))
  (let ((beg (make-symbol "beg")) (line-end (make-symbol "line-end")))
    `(let* ((,line-end (save-excursion (goto-char ,heading) (line-end-position)))
            (,beg (org-agent-answer--fold-start
                   (org-agent-heading-subtree-end ,heading) ,heading)))
       (if (not (eql ,beg ,line-end))
           (progn ,@body)
         (org-agent-answer--fold ,beg (org-agent-heading-subtree-end ,heading) 'open)
         ,@body
         (org-agent-answer--fold
          (save-excursion (goto-char ,heading) (line-end-position))
          (org-agent-heading-subtree-end ,heading))))))

;;;; Positions

(defun org-agent-answer--before-draft ()
  "Return the position before the draft."
  (or (org-agent-draft-start) (point-max)))

(defun org-agent-answer--line-end (position)
  "Return a line end if one is missing before POSITION, or else \"\"."
  (if (or (= position (point-min)) (eq (char-before position) ?\n))
      ""
    "\n"))

(defun org-agent-answer-closed (text)
  "Return TEXT with a line end at its end."
  (if (string-suffix-p "\n" text) text (concat text "\n")))

;;;; Previews

(defun org-agent-answer-preview (turn)
  "Return the preview of TURN in this buffer, or nil."
  (cdr (assoc turn org-agent-answer-previews)))

(defun org-agent-answer-previews-p ()
  "Return non-nil while an answer is being written in this buffer."
  (and org-agent-answer-previews t))

(defun org-agent-answer-regions ()
  "Return the regions, (BEG . END), of the previews, in order."
  (sort (mapcar (lambda (entry)
                  (cons (marker-position (org-agent-answer-partial-beg (cdr entry)))
                        (marker-position (org-agent-answer-partial-end (cdr entry)))))
                org-agent-answer-previews)
        #'car-less-than-car))

(defun org-agent-answer-delta (params gap)
  "Show the text of PARAMS, those of `turn/delta'.
GAP is called with a code point when the text from there on is missing;
it has to request that text from the kernel."
  (let* ((turn (plist-get params :turn))
         (id (plist-get params :id))
         (offset (or (plist-get params :offset) 0))
         (text (or (plist-get params :text) ""))
         (preview (org-agent-answer-preview turn)))
    (when (and preview
               (or (not (equal id (org-agent-answer-partial-id preview)))
                   (and (zerop offset) (string-empty-p text))))
      (org-agent-answer-remove turn)
      (setq preview nil))
    (cond
     ((string-empty-p text))
     (preview (org-agent-answer--continue preview offset text gap))
     ((org-agent-heading-find id))      ; the act came first
     ((zerop offset)
      (org-agent-answer--begin turn id (plist-get params :event) text))
     (t (funcall gap 0)))))

(defun org-agent-answer--begin (turn id event text)
  "Begin the preview ID of TURN, the answer to EVENT, with TEXT.
If the question is not in the buffer show nothing; the act will come."
  (when-let* ((heading (org-agent-heading-find event)))
    (org-agent-answer-undisturbed
      (let* ((place (org-agent-heading-subtree-end heading))
             (prefix (org-agent-answer--line-end place))
             (beg (+ place (length prefix)))
             (checked (org-agent-inert-lines text (make-org-agent-inert-state)))
             (shown (org-agent-answer-closed (car checked)))
             (ours (org-agent-fontify-p place))
             (record (org-agent-answer--record
                      turn (org-agent-fontify-ours ours
                             (org-agent-answer-insert
                              place (org-agent-answer--with-properties
                                     (org-agent-page-with-room
                                      (concat prefix shown) place)
                                     t ours)
                              heading (org-agent-answer--record turn)))))
             (preview (make-org-agent-answer-partial
                       :id id :event event :record record
                       :beg (copy-marker place t)
                       :end (copy-marker (+ beg (length shown)))
                       :text (copy-marker beg)
                       :line (copy-marker beg))))
        (org-agent-page-without-room place)
        (push (cons turn preview) org-agent-answer-previews)
        (org-agent-answer--note preview beg checked text text)
        ;; However fast it comes, nobody is to see the properties.
        (org-agent-answer--fontify preview ours 0)))))

(defun org-agent-answer--continue (preview offset text gap)
  "Add TEXT, whose position in the answer is OFFSET, to PREVIEW.
Text that came before is skipped; OFFSET 0 begins anew.  GAP is as for
`org-agent-answer-delta'."
  (let ((received (org-agent-answer-partial-received preview)))
    (cond
     ((and (zerop offset) (> received 0))
      (org-agent-answer-undisturbed
        (org-agent-answer--restart preview text)))
     ((> offset received)
      (unless (org-agent-answer-partial-gap-requested preview)
        (setf (org-agent-answer-partial-gap-requested preview) t)
        (funcall gap received)))
     ((> (+ offset (length text)) received)
      (org-agent-draft-unharmed
        (org-agent-answer-undisturbed
          (org-agent-answer--add preview (if (= received offset) text
                                           (substring text (- received offset))))))))))

(defun org-agent-answer--restart (preview text)
  "Replace the whole text of PREVIEW by TEXT."
  (org-agent-fontify-no-later (org-agent-answer-partial-fontified preview))
  (setf (org-agent-answer-partial-received preview) 0
        (org-agent-answer-partial-tail preview) ""
        (org-agent-answer-partial-state preview) (make-org-agent-inert-state)
        (org-agent-answer-partial-fontified preview) (make-org-agent-fontify-progress))
  (set-marker (org-agent-answer-partial-line preview) (org-agent-answer-partial-text preview))
  (org-agent-answer--add preview text))

(defun org-agent-answer--add (preview text)
  "Add TEXT at the end of PREVIEW.
The unfinished line is checked again together with TEXT, since only then
it can be seen whether it is active Org."
  (let* ((all (concat (org-agent-answer-partial-tail preview) text))
         (line (marker-position (org-agent-answer-partial-line preview)))
         (checked (org-agent-inert-lines all (org-agent-answer-partial-state preview)))
         (ours (org-agent-fontify-p line)))
    (org-agent-page-without-room line)
    (org-agent-fontify-ours ours
      (org-agent-answer--replace
       preview line (org-agent-answer--with-properties
                     (org-agent-page-with-room
                      (org-agent-answer-closed (car checked))
                      (org-agent-answer-partial-end preview))
                     (= line (org-agent-answer-partial-beg preview)) ours)))
    (org-agent-answer--note preview line checked all text)
    (org-agent-answer--fontify preview ours (length text) line)))

(defun org-agent-answer--fontify (preview ours length &optional from)
  "Highlight the finished lines of PREVIEW, if OURS.
LENGTH is the number of characters that came.  When there are many,
highlight them later.  What is not highlighted yet is sketched, from the
line at FROM on, or all of it."
  (let* ((progress (org-agent-answer-partial-fontified preview))
         (fast (and ours (> length org-agent-fontify-fast)))
         (late (and (not fast) (org-agent-fontify-no-later progress)))
         (beg (marker-position (org-agent-answer-partial-beg preview)))
         (block (org-agent-inert-state-block (org-agent-answer-partial-state preview))))
    (if fast
        (org-agent-fontify-later progress #'org-agent-answer--fontify-late
                                 (current-buffer) preview)
      (when late
        (org-agent-fontify-pass-over progress beg))
      (org-agent-fontify-advance
       progress beg (marker-position (org-agent-answer-partial-line preview))
       block (or ours late)))
    (when (or ours block)
      (let ((done (+ beg (org-agent-fontify-progress-done progress))))
        (org-agent-page-sketch beg done (or from done)
                               (marker-position (org-agent-answer-partial-end preview)))))))

(defun org-agent-answer--fontify-late (buffer preview)
  "Highlight PREVIEW in BUFFER, if it is still being written."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when (marker-position (org-agent-answer-partial-line preview))
        (org-agent-answer-undisturbed
          (org-agent-answer--fontify preview t 0))))))

(defun org-agent-answer--note (preview line checked all text)
  "Note in PREVIEW that TEXT came and that ALL is shown from LINE on.
CHECKED is the result of `org-agent-inert-lines' for ALL."
  (pcase-let ((`(,inert ,final . ,state) checked))
    (cl-incf (org-agent-answer-partial-received preview) (length text))
    (setf (org-agent-answer-partial-gap-requested preview) nil
          (org-agent-answer-partial-state preview) state
          (org-agent-answer-partial-tail preview) (substring all final))
    (set-marker (org-agent-answer-partial-line preview)
                (+ line (org-agent-inert-whole-lines inert)))
    (org-agent-answer--shorten preview)))

(defun org-agent-answer--shorten (preview)
  "Treat most of a very long unfinished line of PREVIEW as finished.
Otherwise the cost of each delta would grow with the line."
  (let* ((tail (org-agent-answer-partial-tail preview))
         (excess (- (length tail) org-agent-answer--line-limit)))
    (when (> excess 0)
      (let ((keep (/ org-agent-answer--line-limit 2))
            (state (org-agent-inert-copy-state
                    (org-agent-answer-partial-state preview))))
        (unless (org-agent-inert-state-block state)
          (setf (org-agent-inert-state-place state) 'body))
        (setf (org-agent-answer-partial-tail preview) (substring tail (- keep))
              (org-agent-answer-partial-state preview) state)
        ;; From there on the buffer may hold a few marks more than TAIL;
        ;; they are replaced with it.
        (set-marker (org-agent-answer-partial-line preview)
                    (- (org-agent-answer-partial-end preview) 1 keep))))))

(defun org-agent-answer--replace (preview beg text)
  "Replace PREVIEW from BEG to its end by TEXT, which ends in a line end."
  (let* ((end (marker-position (org-agent-answer-partial-end preview)))
         (followers (org-agent-answer--points-at end))
         (folded (org-agent-answer--folded-p (- end 2))))
    (org-agent-undo-replace (org-agent-answer-partial-record preview) beg end text)
    (let ((last (+ beg (length text))))
      (set-marker (org-agent-answer-partial-end preview) last)
      (org-agent-answer--move followers last)
      (when folded
        (org-agent-answer--fold (org-agent-answer--hidden-from beg) last)))))

(defun org-agent-answer-remove (turn)
  "Remove the preview of TURN, if there is one."
  (when-let* ((preview (org-agent-answer-preview turn)))
    (org-agent-answer-undisturbed
      (let ((beg (marker-position (org-agent-answer-partial-beg preview)))
            (end (marker-position (org-agent-answer-partial-end preview))))
        (org-agent-answer--release preview)
        (when (< beg end)
          (org-agent-undo-delete (org-agent-answer-partial-record preview)
                                 beg end))))
    (org-agent-answer--forget turn)))

(defun org-agent-answer-remove-all ()
  "Remove all previews."
  (dolist (entry (copy-sequence org-agent-answer-previews))
    (org-agent-answer-remove (car entry))))

(defun org-agent-answer--forget (turn)
  "Forget the preview of TURN."
  (setq org-agent-answer-previews
        (assoc-delete-all turn org-agent-answer-previews)))

;;;; Acts

(defun org-agent-answer-perform (id turn event text words)
  "Insert the answer TEXT with the ID, of TURN to EVENT, once.
WORDS are the words of the question, for the case that its heading is
gone.  Return the position of TEXT, (BEG . END)."
  (let ((inert (org-agent-inert text (org-agent-answer--names id text)))
        (preview (org-agent-answer-preview turn)))
    (unless (equal inert text)
      (org-agent-rpc-log "made inert: the text of %s had active Org in it" id))
    (org-agent-answer-undisturbed
      (prog1
          (cond
           ((and preview (equal id (org-agent-answer-partial-id preview)))
            (org-agent-answer--complete preview inert))
           ((org-agent-answer--present id inert))
           (t (org-agent-answer--insert-whole turn event inert words)))
        (when (and preview (equal id (org-agent-answer-partial-id preview)))
          (org-agent-answer--release preview)
          (org-agent-answer--forget turn))))))

(defun org-agent-answer--names (id text)
  "Return the names that the buffer has beside the answer TEXT with the ID.
Where TEXT has none, nobody looks."
  (let ((case-fold-search t))
    (when (string-match-p "^[ \t]*#\\+\\(?:name\\|results?\\|tblname\\)\\(?:\\[.*\\]\\)?:[ \t]*[^ \t\n]" text)
      (apply #'org-agent-inert-names
             (append (org-agent-answer-regions)
                     (when-let* ((heading (org-agent-heading-find id)))
                       (list (cons heading (org-agent-heading-subtree-end heading)))))))))

(defun org-agent-answer--complete (preview text)
  "Make the text of PREVIEW equal to TEXT and return its position."
  (let ((beg (marker-position (org-agent-answer-partial-text preview)))
        (closed (org-agent-answer-closed text)))
    (org-agent-answer--replace preview beg closed)
    (cons beg (+ beg (length text)))))

(defun org-agent-answer--present (id text)
  "Return the position of the answer with the ID, (BEG . END), or nil.
TEXT is the answer as it came; a person may have changed it since."
  (when-let* ((heading (org-agent-heading-find id)))
    (let ((end (min (point-max) (+ heading (length text)))))
      (cons heading
            (if (equal (buffer-substring-no-properties heading end) text)
                end
              (org-agent-heading-subtree-end heading))))))

(defun org-agent-answer--insert-whole (turn event text words)
  "Insert the answer TEXT of TURN to EVENT and return its position.
If the question is gone, insert it before the draft, below a heading made
of WORDS if there are any."
  (let* ((heading (org-agent-heading-find event))
         (place (if heading
                    (org-agent-heading-subtree-end heading)
                  (org-agent-answer--before-draft)))
         (prefix (concat (org-agent-answer--line-end place)
                         (unless heading
                           (org-agent-answer--regarding words))))
         (beg (+ place (length prefix))))
    (org-agent-answer--record
     turn (org-agent-answer-insert
           place (org-agent-page-with-room
                  (concat prefix (org-agent-answer-closed text)) place)
           heading (org-agent-answer--record turn)))
    (org-agent-page-without-room place)
    (cons beg (+ beg (length text)))))

(defun org-agent-answer--regarding (words)
  "Return a heading \"Re: WORDS\", or nil without words."
  (let ((words (string-trim (or words ""))))
    (unless (string-empty-p words)
      (concat "* Re: " words "\n"))))

(defun org-agent-answer-insert-question (id subtree &optional parent)
  "Insert the question SUBTREE with the ID before the draft, once.
PARENT is the ID of the heading that it is below, or nil."
  (unless (org-agent-heading-find id)
    (org-agent-answer-undisturbed
      (let* ((above (and parent (org-agent-heading-find parent)))
             (place (if above (org-agent-heading-subtree-end above)
                      (org-agent-answer--before-draft)))
             (prefix (org-agent-answer--line-end place)))
        (org-agent-answer-insert
         place (concat prefix (org-agent-answer-closed subtree)))))))

(provide 'org-agent-answer)
;;; org-agent-answer.el ends here
