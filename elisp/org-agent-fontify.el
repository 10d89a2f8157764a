;;; org-agent-fontify.el --- Font lock for text that is being written  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Text that is being written changes at its end many times a second.
;; Left to itself font lock would begin anew at each change: with the line
;; that is not finished yet, and with the whole of a source block, whose
;; lines it highlights in another buffer.
;;
;; While a window shows such text it is highlighted here instead, before
;; it is drawn and each line once: when it is finished.  A source block is
;; highlighted when it has ended, and before that whenever it has become
;; twice as long.  What no window shows is left to font lock, which looks
;; at it when one does.  When all is written font lock has the last word.
;;
;; Text that comes faster than anyone reads is not highlighted as it
;; comes: that is most of what it would cost, and it is gone from the
;; window before it is looked at.  What a window still shows is as soon as
;; less comes, or none.
;;
;; Org highlights a block by calling the mode that the block names.  In a
;; buffer with text that others wrote, only blocks of listed languages
;; are, whatever was saved in its file.
;;
;; Every turn of a conversation has a property drawer, which its reader
;; rarely wants to see.  Font lock hides what is in it, with text
;; properties: no overlay for each turn.  TAB on a `:PROPERTIES:' line
;; shows one drawer and hides it again.  That an answer was stopped, failed
;; or broke off is seen all the same: its `:STATE:' is not hidden.

;;; Code:

(require 'cl-lib)
(require 'font-lock)
(require 'jit-lock)
(require 'org)
(require 'org-src)
(require 'subr-x)
(require 'org-agent-heading)
(require 'org-agent-inert)

;;;; Which blocks

(defun org-agent-fontify-listed-languages ()
  "Have only blocks of `org-agent-inert-languages' highlighted in this buffer."
  (font-lock-add-keywords nil '((org-agent-fontify--hold-languages))))

(defun org-agent-fontify--hold-languages (limit)
  "See to it that Org calls no mode for what is not listed, from point to LIMIT.
This comes before Org's own rules, which look at the same text.  Org
treats whatever follows `#+begin_NAME' as a language, of any block."
  (save-excursion
    (let ((case-fold-search t))
      (while (re-search-forward "^[ \t]*#\\+begin_[a-z]+[ \t]*\\([^ \t\n]+\\)" limit t)
        (let ((name (match-string-no-properties 1)))
          (unless (or (member name org-agent-inert-languages)
                      (equal (cdr (assoc name org-src-lang-modes))
                             org-agent-inert-mark))
            (setq-local org-src-lang-modes
                        (cons (cons name org-agent-inert-mark)
                              org-src-lang-modes)))))))
  nil)

;;;; How far

(cl-defstruct (org-agent-fontify-progress (:copier nil))
  "How much of a text that is being written is highlighted, in characters.
Up to DONE that is for good; what stands behind it up to ONCE is a block
that was highlighted although its end was not there yet.  SEEN is how
far its finished lines were looked at.  LATE is the timer that will
highlight what was not, as it came too fast."
  (done 0) (once 0) (seen 0) (late nil))

(defconst org-agent-fontify--block 1000
  "Characters of a block that are not highlighted before its end is there.")

(defconst org-agent-fontify-fast 120
  "Characters that come at once when text comes faster than anyone reads.
The kernel sends what comes in a tenth to a fifth of a second.")

(defconst org-agent-fontify--breather 0.6
  "Seconds without new text after which all that came is highlighted.")

(defun org-agent-fontify-quietly ()
  "Have nothing said while this buffer is highlighted.
Modes of the blocks in it do, of `sh' how it will indent, and that would
stand in the echo area in the place of what somebody reads there."
  (add-function :around (local 'font-lock-fontify-region-function)
                #'org-agent-fontify--quietly))

(defun org-agent-fontify--quietly (function &rest arguments)
  "Call FUNCTION with ARGUMENTS; nothing it says is shown or logged."
  (let ((inhibit-message t)
        (message-log-max nil))
    (apply function arguments)))

(defun org-agent-fontify-later (progress function &rest arguments)
  "Call FUNCTION with ARGUMENTS when nothing has come for a while.
It is to highlight what PROGRESS is about."
  (org-agent-fontify-no-later progress)
  (setf (org-agent-fontify-progress-late progress)
        (apply #'run-with-timer org-agent-fontify--breather nil
               function arguments)))

(defun org-agent-fontify-no-later (progress)
  "Forget what `org-agent-fontify-later' was told about PROGRESS.
Return non-nil if something there was not highlighted."
  (when-let* ((timer (org-agent-fontify-progress-late progress)))
    (cancel-timer timer)
    (setf (org-agent-fontify-progress-late progress) nil)
    t))

(defun org-agent-fontify-p (position)
  "Return non-nil when what is inserted at POSITION is to be seen.
Where font lock is off, or not on demand, it is none of ours."
  (and jit-lock-mode
       (cl-some (lambda (window) (>= (window-end window) position))
                (get-buffer-window-list nil 'no-minibuffer 'visible))))

(defmacro org-agent-fontify-ours (ours &rest body)
  "Run BODY, which inserts text; font lock takes no note of it if OURS."
  (declare (indent 1) (debug t))
  `(let ((jit-lock-mode (and jit-lock-mode (not ,ours)))) ,@body))

(defun org-agent-fontify-pass-over (progress beg)
  "Leave to font lock what of the text at BEG has left all windows by now.
That is, of what PROGRESS says is not highlighted yet."
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
  "Highlight what has come of the text at BEG, up to LINE, if OURS.
That is where its unfinished line begins; IN-BLOCK says that a source or
example block goes on there.  PROGRESS is changed accordingly."
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
  "Return where the block begins that goes on at LINE.
When it does not begin behind SEEN that is the FORMER place."
  (goto-char line)
  (let ((case-fold-search t))
    (if (re-search-backward "^[ \t]*#\\+begin_" seen t)
        (point)
      former)))

(defun org-agent-fontify--lines (from to)
  "Highlight the lines from FROM to TO.
A rule of the user's that fails must not stop the answer."
  (when (< from to)
    (ignore-errors
      (font-lock-fontify-region from to))))

;;;; Drawers

(defvar font-lock-beg)
(defvar font-lock-end)
(defcustom org-agent-show-thoughts nil
  "Non-nil means that thoughts and calls stand unfolded in an answer.
TAB on the first line of their drawer opens and closes it."
  :type 'boolean
  :group 'org-agent-chat
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-fontify--drawer-regexp
  "^[ \t]*:\\(?:PROPERTIES\\|THOUGHTS\\|CALLS\\):[ \t]*\\(\n\\(?:[ \t]*:.*\n\\)*?[ \t]*:END:\\)[ \t]*$"
  "Matches a drawer that is hidden; group 1 is what of it.
All its lines begin with a colon: those of thoughts and calls have a
fixed width.")

(defconst org-agent-fontify--drawer-start
  "[ \t]*:\\(?:PROPERTIES\\|THOUGHTS\\|CALLS\\):[ \t]*$"
  "Matches the first line of such a drawer.")

(defface org-agent-drawer-state '((t :inherit warning))
  "Face of what became of an answer that is not whole."
  :group 'org-agent-chat)

(defun org-agent-fontify-drawers ()
  "Hide property drawers in the current buffer, which is in Org mode."
  (add-to-invisibility-spec '(org-agent-drawer . t))
  (font-lock-add-keywords nil '((org-agent-fontify--drawer-fontify)) t)
  (add-hook 'font-lock-extend-region-functions
            #'org-agent-fontify--drawer-extend-region nil t)
  (add-hook 'org-tab-first-hook #'org-agent-fontify-toggle-drawer nil t))

(defun org-agent-fontify--drawer-fontify (limit)
  "Hide the drawers between point and LIMIT; a font-lock matcher.
Return nil: there is nothing left to highlight."
  (let ((case-fold-search t))
    (while (re-search-forward org-agent-fontify--drawer-regexp limit t)
      (unless (org-agent-fontify--drawer-shown-p (match-beginning 0))
        (org-agent-fontify--drawer-hide (match-beginning 1) (match-end 1)))))
  nil)

(defun org-agent-fontify--drawer-hide (beg end)
  "Hide the lines of a drawer from BEG to END but what it says of its state."
  (put-text-property beg end 'invisible 'org-agent-drawer)
  (save-excursion
    (save-match-data
      (goto-char beg)
      (when (re-search-forward "\n:STATE:[ \t]+\\(\\S-.*\\)$" end t)
        (remove-list-of-text-properties (match-beginning 0) (match-end 0)
                                        '(invisible))
        (add-face-text-property (match-beginning 1) (match-end 1)
                                'org-agent-drawer-state)))))

(defun org-agent-fontify--drawer-shown-p (position)
  "Return non-nil when the drawer at POSITION is to be seen.
That is what a person chose with TAB, or else what is the rule."
  (pcase (get-text-property position 'org-agent-drawer-shown)
    ('yes t)
    ('no nil)
    (_ (and org-agent-show-thoughts
            (save-excursion
              (goto-char position)
              (looking-at-p "[ \t]*:\\(?:THOUGHTS\\|CALLS\\):"))))))

(defun org-agent-fontify--drawer-extend-region ()
  "Extend the region to be fontified to whole drawers.
Return non-nil when that changed it."
  (let ((beg font-lock-beg) (end font-lock-end))
    (setq font-lock-beg (org-agent-fontify--drawer-edge beg #'car)
          font-lock-end (org-agent-fontify--drawer-edge end #'cdr))
    (not (and (= beg font-lock-beg) (= end font-lock-end)))))

(defun org-agent-fontify--drawer-edge (position edge)
  "Return the EDGE, `car' or `cdr', of the drawer POSITION is within.
Outside of drawers return POSITION."
  (save-excursion
    (goto-char position)
    (let ((region (org-agent-fontify--drawer-around)))
      (if (and region (< (car region) position (cdr region)))
          (funcall edge region)
        position))))

(defun org-agent-fontify--drawer-around ()
  "Return the drawer that point is in, (BEG . END), or nil."
  (save-excursion
    (save-match-data
      (forward-line 0)
      (let ((case-fold-search t))
        (while (and (not (bobp))
                    (looking-at "[ \t]*:")
                    (not (looking-at org-agent-fontify--drawer-start)))
          (forward-line -1))
        (when (looking-at org-agent-fontify--drawer-regexp)
          (cons (match-beginning 0)
                (min (point-max) (1+ (match-end 0)))))))))

(defun org-agent-fontify-toggle-drawer ()
  "Show or hide the drawer whose first line point is on.
Return nil when there is none.  This is for `org-tab-first-hook'."
  (when-let* ((region (and (save-excursion
                             (forward-line 0)
                             (looking-at-p org-agent-fontify--drawer-start))
                           (org-agent-fontify--drawer-around))))
    (let ((shown (org-agent-fontify--drawer-shown-p (car region))))
      (with-silent-modifications
        (put-text-property (car region) (cdr region)
                           'org-agent-drawer-shown (if shown 'no 'yes)))
      (unless shown
        (org-agent-heading-call-org 'org-fold-hide-drawer-toggle
                                    'org-hide-drawer-toggle 'off t))
      (font-lock-flush (car region) (cdr region))
      (font-lock-ensure (car region) (cdr region)))
    t))

(provide 'org-agent-fontify)
;;; org-agent-fontify.el ends here
