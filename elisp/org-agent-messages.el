;;; org-agent-messages.el --- What is written in the chats of channels  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-messages-open' shows the messages of one chat of a channel as
;; the people in it see them: who wrote, when, the text, its files as buttons
;; and the reactions.  Nothing of it is Org here, so that nothing of what
;; others write does anything.  The page follows the chat while it is shown.
;;
;; `org-agent-messages-answer' answers by hand, through the agent's account.

;;; Code:

(require 'button)
(require 'cl-lib)
(require 'iso8601)
(require 'org-id)
(require 'subr-x)
(require 'org-agent)
(require 'org-agent-kernel)
(require 'org-agent-section)

(declare-function org-agent-chat-open "org-agent-chat" (session))

(defface org-agent-messages-sender '((t :inherit bold))
  "Face of who wrote a message."
  :group 'org-agent-lists)

(defface org-agent-messages-day '((t :inherit org-agent-section-heading))
  "Face of the day of messages."
  :group 'org-agent-lists)

(defconst org-agent-messages--page 100
  "How many more messages are shown at a time.")

(defvar org-agent-messages-history nil
  "What was answered by hand, for the minibuffer.")

(defvar-local org-agent-messages--chat nil
  "The chat that the buffer shows, a plist from the kernel.")

(defvar-local org-agent-messages--limit org-agent-messages--page
  "How many messages the buffer shows at most.")

(defvar-local org-agent-messages--more nil
  "Non-nil if there are messages before those that the buffer shows.")

(defvar org-agent-messages-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map (make-composed-keymap button-buffer-map special-mode-map))
    (define-key map "a" #'org-agent-messages-answer-here)
    (define-key map "c" #'org-agent-messages-conversation)
    (define-key map "o" #'org-agent-messages-older)
    (define-key map "?" #'describe-mode)
    map)
  "Keymap of the messages of a chat.")

(define-derived-mode org-agent-messages-mode special-mode "Org-Agent-Messages"
  "Major mode of the messages of a chat.

\\{org-agent-messages-mode-map}"
  :interactive nil
  (setq-local revert-buffer-function #'org-agent-messages--ask
              word-wrap t
              truncate-lines nil
              ;; Whose script runs from the right changes nobody else's lines.
              bidi-paragraph-direction nil
              header-line-format
              '(:eval (org-agent-section-header
                       nil "\\<org-agent-messages-mode-map>\\[org-agent-messages-answer-here] answer by hand  \\[org-agent-messages-conversation] conversation  \\[org-agent-messages-older] older"))))

;;;; Names

(defun org-agent-messages-title (chat)
  "Return what CHAT, a plist from the kernel, is called, on one line."
  (let ((title (org-agent-one-line (or (plist-get chat :title) ""))))
    (if (string-blank-p title)
        (org-agent-one-line (plist-get chat :chat))
      title)))

(defun org-agent-messages-channel (chat)
  "Return the name of the channel of CHAT."
  (string-remove-prefix ":" (format "%s" (plist-get chat :channel))))

(defun org-agent-messages-params (chat &rest more)
  "Return the parameters that name CHAT to the kernel, and MORE of them."
  (append (list :channel (plist-get chat :channel) :chat (plist-get chat :chat))
          more))

(defun org-agent-messages-same-p (chat other)
  "Return non-nil when CHAT and OTHER are the same chat."
  (and (equal (plist-get chat :chat) (plist-get other :chat))
       (equal (org-agent-messages-channel chat)
              (org-agent-messages-channel other))))

(defun org-agent-messages--buffers ()
  "Return the buffers that show the messages of a chat."
  (cl-remove-if-not (lambda (buffer)
                      (buffer-local-value 'org-agent-messages--chat buffer))
                    (buffer-list)))

;;;; The page

(defun org-agent-messages-open (chat)
  "Show the messages of CHAT, a plist from the kernel, which counts as seen."
  (let ((buffer (or (cl-find-if
                     (lambda (buffer)
                       (org-agent-messages-same-p
                        chat (buffer-local-value 'org-agent-messages--chat buffer)))
                     (org-agent-messages--buffers))
                    (generate-new-buffer
                     (format "*org-agent-messages: %s*"
                             (org-agent-messages-title chat))))))
    (with-current-buffer buffer
      (unless (derived-mode-p 'org-agent-messages-mode)
        (org-agent-messages-mode))
      (setq org-agent-messages--chat chat)
      (org-agent-messages--ask))
    (pop-to-buffer buffer)))

(defun org-agent-messages--ask (&rest _)
  "Request the messages of this chat, and show them when they arrive."
  (org-agent-kernel-ask
   "chat/messages"
   (org-agent-messages-params org-agent-messages--chat
                              :limit org-agent-messages--limit)
   #'org-agent-messages--show))

(defun org-agent-messages--show (result)
  "Show the messages of RESULT, and mark them as seen if a window does."
  (let* ((messages (plist-get result :messages))
         (chat (plist-get result :chat))
         (new (zerop (buffer-size)))
         (at-end (or new (eobp))))
    (setq org-agent-messages--chat chat
          org-agent-messages--more (plist-get result :more))
    (with-silent-modifications
      (org-agent-section-replace-text (org-agent-messages--text chat messages)))
    (when at-end
      (goto-char (point-max))
      (dolist (window (get-buffer-window-list nil nil t))
        (set-window-point window (point-max))
        (when new
          (with-selected-window window (recenter -1)))))
    (when (and (> (or (plist-get chat :unread) 0) 0)
               (get-buffer-window nil 'visible))
      (org-agent-messages-seen chat))))

(defun org-agent-messages-seen (chat)
  "Tell the kernel that all messages of CHAT were seen."
  (org-agent-kernel-ask "chat/seen" (org-agent-messages-params chat) #'ignore))

(defun org-agent-messages--text (chat messages)
  "Return the page of CHAT with its MESSAGES, the oldest first."
  (let (day)
    (concat
     (propertize (org-agent-messages-title chat) 'face 'org-agent-section-heading)
     (propertize
      (format "  on %s, answered in the conversation %s%s\n"
              (org-agent-messages-channel chat) (plist-get chat :session)
              (if (plist-get chat :connected) "" "; the channel is not connected"))
      'face 'shadow)
     (when org-agent-messages--more
       (concat "\n" (make-text-button (copy-sequence "older messages") nil
                                      'follow-link t
                                      'action (lambda (_) (org-agent-messages-older)))
               "\n"))
     (mapconcat
      (lambda (message)
        (let* ((time (org-agent-messages--time (plist-get message :time)))
               (on (and time (format-time-string "%F %a" time))))
          (concat (unless (equal on day)
                    (concat "\n" (propertize (or (setq day on) "") 'face 'org-agent-messages-day)
                            "\n"))
                  (org-agent-messages--message message time messages))))
      messages ""))))

(defun org-agent-messages--time (time)
  "Return TIME, a string of RFC 3339, as Emacs has it, or nil."
  (ignore-errors (encode-time (iso8601-parse time))))

(defun org-agent-messages--message (message time messages)
  "Return the lines of MESSAGE, which is of TIME and among MESSAGES."
  (let ((margin "       ")
        (quoted (org-agent-messages--quote message messages))
        (body (org-agent-messages--body message)))
    (concat
     (if time (format-time-string " %H:%M " time) margin)
     (propertize (org-agent-messages--sender message) 'face 'org-agent-messages-sender)
     (propertize (org-agent-messages--marks message) 'face 'shadow)
     "\n"
     (propertize
      (org-agent-section-indented
       (concat (and quoted (propertize (concat "> " quoted "\n") 'face 'shadow))
               body
               (mapconcat #'org-agent-messages--attachment
                          (plist-get message :attachments) "")
               (org-agent-messages--reactions message))
       margin)
      'wrap-prefix margin))))

(defun org-agent-messages--sender (message)
  "Return what the author of MESSAGE is called."
  (cond ((plist-get message :by-hand) "you, by hand")
        ((string-empty-p (or (plist-get message :name) "")) "the agent")
        (t (org-agent-one-line (plist-get message :name)))))

(defun org-agent-messages--marks (message)
  "Return what is said of MESSAGE beside its author."
  (concat
   (when-let* ((kind (plist-get message :kind)))
     (concat "  " (string-remove-prefix ":" (format "%s" kind))))
   (when-let* ((from (plist-get message :forwarded)))
     (concat "  forwarded from " (org-agent-one-line from)))
   (and (plist-get message :edited) "  edited")
   (and (plist-get message :deleted) "  deleted")))

(defun org-agent-messages--quote (message messages)
  "Return the beginning of what MESSAGE replies to, if it is among MESSAGES."
  (when-let* ((id (plist-get message :reply-to))
              (to (cl-find id messages :test #'equal
                           :key (lambda (one) (plist-get one :id)))))
    (format "%s: %s" (org-agent-messages--sender to)
            (org-agent-one-line (or (plist-get to :text) "") 50))))

(defun org-agent-messages--body (message)
  "Return the text of MESSAGE as whole lines, plain."
  (let ((text (string-trim (replace-regexp-in-string
                            "[^[:print:]\n\t]+" " " (or (plist-get message :text) "")))))
    (cond ((string-empty-p text) "")
          ((plist-get message :deleted)
           (propertize (concat text "\n") 'face '(shadow (:strike-through t))))
          (t (concat text "\n")))))

(defun org-agent-messages--attachment (attachment)
  "Return a line for ATTACHMENT, which is a button if the file is here."
  (let ((name (org-agent-one-line (plist-get attachment :name)))
        (path (plist-get attachment :path)))
    (concat
     (if path
         (make-text-button (copy-sequence name) nil
                           'follow-link t
                           'help-echo path
                           'action (lambda (_) (org-agent-messages--visit path)))
       name)
     (propertize
      (concat "  " (file-size-human-readable (or (plist-get attachment :size) 0) 'si " " "B")
              (when-let* ((fault (plist-get attachment :fault)))
                (concat ", not kept: " (org-agent-one-line fault))))
      'face 'shadow)
     "\n")))

(defun org-agent-messages--visit (path)
  "Visit the file at PATH, which somebody else sent: nothing in it is obeyed."
  (let ((enable-local-variables nil)
        (enable-dir-local-variables nil)
        (enable-local-eval nil))
    (pop-to-buffer (find-file-noselect path))))

(defun org-agent-messages--reactions (message)
  "Return the line of the reactions to MESSAGE, or nil."
  (when-let* ((reactions (plist-get message :reactions)))
    (concat
     (mapconcat (lambda (reaction)
                  (let ((count (plist-get reaction :count)))
                    (concat (org-agent-one-line (plist-get reaction :emoji))
                            (and (> count 1) (format " %d" count)))))
                reactions "  ")
     "\n")))

(defun org-agent-messages-older ()
  "Show earlier messages, too."
  (interactive nil org-agent-messages-mode)
  (unless org-agent-messages--more
    (user-error "There are no earlier messages"))
  (when (>= org-agent-messages--limit 1000)
    (user-error "More than 1000 messages are not shown; the conversation has all"))
  (cl-incf org-agent-messages--limit org-agent-messages--page)
  (org-agent-messages--ask))

(defun org-agent-messages-conversation ()
  "Open the conversation in which this chat is answered."
  (interactive nil org-agent-messages-mode)
  (pop-to-buffer (org-agent-chat-open (plist-get org-agent-messages--chat :session))))

(defun org-agent-messages-changed (params)
  "Show the chat of PARAMS anew where a window shows it."
  (dolist (buffer (org-agent-messages--buffers))
    (when (and (get-buffer-window buffer t)
               (org-agent-messages-same-p
                params (buffer-local-value 'org-agent-messages--chat buffer)))
      (with-current-buffer buffer
        (org-agent-messages--ask)))))

;;;; Answering by hand

(defun org-agent-messages-answer-here ()
  "Answer this chat by hand, through the agent's account."
  (interactive nil org-agent-messages-mode)
  (org-agent-messages-answer
   (or org-agent-messages--chat (user-error "This is no page of a chat's messages"))))

(defun org-agent-messages-answer (chat)
  "Read an answer to CHAT, and send it through the agent's account.
What is not sent stays in the history of the minibuffer."
  (let ((title (org-agent-messages-title chat))
        (channel (org-agent-messages-channel chat)))
    (unless (plist-get chat :connected)
      (user-error "The channel %s is not connected" channel))
    (let ((text (string-trim
                 (read-string (format "Send to %s%s on %s, as the agent: " title
                                      (if (plist-get chat :shared) " and all who read there" "")
                                      channel)
                              nil 'org-agent-messages-history))))
      (when (string-empty-p text)
        (user-error "Nothing was sent"))
      (org-agent-kernel-ask
       "chat/say"
       (org-agent-messages-params chat :id (org-id-uuid) :text text)
       (lambda (said)
         (org-agent-say "%s" (org-agent-messages--outcome said title)))))))

(defun org-agent-messages--outcome (said title)
  "Return what the kernel SAID became of an answer to TITLE, as a sentence."
  (let ((outcome (org-agent-one-line (or (plist-get said :outcome) ""))))
    (if (string-prefix-p "it was sent" outcome)
        (format "It was sent to %s" title)
      (concat (upcase (substring outcome 0 1)) (substring outcome 1)))))

(provide 'org-agent-messages)
;;; org-agent-messages.el ends here
