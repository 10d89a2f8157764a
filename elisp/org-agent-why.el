;;; org-agent-why.el --- Why the agent did what it did  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-why' tells the story of the turn that the text at point came
;; from, as the kernel's journal has it: the event, the skill, what the
;; model was asked and said, the verdicts, the acts and their receipts.
;;
;; Text that the agent inserted or changed has the text property
;; `org-agent-id', the id of the act, in whatever buffer; it goes with the
;; text when that is copied.  After a file was read again the `:ID:' of
;; the nearest heading says the same.
;;
;; Without a kernel the program reads the journal itself.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-inert)
(require 'org-agent-draft)

(declare-function org-agent-log-of-turn "org-agent-log")

;;;; Provenance

(cl-defmethod org-agent-handle-request :around ((_method (eql 'act)) params)
  "Mark the text that the act with PARAMS has put into a buffer as its own."
  (let ((receipt (cl-call-next-method)))
    (org-agent-rpc--guard "marking what an act inserted"
      (org-agent-why--mark receipt (plist-get params :id)))
    receipt))

(defun org-agent-why--mark (receipt id)
  "Give the text that RECEIPT names the property `org-agent-id' ID.
This is no change of the buffer, and what is typed beside it stays the
person's."
  (when-let* ((name (plist-get receipt :buffer))
              (buffer (get-buffer name))
              (beg (plist-get receipt :start))
              (end (plist-get receipt :end)))
    (with-current-buffer buffer
      (setq-local text-property-default-nonsticky
                  (cons '(org-agent-id . t)
                        (assq-delete-all
                         'org-agent-id
                         (copy-sequence text-property-default-nonsticky))))
      (save-restriction
        (widen)
        (when (<= (point-min) beg end (point-max))
          (with-silent-modifications
            (put-text-property beg end 'org-agent-id id)))))))

(defun org-agent-why-id ()
  "Return the id of what the agent did at point, or nil.
It is that of the text at point, else that of the heading, or of the
nearest one above it that has an `:ID:'."
  (or (get-text-property (point) 'org-agent-id)
      (and (> (point) (point-min))
           (get-text-property (1- (point)) 'org-agent-id))
      (plist-get (get-text-property (point) 'org-agent-approval) :turn)
      (org-agent-why--line-id)
      (and (derived-mode-p 'org-mode)
           (not (derived-mode-p 'org-agent-why-mode))
           (org-agent-why--heading-id))))

(defun org-agent-why--line-id ()
  "Return the turn that the line at point is about, nil when it names none."
  (get-text-property (line-beginning-position) 'org-agent-turn))

(defun org-agent-why--heading-id ()
  "Return the `:ID:' of the entry at point or of the nearest one around it."
  (save-excursion
    (save-restriction
      (widen)
      (let (id (going (ignore-errors (org-back-to-heading t) t)))
        (while (and going (not id))
          (setq id (org-agent-heading-property (point) "ID")
                going (and (not id) (org-up-heading-safe))))
        (and id (not (string-empty-p id)) id)))))

;;;; The story

(defvar-local org-agent-why--told nil
  "What this buffer tells of, as the kernel answered: a plist.")
(put 'org-agent-why--told 'permanent-local t)

(defvar org-agent-why-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map "q" #'quit-window)
    (define-key map "g" #'org-agent-why-again)
    (define-key map "n" #'org-next-visible-heading)
    (define-key map "p" #'org-previous-visible-heading)
    (define-key map "l" #'org-agent-why-log)
    (define-key map "v" #'org-agent-why-visit)
    (define-key map (kbd "RET") #'org-open-at-point)
    (define-key map " " #'scroll-up-command)
    map)
  "Keys in the story of a turn.")

(define-derived-mode org-agent-why-mode org-mode "Org-Agent-Why"
  "Major mode of the story of a turn.
\\<org-agent-why-mode-map>TAB opens and closes what happened, \\[org-open-at-point] follows a link, \\[org-agent-why-visit] goes to
the conversation, \\[org-agent-why-log] shows the turn's lines in the log,
\\[org-agent-why-again] tells it again."
  (setq-local org-confirm-babel-evaluate t
              enable-local-variables nil
              ;; The end of a folded block's last line is seen: it has no colour.
              org-fontify-whole-block-delimiter-line nil
              header-line-format '(:eval (org-agent-why--header)))
  (setq buffer-read-only t
        buffer-undo-list t
        truncate-lines nil
        word-wrap t)
  (org-agent-fontify-listed-languages))

(defun org-agent-why--header ()
  "Return the header line of a story."
  (substitute-command-keys
   (format " Turn %s in %s  \\<org-agent-why-mode-map>\\[org-agent-why-visit] conversation  \\[org-agent-why-log] log  \\[org-agent-why-again] again  \\[quit-window] quit"
           (replace-regexp-in-string
            "%" "%%" (substring (or (plist-get org-agent-why--told :turn) "?")
                                0 (min 8 (length (or (plist-get org-agent-why--told :turn) "?")))))
           (replace-regexp-in-string
            "%" "%%" (or (plist-get org-agent-why--told :session) "?")))))

(defun org-agent-why (id)
  "Tell why the agent wrote or did what is at point.
ID is the id of a question, an answer, an action, an approval or a turn,
or its beginning.  With a prefix argument ask for it."
  (interactive
   (list (let ((here (org-agent-why-id)))
           (if (or current-prefix-arg (not here))
               (read-string (format-prompt "Why (id)" here) nil nil here)
             here))))
  (when (string-empty-p (string-trim (or id "")))
    (user-error "Nothing here is the agent's; give the id of a question, an answer or a turn"))
  (let ((origin (selected-window)))
    (if (org-agent-kernel-ready-p)
        (org-agent-kernel-request
         "trace/get" (list :id id)
         :success (lambda (told) (org-agent-why--show told origin))
         :failure (lambda (refusal)
                    (message "org-agent: %s" (plist-get refusal :message))))
      (org-agent-why--run id origin))))

(defun org-agent-why--run (id origin)
  "Have the program tell the story of ID, without a kernel.
ORIGIN is the window in which it was asked for."
  (org-agent-kernel-run-program
   (list "why" "--" id)
   (lambda (status output complaint)
     (if (eql status 0)
         (org-agent-why--show (list :id id :turn id :outline output) origin)
       (message "org-agent: %s"
                (string-remove-prefix "org-agent: " complaint))))))

(defun org-agent-why--show (told origin)
  "Show the story that TOLD, a plist, has; select it from the window ORIGIN."
  (let ((buffer (get-buffer-create "*org-agent-why*"))
        (outline (org-agent-inert (or (plist-get told :outline) ""))))
    (with-current-buffer buffer
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert outline))
      (org-agent-why-mode)
      (setq org-agent-why--told told)
      (goto-char (point-min))
      (org-overview)
      (org-show-entry))
    (let ((window (display-buffer buffer)))
      (set-window-point window (point-min))
      (when (and (eq (selected-window) origin) (window-live-p window)
                 (not (active-minibuffer-window)))
        (select-window window)))))

(defun org-agent-why-again ()
  "Tell the story in this buffer again, as far as it has come by now."
  (interactive)
  (org-agent-why (or (plist-get org-agent-why--told :id)
                     (user-error "There is no story here"))))

(defun org-agent-why-log ()
  "Show what the log has of this turn."
  (interactive)
  (require 'org-agent-log)
  (org-agent-log-of-turn (or (plist-get org-agent-why--told :turn)
                             (user-error "There is no story here"))))

(declare-function org-agent-chat-open "org-agent-chat")

(defun org-agent-why-visit ()
  "Go to the question in its conversation."
  (interactive)
  (let ((session (plist-get org-agent-why--told :session))
        (event (plist-get org-agent-why--told :event)))
    (unless session
      (user-error "Without a kernel it is not known which conversation this was"))
    (require 'org-agent-chat)
    (pop-to-buffer (org-agent-chat-open session))
    (let ((heading (and event (org-agent-find-heading event))))
      (if (not heading)
          (message "The question is not in the conversation any more")
        (goto-char heading)
        (org-show-context)))))

(provide 'org-agent-why)
;;; org-agent-why.el ends here
