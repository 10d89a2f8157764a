;;; org-agent-inbox.el --- What the agent keeps for you  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-inbox' lists what the agent keeps for you: results of tasks and
;; alerts that it could tell nowhere else, and what failed.  The unread is
;; listed first.  RET opens the conversation that an item is about, and marks
;; the item as read.

;;; Code:

(require 'org-agent-kernel)
(require 'org-agent-list)
(require 'org-agent-section)
(require 'org-agent)

(declare-function org-agent-chat-open "org-agent-chat" (session))

(defconst org-agent-inbox--buffer "*org-agent-inbox*"
  "The name of the buffer that lists the inbox.")

(defvar org-agent-inbox-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-sections-mode-map)
    (define-key map (kbd "RET") #'org-agent-inbox-visit)
    (define-key map "r" #'org-agent-inbox-toggle-read)
    (define-key map "R" #'org-agent-inbox-read-all)
    map)
  "Keymap of the list of the inbox.")

(define-derived-mode org-agent-inbox-mode org-agent-list-sections-mode
  "Org-Agent-Inbox"
  "Major mode of the list of the inbox.
\\<org-agent-inbox-mode-map>\\[org-agent-inbox-visit] opens the conversation of an item, \\[org-agent-inbox-toggle-read] marks it as read or as unread,
and \\[org-agent-inbox-read-all] marks all as read.

\\{org-agent-inbox-mode-map}"
  :interactive nil
  (org-agent-list-rows
   '(("When" 16) ("What" 7) ("  Title"))
   #'org-agent-inbox--ask
   "\\<org-agent-inbox-mode-map>\\[org-agent-inbox-visit] open  \\[org-agent-inbox-toggle-read] read or unread  \\[org-agent-inbox-read-all] all read"))

;;;###autoload
(defun org-agent-inbox ()
  "List what the agent keeps for you, the unread first."
  (interactive)
  (org-agent-kernel-check)
  (org-agent-list-open org-agent-inbox--buffer 'org-agent-inbox-mode
                       #'org-agent-inbox--ask))

(defun org-agent-inbox--ask (&rest _)
  "Request the items, and show them when they arrive."
  (org-agent-kernel-ask
   "inbox/list" nil
   (lambda (result)
     (org-agent-list-show-rows
      (mapcar #'org-agent-inbox--row (plist-get result :items))
      "Nothing is in the inbox.  Results that the agent cannot tell you elsewhere are kept here, and what failed."
      (or (org-agent-list-left result "items")
          (org-agent-inbox--unread-note (or (plist-get result :unread) 0)))))))

(defun org-agent-inbox--unread-note (count)
  "Return a note for the mode line that COUNT items are unread, or nil."
  (and (> count 0) (format "%d unread" count)))

(defun org-agent-inbox--row (item)
  "Return the row of ITEM, a plist from the kernel."
  (let ((title (org-agent-one-line (plist-get item :title)))
        (text (string-trim (org-agent-one-line (or (plist-get item :text) "")))))
    (org-agent-list-row
     'inbox (plist-get item :id) item
     (list (org-agent-list-time (plist-get item :time))
           (pcase (plist-get item :kind)
             ("failure" (org-agent-list-state "failed"))
             ("alert" (propertize "alert" 'face 'org-agent-list-attention))
             (kind (propertize kind 'face 'shadow)))
           (concat (if (plist-get item :read)
                       (concat "  " title)
                     (propertize (concat "• " title) 'face 'bold))
                   "  " (propertize text 'face 'shadow)))
     (lambda () (org-agent-inbox--text item)))))

(defun org-agent-inbox--text (item)
  "Return the text of ITEM, and where it is from, as the body of its row."
  (concat
   (org-agent-list-filled
    (string-trim (replace-regexp-in-string
                  "[^[:print:]\n]+" " " (or (plist-get item :text) ""))))
   (when-let* ((session (plist-get item :session)))
     (propertize (format "in the conversation %s\n" (org-agent-one-line session))
                 'face 'shadow))))

(defun org-agent-inbox--at-point ()
  "Return the item at point, a plist."
  (or (org-agent-section-data-at-point 'inbox)
      (user-error "There is no item on this line")))

(defun org-agent-inbox-visit ()
  "Open the conversation of the item at point, and mark the item as read.
An item without a conversation is unfolded."
  (interactive nil org-agent-inbox-mode)
  (let* ((item (org-agent-inbox--at-point))
         (session (plist-get item :session)))
    (org-agent-inbox--mark (list :ids (list (plist-get item :id))))
    (if session
        (pop-to-buffer (org-agent-chat-open session))
      (org-agent-section-toggle))))

(defun org-agent-inbox-toggle-read ()
  "Mark the item at point as read, or as unread if it was read."
  (interactive nil org-agent-inbox-mode)
  (let ((item (org-agent-inbox--at-point)))
    (org-agent-inbox--mark (list :ids (list (plist-get item :id))
                                 :unread (plist-get item :read)))))

(defun org-agent-inbox-read-all ()
  "Mark all items as read."
  (interactive nil org-agent-inbox-mode)
  (org-agent-inbox--mark '(:all t)))

(defun org-agent-inbox--mark (params)
  "Request `inbox/mark' with PARAMS.
The kernel tells all clients what changed, and the list is shown anew."
  (org-agent-kernel-ask "inbox/mark" params #'ignore))

;;;###autoload
(defun org-agent-inbox-changed (params)
  "Take from PARAMS how many items are unread, and refresh the list."
  (let ((before (org-agent-inbox-unread))
        (now (or (plist-get params :unread) 0)))
    (setq org-agent-kernel-server
          (plist-put org-agent-kernel-server :unread now))
    (when (> now before)
      (org-agent-say "%s" (substitute-command-keys
                           (format "%d unread in the inbox; \\[org-agent-inbox] lists them"
                                   now))))
    (force-mode-line-update t)
    (org-agent-list-refresh org-agent-inbox--buffer)))

(defun org-agent-inbox-unread ()
  "Return how many items of the inbox are unread."
  (or (plist-get org-agent-kernel-server :unread) 0))

(provide 'org-agent-inbox)
;;; org-agent-inbox.el ends here
