;;; fib.el --- How long Emacs takes for a function  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Prints how many seconds (fib 25) takes, compiled to bytes, a number a
;; line.

;;; Code:

(defun bench-fib (n)
  "Return the Nth Fibonacci number."
  (if (< n 2) n (+ (bench-fib (- n 1)) (bench-fib (- n 2)))))

(byte-compile 'bench-fib)

(dotimes (_ 15)
  (let ((began (float-time)))
    (unless (= (bench-fib 25) 75025) (error "(fib 25) is wrong"))
    (princ (format "%f\n" (- (float-time) began)))))

(provide 'fib)
;;; fib.el ends here
