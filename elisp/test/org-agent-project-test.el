;;; org-agent-project-test.el --- The project that a conversation is about  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A fake kernel receives the attachments.  What a project allows is tested
;; with the real kernel.

;;; Code:

(require 'ert)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-chat)
(require 'org-agent-context)

(defvar abbreviated-home-dir)

(defmacro org-agent-project-test--with (&rest body)
  "Run BODY with `root', a project, and `elsewhere', which is in none."
  (declare (indent 0) (debug t))
  `(let* ((above (file-name-as-directory
                  (file-truename (make-temp-file "org-agent-context-project" t))))
          (process-environment (cons (concat "HOME=" above "home")
                                     process-environment))
          (abbreviated-home-dir nil)
          (root (concat above "home/src/thing/"))
          (elsewhere (concat above "home/elsewhere/")))
     (unwind-protect
         (progn
           (mapc (lambda (name) (make-directory name t))
                 (list (concat root ".git") (concat root "deep/er") elsewhere
                       (concat above "home/.org-agent")))
           ,@body)
       (delete-directory above t))))

(ert-deftest org-agent-project-is-found ()
  "A project is the nearest directory above with a marker file, never a home."
  (org-agent-project-test--with
    (should (equal (org-agent-context-project-of root) root))
    (should (equal (org-agent-context-project-of (concat root "deep/er")) root))
    (should-not (org-agent-context-project-of elsewhere))
    (should-not (org-agent-context-project-of "~"))
    (should-not (org-agent-context-project-of "/"))
    (should-not (org-agent-context-project-of "/ssh:nowhere:/src/"))
    (make-directory (concat above ".git"))
    (should-not (org-agent-context-project-of above))
    (should-not (org-agent-context-project-of elsewhere))
    (make-directory (concat root "deep/.org-agent"))
    (should (equal (org-agent-context-project-of (concat root "deep/er"))
                   (concat root "deep/")))
    (make-symbolic-link (concat root "deep") (concat elsewhere "link"))
    (should (equal (org-agent-context-project-of (concat elsewhere "link/er"))
                   (concat root "deep/")))))

(ert-deftest org-agent-project-goes-along ()
  "The project of a conversation is shown and sent."
  (org-agent-fake-with-chat
    (org-agent-project-test--with
      (cl-flet ((sent () (plist-get (car (last (org-agent-fake-requests "event")))
                                    :directory))
                (from (directory)
                  (with-temp-buffer
                    (setq default-directory directory)
                    (call-interactively #'org-agent-chat))))
        (org-agent-fake-say "Before.")
        (should-not (sent))
        (ert-with-message-capture messages
          (from (concat root "deep/"))
          (should (string-match-p "The agent may read ~/src/thing/ without asking here; .*org-agent-project-set changes that"
                                  messages)))
        ;; It is said once.
        (ert-with-message-capture messages
          (from root)
          (should-not (string-match-p "without asking" messages)))
        (with-current-buffer "*org-agent-chat*"
          (should (string-match-p "reads ~/src/thing/" (org-agent-header-line))))
        (org-agent-fake-say "Here.")
        (should (equal (sent) (directory-file-name root)))
        (from elsewhere)
        (org-agent-fake-say "Still here.")
        (should (equal (sent) (directory-file-name root)))
        (with-current-buffer "*org-agent-chat*"
          (should-error (org-agent-project-set elsewhere) :type 'user-error)
          (should (equal org-agent-context-project root))
          (org-agent-chat-mode)
          (should (equal org-agent-context-project root))
          (let ((current-prefix-arg '(4)))
            (call-interactively #'org-agent-project-set))
          (should-not (string-match-p "reads" (org-agent-header-line))))
        (org-agent-fake-say "Nowhere.")
        (should-not (sent))
        (let (org-agent-project-taken)
          (from root))
        (org-agent-fake-say "Not taken.")
        (should-not (sent))))))

(provide 'org-agent-project-test)
;;; org-agent-project-test.el ends here
