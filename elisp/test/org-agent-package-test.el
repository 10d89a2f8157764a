;;; org-agent-package-test.el --- Tests of the package as people install it  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The package is made by make and installed by package.el, in an Emacs of
;; its own whose home is empty.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'package)
(require 'org-agent)
(require 'org-agent-fake-kernel)

(defvar org-agent-package-test-root
  (file-name-directory (directory-file-name org-agent-directory))
  "The directory of the checkout.")

(defun org-agent-package-test--make (file)
  "Have make write the package FILE."
  (let ((process-environment (append '("MAKEFLAGS" "MFLAGS") process-environment)))
    (with-temp-buffer
      (unless (zerop (call-process "make" nil t nil "-s" "-C" org-agent-package-test-root
                                   "package" (concat "PACKAGE_TAR=" file)
                                   (concat "EMACS=" (expand-file-name
                                                     invocation-name invocation-directory))))
        (ert-fail (buffer-string))))))

(defun org-agent-package-test--emacs (home &rest forms)
  "Evaluate FORMS in an Emacs whose home is HOME; return what it printed."
  (let ((process-environment
         (append (list (concat "HOME=" home) "EMACSLOADPATH" "XDG_CONFIG_HOME")
                 process-environment)))
    (with-temp-buffer
      (let ((status (call-process
                     (expand-file-name invocation-name invocation-directory)
                     nil t nil "-q" "--no-site-file" "--batch"
                     "--eval" (prin1-to-string `(progn ,@forms)))))
        (ert-info ((buffer-string))
          (should (equal 0 status))))
      (buffer-string))))

(ert-deftest org-agent-package-installs ()
  "`package-install-file' installs the package on an empty home.
The compiler does not warn, every command is autoloaded, Info finds the
manual, and the sources of the kernel are there, without a test."
  (let* ((home (file-truename (make-temp-file "org-agent-home" t)))
         (file (expand-file-name (format "org-agent-%s.tar" org-agent-version) home)))
    (unwind-protect
        (progn
          (org-agent-package-test--make file)
          (let ((printed (org-agent-package-test--emacs
                          home
                          '(require 'package)
                          '(package-initialize)
                          `(package-install-file ,file))))
            (should-not (string-match-p "[Ww]arning:\\|[Ee]rror:" printed))
            (should (string-match-p "Total of [0-9]+ files compiled" printed)))
          (let* ((printed
                  (org-agent-package-test--emacs
                   home
                   '(require 'package)
                   '(package-initialize)
                   '(prin1 (list (autoloadp (symbol-function 'org-agent-chat))
                                 (featurep 'org-agent)
                                 (progn (require 'info)
                                        (info "(org-agent)Commands")
                                        Info-current-node)
                                 (progn (require 'org-agent) org-agent-directory)
                                 (let (lacking)
                                   (with-temp-buffer
                                     (insert-file-contents
                                      (expand-file-name "org-agent-menu.el"
                                                        org-agent-directory))
                                     (while (re-search-forward "\" \\(org-agent-[a-z-]+\\)" nil t)
                                       (unless (or (string-prefix-p "org-agent-menu-" (match-string 1))
                                                   (commandp (intern (match-string 1))))
                                         (push (match-string 1) lacking))))
                                   lacking)))))
                 (seen (car (read-from-string
                             printed (string-match-p "^(t " printed)))))
            (pcase-let ((`(,autoloaded ,loaded ,node ,directory ,lacking) seen))
              (should autoloaded)
              (should-not loaded)
              (should (equal node "Commands"))
              (should-not lacking)
              (should (file-in-directory-p directory home))
              (should (file-exists-p (expand-file-name "go.mod" directory)))
              (should (file-exists-p
                       (expand-file-name "kernel/cmd/org-agent/main.go" directory)))
              (should-not (directory-files-recursively directory "_test\\.go\\'\\|-test\\.el\\'"))
              (org-agent-package-test--pages directory))))
      (delete-directory home t))))

(defun org-agent-package-test--pages (directory)
  "Check that the pages which the manual in DIRECTORY names are there."
  (with-temp-buffer
    (insert-file-contents (expand-file-name "org-agent.info" directory))
    (let ((count 0))
      (while (re-search-forward "(\\([^ ()\n]*README\\.org\\))" nil t)
        (cl-incf count)
        (ert-info ((match-string 1))
          (should-not (string-prefix-p ".." (match-string 1)))
          (should (file-exists-p (expand-file-name (match-string 1) directory)))))
      (should (> count 5)))))

(defun org-agent-package-test--forms (file regexp end)
  "Return the Lisp forms in FILE between lines that match REGEXP and END."
  (with-temp-buffer
    (insert-file-contents file)
    (let (forms)
      (while (re-search-forward regexp nil t)
        (let ((text (buffer-substring (match-end 0)
                                      (progn (re-search-forward end)
                                             (match-beginning 0)))))
          (with-temp-buffer
            (insert (replace-regexp-in-string "^;; \\{5\\}" "" text))
            (goto-char (point-min))
            (condition-case nil
                (while t (push (read (current-buffer)) forms))
              (end-of-file nil)))))
      (nreverse forms))))

(ert-deftest org-agent-package-recipes ()
  "What the README says to evaluate names the files and commands that there are."
  (let* ((forms (org-agent-package-test--forms
                 (expand-file-name "README.org" org-agent-package-test-root)
                 "^#\\+begin_src emacs-lisp$" "^#\\+end_src"))
         (install (cadr (cadr (assq 'package-vc-install forms))))
         (use (cddr (assq 'use-package forms)))
         (bound (plist-get use :bind)))
    (should (string-suffix-p "elisp/org-agent-autoloads" (cadr (assq 'load forms))))
    (dolist (recipe (list (cdr install) (plist-get use :vc)))
      (should (file-exists-p
               (expand-file-name (concat (plist-get recipe :lisp-dir) "/org-agent.el")
                                 org-agent-package-test-root))))
    (should (> (length bound) 2))
    (dolist (binding bound)
      (should (commandp (cdr binding))))))

(ert-deftest org-agent-package-suggests-keys ()
  "The commentary suggests keys that are left to people, and binds none."
  (let ((forms (org-agent-package-test--forms
                (expand-file-name "org-agent.el" org-agent-directory)
                "^;; No key is bound.*$" "^;; `org-agent-menu'"))
        (global (copy-keymap global-map)))
    (should (> (length forms) 2))
    (dolist (form forms)
      (pcase form
        (`(global-set-key (kbd ,key) (function ,command))
         (should (string-match-p "\\`C-c [a-z]\\'" key))
         (should (commandp command)))
        (_ (ert-fail form))))
    (org-agent-fake-load-all)
    (should (equal global global-map))))

(provide 'org-agent-package-test)
;;; org-agent-package-test.el ends here
