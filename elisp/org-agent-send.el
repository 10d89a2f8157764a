;;; org-agent-send.el --- Send messages, stop and repeat turns  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Sending makes the draft a question with an ID and the tag `:unsent:',
;; saves the file, and then sends the message.  When the kernel acknowledges
;; it, the tag is removed.  Messages that cannot be sent because there is no
;; kernel wait in the outbox, and are sent in order when there is one.  The
;; kernel recognizes a repeated message by its ID.

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
(declare-function org-agent-command-take "org-agent-command")
(declare-function org-agent-command-unknown-p "org-agent-command")
(declare-function org-agent-context-read-gather "org-agent-context-read")
(declare-function org-agent-held-ctrl-c-ctrl-c "org-agent-held")
(declare-function org-agent-question-decline "org-agent-question")
(declare-function org-agent-question-submit "org-agent-question")

(defvar-local org-agent-send--commands nil
  "Commands that the kernel refused, newest first.")
(put 'org-agent-send--commands 'permanent-local t)

;;;; Consent

(defvar org-agent-send-agreed nil
  "The host that the person has agreed to send messages to, or nil.")

;;;###autoload
(defun org-agent-send-ask-consent ()
  "Ask before the first message goes to a host that is not configured.
Such a host was found by the kernel.  Signal an error if the answer is
no."
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
  "Return the parameters of the event for MESSAGE, one of the outbox."
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

;;;; The environment of the kernel

(defvar org-agent-send--environment-told nil
  "The kernel and the variables of which the person was told last.")

(defun org-agent-send--other-variables ()
  "Return the variables of models and keys that the kernel has otherwise.
Only variables that are set in this Emacs matter.  The kernel sends
digests, which cannot be made without its token."
  (let ((token (org-agent-kernel-token)))
    (cl-loop for variable in (plist-get org-agent-kernel-server :variables)
             for name = (plist-get variable :name)
             for value = (string-trim (or (getenv name) ""))
             unless (or (string-empty-p value)
                        (equal (plist-get variable :digest)
                               (substring
                                (secure-hash 'sha256
                                             (encode-coding-string
                                              (concat token "\n" name "\n" value)
                                              'utf-8-unix))
                                0 16)))
             collect name)))

;;;###autoload
(defun org-agent-send-check-environment ()
  "Say it once when the kernel was started in another environment."
  (let* ((names (org-agent-send--other-variables))
         (told (cons (plist-get org-agent-kernel-server :pid) names)))
    (when (and names (not (equal told org-agent-send--environment-told)))
      (setq org-agent-send--environment-told told)
      (let ((notice (format "the kernel runs without this Emacs's %s: M-x org-agent-stop, and your next message starts one with it"
                            (string-join names ", ")))
            (other (plist-get org-agent-kernel-server :notice)))
        (setq org-agent-kernel-server
              (plist-put org-agent-kernel-server :notice
                         (if other (concat notice "; " other) notice)))
        (org-agent-say "org-agent: %s" notice)))))

;;;; Sending

;;;###autoload
(defun org-agent-send ()
  "Send the draft at point, or else the one at the end.
Settings by properties or a preset are checked before anything is sent;
see `org-agent-settings-inherited'.  So is a word that looks like a
command that there is not."
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
        (user-error (cond (references
                           "Nothing to send: the draft has attachments and no text")
                          ((org-agent-asks-waiting)
                           "Nothing to send; what waits for you is answered where it stands, by C-c C-c in it")
                          (t "Nothing to send: write a message at the end of the buffer")))))
    (org-agent-send-ask-consent)
    (org-agent-send--draft-or-check)))

(defun org-agent-send--draft-or-check ()
  "Send the draft, after the kernel has accepted it if that may refuse it."
  (cond ((not (or (org-agent-settings-set-p (org-agent-draft-start))
                  (org-agent-command-unknown-p
                   (string-trim (org-agent-draft-raw)))))
         (org-agent-send--draft))
        ((eq org-agent-chat-attached t) (org-agent-send--checked))
        (t (org-agent-send--wish))))

(defun org-agent-send--noted ()
  "Return the draft as it is now, for `org-agent-send--unless-changed'."
  (cons (substring-no-properties (org-agent-draft-raw))
        (and org-agent-draft-chosen (copy-marker org-agent-draft-chosen))))

(defun org-agent-send--unless-changed (noted function &rest arguments)
  "Call FUNCTION with ARGUMENTS if the draft is still as NOTED."
  (let ((org-agent-draft-chosen (and (cdr noted) (marker-position (cdr noted)))))
    (if (and (org-agent-draft-start)
             (equal (car noted) (substring-no-properties (org-agent-draft-raw))))
        (apply function arguments)
      (message "Not sent: the draft has changed meanwhile; C-c C-c sends it now"))))

(defun org-agent-send--not-sent (refusal)
  "Say that the draft was not sent because of REFUSAL."
  (org-agent-chat-complain "Not sent; it is still your draft" refusal))

(defun org-agent-send--checked ()
  "Send the draft after the kernel has accepted its settings."
  (let ((noted (org-agent-send--noted))
        (id (org-id-uuid)))
    (org-agent-kernel-request-here
     "settings/get"
     (append (list :session org-agent-chat-session :sensor :chat-message
                   :id id :text (string-trim (car noted))
                   :level (org-agent-heading-level (org-agent-draft-start)))
             (org-agent-settings-of (org-agent-draft-start)))
     :success
     (lambda (_)
       (org-agent-send--unless-changed noted #'org-agent-send--draft id))
     :failure #'org-agent-send--not-sent)))

;; Without a kernel nobody knows the commands and presets.  What may name one
;; stays the draft until a kernel has looked at it, and is sent then.

(defvar-local org-agent-send--wished nil
  "The draft that is to be sent when a kernel can check it, as noted, or nil.")
(put 'org-agent-send--wished 'permanent-local t)

(defun org-agent-send--wish ()
  "Send the draft when there is a kernel that has accepted it."
  (setq org-agent-send--wished (org-agent-send--noted))
  (add-hook 'org-agent-chat-loaded-hook #'org-agent-send--grant-wish)
  (add-hook 'org-agent-kernel-lost-hook #'org-agent-send--drop-wishes)
  (org-agent-file-owner-keep-draft)
  (message "Your draft is sent when the kernel has started and checked it")
  (org-agent-kernel-ensure)
  (force-mode-line-update)
  (org-agent-chat-attach))

(defun org-agent-send--grant-wish ()
  "Have the kernel check and send the draft that waits for that, if one does.
This is for `org-agent-chat-loaded-hook'."
  (when-let* ((noted org-agent-send--wished))
    (setq org-agent-send--wished nil)
    (org-agent-kernel-request-here
     "skill/list" nil
     :success (lambda (result)
                (org-agent-command-take result)
                (org-agent-send--unless-changed
                 noted #'org-agent-send--draft-or-check))
     :failure #'org-agent-send--not-sent)))

(defun org-agent-send--drop-wishes ()
  "Say of drafts that wait for a kernel that none comes, if that is so.
This is for `org-agent-kernel-lost-hook'."
  (when (memq org-agent-kernel-state '(failed stopped))
    (dolist (buffer (org-agent-chat-buffers))
      (with-current-buffer buffer
        (when org-agent-send--wished
          (setq org-agent-send--wished nil)
          (org-agent-send--not-sent
           (list :message (or org-agent-kernel-trouble
                              "the kernel was stopped"))))))))

(defun org-agent-send--draft (&optional id)
  "Make the draft a question and send it.
ID is the one that its settings were checked with; nil means a new one."
  (pcase-let ((`(,words . ,references) (org-agent-context-draft))
              (id (or id (org-id-uuid))))
    (let* ((level (org-agent-heading-level (org-agent-draft-start)))
           (message (org-agent-send-with-context
                     (org-agent-command-message id level words)
                     (org-agent-context-read-gather references)))
           (record (let ((org-agent-answer-writing t))
                     (cdr (org-agent-draft-to-question
                           id (plist-get message :text))))))
      ;; The answer to a branch comes here.
      (goto-char (if org-agent-draft-chosen (org-agent-heading-find id) (point-max)))
      (when record
        (push (cons id record) org-agent-chat-records))
      (let (org-agent-draft-chosen)
        (org-agent-file-owner-save)
        (org-agent-file-owner-keep-draft)
        (org-agent-send-post message)))))

;;;###autoload
(defun org-agent-send-with-context (message gathered)
  "Return MESSAGE with GATHERED, (ITEMS . LINES).
ITEMS are its context, and LINES the lines of its text that list them."
  (pcase-let ((`(,items . ,lines) gathered))
    (if (null items)
        message
      (append
       (plist-put (copy-sequence message) :text
                  (string-join (cons (plist-get message :text) lines) "\n"))
       (list :context items)))))

(defun org-agent-send--of-id (id messages)
  "Return the one of MESSAGES with the ID, or nil."
  (cl-find id messages :test #'equal
           :key (lambda (message) (plist-get message :id))))

(defun org-agent-send-post (message)
  "Put MESSAGE into `org-agent-chat-outbox', to be sent when possible."
  (org-agent-send--forget (plist-get message :id))
  (setq org-agent-chat-outbox
        (append org-agent-chat-outbox
                (list (append message (list :sent nil)))))
  (if (eq org-agent-chat-attached t)
      (org-agent-send-waiting)
    (org-agent-kernel-ensure)
    (org-agent-send-show-unsent)))

;;;###autoload
(defun org-agent-send-in (session message)
  "Send MESSAGE, which does not come from the draft, in SESSION.
Insert it as a question before the draft, with its `:properties', an
alist.  Return the buffer of the conversation."
  (with-current-buffer (org-agent-chat-open session)
    (org-agent-file-owner-look)
    (org-agent-answer-insert-question
     (plist-get message :id)
     (org-agent-heading-question (plist-get message :level)
                                 (plist-get message :id)
                                 (plist-get message :text) t
                                 nil (plist-get message :properties)))
    (org-agent-chat-restore-draft)
    (org-agent-file-owner-save)
    (org-agent-send-post message)
    (current-buffer)))

;;;###autoload
(defun org-agent-send-waiting ()
  "Send the messages of the outbox in order."
  (when (eq org-agent-chat-attached t)
    (dolist (message org-agent-chat-outbox)
      (unless (plist-get message :sent)
        (plist-put message :sent t)
        (let ((id (plist-get message :id)))
          (org-agent-kernel-request-here
           "event" (org-agent-send-event message)
           :success (lambda (result) (org-agent-send--acknowledged id result))
           :failure (lambda (refusal) (org-agent-send--refused id refusal))))))
    (org-agent-send-show-unsent)))

(defun org-agent-send--acknowledged (id result)
  "Note that the kernel has the message ID; RESULT has the state of its turn."
  (org-agent-send--forget id)
  ;; The turn may have been started before this acknowledgement arrived.
  (when (and (eq (plist-get result :state) :queued)
             (org-agent-chat-get :turn)
             (not (equal (org-agent-chat-get :turn) (plist-get result :turn))))
    (org-agent-chat-put :queued (1+ (or (org-agent-chat-get :queued) 0)))
    (org-agent-heading-mark-waiting id t)
    (org-agent-send--say-what-is-open))
  (org-agent-file-owner-settle)
  (when-let* ((heading (org-agent-heading-find id)))
    (org-agent-send-mark heading nil))
  (setq org-agent-chat-records (assoc-delete-all id org-agent-chat-records))
  (org-agent-file-owner-save))

(defun org-agent-send--say-what-is-open ()
  "Say that a message waits for a decision, if one is open in this session.
A person may have answered it in words, which never decide."
  (when (cl-find org-agent-chat-session (bound-and-true-p org-agent-asks-open)
                 :key (lambda (ask) (plist-get ask :session)) :test #'equal)
    (message "This waits until you have decided above; words decide nothing (%s)"
             (substitute-command-keys "\\[org-agent-approvals]"))))

(defun org-agent-send--keep (id)
  "Keep the message ID of the outbox if it is a command.
Its input is not in the text of the question, and is needed if the person
sends the question again."
  (when-let* ((message (org-agent-send--of-id id org-agent-chat-outbox)))
    (when (plist-get message :event)
      (push message org-agent-send--commands)
      (when-let* ((oldest (nthcdr 7 org-agent-send--commands)))
        (setcdr oldest nil)))))

(defun org-agent-send--forget (id)
  "Remove the message ID from the outbox."
  (setq org-agent-chat-outbox
        (remq (org-agent-send--of-id id org-agent-chat-outbox)
              org-agent-chat-outbox)))

(defun org-agent-send--refused (id refusal)
  "Note that the kernel refused the message ID with REFUSAL.
If the connection was lost, keep the message to send it again later."
  (unless (org-agent-rpc-refused-p refusal 'lost)
    (org-agent-send--keep id)
    (org-agent-send--forget id)
    (org-agent-send-show-unsent)
    (org-agent-chat-complain
     "Not sent (C-c C-c on the message sends it again)" refusal)))

;;;###autoload
(defun org-agent-send-mark (heading unsent)
  "Add the tag `:unsent:' at HEADING if UNSENT is non-nil, or remove it."
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

;;;###autoload
(defun org-agent-send-mark-unreceived (ids)
  "Mark the questions of IDS, which the kernel never received, as unsent.
Remove the mark from all other questions.  A question that has an answer
was received once: the kernel's journal was lost, or is another one.  It
is not marked, so that nobody sends it again, and the person is told."
  (let ((lost 0))
    (dolist (heading (org-agent-heading-of-ids ids))
      (when (eq (org-agent-heading-turn-p heading) 'user)
        (if (org-agent-heading-last-turn
             'agent heading (org-agent-heading-subtree-end heading))
            (setq lost (1+ lost))
          (org-agent-send-mark heading t))))
    (org-agent-heading-map-unsent
     (lambda (heading)
       (unless (member (org-agent-heading-property heading "ID") ids)
         (org-agent-send-mark heading nil))))
    (org-agent-send--say-lost lost)))

(defun org-agent-send--say-lost (count)
  "Say that COUNT answered questions are not in the kernel's journal."
  (when (> count 0)
    (org-agent-chat-complain
     (format "%d answered question%s here %s not in the kernel's journal"
             count (if (= count 1) "" "s") (if (= count 1) "is" "are"))
     '(:message "they stay here and are not sent again, but models are not shown them; M-x org-agent-doctor says what happened to the journal"))))

;;;###autoload
(defun org-agent-send-under-way (id)
  "Return what is done to send the message ID, a string.
Return nil when it was not sent and its author has to send it again."
  (when (org-agent-send--of-id id org-agent-chat-outbox)
    (pcase org-agent-kernel-state
      ('ready "sending…")
      ('building "building the kernel…")
      ((and 'starting (guard org-agent-kernel-trouble)) (concat org-agent-kernel-trouble "…"))
      ((or 'starting 'connecting) "starting the kernel…")
      ('lost "waits for the kernel"))))

;;;###autoload
(defun org-agent-send-show-unsent ()
  "Show anew what is said on the page of messages that the kernel lacks."
  (org-agent-heading-map-unsent
   (lambda (heading)
     (font-lock-flush heading (1+ heading)))))

;;;; Commands

;;;###autoload
(defun org-agent-chat-ctrl-c-ctrl-c (&optional arg)
  "Do what fits at point: send the draft, answers or a message.
In the draft, send it.
In the form of a question of the agent, send the answers.
On a message that was not sent, send it again.
On an answer that was stopped, failed or interrupted, or on a question
whose last answer was, retry it.
Elsewhere call `org-ctrl-c-ctrl-c' with ARG."
  (interactive "P")
  (org-agent-draft-mend (point))
  (let ((heading (org-agent-heading-at (point))))
    (cond
     ((org-agent-draft-p (point)) (org-agent-send))
     ((org-agent-asks-form-p heading) (org-agent-question-submit))
     ((org-agent-asks-waiting-p heading)
      (user-error "This cannot be decided here; M-x org-agent-approvals shows what waits"))
     ((org-agent-held-ctrl-c-ctrl-c))
     ((org-agent-send-unsent-p heading) (org-agent-send--again heading))
     ((or (org-agent-send--unanswered-p heading)
          (org-agent-send--unanswered-p (org-agent-send--last-answer heading)))
      (org-agent-retry))
     (t (org-ctrl-c-ctrl-c arg)))))

(defun org-agent-send-unsent-p (heading)
  "Return non-nil if HEADING is that of a question that was not sent."
  (and heading
       (eq (org-agent-heading-turn-p heading) 'user)
       (member "unsent" (org-agent-heading-tags heading))))

(defun org-agent-send--unanswered-p (heading)
  "Return non-nil if HEADING is that of an answer that was not completed."
  (and heading
       (eq (org-agent-heading-turn-p heading) 'agent)
       (member (org-agent-heading-property heading "STATE")
               '("interrupted" "failed" "cancelled"))))

(defun org-agent-send--last-answer (heading)
  "Return the heading of the last answer to the question at HEADING, or nil."
  (when (and heading (eq (org-agent-heading-turn-p heading) 'user))
    (let ((last (org-agent-heading-last-turn
                 'agent heading (org-agent-heading-subtree-end heading))))
      (and last (eql (org-agent-heading-parent last) heading) last))))

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
  "Return the message ID at LEVEL with TEXT if that is a command, or nil.
Its input is the same as when it was first sent."
  (let ((kept (org-agent-send--of-id id org-agent-send--commands)))
    (if (and kept (equal text (plist-get kept :text)))
        (list :id id :level level :text text :event (plist-get kept :event))
      (org-agent-command-alone id level text))))

;;;###autoload
(defun org-agent-chat-ctrl-c-ctrl-k ()
  "Stop the answer that is being written in this conversation.
In the form of a question of the agent, decline to answer instead."
  (interactive)
  (call-interactively
   (if (org-agent-asks-form-p (org-agent-heading-at (point)))
       #'org-agent-question-decline
     #'org-agent-stop-turn)))

;;;###autoload
(defun org-agent-stop-turn ()
  "Stop the answer that is being written in this conversation.
On a question that waits for its turn, cancel that turn instead."
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
  "Return the heading of the question of the turn at point.
From the draft at the end that is the last question.  Signal an error if
there is none."
  (or (org-agent-draft-turn-meant 'user)
      (user-error "There is no question and no answer at point")))

;;;###autoload
(defun org-agent-retry (&optional model)
  "Have the question of the turn at point answered again.
MODEL is the name of a model, or nil for that of the conversation.  The
new answer comes after the others, and point goes to where it comes: to
the end after the last question, else behind the question's answers.
The mark is set where point was."
  (interactive)
  (org-agent-chat-check-attached)
  (let* ((heading (org-agent-send-question-here))
         (last (eql heading (org-agent-heading-last-turn 'user))))
    (org-agent-kernel-request-here
     "turn/retry" (append (list :event (org-agent-heading-property heading "ID")
                                :above (org-agent-settings-inherited heading))
                          (and model (list :model model)))
     :success (lambda (_)
                (message "The question is being answered again%s"
                         (if last ""
                           (substitute-command-keys
                            " here; \\[universal-argument] \\[set-mark-command] goes back"))))
     :failure (lambda (refusal)
                (org-agent-chat-complain "Not answered again" refusal)))
    (if last
        (goto-char (point-max))
      (org-agent-send--go-behind heading))))

(defun org-agent-send--go-behind (heading)
  "Go behind the answers to the question at HEADING, with room below."
  (push-mark nil t)
  (goto-char (max (point-min) (1- (org-agent-heading-subtree-end heading))))
  (when (eq (current-buffer) (window-buffer))
    (recenter (/ (window-body-height) 4))))

(provide 'org-agent-send)
;;; org-agent-send.el ends here
