;;; tangle.el --- How long Emacs takes to tangle a note  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Prints how many seconds `org-babel-tangle' takes for the note that is the
;; last argument, a number a line.

;;; Code:

(require 'org)
(require 'ob-tangle)

(let ((note (car (last command-line-args)))
      (inhibit-message t))
  (setq command-line-args-left nil)
  (dotimes (_ 3)
    (garbage-collect)
    (let ((began (float-time)))
      (with-current-buffer (find-file-noselect note)
        (org-babel-tangle)
        (kill-buffer))
      (princ (format "%f\n" (- (float-time) began))))))

(provide 'tangle)
;;; tangle.el ends here
