;;; org-agent-tasks.el --- The tasks that are done when they are due  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-tasks' lists the headings that the agent does when they are
;; due, with the next time of each: those of tasks.org, and those of your
;; agenda files that have the tag of `org-agent-tasks-agenda-tag'.  The
;; latter are done only after you armed them: a shows all of what would be
;; done, and C-c C-c there arms it.  RET visits the heading, and x has a task
;; done now.

;;; Code:

(require 'cl-lib)
(require 'iso8601)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-list)
(require 'org-agent-section)
(require 'org-agent)

(declare-function org-agent-agenda-keywords-and-files "org-agent-agenda" ())
(declare-function org-agenda-finalize "org-agenda" ())
(declare-function org-agenda-prepare "org-agenda" (&optional name))
(declare-function org-agent-chat-open "org-agent-chat" (session))
(declare-function org-agent-goto-open "org-agent-goto" (session id &optional words))

(defvar org-agenda-redo-command)

(defvar org-agent-tasks-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map (kbd "RET") #'org-agent-tasks-visit)
    (define-key map "x" #'org-agent-tasks-run)
    (define-key map "a" #'org-agent-tasks-arm)
    (define-key map "d" #'org-agent-tasks-disarm)
    map)
  "Keymap of the list of tasks.")

(define-derived-mode org-agent-tasks-mode org-agent-list-mode "Org-Agent-Tasks"
  "Major mode of the list of tasks.
\\<org-agent-tasks-mode-map>\\[org-agent-tasks-visit] visits the heading of a task, \\[org-agent-tasks-run] has it done now.
\\[org-agent-tasks-arm] shows what a task outside of tasks.org would do, to arm it, and
\\[org-agent-tasks-disarm] disarms it.

\\{org-agent-tasks-mode-map}"
  :interactive nil
  (org-agent-list-columns
   [("Next" 20 t) ("Task" 25 t) ("When" 18 t) ("State" 9 t)]
   #'org-agent-tasks--ask
   "\\<org-agent-tasks-mode-map>\\[org-agent-tasks-visit] visit  \\[org-agent-tasks-arm] arm  \\[org-agent-tasks-disarm] disarm  \\[org-agent-tasks-run] do it now"))

;;;###autoload
(defun org-agent-tasks ()
  "List the tasks of the agent and when each is due.
They are those of `tasks.org', and those of your agenda files if
`org-agent-tasks-agenda-tag' says so."
  (interactive)
  (org-agent-kernel-check)
  (org-agent-list-open "*org-agent-tasks*" 'org-agent-tasks-mode
                       #'org-agent-tasks--ask))

;;;###autoload
(defun org-agent-tasks-announce (&optional then)
  "Tell the kernel in which files `org-agent-tasks-agenda-tag' has tasks.
When it is nil, there are none but what is armed.  Call THEN, if non-nil,
without arguments when the kernel has answered."
  (when (org-agent-kernel-ready-p)
    (org-agent-kernel-request
     "schedule/watch" (org-agent-tasks--files)
     :success (lambda (_) (when then (funcall then)))
     :failure (lambda (refusal)
                (org-agent-say "Tasks of the agenda: %s"
                               (org-agent-one-line
                                (plist-get refusal :message)))
                (when then (funcall then))))))

(defun org-agent-tasks--files ()
  "Return what the kernel is to look at for tasks, as parameters."
  (and org-agent-tasks-agenda-tag
       (append (list :tag org-agent-tasks-agenda-tag)
               (org-agent-agenda-keywords-and-files))))

(defun org-agent-tasks--ask (&rest _)
  "Request the tasks, and show them when they arrive.
The agenda may have other files than when the kernel was told of them."
  (let* ((buffer (current-buffer))
         (ask (lambda ()
                (when (buffer-live-p buffer)
                  (with-current-buffer buffer
                    (org-agent-kernel-ask "schedule/list" nil
                                          #'org-agent-tasks--list))))))
    (if (and org-agent-tasks-agenda-tag (org-agent-kernel-ready-p))
        (org-agent-tasks-announce ask)
      (funcall ask))))

(defun org-agent-tasks--list (result)
  "Show RESULT, the tasks of the kernel and what is wrong with their files."
  (let ((faults (plist-get result :faults)))
    (org-agent-list-show
     (mapcar #'org-agent-tasks--row (plist-get result :tasks))
     "There are no tasks.  A heading of tasks.org with a timestamp is one."
     (and faults (format "%d wrong" (length faults))))
    (org-agent-tasks--say-notes (plist-get result :tasks))
    (dolist (fault faults)
      (org-agent-say "%s" (org-agent-one-line fault)))))

(defun org-agent-tasks--say-notes (tasks)
  "Say what became of the last heartbeat among TASKS, for which no row has room.
Say why a task is tried again, too."
  (when-let* ((notes (cl-loop for task in tasks
                              for note = (plist-get task :note)
                              when note collect
                              (concat (org-agent-one-line (plist-get task :title))
                                      ": " (org-agent-one-line note)))))
    (org-agent-say "%s" (string-join notes "; "))))

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
                (org-agent-list-state (plist-get task :state)))))

(defun org-agent-tasks--at-point ()
  "Return the task on this line, a plist."
  (or (tabulated-list-get-id) (user-error "There is no task on this line")))

(defun org-agent-tasks-visit ()
  "Visit the heading of the task on this line.
If the task is at work, open its conversation instead."
  (interactive nil org-agent-tasks-mode)
  (org-agent-tasks--visit (org-agent-tasks--at-point)))

(defun org-agent-tasks--visit (task)
  "Visit the heading of TASK, or its conversation if it is at work."
  (let ((session (plist-get task :session)))
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
     (list :task (plist-get task :hash))
     (lambda (result)
       (org-agent-say "Begun in the conversation %s" (plist-get result :session))
       (when (buffer-live-p buffer)
         (with-current-buffer buffer (revert-buffer)))))))

;;;; Arming

(defvar org-agent-tasks-arm-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'org-agent-tasks-arm-this)
    map)
  "Keymap of the text of a task that can be armed.")

(defvar-local org-agent-tasks--this nil
  "The task that this buffer shows, a plist from the kernel.")

(define-derived-mode org-agent-tasks-arm-mode special-mode "Org-Agent-Task"
  "Major mode of all that a task would do.
\\<org-agent-tasks-arm-mode-map>\\[org-agent-tasks-arm-this] arms it."
  :interactive nil
  (setq bidi-display-reordering nil
        header-line-format
        '(:eval (org-agent-section-header
                 nil (concat "\\<org-agent-tasks-arm-mode-map>"
                             "\\[org-agent-tasks-arm-this] have it done"
                             "  \\[quit-window] not now"))))
  (visual-line-mode))

(defun org-agent-tasks-arm ()
  "Show all of what the task on this line would do, to arm it."
  (interactive nil org-agent-tasks-mode)
  (let ((task (org-agent-tasks--whole (org-agent-tasks--other))))
    (pop-to-buffer (get-buffer-create "*org-agent-task*"))
    (org-agent-tasks-arm-mode)
    (setq-local revert-buffer-function
                (lambda (&rest _)
                  (org-agent-tasks--show (org-agent-tasks--whole task))))
    (org-agent-tasks--show task)))

(defun org-agent-tasks--whole (task)
  "Return TASK, a plist from the kernel, as it is now, with its text.
Signal an error when it is another one by now."
  (car (plist-get (org-agent-kernel-call
                   "schedule/list"
                   (list :task (plist-get task :hash) :times 3 :text t))
                  :tasks)))

(defun org-agent-tasks--show (task)
  "Show all of what TASK, a plist from the kernel, would do in this buffer."
  (setq org-agent-tasks--this task)
  (let ((inhibit-read-only t))
    (erase-buffer)
    (insert (org-agent-tasks--described task))
    (goto-char (point-min))))

(defun org-agent-tasks--described (task)
  "Return a text that says all of what TASK would do, and when."
  (concat
   (format "A task in %s, line %d.  The agent is to do this,\n%s:\n\n"
           (abbreviate-file-name (plist-get task :file)) (plist-get task :line)
           (if-let* ((times (plist-get task :times)))
               (concat "at " (string-join times ",\n   "))
             "though no time is planned any more"))
   (plist-get task :text) "\n\n"
   (substitute-command-keys
    "\\<org-agent-tasks-arm-mode-map>\\[org-agent-tasks-arm-this] arms it.")
   "  When the heading or its text is changed it is\n"
   "not armed any more, and you are told.\n"))

(defun org-agent-tasks-arm-this ()
  "Have the task that this buffer shows done at its times."
  (interactive nil org-agent-tasks-arm-mode)
  (org-agent-tasks--set org-agent-tasks--this nil)
  (quit-window))

(defun org-agent-tasks-disarm ()
  "Have the task on this line not done any more, until it is armed again."
  (interactive nil org-agent-tasks-mode)
  (org-agent-tasks--set (org-agent-tasks--other) t))

(defun org-agent-tasks--other ()
  "Return the task on this line, which must be outside of tasks.org."
  (let ((task (org-agent-tasks--at-point)))
    (unless (plist-get task :other)
      (user-error "A task of tasks.org needs no arming: `:ENABLED: nil' holds it up"))
    task))

(defun org-agent-tasks--set (task disarm)
  "Arm TASK, a plist from the kernel, or disarm it if DISARM is non-nil."
  (org-agent-kernel-ask
   "schedule/arm"
   (list :hash (plist-get task :hash) :disarm disarm)
   (lambda (result)
     (org-agent-say (if disarm "Not armed any more: %s" "Armed: %s")
                    (org-agent-one-line (plist-get result :title)))
     (when-let* ((list (get-buffer "*org-agent-tasks*")))
       (with-current-buffer list (revert-buffer))))))

;;;; In the agenda

(defconst org-agent-tasks--agenda-days 7
  "The number of days from now whose tasks the block of the agenda shows.")

(defvar org-agent-tasks-agenda-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'org-agent-tasks-agenda-open)
    (define-key map [mouse-2] #'org-agent-tasks-agenda-open)
    map)
  "Keymap of the lines of the agent in an agenda.")

;;;###autoload
(defun org-agent-tasks-agenda (&optional _match)
  "Show in an Org agenda what waits for you and what the agent is to do.
This is a block for `org-agenda-custom-commands':

  (\"g\" \"Agenda, and the agent\"
   ((agenda \"\") (org-agent-tasks-agenda \"\")))

It shows the approvals and questions that wait, and the tasks of the
next seven days, also those with a rule of cron.  It starts no kernel."
  (org-agenda-prepare "Agent")
  (setq org-agenda-redo-command '(org-agent-tasks-agenda))
  (goto-char (point-max))
  (let ((start (point)))
    (insert (propertize "The agent:" 'face 'org-agenda-structure
                        'org-agenda-structural-header t)
            "\n")
    (if (org-agent-kernel-ready-p)
        (mapc #'org-agent-tasks--insert-agenda-line
              (or (append (org-agent-tasks--agenda-asks)
                          (org-agent-tasks--agenda-tasks))
                  '((nil "" "Nothing waits, and no task is due in the next days"))))
      (org-agent-tasks--insert-agenda-line
       '(nil "" "No kernel runs; M-x org-agent-chat starts one")))
    (add-text-properties start (point-max) '(org-agenda-type agent)))
  (org-agenda-finalize)
  (setq buffer-read-only t))

(defun org-agent-tasks--insert-agenda-line (line)
  "Insert LINE, a list of what it opens, a label and a text, into the agenda."
  (pcase-let ((`(,opens ,label ,text) line))
    (let ((start (point)))
      (insert (format "  %-18s%s\n" label (org-agent-one-line text)))
      (when opens
        (add-text-properties
         start (1- (point))
         (list 'org-agent-tasks-opens opens 'keymap org-agent-tasks-agenda-map
               'mouse-face 'highlight 'help-echo "RET opens this"))))))

(defun org-agent-tasks--agenda-asks ()
  "Return lines for what waits for the person."
  (mapcar (lambda (ask)
            (list ask "Waits for you:"
                  (format "%s (%s)"
                          (or (plist-get ask :summary)
                              (plist-get (plist-get ask :form) :title)
                              "a question")
                          (plist-get ask :session))))
          (plist-get (org-agent-kernel-call "ask/list" nil) :asks)))

(defun org-agent-tasks--agenda-tasks ()
  "Return lines for the tasks of the next days, the next one first."
  (let ((limit (+ (float-time) (* org-agent-tasks--agenda-days 24 3600)))
        lines)
    (when org-agent-tasks-agenda-tag
      (condition-case refusal
          (org-agent-kernel-call "schedule/watch" (org-agent-tasks--files))
        (user-error
         (org-agent-say "Tasks of the agenda: %s"
                        (org-agent-one-line (error-message-string refusal))))))
    (dolist (task (plist-get (org-agent-kernel-call "schedule/list" nil) :tasks))
      (when-let* ((next (plist-get task :next))
                  (time (float-time (encode-time (iso8601-parse next)))))
        (when (< time limit)
          (push (list time task
                      (format-time-string "%a %e %b %H:%M" time)
                      (concat (plist-get task :title)
                              (unless (equal (plist-get task :state) "planned")
                                (format " (%s)" (plist-get task :state)))))
                lines))))
    (mapcar #'cdr (sort lines (lambda (a b) (< (car a) (car b)))))))

(defun org-agent-tasks-agenda-open (&optional event)
  "Open what this line of the agenda, or that of the mouse EVENT, is about."
  (interactive (list (and (mouse-event-p last-input-event) last-input-event)))
  (when event (mouse-set-point event))
  (let ((opens (or (get-text-property (line-beginning-position)
                                      'org-agent-tasks-opens)
                   (user-error "There is nothing of the agent on this line"))))
    (if (plist-get opens :sort)
        (pop-to-buffer (org-agent-goto-open (plist-get opens :session)
                                            (plist-get opens :event)))
      (org-agent-tasks--visit opens))))

(provide 'org-agent-tasks)
;;; org-agent-tasks.el ends here
