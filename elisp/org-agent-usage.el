;;; org-agent-usage.el --- What the models took  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A table of tokens and money: for each turn, conversation, model or day;
;; and for each tool what its results brought into conversations.
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
    (define-key map "T" #'org-agent-usage-by-tool)
    map)
  "Keys of the table of usage.")

(define-derived-mode org-agent-usage-mode org-agent-list-mode "Org-Agent-Usage"
  "Table of what the models took.
\\<org-agent-usage-mode-map>\\[org-agent-usage-by-turn] by turn, \\[org-agent-usage-by-session] by conversation, \\[org-agent-usage-by-model] by model, \\[org-agent-usage-by-day] by day.
\\[org-agent-usage-by-tool] shows what the results of tools brought in."
  (org-agent-usage--columns nil))

(defun org-agent-usage--columns (tools)
  "Make the columns those of models, or of TOOLS if that is non-nil."
  (let ((format
         (if tools
             (list '("Tool" 40 t)
                   (list "Calls" 8 (org-agent-list-by-number 1) :right-align t)
                   (list "Bytes" 12 (org-agent-list-by-number 2) :right-align t)
                   (list "Tokens, about" 14 (org-agent-list-by-number 3)
                         :right-align t))
           ;; All of it is seen in 80 columns.
           (list '("What" 32 t) '("Model" 18 t)
                 (list "In" 7 (org-agent-list-by-number 2) :right-align t)
                 (list "Out" 7 (org-agent-list-by-number 3) :right-align t)
                 '("Cost" 10 nil :right-align t)))))
    (unless (equal (mapcar #'car format) (mapcar #'car tabulated-list-format))
      (setq tabulated-list-sort-key nil) ; it names a column
      (org-agent-list-columns (vconcat format) #'org-agent-usage--ask))))

(defun org-agent-usage (&optional by)
  "Show what the models took, BY turn, session, model, day or tool.
In a conversation that is the conversation's, by turn; elsewhere that of
all, by session."
  (interactive)
  (org-agent-kernel-check)
  (let ((session org-agent-chat-session))
    (org-agent-list-open "*org-agent-usage*" 'org-agent-usage-mode
                         (lambda ()
                           (setq org-agent-usage--what
                                 (cons (or by (if session 'turn 'session))
                                       session))
                           (org-agent-usage--ask)))))

(defun org-agent-usage--by (by)
  "Show the table BY turn, session, model, day or tool."
  (if (not (derived-mode-p 'org-agent-usage-mode))
      (org-agent-usage by)
    (setcar org-agent-usage--what by)
    (org-agent-usage--ask)))

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

(defun org-agent-usage-by-tool ()
  "Show a row for each tool: its calls, and the size of their results."
  (interactive)
  (org-agent-usage--by 'tool))

(defun org-agent-usage--ask (&rest _)
  "Ask the kernel for the rows and show them when they come."
  (pcase-let ((`(,by . ,session) org-agent-usage--what))
    (org-agent-kernel-ask
     "usage/get" (append (list :by (intern (format ":%s" by))
                               :east (car (current-time-zone)))
                         (and session (list :session session)))
     (lambda (result)
       (org-agent-usage--columns (eq by 'tool))
       (org-agent-list-show
        (append (mapcar #'org-agent-usage--row (plist-get result :rows))
                (mapcar #'org-agent-usage--tool (plist-get result :tools)))
        (format "by %s" by))))))

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

(defun org-agent-usage--tool (row)
  "Return ROW, a plist of the kernel's about a tool, as a row of the table."
  (list row
        (vector (replace-regexp-in-string
                 "[\n\t]+" " " (or (plist-get row :tool) "others"))
                (number-to-string (or (plist-get row :calls) 0))
                (number-to-string (or (plist-get row :bytes) 0))
                (number-to-string (or (plist-get row :tokens) 0)))))

(provide 'org-agent-usage)
;;; org-agent-usage.el ends here
