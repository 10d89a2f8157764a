;;; org-agent-send.el --- Sending, stopping and repeating turns  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What a person does with turns.  Sending writes the question with its
;; ID, marked `:unsent:', saves, and only then sends; the kernel's
;; acknowledgement takes the mark away.  What was sent while there was no
;; kernel goes out, in order, when there is one; the ID keeps a message
;; from being taken twice.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-id)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-draft)
(require 'org-agent-answer)
(require 'org-agent-file-owner)
(require 'org-agent-undo)
(require 'org-agent-asks)
(require 'org-agent-chat)
(require 'org-agent-context)
(require 'org-agent-settings)

(declare-function org-agent-command-alone "org-agent-command")
(declare-function org-agent-command-message "org-agent-command")
(declare-function org-agent-context-read-gather "org-agent-context-read")
(declare-function org-agent-question-decline "org-agent-question")
(declare-function org-agent-question-form-p "org-agent-question")
(declare-function org-agent-question-submit "org-agent-question")

(defvar-local org-agent-send--commands nil
  "Messages that are commands and that the kernel refused, newest first.")
(put 'org-agent-send--commands 'permanent-local t)

;;;; Consent

(defvar org-agent-send-agreed nil
  "The host that the person has agreed to send words to, or nil.")

;;;###autoload
(defun org-agent-send-ask-consent ()
  "Ask before the first words go to a host that was found, not configured.
Signal an error if the answer is no."
  (let ((host (and (org-agent-kernel-ready-p)
                   (plist-get org-agent-kernel-server :consent))))
    (unless (or (null host) (equal host org-agent-send-agreed))
      (unless (yes-or-no-p
               (format "What you write here will go to %s.  Send it there? "
                       host))
        (user-error "Not sent.  A model of your own is set in config.org in %s"
                    (abbreviate-file-name (org-agent-home-directory))))
      (setq org-agent-send-agreed host))))

;;;###autoload
(defun org-agent-send-event (message)
  "Return the parameters of the event that MESSAGE of the outbox is."
  (append (list :session org-agent-chat-session :id (plist-get message :id)
                :level (plist-get message :level))
          (if-let* ((event (plist-get message :event)))
              (cl-list* :said (plist-get message :text)
                        :text (plist-get event :arguments)
                        (org-agent-send-without event :arguments))
            (list :sensor :chat-message :text (plist-get message :text)))
          (when-let* ((items (plist-get message :context)))
            (list :context items))
          (when-let* ((instead (plist-get message :instead)))
            (list :instead instead))
          (org-agent-settings-event (plist-get message :id))
          (org-agent-context-project-event)
          (and org-agent-send-agreed
               (equal org-agent-send-agreed
                      (plist-get org-agent-kernel-server :consent))
               (list :consent org-agent-send-agreed))))

;;;###autoload
(defun org-agent-send-without (plist key)
  "Return a copy of PLIST without KEY."
  (cl-loop for (other value) on plist by #'cddr
           unless (eq other key) append (list other value)))

;;;; Sending

;;;###autoload
(defun org-agent-send ()
  "Send the draft of this conversation.
That is the one point is in, or the one at the end.  What is set for it
by properties or a preset is checked before anything is sent; see
`org-agent-settings-inherited'."
  (interactive)
  (org-agent-chat-check)
  (org-agent-draft-paste-settle)
  (org-agent-file-owner-look)
  (let ((org-agent-draft-chosen (org-agent-draft-branch-at (point))))
    (unless org-agent-draft-chosen
      (org-agent-draft-mend (point-max))
      (org-agent-chat-restore-draft))
    (pcase-let ((`(,words . ,references) (org-agent-context-draft)))
      (unless words
        (user-error (if references
                        "Nothing to send: say what is to be done with what goes along"
                      "Nothing to send: write a message behind the last turn"))))
    (org-agent-send-ask-consent)
    (if (and (eq org-agent-chat-attached t)
             (org-agent-settings-set-p (org-agent-draft-start)))
        (org-agent-send--checked)
      (org-agent-send--draft))))

(defun org-agent-send--checked ()
  "Send the draft once the kernel has said that its settings can be met."
  (let ((branch (and org-agent-draft-chosen
                     (copy-marker org-agent-draft-chosen)))
        (raw (substring-no-properties (org-agent-draft-raw)))
        (id (org-id-uuid)))
    (org-agent-kernel-request-here
     "settings/get"
     (append (list :session org-agent-chat-session :sensor :chat-message
                   :id id :text (string-trim raw)
                   :level (org-agent-heading-level (org-agent-draft-start)))
             (org-agent-settings-of (org-agent-draft-start)))
     :success
     (lambda (_)
       (let ((org-agent-draft-chosen (and branch (marker-position branch))))
         (if (and (org-agent-draft-start)
                  (equal raw (substring-no-properties (org-agent-draft-raw))))
             (org-agent-send--draft id)
           (message "Not sent: the draft was changed meanwhile; C-c C-c sends it as it is"))))
     :failure
     (lambda (refusal)
       (org-agent-chat-complain "Not sent, and the draft stays" refusal)))))

(defun org-agent-send--draft (&optional id)
  "Make the draft a question and send it.
It has ID, for which the kernel was asked what is set, or else a new one."
  (pcase-let ((`(,words . ,references) (org-agent-context-draft))
              (id (or id (org-id-uuid))))
    (let* ((level (org-agent-heading-level (org-agent-draft-start)))
           (message (org-agent-send-with-context
                     (org-agent-command-message id level words)
                     (org-agent-context-read-gather references)))
           (record (let ((org-agent-answer-writing t))
                     (cdr (org-agent-draft-to-question
                           id (plist-get message :text))))))
      (unless org-agent-draft-chosen
        (goto-char (point-max)))
      (when record
        (push (cons id record) org-agent-chat-records))
      (let (org-agent-draft-chosen)
        (org-agent-file-owner-save)
        (org-agent-file-owner-keep-draft)
        (org-agent-send-post message)))))

;;;###autoload
(defun org-agent-send-with-context (message gathered)
  "Return MESSAGE with what was GATHERED, items and the lines that say so."
  (pcase-let ((`(,items . ,lines) gathered))
    (if (null items)
        message
      (append
       (plist-put (copy-sequence message) :text
                  (string-join (cons (plist-get message :text) lines) "\n"))
       (list :context items)))))

(defun org-agent-send-post (message)
  "Send MESSAGE, a plist of `org-agent-chat-outbox', as soon as possible."
  (setq org-agent-chat-outbox
        (append (cl-remove (plist-get message :id) org-agent-chat-outbox
                           :key (lambda (other) (plist-get other :id))
                           :test #'equal)
                (list (append message (list :sent nil)))))
  (if (eq org-agent-chat-attached t)
      (org-agent-send-waiting)
    (org-agent-kernel-ensure)))

;;;###autoload
(defun org-agent-send-in (session message)
  "Send MESSAGE, which was not written in the draft, in SESSION.
It becomes a question before the draft, which stays.  Return the
conversation's buffer."
  (with-current-buffer (org-agent-chat-open session)
    (org-agent-file-owner-look)
    (org-agent-answer-insert-question
     (plist-get message :id)
     (org-agent-heading-question (plist-get message :level)
                                 (plist-get message :id)
                                 (plist-get message :text) t))
    (org-agent-chat-restore-draft)
    (org-agent-file-owner-save)
    (org-agent-send-post message)
    (current-buffer)))

;;;###autoload
(defun org-agent-send-waiting ()
  "Send the messages of the outbox; the kernel answers them in their order."
  (when (eq org-agent-chat-attached t)
    (dolist (message org-agent-chat-outbox)
      (unless (plist-get message :sent)
        (plist-put message :sent t)
        (let ((id (plist-get message :id)))
          (org-agent-kernel-request-here
           "event" (org-agent-send-event message)
           :success (lambda (result) (org-agent-send--acknowledged id result))
           :failure (lambda (refusal) (org-agent-send--refused id refusal))))))))

(defun org-agent-send--acknowledged (id result)
  "Note that the kernel has the message ID; RESULT says if its turn waits."
  (org-agent-send--forget id)
  ;; The turn may have been started before this acknowledgement came.
  (when (and (eq (plist-get result :state) :queued)
             (org-agent-chat-get :turn)
             (not (equal (org-agent-chat-get :turn) (plist-get result :turn))))
    (org-agent-chat-put :queued (1+ (or (org-agent-chat-get :queued) 0)))
    (org-agent-heading-mark-waiting id t))
  (org-agent-file-owner-settle)
  (when-let* ((heading (org-agent-heading-find id)))
    (org-agent-send-mark heading nil))
  (setq org-agent-chat-records (assoc-delete-all id org-agent-chat-records))
  (org-agent-file-owner-save))

(defun org-agent-send--keep (id)
  "Keep the command ID of the outbox: what went with it stands nowhere else."
  (when-let* ((message (cl-find id org-agent-chat-outbox
                                :key (lambda (other) (plist-get other :id))
                                :test #'equal)))
    (when (plist-get message :event)
      (push message org-agent-send--commands)
      (when-let* ((oldest (nthcdr 7 org-agent-send--commands)))
        (setcdr oldest nil)))))

(defun org-agent-send--forget (id)
  "Take the message ID out of the outbox."
  (setq org-agent-chat-outbox
        (cl-remove id org-agent-chat-outbox
                   :key (lambda (message) (plist-get message :id))
                   :test #'equal)))

(defun org-agent-send--refused (id refusal)
  "Note that the kernel does not have the message ID because of REFUSAL.
One that was on its way when the kernel was lost is sent again when
there is one."
  (unless (eql (plist-get refusal :code) -32098)
    (org-agent-send--keep id)
    (org-agent-send--forget id)
    (org-agent-chat-complain
     "Not sent (C-c C-c on the message sends it again)" refusal)))

;;;###autoload
(defun org-agent-send-mark (heading unsent)
  "Mark the question at HEADING as UNSENT, or not."
  (let* ((tags (org-agent-heading-tags heading))
         (new (if unsent
                  (if (member "unsent" tags) tags (append tags '("unsent")))
                (remove "unsent" tags))))
    (unless (equal tags new)
      (org-agent-answer-undisturbed
        (goto-char heading)
        (let ((record (alist-get (org-agent-heading-property heading "ID")
                                 org-agent-chat-records nil nil #'equal)))
          (org-agent-undo-replace
           record heading (line-end-position)
           (string-trim-right
            (org-agent-heading-line (org-agent-heading-level heading)
                                    (org-agent-heading-title heading)
                                    new))))))))

;;;; Commands

;;;###autoload
(defun org-agent-chat-ctrl-c-ctrl-c (&optional arg)
  "Send the draft, or do what point is on.
In a form the agent asks with: send the answers.
On a message that was not sent: send it again.  On an answer that was
stopped, failed or interrupted: have it answered again.  Elsewhere it
is `org-ctrl-c-ctrl-c', which gets ARG."
  (interactive "P")
  (org-agent-draft-mend (point))
  (let ((heading (org-agent-heading-at (point))))
    (cond
     ((org-agent-draft-p (point)) (org-agent-send))
     ((org-agent-send--form-p heading) (org-agent-question-submit))
     ((org-agent-asks-waiting-p heading)
      (user-error "Nothing is decided here: this text is not, or not yet, what the kernel asks; M-x org-agent-approvals shows what waits"))
     ((org-agent-send-unsent-p heading) (org-agent-send--again heading))
     ((org-agent-send--unanswered-p heading) (org-agent-retry))
     (t (org-ctrl-c-ctrl-c arg)))))

(defun org-agent-send-unsent-p (heading)
  "Return non-nil when a question that was not sent is at HEADING."
  (and heading
       (eq (org-agent-heading-turn-p heading) 'user)
       (member "unsent" (org-agent-heading-tags heading))))

(defun org-agent-send--form-p (heading)
  "Return non-nil when a form of the agent's waits at HEADING."
  (and (org-agent-asks-waiting-p heading)
       (org-agent-question-form-p heading)))

(defun org-agent-send--unanswered-p (heading)
  "Return non-nil when the turn whose answer is at HEADING came to nothing."
  (and heading
       (eq (org-agent-heading-turn-p heading) 'agent)
       (member (org-agent-heading-property heading "STATE")
               '("interrupted" "failed" "cancelled"))))

(defun org-agent-send--again (heading)
  "Send the question at HEADING again, with its ID."
  (org-agent-chat-check-whole)
  (org-agent-send-ask-consent)
  (let* ((id (org-agent-heading-property heading "ID"))
         (level (org-agent-heading-level heading))
         (text (org-agent-heading-question-text heading))
         (instead (org-agent-heading-property heading "INSTEAD")))
    (org-agent-send-post
     (or (org-agent-send--command-again id level text)
         (let ((items (car (org-agent-context-read-gather
                            (org-agent-context-references text)))))
           (append (list :id id :level level :text text)
                   (and instead (list :instead instead))
                   (and items (list :context items))))))))

(defun org-agent-send--command-again (id level text)
  "Return the message ID at LEVEL that TEXT is if it is a command, or nil.
What it was given on is what it had when it was first sent."
  (let ((kept (cl-find id org-agent-send--commands
                       :key (lambda (message) (plist-get message :id))
                       :test #'equal)))
    (if (and kept (equal text (plist-get kept :text)))
        (list :id id :level level :text text :event (plist-get kept :event))
      (org-agent-command-alone id level text))))

;;;###autoload
(defun org-agent-chat-ctrl-c-ctrl-k ()
  "Stop the answer that is being written in this conversation.
In a form the agent asks with, decline to answer instead."
  (interactive)
  (call-interactively
   (if (org-agent-send--form-p (org-agent-heading-at (point)))
       #'org-agent-question-decline
     #'org-agent-stop-turn)))

;;;###autoload
(defun org-agent-stop-turn ()
  "Stop the answer that is being written in this conversation.
On a question that waits for its turn, take that back instead."
  (interactive)
  (org-agent-chat-check-whole)
  (if (not (eq org-agent-chat-attached t))
      (user-error "No kernel is running, so nothing is being written")
    (org-agent-kernel-request
     "turn/cancel"
     (let ((heading (org-agent-heading-turn-at (point) 'user))
           (turn (org-agent-chat-get :turn)))
       (cond ((org-agent-heading-waits-p heading)
              (list :event (org-agent-heading-property heading "ID")))
             (turn (list :turn turn))
             (t (list :session org-agent-chat-session))))
     :success (lambda (result)
                (message (if (plist-get result :cancelled)
                             "Stopped"
                           "Nothing is being written")))
     :failure (lambda (refusal)
                (org-agent-chat-complain "Not stopped" refusal)))))

;;;###autoload
(defun org-agent-send-question-here ()
  "Return the heading of the question that point is in or under.
Signal an error where there is none."
  (or (org-agent-heading-turn-at (point) 'user)
      (user-error "Point is on no question and no answer")))

;;;###autoload
(defun org-agent-retry ()
  "Have the question that point is in or under answered again."
  (interactive)
  (let ((heading (org-agent-send-question-here)))
    (org-agent-chat-check-attached)
    (org-agent-kernel-request-here
     "turn/retry" (list :event (org-agent-heading-property heading "ID")
                        :above (org-agent-settings-inherited heading))
     :success (lambda (_) (message "It is being answered again"))
     :failure (lambda (refusal)
                (org-agent-chat-complain "Not answered again" refusal)))))

(provide 'org-agent-send)
;;; org-agent-send.el ends here
