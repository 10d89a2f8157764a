;;; org-agent-draft-kept.el --- A draft that stands in no file  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Of several Emacsen one keeps a conversation's file, with its draft, and
;; saves it when something is sent or a turn ends.  What is written in
;; another, or not saved yet, stands in no file; it is kept in the state
;; directory when that buffer or Emacs goes, and whenever Emacs saves by
;; itself, and comes back when the conversation is opened again.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-answer)
(require 'org-agent-keeper)
(require 'org-agent-chat)

(defvar-local org-agent-draft-kept--file nil
  "The file that has this buffer's draft, nil for none.")
(put 'org-agent-draft-kept--file 'permanent-local t)

(defun org-agent-draft-kept--name (session pid)
  "Return the file for a draft of SESSION in the Emacs PID."
  (org-agent-state-file (format "drafts/%s@%d.org" session pid)))

(defun org-agent-draft-kept-write ()
  "Keep the draft of this conversation if no file has it."
  (let* ((draft (org-agent-keeper--draft-string))
         (wanted (and (not (and org-agent-keeper-p
                                (equal draft org-agent-keeper--draft)))
                      (not (buffer-base-buffer))
                      (not (org-agent-keeper--blank-draft-p draft))
                      (org-agent-draft-kept--name org-agent-chat-session
                                                  (emacs-pid)))))
    (unless (equal wanted org-agent-draft-kept--file)
      (org-agent-draft-kept--forget))
    (when wanted
      (condition-case err
          (progn
            (make-directory (file-name-directory wanted) t)
            (let ((coding-system-for-write 'utf-8-unix))
              (with-file-modes #o600
                (write-region draft nil wanted nil 'silent)))
            (setq org-agent-draft-kept--file wanted))
        (file-error
         (org-agent-rpc-log "The draft of %s is not kept: %s"
                            org-agent-chat-session
                            (error-message-string err)))))))

(defun org-agent-draft-kept--forget ()
  "Delete the file that has this buffer's draft."
  (when org-agent-draft-kept--file
    (ignore-errors (delete-file org-agent-draft-kept--file))
    (setq org-agent-draft-kept--file nil)))

(defun org-agent-draft-kept-write-all ()
  "Keep the drafts of all conversations that no file has."
  (dolist (buffer (org-agent-chat-buffers))
    (with-current-buffer buffer
      (org-agent-draft-kept-write))))

(defun org-agent-draft-kept--left ()
  "Return the files with drafts of this conversation that nobody is writing."
  (let ((directory (file-name-directory
                    (org-agent-draft-kept--name org-agent-chat-session 0))))
    (and (file-directory-p directory)
         (cl-remove-if
          (lambda (file)
            (or (equal file org-agent-draft-kept--file)
                (let ((pid (string-to-number
                            (substring file (1+ (string-match "@[0-9]+\\.org\\'" file))))))
                  (and (/= pid (emacs-pid)) (process-attributes pid)))))
          (directory-files directory t
                           (concat "\\`" (regexp-quote org-agent-chat-session)
                                   "@[0-9]+\\.org\\'"))))))

(defun org-agent-draft-kept-restore ()
  "Put what was left of a draft behind the one that stands there."
  (dolist (file (org-agent-draft-kept--left))
    (condition-case err
        (let ((left (org-agent-keeper--read file))
              (draft (org-agent-keeper--draft-string))
              (at-end (= (point) (point-max))))
          (unless (or (equal left draft) (org-agent-keeper--blank-draft-p left))
            (org-agent-keeper--set-draft
             (if (string-prefix-p (string-trim-right draft) left)
                 left                   ; the file has what it was before
               (concat (org-agent-answer--closed draft) left)))
            (when at-end (goto-char (point-max)))
            (org-agent-keeper-save)
            (message "The draft that was here, and not sent, is here again"))
          (delete-file file))
      (file-error
       (org-agent-rpc-log "A draft is still in %s: %s" file
                          (error-message-string err)))))
  (org-agent-draft-kept-write))

(defun org-agent-draft-kept-setup ()
  "Keep the draft of this conversation when its buffer goes."
  (add-hook 'kill-buffer-hook #'org-agent-draft-kept-write nil t))

(add-hook 'org-agent-chat-mode-hook #'org-agent-draft-kept-setup)
(add-hook 'org-agent-chat-loaded-hook #'org-agent-draft-kept-restore)
(add-hook 'auto-save-hook #'org-agent-draft-kept-write-all)
(add-hook 'kill-emacs-hook #'org-agent-draft-kept-write-all)

(provide 'org-agent-draft-kept)
;;; org-agent-draft-kept.el ends here
