;;; org-agent-inbox.el --- Conversations on channels, and what is kept for you  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-inbox' lists the conversations on channels, and below them what
;; the agent keeps for you: results of tasks and alerts that it could tell
;; nowhere else, what failed, and who wrote that may not.  The unread of it is
;; listed first.  RET opens the conversation that a line is about, and marks
;; the line as read.
;;
;; What is unread in chats is not counted in the header line of conversations:
;; the agent answers there, and in a group that talks the number would change
;; all the time.  The list has it.

;;; Code:

(require 'cl-lib)
(require 'org-agent-kernel)
(require 'org-agent-list)
(require 'org-agent-messages)
(require 'org-agent-section)
(require 'org-agent)

(declare-function org-agent-chat-open "org-agent-chat" (session))
(declare-function org-agent-chat-sessions "org-agent-chat" ())
(declare-function org-agent-chat-check-name "org-agent-chat" (name))

(defconst org-agent-inbox--buffer "*org-agent-inbox*"
  "The name of the buffer that lists the inbox.")

(defvar org-agent-inbox-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-sections-mode-map)
    (define-key map (kbd "RET") #'org-agent-inbox-visit)
    (define-key map "r" #'org-agent-inbox-toggle-read)
    (define-key map "R" #'org-agent-inbox-read-all)
    (define-key map "m" #'org-agent-inbox-messages)
    (define-key map "a" #'org-agent-inbox-answer)
    (define-key map "v" #'org-agent-inbox-move)
    (define-key map "+" #'org-agent-inbox-let-in)
    map)
  "Keymap of the list of the inbox.")

(define-derived-mode org-agent-inbox-mode org-agent-list-sections-mode
  "Org-Agent-Inbox"
  "Major mode of the list of the inbox.
\\<org-agent-inbox-mode-map>\\[org-agent-inbox-visit] opens the conversation of a line, \\[org-agent-inbox-toggle-read] marks it as read or as unread,
and \\[org-agent-inbox-read-all] marks all as read.  \\[org-agent-inbox-messages] shows the messages of a chat,
\\[org-agent-inbox-answer] answers it by hand, and \\[org-agent-inbox-move] has it answered in another conversation.
\\[org-agent-inbox-let-in] lets a stranger talk.

\\{org-agent-inbox-mode-map}"
  :interactive nil
  (org-agent-list-rows
   '(("When" 16) ("What" 8) ("  Title"))
   #'org-agent-inbox--ask
   "\\<org-agent-inbox-mode-map>\\[org-agent-inbox-read-all] all read"))

(cl-defmethod org-agent-section-hint ((_type (eql 'inbox)))
  "Return the keys of an item."
  (concat "\\<org-agent-inbox-mode-map>\\[org-agent-inbox-visit] open  \\[org-agent-inbox-toggle-read] read or unread"
          (and (org-agent-inbox--stranger (org-agent-section-data-at-point 'inbox))
               "  \\[org-agent-inbox-let-in] let in")))

(cl-defmethod org-agent-section-hint ((_type (eql 'chat)))
  "Return the keys of a chat."
  "\\<org-agent-inbox-mode-map>\\[org-agent-inbox-visit] open  \\[org-agent-inbox-messages] messages  \\[org-agent-inbox-answer] answer  \\[org-agent-inbox-move] move")

;;;###autoload
(defun org-agent-inbox ()
  "List the conversations on channels, and what the agent keeps for you."
  (interactive)
  (org-agent-kernel-check)
  (org-agent-list-open org-agent-inbox--buffer 'org-agent-inbox-mode
                       #'org-agent-inbox--ask))

(defun org-agent-inbox--ask (&rest _)
  "Request the conversations and the items, and show them when they arrive."
  (org-agent-kernel-ask
   "chat/list" nil
   (lambda (chats)
     (org-agent-kernel-ask
      "inbox/list" nil
      (lambda (items) (org-agent-inbox--show chats items))))))

(defun org-agent-inbox--show (chats items)
  "Show CHATS and ITEMS, results of the kernel."
  (let ((talks (mapcar #'org-agent-inbox--chat-row (plist-get chats :chats)))
        (kept (mapcar #'org-agent-inbox--row (plist-get items :items))))
    (org-agent-list-show-rows
     (if talks
         (append (list (org-agent-inbox--heading "Conversations")) talks
                 (list (org-agent-inbox--heading "Kept"))
                 (or kept
                     (list (org-agent-section
                            nil 'nothing :body (org-agent-list-empty "Nothing.")))))
       kept)
     "Nothing is in the inbox.  Results that the agent cannot tell you elsewhere are kept here, and what failed.  Conversations on channels are listed here; M-x org-agent-channel-add adds a channel."
     (or (org-agent-list-left chats "conversations")
         (org-agent-list-left items "items")
         (org-agent-inbox--unread-note
          (+ (or (plist-get chats :unread) 0) (or (plist-get items :unread) 0)))))))

(defun org-agent-inbox--heading (title)
  "Return a line that has the TITLE of what follows."
  (org-agent-section nil title :heading (propertize title 'face 'org-agent-section-heading)))

(defun org-agent-inbox--unread-note (count)
  "Return a note for the mode line that COUNT things are unread, or nil."
  (and (> count 0) (format "%d unread" count)))

(defun org-agent-inbox--titled (title read text)
  "Return the cell of TITLE, bold unless READ, and the shadow of TEXT."
  (concat (if read
              (concat "  " title)
            (propertize (concat "• " title) 'face 'bold))
          "  " (propertize text 'face 'shadow)))

(defun org-agent-inbox--chat-row (chat)
  "Return the row of CHAT, a plist from the kernel."
  (let ((unread (or (plist-get chat :unread) 0)))
    (org-agent-list-row
     'chat (org-agent-messages-params chat) chat
     (list (org-agent-list-time (plist-get chat :last))
           (propertize (org-agent-messages-channel chat)
                       'face (if (plist-get chat :connected) 'org-agent-list-good 'shadow))
           (org-agent-inbox--titled
            (concat (org-agent-messages-title chat)
                    (and (> unread 0) (format " (%d)" unread)))
            (zerop unread) (org-agent-inbox--last chat)))
     (lambda () (org-agent-inbox--chat-text chat)))))

(defun org-agent-inbox--last (chat)
  "Return who wrote last in CHAT, and what, on one line.
In a chat of two who wrote is said of the agent alone."
  (let ((sender (org-agent-one-line (or (plist-get chat :last-sender) "")))
        (text (org-agent-one-line (or (plist-get chat :last-text) ""))))
    (cond ((string-empty-p text) "")
          ((plist-get chat :by-hand) (concat "you: " text))
          ((string-empty-p sender) (concat "the agent: " text))
          ((plist-get chat :shared) (concat sender ": " text))
          (t text))))

(defun org-agent-inbox--chat-text (chat)
  "Return where CHAT is answered, and what was said last, as the body of its row."
  (concat
   (org-agent-list-filled (org-agent-inbox--last chat))
   (propertize
    (concat (format "answered in the conversation %s" (plist-get chat :session))
            (unless (plist-get chat :connected) ", and the channel is not connected")
            "\n")
    'face 'shadow)))

(defun org-agent-inbox--row (item)
  "Return the row of ITEM, a plist from the kernel."
  (let ((title (org-agent-one-line (plist-get item :title)))
        (text (string-trim (org-agent-one-line
                            (or (org-agent-inbox--stranger item)
                                (plist-get item :text) "")))))
    (org-agent-list-row
     'inbox (plist-get item :id) item
     (list (org-agent-list-time (plist-get item :time))
           (pcase (plist-get item :kind)
             ("failure" (org-agent-list-state "failed"))
             ((and (or "alert" "stranger") kind)
              (propertize kind 'face 'org-agent-list-attention))
             (kind (propertize kind 'face 'shadow)))
           (org-agent-inbox--titled title (plist-get item :read) text))
     (lambda () (org-agent-inbox--text item)))))

(defun org-agent-inbox--text (item)
  "Return the text of ITEM, and where it is from, as the body of its row."
  (concat
   ;; Each line for itself: filled together, the items of a list would be one.
   (mapconcat (lambda (line)
                (if (string-empty-p line) "\n" (org-agent-list-filled line)))
              (cl-remove-if
               (lambda (line) (string-match-p "\\`#\\+\\(begin\\|end\\)_example\\'" line))
               (split-string
                (string-trim (replace-regexp-in-string
                              "[^[:print:]\n]+" " " (or (plist-get item :text) "")))
                "\n"))
              "")
   (when-let* ((session (plist-get item :session)))
     (propertize (format "in the conversation %s\n" (org-agent-one-line session))
                 'face 'shadow))))

(defun org-agent-inbox--at-point ()
  "Return the item at point, a plist."
  (or (org-agent-section-data-at-point 'inbox)
      (user-error "There is no item on this line")))

(defun org-agent-inbox--chat-at-point ()
  "Return the chat at point, a plist."
  (or (org-agent-section-data-at-point 'chat)
      (user-error "There is no chat on this line")))

(defun org-agent-inbox-visit ()
  "Open the conversation of the line at point, and mark the line as read.
An item without a conversation is unfolded."
  (interactive nil org-agent-inbox-mode)
  (if-let* ((chat (org-agent-section-data-at-point 'chat)))
      (progn (org-agent-messages-seen chat)
             (pop-to-buffer (org-agent-chat-open (plist-get chat :session))))
    (let* ((item (org-agent-inbox--at-point))
           (session (plist-get item :session)))
      (org-agent-inbox--mark (list :ids (list (plist-get item :id))))
      (if session
          (pop-to-buffer (org-agent-chat-open session))
        (org-agent-section-toggle)))))

(defun org-agent-inbox-toggle-read ()
  "Mark the item at point as read, or as unread if it was read.
A chat is marked as read."
  (interactive nil org-agent-inbox-mode)
  (if-let* ((chat (org-agent-section-data-at-point 'chat)))
      (org-agent-messages-seen chat)
    (let ((item (org-agent-inbox--at-point)))
      (org-agent-inbox--mark (list :ids (list (plist-get item :id))
                                   :unread (plist-get item :read))))))

(defun org-agent-inbox-read-all ()
  "Mark all items and all chats of the list as read."
  (interactive nil org-agent-inbox-mode)
  (dolist (section (org-agent-section-all 'chat))
    (let ((chat (org-agent-section-data section)))
      (when (> (or (plist-get chat :unread) 0) 0)
        (org-agent-messages-seen chat))))
  (org-agent-inbox--mark '(:all t)))

;;;; Chats

(defun org-agent-inbox-messages ()
  "Show the messages of the chat at point as people see them."
  (interactive nil org-agent-inbox-mode)
  (org-agent-messages-open (org-agent-inbox--chat-at-point)))

(defun org-agent-inbox-answer ()
  "Answer the chat at point by hand, through the agent's account."
  (interactive nil org-agent-inbox-mode)
  (org-agent-messages-answer (org-agent-inbox--chat-at-point)))

(defun org-agent-inbox-move (session)
  "Have the chat at point answered in the conversation SESSION from now on.
So a conversation is carried from Emacs into a chat, and back.  An empty
name is that of the conversation that the chat has of its own."
  (interactive
   (let ((chat (org-agent-inbox--chat-at-point)))
     (list (string-trim
            (completing-read
             (format "Answer %s in the conversation (RET: its own): "
                     (org-agent-messages-title chat))
             (org-agent-chat-sessions)))))
   org-agent-inbox-mode)
  (unless (string-empty-p session)
    (org-agent-chat-check-name session))
  (org-agent-kernel-ask
   "chat/move"
   (apply #'org-agent-messages-params (org-agent-inbox--chat-at-point)
          (unless (string-empty-p session) (list :session session)))
   (lambda (chat)
     (org-agent-say "%s is answered in the conversation %s from now on"
                    (org-agent-messages-title chat) (plist-get chat :session)))))

;;;; Strangers

(defun org-agent-inbox--stranger (item)
  "Return the id of the stranger whom ITEM is about, or nil."
  (plist-get item :sender))

(defun org-agent-inbox-let-in (who)
  "Let the stranger of the item at point talk to the agent, as WHO.
What they wrote before is not answered."
  (interactive
   (let* ((item (org-agent-inbox--at-point))
          (id (or (org-agent-inbox--stranger item)
                  (user-error "This item is about no stranger who can be let in")))
          (channel (org-agent-messages-channel item))
          (name (string-remove-suffix (format " wrote on %s" channel)
                                      (org-agent-one-line (plist-get item :title)))))
     (list (read-string (format "Let %s on %s talk to the agent, as (%s): "
                                (org-agent-one-line id) channel name)
                        nil nil name)))
   org-agent-inbox-mode)
  (let ((item (org-agent-inbox--at-point)))
    (org-agent-kernel-ask
     "channel/allow"
     (list :channel (plist-get item :channel)
           :id (org-agent-inbox--stranger item) :who who)
     (lambda (_)
       (org-agent-inbox--mark (list :ids (list (plist-get item :id))))
       (org-agent-say "%s may talk to the agent on %s" who
                      (org-agent-messages-channel item))))))

;;;; News

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

(defvar org-agent-inbox--news nil
  "The chats that changed and were not shown yet: parameters of the kernel.")

(defvar org-agent-inbox--timer nil
  "The timer that shows the news, also one that has run or was cancelled.")

(defconst org-agent-inbox--pause 0.3
  "Seconds in which changes of chats are collected.")

;;;###autoload
(defun org-agent-inbox-chat-changed (params)
  "Show the chat of PARAMS anew, soon, where it is shown.
Where people write much, what is shown changes a few times a second."
  (cl-pushnew params org-agent-inbox--news :test #'equal)
  ;; A program may have cancelled the timer: what waits does not say that one runs.
  (unless (memq org-agent-inbox--timer timer-list)
    (setq org-agent-inbox--timer
          (run-with-timer org-agent-inbox--pause nil #'org-agent-inbox--show-news))))

(defun org-agent-inbox--show-news ()
  "Show the chats that changed."
  (let ((news org-agent-inbox--news))
    (setq org-agent-inbox--news nil)
    (when (org-agent-kernel-ready-p)
      (org-agent-list-refresh org-agent-inbox--buffer)
      (mapc #'org-agent-messages-changed news))))

(defun org-agent-inbox-unread ()
  "Return how many items of the inbox are unread."
  (or (plist-get org-agent-kernel-server :unread) 0))

(provide 'org-agent-inbox)
;;; org-agent-inbox.el ends here
