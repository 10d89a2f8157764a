;;; org-agent-drop.el --- Drop files and images on a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A file that is dropped on a conversation, or an image that is pasted
;; into it, goes along with the next message, as if it were added with
;; `org-agent-add': it is listed in the draft, wherever it was dropped.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'dnd)
(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-context)
(require 'org-agent-context-read)
(require 'org-agent-add)

(declare-function yank-media-handler "yank-media")

(defun org-agent-drop-file (uri _action)
  "Have the file URI, which was dropped, go along with the next message.
Return `private', for a drop that was taken."
  (let ((file (or (dnd-get-local-file-name uri t)
                  (user-error "%s is no file of this machine" uri))))
    (org-agent-drop-add (if (file-directory-p file)
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

(defun org-agent-drop-add (file)
  "Have FILE go along with the next message in this conversation."
  (org-agent-chat-check-whole)
  (pcase-let ((`(,reference . ,bytes)
               (org-agent-add--checked (list :type 'file :path file))))
    (org-agent-chat-restore-draft)
    (org-agent-add-line reference)
    (message "%s (%s) goes along with the next message"
             (org-agent-context-name reference)
             (org-agent-context-size bytes))))

(defun org-agent-drop-image (type data)
  "Have the image DATA of the MIME TYPE, which was pasted, go along.
It is kept as a file beside the conversations."
  (let* ((extension (pcase type
                      ('image/jpeg "jpg")
                      (_ (string-remove-prefix "image/" (symbol-name type)))))
         (directory (expand-file-name "sessions/images/"
                                      (org-agent-home-directory)))
         (file (expand-file-name
                (concat (substring (secure-hash 'sha256 data) 0 16) "." extension)
                directory))
         (coding-system-for-write 'no-conversion))
    (unless (string-match-p "\\`[a-z0-9]+\\'" extension)
      (user-error "An image of the type %s cannot be sent" type))
    (make-directory directory t)
    (write-region data nil file nil 'silent)
    (org-agent-drop-add file)))

(defun org-agent-drop-setup ()
  "Take files, links and images that are dropped on this conversation."
  (setq-local dnd-protocol-alist
              (append '(("\\`file:" . org-agent-drop-file)
                        ("\\`https?:" . org-agent-drop-link))
                      dnd-protocol-alist))
  (when (fboundp 'yank-media-handler)   ; Emacs 29
    (yank-media-handler "\\`image/" #'org-agent-drop-image)))

(add-hook 'org-agent-chat-mode-hook #'org-agent-drop-setup)

(provide 'org-agent-drop)
;;; org-agent-drop.el ends here
