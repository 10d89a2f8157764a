;;; org-agent-mode-line.el --- The agent's state in the mode line  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-mode-line-mode' shows in every mode line what the agent does
;; in the conversations that are open here, and what waits for the
;; person; a click goes there.  It is told of changes and polls nothing.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-approval)
(require 'org-agent-question)

(defface org-agent-mode-line-running '((t :inherit mode-line-emphasis))
  "Face of the mode line's count of conversations that are answered."
  :group 'org-agent)

(defface org-agent-mode-line-waiting '((t :inherit warning))
  "Face of the mode line's count of what waits for a person."
  :group 'org-agent)

(defvar org-agent-mode-line-mode)

(defvar org-agent-mode-line--string ""
  "What the mode lines show.")
(put 'org-agent-mode-line--string 'risky-local-variable t)

(defvar org-agent-mode-line--shown nil
  "The counts that are shown: (RUNNING . WAITING).")

(defconst org-agent-mode-line--construct
  '(org-agent-mode-line-mode org-agent-mode-line--string)
  "What `global-mode-string' has while the mode is on.")

(defun org-agent-mode-line--part (text face command help)
  "Return TEXT in FACE as a button that runs COMMAND; HELP says so."
  (let ((map (make-sparse-keymap)))
    (define-key map [mode-line mouse-1] command)
    (propertize text 'face face 'mouse-face 'mode-line-highlight
                'local-map map 'help-echo (concat "mouse-1: " help))))

(defun org-agent-mode-line--counts ()
  "Return how many conversations are answered and how much waits."
  (cons (cl-count-if
         (lambda (buffer)
           (memq (plist-get (buffer-local-value 'org-agent-chat-status buffer)
                            :phase)
                 '(thinking streaming)))
         (org-agent-chat-buffers))
        (+ (length org-agent-approval--waiting)
           (length org-agent-question--waiting))))

(defun org-agent-mode-line-update (&rest _)
  "Show what is going on now, if that has changed."
  (when org-agent-mode-line-mode
    (let ((counts (org-agent-mode-line--counts)))
      (unless (equal counts org-agent-mode-line--shown)
        (setq org-agent-mode-line--shown counts
              org-agent-mode-line--string (org-agent-mode-line--text counts))
        (force-mode-line-update t)))))

(defun org-agent-mode-line--text (counts)
  "Return the text for COUNTS, (RUNNING . WAITING)."
  (pcase-let ((`(,running . ,waiting) counts))
    (concat
     (when (> running 0)
       (org-agent-mode-line--part (format " Agent:%d" running)
                                  'org-agent-mode-line-running
                                  #'org-agent-mode-line-show
                                  "show what is being answered"))
     (when (> waiting 0)
       (org-agent-mode-line--part (format " Agent waits:%d" waiting)
                                  'org-agent-mode-line-waiting
                                  #'org-agent-approvals
                                  "show what waits for you")))))

(defun org-agent-mode-line-show ()
  "Show a conversation that is being answered, or the latest one."
  (interactive)
  (pop-to-buffer
   (or (cl-find-if (lambda (buffer)
                     (plist-get (buffer-local-value 'org-agent-chat-status
                                                    buffer)
                                :phase))
                   (org-agent-chat-buffers))
       (car (org-agent-chat-buffers))
       (user-error "No conversation is open"))))

(define-minor-mode org-agent-mode-line-mode
  "Show in the mode lines what the agent does and what waits for you.
\"Agent:2\" says that two conversations are being answered, \"Agent
waits:1\" that one decision or answer waits; a click goes there."
  :global t
  :group 'org-agent
  (setq org-agent-mode-line--shown nil
        org-agent-mode-line--string "")
  (setq global-mode-string
        (remove org-agent-mode-line--construct
                (if (listp global-mode-string)
                    global-mode-string
                  (list global-mode-string))))
  (when org-agent-mode-line-mode
    (setq global-mode-string
          (append (or global-mode-string '(""))
                  (list org-agent-mode-line--construct)))
    (org-agent-mode-line-update))
  (force-mode-line-update t))

;; Whatever changes the state of a conversation is one of these.
(add-hook 'org-agent-chat-status-hook #'org-agent-mode-line-update)
(add-hook 'org-agent-kernel-lost-hook #'org-agent-mode-line-update 90)

(cl-defmethod org-agent-handle-notification :extra "mode-line" :after
  ((_method (eql 'approval/asked)) _params)
  "Count what waits."
  (org-agent-mode-line-update))

(cl-defmethod org-agent-handle-notification :extra "mode-line" :after
  ((_method (eql 'approval/closed)) _params)
  "Count what waits."
  (org-agent-mode-line-update))

(cl-defmethod org-agent-handle-notification :extra "mode-line" :after
  ((_method (eql 'question/asked)) _params)
  "Count what waits."
  (org-agent-mode-line-update))

(cl-defmethod org-agent-handle-notification :extra "mode-line" :after
  ((_method (eql 'question/closed)) _params)
  "Count what waits."
  (org-agent-mode-line-update))

(provide 'org-agent-mode-line)
;;; org-agent-mode-line.el ends here
