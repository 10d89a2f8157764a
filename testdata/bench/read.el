;;; read.el --- How long Emacs takes to read a file's forms  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Prints how many seconds `read' takes for all forms in the file that is
;; the last argument, a number a line.

;;; Code:

(with-temp-buffer
  (insert-file-contents (car (last command-line-args)))
  (setq command-line-args-left nil)
  (dotimes (_ 15)
    (goto-char (point-min))
    (garbage-collect)
    (let ((began (float-time)))
      (while (progn (skip-chars-forward "\n") (not (eobp)))
        (read (current-buffer)))
      (princ (format "%f\n" (- (float-time) began))))))

(provide 'read)
;;; read.el ends here
