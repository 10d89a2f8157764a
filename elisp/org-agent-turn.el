;;; org-agent-turn.el --- What the kernel reports of turns  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The kernel's messages about conversations, one method each.  A message
;; for a session that has no buffer here is none of this Emacs's business.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-act)
(require 'org-agent-answer)
(require 'org-agent-keeper)
(require 'org-agent-chat)
(require 'org-agent-steer)

;;;; Acts

(cl-defmethod org-agent-perform ((_action (eql :insert-at-end)) params)
  "Put the answer of PARAMS into its conversation, once, and save it.
The receipt says what stands where, and whether it is in the file."
  (let* ((session (or (plist-get params :session) org-agent-chat-main))
         (name (org-agent-chat-buffer-name session))
         (wanted (plist-get (plist-get params :payload) :buffer))
         (text (org-agent-act-text params)))
    (unless (member wanted (list nil name))
      (org-agent-act-refuse "the buffer %s is not that of the conversation"
                            wanted))
    (unless (org-agent-chat-buffer session)
      (org-agent-act-refuse "this Emacs does not show the conversation %s"
                            session))
    (org-agent-chat-in session
      (org-agent-keeper-settle)
      (pcase-let* ((org-agent-answer-undoable
                    (and org-agent-answer-undoable
                         (not (plist-get params :asks))))
                   (`(,beg . ,end)
                    (org-agent-answer-perform
                     (plist-get params :id) (plist-get params :turn)
                     (plist-get params :event) text
                     (plist-get params :words)))
                   (inserted (org-agent-turn--text beg end)))
        (org-agent-chat-restore-draft)
        (list :buffer name :start beg :end end :chars (length inserted)
              :sha256 (secure-hash 'sha256 (encode-coding-string
                                            inserted 'utf-8-unix))
              :saved (and (org-agent-keeper-save) t))))))

(defun org-agent-turn--text (beg end)
  "Return the text from BEG to END, also where the buffer is narrowed."
  (save-restriction
    (widen)
    (buffer-substring-no-properties beg end)))

;;;; Turns

(cl-defmethod org-agent-handle-notification ((_method (eql 'turn/started))
                                             params)
  "Note that the turn of PARAMS runs; show its question if it is missing."
  (org-agent-chat-in (plist-get params :session)
    (let ((event (plist-get params :event))
          (turn (plist-get params :turn))
          (question (plist-get params :question)))
      (when question
        (org-agent-keeper-settle)
        (org-agent-answer-insert-question event question
                                          (plist-get params :parent))
        (org-agent-chat-restore-draft))
      (org-agent-steer-mark-waiting event nil)
      (org-agent-answer-begin turn)
      (org-agent-chat-put
       :turn turn :phase 'thinking :thought nil :progress nil
       :model (or (plist-get params :model) (org-agent-chat-get :model))
       :queued (max 0 (1- (or (org-agent-chat-get :queued) 0)))))))

(cl-defmethod org-agent-handle-notification ((_method (eql 'turn/delta))
                                             params)
  "Show the piece of an answer that PARAMS bring."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-show-delta params)))

(cl-defmethod org-agent-handle-notification ((_method (eql 'turn/finished))
                                             params)
  "Note that the turn of PARAMS is over, and save."
  (org-agent-chat-in (plist-get params :session)
    (let ((turn (plist-get params :turn)))
      (org-agent-answer-remove turn)
      (org-agent-answer-end turn)
      (when (member (org-agent-chat-get :turn) (list nil turn))
        (org-agent-chat-put :turn nil :phase nil :progress nil))
      (org-agent-turn--count params)
      (org-agent-steer-mark-waiting (plist-get params :event) nil)
      (when (org-agent-keeper-awaited-p)
        (org-agent-chat-keep org-agent-keeper-file))
      (org-agent-chat-restore-draft)
      (org-agent-keeper-save)
      (org-agent-turn--announce params))))

(defun org-agent-turn--count (params)
  "Show in the header line what the session took by the turn of PARAMS."
  (when-let ((total (plist-get params :total)))
    (org-agent-chat-put :usage total))
  (when-let ((window (plist-get params :window)))
    (org-agent-chat-put :shown (plist-get params :shown) :window window))
  (when-let ((model (plist-get params :model)))
    (org-agent-chat-put :model model)))

(defun org-agent-turn--announce (params)
  "Say how the turn of PARAMS ended unless that is plain to see."
  (let ((notice (plist-get params :notice))
        (state (plist-get params :state)))
    (cond
     (notice (message "org-agent: %s" notice))
     ((eq state :failed)
      (message "The agent could not answer; C-c C-c on what it says tries again")))))

(cl-defmethod org-agent-handle-notification ((_method (eql 'turn/kept)) params)
  "Add the turn of PARAMS, which the buffer lacked, to the conversation."
  (org-agent-chat-in (plist-get params :session)
    (let ((event (plist-get params :event))
          (turn (plist-get params :turn))
          (question (plist-get params :question))
          (answer (plist-get params :answer))
          (org-agent-answer-undoable nil))
      (org-agent-keeper-settle)
      (when question
        (org-agent-answer-insert-question event question
                                          (plist-get params :parent)))
      (when answer
        (org-agent-answer-perform (plist-get params :id) turn event answer
                                  (plist-get params :words))))))

;;;; Sessions

(cl-defmethod org-agent-handle-notification ((_method (eql 'session/keeper))
                                             params)
  "Keep the file of the session of PARAMS from now on, or no longer."
  (org-agent-chat-in (plist-get params :session)
    (if (plist-get params :keeper)
        (org-agent-chat-keep (plist-get params :file))
      (org-agent-keeper-release))
    (org-agent-chat-restore-draft)))

(cl-defmethod org-agent-handle-notification ((_method (eql 'notice)) params)
  "Show the line of PARAMS."
  (let ((text (plist-get params :text)))
    (org-agent-rpc-log "%s" text)
    (message "org-agent: %s" text)))

(provide 'org-agent-turn)
;;; org-agent-turn.el ends here
