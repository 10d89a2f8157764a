;;; run.el --- Run the tests of the package  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: EMACS -Q --batch -L elisp -L elisp/test -l elisp/test/run.el
;;
;; All tests run; those with the project's kernel need ORG_AGENT_PROGRAM
;; and ORG_AGENT_LLMTEST, or both programs in `bin'.  RUN_SELECTOR, an ERT
;; selector, runs some of them.
;;
;; The tests run in an Emacs of their own that ignores SIGPIPE, as every
;; Emacs with a display or a terminal does.  One in batch mode would die
;; where a test kills the kernel it is about to talk to.

;;; Code:

(require 'ert)

(defconst run-directory (file-name-directory load-file-name)
  "The directory of the tests.")

(defun run-tests ()
  "Run the tests in this Emacs and end it."
  (dolist (file (directory-files run-directory t
                                 "\\`org-agent-.*-test\\.el\\'"))
    (load file nil t))
  (setq ert-batch-backtrace-right-margin 160)
  (let ((selector (getenv "RUN_SELECTOR")))
    (ert-run-tests-batch-and-exit
     (if selector (car (read-from-string selector)) t))))

(defun run-shielded ()
  "Run the tests in another Emacs, print what it prints, end as it ends."
  (let* ((process-environment (cons "RUN_SHIELDED=yes" process-environment))
         (process
          (make-process
           :name "tests" :connection-type 'pipe :coding 'utf-8-unix
           :command
           (list "sh" "-c" "trap '' PIPE; exec \"$@\"" "sh"
                 (expand-file-name invocation-name invocation-directory)
                 "-Q" "--batch" "--eval" "(setq load-prefer-newer t)"
                 "-L" (expand-file-name ".." run-directory)
                 "-L" run-directory
                 "-l" (expand-file-name "run.el" run-directory))
           :filter (lambda (_process text)
                     (princ text #'external-debugging-output))
           :sentinel #'ignore)))
    (while (or (process-live-p process)
               (accept-process-output process 0.1))
      (accept-process-output process 1))
    (kill-emacs (process-exit-status process))))

(when noninteractive
  (if (getenv "RUN_SHIELDED") (run-tests) (run-shielded)))

(provide 'run)
;;; run.el ends here
