;;; org-agent-fontify.el --- Font lock of conversations: streams, blocks, drawers  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Text that is being written changes at its end many times a second.  At
;; each change font lock would highlight the unfinished line again, and the
;; whole of a source block, whose lines it highlights in another buffer.
;;
;; So text that a window shows is highlighted here, each line once, when it
;; is finished.  A source block is highlighted when it has ended, and before
;; that whenever it has become twice as long.  Text that no window shows is
;; left to font lock, and so is the whole text when it is complete.
;;
;; Text that comes faster than anyone reads is not highlighted as it comes.
;; That would be most of its cost, and the text has left the window soon.
;; The text that a window still shows is highlighted when less text comes,
;; or none.
;;
;; Until a line is highlighted one would see the marks of Org, and then see
;; them go.  So text that came just now is sketched: marks are hidden, and
;; what they mark looks as it will.  That is emphasis, links, headings, lists
;; and blocks of code.  A sketch costs a small part of what font lock does,
;; and font lock replaces it.
;;
;; Org highlights a block by calling the mode that the block names.  In
;; buffers with text of others only blocks of listed languages are
;; highlighted, whatever their file says.

;;; Code:

(require 'cl-lib)
(require 'font-lock)
(require 'jit-lock)
(require 'org)
(require 'org-src)
(require 'subr-x)
(require 'org-agent)
(require 'org-agent-inert)
(require 'org-agent-inert-list)
(require 'org-agent-layout)
(require 'org-agent-rpc)

(declare-function org-agent-held-fontify "org-agent-held")

;;;; Languages of blocks

(defun org-agent-fontify-listed-languages ()
  "Highlight only blocks of `org-agent-inert-list-languages' in this buffer."
  (font-lock-add-keywords nil '((org-agent-fontify--hold-languages))))

(defun org-agent-fontify--hold-languages (limit)
  "Prevent Org from calling modes of unlisted languages, from point to LIMIT.
This runs before Org's own rules for the same text.  Org takes
the word after any `#+begin_NAME' for a language."
  (save-excursion
    (let ((case-fold-search t))
      (while (re-search-forward "^[ \t]*#\\+begin_[a-z]+[ \t]*\\([^ \t\n]+\\)" limit t)
        (let ((name (match-string-no-properties 1)))
          (unless (or (member name org-agent-inert-list-languages)
                      (equal (cdr (assoc name org-src-lang-modes))
                             org-agent-inert-mark))
            (setq-local org-src-lang-modes
                        (cons (cons name org-agent-inert-mark)
                              org-src-lang-modes)))))))
  nil)

(defun org-agent-fontify-held-places ()
  "Have held places of this buffer shown as such."
  (font-lock-add-keywords nil '((org-agent-fontify--held-places)) 'append))

(defun org-agent-fontify--held-places (limit)
  "Give held places from point to LIMIT their face, if there are any."
  (when (save-excursion
          (re-search-forward (concat org-agent-inert-mark "\\|^[ \t]*:" org-agent-inert-prefix)
                             limit t))
    (org-agent-held-fontify limit))
  nil)

;;;; Text that is being written

(cl-defstruct (org-agent-fontify-progress (:copier nil))
  "How much of a text that is being written is highlighted, in characters.
The text up to DONE is highlighted.  The text from there up to ONCE is a
block that was highlighted before its end came.  The finished lines up
to SEEN were examined.  LATE is the timer that will highlight text that
came too fast, or nil, and CAME when the latest of that came."
  (done 0) (once 0) (seen 0) (late nil) (came 0))

(defconst org-agent-fontify--block 1000
  "The size in characters of a block that is highlighted before its end comes.")

(defconst org-agent-fontify-fast 50
  "The size of a delta in characters that is faster than anyone reads.
The kernel sends such a delta every twentieth of a second.")

(defconst org-agent-fontify--pause 0.6
  "Seconds without new text after which all text is highlighted.")

(defun org-agent-fontify-quietly ()
  "Show no messages while this buffer is highlighted.
Modes of blocks show some, as `sh-mode' does about indentation, which
would replace what the person reads in the echo area."
  (add-function :around (local 'font-lock-fontify-region-function)
                #'org-agent-fontify--quietly))

(defun org-agent-fontify--quietly (function &rest arguments)
  "Call FUNCTION with ARGUMENTS; neither show nor log its messages.
The mode of a block may have to be loaded, which allocates much."
  (let ((inhibit-message t)
        (message-log-max nil)
        (gc-cons-threshold (max gc-cons-threshold org-agent-rpc-gc-threshold)))
    (apply function arguments)))

(defun org-agent-fontify-later (progress function &rest arguments)
  "Call FUNCTION with ARGUMENTS when no text has come for a while.
FUNCTION highlights the text of PROGRESS.  A timer that runs already is
kept, since a new one for each piece of a text is much to clean up."
  (setf (org-agent-fontify-progress-came progress) (float-time))
  (unless (org-agent-fontify-progress-late progress)
    (org-agent-fontify--wait org-agent-fontify--pause progress function arguments)))

(defun org-agent-fontify--wait (seconds progress function arguments)
  "Look in SECONDS whether to call FUNCTION with ARGUMENTS for PROGRESS."
  (setf (org-agent-fontify-progress-late progress)
        (run-with-timer seconds nil #'org-agent-fontify--waited
                        progress function arguments)))

(defun org-agent-fontify--waited (progress function arguments)
  "Call FUNCTION with ARGUMENTS if the text of PROGRESS paused long enough."
  (let ((rest (- (+ (org-agent-fontify-progress-came progress)
                    org-agent-fontify--pause)
                 (float-time))))
    (if (< 0.001 rest org-agent-fontify--pause)
        (org-agent-fontify--wait rest progress function arguments)
      (apply function arguments))))

(defun org-agent-fontify-no-later (progress)
  "Cancel the timer of `org-agent-fontify-later' for PROGRESS.
Return non-nil if there was one."
  (when-let* ((timer (org-agent-fontify-progress-late progress)))
    (cancel-timer timer)
    (setf (org-agent-fontify-progress-late progress) nil)
    t))

(defun org-agent-fontify-p (position)
  "Return non-nil when text inserted at POSITION is highlighted here.
That is when a window shows it, and font lock works on demand."
  (and jit-lock-mode
       (cl-some (lambda (window) (>= (window-end window) position))
                (get-buffer-window-list nil 'no-minibuffer 'visible))))

(defmacro org-agent-fontify-ours (ours &rest body)
  "Run BODY, which inserts text; hide it from font lock if OURS."
  (declare (indent 1) (debug t))
  `(let ((jit-lock-mode (and jit-lock-mode (not ,ours)))) ,@body))

(defun org-agent-fontify-pass-over (progress beg)
  "Leave text that no window shows any more to font lock.
That is the text at BEG that is not highlighted yet, as PROGRESS says."
  (let ((from (+ beg (org-agent-fontify-progress-done progress)))
        (windows (get-buffer-window-list nil 'no-minibuffer 'visible)))
    (when windows
      (goto-char (apply #'min (mapcar #'window-start windows)))
      (forward-line 0)
      (when (> (point) from)
        (with-silent-modifications
          (put-text-property from (point) 'fontified nil))
        (setf (org-agent-fontify-progress-done progress) (- (point) beg))))))

(defun org-agent-fontify-advance (progress beg line in-block ours)
  "Highlight the finished lines of the text at BEG, up to LINE, if OURS.
IN-BLOCK is non-nil when a source or example block goes on at LINE.
PROGRESS is changed accordingly."
  (when (eq (char-before line) ?\n)      ; not within a very long line
    (let* ((from (+ beg (org-agent-fontify-progress-done progress)))
           (to (if in-block
                   (org-agent-fontify--block-start
                    line (+ beg (org-agent-fontify-progress-seen progress))
                    from)
                 line))
           (once (max to (+ beg (org-agent-fontify-progress-once progress)))))
      (when ours
        (org-agent-fontify--lines (org-agent-fontify--emphasis-above from beg) to)
        (when (>= (- line to)
                  (max org-agent-fontify--block (* 2 (- once to))))
          (org-agent-fontify--lines to line)
          (setq once line)))
      (setf (org-agent-fontify-progress-done progress) (- to beg)
            (org-agent-fontify-progress-once progress) (- once beg)
            (org-agent-fontify-progress-seen progress) (- line beg)))))

(defun org-agent-fontify--block-start (line seen former)
  "Return the beginning of the block that goes on at LINE.
If it does not begin after SEEN return FORMER."
  (goto-char line)
  (let ((case-fold-search t))
    (if (re-search-backward "^[ \t]*#\\+begin_" seen t)
        (point)
      former)))

(defun org-agent-fontify--emphasis-above (from beg)
  "Return FROM, or the line above if an emphasis goes on from there.
Font lock finds it only where it sees its beginning.  The text begins at
BEG."
  (goto-char from)
  (let ((found from))
    (when (and org-fontify-emphasized-text (> from beg))
      (forward-line -1)
      (let ((line (point)) (begins (org-agent-fontify--emphasis-begins)))
        ;; An emphasis of the user that is none does not stop the answer.
        (ignore-errors
          (while (and (= found from) (re-search-forward begins from t))
            (let ((next (point)))
              (goto-char (match-beginning 0))
              (when (and (org-agent-fontify--emphasis-p next) (> (match-end 2) from))
                (setq found line))
              (goto-char next))))))
    found))

(defun org-agent-fontify--lines (from to)
  "Highlight the lines from FROM to TO.
An error in a rule of the user does not stop the answer."
  (when (< from to)
    (ignore-errors
      (font-lock-fontify-region from to))))

;;;; Sketches of lines that are not highlighted yet

(defconst org-agent-fontify--sketch-farthest 20000
  "How many characters above a line the beginning of its block is looked for.")

(defconst org-agent-fontify--sketch-again 1000
  "How many characters that font lock highlights again with a line.")

(defconst org-agent-fontify--sketch-properties
  '(face invisible wrap-prefix org-emphasis font-lock-multiline)
  "The text properties that a sketch sets outside of blocks.")

(defconst org-agent-fontify--sketch-block-regexp "^[ \t]*#\\+\\(begin\\|end\\)_"
  "Matches how a line that begins or ends a block begins.")

(defconst org-agent-fontify--sketch-code-regexp
  "[ \t]*#\\+\\(?:begin\\|end\\)_\\(?:src\\|example\\|export\\)"
  "Matches a line that begins or ends code.")

(defun org-agent-fontify-sketch (beg bound from end)
  "Sketch the lines from FROM to END, which is the end of a line.
The text that is being written begins at BEG.  That before BOUND is
highlighted, and no block of code is begun there.  The match data
changes."
  (let* ((case-fold-search t)
         (from (org-agent-fontify--sketch-above (max from bound) bound))
         (block (org-agent-fontify--sketch-block bound from)))
    (org-agent-fontify--sketch-other-blocks
     (max beg (- bound org-agent-fontify--sketch-again)) bound)
    (org-agent-fontify--sketch-clear from end)
    (goto-char (or block from))
    (while (< (point) end)
      (if (looking-at org-agent-fontify--sketch-block-regexp)
          (org-agent-fontify--sketch-from-block end)
        (let ((beg (point)))
          (org-agent-fontify--sketch-text
           beg (if (re-search-forward org-agent-fontify--sketch-block-regexp end t)
                   (progn (forward-line 0) (point))
                 (goto-char end))
           (or block bound)))))))

(defun org-agent-fontify--sketch-above (from bound)
  "Return FROM, or the line in which an emphasis begins that goes on there.
It was sketched as far as it had come, behind BOUND."
  (goto-char from)
  (while (and (> (point) bound)
              (get-text-property (1- (point)) 'org-emphasis)
              (zerop (forward-line -1))))
  (max bound (point)))

(defun org-agent-fontify--sketch-block (bound from)
  "Return where the code begins that the line at FROM is in, or nil.
It begins behind BOUND."
  (goto-char from)
  (and (re-search-backward org-agent-fontify--sketch-block-regexp
                           (max bound (- from org-agent-fontify--sketch-farthest)) t)
       (org-agent-layout-code-p)
       (point)))

(defun org-agent-fontify--sketch-other-blocks (beg end)
  "Hide the first and last lines of quotations and the like from BEG to END.
Font lock does so when it finds both, and it has seen the first alone."
  (goto-char beg)
  (while (and (< (point) end)
              (re-search-forward org-agent-fontify--sketch-block-regexp end t))
    (forward-line 0)
    (let ((first (looking-at-p "[ \t]*#\\+begin_")))
      (unless (looking-at-p org-agent-fontify--sketch-code-regexp)
        (org-agent-layout-hide
         (if first (point) (max (point-min) (1- (point))))
         (if first (line-beginning-position 2) (line-end-position)))))
    (end-of-line)))

(defun org-agent-fontify--sketch-clear (beg end)
  "Remove an earlier sketch of the text from BEG to END.
What a title hides of the text that it repeats stays hidden."
  (when (and (> beg (point-min))
             (eq (get-text-property beg 'invisible) 'org-agent-page)
             (eq (get-text-property (1- beg) 'invisible) 'org-agent-page))
    (setq beg (next-single-property-change beg 'invisible nil end)))
  (when (< beg end)
    (remove-list-of-text-properties beg end org-agent-fontify--sketch-properties)))

(defun org-agent-fontify--sketch-from-block (end)
  "Sketch the block whose first or last line is at point, up to END.
Move point behind it."
  (let ((beg (point))
        (closed (progn (forward-line)
                       (re-search-forward "^[ \t]*#\\+end_" end t))))
    (goto-char beg)
    (cond
     ;; Within a line nobody knows yet what it is.
     ((looking-at-p "[ \t]*#\\+end_")
      (org-agent-layout-hide (point) (line-end-position))
      (forward-line))
     ((not (org-agent-layout-code-p))
      (org-agent-layout-hide (point) (line-end-position))
      (forward-line))
     (closed
      (let ((last (progn (goto-char closed) (line-beginning-position))))
        (org-agent-layout-open-block beg last)
        (goto-char last)
        (org-agent-layout-hide (1- last) (line-end-position))
        (forward-line)))
     (t (org-agent-layout-open-block beg end)
        (goto-char (1- end))
        (forward-line 0)
        (when (and (> (point) beg) (looking-at-p "[ \t]*#\\+e?n?d?$"))
          (org-agent-layout-hide (point) (line-end-position)))
        (goto-char end)))))

(defun org-agent-fontify--sketch-text (beg end bound)
  "Sketch the text from BEG to END, in which no block is.
An emphasis may begin in the line above, if that is behind BOUND."
  (org-agent-layout-lists beg end)
  (when org-fontify-emphasized-text
    ;; An emphasis of the user that is none does not stop the answer.
    (ignore-errors
      (org-agent-fontify--sketch-emphasis beg end bound)
      (org-agent-fontify--sketch-unfinished-emphasis beg (1- end))))
  (goto-char beg)
  (while (re-search-forward "^\\(\\*+ \\)\\(.*\\)\\|^[ \t]*#\\(?:\\+\\([a-z]*\\)\\)?$" end t)
    (if (match-beginning 1)
        (progn
          (org-agent-layout-hide (match-beginning 1) (match-end 1))
          (dolist (face (list 'org-agent-page-part
                              (nth (% (- (match-end 1) (match-beginning 1) 2)
                                      (length org-level-faces))
                                   org-level-faces)))
            (font-lock-append-text-property (match-beginning 2) (match-end 2)
                                            'face face)))
      ;; The beginning of a line that begins or ends a block.
      (when (let ((word (downcase (or (match-string 3) ""))))
              (or (string-prefix-p word "begin") (string-prefix-p word "end")))
        (org-agent-layout-hide (match-beginning 0) (match-end 0)))))
  (when org-link-descriptive
    (org-agent-fontify--sketch-links beg end))
  (goto-char end))

(defun org-agent-fontify--sketch-emphasis (beg end bound)
  "Sketch the emphasis between BEG and END as `org-do-emphasis-faces' would.
One may begin in the line above BEG.  If that is highlighted, as it is
before BOUND, nobody takes back what is sketched there, so the emphasis
must not be at END, where it may go on.  Org's own function takes several
times as much memory."
  (let ((begins (org-agent-fontify--emphasis-begins)))
    (goto-char beg)
    (forward-line -1)
    (while (re-search-forward begins end t)
      (let ((next (point)))
        (goto-char (match-beginning 0))
        (when (and (org-agent-fontify--emphasis-p next)
                   (> (match-end 2) beg)
                   (or (>= next bound) (< (match-end 2) (1- end))))
          (org-agent-fontify--sketch-emphasised
           (if (get-text-property next 'org-emphasis)
               (max beg (match-beginning 2))
             (match-beginning 2))))
        (goto-char next)))))

(defun org-agent-fontify--emphasis-begins ()
  "Return an expression for where an emphasis may begin; it ends with the marker."
  (format "\\(?:[%s]\\|^\\)[~=*/_+]" (car org-emphasis-regexp-components)))

(defun org-agent-fontify--emphasis-p (next)
  "Return non-nil when an emphasis whose marker is before NEXT begins at point.
The match data is that of Org's expression."
  (let ((place (point)) (marker (char-before next)) row)
    (goto-char (1- next))
    (forward-line 0)
    (setq row (looking-at-p "[ \t]*|"))
    (and (not (and (eq marker ?+)
                   (looking-at-p "[ \t]*\\(|[-+]+|?\\|\\+[-+]+\\+\\)[ \t]*$")))
         (not (and (eq marker ?*)
                   (looking-at-p "\\*+ ")
                   (progn (skip-chars-forward "*") (>= (point) next))))
         (progn (goto-char place)
                (looking-at (if (memq marker '(?~ ?=)) org-verbatim-re org-emph-re)))
         ;; It spans neither paragraphs nor cells of a table.
         (progn (goto-char (match-beginning 2))
                (skip-chars-forward "^\n" (match-end 2))
                (or (= (point) (match-end 2))
                    (progn (forward-char)
                           (not (looking-at-p org-element-paragraph-separate)))))
         (or (not row)
             (progn (goto-char (match-beginning 4))
                    (skip-chars-forward "^|" (match-end 4))
                    (= (point) (match-end 4)))))))

(defun org-agent-fontify--sketch-emphasised (from)
  "Sketch the emphasis that Org's expression has just matched, FROM there on."
  (let* ((face (nth 1 (assoc (match-string-no-properties 3) org-emphasis-alist)))
         (group (if org-hide-emphasis-markers 4 2)))
    (font-lock-prepend-text-property (max from (match-beginning group))
                                     (match-end group) 'face face)
    (add-text-properties from (match-end 2) '(font-lock-multiline t org-emphasis t))
    (when (and org-hide-emphasis-markers
               (progn (goto-char (match-beginning 2))
                      (forward-line 0)
                      (not (looking-at-p "[ \t]*#\\(?: \\|$\\)"))))
      (put-text-property (match-end 4) (match-end 2) 'invisible t)
      (put-text-property (match-beginning 3) (match-end 3) 'invisible t))))

(defun org-agent-fontify--sketch-unfinished-emphasis (beg end)
  "Hide the marker of an emphasis that is not whole yet, and show its face.
It begins behind BEG in the line that ends at END.  After some words it
is probably none.  Nor is what a path or a sum begins with."
  (goto-char end)
  (when (and org-hide-emphasis-markers
             (re-search-backward
              (format "\\(?:[%s]\\|^\\)\\(\\([*=~_]\\)\\(?:[^] \t\n*=~_/)].\\{0,60\\}\\)?\\)$"
                      (car org-emphasis-regexp-components))
              (max beg (line-beginning-position)) t)
             (= (match-end 0) end)
             (not (get-text-property (match-beginning 1) 'org-emphasis))
             (not (string-search (match-string 2) (match-string 1) 1)))
    (let ((marker (match-beginning 1)))
      (goto-char marker)
      (forward-line 0)
      (unless (looking-at-p "[ \t]*[|#]")
        (put-text-property marker (1+ marker) 'invisible t)
        (font-lock-prepend-text-property
         (1+ marker) end 'face
         (nth 1 (assoc (string (char-after marker)) org-emphasis-alist)))))))

(defun org-agent-fontify--sketch-links (beg end)
  "Sketch the links between BEG and END."
  (goto-char beg)
  (while (re-search-forward "\\[\\[\\([^][\n]+\\)]\\(?:\\[\\([^][\n]+\\)]\\)?]" end t)
    (let ((seen (if (match-beginning 2) 2 1)))
      (org-agent-layout-hide (match-beginning 0) (match-beginning seen))
      (org-agent-layout-hide (match-end seen) (match-end 0))
      (font-lock-prepend-text-property (match-beginning seen) (match-end seen)
                                       'face 'org-link)))
  (org-agent-fontify--sketch-unfinished-link beg (1- end)))

(defun org-agent-fontify--sketch-unfinished-link (beg end)
  "Hide the target of a link that is not whole yet.
It begins behind BEG in the line that ends at END."
  (goto-char end)
  (when (and (search-backward "[[" (max beg (line-beginning-position)) t)
             (not (search-forward "]]" end t))
             (looking-at "\\[\\[[^][\n]*\\(?:]\\[?\\)?\\([^][\n]*\\)]?$"))
    (org-agent-layout-hide (match-beginning 0) (match-beginning 1))
    (unless (= (char-before (match-beginning 1)) ?\[)
      (org-agent-layout-hide (match-beginning 1) (match-end 1)))
    (font-lock-prepend-text-property (match-beginning 1) (match-end 1)
                                     'face 'org-link)
    (org-agent-layout-hide (match-end 1) (match-end 0))))

;;;; Drawers

(defconst org-agent-fontify-drawer-regexp
  "^[ \t]*:\\(PROPERTIES\\|THOUGHTS\\|COMMENTARY\\|CALLS\\):[ \t]*\n\\(\\(?:[ \t]*:.*\n\\)*?\\)[ \t]*:END:[ \t]*$"
  "Matches a drawer that a page has otherwise; group 2 is what is in it.
All its lines begin with a colon: those of thoughts, commentary and
calls have a fixed width.")

(defconst org-agent-fontify-drawer-start
  "[ \t]*:\\(PROPERTIES\\|THOUGHTS\\|COMMENTARY\\|CALLS\\):[ \t]*$"
  "Matches the first line of such a drawer.")

(defun org-agent-fontify-drawer-edge (position edge)
  "Return the EDGE, `car' or `cdr', of the drawer POSITION is within.
The heading above belongs to it.  Outside of drawers return POSITION."
  (save-excursion
    (goto-char position)
    (let ((region (org-agent-fontify-drawer-around)))
      (if (and region (< (car region) position (cdr region)))
          (funcall edge region)
        position))))

(defun org-agent-fontify-joined-edge (position)
  "Return the heading whose text begins in the line at POSITION, or POSITION.
The two may be shown as one paragraph."
  (save-excursion
    (save-match-data
      (goto-char position)
      (forward-line 0)
      (while (and (zerop (forward-line -1))
                  (looking-at-p "[ \t]*:END:")
                  (when-let* ((drawer (org-agent-fontify-drawer-around)))
                    (goto-char (car drawer))
                    (not (looking-at-p "\\*")))))
      (if (and (looking-at-p "\\*+ .*…") (< (point) position))
          (point)
        position))))

(defun org-agent-fontify-drawer-around ()
  "Return the drawer that point is in and the heading above, (BEG . END), or nil."
  (save-excursion
    (save-match-data
      (forward-line 0)
      (let ((case-fold-search t))
        (while (and (not (bobp))
                    (looking-at "[ \t]*:")
                    (not (looking-at org-agent-fontify-drawer-start)))
          (forward-line -1))
        (when (looking-at org-agent-fontify-drawer-regexp)
          (let ((end (min (point-max) (1+ (match-end 0)))))
            (forward-line -1)
            (unless (looking-at-p "\\*+ ") (forward-line 1))
            (cons (point) end)))))))

;;;; Thoughts and calls

(defun org-agent-fontify-drawer-summary (name text)
  "Return one line that stands for the drawer NAME with TEXT."
  (let ((lines (split-string text "\n" t)))
    (pcase name
      ("THOUGHTS"
       (let ((words (cl-reduce #'+ lines :key (lambda (line)
                                                (length (split-string line))))))
         (format "thought, %s" (org-agent-counted (max 0 (- words (length lines)))
                                                  "word"))))
      ("COMMENTARY"
       (org-agent-fontify-commentary
        (mapconcat (lambda (line) (string-remove-prefix ":" (string-trim line)))
                   lines "")))
      (_ (org-agent-fontify--calls-summary lines)))))

(defun org-agent-fontify-commentary (text)
  "Return the beginning of TEXT, said beside calls, as it stands on one line."
  (org-agent-one-line (string-trim text) 70))

(defun org-agent-fontify--calls-summary (lines)
  "Return one line for the LINES of a drawer of calls: which, how often.
A call is a line above that of its verdict.  One that was not performed
has its verdict behind its name."
  (let (names)
    (cl-loop for (line next) on lines
             for verdict = (and next (org-agent-fontify-verdict next))
             for name = (and verdict (org-agent-fontify--call-name line))
             when name
             do (unless (equal verdict "performed")
                  (setq name (format "%s (%s)" name verdict)))
             (if-let* ((cell (assoc name names)))
                 (cl-incf (cdr cell))
               (push (cons name 1) names)))
    (if (null names)
        "called tools"
      (concat "called "
              (mapconcat (pcase-lambda (`(,name . ,count))
                           (if (= count 1) name (format "%s ×%d" name count)))
                         (nreverse names) ", ")))))

(defun org-agent-fontify-verdict (line)
  "Return what became of the call above LINE of a drawer, a word, or nil."
  (and (string-match
        "\\`[ \t]*: +\\(performed\\|refused\\|denied\\|failed\\) in [0-9.]+ s:?\\'" line)
       (match-string 1 line)))

(defun org-agent-fontify--call-name (line)
  "Return the name of the call or action in LINE of a drawer, or nil."
  (and (or (string-match "\\`[ \t]*: \\([[:alnum:]_.-]+\\)" line)
           (string-match "\\`[ \t]*: (.*?:action :\\([[:alnum:]-]+\\)" line)
           (string-match "\\`[ \t]*: (.*?:target :\\([[:alnum:]-]+\\)" line))
       (match-string 1 line)))

(provide 'org-agent-fontify)
;;; org-agent-fontify.el ends here
