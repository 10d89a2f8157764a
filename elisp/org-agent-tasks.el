;;; org-agent-tasks.el --- The tasks that are done when they are due  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-tasks' lists the headings of tasks.org that the agent does when
;; they are due, with the next time of each.  RET visits the heading, and x
;; has a task done now.

;;; Code:

(require 'iso8601)
(require 'org-agent-kernel)
(require 'org-agent-list)
(require 'org-agent)

(declare-function org-agent-chat-open "org-agent-chat" (session))

(defvar org-agent-tasks-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map (kbd "RET") #'org-agent-tasks-visit)
    (define-key map "x" #'org-agent-tasks-run)
    map)
  "Keymap of the list of tasks.")

(define-derived-mode org-agent-tasks-mode org-agent-list-mode "Org-Agent-Tasks"
  "Major mode of the list of tasks.
\\<org-agent-tasks-mode-map>\\[org-agent-tasks-visit] visits the heading of a task, \\[org-agent-tasks-run] has it done now."
  :interactive nil
  (org-agent-list-columns
   [("Next" 20 t) ("Task" 26 t) ("When" 18 t) ("State" 8 t)]
   #'org-agent-tasks--ask
   "\\<org-agent-tasks-mode-map>\\[org-agent-tasks-visit] visit  \\[org-agent-tasks-run] do it now"))

;;;###autoload
(defun org-agent-tasks ()
  "List the tasks of tasks.org and when each is due."
  (interactive)
  (org-agent-kernel-check)
  (org-agent-list-open "*org-agent-tasks*" 'org-agent-tasks-mode
                       #'org-agent-tasks--ask))

(defun org-agent-tasks--ask (&rest _)
  "Request the tasks, and show them when they arrive."
  (org-agent-kernel-ask
   "schedule/list" nil
   (lambda (result)
     (let ((faults (plist-get result :faults)))
       (org-agent-list-show
        (mapcar #'org-agent-tasks--row (plist-get result :tasks))
        "There are no tasks.  A heading of tasks.org with a timestamp is one."
        (and faults (format "%d wrong" (length faults))))
       (dolist (fault faults)
         (org-agent-say "%s" (org-agent-one-line fault)))))))

(defun org-agent-tasks--row (task)
  "Return TASK, a plist from the kernel, as a row of the table."
  (list task
        (vector (let ((next (plist-get task :next)))
                  (if next
                      (format-time-string
                       "%Y-%m-%d %a %H:%M"
                       (encode-time (iso8601-parse next)))
                    "never"))
                (org-agent-one-line (plist-get task :title))
                (org-agent-one-line (plist-get task :when))
                (plist-get task :state))))

(defun org-agent-tasks--at-point ()
  "Return the task on this line, a plist."
  (or (tabulated-list-get-id) (user-error "There is no task on this line")))

(defun org-agent-tasks-visit ()
  "Visit the heading of the task on this line.
If the task is at work, open its conversation instead."
  (interactive nil org-agent-tasks-mode)
  (let* ((task (org-agent-tasks--at-point))
         (session (plist-get task :session)))
    (if session
        (pop-to-buffer (org-agent-chat-open session))
      (pop-to-buffer (find-file-noselect (plist-get task :file)))
      (widen)
      (goto-char (point-min))
      (forward-line (1- (plist-get task :line))))))

(defun org-agent-tasks-run ()
  "Have the task on this line done now.  What is planned stays planned."
  (interactive nil org-agent-tasks-mode)
  (let ((task (org-agent-tasks--at-point))
        (buffer (current-buffer)))
    (org-agent-kernel-ask
     "schedule/run"
     (list :task (or (plist-get task :id) (plist-get task :title)))
     (lambda (result)
       (org-agent-say "Begun in the conversation %s" (plist-get result :session))
       (when (buffer-live-p buffer)
         (with-current-buffer buffer (revert-buffer)))))))

(provide 'org-agent-tasks)
;;; org-agent-tasks.el ends here
