;;; org-agent-model.el --- Which model answers  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A conversation is answered by the configured model, or by the one that
;; was chosen for it; `org-agent-regenerate' has a question answered once
;; more, by any.  A model's name is that of a heading below Models in
;; config.org, HEADING:MODEL for another one of that server, or what the
;; server itself lists.

;;; Code:

(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-draft)
(require 'org-agent-chat)
(require 'org-agent-send)
(require 'org-agent-above)

;;;; Names

(defvar org-agent-model--known nil
  "The models, as the kernel told of them last: plists.")

(defun org-agent-model--refresh ()
  "Ask the kernel anew which models there are.
It asks each server, which can take seconds; nobody waits for it."
  (org-agent-kernel-request
   "model/list" (list :session org-agent-chat-session)
   :success (lambda (result)
              (setq org-agent-model--known (plist-get result :models)))
   :failure #'ignore))

(defun org-agent-model--standard ()
  "Return the name of the configured model, nil when it is not known yet."
  (plist-get (seq-find (lambda (model) (plist-get model :default))
                       org-agent-model--known)
             :name))

(defun org-agent-model--table (chosen)
  "Return a completion table of the models that are known when it is asked.
CHOSEN is the name of this conversation's."
  (lambda (text predicate action)
    (if (eq action 'metadata)
        `(metadata
          (category . org-agent-model)
          (annotation-function
           . ,(lambda (name)
                (cond ((equal name (org-agent-model--standard))
                       "  the configured one")
                      ((equal name chosen) "  this conversation's")
                      (t "")))))
      (complete-with-action
       action
       (mapcar (lambda (model) (plist-get model :name)) org-agent-model--known)
       text predicate))))

(defun org-agent-model-read (prompt)
  "Read the name of a model with PROMPT; nil is the configured one.
What is completed is what the kernel told last; it is asked anew while
one types.  Any name can be given: not every server lists what it has."
  (org-agent-kernel-check)
  (org-agent-model--refresh)
  (let* ((standard (org-agent-model--standard))
         (name (string-trim
                (completing-read
                 (format-prompt prompt (or standard "the configured one"))
                 (org-agent-model--table (org-agent-chat-get :model))
                 nil nil nil nil standard))))
    (unless (or (string-empty-p name)
                (equal name (org-agent-model--standard)))
      name)))

;;;; Choosing

(defun org-agent-model (model)
  "Have MODEL answer in this conversation from the next message on.
The header line shows it, and it stays when Emacs or the kernel ends.
The configured model is chosen by its name, or by none."
  (interactive
   (progn
     (org-agent-chat-check-attached)
     (list (org-agent-model-read "Model of this conversation"))))
  (org-agent-chat-check-attached)
  (org-agent-kernel-request
   "session/model" (append (list :session org-agent-chat-session)
                           (and model (list :model model)))
   :success (lambda (_)
              (message "%s answers from now on"
                       (or model "The configured model")))
   :failure (lambda (refusal)
              (org-agent-chat-complain "The model is not changed" refusal))))

(cl-defmethod org-agent-handle-notification ((_method (eql 'model/changed))
                                             params)
  "Show the model of PARAMS, which answers from now on."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :model (or (plist-get params :model)
                                   (plist-get org-agent-kernel-server :model)))))

(defun org-agent-regenerate (&optional model)
  "Have the question at point answered once more, behind its answers.
Point is on the question or on an answer to it.  The model is that of
the conversation; with a prefix argument ask for MODEL.  It is shown
what was said before the question.  Later turns are shown the last
answer, unless `org-agent-prefer-answer' marked another one."
  (interactive
   (progn
     (org-agent-chat-check-attached)
     (list (and current-prefix-arg
                (org-agent-model-read "Answer with the model")))))
  (org-agent-chat-check-attached)
  (let ((heading (org-agent-send-question-here)))
    (org-agent-kernel-request
     "turn/retry"
     (append (list :event (org-agent-heading-property heading "ID")
                   :above (org-agent-above heading))
             (and model (list :model model)))
     :success (lambda (_) (message "It is being answered once more"))
     :failure (lambda (refusal)
                (org-agent-chat-complain "Not answered once more" refusal)))))

(defun org-agent-regenerate-with (model)
  "Have the question at point answered once more, by MODEL."
  (interactive
   (progn
     (org-agent-chat-check-attached)
     (list (org-agent-model-read "Answer with the model"))))
  (org-agent-regenerate model))

(provide 'org-agent-model)
;;; org-agent-model.el ends here
