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
came too fast, or nil."
  (done 0) (once 0) (seen 0) (late nil))

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
FUNCTION highlights the text of PROGRESS."
  (org-agent-fontify-no-later progress)
  (setf (org-agent-fontify-progress-late progress)
        (apply #'run-with-timer org-agent-fontify--pause nil
               function arguments)))

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
        (org-agent-fontify--lines from to)
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

(defun org-agent-fontify--lines (from to)
  "Highlight the lines from FROM to TO.
An error in a rule of the user does not stop the answer."
  (when (< from to)
    (ignore-errors
      (font-lock-fontify-region from to))))

;;;; Drawers

(defconst org-agent-fontify-drawer-regexp
  "^[ \t]*:\\(PROPERTIES\\|THOUGHTS\\|CALLS\\):[ \t]*\n\\(\\(?:[ \t]*:.*\n\\)*?\\)[ \t]*:END:[ \t]*$"
  "Matches a drawer that a page has otherwise; group 2 is what is in it.
All its lines begin with a colon: those of thoughts and calls have a
fixed width.")

(defconst org-agent-fontify-drawer-start
  "[ \t]*:\\(PROPERTIES\\|THOUGHTS\\|CALLS\\):[ \t]*$"
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
    (if (equal name "THOUGHTS")
        (let ((words (cl-reduce #'+ lines :key (lambda (line)
                                                 (length (split-string line))))))
          (format "thought, %s" (org-agent-counted (max 0 (- words (length lines)))
                                                   "word")))
      (org-agent-fontify--calls-summary lines))))

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
