;;; org-agent-subagent.el --- The parts of the work that a turn hands on  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A turn can hand on parts of its work to subagents.  Each has a
;; conversation of its own, in which it answers its task.  While one is at
;; work, a line below the question says how it is doing: an overlay, as the
;; text is the person's file, in which nothing stands that is over soon.
;; What came of it is in the answer's folded drawer CALLS, or in a turn of
;; its own.
;;
;; `org-agent-subagents' lists them; `org-agent-subagent-open' shows the
;; conversation of one, to be read only.

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
  "The subagents of this conversation that the kernel reported, oldest first.
Those of a question are forgotten when the last one has ended.")
(put 'org-agent-subagent--known 'permanent-local t)

(defvar-local org-agent-subagent--overlays nil
  "The overlays with the lines: an alist by the question's ID.")
(put 'org-agent-subagent--overlays 'permanent-local t)

(defun org-agent-subagent--ended-p (subagent)
  "Return non-nil when nothing more comes of SUBAGENT."
  (not (memq (plist-get subagent :state) '(:queued :running :waiting))))

;;;; In the conversation

;;;###autoload
(defun org-agent-subagent-changed (params)
  "Show how the subagent of PARAMS is doing, below the question it is for."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-subagent--note params))
  (org-agent-list-refresh org-agent-subagent--buffer))

(defun org-agent-subagent--note (subagent)
  "Note how SUBAGENT of this conversation is doing, and show it."
  (let* ((id (plist-get subagent :id))
         (event (plist-get subagent :event))
         (known (cl-find id org-agent-subagent--known
                         :key (lambda (one) (plist-get one :id)) :test #'equal)))
    (cond (known (setq org-agent-subagent--known
                       (cl-substitute subagent known org-agent-subagent--known)))
          ;; One that was stopped before it began is told of once only.
          ((not (org-agent-subagent--ended-p subagent))
           (setq org-agent-subagent--known
                 (append org-agent-subagent--known (list subagent)))))
    (when (cl-every #'org-agent-subagent--ended-p (org-agent-subagent--of event))
      (setq org-agent-subagent--known
            (cl-set-difference org-agent-subagent--known
                               (org-agent-subagent--of event))))
    (org-agent-subagent--draw event)))

(defun org-agent-subagent--of (event)
  "Return the subagents of the question EVENT that are known."
  (cl-remove-if-not (lambda (one) (equal (plist-get one :event) event))
                    org-agent-subagent--known))

(defun org-agent-subagent--draw (event)
  "Show the lines of the subagents of the question EVENT, or that there are none."
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
  "What a click on the line of a subagent does.")

(defun org-agent-subagent--line (subagent)
  "Return the line that tells how SUBAGENT is doing."
  (propertize (concat "  ↳ " (org-agent-subagent-text subagent) "\n")
              'face (if (eq (plist-get subagent :state) :waiting) 'warning 'shadow)
              'mouse-face 'highlight
              'help-echo "mouse-1: show what it does"
              'org-agent-subagent (plist-get subagent :child)
              'keymap org-agent-subagent-line-map))

(defun org-agent-subagent-text (subagent)
  "Return in words how SUBAGENT, a plist of the kernel's, is doing."
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
  "Return STATE, a keyword of the wire, as a word."
  (if (keywordp state) (substring (symbol-name state) 1) (format "%s" (or state ""))))

;;;; One of them

;;;###autoload
(defun org-agent-subagent-open (session)
  "Show the conversation SESSION of a subagent, to be read only.
What it writes comes in as it is written.  In a conversation that is one
of its subagents at work; when there are several, ask which."
  (interactive (list (org-agent-subagent--choose)))
  (let ((buffer (org-agent-chat-open session)))
    (with-current-buffer buffer
      (org-agent-chat-attach)
      (setq buffer-read-only t))
    (pop-to-buffer buffer)))

(defun org-agent-subagent--choose ()
  "Return the conversation of the subagent that is meant here."
  (or (and (derived-mode-p 'org-agent-subagents-mode)
           (cdr (tabulated-list-get-id)))
      (let ((known (mapcar (lambda (one)
                             (cons (org-agent-subagent-text one)
                                   (plist-get one :child)))
                           org-agent-subagent--known)))
        (pcase known
          ('nil (user-error "No subagent is at work for this conversation; M-x org-agent-subagents lists those that were"))
          (`((,_ . ,child)) child)
          (_ (cdr (assoc (completing-read "Subagent: " known nil t) known)))))))

(defun org-agent-subagent-open-at-mouse (event)
  "Show the conversation of the subagent on whose line EVENT, a click, was."
  (interactive (list (if (mouse-event-p last-input-event)
                         last-input-event
                       (user-error "Click on the line of a subagent"))))
  (pcase-let ((`(,string . ,at) (posn-string (event-start event))))
    (when-let* ((child (and string (get-text-property at 'org-agent-subagent string))))
      (org-agent-subagent-open child))))

;;;; All of them

(defvar-local org-agent-subagent--session nil
  "The conversation whose subagents are listed; nil for all that are at work.")

(defvar org-agent-subagents-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map (kbd "RET") #'org-agent-subagent-open)
    (define-key map (kbd "k") #'org-agent-subagent-stop)
    map)
  "Keys in the list of subagents.")

(define-derived-mode org-agent-subagents-mode org-agent-list-mode
  "Org-Agent-Subagents"
  "Major mode of the list of subagents.
\\<org-agent-subagents-mode-map>\\[org-agent-subagent-open] shows what one does, \\[org-agent-subagent-stop] stops it.

\\{org-agent-subagents-mode-map}"
  (org-agent-list-columns
   (vector '("Subagent" 28 t) '("Of" 16 t) '("Begun" 16 t) '("How it is" 0 t))
   #'org-agent-subagent--ask
   "\\<org-agent-subagents-mode-map>\\[org-agent-subagent-open] show  \\[org-agent-subagent-stop] stop"))

;;;###autoload
(defun org-agent-subagents ()
  "List the subagents of this conversation, the latest first.
Outside of a conversation those of all that are at work."
  (interactive)
  (let ((session org-agent-chat-session))
    (org-agent-list-open org-agent-subagent--buffer 'org-agent-subagents-mode
                         (lambda ()
                           (setq org-agent-subagent--session session)
                           (org-agent-subagent--ask)))))

(defun org-agent-subagent--ask (&rest _)
  "Ask the kernel for the list, and show it."
  (org-agent-kernel-ask "subagent/list"
                        (and org-agent-subagent--session
                             (list :session org-agent-subagent--session))
                        #'org-agent-subagent--show))

(defun org-agent-subagent--show (result)
  "List what RESULT, of `subagent/list', has, in the current buffer."
  (org-agent-list-show
   (mapcar (lambda (one)
             ;; What a line is stays while what it tells changes, and point with it.
             (list (cons (plist-get one :id) (plist-get one :child))
                   (vector (or (plist-get one :label) "")
                           (or (plist-get one :session) "")
                           (org-agent-list-time (or (plist-get one :started) ""))
                           (string-remove-prefix
                            (concat (plist-get one :label) ": ")
                            (org-agent-subagent-text one)))))
           (plist-get result :subagents)))
  (unless tabulated-list-entries
    (message "No work was handed on here")))

(defun org-agent-subagent-stop ()
  "Stop the subagent of this line."
  (interactive)
  (let ((one (or (tabulated-list-get-id)
                 (user-error "There is no subagent on this line"))))
    (org-agent-kernel-ask "turn/cancel" (list :event (car one))
                          (lambda (_) (org-agent-subagent--ask)))))

(provide 'org-agent-subagent)
;;; org-agent-subagent.el ends here
