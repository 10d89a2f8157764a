;;; run.el --- Run the tests of the package  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: EMACS -Q --batch -L elisp -L elisp/test -l elisp/test/run.el
;;
;; All tests run; those with the project's kernel need ORG_AGENT_PROGRAM
;; and ORG_AGENT_LLMTEST, or both programs in `bin'.

;;; Code:

(require 'ert)

(dolist (file (directory-files (file-name-directory load-file-name)
                               t "\\`org-agent-.*-test\\.el\\'"))
  (load file nil t))

(when noninteractive
  (setq ert-batch-backtrace-right-margin 160)
  (ert-run-tests-batch-and-exit))

(provide 'run)
;;; run.el ends here
