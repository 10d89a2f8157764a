;;; org-agent-usage.el --- What the models took  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A table of tokens and money: for each turn, conversation, model or day.
;; What nobody knows the price of says so: unknown is not nothing.

;;; Code:

(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-header)
(require 'org-agent-list)

(defvar-local org-agent-usage--what nil
  "What the table shows: (BY . SESSION).")

(defvar org-agent-usage-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map "t" #'org-agent-usage-by-turn)
    (define-key map "c" #'org-agent-usage-by-session)
    (define-key map "m" #'org-agent-usage-by-model)
    (define-key map "d" #'org-agent-usage-by-day)
    map)
  "Keys of the table of usage.")

(define-derived-mode org-agent-usage-mode org-agent-list-mode "Org-Agent-Usage"
  "Table of what the models took.
\\<org-agent-usage-mode-map>\\[org-agent-usage-by-turn] by turn, \\[org-agent-usage-by-session] by conversation, \\[org-agent-usage-by-model] by model, \\[org-agent-usage-by-day] by day."
  (setq tabulated-list-format
        (vector
         ;; All of it is seen in 80 columns.
         '("What" 32 t) '("Model" 18 t)
         (list "In" 7 (org-agent-list-by-number 2) :right-align t)
         (list "Out" 7 (org-agent-list-by-number 3) :right-align t)
         '("Cost" 10 nil :right-align t)))
  (setq-local revert-buffer-function #'org-agent-usage--fetch)
  (tabulated-list-init-header))

(defun org-agent-usage (&optional by)
  "Show what the models took, BY turn, session, model or day.
In a conversation that is the conversation's, by turn; elsewhere that of
all, by session."
  (interactive)
  (unless (org-agent-kernel-ready-p)
    (user-error "No kernel is running; M-x org-agent-chat starts one"))
  (let ((session org-agent-chat-session))
    (with-current-buffer (org-agent-list-buffer "*org-agent-usage*"
                                                'org-agent-usage-mode)
      (setq org-agent-usage--what
            (cons (or by (if session 'turn 'session)) session))
      (org-agent-usage--fetch)
      (pop-to-buffer (current-buffer)))))

(defun org-agent-usage--by (by)
  "Show the table BY turn, session, model or day."
  (if (not (derived-mode-p 'org-agent-usage-mode))
      (org-agent-usage by)
    (setcar org-agent-usage--what by)
    (org-agent-usage--fetch)))

(defun org-agent-usage-by-turn ()
  "Show a row for each turn."
  (interactive)
  (org-agent-usage--by 'turn))

(defun org-agent-usage-by-session ()
  "Show a row for each conversation, of all of them."
  (interactive)
  (when (derived-mode-p 'org-agent-usage-mode)
    (setcdr org-agent-usage--what nil))
  (org-agent-usage--by 'session))

(defun org-agent-usage-by-model ()
  "Show a row for each model."
  (interactive)
  (org-agent-usage--by 'model))

(defun org-agent-usage-by-day ()
  "Show a row for each day."
  (interactive)
  (org-agent-usage--by 'day))

(defun org-agent-usage--fetch (&rest _)
  "Ask the kernel for the rows and show them when they come."
  (let ((buffer (current-buffer))
        (by (car org-agent-usage--what))
        (session (cdr org-agent-usage--what)))
    (org-agent-kernel-request
     "usage/get" (append (list :by (intern (format ":%s" by))
                               :east (car (current-time-zone)))
                         (and session (list :session session)))
     :success
     (lambda (result)
       (when (buffer-live-p buffer)
         (with-current-buffer buffer
           (org-agent-list-show
            (mapcar #'org-agent-usage--row (plist-get result :rows))
            (format "by %s" by)))))
     :failure
     (lambda (refusal)
       (message "org-agent: no usage: %s" (plist-get refusal :message))))))

(defun org-agent-usage--row (row)
  "Return ROW, a plist of the kernel's, as a row of the table."
  (list row
        (vector (replace-regexp-in-string
                 "[\n\t]+" " " (or (plist-get row :what)
                                   (plist-get row :session)
                                   (plist-get row :model) "all"))
                (or (plist-get row :model) "")
                (number-to-string (or (plist-get row :input) 0))
                (number-to-string (or (plist-get row :output) 0))
                (or (org-agent-header-cost row) "unknown"))))

(provide 'org-agent-usage)
;;; org-agent-usage.el ends here
