;;; org-agent-ask.el --- Ask the agent from anywhere  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-ask' reads a question in the minibuffer, in any buffer.  It is
;; asked in a conversation, which always gets the answer.  The answer can
;; also be shown in a small window, or be inserted at point, as one undo
;; step.  An active region is sent along, as with `org-agent-add'.

;;; Code:

(require 'cl-lib)
(require 'org-id)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-fontify)
(require 'org-agent-inert)
(require 'org-agent-undo)
(require 'org-agent-chat)
(require 'org-agent-send)
(require 'org-agent-command)
(require 'org-agent-add)
(require 'org-agent-pending)
(require 'org-agent-turn)
(require 'org-agent-asks)
(require 'org-agent-section)

(declare-function org-agent-approval-section "org-agent-approval")
(declare-function org-agent-input-history-fill-history "org-agent-input-history")
(declare-function org-agent-markup-for-mode "org-agent-markup")
(declare-function org-agent-question-section "org-agent-question")

(defcustom org-agent-ask-display 'chat
  "Where the answer to a question of `org-agent-ask' is shown.
It is in the conversation in any case."
  :type '(choice (const :tag "The conversation is displayed" chat)
                 (const :tag "A small window" window)
                 (const :tag "At point, when the turn has ended" insert))
  :group 'org-agent-ask
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-ask--nearby 20
  "The number of characters on either side that identify a place.")

(defvar org-agent-ask-history nil
  "Questions that were asked with `org-agent-ask'.")

(defvar org-agent-ask-latest nil
  "The latest answer that was to be inserted at point, or nil.
It is (ORG . RAW): the answer in Org and the text of the model.
`org-agent-ask-insert-latest' inserts it.")

;;;; Reading a question

(defun org-agent-ask-region ()
  "Return a reference to the active region, or nil.
The region of a conversation is not sent along, since it is known there."
  (when (and (use-region-p) (not org-agent-chat-session)
             (not (= (region-beginning) (region-end))))
    (cons :listed
          (cons t (car (org-agent-add-checked
                        (org-agent-add-region (region-beginning)
                                              (region-end))))))))

(defun org-agent-ask--read (session region)
  "Read a question for SESSION; REGION is the reference sent along, or nil."
  (org-agent-input-history-fill-history 'org-agent-ask-history)
  (let* ((lines (plist-get region :lines))
         (question
          (string-trim
           (read-string
            (format "Ask%s%s: "
                    (if lines
                        (format " about lines %d-%d" (car lines) (cdr lines))
                      "")
                    (if (equal session org-agent-chat-main)
                        ""
                      (format " in %s" session)))
            nil 'org-agent-ask-history))))
    (when (string-empty-p question)
      (user-error "Nothing was asked"))
    question))

(defun org-agent-ask--read-display ()
  "Read where an answer is to be shown."
  (pcase (completing-read "Show the answer in: "
                          '("conversation" "window" "here, at point") nil t)
    ("window" 'window)
    ("here, at point" 'insert)
    (_ 'chat)))

;;;; The commands

(defun org-agent-ask--arguments (display)
  "Read the arguments of `org-agent-ask'.
With nil as DISPLAY it is `org-agent-ask-display', or is read."
  (let* ((region (org-agent-ask-region))
         (session (if current-prefix-arg
                      (org-agent-chat-read-session)
                    (org-agent-chat-session-in-use)))
         (display (or display
                      (and (> (prefix-numeric-value current-prefix-arg) 4)
                           (org-agent-ask--read-display))
                      org-agent-ask-display)))
    (list (org-agent-ask--read session region) session display region)))

;;;###autoload
(defun org-agent-ask (question &optional session display region)
  "Ask the agent QUESTION in SESSION, by default that in use.
The active region is sent along: REGION is a reference to it or nil.  The
answer is shown as DISPLAY says, by default `org-agent-ask-display'.
With a prefix argument, ask for the conversation; with two, also where
to show the answer."
  (interactive (org-agent-ask--arguments nil))
  (org-agent-kernel-ensure)
  (org-agent-send-ask-consent)
  (let* ((session (or session (org-agent-chat-session-in-use)))
         (id (org-id-uuid))
         (display (or display org-agent-ask-display))
         (place (and (eq display 'insert) (org-agent-ask--note-place)))
         (send (lambda (&rest _)
                 (org-agent-ask--send id question session display region place))))
    (if (org-agent-command-unknown-p question)
        (org-agent-ask--checked id question session send)
      (funcall send))))

(defun org-agent-ask--checked (id question session send)
  "Call SEND when the kernel accepts QUESTION with the ID in SESSION.
It begins like a command that nobody knows, for which there may only be
no kernel yet.  The refusal of one that is mistyped is shown, and the
question is in the history of questions."
  (org-agent-kernel-ask
   "skill/list" nil
   (lambda (result)
     (org-agent-command-take result)
     (if (org-agent-command-unknown-p question)
         (org-agent-kernel-ask
          "settings/get" (list :session session :sensor :chat-message :id id
                               :text question :level 1)
          send)
       (funcall send)))))

(defun org-agent-ask--send (id question session display region place)
  "Send QUESTION with the ID and REGION in SESSION.
Show its answer as DISPLAY says; PLACE is where to insert it."
  (let ((chat (org-agent-send-in session (org-agent-ask--message id question region))))
    (when region
      (deactivate-mark))
    (pcase display
      ('insert (org-agent-ask--insert-when-ended id question place))
      ('window (org-agent-ask-show id chat))
      (_ (org-agent-ask-close) (org-agent-ask--display chat id)))))

;;;###autoload
(defun org-agent-ask-here (question &optional session _display region)
  "Ask the agent QUESTION in SESSION; the answer is inserted at point.
REGION is as for `org-agent-ask'; the text of the region stays.  The
answer is inserted as one undo step when the turn has ended; you can go
on editing meanwhile.  If its place is gone by then, the answer is shown,
and `org-agent-ask-insert-latest' inserts it.  With a prefix argument,
ask for the conversation."
  (interactive (progn (barf-if-buffer-read-only)
                      (org-agent-ask--arguments 'insert)))
  (org-agent-ask question session 'insert region))

(defun org-agent-ask--message (id question region)
  "Return the message ID that asks QUESTION, with REGION, if any.
A command of a skill chooses itself what it gets of the buffer."
  (let ((message (org-agent-command-message id 1 question)))
    (if (and region (not (plist-get message :event)))
        (org-agent-send-with-context message
                                     (org-agent-context-read-gather (list region)))
      message)))

(defun org-agent-ask--display (chat id)
  "Display the conversation CHAT with the question ID in the window.
The question is near the top, so that there is room for its answer."
  (when-let* ((window (display-buffer chat)))
    (with-current-buffer chat
      (when-let* ((heading (org-agent-heading-find id)))
        (unless (eq window (selected-window))
          (with-selected-window window
            (goto-char heading)
            (recenter (/ (window-body-height) 4))))))))

;;;; At point

(cl-defstruct (org-agent-ask-place (:copier nil))
  "A place in a buffer where an answer is to be inserted."
  marker before after name
  (overlay nil :documentation "What shows that an answer is to come there."))

(defun org-agent-ask--note-place ()
  "Return the place at point, or after the region."
  (barf-if-buffer-read-only)
  (let ((position (if (use-region-p) (region-end) (point))))
    (make-org-agent-ask-place
     :marker (copy-marker position) :name (buffer-name)
     :before (org-agent-ask--nearby position (- org-agent-ask--nearby))
     :after (org-agent-ask--nearby position org-agent-ask--nearby))))

(defun org-agent-ask--nearby (position distance)
  "Return DISTANCE characters from POSITION on, or before it if negative.
There are fewer at an end of the buffer."
  (save-restriction
    (widen)
    (let ((other (min (point-max) (max (point-min) (+ position distance)))))
      (buffer-substring-no-properties (min position other)
                                      (max position other)))))

(defun org-agent-ask--place-trouble (place)
  "Return why nothing can be inserted at PLACE, or nil.
The text before it or after it may have changed, but not both."
  (let* ((marker (org-agent-ask-place-marker place))
         (buffer (marker-buffer marker))
         (name (org-agent-ask-place-name place)))
    (cond
     ((not (buffer-live-p buffer)) (format "%s is gone" name))
     ((not (with-current-buffer buffer
             (or (org-agent-ask--same-p marker
                                        (org-agent-ask-place-before place) -1)
                 (org-agent-ask--same-p marker
                                        (org-agent-ask-place-after place) 1))))
      (format "its place in %s has changed" name)))))

(defun org-agent-ask--same-p (position text direction)
  "Return non-nil if TEXT is right before POSITION, or after it.
DIRECTION is -1 or 1.  An empty TEXT counts only in an empty buffer."
  (and (or (not (string-empty-p text)) (zerop (buffer-size)))
       (equal text (org-agent-ask--nearby position
                                          (* direction (length text))))))

(defun org-agent-ask--insert-when-ended (id question place)
  "Insert the answer to the question ID at PLACE when its turn has ended.
QUESTION is its text."
  (message "The answer to \"%s\" will come in here" (truncate-string-to-width
                                                     question 40 nil nil t))
  (org-agent-ask--await id place)
  (org-agent-turn-when-ended
   id :plain
   (lambda (result)
     (org-agent-pending-hide (org-agent-ask-place-overlay place))
     (if (or (plist-get result :notice)
             (not (eq (plist-get result :state) :answered)))
         (progn
           (message "org-agent: nothing was inserted.  %s"
                    (org-agent-one-line
                     (string-trim (or (plist-get result :answer) "")) 200))
           (set-marker (org-agent-ask-place-marker place) nil))
       (org-agent-ask--fetch-raw
        id (lambda (raw)
             (org-agent-ask--arrived
              id result (or raw (plist-get result :answer)) place)
             (set-marker (org-agent-ask-place-marker place) nil)))))))

(defun org-agent-ask--await (id place)
  "Show at PLACE that the answer to the question ID is to come."
  (let* ((marker (org-agent-ask-place-marker place))
         (overlay (org-agent-pending-show
                   marker marker "the answer comes in here"
                   (lambda ()
                     (org-agent-turn-forget id)
                     (org-agent-turn-cancel id)
                     (org-agent-pending-hide (org-agent-ask-place-overlay place))
                     (set-marker marker nil)
                     (message "Stopped; nothing is inserted here")))))
    (setf (org-agent-ask-place-overlay place) overlay)))

(defun org-agent-ask--fetch-raw (id function)
  "Call FUNCTION with the model's text of the answer to the question ID.
It gets nil when the kernel does not have that text any more."
  (org-agent-kernel-request
   "turn/find" (list :id id :form :raw)
   :success (lambda (result) (funcall function (plist-get result :answer)))
   :failure (lambda (_) (funcall function nil))))

(defun org-agent-ask--arrived (id result raw place)
  "Insert the answer of RESULT to the question ID at PLACE, or show it.
RAW is the text of the model."
  (setq org-agent-ask-latest (cons (plist-get result :answer) raw))
  (let ((trouble (or (org-agent-ask--place-trouble place)
                     (condition-case err
                         (progn (org-agent-ask--insert
                                 (org-agent-ask-place-marker place)
                                 org-agent-ask-latest)
                                nil)
                       (error (format "nothing can be inserted in %s (%s)"
                                      (org-agent-ask-place-name place)
                                      (error-message-string err)))))))
    (if (not trouble)
        (message "The answer is in %s now; undo removes it"
                 (org-agent-ask-place-name place))
      (org-agent-ask-show
       id (org-agent-chat-open (plist-get result :session)))
      (message "The answer has come, but %s.  M-x org-agent-ask-insert-latest inserts it at point"
               trouble))))

;;;###autoload
(defun org-agent-ask-body (text)
  "Return the answer TEXT without its heading.
If the answer is only a heading return the words of the heading."
  (let* ((text (string-trim text "\n+" "[ \t\n]+"))
         (end (string-search "\n" text)))
    (cond
     ((not (string-match-p "\\`\\*+ " text)) text)
     (end (string-trim (substring text end) "\n+" "\n+"))
     (t (string-trim (replace-regexp-in-string "\\`\\*+ +" "" text))))))

(defun org-agent-ask--insert (position answer)
  "Insert ANSWER at POSITION, a marker, as one undo step.
ANSWER is as in `org-agent-ask-latest'; it is translated for the mode of
the buffer.  An answer of several lines is put on lines of its own, and
so is one that would follow the last word of a line.  In Org its headings
are moved below the heading at POSITION."
  (with-current-buffer (marker-buffer position)
    (save-restriction
      (widen)
      (let* ((text (org-agent-markup-for-mode
                    (org-agent-ask-body (org-agent-inert (car answer)))
                    (cdr answer)))
             (text (if (derived-mode-p 'org-mode)
                       (org-agent-heading-demote
                        text (org-agent-ask--level position))
                     text))
             (bol (save-excursion (goto-char position) (bolp)))
             (eol (save-excursion (goto-char position) (eolp)))
             (lines (or (string-search "\n" text)
                        (and eol (not (memq (char-before position)
                                            '(nil ?\n ?\s ?\t)))))))
        (org-agent-undo-insert-new
         (marker-position position)
         (concat (and lines (not bol) "\n") text
                 (and lines (not eol) "\n")))))))

(defun org-agent-ask--level (position)
  "Return the level of the heading that POSITION is under, 0 for none."
  (let ((heading (org-agent-heading-at position)))
    (if heading (org-agent-heading-level heading) 0)))

;;;###autoload
(defun org-agent-ask-insert-latest ()
  "Insert the latest answer to `org-agent-ask-here' at point."
  (interactive "*")
  (unless org-agent-ask-latest
    (user-error "No answer has come that was to be inserted"))
  (org-agent-ask--insert (point-marker) org-agent-ask-latest))

;;;; In a window

(defvar org-agent-ask-buffer "*org-agent-ask*"
  "The buffer that shows one answer.")

(defvar-local org-agent-ask--shown nil
  "The question that this buffer shows, (ID . CONVERSATION).")

(defvar org-agent-ask--timer nil
  "The timer that will refresh the window, or nil.")

(define-derived-mode org-agent-ask-mode special-mode "Org-Agent-Ask"
  "Major mode of a window that shows one answer.
Approvals and questions of its turn are first, with their keys.
\\<org-agent-ask-mode-map>\\[quit-window] closes it, \\[org-agent-ask-go] \
goes to the conversation, \\[org-agent-ask-stop] stops the answer.

\\{org-agent-ask-mode-map}"
  :interactive nil
  (setq-local truncate-lines nil
              word-wrap t
              revert-buffer-function
              (lambda (&rest _) (org-agent-ask--refresh)))
  (add-hook 'org-agent-kernel-notified-functions #'org-agent-ask--notified)
  (add-hook 'kill-buffer-hook #'org-agent-ask--leave nil t))

(let ((map org-agent-ask-mode-map))
  (define-key map (kbd "RET") '("go to the conversation" . org-agent-ask-go))
  (define-key map (kbd "n") '("next that waits" . org-agent-section-next))
  (define-key map (kbd "p") '("previous that waits" . org-agent-section-previous))
  (define-key map (kbd "C-c C-k") '("stop the answer" . org-agent-ask-stop)))

;;;###autoload
(defun org-agent-ask-show (id chat)
  "Show the question ID of the conversation CHAT in a small window."
  (let ((buffer (get-buffer-create org-agent-ask-buffer)))
    (with-current-buffer buffer
      (org-agent-ask-mode)
      (setq org-agent-ask--shown (cons id chat))
      (org-agent-ask--refresh))
    (display-buffer buffer '((display-buffer-reuse-window
                              display-buffer-below-selected)
                             (window-height . 12)))))

;;;###autoload
(defun org-agent-ask-close (&optional session)
  "Close the window of one answer if that is an answer of SESSION, or any.
Something new was asked, and the answer is none to that."
  (when-let* ((buffer (get-buffer org-agent-ask-buffer))
              (chat (cdr (buffer-local-value 'org-agent-ask--shown buffer))))
    (when (and (buffer-live-p chat)
               (member session
                       (list nil (buffer-local-value 'org-agent-chat-session chat))))
      (quit-windows-on buffer t))))

(defun org-agent-ask--refresh ()
  "Show the question and its answer as they are now; point stays."
  (setq org-agent-ask--timer nil)
  (when-let* ((buffer (get-buffer org-agent-ask-buffer)))
    (with-current-buffer buffer
      (pcase-let* ((`(,id . ,chat) org-agent-ask--shown)
                   (text (and (buffer-live-p chat)
                              (org-agent-ask--text id chat))))
        (org-agent-section-replace-text
         (if text
             (concat (org-agent-ask--waiting id) text)
           "The conversation is closed; g looks again.\n"))))))

(defun org-agent-ask--waiting (id)
  "Return the open asks of the turn of the question ID, as text with keys.
They are printed in this buffer and deleted again, so that its table of
sections knows them."
  (let ((inhibit-read-only t)
        (end (point-max)))
    (save-excursion
      (goto-char end)
      (org-agent-ask--insert-waiting id)
      (delete-and-extract-region end (point-max)))))

(defun org-agent-ask--insert-waiting (id)
  "Insert the open asks of the turn of the question ID."
  (let ((beg (point)))
    (dolist (approval (org-agent-asks-of :approval))
      (when (equal (plist-get approval :event) id)
        (org-agent-section-insert (org-agent-approval-section approval))))
    (dolist (question (org-agent-asks-of :question))
      (when (equal (plist-get question :event) id)
        (org-agent-section-insert (org-agent-question-section question))))
    (unless (= beg (point))
      (save-excursion
        (goto-char beg)
        ;; The line belongs to the first ask, so that its keys work there.
        (let ((first (cl-loop for name in '(org-agent-section keymap)
                              append (list name (get-text-property beg name)))))
          (insert (apply #'propertize
                         "It waits for you: C-c C-c does it or answers, C-c C-k does not; n the next\n"
                         'face 'warning first)))))))

(defun org-agent-ask--text (id chat)
  "Return the question ID of the conversation CHAT with its answers.
Drawers and open asks are left out, and what marks a heading, an emphasis
or a link is not seen."
  (with-current-buffer chat
    (when-let* ((heading (org-agent-heading-find id)))
      (let ((text (org-agent-ask--without-waiting
                   heading (org-agent-heading-subtree-end heading))))
        (with-temp-buffer
          (insert text)
          (goto-char (point-min))
          (while (re-search-forward
                  "^[ \t]*:PROPERTIES:\n\\(?:[ \t]*:\\S-+:.*\n\\)*?[ \t]*:END:\n"
                  nil t)
            (replace-match ""))
          (goto-char (point-min))
          (while (re-search-forward
                  "^:\\(?:THOUGHTS\\|COMMENTARY\\|CALLS\\):\n\\(?:.*\n\\)*?:END:\n" nil t)
            (replace-match ""))
          (let ((org-hide-emphasis-markers t))
            (org-agent-fontify-sketch (point-min) (point-min) (point-min) (point-max)))
          (goto-char (point-min))
          (while (re-search-forward "^\\(\\*+ .*?\\)[ \t]+:[[:alnum:]_:]+:[ \t]*$"
                                    nil t)
            (delete-region (match-end 1) (match-end 0))
            (add-face-text-property (line-beginning-position) (line-end-position) 'bold))
          (goto-char (point-min))
          (while (re-search-forward "^\\*+ \\(?:\\(?:DONE\\|CANCELLED\\) \\)?" nil t)
            (put-text-property (match-beginning 0) (match-end 0) 'invisible t))
          (buffer-string))))))

(defun org-agent-ask--without-waiting (beg end)
  "Return the text from BEG to END without the subtrees of open asks."
  (org-agent-heading-widely
    (goto-char beg)
    (let ((from beg) (text ""))
      (while (re-search-forward "^\\*+ " end t)
        (let ((heading (line-beginning-position)))
          (when (org-agent-asks-waiting-p heading)
            (setq text (concat text (buffer-substring-no-properties from heading))
                  from (org-agent-heading-subtree-end heading))
            (goto-char from))))
      (concat text (buffer-substring-no-properties from end)))))

(defun org-agent-ask--refresh-soon (event)
  "Refresh the window soon if it shows EVENT.
Pieces that come within a fifth of a second are shown at once."
  (when-let* ((buffer (get-buffer org-agent-ask-buffer)))
    (when (and (equal event (car (buffer-local-value 'org-agent-ask--shown
                                                     buffer)))
               (not org-agent-ask--timer))
      (setq org-agent-ask--timer
            (run-at-time 0.2 nil #'org-agent-ask--refresh)))))

(defun org-agent-ask--refresh-for-ask (params)
  "Refresh the window soon if PARAMS are about its conversation."
  (when-let* ((buffer (get-buffer org-agent-ask-buffer))
              (shown (buffer-local-value 'org-agent-ask--shown buffer)))
    (when (and (buffer-live-p (cdr shown))
               (equal (plist-get params :session)
                      (buffer-local-value 'org-agent-chat-session (cdr shown))))
      (org-agent-ask--refresh-soon (car shown)))))

(defun org-agent-ask--notified (method params)
  "Refresh the window soon if the notification METHOD with PARAMS concerns it.
This is for `org-agent-kernel-notified-functions'."
  (pcase method
    ((or 'turn/delta 'turn/finished)
     (org-agent-ask--refresh-soon (plist-get params :event)))
    ((or 'ask/opened 'ask/closed)
     (org-agent-ask--refresh-for-ask params))))

(defun org-agent-ask--leave ()
  "Stop following the kernel, since the buffer is killed."
  (remove-hook 'org-agent-kernel-notified-functions #'org-agent-ask--notified))

(defun org-agent-ask--chat ()
  "Return the conversation of the question that is shown."
  (let ((chat (cdr org-agent-ask--shown)))
    (unless (buffer-live-p chat)
      (user-error "The conversation is closed; M-x org-agent-chat opens it"))
    chat))

(defun org-agent-ask-go ()
  "Go to the question that is shown, in its conversation."
  (interactive nil org-agent-ask-mode)
  (let ((id (car org-agent-ask--shown)))
    (pop-to-buffer (org-agent-ask--chat))
    (when-let* ((heading (org-agent-heading-find id)))
      (goto-char heading)
      (org-reveal))))

(defun org-agent-ask-stop ()
  "Stop the answer that is being written in this question's conversation."
  (interactive nil org-agent-ask-mode)
  (with-current-buffer (org-agent-ask--chat)
    (org-agent-stop-turn)))

(provide 'org-agent-ask)
;;; org-agent-ask.el ends here
