;;; open.el --- How long opening a large file blocks the keys of an Emacs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: emacs -nw -Q -L elisp -l org-agent -l testdata/bench/open.el
;;        emacs -nw -Q -l testdata/bench/open.el
;;
;; The first opens a small conversation, and when that is there and some time
;; has gone by, the main one.  The second shows a small Org buffer and then
;; visits the file BENCH_FILE.  The file BENCH_READY says that the large one
;; is about to be opened.  The file BENCH_RESULT has a line "open SECONDS" for
;; that, and one "key SECONDS" for each <f5>, the time of the day when it was
;; obeyed.

;;; Code:

;; An Emacs that has been used has compiled its libraries.
(setq native-comp-deferred-compilation nil)

(defvar bench-report-lines nil
  "The lines of the result, newest first.")

(defun bench-report (what)
  "Note that WHAT happens now."
  (push (format "%s %.6f\n" what (float-time)) bench-report-lines))

(defun bench-note-key ()
  "Note that the key was obeyed."
  (interactive)
  (bench-report "key"))

(defun bench-begin ()
  "Announce that the file is about to be opened, and do so."
  (write-region "" nil (getenv "BENCH_READY") nil 'silent)
  (run-with-timer 1 nil #'bench-open))

(defun bench-open ()
  "Open the file."
  (garbage-collect)
  ;; Later the keys themselves cause a garbage collection.
  (run-with-timer 2 nil #'bench-end)
  (bench-report "open")
  (if (fboundp 'org-agent-chat)
      (org-agent-chat)
    (find-file (getenv "BENCH_FILE"))))

(defun bench-end ()
  "Write the result and end."
  (let ((file (getenv "BENCH_RESULT")))
    (with-temp-file (concat file ".part")
      (apply #'insert (reverse bench-report-lines)))
    (rename-file (concat file ".part") file)
    (kill-emacs)))

(global-set-key (kbd "<f5>") #'bench-note-key)
(if (fboundp 'org-agent-chat)
    (org-agent-chat "small")
  (switch-to-buffer "small")
  (insert "* A heading\n#+begin_src emacs-lisp\n(list)\n#+end_src\n")
  (org-mode))
(run-with-timer 2 nil #'bench-begin)

(provide 'open)
;;; open.el ends here
