;;; org-agent-restore.el --- Conversations that a desktop restores  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `desktop-save-mode' remembers a conversation by its file and its mode.
;; When it visits the file again that is not enough: a conversation is
;; opened with its session and its draft, and connected to the kernel.
;; That is done here, and the kernel is needed when the conversation is
;; seen, so that nobody waits for it before.

;;; Code:

(require 'org-agent-chat)
(require 'org-agent-kernel)

(defvar desktop-buffer-mode-handlers)

;;;###autoload
(defun org-agent-restore-conversation (file _name _misc)
  "Open the conversation of FILE again and return its buffer.
Return nil if it is none of this home.  This is for
`desktop-buffer-mode-handlers'."
  (let ((session (and (stringp file) (file-name-base file))))
    (when (and session
               (org-agent-chat-valid-session-p session)
               (file-exists-p file)
               (equal (file-truename file)
                      (file-truename (org-agent-chat-file session))))
      (with-current-buffer (org-agent-chat-open session)
        (add-hook 'window-buffer-change-functions
                  #'org-agent-restore--seen nil t)
        (current-buffer)))))

(defun org-agent-restore--seen (window)
  "Connect the conversation that WINDOW shows to the kernel, now it is seen."
  (when (windowp window)
    (with-current-buffer (window-buffer window)
      (remove-hook 'window-buffer-change-functions
                   #'org-agent-restore--seen t))
    ;; A kernel that has to be started must not delay what is drawn.
    (run-with-timer 0 nil #'org-agent-kernel-ensure)))

;;;###autoload
(add-to-list 'desktop-buffer-mode-handlers
             '(org-agent-chat-mode . org-agent-restore-conversation))

(provide 'org-agent-restore)
;;; org-agent-restore.el ends here
