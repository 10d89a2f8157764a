;;; org-agent-drop.el --- Drop files and images on a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A file or an image that is dropped on a conversation, or an image that
;; is pasted into it, goes along with the next message, as if it were
;; added with `org-agent-add': it is listed in the draft, wherever it was
;; dropped.  An address of the web becomes a link; nothing is fetched.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'dnd)
(require 'url-util)
(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-context)
(require 'org-agent-context-read)
(require 'org-agent-add)
(require 'org-agent-image)

(declare-function yank-media-handler "yank-media")

(defun org-agent-drop-file (uri _action)
  "Have the file URI, which was dropped, go along with the next message.
Return `private', for a drop that was taken."
  (let ((file (or (dnd-get-local-file-name uri t)
                  (user-error "%s is no file of this machine" uri))))
    (org-agent-add-file (if (file-directory-p file)
                            (file-name-as-directory file)
                          file))
    'private))

(defun org-agent-drop-link (uri _action)
  "Put the link URI, which was dropped, at the end of the draft.
Nothing is fetched from there."
  (org-agent-chat-check-whole)
  (org-agent-chat-restore-draft)
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (point-max))
      (insert (org-link-make-string uri) " ")))
  'private)

(defun org-agent-drop-image (_type data)
  "Have the image DATA, which was pasted, go along with the next message."
  (org-agent-image-add data))

(defun org-agent-drop-data (uri _action)
  "Have the image that the data URI holds, which was dropped, go along."
  (unless (string-match "\\`data:image/[-+.a-z0-9]+;base64," uri)
    (user-error "What was dropped is no image that can be sent"))
  (org-agent-image-add
   (condition-case nil
       (base64-decode-string (url-unhex-string (substring uri (match-end 0))))
     (error (user-error "The image that was dropped cannot be read"))))
  'private)

(defun org-agent-drop-setup ()
  "Take files, links and images that are dropped on this conversation."
  (setq-local dnd-protocol-alist
              (append '(("\\`file:" . org-agent-drop-file)
                        ("\\`https?:" . org-agent-drop-link)
                        ("\\`data:" . org-agent-drop-data))
                      dnd-protocol-alist))
  (when (fboundp 'yank-media-handler)   ; Emacs 29
    (yank-media-handler "\\`image/" #'org-agent-drop-image)))

(add-hook 'org-agent-chat-mode-hook #'org-agent-drop-setup)

(provide 'org-agent-drop)
;;; org-agent-drop.el ends here
