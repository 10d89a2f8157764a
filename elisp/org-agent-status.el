;;; org-agent-status.el --- What the agent does: its state and its subagents  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-status' shows what the agent does now: what waits for the
;; person, which answers are being written, the state of models, presets,
;; servers and skills, and the kernel with its files.
;;
;; A turn can delegate parts of its work to subagents.  Each subagent
;; answers its task in a conversation of its own.  While it runs, a line
;; below the question shows its state.  The line is an overlay, since the
;; text of the buffer is the person's file, which gets no temporary text.
;; The result is in the drawer CALLS of the answer, or in a turn of its own.
;; `org-agent-subagents' lists the subagents.  `org-agent-subagent-open'
;; shows the conversation of one, which is read-only.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-chat)
(require 'org-agent-list)
(require 'org-agent-section)

(declare-function org-agent-approvals "org-agent-approval")
(declare-function org-agent-doctor "org-agent-doctor")
(declare-function org-agent-log "org-agent-log")
(declare-function org-agent-header-progress-text "org-agent-header")
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
\\<org-agent-status-mode-map>\\[org-agent-section-return] visits the subject of a line, \\[org-agent-log] shows the log,
\\[org-agent-doctor] checks the installation.

\\{org-agent-status-mode-map}"
  :interactive nil
  (setq-local revert-buffer-function #'org-agent-status--ask)
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
    (org-agent-list-open "*org-agent-status*" 'org-agent-status-mode #'org-agent-status--ask)))

(defun org-agent-status--ask (&rest _)
  "Request the state of the kernel, and show it when it arrives."
  (org-agent-kernel-ask
   "status" nil
   (lambda (status)
     (org-agent-section-show (org-agent-status--sections (org-agent-status--lines status))))))

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

(defun org-agent-status--state (state)
  "Return STATE, a keyword from the kernel, as a word."
  (pcase state
    (:well "works")
    ((pred keywordp) (substring (symbol-name state) 1))
    (_ (format "%s" (or state "")))))

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
                             (if (eq state :unasked)
                                 "not used yet"
                               (org-agent-status--state state))
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
                                 (org-agent-status--state state)
                                 (and tools (format ", %s" (org-agent-counted (length tools) "tool")))
                                 (and fault (concat "  " fault)))
                         (and (eq state :failing) 'error)
                         nil (plist-get server :name))
           append (mapcar (lambda (left) (list nil (concat "left out: " left) 'warning))
                          (plist-get server :left))))

(defun org-agent-status--notes (status)
  "Return the line of STATUS about skills."
  (let ((live (or (plist-get status :skills) 0))
        (faulty (or (plist-get status :faulty) 0)))
    (list (if (> faulty 0)
              (list "Skills" (format "%d live, %d with errors in their files" live faulty)
                    'warning #'org-agent-skills)
            (list "Skills" (format "%d live" live))))))

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

;;;; Subagents, in their conversation

(defconst org-agent-status--subagents-buffer "*org-agent-subagents*"
  "The name of the buffer of the list.")

(defvar-local org-agent-status--subagents nil
  "The subagents of this conversation, oldest first.
Those of a question are removed when the last of them has ended.")
(put 'org-agent-status--subagents 'permanent-local t)

(defvar-local org-agent-status--subagent-overlays nil
  "An alist of IDs of questions and the overlays with the lines below them.")
(put 'org-agent-status--subagent-overlays 'permanent-local t)

(defun org-agent-status--subagent-ended-p (subagent)
  "Return non-nil if SUBAGENT has ended."
  (not (memq (plist-get subagent :state) '(:queued :running :waiting))))

;;;###autoload
(defun org-agent-status-subagent-changed (params)
  "Show the state of the subagent in PARAMS below its question."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-status--subagent-note params))
  (org-agent-list-refresh org-agent-status--subagents-buffer))

(defun org-agent-status--subagent-note (subagent)
  "Note the state of SUBAGENT of this conversation, and show it."
  (let* ((event (plist-get subagent :event))
         (known (cl-find (plist-get subagent :id) org-agent-status--subagents
                         :key (lambda (one) (plist-get one :id)) :test #'equal)))
    (cond (known (setq org-agent-status--subagents
                       (cl-substitute subagent known org-agent-status--subagents)))
          ;; A subagent that was stopped before it began is reported once.
          ((not (org-agent-status--subagent-ended-p subagent))
           (setq org-agent-status--subagents
                 (append org-agent-status--subagents (list subagent)))))
    (let ((siblings (org-agent-status--subagents-of event)))
      (when (cl-every #'org-agent-status--subagent-ended-p siblings)
        (setq org-agent-status--subagents
              (cl-set-difference org-agent-status--subagents siblings))))
    (org-agent-status--subagent-draw event)))

(defun org-agent-status--subagents-of (event)
  "Return the known subagents of the question EVENT."
  (cl-remove-if-not (lambda (one) (equal (plist-get one :event) event))
                    org-agent-status--subagents))

(defun org-agent-status--subagent-draw (event)
  "Update the lines of the subagents of the question EVENT."
  (let ((overlay (cdr (assoc event org-agent-status--subagent-overlays)))
        (lines (mapconcat #'org-agent-status--subagent-line
                          (org-agent-status--subagents-of event) ""))
        (heading (org-agent-heading-find event)))
    (if (or (string-empty-p lines) (not heading))
        (when overlay
          (delete-overlay overlay)
          (setq org-agent-status--subagent-overlays
                (assoc-delete-all event org-agent-status--subagent-overlays)))
      (org-agent-heading-widely
        (goto-char heading)
        (let ((end (line-end-position)))
          (if overlay
              (move-overlay overlay end end)
            (setq overlay (make-overlay end end))
            (push (cons event overlay) org-agent-status--subagent-overlays))))
      (overlay-put overlay 'after-string lines))))

(defvar org-agent-status-subagent-map
  (org-agent-click-map #'org-agent-subagent-open-at-mouse)
  "Keymap of the line of a subagent.")

(defun org-agent-status--subagent-line (subagent)
  "Return the line that shows the state of SUBAGENT, after a newline."
  (concat "\n" (propertize
                (concat "  ↳ " (org-agent-status--subagent-text subagent))
                'face (if (eq (plist-get subagent :state) :waiting) 'warning 'shadow)
                'mouse-face 'highlight
                'help-echo "mouse-1: show what it does"
                'org-agent-subagent (plist-get subagent :child)
                'keymap org-agent-status-subagent-map)))

(defun org-agent-status--subagent-text (subagent)
  "Return a description of the state of SUBAGENT, a plist from the kernel."
  (let ((state (plist-get subagent :state))
        (round (plist-get subagent :round))
        (tokens (or (plist-get subagent :tokens) 0)))
    (concat (plist-get subagent :label) ": "
            (if (eq state :waiting)
                "waits for your decision, M-x org-agent-approvals"
              (org-agent-status--state state))
            (and (eq state :running) round (> round 0) (format ", round %d" round))
            (and (> tokens 0)
                 (format ", %s tokens" (org-agent-thousands tokens)))
            (when-let* ((notice (plist-get subagent :notice)))
              (concat ", " notice)))))

;;;; The conversation of a subagent

;;;###autoload
(defun org-agent-subagent-open (session)
  "Show the conversation SESSION of a subagent, which is read-only.
The answers appear there as they are written.  Interactively, SESSION is
that of the line at point, or of a running subagent of this conversation."
  (interactive (list (org-agent-status--subagent-choose)))
  (pop-to-buffer (org-agent-chat-open session))
  (org-agent-chat-attach)
  (setq buffer-read-only t))

;;;###autoload
(defun org-agent-status-open-called (event label rank)
  "Show the conversation of a subagent that the question EVENT started.
It is that with the LABEL; when several have it, RANK of them came first."
  (org-agent-chat-check-attached)
  (org-agent-kernel-ask
   "subagent/list" (list :session org-agent-chat-session)
   (lambda (result)
     ;; The list has the latest first.
     (let ((children (cl-loop for one in (reverse (plist-get result :subagents))
                              when (and (equal (plist-get one :event) event)
                                        (equal (plist-get one :label) label))
                              collect (plist-get one :child))))
       (if children
           (org-agent-subagent-open (or (nth rank children) (car (last children))))
         (message "The kernel has no conversation of the subagent %s" label))))))

(defun org-agent-status--subagent-choose ()
  "Return the conversation of the subagent of this line, or read it."
  (or (and (derived-mode-p 'org-agent-subagents-mode)
           (cdr (tabulated-list-get-id)))
      (let ((known (mapcar (lambda (one)
                             (cons (org-agent-status--subagent-text one)
                                   (plist-get one :child)))
                           org-agent-status--subagents)))
        (pcase known
          ('nil (user-error "No subagent of this conversation is running; M-x org-agent-subagents lists the earlier ones"))
          (`((,_ . ,child)) child)
          (_ (cdr (assoc (completing-read "Subagent: " known nil t) known)))))))

(defun org-agent-subagent-open-at-mouse (event)
  "Show the conversation of the subagent that was clicked on in EVENT."
  (interactive (org-agent-clicked "the line of a subagent"))
  (pcase-let ((`(,string . ,at) (posn-string (event-start event))))
    (when-let* ((child (and string (get-text-property at 'org-agent-subagent string))))
      (org-agent-subagent-open child))))

;;;; The list of subagents

(defvar-local org-agent-status--subagents-session nil
  "The conversation whose subagents are listed, or nil for all running ones.")

(defvar org-agent-subagents-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map (kbd "RET") #'org-agent-subagent-open)
    (define-key map (kbd "k") #'org-agent-subagent-stop)
    map)
  "Keymap of the list of subagents.")

(define-derived-mode org-agent-subagents-mode org-agent-list-mode
  "Org-Agent-Subagents"
  "Major mode of the list of subagents.
\\<org-agent-subagents-mode-map>\\[org-agent-subagent-open] shows the conversation of one, \\[org-agent-subagent-stop] stops it.

\\{org-agent-subagents-mode-map}"
  :interactive nil
  (org-agent-list-columns
   (vector '("Subagent" 28 t) '("Of" 16 t) '("Started" 16 t) '("State" 0 t))
   #'org-agent-status--subagents-ask
   "\\<org-agent-subagents-mode-map>\\[org-agent-subagent-open] show  \\[org-agent-subagent-stop] stop"))

;;;###autoload
(defun org-agent-subagents ()
  "List the subagents of this conversation, the latest first.
Outside of a conversation, list all running subagents."
  (interactive)
  (let ((session org-agent-chat-session))
    (org-agent-list-open org-agent-status--subagents-buffer 'org-agent-subagents-mode
                         (lambda ()
                           (setq org-agent-status--subagents-session session)
                           (org-agent-status--subagents-ask)))))

(defun org-agent-status--subagents-ask (&rest _)
  "Request the list, and show it when it arrives."
  (org-agent-kernel-ask "subagent/list"
                        (and org-agent-status--subagents-session
                             (list :session org-agent-status--subagents-session))
                        #'org-agent-status--subagents-show))

(defun org-agent-status--subagents-show (result)
  "List the subagents of RESULT, that of `subagent/list'."
  (org-agent-list-show
   (mapcar (lambda (one)
             ;; The id of a row stays when its state changes, and so does point.
             (list (cons (plist-get one :id) (plist-get one :child))
                   (vector (or (plist-get one :label) "")
                           (or (plist-get one :session) "")
                           (org-agent-list-time (or (plist-get one :started) ""))
                           (string-remove-prefix
                            (concat (plist-get one :label) ": ")
                            (org-agent-status--subagent-text one)))))
           (plist-get result :subagents))
   (if org-agent-status--subagents-session
       "This conversation has no subagent.  Ask the agent there to delegate a part of its work."
     "No subagent is running.  In a conversation, \\[org-agent-subagents] lists all that it had.")))

(defun org-agent-subagent-stop ()
  "Stop the subagent of this line."
  (interactive)
  (let ((one (or (tabulated-list-get-id)
                 (user-error "There is no subagent on this line"))))
    (org-agent-kernel-ask "turn/cancel" (list :event (car one))
                          (lambda (_) (org-agent-status--subagents-ask)))))

(provide 'org-agent-status)
;;; org-agent-status.el ends here
