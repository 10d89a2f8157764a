;;; org-agent-bookmark.el --- Bookmarks in conversations  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A bookmark set in a conversation is one of the turn that point is in,
;; or of the draft: whatever is said, edited or renamed later, it leads
;; there.

;;; Code:

(require 'bookmark)
(require 'org-agent-draft)
(require 'org-agent-chat)
(require 'org-agent-place)

(defun org-agent-bookmark-make ()
  "Return a bookmark of the turn that point is in, or of the draft."
  (let* ((heading (org-agent-place-turn))
         (id (and heading (org-agent-heading-property heading "ID"))))
    `(,(concat "org-agent " org-agent-chat-session
               (and heading (concat ": " (org-agent-place-words heading))))
      (session . ,org-agent-chat-session)
      (id . ,id)
      (location . ,(concat "org-agent:" org-agent-chat-session
                           (and id (concat "::" id))))
      (handler . org-agent-bookmark-jump))))

(defun org-agent-bookmark-jump (bookmark)
  "Go where BOOKMARK leads; for `bookmark-jump'."
  (let ((session (bookmark-prop-get bookmark 'session)))
    (unless (and (stringp session) (org-agent-chat-valid-session-p session))
      (user-error "The bookmark names no conversation"))
    (set-buffer
     (or (org-agent-place-reach session (bookmark-prop-get bookmark 'id))
         (user-error "The conversation %s is not here; the kernel is asked where it is"
                     session)))))

(defun org-agent-bookmark-setup ()
  "Have bookmarks of this conversation lead to its turns."
  (setq-local bookmark-make-record-function #'org-agent-bookmark-make))

(add-hook 'org-agent-chat-mode-hook #'org-agent-bookmark-setup)

(provide 'org-agent-bookmark)
;;; org-agent-bookmark.el ends here
