;;; org-agent-imenu.el --- The index of a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Imenu's index of a conversation: every question by its first words,
;; and its answers by theirs behind it.  Entries lead to the `:ID:', so
;; that one made before an edit still leads to the right turn.

;;; Code:

(require 'subr-x)
(require 'imenu)
(require 'org-agent-draft)
(require 'org-agent-chat)
(require 'org-agent-place)

(defun org-agent-imenu-index ()
  "Return the index of this conversation.
Elements are (NAME POSITION FUNCTION ID), no two with one name."
  (let ((names (make-hash-table :test #'equal)) question index)
    (org-agent-map-turns
     (lambda (heading)
       (let ((words (org-agent-place-words heading)))
         (when (eq (org-agent-turn-p heading) 'user)
           (setq question words))
         (push (list (org-agent-imenu--name
                      (if (or (eq question words) (not question))
                          words
                        (format "%s / %s" question words))
                      names)
                     heading #'org-agent-imenu-go
                     (org-agent-heading-property heading "ID"))
               index))))
    (nreverse index)))

(defun org-agent-imenu--name (words names)
  "Return WORDS as a name that is not in the table NAMES yet."
  (let* ((words (if (string-empty-p words) "(no words)" words))
         (count (puthash words (1+ (gethash words names 0)) names)))
    (if (= count 1) words (format "%s <%d>" words count))))

(defun org-agent-imenu-go (_name position id)
  "Go to the turn whose `:ID:' is ID, which was at POSITION."
  (let ((heading (if (and (<= (point-min) position (point-max))
                          (equal id (org-agent-heading-property position "ID")))
                     position
                   (org-agent-find-heading id))))
    (unless heading
      (user-error "It is not in the conversation any more"))
    (push-mark nil t)
    (unless (<= (point-min) heading (point-max))
      (widen))
    (goto-char heading)
    (org-reveal)))

(defun org-agent-imenu-setup ()
  "Have Imenu list the turns of this conversation."
  (setq-local imenu-create-index-function #'org-agent-imenu-index
              imenu-auto-rescan t
              imenu-auto-rescan-maxout most-positive-fixnum
              imenu-space-replacement nil
              imenu-max-item-length nil))

(add-hook 'org-agent-chat-mode-hook #'org-agent-imenu-setup)

(provide 'org-agent-imenu)
;;; org-agent-imenu.el ends here
