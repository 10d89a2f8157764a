;;; org-agent-diff.el --- Compare, apply and merge changes of a text  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Two texts are compared line by line, without a program, so that the
;; changes can be shown and accepted one by one.  A *change* is a list (FROM
;; TO LINES): the lines FROM to TO, counted from 0, of the old text become
;; LINES.
;;
;; Ediff compares a text with a proposed one, and Smerge merges them.  The
;; proposed text can be edited there.  The result is passed to a function.
;; The buffers are temporary, plain text, and evaluate nothing.

;;; Code:

(require 'cl-lib)
(require 'smerge-mode)
(require 'subr-x)

(declare-function ediff-buffers "ediff")

(defconst org-agent-diff--cells 400000
  "The size of the largest table in which common lines are searched.
Larger texts are replaced from their first to their last difference.")

(defconst org-agent-diff--context 3
  "The number of equal lines that are shown around a change.")

(defun org-agent-diff-lines (text)
  "Return the lines of TEXT with their line ends, a vector."
  (let ((start 0) lines)
    (while (string-match "\n" text start)
      (push (substring text start (match-end 0)) lines)
      (setq start (match-end 0)))
    (when (< start (length text))
      (push (substring text start) lines))
    (vconcat (nreverse lines))))

(defun org-agent-diff-changes (old new)
  "Return the changes from the text OLD to NEW, in order."
  (org-agent-diff--between (org-agent-diff-lines old) (org-agent-diff-lines new)))

(defun org-agent-diff--between (a b)
  "Return the changes from A to B, vectors of strings."
  (let* ((shorter (min (length a) (length b)))
         (head 0) (tail 0))
    (while (and (< head shorter) (equal (aref a head) (aref b head)))
      (cl-incf head))
    (while (and (< tail (- shorter head))
                (equal (aref a (- (length a) tail 1))
                       (aref b (- (length b) tail 1))))
      (cl-incf tail))
    (let ((n (- (length a) head tail))
          (m (- (length b) head tail)))
      (cond
       ((= 0 n m) nil)
       ((or (= n 0) (= m 0)
            (> (* (1+ n) (1+ m)) org-agent-diff--cells))
        (list (list head (+ head n)
                    (append (substring b head (+ head m)) nil))))
       (t (org-agent-diff--middle a b head n m))))))

(defun org-agent-diff--middle (a b head n m)
  "Return the changes from N lines of A to M lines of B, both from HEAD on."
  (let* ((width (1+ m))
         (table (make-vector (* (1+ n) width) 0))
         (i (1- n)) (j 0) changes from lines)
    (while (>= i 0)
      (setq j (1- m))
      (while (>= j 0)
        (aset table (+ (* i width) j)
              (if (equal (aref a (+ head i)) (aref b (+ head j)))
                  (1+ (aref table (+ (* (1+ i) width) j 1)))
                (max (aref table (+ (* (1+ i) width) j))
                     (aref table (+ (* i width) j 1)))))
        (cl-decf j))
      (cl-decf i))
    (setq i 0 j 0)
    (cl-flet ((close ()
                     (when from
                       (push (list from (+ head i) (nreverse lines)) changes)
                       (setq from nil lines nil))))
      (while (or (< i n) (< j m))
        (cond
         ((and (< i n) (< j m)
               (equal (aref a (+ head i)) (aref b (+ head j))))
          (close)
          (cl-incf i)
          (cl-incf j))
         ((and (< i n)
               (or (= j m)
                   (>= (aref table (+ (* (1+ i) width) j))
                       (aref table (+ (* i width) j 1)))))
          (setq from (or from (+ head i)))
          (cl-incf i))
         (t
          (setq from (or from (+ head i)))
          (push (aref b (+ head j)) lines)
          (cl-incf j))))
      (close))
    (nreverse changes)))

(defun org-agent-diff-apply (old changes)
  "Return the text OLD with CHANGES, which are in order, applied."
  (let ((lines (org-agent-diff-lines old))
        (at 0) parts)
    (pcase-dolist (`(,from ,to ,new) changes)
      (push (mapconcat #'identity (substring lines at from) "") parts)
      (push (mapconcat #'identity new "") parts)
      (setq at to))
    (push (mapconcat #'identity (substring lines at) "") parts)
    (apply #'concat (nreverse parts))))

(defun org-agent-diff-hunk (old change first &optional moved context)
  "Return CHANGE of the text OLD as a hunk; FIRST is the number of its first line.
MOVED is the number of lines that the changes before it added, and CONTEXT
that of the equal lines around it, or nil for the usual."
  (pcase-let* ((`(,from ,to ,new) change)
               (lines (org-agent-diff-lines old))
               (context (or context org-agent-diff--context))
               (beg (max 0 (- from context)))
               (end (min (length lines) (+ to context)))
               (signed (lambda (sign line)
                         (concat sign line
                                 (unless (string-suffix-p "\n" line) "\n")))))
    (concat
     (format "@@ -%d,%d +%d,%d @@\n" (+ first beg) (- end beg)
             (+ first beg (or moved 0))
             (+ (- end beg) (- (length new) (- to from))))
     (mapconcat (lambda (line) (funcall signed " " line))
                (substring lines beg from) "")
     (mapconcat (lambda (line) (funcall signed "-" line))
                (substring lines from to) "")
     (mapconcat (lambda (line) (funcall signed "+" line)) new "")
     (mapconcat (lambda (line) (funcall signed " " line))
                (substring lines to end) ""))))

(defun org-agent-diff (old new name &optional first)
  "Return the difference between OLD and NEW, texts of NAME, as a diff.
The number of their first line is FIRST, or else 1."
  (let ((moved 0))
    (concat
     (format "--- %s\n+++ %s\n" name name)
     (mapconcat (lambda (change)
                  (prog1 (org-agent-diff-hunk old change (or first 1) moved)
                    (cl-incf moved (- (length (nth 2 change))
                                      (- (nth 1 change) (car change))))))
                (org-agent-diff-changes old new) ""))))

(defun org-agent-diff-fontify (text)
  "Return TEXT, a diff, with faces."
  (mapconcat
   (lambda (line)
     (propertize line 'face
                 (pcase (and (> (length line) 0) (aref line 0))
                   (?+ 'diff-added)
                   (?- 'diff-removed)
                   (?@ 'diff-hunk-header)
                   (_ 'default))))
   (split-string text "\n") "\n"))

(defun org-agent-diff-page (text)
  "Return TEXT, a diff, with faces, the name of its file beside the first place.
A text that says two names, or none, keeps its rows."
  (if (string-match "\\`--- \\(.+\\)\n\\+\\+\\+ \\1\n\\(@@ .*\\)\n" text)
      (let ((rest (substring text (match-end 0))))
        (concat (propertize (concat (match-string 1 text) "  "
                                    (match-string 2 text) "\n")
                            'face 'diff-hunk-header)
                (org-agent-diff-fontify rest)))
    (org-agent-diff-fontify text)))

(defun org-agent-diff-refine (beg end)
  "Highlight the words that differ in the hunk between BEG and END.
The hunk is one of `org-agent-diff-hunk'.  A hunk that only adds or only
removes lines stays as it is."
  (let ((old (org-agent-diff--words ?- beg end))
        (new (org-agent-diff--words ?+ beg end))
        (moved 0))
    (when (and old new)
      (pcase-dolist (`(,from ,to ,words)
                     (org-agent-diff--between (vconcat (mapcar #'car old))
                                              (vconcat (mapcar #'car new))))
        (org-agent-diff--refine-words (seq-subseq old from to) 'diff-refine-removed)
        (cl-incf moved from)
        (org-agent-diff--refine-words (seq-subseq new moved (+ moved (length words)))
                                      'diff-refine-added)
        (setq moved (+ (- moved to) (length words)))))))

(defun org-agent-diff--words (sign beg end)
  "Return the words of the lines that begin with SIGN between BEG and END.
Each is a cons of the word, or of a character between words, and its place."
  (let (words)
    (save-excursion
      (goto-char beg)
      (while (< (point) end)
        (when (eq (char-after) sign)
          (forward-char)
          (while (re-search-forward "[[:word:]]+\\|." (line-end-position) t)
            (push (cons (match-string-no-properties 0) (match-beginning 0)) words)))
        (forward-line)))
    (nreverse words)))

(defun org-agent-diff--refine-words (words face)
  "Add FACE to WORDS, values of `org-agent-diff--words'."
  (pcase-dolist (`(,word . ,place) words)
    (add-face-text-property place (+ place (length word)) face)))

;;;; Side by side

;;;###autoload
(defun org-agent-diff-ediff (old new function)
  "Compare the text OLD with NEW, which can be edited, with Ediff.
When Ediff ends, call FUNCTION with the text of NEW, or with nil if its
buffer is gone."
  (let ((a (generate-new-buffer "*org-agent: as it is*"))
        (b (generate-new-buffer "*org-agent: as proposed*"))
        (windows (current-window-configuration)))
    (with-current-buffer a (insert old) (setq buffer-read-only t))
    (with-current-buffer b (insert new))
    (ediff-buffers
     a b
     (list (lambda ()
             (add-hook 'ediff-quit-hook
                       (lambda ()
                         (set-window-configuration windows)
                         (funcall function (org-agent-diff--ediff-end a b)))
                       90 t))))))

(defun org-agent-diff--ediff-end (a b)
  "Kill the buffers A and B; return the text of B, nil if it is gone."
  (prog1 (and (buffer-live-p b)
              (with-current-buffer b
                (buffer-substring-no-properties (point-min) (point-max))))
    (dolist (buffer (list a b))
      (when (buffer-live-p buffer)
        (with-current-buffer buffer (set-buffer-modified-p nil))
        (kill-buffer buffer)))))

;;;; Smerge

(defvar-local org-agent-diff--smerge-function nil
  "The function that gets the text of this buffer when it is merged.")
(put 'org-agent-diff--smerge-function 'permanent-local t)

(defvar org-agent-smerge-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") '("accept" . org-agent-smerge-accept))
    (define-key map (kbd "C-c C-k") '("cancel" . org-agent-smerge-cancel))
    map)
  "Keymap of changes that are merged.")

(define-derived-mode org-agent-smerge-mode fundamental-mode "Org-Agent-Merge"
  "Major mode of changes that are merged with Smerge.
In each conflict the upper text is the present one and the lower one the
proposed one.  \\<org-agent-smerge-mode-map>\\[org-agent-smerge-accept] accepts the merged text, \\[org-agent-smerge-cancel] cancels the merge."
  :interactive nil
  (setq header-line-format
        (substitute-command-keys
         " \\<smerge-mode-map>\\[smerge-keep-upper] keep current  \\[smerge-keep-lower] take proposed  \\[smerge-next] next  \\<org-agent-smerge-mode-map>\\[org-agent-smerge-accept] accept  \\[org-agent-smerge-cancel] cancel"))
  (smerge-mode 1))

(defun org-agent-diff-smerge (old changes function)
  "Merge CHANGES of the text OLD, as `org-agent-diff-changes' returns them.
Afterwards call FUNCTION with the merged text."
  (let ((buffer (generate-new-buffer "*org-agent: merge*")))
    (with-current-buffer buffer
      (insert (org-agent-diff--smerge-text old changes))
      (goto-char (point-min))
      (org-agent-smerge-mode)
      (setq org-agent-diff--smerge-function function)
      (set-buffer-modified-p nil)
      (unless (looking-at-p "<<<<<<< ")
        (ignore-error user-error (smerge-next))))
    (pop-to-buffer buffer)))

(defun org-agent-diff--smerge-text (old changes)
  "Return the text OLD with CHANGES as conflicts."
  (let ((lines (org-agent-diff-lines old)))
    (cl-flet ((whole (text) (if (or (string-empty-p text)
                                    (string-suffix-p "\n" text))
                                text
                              (concat text "\n"))))
      (org-agent-diff-apply
       old
       (mapcar (pcase-lambda (`(,from ,to ,new))
                 (list from to
                       (list "<<<<<<< as it is\n"
                             (whole (mapconcat #'identity
                                               (substring lines from to) ""))
                             "=======\n"
                             (whole (mapconcat #'identity new ""))
                             ">>>>>>> as proposed\n")))
               changes)))))

(defun org-agent-diff--smerge-here ()
  "Return the function that gets the text of this buffer, or signal an error."
  (or org-agent-diff--smerge-function
      (user-error "No changes are merged here")))

(defun org-agent-smerge-accept ()
  "Accept the text of this buffer."
  (interactive nil org-agent-smerge-mode)
  (let ((function (org-agent-diff--smerge-here))
        (text (buffer-substring-no-properties (point-min) (point-max))))
    (save-excursion
      (goto-char (point-min))
      (when (re-search-forward "^<<<<<<< as it is$" nil t)
        (user-error "A change is not decided yet, in line %d"
                    (line-number-at-pos (match-beginning 0)))))
    (org-agent-smerge-cancel)
    (funcall function text)))

(defun org-agent-smerge-cancel ()
  "Cancel the merge; the review keeps its changes."
  (interactive nil org-agent-smerge-mode)
  (org-agent-diff--smerge-here)
  (set-buffer-modified-p nil)
  (org-agent-diff-close (current-buffer)))

;;;###autoload
(defun org-agent-diff-close (buffer)
  "Kill BUFFER; its windows show what they showed before."
  (dolist (window (get-buffer-window-list buffer nil t))
    (quit-restore-window window 'bury))
  (kill-buffer buffer))

(provide 'org-agent-diff)
;;; org-agent-diff.el ends here
