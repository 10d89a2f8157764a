;;; org-agent-ediff.el --- Two texts side by side  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A text as it is and as it is proposed, compared with Ediff or merged
;; with Smerge.  The proposed one can be changed there; what it is in the
;; end goes to whoever asked.  Both buffers are temporary, plain text, and
;; evaluate nothing.

;;; Code:

(require 'cl-lib)
(require 'smerge-mode)
(require 'org-agent-diff)

(declare-function ediff-buffers "ediff")

(defun org-agent-ediff (old new function)
  "Compare the text OLD with NEW, which can be edited, with Ediff.
When Ediff ends, call FUNCTION with what NEW is then, nil if it is gone."
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
                         (funcall function (org-agent-ediff--end a b)))
                       90 t))))))

(defun org-agent-ediff--end (a b)
  "Return the text of the buffer B, nil if it is gone; A and B are done with."
  (prog1 (and (buffer-live-p b)
              (with-current-buffer b
                (buffer-substring-no-properties (point-min) (point-max))))
    (dolist (buffer (list a b))
      (when (buffer-live-p buffer)
        (with-current-buffer buffer (set-buffer-modified-p nil))
        (kill-buffer buffer)))))

;;;; Smerge

(defvar-local org-agent-smerge--function nil
  "What gets the text of this buffer when it is merged.")
(put 'org-agent-smerge--function 'permanent-local t)

(defvar org-agent-smerge-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") '("take it so" . org-agent-smerge-take))
    (define-key map (kbd "C-c C-k") '("leave" . org-agent-smerge-leave))
    map)
  "Keys where changes are merged.")

(define-derived-mode org-agent-smerge-mode fundamental-mode "Org-Agent-Merge"
  "Major mode of changes that are merged with Smerge.
In each conflict the upper text is what is there and the lower one what
is proposed.  \\<org-agent-smerge-mode-map>\\[org-agent-smerge-take] takes the text as it stands, \\[org-agent-smerge-leave] leaves it."
  (setq header-line-format
        (substitute-command-keys
         " \\<smerge-mode-map>\\[smerge-keep-upper] as it is  \\[smerge-keep-lower] as proposed  \\[smerge-next] next  \\<org-agent-smerge-mode-map>\\[org-agent-smerge-take] take it so  \\[org-agent-smerge-leave] leave"))
  (smerge-mode 1))

(defun org-agent-smerge (old changes function)
  "Merge CHANGES of the text OLD, as `org-agent-diff-changes' has them.
When that is done, call FUNCTION with what the text is then."
  (let ((buffer (generate-new-buffer "*org-agent: merge*")))
    (with-current-buffer buffer
      (insert (org-agent-smerge--text old changes))
      (goto-char (point-min))
      (org-agent-smerge-mode)
      (setq org-agent-smerge--function function)
      (set-buffer-modified-p nil)
      (unless (looking-at-p "<<<<<<< ")
        (ignore-error user-error (smerge-next))))
    (pop-to-buffer buffer)))

(defun org-agent-smerge--text (old changes)
  "Return the text OLD with CHANGES as conflicts."
  (let ((lines (org-agent-diff--lines old)))
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

(defun org-agent-smerge--here ()
  "Return the function that takes the text of this buffer, or signal an error."
  (or org-agent-smerge--function
      (user-error "No changes are merged here")))

(defun org-agent-smerge-take ()
  "Take the text as it stands here."
  (interactive nil org-agent-smerge-mode)
  (let ((function (org-agent-smerge--here))
        (text (buffer-substring-no-properties (point-min) (point-max))))
    (save-excursion
      (goto-char (point-min))
      (when (re-search-forward "^<<<<<<< as it is$" nil t)
        (user-error "A change is not decided yet, in line %d"
                    (line-number-at-pos (match-beginning 0)))))
    (org-agent-smerge-leave)
    (funcall function text)))

(defun org-agent-smerge-leave ()
  "Leave the changes as they were."
  (interactive nil org-agent-smerge-mode)
  (org-agent-smerge--here)
  (let ((buffer (current-buffer)))
    (set-buffer-modified-p nil)
    (dolist (window (get-buffer-window-list buffer nil t))
      (quit-restore-window window 'bury))
    (kill-buffer buffer)))

(provide 'org-agent-ediff)
;;; org-agent-ediff.el ends here
