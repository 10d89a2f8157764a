;;; org-agent-steer.el --- Words for a turn that runs or waits  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What waits for its turn stands below with a mark; `C-c C-k' on it takes
;; it back.  A question can be edited and asked anew, and something can be
;; said to the turn that runs.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-id)
(require 'org-agent-kernel)
(require 'org-agent-draft)
(require 'org-agent-answer)
(require 'org-agent-keeper)
(require 'org-agent-chat)
(require 'org-agent-send)

;;;; What waits

(defface org-agent-waiting '((t :inherit shadow))
  "Face of a question that waits for its turn."
  :group 'org-agent)

(defun org-agent-steer-setup ()
  "Show which questions wait in the current conversation."
  (font-lock-add-keywords nil '((org-agent-steer--fontify)) t))

(defun org-agent-steer--fontify (limit)
  "Show the questions that wait between point and LIMIT; for font lock.
Return nil: there is nothing left to highlight."
  (let (next)
    (while (and (< (point) limit)
                (setq next (text-property-any (point) limit
                                              'org-agent-waiting t)))
      (goto-char next)
      (let ((end (min limit (line-end-position))))
        (add-face-text-property next end 'org-agent-waiting)
        (when (re-search-forward ":user:" end t)
          (put-text-property (match-beginning 0) (match-end 0)
                             'display ":waiting:"))
        (goto-char (max (1+ next) end)))))
  nil)

(defun org-agent-steer-mark-waiting (event waits)
  "Mark the question EVENT as one that WAITS for its turn, or not."
  (when-let ((heading (org-agent-find-heading event)))
    (with-silent-modifications
      (org-agent-draft--widely
        (goto-char heading)
        (let ((end (line-end-position)))
          (put-text-property heading end 'org-agent-waiting (and waits t))
          (unless waits
            (remove-text-properties heading end '(display nil)))
          (when (bound-and-true-p font-lock-mode)
            (font-lock-flush heading end)))))))

(defun org-agent-steer-waits-p (heading)
  "Return non-nil when the question at HEADING waits for its turn."
  (and heading (get-text-property heading 'org-agent-waiting) t))

;;;; Steering

(defun org-agent-steer (text)
  "Say TEXT to the turn that runs in this conversation.
The model is shown it with its next request of that turn, as after the
result of a tool, and the answer has it as a line of yours.  If the turn
makes no further request, it becomes the next message."
  (interactive
   (progn (org-agent-steer--check)
          (list (read-string "Say to the turn that runs: "))))
  (org-agent-steer--check)
  (when (string-empty-p (string-trim text))
    (user-error "Nothing to say"))
  (org-agent-kernel-request
   "turn/steer" (list :session org-agent-chat-session :id (org-id-uuid)
                      :text (substring-no-properties text))
   :success (lambda (_) (message "The agent is told with its next step"))
   :failure (lambda (refusal)
              (org-agent-chat-complain "Not said" refusal))))

(defun org-agent-steer--check ()
  "Signal an error where nothing runs that could be told something."
  (org-agent-chat-check)
  (unless (and (eq org-agent-chat-attached t) (org-agent-chat-get :turn))
    (user-error "Nothing is being answered; write a message and send it")))

;;;; Asking anew

(defvar-local org-agent-question--origin nil
  "The conversation, the id and the level of the question edited here.")
(put 'org-agent-question--origin 'permanent-local t)

(defvar org-agent-question-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'org-agent-question-send)
    (define-key map (kbd "C-c C-k") #'org-agent-question-abandon)
    map)
  "Keys of a question that is edited.")

(define-minor-mode org-agent-question-mode
  "Edit a question; \\<org-agent-question-mode-map>\\[org-agent-question-send] asks it anew.
\\[org-agent-question-abandon] leaves it as it is."
  :lighter " Question"
  (setq header-line-format
        (and org-agent-question-mode
             (substitute-command-keys
              "Edit, then \\<org-agent-question-mode-map>\\[org-agent-question-send] to ask anew, \\[org-agent-question-abandon] to leave it"))))

(defun org-agent-edit-question ()
  "Edit the question at point in a buffer of its own and ask it anew.
The old question and its answers stay as they are.  The new one stands
at the end of the conversation, with the property INSTEAD, and goes on
from where the old one stood: the model is shown what was said before
that, and later turns are not shown the old one nor what came behind it.
A question that still waits for its turn is taken back, and the new one
is a message like any other.  The draft stays as it is."
  (interactive)
  (org-agent-chat-check-whole)
  (let ((heading (org-agent-send-question-here))
        (chat (current-buffer)))
    (let ((text (org-agent-question-text heading))
          (origin (list chat (org-agent-heading-property heading "ID")
                        (org-agent-heading-level heading)))
          (buffer (generate-new-buffer "*org-agent question*")))
      (with-current-buffer buffer
        (setq-local enable-local-variables nil)
        (delay-mode-hooks (org-mode))
        (insert text)
        (set-buffer-modified-p nil)
        (setq org-agent-question--origin origin)
        (org-agent-question-mode 1))
      (pop-to-buffer buffer))))

(defun org-agent-question-send ()
  "Ask the question that was edited here anew."
  (interactive)
  (unless org-agent-question--origin
    (user-error "No question is edited here; M-x org-agent-edit-question begins it"))
  (pcase-let ((`(,chat ,id ,level) org-agent-question--origin)
              (text (org-agent-draft--normalize
                     (buffer-substring-no-properties (point-min) (point-max))
                     (nth 2 org-agent-question--origin))))
    (unless text (user-error "Nothing to send"))
    (unless (buffer-live-p chat)
      (user-error "The conversation was closed; open it and copy this there"))
    (with-current-buffer chat
      (org-agent-question--ask id level text))
    (quit-window t)))

(defun org-agent-question--ask (id level text)
  "Ask TEXT at LEVEL in the place of the question ID."
  (org-agent-send-ask-consent)
  (let* ((heading (org-agent-find-heading id))
         (waits (org-agent-steer-waits-p heading))
         (new (org-id-uuid))
         (above (and heading (org-agent-heading-above heading)))
         (properties
          (and heading
               (cl-remove-if (lambda (property)
                               (member (car property) '(t "ID" "INSTEAD")))
                             (org-agent-heading-properties heading))))
         (instead (and (not waits)
                       (not (org-agent-send--unsent-p heading))
                       id)))
    (when waits
      (org-agent-kernel-request "turn/cancel" (list :event id)))
    (org-agent-keeper-look)
    (org-agent-answer-insert-question
     new (org-agent-question-subtree level new text t instead properties)
     (and above (org-agent-heading-property above "ID")))
    (org-agent-keeper-save)
    (org-agent-send-post
     (append (list :id new :level level :text text)
             (and instead (list :instead instead))))))

(defun org-agent-question-abandon ()
  "Leave the question as it is."
  (interactive)
  (set-buffer-modified-p nil)
  (quit-window t))

(provide 'org-agent-steer)
;;; org-agent-steer.el ends here
