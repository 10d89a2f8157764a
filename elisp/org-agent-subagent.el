;;; org-agent-subagent.el --- The subagents of a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A turn can delegate parts of its work to subagents.  Each subagent
;; answers its task in a conversation of its own.  While it runs, a line
;; below the question shows its state.  The line is an overlay, since the
;; text of the buffer is the person's file, which gets no temporary text.
;; The result is in the drawer CALLS of the answer, or in a turn of its own.
;;
;; `org-agent-subagents' lists the subagents.  `org-agent-subagent-open'
;; shows the conversation of one, which is read-only.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-chat)
(require 'org-agent-list)

(declare-function org-agent-header-progress-thousands "org-agent-header")

(defconst org-agent-subagent--buffer "*org-agent-subagents*"
  "The name of the buffer of the list.")

(defvar-local org-agent-subagent--known nil
  "The subagents of this conversation, oldest first.
Those of a question are removed when the last of them has ended.")
(put 'org-agent-subagent--known 'permanent-local t)

(defvar-local org-agent-subagent--overlays nil
  "An alist of IDs of questions and the overlays with the lines below them.")
(put 'org-agent-subagent--overlays 'permanent-local t)

(defun org-agent-subagent--ended-p (subagent)
  "Return non-nil if SUBAGENT has ended."
  (not (memq (plist-get subagent :state) '(:queued :running :waiting))))

;;;; In the conversation

;;;###autoload
(defun org-agent-subagent-changed (params)
  "Show the state of the subagent in PARAMS below its question."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-subagent--note params))
  (org-agent-list-refresh org-agent-subagent--buffer))

(defun org-agent-subagent--note (subagent)
  "Note the state of SUBAGENT of this conversation, and show it."
  (let* ((id (plist-get subagent :id))
         (event (plist-get subagent :event))
         (known (cl-find id org-agent-subagent--known
                         :key (lambda (one) (plist-get one :id)) :test #'equal)))
    (cond (known (setq org-agent-subagent--known
                       (cl-substitute subagent known org-agent-subagent--known)))
          ;; A subagent that was stopped before it began is reported once.
          ((not (org-agent-subagent--ended-p subagent))
           (setq org-agent-subagent--known
                 (append org-agent-subagent--known (list subagent)))))
    (when (cl-every #'org-agent-subagent--ended-p (org-agent-subagent--of event))
      (setq org-agent-subagent--known
            (cl-set-difference org-agent-subagent--known
                               (org-agent-subagent--of event))))
    (org-agent-subagent--draw event)))

(defun org-agent-subagent--of (event)
  "Return the known subagents of the question EVENT."
  (cl-remove-if-not (lambda (one) (equal (plist-get one :event) event))
                    org-agent-subagent--known))

(defun org-agent-subagent--draw (event)
  "Update the lines of the subagents of the question EVENT."
  (let ((overlay (cdr (assoc event org-agent-subagent--overlays)))
        (lines (mapconcat #'org-agent-subagent--line
                          (org-agent-subagent--of event) ""))
        (heading (org-agent-heading-find event)))
    (if (or (string-empty-p lines) (not heading))
        (when overlay
          (delete-overlay overlay)
          (setq org-agent-subagent--overlays
                (assoc-delete-all event org-agent-subagent--overlays)))
      (org-agent-heading-widely
        (goto-char heading)
        (let ((end (line-end-position)))
          (if overlay
              (move-overlay overlay end end)
            (setq overlay (make-overlay end end))
            (push (cons event overlay) org-agent-subagent--overlays))))
      (overlay-put overlay 'after-string (concat "\n" (string-remove-suffix "\n" lines))))))

(defvar org-agent-subagent-line-map
  (let ((map (make-sparse-keymap)))
    (define-key map [mouse-1] #'org-agent-subagent-open-at-mouse)
    (define-key map [mouse-2] #'org-agent-subagent-open-at-mouse)
    map)
  "Keymap of the line of a subagent.")

(defun org-agent-subagent--line (subagent)
  "Return the line that shows the state of SUBAGENT."
  (propertize (concat "  ↳ " (org-agent-subagent-text subagent) "\n")
              'face (if (eq (plist-get subagent :state) :waiting) 'warning 'shadow)
              'mouse-face 'highlight
              'help-echo "mouse-1: show what it does"
              'org-agent-subagent (plist-get subagent :child)
              'keymap org-agent-subagent-line-map))

(defun org-agent-subagent-text (subagent)
  "Return a description of the state of SUBAGENT, a plist from the kernel."
  (let ((state (plist-get subagent :state))
        (round (plist-get subagent :round))
        (tokens (or (plist-get subagent :tokens) 0)))
    (concat (plist-get subagent :label) ": "
            (pcase state
              (:waiting "waits for your decision, M-x org-agent-approvals")
              (_ (org-agent-subagent--state state)))
            (and (eq state :running) round (> round 0) (format ", round %d" round))
            (and (> tokens 0)
                 (format ", %s tokens" (org-agent-header-progress-thousands tokens)))
            (when-let* ((notice (plist-get subagent :notice)))
              (concat ", " notice)))))

(defun org-agent-subagent--state (state)
  "Return STATE, a keyword from the kernel, as a word."
  (if (keywordp state) (substring (symbol-name state) 1) (format "%s" (or state ""))))

;;;; The conversation of a subagent

;;;###autoload
(defun org-agent-subagent-open (session)
  "Show the conversation SESSION of a subagent, which is read-only.
The answers appear there as they are written.  Interactively, SESSION is
that of the line at point, or of a running subagent of this conversation."
  (interactive (list (org-agent-subagent--choose)))
  (let ((buffer (org-agent-chat-open session)))
    (with-current-buffer buffer
      (org-agent-chat-attach)
      (setq buffer-read-only t))
    (pop-to-buffer buffer)))

(defun org-agent-subagent--choose ()
  "Return the conversation of the subagent of this line, or read it."
  (or (and (derived-mode-p 'org-agent-subagents-mode)
           (cdr (tabulated-list-get-id)))
      (let ((known (mapcar (lambda (one)
                             (cons (org-agent-subagent-text one)
                                   (plist-get one :child)))
                           org-agent-subagent--known)))
        (pcase known
          ('nil (user-error "No subagent of this conversation is running; M-x org-agent-subagents lists the earlier ones"))
          (`((,_ . ,child)) child)
          (_ (cdr (assoc (completing-read "Subagent: " known nil t) known)))))))

(defun org-agent-subagent-open-at-mouse (event)
  "Show the conversation of the subagent that was clicked on in EVENT."
  (interactive (list (if (mouse-event-p last-input-event)
                         last-input-event
                       (user-error "Click on the line of a subagent"))))
  (pcase-let ((`(,string . ,at) (posn-string (event-start event))))
    (when-let* ((child (and string (get-text-property at 'org-agent-subagent string))))
      (org-agent-subagent-open child))))

;;;; The list

(defvar-local org-agent-subagent--session nil
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
  (org-agent-list-columns
   (vector '("Subagent" 28 t) '("Of" 16 t) '("Started" 16 t) '("State" 0 t))
   #'org-agent-subagent--ask
   "\\<org-agent-subagents-mode-map>\\[org-agent-subagent-open] show  \\[org-agent-subagent-stop] stop"))

;;;###autoload
(defun org-agent-subagents ()
  "List the subagents of this conversation, the latest first.
Outside of a conversation, list all running subagents."
  (interactive)
  (let ((session org-agent-chat-session))
    (org-agent-list-open org-agent-subagent--buffer 'org-agent-subagents-mode
                         (lambda ()
                           (setq org-agent-subagent--session session)
                           (org-agent-subagent--ask)))))

(defun org-agent-subagent--ask (&rest _)
  "Request the list, and show it when it arrives."
  (org-agent-kernel-ask "subagent/list"
                        (and org-agent-subagent--session
                             (list :session org-agent-subagent--session))
                        #'org-agent-subagent--show))

(defun org-agent-subagent--show (result)
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
                            (org-agent-subagent-text one)))))
           (plist-get result :subagents)))
  (unless tabulated-list-entries
    (message "There are no subagents")))

(defun org-agent-subagent-stop ()
  "Stop the subagent of this line."
  (interactive)
  (let ((one (or (tabulated-list-get-id)
                 (user-error "There is no subagent on this line"))))
    (org-agent-kernel-ask "turn/cancel" (list :event (car one))
                          (lambda (_) (org-agent-subagent--ask)))))

(provide 'org-agent-subagent)
;;; org-agent-subagent.el ends here
