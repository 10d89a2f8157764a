;;; org-agent-desktop-test.el --- Tests of desktops with conversations  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The desktop is saved and read as Emacs does, with the real kernel.

;;; Code:

(require 'ert)
(require 'desktop)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-goto)

(ert-deftest org-agent-desktop-restores ()
  "A conversation that a desktop restores is one, and connected when it is seen."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Yes." (cons 'times -1)))
    (org-agent-kernel-test--say "One")
    (org-agent-kernel-test--settle 1)
    (let ((desktop-dirname nil)
          (desktop-save t)
          (directory (file-name-as-directory
                      (expand-file-name "desktop" org-agent-fake-directory)))
          (inhibit-message t))
      (make-directory directory)
      (should buffer-file-name)
      (desktop-save directory t)
      (kill-buffer)
      ;; In batch mode Emacs reads none.
      (let ((desktop-restore-frames nil) (desktop-load-locked-desktop t)
            (noninteractive nil))
        (desktop-read directory))
      (let ((buffer (get-buffer "*org-agent-chat*")))
        (should buffer)
        (with-current-buffer buffer
          (should (equal org-agent-chat-session org-agent-chat-main))
          (should (string-blank-p (org-agent-draft-raw)))
          (run-hook-with-args 'window-buffer-change-functions
                              (progn (switch-to-buffer buffer) (selected-window)))
          (should-not (memq #'org-agent-goto--restored-seen window-buffer-change-functions))
          (org-agent-kernel-test--wait-attached)
          (org-agent-kernel-test--say "Two")
          (org-agent-kernel-test--settle 2)))
      (setq desktop-dirname nil))))

(ert-deftest org-agent-desktop-nothing-else ()
  "A file that is not that of a conversation of this home is left to Emacs."
  (org-agent-fake-with-chat
    (dolist (file (list nil "/nothing/main.org" (make-temp-file "main" nil ".org")))
      (should-not (org-agent-goto-restored file "*org-agent-chat*" nil))
      (when (and file (file-exists-p file)) (delete-file file)))))

(provide 'org-agent-desktop-test)
;;; org-agent-desktop-test.el ends here
