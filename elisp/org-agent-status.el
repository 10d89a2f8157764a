;;; org-agent-status.el --- State of the kernel, and usage of models  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-status' shows what waits for the person, which answers are
;; being written, the state of models, presets, servers and skills, and the
;; kernel with its files.
;;
;; `org-agent-usage' is a table of tokens and cost by turn, conversation,
;; model or day, and of the results of tools.  If a price is not known, the
;; cost is shown as unknown.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-list)
(require 'org-agent-section)

(declare-function org-agent-approvals "org-agent-approval")
(declare-function org-agent-doctor "org-agent-doctor")
(declare-function org-agent-header-cost "org-agent-header")
(declare-function org-agent-header-progress-text "org-agent-header")
(declare-function org-agent-log "org-agent-log")
(declare-function org-agent-skills "org-agent-skills")

(defvar org-agent-status-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-section-mode-map)
    (define-key map "l" #'org-agent-log)
    (define-key map "d" #'org-agent-doctor)
    (define-key map "w" #'org-agent-skills)
    (define-key map "a" #'org-agent-approvals)
    map)
  "Keymap of `org-agent-status-mode'.")

(define-derived-mode org-agent-status-mode org-agent-section-mode
  "Org-Agent-Status"
  "Major mode of the state of the kernel.
\\<org-agent-status-mode-map>\\[org-agent-section-return] visits the subject of a line, \\[revert-buffer] updates the buffer,
\\[org-agent-log] shows the log, \\[org-agent-doctor] checks the installation.

\\{org-agent-status-mode-map}"
  (setq-local revert-buffer-function (lambda (&rest _) (org-agent-status)))
  (setq org-agent-section-keys "\\<org-agent-status-mode-map>\\[org-agent-section-return] visit  \\[org-agent-approvals] approvals  \\[org-agent-log] log  \\[org-agent-doctor] doctor  \\[org-agent-skills] skills"))

;;;###autoload
(defun org-agent-status ()
  "Show the state of the kernel."
  (interactive)
  (if (not (org-agent-kernel-ready-p))
      (message "No kernel is running%s; M-x org-agent-chat starts one, M-x org-agent-doctor checks the installation"
               (if org-agent-kernel-trouble
                   (format " (%s)" org-agent-kernel-trouble)
                 ""))
    (org-agent-kernel-request
     "status" nil
     :success #'org-agent-status--show
     :failure (lambda (refusal)
                (message "org-agent: %s" (plist-get refusal :message))))))

(defun org-agent-status--show (status)
  "Show STATUS, a plist from the kernel."
  (with-current-buffer (get-buffer-create "*org-agent-status*")
    (unless (derived-mode-p 'org-agent-status-mode)
      (org-agent-status-mode))
    (org-agent-section-show
     (org-agent-status--sections (org-agent-status--lines status)))
    (display-buffer (current-buffer))))

(defun org-agent-status--sections (lines)
  "Return the sections of LINES, lists (LABEL TEXT FACE ACTION NAME).
FACE may be nil.  If ACTION is non-nil, the text is a button that calls
it.  NAME identifies a line whose text changes, or is nil.  A line whose
LABEL is nil is a child of the last line with a label."
  (let (sections)
    (dolist (line lines)
      (pcase-let* ((`(,label ,text ,face ,action ,name) line)
                   (section (org-agent-section
                             'status (or label name text) :data action
                             :heading (concat (org-agent-status--label label)
                                              (org-agent-status--text text face action)))))
        (if (or label (not sections))
            (push section sections)
          (push section (org-agent-section-children (car sections))))))
    (dolist (section sections)
      (setf (org-agent-section-children section)
            (nreverse (org-agent-section-children section))))
    (nreverse sections)))

(defun org-agent-status--label (label)
  "Return LABEL or, if that is nil, blanks, in the width of its column."
  (if label
      (propertize (format "%-10s" label) 'face 'shadow)
    (make-string 8 ?\s)))

(defun org-agent-status--text (text face action)
  "Return TEXT on one line, as a button for ACTION or else in FACE."
  (let ((shown (org-agent-one-line text)))
    (cond (action (make-text-button (copy-sequence shown) nil 'follow-link t
                                    'action (lambda (_) (funcall action))))
          (face (propertize shown 'face face))
          (t shown))))

(cl-defmethod org-agent-section-visit ((_type (eql 'status)) section)
  "Visit the subject of SECTION, a line of the status."
  (if-let* ((action (org-agent-section-data section)))
      (funcall action)
    (cl-call-next-method)))

(defun org-agent-status--lines (status)
  "Return the lines of STATUS for `org-agent-status--sections'."
  (append (org-agent-status--work status)
          (org-agent-status--models status)
          (org-agent-status--presets status)
          (org-agent-status--servers status)
          (org-agent-status--notes status)
          (mapcar (lambda (fault) (list "Problem" fault 'warning #'org-agent-doctor))
                  (plist-get status :faults))
          (org-agent-status--kernel status)))

(defun org-agent-status--work (status)
  "Return the lines of STATUS about approvals, questions and answers."
  (let ((waiting (or (plist-get status :waiting) 0))
        (running (or (plist-get status :running) 0))
        (queued (or (plist-get status :queued) 0)))
    (append
     (list (if (> waiting 0)
               (list "Approvals" (format "%d to decide or to answer" waiting)
                     'warning #'org-agent-approvals)
             (list "Approvals" "nothing waits for you"))
           (list "Answers" (cond ((> running 0)
                                  (format "%d being written, %d queued" running queued))
                                 ((> queued 0) (format "%d queued" queued))
                                 (t "nothing is being written"))))
     (mapcar (lambda (conversation)
               (let ((name (plist-get conversation :name))
                     (behind (or (plist-get conversation :queued) 0)))
                 (list nil
                       (concat (if-let* ((parent (plist-get conversation :parent)))
                                   (format "  %s, subagent of %s"
                                           (plist-get conversation :label) parent)
                                 name)
                               (and (plist-get conversation :running) ", being written")
                               (when-let* ((progress (plist-get conversation :progress)))
                                 (concat ": " (org-agent-header-progress-text progress t)))
                               (and (> behind 0) (format ", %d queued" behind)))
                       nil
                       (lambda () (org-agent-chat name))
                       name)))
             (plist-get status :conversations)))))

(defun org-agent-status--models (status)
  "Return the lines of STATUS about models, the configured one first."
  (cons
   (list "Model" (or (plist-get status :model) "none"))
   (mapcar (lambda (model)
             (let ((fault (plist-get model :fault))
                   (state (plist-get model :state)))
               (list nil
                     (concat (plist-get model :name) "  "
                             (pcase state
                               (:unasked "not used yet")
                               ((pred keywordp) (substring (symbol-name state) 1))
                               (_ (format "%s" (or state ""))))
                             (and (plist-get model :at)
                                  (concat "  " (org-agent-list-time
                                                (plist-get model :at))))
                             (and fault (concat "  " fault)))
                     (and (memq state '(:failing :paused)) 'error)
                     nil (plist-get model :name))))
           (plist-get status :models))))

(defun org-agent-status--presets (status)
  "Return the lines of STATUS about presets and their faults."
  (when-let* ((presets (plist-get status :presets)))
    (let ((good (cl-remove-if (lambda (preset) (plist-get preset :fault)) presets)))
      (cons
       (list "Presets" (if good
                           (mapconcat (lambda (preset) (plist-get preset :name)) good ", ")
                         "none that can be used"))
       (cl-loop for preset in presets
                for fault = (plist-get preset :fault)
                when fault
                collect (list nil (format "%s  %s" (plist-get preset :name) fault)
                              'warning))))))

(defun org-agent-status--servers (status)
  "Return the lines of STATUS about MCP servers and their tools."
  (cl-loop for server in (plist-get status :mcp)
           for first = t then nil
           for state = (plist-get server :state)
           for fault = (plist-get server :fault)
           for tools = (plist-get server :tools)
           collect (list (and first "Servers")
                         (concat (plist-get server :name) "  "
                                 (if (keywordp state)
                                     (substring (symbol-name state) 1)
                                   (format "%s" (or state "")))
                                 (and tools (format ", %d tools" (length tools)))
                                 (and fault (concat "  " fault)))
                         (and (eq state :failing) 'error)
                         nil (plist-get server :name))
           append (mapcar (lambda (left) (list nil (concat "left out: " left) 'warning))
                          (plist-get server :left))))

(defun org-agent-status--notes (status)
  "Return the line of STATUS about skills."
  (let ((faulty (or (plist-get status :faulty) 0)))
    (list (if (> faulty 0)
              (list "Skills" (format "%d live, %d with errors in their files"
                                     (or (plist-get status :skills) 0) faulty)
                    'warning #'org-agent-skills)
            (list "Skills" (format "%d live" (or (plist-get status :skills) 0)))))))

(defun org-agent-status--kernel (status)
  "Return the lines of STATUS about the kernel and its files."
  (let ((size (lambda (key)
                (and (plist-get status key)
                     (file-size-human-readable (plist-get status key) 'si " " "B")))))
    (delq
     nil
     (list
      (list "Kernel"
            (string-join
             (delq nil (list (format "version %s" (plist-get status :version))
                             (format "process %s" (plist-get status :pid))
                             (and (plist-get status :seconds)
                                  (concat "for "
                                          (format-seconds "%Y, %D, %H, %M, %z%S"
                                                          (plist-get status :seconds))))
                             (funcall size :memory)))
             "  "))
      (and (plist-get status :without-safety)
           (list "Safety" "no rules for models: started with --without-safety"
                 'warning))
      (list "Clients"
            (if-let* ((connected (plist-get status :connected)))
                (mapconcat (lambda (client)
                             (string-trim (format "%s %s" (plist-get client :name)
                                                  (or (plist-get client :version) ""))))
                           connected ", ")
              (format "%d" (or (plist-get status :clients) 0))))
      (org-agent-status--file "Home" (plist-get status :home))
      (org-agent-status--file "Socket" (plist-get status :socket))
      (org-agent-status--file "Log" (plist-get status :log))
      (org-agent-status--file "Journal" (plist-get status :journal)
                              (concat
                               (funcall size :journal-size)
                               (when-let* ((left (plist-get status :unindexed)))
                                 (format ", %d%% is not in the search index yet"
                                         left))))))))

(defun org-agent-status--file (label file &optional more)
  "Return the line with LABEL, FILE and MORE, or nil if FILE is nil."
  (and file
       (list label (concat (abbreviate-file-name file)
                           (and more (concat "  " more))))))

;;;; Usage

(defvar-local org-agent-status--usage-what nil
  "What the table of usage shows: (BY . SESSION).")

(defvar org-agent-usage-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map "t" #'org-agent-usage-by-turn)
    (define-key map "c" #'org-agent-usage-by-session)
    (define-key map "m" #'org-agent-usage-by-model)
    (define-key map "d" #'org-agent-usage-by-day)
    (define-key map "T" #'org-agent-usage-by-tool)
    map)
  "Keymap of the table of usage.")

(define-derived-mode org-agent-usage-mode org-agent-list-mode "Org-Agent-Usage"
  "Major mode of the table of tokens and cost.
\\<org-agent-usage-mode-map>\\[org-agent-usage-by-turn] shows it by turn, \\[org-agent-usage-by-session] by conversation, \\[org-agent-usage-by-model] by model, \\[org-agent-usage-by-day] by day.
\\[org-agent-usage-by-tool] shows the sizes of the results of tools."
  (org-agent-status--usage-columns nil))

(defun org-agent-status--usage-columns (tools)
  "Set the columns for models, or for tools if TOOLS is non-nil."
  (let ((format
         (if tools
             (list '("Tool" 40 t)
                   (list "Calls" 8 (org-agent-list-by-number 1) :right-align t)
                   (list "Bytes" 12 (org-agent-list-by-number 2) :right-align t)
                   (list "Tokens, about" 14 (org-agent-list-by-number 3)
                         :right-align t))
           ;; The columns fit into a window of 80.
           (list '("What" 30 t) '("Model" 18 t)
                 (list "In" 7 (org-agent-list-by-number 2) :right-align t)
                 (list "Out" 7 (org-agent-list-by-number 3) :right-align t)
                 '("Cost" 10 nil :right-align t)))))
    (unless (equal (mapcar #'car format) (mapcar #'car tabulated-list-format))
      (setq tabulated-list-sort-key nil) ; it names a column
      (org-agent-list-columns
       (vconcat format) #'org-agent-status--usage-ask
       "\\<org-agent-usage-mode-map>by: \\[org-agent-usage-by-turn] turn  \\[org-agent-usage-by-session] conversation  \\[org-agent-usage-by-model] model  \\[org-agent-usage-by-day] day  \\[org-agent-usage-by-tool] tool"))))

;;;###autoload
(defun org-agent-usage (&optional by)
  "Show tokens and cost BY turn, session, model, day or tool.
In a conversation show those of the conversation, by default by turn.
Elsewhere show those of all conversations, by default by session."
  (interactive)
  (org-agent-kernel-check)
  (let ((session org-agent-chat-session))
    (org-agent-list-open "*org-agent-usage*" 'org-agent-usage-mode
                         (lambda ()
                           (setq org-agent-status--usage-what
                                 (cons (or by (if session 'turn 'session))
                                       session))
                           (org-agent-status--usage-ask)))))

(defun org-agent-status--usage-by (by)
  "Show the table of usage BY turn, session, model, day or tool."
  (if (not (derived-mode-p 'org-agent-usage-mode))
      (org-agent-usage by)
    (setcar org-agent-status--usage-what by)
    (org-agent-status--usage-ask)))

(defun org-agent-usage-by-turn ()
  "Show a row for each turn."
  (interactive)
  (org-agent-status--usage-by 'turn))

(defun org-agent-usage-by-session ()
  "Show a row for each of all conversations."
  (interactive)
  (when (derived-mode-p 'org-agent-usage-mode)
    (setcdr org-agent-status--usage-what nil))
  (org-agent-status--usage-by 'session))

(defun org-agent-usage-by-model ()
  "Show a row for each model."
  (interactive)
  (org-agent-status--usage-by 'model))

(defun org-agent-usage-by-day ()
  "Show a row for each day."
  (interactive)
  (org-agent-status--usage-by 'day))

(defun org-agent-usage-by-tool ()
  "Show a row for each tool: its calls and the size of their results."
  (interactive)
  (org-agent-status--usage-by 'tool))

(defun org-agent-status--usage-ask (&rest _)
  "Request the rows, and show them when they arrive."
  (pcase-let ((`(,by . ,session) org-agent-status--usage-what))
    (org-agent-kernel-ask
     "usage/get" (append (list :by (intern (format ":%s" by))
                               :east (car (current-time-zone)))
                         (and session (list :session session)))
     (lambda (result)
       (org-agent-status--usage-columns (eq by 'tool))
       (org-agent-list-show
        (append (mapcar #'org-agent-status--usage-row (plist-get result :rows))
                (mapcar #'org-agent-status--usage-tool (plist-get result :tools)))
        (format "by %s" by))))))

(defun org-agent-status--usage-row (row)
  "Return ROW, a plist from the kernel, as a row of the table."
  (list row
        (vector (org-agent-one-line (or (plist-get row :what)
                                        (plist-get row :session)
                                        (plist-get row :model) "all"))
                (or (plist-get row :model) "")
                (number-to-string (or (plist-get row :input) 0))
                (number-to-string (or (plist-get row :output) 0))
                (or (org-agent-header-cost row) "unknown"))))

(defun org-agent-status--usage-tool (row)
  "Return ROW, a plist from the kernel about a tool, as a row of the table."
  (list row
        (vector (org-agent-one-line (or (plist-get row :tool) "others"))
                (number-to-string (or (plist-get row :calls) 0))
                (number-to-string (or (plist-get row :bytes) 0))
                (number-to-string (or (plist-get row :tokens) 0)))))

(provide 'org-agent-status)
;;; org-agent-status.el ends here
