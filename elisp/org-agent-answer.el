;;; org-agent-answer.el --- Answers as they arrive in a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;; This program is free software; you can redistribute it and/or modify
;; it under the terms of the GNU General Public License as published by
;; the Free Software Foundation, either version 3 of the License, or
;; (at your option) any later version.

;; This program is distributed in the hope that it will be useful,
;; but WITHOUT ANY WARRANTY; without even the implied warranty of
;; MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the
;; GNU General Public License for more details.

;; You should have received a copy of the GNU General Public License
;; along with this program.  If not, see <https://www.gnu.org/licenses/>.

;;; Commentary:

;; An answer comes twice: as deltas while it is written, the *preview*,
;; and then as a whole, the *act*.  The act has the last word: a preview
;; that equals it stays, one that differs is changed to it, and without a
;; preview the whole text goes in.  An act is performed once, whatever
;; happens: its `:ID:' in the buffer says that it was.
;;
;; The text goes to the end of the subtree of its question.  Point,
;; windows, mark, kill ring, draft and undo list stay the user's: see
;; `org-agent-undo.el' for how one answer is one undo step.  While it is
;; being written, and only then, the answer is read-only.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-agent-rpc)
(require 'org-agent-undo)
(require 'org-agent-inert)
(require 'org-agent-draft)

(defvar-local org-agent-answer--previews nil
  "Previews in this buffer: an alist of turns and `org-agent-preview's.")
(put 'org-agent-answer--previews 'permanent-local t)

(defvar org-agent-answer--writing nil
  "Non-nil while this file changes a preview.")

(cl-defstruct (org-agent-preview (:copier nil))
  "An answer that is being written.
Its region is from BEG to END.  The text begins at TEXT (a missing line
end stands before it) and ends with a line end, which belongs to the
answer only if CLOSED.  The line that is not finished begins at LINE;
TAIL is what came of it, and STATE says how it is to be read."
  id event beg end text line record
  (received 0 :documentation "Code points that came.")
  (closed nil)
  (tail "")
  (state (make-org-agent-inert-state))
  (asked nil :documentation "Non-nil while a gap was asked for."))

(defconst org-agent-answer--line-limit 4000
  "Characters of an unfinished line that are checked again with each delta.")

;;;; Changing the buffer

(defmacro org-agent-answer--undisturbed (&rest body)
  "Run BODY, which changes the conversation, without disturbing its user.
The buffer is widened and writable; point, match data and an active
region stay; a file that changed on disk makes nobody ask."
  (declare (indent 0) (debug t))
  `(let ((inhibit-read-only t)
         (deactivate-mark nil)
         (org-agent-answer--writing t)
         (buffer-file-name nil)
         (buffer-file-truename nil))
     (save-excursion
       (save-restriction
         (widen)
         (save-match-data ,@body)))))

(defun org-agent-answer--refuse (&rest _)
  "Refuse to change an answer that is being written, also by undo."
  (unless org-agent-answer--writing
    (signal 'text-read-only
            (list "The answer is being written; C-c C-k stops it"))))

(defun org-agent-answer--protect (preview)
  "Make the text of PREVIEW read-only."
  (org-agent-undo-off
    (add-text-properties
     (org-agent-preview-beg preview) (org-agent-preview-end preview)
     (list 'read-only "The answer is being written; C-c C-k stops it"
           'org-agent-preview (org-agent-preview-id preview)
           'modification-hooks '(org-agent-answer--refuse)
           'rear-nonsticky '(read-only org-agent-preview
                                       modification-hooks)))))

(defun org-agent-answer--release (preview)
  "Make the text of PREVIEW ordinary text and forget its markers."
  (let ((beg (org-agent-preview-beg preview))
        (end (org-agent-preview-end preview)))
    (org-agent-undo-off
      (remove-text-properties
       beg end '(read-only nil org-agent-preview nil
                           modification-hooks nil rear-nonsticky nil)))
    (dolist (marker (list beg end (org-agent-preview-text preview)
                          (org-agent-preview-line preview)))
      (set-marker marker nil))))

(defun org-agent-answer-insert (position text)
  "Insert TEXT at POSITION as one undo step and return its record.
TEXT ends in a line end.  What is folded stays folded, and who was at
the beginning of what follows stays there."
  (let* ((length (length text))
         (followers (and (< position (point-max))
                         (org-agent-answer--at position)))
         (folded (org-agent-answer--folded position))
         (record (org-agent-undo-insert-new position text)))
    (org-agent-answer--move followers (+ position length))
    (when folded
      (org-agent-answer--fold folded (+ position length)))
    record))

(defun org-agent-answer--at (position)
  "Return who stands at POSITION: windows, and `mark'."
  (append
   (cl-remove-if-not (lambda (window) (= (window-point window) position))
                     (get-buffer-window-list nil nil t))
   (and (mark t) (= (mark t) position) '(mark))))

(defun org-agent-answer--move (followers position)
  "Bring FOLLOWERS, see `org-agent-answer--at', to POSITION."
  (dolist (follower followers)
    (if (eq follower 'mark)
        (set-marker (mark-marker) position)
      (set-window-point follower position))))

;;;; Folding

(defun org-agent-answer--folded (position)
  "Return where the fold begins that text at POSITION would belong to.
That is the end of a heading's line, when everything from there to
POSITION is folded; nil when a line end before POSITION shows."
  (let ((last (- position 2)))
    (when (and (> last (point-min))
               (org-agent-answer--outline-hidden-p last))
      (let ((beg last))
        (while (and (> beg (point-min))
                    (org-agent-answer--outline-hidden-p (1- beg)))
          (setq beg (max (point-min)
                         (previous-single-char-property-change
                          beg 'invisible))))
        (save-excursion
          (goto-char beg)
          (forward-line 0)
          ;; The fold of a sibling, deeper than what comes in, is its own.
          (and (looking-at "\\(\\*+\\) ")
               (let ((level (- (match-end 1) (match-beginning 1))))
                 (goto-char position)
                 (org-agent-answer--fold-covers-p level))
               beg))))))

(defun org-agent-answer--outline-hidden-p (position)
  "Return non-nil when POSITION is folded as a part of the outline."
  (eq (get-char-property position 'invisible) 'outline))

(defvar org-agent-answer--level nil
  "The level of the heading under which text goes in.")

(defun org-agent-answer--fold-covers-p (level)
  "Return non-nil when a heading of LEVEL holds what goes in."
  (and org-agent-answer--level (<= level org-agent-answer--level)))

(defun org-agent-answer--fold (beg end)
  "Fold the text from BEG to END, up to its last line end."
  (if (fboundp 'org-fold-region)
      (funcall 'org-fold-region beg (1- end) t 'outline)
    (with-no-warnings (org-flag-region beg (1- end) t 'outline))))

;;;; Places

(defun org-agent-answer--place (event)
  "Return the end of the subtree of the question EVENT, nil without one.
Set `org-agent-answer--level' to its level."
  (when-let ((heading (org-agent-find-heading event)))
    (setq org-agent-answer--level (org-agent-heading-level heading))
    (org-agent-subtree-end heading)))

(defun org-agent-answer--before-draft ()
  "Return the place before the draft."
  (setq org-agent-answer--level 0)
  (or (org-agent-draft-start) (point-max)))

(defun org-agent-answer--line-end (position)
  "Return a line end if one is missing before POSITION, or else nothing."
  (if (or (= position (point-min)) (eq (char-before position) ?\n))
      ""
    "\n"))

(defun org-agent-answer--closed (text)
  "Return TEXT with a line end."
  (if (string-suffix-p "\n" text) text (concat text "\n")))

;;;; Previews

(defun org-agent-answer-preview (turn)
  "Return the preview of TURN in this buffer, or nil."
  (cdr (assoc turn org-agent-answer--previews)))

(defun org-agent-answer-previews-p ()
  "Return non-nil while an answer is being written in this buffer."
  (and org-agent-answer--previews t))

(defun org-agent-answer-regions ()
  "Return the regions, (BEG . END), of what is being written, in order."
  (sort (mapcar (lambda (entry)
                  (cons (marker-position (org-agent-preview-beg (cdr entry)))
                        (marker-position (org-agent-preview-end (cdr entry)))))
                org-agent-answer--previews)
        #'car-less-than-car))

(defun org-agent-answer-delta (params gap)
  "Show what PARAMS, those of `turn/delta', bring.
GAP is called with a code point when what stands from there on is
missing; it is expected to ask the kernel for it."
  (let* ((turn (plist-get params :turn))
         (id (plist-get params :id))
         (offset (or (plist-get params :offset) 0))
         (text (or (plist-get params :text) ""))
         (preview (org-agent-answer-preview turn)))
    (when (and preview
               (or (not (equal id (org-agent-preview-id preview)))
                   (and (zerop offset) (string-empty-p text))))
      (org-agent-answer-remove turn)
      (setq preview nil))
    (cond
     ((string-empty-p text))
     (preview (org-agent-answer--continue preview offset text gap))
     ((org-agent-find-heading id))      ; the act was quicker
     ((zerop offset)
      (org-agent-answer--begin turn id (plist-get params :event) text))
     (t (funcall gap 0)))))

(defun org-agent-answer--begin (turn id event text)
  "Begin the preview ID of TURN, the answer to EVENT, with TEXT.
Without the question nothing is shown before the act comes."
  (org-agent-answer--undisturbed
    (let ((place (org-agent-answer--place event)))
      (when place
        (let* ((prefix (org-agent-answer--line-end place))
               (record (org-agent-answer-insert place (concat prefix "\n")))
               (beg (+ place (length prefix)))
               (preview (make-org-agent-preview
                         :id id :event event :record record
                         :beg (copy-marker place t)
                         :end (copy-marker (1+ beg))
                         :text (copy-marker beg)
                         :line (copy-marker beg))))
          (push (cons turn preview) org-agent-answer--previews)
          (org-agent-answer--add preview text))))))

(defun org-agent-answer--continue (preview offset text gap)
  "Add TEXT, which stands at OFFSET, to PREVIEW.
What came already is left out; OFFSET 0 begins anew.  GAP is as for
`org-agent-answer-delta'."
  (let ((received (org-agent-preview-received preview)))
    (cond
     ((and (zerop offset) (> received 0))
      (org-agent-answer--undisturbed
        (org-agent-answer--restart preview text)))
     ((> offset received)
      (unless (org-agent-preview-asked preview)
        (setf (org-agent-preview-asked preview) t)
        (funcall gap received)))
     ((> (+ offset (length text)) received)
      (org-agent-answer--undisturbed
        (org-agent-answer--add preview (substring text (- received offset))))))))

(defun org-agent-answer--restart (preview text)
  "Show TEXT in PREVIEW in the place of all that was shown."
  (let ((beg (marker-position (org-agent-preview-text preview)))
        (end (marker-position (org-agent-preview-end preview))))
    (org-agent-answer--replace preview beg end "\n")
    (setf (org-agent-preview-received preview) 0
          (org-agent-preview-closed preview) nil
          (org-agent-preview-tail preview) ""
          (org-agent-preview-state preview) (make-org-agent-inert-state))
    (set-marker (org-agent-preview-line preview) beg)
    (org-agent-answer--add preview text)))

(defun org-agent-answer--add (preview text)
  "Add TEXT at the end of PREVIEW.
What was shown of the unfinished line is checked again with it: only
then it can be seen whether it is active Org."
  (let* ((tail (concat (org-agent-preview-tail preview) text))
         (line (marker-position (org-agent-preview-line preview)))
         (checked (org-agent-inert-lines tail (org-agent-preview-state preview)))
         (inert (nth 0 checked))
         (final (nth 1 checked))
         (closed (string-suffix-p "\n" inert))
         (shown (org-agent-answer--closed inert)))
    (org-agent-answer--replace preview line
                               (marker-position (org-agent-preview-end preview))
                               shown)
    (cl-incf (org-agent-preview-received preview) (length text))
    (setf (org-agent-preview-closed preview) closed
          (org-agent-preview-asked preview) nil
          (org-agent-preview-state preview) (nthcdr 2 checked)
          (org-agent-preview-tail preview) (substring tail final))
    (set-marker (org-agent-preview-line preview)
                (+ line (org-agent-answer--final-length inert)))
    (org-agent-answer--shorten preview)
    (org-agent-answer--protect preview)))

(defun org-agent-answer--final-length (text)
  "Return the length of the whole lines in TEXT."
  (if (string-match "[^\n]*\\'" text) (match-beginning 0) 0))

(defun org-agent-answer--shorten (preview)
  "Count most of a very long unfinished line of PREVIEW as finished.
Otherwise each delta would cost as much as the line is long."
  (let* ((tail (org-agent-preview-tail preview))
         (excess (- (length tail) org-agent-answer--line-limit)))
    (when (> excess 0)
      (let ((keep (/ org-agent-answer--line-limit 2))
            (state (org-agent-inert-copy-state
                    (org-agent-preview-state preview))))
        (unless (org-agent-inert-state-block state)
          (setf (org-agent-inert-state-place state) 'body))
        (setf (org-agent-preview-tail preview) (substring tail (- keep))
              (org-agent-preview-state preview) state)
        ;; From there on the buffer may hold a few marks more than TAIL;
        ;; they are replaced with it.
        (set-marker (org-agent-preview-line preview)
                    (- (org-agent-preview-end preview) 1 keep))))))

(defun org-agent-answer--replace (preview beg end text)
  "Replace the part from BEG to END of PREVIEW by TEXT.
The end of the preview stays behind TEXT."
  (let ((last (+ (org-agent-preview-end preview)
                 (- (length text) (- end beg)))))
    (org-agent-undo-replace (org-agent-preview-record preview) beg end text)
    (set-marker (org-agent-preview-end preview) last)))

(defun org-agent-answer-remove (turn)
  "Take the preview of TURN away, if there is one."
  (when-let ((preview (org-agent-answer-preview turn)))
    (org-agent-answer--undisturbed
      (let ((beg (marker-position (org-agent-preview-beg preview)))
            (end (marker-position (org-agent-preview-end preview))))
        (org-agent-answer--release preview)
        (when (< beg end)
          (org-agent-undo-delete (org-agent-preview-record preview)
                                 beg end))))
    (org-agent-answer--forget turn)))

(defun org-agent-answer-remove-all ()
  "Take all previews away."
  (dolist (entry (copy-sequence org-agent-answer--previews))
    (org-agent-answer-remove (car entry))))

(defun org-agent-answer--forget (turn)
  "Forget the preview of TURN."
  (setq org-agent-answer--previews
        (assoc-delete-all turn org-agent-answer--previews)))

;;;; Acts

(defun org-agent-answer-perform (id turn event text words)
  "Put the answer TEXT with the ID, of TURN to EVENT, into the buffer, once.
WORDS are those of the question, for a heading that is gone.  Return
where TEXT stands, (BEG . END)."
  (let ((inert (org-agent-inert text))
        (preview (org-agent-answer-preview turn)))
    (unless (equal inert text)
      (org-agent-rpc-log "made inert: the text of %s had active Org in it" id))
    (org-agent-answer--undisturbed
      (prog1
          (cond
           ((and preview (equal id (org-agent-preview-id preview)))
            (org-agent-answer--settle preview inert))
           ((org-agent-answer--present id inert))
           (t (org-agent-answer--insert-whole event inert words)))
        (when (and preview (equal id (org-agent-preview-id preview)))
          (org-agent-answer--release preview)
          (org-agent-answer--forget turn))))))

(defun org-agent-answer--settle (preview text)
  "Make what PREVIEW shows equal to TEXT and return where it stands."
  (let ((beg (marker-position (org-agent-preview-text preview)))
        (closed (org-agent-answer--closed text)))
    (org-agent-answer--replace preview beg
                               (marker-position (org-agent-preview-end preview))
                               closed)
    (cons beg (+ beg (length text)))))

(defun org-agent-answer--present (id text)
  "Return where the answer with the ID stands, nil when it does not.
TEXT is as it came; what a person changed counts as they left it."
  (when-let ((heading (org-agent-find-heading id)))
    (let ((end (min (point-max) (+ heading (length text)))))
      (cons heading
            (if (equal (buffer-substring-no-properties heading end) text)
                end
              (org-agent-subtree-end heading))))))

(defun org-agent-answer--insert-whole (event text words)
  "Insert the answer TEXT to EVENT and return where it stands.
Without its question it goes before the draft, under a heading made of
WORDS if there are any."
  (let* ((place (or (org-agent-answer--place event)
                    (prog1 (org-agent-answer--before-draft)
                      (setq text (org-agent-answer--regarding words text)))))
         (prefix (org-agent-answer--line-end place))
         (closed (org-agent-answer--closed text))
         (beg (+ place (length prefix))))
    (org-agent-answer-insert place (concat prefix closed))
    (cons beg (+ beg (length text)))))

(defun org-agent-answer--regarding (words text)
  "Return the answer TEXT under a heading that names WORDS."
  (let ((words (string-trim (or words ""))))
    (if (string-empty-p words)
        text
      (concat "* Re: " words "\n" text))))

(defun org-agent-answer-insert-question (id subtree)
  "Insert the question SUBTREE with the ID before the draft, once."
  (unless (org-agent-find-heading id)
    (org-agent-answer--undisturbed
      (let* ((place (org-agent-answer--before-draft))
             (prefix (org-agent-answer--line-end place)))
        (org-agent-answer-insert
         place (concat prefix (org-agent-answer--closed subtree)))))))

(provide 'org-agent-answer)
;;; org-agent-answer.el ends here
