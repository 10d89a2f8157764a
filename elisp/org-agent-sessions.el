;;; org-agent-sessions.el --- The list of conversations, their names and forks  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Conversations as a whole: `org-agent-sessions' lists them.
;; `org-agent-session-rename' gives one another name, and its file too;
;; `org-agent-fork' makes a new one of what was said up to point.
;;
;; The kernel does these things and tells every Emacs; a buffer follows
;; its conversation to the new name, and its text, undo and draft stay.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-draft)
(require 'org-agent-keeper)
(require 'org-agent-chat)
(require 'org-agent-list)

(declare-function org-agent-approval-renamed "org-agent-approval")

(declare-function org-agent-search "org-agent-search")

(defface org-agent-sessions-running '((t :inherit success))
  "Face of the state of a conversation in which an answer is being written."
  :group 'org-agent)

(defface org-agent-sessions-waiting '((t :inherit warning))
  "Face of the state of a conversation that waits for a person."
  :group 'org-agent)

;;;; The list

(defconst org-agent-sessions--buffer "*org-agent-sessions*"
  "The name of the buffer of the list.")

(defvar org-agent-sessions-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map (kbd "RET") #'org-agent-sessions-open)
    (define-key map (kbd "s") #'org-agent-search)
    (define-key map (kbd "/") #'org-agent-search)
    (define-key map (kbd "r") #'org-agent-session-rename)
    (define-key map (kbd "f") #'org-agent-fork)
    (define-key map (kbd "+") #'org-agent-sessions-new)
    map)
  "Keys in the list of conversations.")

(define-derived-mode org-agent-sessions-mode org-agent-list-mode
  "Org-Agent-Sessions"
  "Major mode of the list of conversations.
\\<org-agent-sessions-mode-map>\\[org-agent-sessions-open] opens one, \\[org-agent-sessions-new] a new one; \\[org-agent-search]
looks through all that was said; \\[org-agent-session-rename] gives one another
name, \\[org-agent-fork] makes a copy that goes on by itself.

\\{org-agent-sessions-mode-map}"
  (org-agent-list-columns
   (vector '("Conversation" 26 t)
           (list "Turns" 5 (org-agent-list-by-number 1) :right-align t)
           '("Last" 16 t) '("State" 15 t) '("Begins with" 0 t))
   #'org-agent-sessions--ask))

;;;###autoload
(defun org-agent-sessions ()
  "List all conversations with the agent, the latest first."
  (interactive)
  (org-agent-list-open org-agent-sessions--buffer 'org-agent-sessions-mode
                       #'org-agent-sessions--ask))

(defun org-agent-sessions--ask (&rest _)
  "Ask the kernel for the list, and show it."
  (org-agent-kernel-ask "session/list" nil #'org-agent-sessions--show))

(defun org-agent-sessions--show (result)
  "List what RESULT, of `session/list', has, in the current buffer."
  (org-agent-list-show
   (mapcar #'org-agent-sessions--entry (plist-get result :sessions))
   (org-agent-list-left result "older"))
  (unless tabulated-list-entries
    (message "There is no conversation yet; M-x org-agent-chat begins one")))

(defun org-agent-sessions--entry (session)
  "Return the line of SESSION.
Its name is the line's identity, so that point stays on it."
  (let ((parent (plist-get session :parent)))
    (list (plist-get session :name)
          (vector (plist-get session :name)
                  (number-to-string (or (plist-get session :turns) 0))
                  (org-agent-list-time (plist-get session :updated))
                  (org-agent-sessions--state (plist-get session :state))
                  (concat (or (plist-get session :words) "")
                          (when (and parent (not (string-empty-p parent)))
                            (propertize (format (if (plist-get session :subagent)
                                                    "  (subagent of %s)"
                                                  "  (forked from %s)")
                                                parent)
                                        'face 'shadow)))))))

(defun org-agent-sessions--state (state)
  "Return what a conversation does whose turn is in STATE."
  (pcase state
    ((or :queued :running)
     (propertize "running" 'face 'org-agent-sessions-running))
    (:waiting
     (propertize "waiting for you" 'face 'org-agent-sessions-waiting))
    (_ (propertize "idle" 'face 'shadow))))

(defun org-agent-sessions-at-point ()
  "Return the conversation meant here: of the line, or of the buffer, or nil."
  (if (derived-mode-p 'org-agent-sessions-mode)
      (tabulated-list-get-id)
    org-agent-chat-session))

(defun org-agent-sessions-open ()
  "Open the conversation of this line."
  (interactive)
  (org-agent-chat (or (org-agent-sessions-at-point)
                      (user-error "There is no conversation on this line"))))

(defun org-agent-sessions-new (name)
  "Open the conversation NAME, a new one."
  (interactive (list (org-agent-chat-read-session)))
  (org-agent-chat name))

(defun org-agent-sessions--refresh ()
  "Ask for the list again if it is shown somewhere."
  (when-let ((buffer (get-buffer org-agent-sessions--buffer)))
    (when (get-buffer-window buffer t)
      (with-current-buffer buffer (org-agent-sessions--ask)))))

;;;; Renaming

(defun org-agent-session-rename (session name)
  "Give the conversation SESSION, and its file, the new NAME.
That is the one of this buffer or of this line."
  (interactive
   (let ((session (or (org-agent-sessions-at-point)
                      (org-agent-chat-read-session))))
     (list session (string-trim
                    (read-string (format "New name of %s: " session)
                                 session)))))
  (org-agent-chat-check-name name)
  (when (equal session name)
    (user-error "That is its name"))
  (when-let ((buffer (org-agent-chat-buffer session)))
    (with-current-buffer buffer (org-agent-keeper-save)))
  (org-agent-kernel-ask
   "session/rename" (list :session session :to name)
   (lambda (_)
     (message "%s is now called %s" session name)
     (org-agent-sessions--refresh))))

(cl-defmethod org-agent-handle-notification ((_method (eql 'session/renamed))
                                             params)
  "Follow the conversation of PARAMS to its new name."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-renamed (plist-get params :to) (plist-get params :file)))
  (org-agent-approval-renamed (plist-get params :session)
                              (plist-get params :to))
  (org-agent-sessions--refresh))

;;;; Forks

(defun org-agent-fork (&optional name)
  "Make a new conversation of what was said up to point, and go there.
In an answer that is all up to its end, in a question all before it, and
the question is the new draft, to be changed and sent; in the draft, or
in the list of conversations, it is all.  With a prefix argument ask for
the NAME of the new one."
  (interactive
   (list (and current-prefix-arg
              (read-string "Name of the new conversation: "))))
  (let ((session (or (org-agent-sessions-at-point)
                     (user-error "This is no conversation; M-x org-agent-chat opens one")))
        (id (and org-agent-chat-session (org-agent-sessions--turn-at-point))))
    (when name
      (org-agent-chat-check-name name))
    (org-agent-kernel-ask
     "session/fork"
     (append (list :session session) (and id (list :id id))
             (and name (list :to name)))
     (lambda (result)
       (org-agent-sessions--refresh)
       (pop-to-buffer (org-agent-chat-open (plist-get result :session)))
       (message "A fork of %s, with %d of its turns" session
                (or (plist-get result :turns) 0))))))

(defun org-agent-sessions--turn-at-point ()
  "Return the ID of the question or answer point is in, nil in the draft."
  (unless (org-agent-draft-p (point))
    (org-agent-draft--widely
      (let ((heading (org-agent-heading-at (point))) role)
        (while (and heading (not (setq role (org-agent-turn-p heading))))
          (let ((level (org-agent-heading-level heading)))
            (goto-char heading)
            (setq heading
                  (and (> level 1)
                       (re-search-backward (format "^\\*\\{1,%d\\} " (1- level))
                                           nil t)))))
        (unless role
          (user-error "Point is in no question and no answer"))
        (when (member "unsent" (org-agent-heading-tags heading))
          (user-error "This was not sent yet; C-c C-c sends it"))
        (org-agent-heading-property heading "ID")))))

(provide 'org-agent-sessions)
;;; org-agent-sessions.el ends here
