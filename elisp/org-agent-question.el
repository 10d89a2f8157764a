;;; org-agent-question.el --- Answer what the agent asks  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The agent can ask the person questions.  A question is in its
;; conversation as a form (org-agent-form.el), below the message of its
;; turn, and in the list of `org-agent-approvals'.  `C-c C-c' sends the
;; answers, `C-c C-k' declines with a reason.  `org-agent-question-fill'
;; reads the answers in the minibuffer instead.  Secrets are read when the
;; answers are sent, and are never in a buffer.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-file-owner)
(require 'org-agent-asks)
(require 'org-agent-chat)
(require 'org-agent-form)
(require 'org-agent-section)
(require 'org-agent-approval)

(declare-function org-agent-notify-asked "org-agent-notify")

(defvar org-agent-question--sent nil
  "The ids of the questions whose forms this Emacs has sent.")

(defvar org-agent-question-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command)
                   '(("RET" . org-agent-question-fill)
                     ("v" . org-agent-question-show)
                     ("d" . org-agent-question-decline)
                     ("C-c C-c" . org-agent-question-fill)
                     ("C-c C-k" . org-agent-question-decline)))
      (define-key map (kbd key) command))
    map)
  "Keymap of a question in the list of approvals.")

;;;; The question at point

(defun org-agent-question-at-point ()
  "Return the question at point, in a form or in the list of approvals."
  (or (org-agent-section-data-at-point 'question)
      (cdr (org-agent-form-here (org-agent-asks-of :question)))
      (user-error "No question waits here; M-x org-agent-approvals shows what does")))

;;;###autoload
(defun org-agent-question-form-p (heading)
  "Return non-nil if HEADING is the form of a question that waits."
  (and heading
       (equal (org-agent-heading-property heading "ASKS") "question")
       (org-agent-asks-waiting-p heading)))

;;;; Answering

(defun org-agent-question--send (question &rest answer)
  "Answer QUESTION with ANSWER, parameters of \"ask/decide\"."
  (let ((id (plist-get question :id))
        (title (plist-get (plist-get question :form) :title)))
    (org-agent-kernel-request
     "ask/decide" (append (list :id id) answer)
     :success (lambda (result)
                (org-agent-approval-remove id)
                (message "%s: %s" (if (eq (plist-get result :decision) :declined)
                                      "Declined" "Answered")
                         title))
     :failure (lambda (refusal)
                (setq org-agent-question--sent
                      (delete id org-agent-question--sent))
                (org-agent-chat-complain "Not answered" refusal)))))

(defun org-agent-question--secrets (question)
  "Read the secrets that QUESTION asks for; return the answers."
  (cl-loop for field in (org-agent-form-fields question)
           when (eq (plist-get field :kind) :secret)
           when (org-agent-question--read-secret field) collect it))

(defun org-agent-question--read-secret (field)
  "Read the secret that FIELD asks for; return the answer or nil."
  (let ((value (read-passwd (org-agent-question--prompt field))))
    (cond
     ((not (string-empty-p value))
      (list :name (plist-get field :name) :values (list value)))
     ((not (plist-get field :optional))
      (user-error "Not sent: \"%s\" has no answer"
                  (plist-get field :question))))))

;;;###autoload
(defun org-agent-question-submit ()
  "Send the answers in the form at point."
  (interactive nil org-agent-chat-mode)
  (org-agent-chat-check-whole)
  (let* ((here (or (org-agent-form-here (org-agent-asks-of :question))
                   (user-error "This question does not wait; M-x org-agent-approvals shows what does")))
         (question (cdr here))
         (answers (if (member (plist-get question :id) org-agent-question--sent)
                      (user-error "The answers are on their way already")
                    (org-agent-form-read (car here) question)))
         (secrets (org-agent-question--secrets question)))
    (cl-pushnew (plist-get question :id) org-agent-question--sent :test #'equal)
    (org-agent-question--send question :decision :answered :answers (append answers secrets))))

;;;###autoload
(defun org-agent-question-decline (reason)
  "Decline to answer the question at point, for REASON.
The agent gets the reason, and its turn goes on."
  (interactive (list (progn (org-agent-question-at-point)
                            (read-string "Why not (RET for no reason): "))))
  (let ((question (org-agent-question-at-point)))
    (apply #'org-agent-question--send question :decision :declined
           (unless (string-empty-p reason) (list :reason reason)))))

;;;###autoload
(defun org-agent-question-fill ()
  "Answer the question at point in the minibuffer."
  (interactive)
  (let ((question (org-agent-question-at-point)))
    (org-agent-question--send
     question :decision :answered :answers
     (delq nil (mapcar #'org-agent-question--read
                       (org-agent-form-fields question))))))

(defun org-agent-question--prompt (field &optional more)
  "Return the prompt for FIELD, with the hint MORE if it is non-nil."
  (let ((default (plist-get field :default)))
    (concat (plist-get field :question)
            (cond (more (concat " (" more ")"))
                  ((plist-get field :optional) " (RET for no answer)"))
            (and default (format " [%s]" default))
            " ")))

(defun org-agent-question--read (field)
  "Read the answer to FIELD in the minibuffer; return it, or nil."
  (if (eq (plist-get field :kind) :secret)
      (org-agent-question--read-secret field)
    (let (values)
      (while (progn
               (setq values (org-agent-question--read-values field))
               (not (or values (plist-get field :optional))))
        (message "This needs an answer")
        (sit-for 1))
      (and values (list :name (plist-get field :name) :values values)))))

(defun org-agent-question--read-values (field)
  "Read the values for FIELD; return a list of strings."
  (let ((options (org-agent-form-options field))
        (free (plist-get field :own))
        (default (plist-get field :default)))
    (if (eq (plist-get field :kind) :choices)
        (cl-loop for value = (completing-read
                              (org-agent-question--prompt
                               field (if chosen
                                         (format "and, after %s; RET when done"
                                                 (string-join chosen ", "))
                                       "RET when done"))
                              (cl-set-difference options chosen :test #'equal)
                              nil (if free nil t))
                 until (string-empty-p value)
                 collect value into chosen
                 finally return (or chosen (and default (list default))))
      (let ((value (string-trim
                    (if options
                        (completing-read (org-agent-question--prompt field)
                                         options nil (if free nil t)
                                         nil nil default)
                      (read-string (org-agent-question--prompt field)
                                   nil nil default)))))
        (unless (string-empty-p value) (list value))))))

(defun org-agent-question-show ()
  "Show the question at point in its conversation."
  (interactive)
  (let* ((question (org-agent-question-at-point))
         (buffer (org-agent-chat-open (plist-get question :session))))
    (pop-to-buffer buffer)
    (when-let* ((heading (org-agent-heading-find (plist-get question :id))))
      (goto-char heading))))

;;;; The list of approvals

;;;###autoload
(defun org-agent-question-section (question)
  "Return the section of QUESTION: its fields and the choices."
  (let ((form (plist-get question :form)))
    (org-agent-section
     'question (plist-get question :id) :data question
     :heading (org-agent-approval-heading "Answer" (plist-get form :title)
                                          question)
     :body (lambda ()
             (concat
              (mapconcat #'org-agent-question--line (plist-get form :fields) "")
              (org-agent-approval-choices
               '("Answer" . org-agent-question-fill)
               '("Decline" . org-agent-question-decline)
               '("Show the form" . org-agent-question-show))
              "\n")))))

(defun org-agent-question--line (field)
  "Return a line with the question of FIELD and its options."
  (concat (plist-get field :question)
          (when-let* ((options (org-agent-form-options field)))
            (format " [%s%s]" (string-join options " | ")
                    (if (plist-get field :own) " | other" "")))
          "\n"))

;;;###autoload
(defun org-agent-question-insert (question)
  "Insert the section of QUESTION."
  (org-agent-section-insert (org-agent-question-section question)))

(cl-defmethod org-agent-section-keymap ((_type (eql 'question)))
  "Return the keymap for questions."
  org-agent-question-map)

(cl-defmethod org-agent-section-hint ((_type (eql 'question)))
  "Return the keys for questions."
  "\\<org-agent-question-map>\\[org-agent-question-fill] answer  \\[org-agent-question-decline] decline  \\[org-agent-question-show] show the form")

(defun org-agent-question--close (heading params question mine)
  "Replace the form at HEADING by its end in PARAMS.
If the form was answered elsewhere, text that the person wrote into it
stays below.  QUESTION tells which text that is.  MINE is non-nil if this
Emacs sent the form.  If the text cannot be recognized, the changed form
stays as a quotation, so that it does not seem to wait."
  (let* ((waiting (plist-get params :waiting))
         (unsent (cond
                  (mine "")
                  (question
                   (condition-case nil
                       (org-agent-form-unsent heading question)
                     (error (org-agent-question--left heading waiting))))
                  ((org-agent-form-untouched-p heading waiting) "")
                  (t (org-agent-question--left heading waiting)))))
    (org-agent-asks-close (plist-get params :id) waiting
                           (concat (plist-get params :subtree) unsent)
                           t)))

(defun org-agent-question--left (heading waiting)
  "Return the text below HEADING and its drawer as an example block.
WAITING is the form as the kernel wrote it."
  (let ((head (org-agent-asks-head waiting)))
    (org-agent-heading-widely
      (concat "Not sent, as it was written here:\n#+begin_example\n"
              (org-escape-code-in-string
               (string-trim-right
                (buffer-substring-no-properties
                 (min (+ heading (length head)) (org-agent-heading-subtree-end heading))
                 (org-agent-heading-subtree-end heading))
                "\n+"))
              "\n#+end_example\n"))))

;;;; Notifications from the kernel

;;;###autoload
(defun org-agent-question-opened (params)
  "Show the question in PARAMS, and report that it waits."
  (let* ((id (plist-get params :id))
         (known (org-agent-asks-add params)))
    (org-agent-approval-draw)
    (org-agent-chat-in (plist-get params :session)
      (when-let* ((heading (and (plist-get params :subtree)
                                (org-agent-heading-find id))))
        (org-agent-form-decorate heading params))
      (org-agent-chat-put :turn (plist-get params :turn) :phase 'waiting))
    (unless known
      (message "The agent asks you: %s (M-x org-agent-approvals)"
               (plist-get (plist-get params :form) :title)))
    (org-agent-notify-asked params)))

;;;###autoload
(defun org-agent-question-closed (params)
  "Note that the question in PARAMS does not wait any more.
Text of the form that was not sent stays in the conversation."
  (let* ((id (plist-get params :id))
         (question (org-agent-asks-known id))
         (mine (member id org-agent-question--sent)))
    (org-agent-approval-remove id)
    (setq org-agent-question--sent (delete id org-agent-question--sent))
    (org-agent-chat-in (plist-get params :session)
      (when-let* ((heading (and (plist-get params :subtree)
                                (org-agent-heading-find id))))
        (org-agent-question--close heading params (and (not mine) question)
                                   mine)
        (org-agent-chat-restore-draft)
        (org-agent-file-owner-save))
      (org-agent-approval-go-on (plist-get params :session)))))

(provide 'org-agent-question)
;;; org-agent-question.el ends here
