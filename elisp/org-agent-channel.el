;;; org-agent-channel.el --- Let people talk to the agent by chats  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; One page has the channels of config.org and the kinds that can be added.
;; A channel is added with its account tested first.  For one that is there,
;; the kernel makes a code: whoever sends it to the agent in a private chat
;; may talk to it.  Who may is in channels.org.

;;; Code:

(require 'button)
(require 'cl-lib)
(require 'iso8601)
(require 'subr-x)
(require 'org-agent)
(require 'org-agent-kernel)
(require 'org-agent-setup)

(defvar org-agent-channel-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map (make-composed-keymap button-buffer-map special-mode-map))
    (define-key map (kbd "e") #'org-agent-channel-people)
    map)
  "Keymap of the page of channels.")

(define-derived-mode org-agent-channel-mode special-mode "Org-Agent-Channels"
  "Major mode of the page of channels.

\\{org-agent-channel-mode-map}"
  :interactive nil
  (setq-local revert-buffer-function (lambda (&rest _) (org-agent-channel-add))))

;;;###autoload
(defun org-agent-channel-add ()
  "Add a channel: a chat by which people can talk to the agent.
The page shows the channels that there are, and the kinds of them."
  (interactive)
  (org-agent-channel--open "The kinds of channels"))

;;;###autoload
(defun org-agent-channel-pair ()
  "Make a code by which somebody may talk to the agent on a channel.
The page shows the channels; one that is chosen has a code made."
  (interactive)
  (org-agent-channel--open "The channels of config.org"))

;;;###autoload
(defun org-agent-channel-people ()
  "Visit channels.org, which says who may talk to the agent."
  (interactive)
  (pop-to-buffer-same-window
   (find-file-noselect (expand-file-name "channels.org" (org-agent-home-directory)))))

(defun org-agent-channel--open (section)
  "Show the page of channels, with point at the first button of SECTION."
  (with-current-buffer (get-buffer-create "*org-agent-channels*")
    (org-agent-channel-mode)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert "Asking the kernel …\n"))
    (pop-to-buffer-same-window (current-buffer))
    (org-agent-kernel-ask
     "channel/list" nil
     (lambda (list) (org-agent-channel--show list section)))))

(defun org-agent-channel--show (list section)
  "Show LIST, what the kernel knows of channels, with point in SECTION."
  (let ((inhibit-read-only t))
    (erase-buffer)
    (insert (propertize "Talking to the agent by chats" 'face 'bold) "\n\n"
            "The channels of config.org.  RET on one makes a code that lets somebody talk:\n")
    (if-let* ((channels (plist-get list :channels)))
        (dolist (channel channels)
          (org-agent-channel--insert
           (plist-get channel :name)
           (or (plist-get channel :fault) (format "runs (%s)" (plist-get channel :driver)))
           (lambda (_) (org-agent-channel--pair (plist-get channel :name)))))
      (insert "  none\n"))
    (insert "\nThe kinds of channels.  RET on one tests its account and adds it to config.org.\n"
            "Of a key only the place is written there:\n")
    (dolist (driver (plist-get list :drivers))
      (org-agent-channel--insert (plist-get driver :name) ""
                                 (lambda (_) (org-agent-channel--add driver))))
    (insert (substitute-command-keys
             "\n\\<org-agent-channel-mode-map>\\[org-agent-channel-people] visits channels.org, which says who may talk.\n\n"))
    (goto-char (point-min))
    (search-forward section nil t)
    (unless (ignore-errors (forward-button 1 nil nil t))
      (goto-char (point-min)))))

(defun org-agent-channel--insert (name text action)
  "Insert a line with the button NAME, which does ACTION, and TEXT."
  (insert "  ")
  (insert-text-button (org-agent-one-line name) 'follow-link t 'action action)
  (unless (string-empty-p text)
    (insert (make-string (max 1 (- 20 (current-column))) ?\s) (org-agent-one-line text)))
  (insert "\n"))

;;;; Adding one

(defun org-agent-channel--add (driver)
  "Say what comes before DRIVER, ask for its properties, and have it added."
  (when-let* ((buffer (find-buffer-visiting
                       (expand-file-name "config.org" (org-agent-home-directory)))))
    (when (buffer-modified-p buffer)
      (user-error "%s has changes that are not saved; save them first" buffer)))
  (let ((number 0))
    (dolist (step (plist-get driver :begin))
      (org-agent-setup-say "%d. %s" (cl-incf number) step)))
  (goto-char (point-max))
  (redisplay)
  (let* ((name (downcase (string-trim (read-string (format-prompt "Name of the channel" (plist-get driver :name))
                                                   nil nil (plist-get driver :name)))))
         (properties (delq nil (mapcar (lambda (property) (org-agent-channel--read name property))
                                       (plist-get driver :properties)))))
    (org-agent-setup-say "Testing the account of %s …" name)
    (org-agent-kernel-request-here
     "channel/add" (list :name name :driver (plist-get driver :name)
                        :properties properties)
     :success #'org-agent-channel--added
     :failure (lambda (refusal) (org-agent-setup-say "%s" (plist-get refusal :message))))))

(defun org-agent-channel--read (name property)
  "Read a PROPERTY of the channel NAME; return it for the kernel, or nil.
Of a key, the place is read."
  (let* ((key (plist-get property :name))
         (value (cond
                 ((and (plist-get property :key)
                       (or (plist-get property :required)
                           (y-or-n-p (format "%s is %s.  Is there one? " key (plist-get property :doc)))))
                  (message "%s: %s" key (plist-get property :doc))
                  (org-agent-setup-read-key
                   (concat "org-agent-" name
                           (unless (equal key "TOKEN") (concat "-" (downcase key))))
                   nil))
                 ((plist-get property :key) nil)
                 (t (read-string (format "%s, %s%s: " key (plist-get property :doc)
                                         (if (plist-get property :required) "" " (RET: none)")))))))
    (when (and value (not (string-empty-p (string-trim value))))
      (list :name key :value (string-trim value)))))

(defun org-agent-channel--added (added)
  "Say that the channel ADDED is written down, and make a code for it."
  (let ((account (plist-get added :account)))
    (org-agent-setup-say
     "%s is in line %d of config.org%s.  Nobody may talk there yet: this makes a code."
     (plist-get added :name) (plist-get added :line)
     (if (plist-get account :id)
         (format ", and its account is %s"
                 (org-agent-one-line (or (plist-get account :name) (plist-get account :id))))
       "")))
  (let ((inhibit-read-only t) (name (plist-get added :name)))
    (goto-char (point-max))
    (org-agent-channel--insert (concat "a code for " name) ""
                               (lambda (_) (org-agent-channel--pair name)))
    (forward-button -1)))

;;;; A code

(defun org-agent-channel--pair (name)
  "Have a code made for the channel NAME, and show it."
  (let ((role (completing-read (format-prompt "Who will send it: a friend, or you as the owner" "friend")
                               '("friend" "owner") nil t nil nil "friend")))
    (org-agent-kernel-request-here
     "channel/pair" (list :name name :role (intern (concat ":" role)))
     :success (lambda (made) (org-agent-channel--code name role made))
     :failure (lambda (refusal) (org-agent-setup-say "%s" (plist-get refusal :message))))))

(defun org-agent-channel--code (name role made)
  "Show the code that was MADE for the channel NAME, which gives ROLE."
  (let ((inhibit-read-only t))
    (org-agent-setup-say
     "Whoever sends this to the agent in a private chat on %s, once, until %s, is its %s (RET copies it):"
     name (format-time-string "%H:%M" (encode-time (iso8601-parse (plist-get made :until)))) role)
    (goto-char (point-max))
    (org-agent-channel--insert (plist-get made :code) ""
                               (lambda (button)
                                 (kill-new (button-label button))
                                 (message "The code was copied")))
    (forward-button -1)))

(provide 'org-agent-channel)
;;; org-agent-channel.el ends here
