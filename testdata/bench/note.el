;;; note.el --- How long Emacs takes for the code of a note  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Prints how long Emacs takes to load greet.el, as source, and to call its
;; functions, compiled to bytes: a name and a number of seconds a line.

;;; Code:

(defun bench-ask-neuro (&rest arguments)
  "Return ARGUMENTS, as the tests of a note have it."
  (cons :asked arguments))

(defmacro bench-defskill (name &rest _properties)
  "Return NAME."
  name)

(defun bench-measure (name calls function)
  "Print as NAME, 15 times, what one of CALLS calls of FUNCTION takes."
  (dotimes (_ 15)
    (garbage-collect)
    (let ((began (float-time)))
      (dotimes (_ calls) (funcall function))
      (princ (format "%s %.10f\n" name (/ (- (float-time) began) calls))))))

(byte-compile 'bench-measure)

(let ((code (expand-file-name "greet.el" (file-name-directory load-file-name)))
      (action '(:type :request :target :emacs :payload (:action :insert-at-end :buffer "*chat*" :text "hello")))
      (context '(:payload (:sensor :chat-message :text "hello there, oops forget it" :channel :matrix :chat-id "!r"))))
  (bench-measure "load" 20 (lambda () (load code nil t t)))
  (mapc #'byte-compile '(greet-trigger greet-verify greet-neuro bench-ask-neuro))
  (unless (and (eq action (greet-verify action nil))
               (equal "hello there, " (nth 1 (greet-neuro context))))
    (error "The note's functions are wrong"))
  (bench-measure "verify" 20000 (byte-compile `(lambda () (greet-verify ',action nil))))
  (bench-measure "neuro" 2000 (byte-compile `(lambda () (greet-neuro ',context)))))

(provide 'note)
;;; note.el ends here
