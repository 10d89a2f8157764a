;;; org-agent-compact.el --- Notes in the place of a long conversation's beginning  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A model can be shown so much and no more.  When a conversation fills
;; four fifths of that, the kernel has its beginning summarised by the
;; model that answers in it, and shows the notes in its place.  Here a
;; person does so earlier, stops it, or takes it back.  Nothing in the buffer
;; changes by it: what was said stays.

;;; Code:

(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-rpc)

(defun org-agent-compact--session ()
  "Return the name of this conversation."
  (or org-agent-chat-session
      (user-error "This is no conversation; M-x org-agent-chat opens one")))

;;;###autoload
(defun org-agent-compact ()
  "Have the model summarise the beginning of this conversation.
From then on it is shown the notes in the place of those turns;
`org-agent-prompt' shows them, and `org-agent-compact-undo' takes them
back.  The conversation itself stays as it is."
  (interactive)
  (org-agent-kernel-ask "session/compact"
                        (list :session (org-agent-compact--session))
                        #'ignore))

;;;###autoload
(defun org-agent-compact-undo ()
  "Have the model shown again what it was before the last summary."
  (interactive)
  (org-agent-kernel-ask "session/compact"
                        (list :session (org-agent-compact--session) :undo t)
                        #'ignore))

;;;###autoload
(defun org-agent-compact-stop ()
  "Stop the summary of this conversation that is being made.
Nothing changes then, and nothing is lost."
  (interactive)
  (org-agent-kernel-ask "session/compact"
                        (list :session (org-agent-compact--session) :stop t)
                        #'ignore))

(cl-defmethod org-agent-handle-notification ((_method (eql 'session/compacted))
                                             params)
  "Say what becomes of the summary that PARAMS tell of."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :compacting (eq (plist-get params :state) :running))
    (when-let ((window (org-agent-chat-get :window))
               (after (plist-get params :after))
               (before (plist-get params :before)))
      (org-agent-chat-put
       :shown (max 0 (- (or (org-agent-chat-get :shown) 0) (- before after)))
       :window window))
    (message "org-agent: %s" (or (plist-get params :text)
                                 (plist-get params :state)))))

(provide 'org-agent-compact)
;;; org-agent-compact.el ends here
