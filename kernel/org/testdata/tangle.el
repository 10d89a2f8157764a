;;; tangle.el --- Tangle notes and say what failed  -*- lexical-binding: t; -*-

;; Run by the Go tests: tangles the note n.org of each directory that a file names, a line
;; each, and writes a line for each to another file: "ok" or the error.

;;; Code:

(require 'org)
(require 'ob-tangle)

(setq make-backup-files nil
      auto-save-default nil
      create-lockfiles nil
      vc-handled-backends nil
      org-element-use-cache nil)

(defun org-agent-tangle-note (directory)
  "Tangle the note of DIRECTORY and return what became of it."
  (let* ((default-directory (file-name-as-directory directory))
         (inhibit-message t)
         (standard-output #'ignore)
         (buffer (let ((enable-local-variables nil))
                   (find-file-noselect (expand-file-name "n.org")))))
    (unwind-protect
        (condition-case failure
            (cl-letf (((symbol-function 'read-string) (lambda (&rest _) (error "Asked"))))
              (with-current-buffer buffer (org-babel-tangle))
              "ok")
          (error (replace-regexp-in-string "\n" " " (format "%S" failure))))
      (with-current-buffer buffer (set-buffer-modified-p nil))
      (kill-buffer buffer))))

(defun org-agent-tangle-notes (in out)
  "Tangle the notes of the directories named in the file IN; say in OUT what became of them."
  (let* ((directories (with-temp-buffer
                        (insert-file-contents in)
                        (split-string (buffer-string) "\n" t)))
         (results (mapcar #'org-agent-tangle-note directories)))
    (with-temp-file out
      (dolist (result results)
        (insert result "\n")))))

;;; tangle.el ends here
