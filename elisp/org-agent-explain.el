;;; org-agent-explain.el --- The prompt of a model, the story of a turn, and usage  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-why' shows the story of the turn that the text at point came
;; from, as the kernel's journal has it: the event, the skill, the prompts
;; and replies of the model, the verdicts, the acts and their receipts.
;;
;; Text that the agent inserted or changed has the text property
;; `org-agent-id', the id of the act, in any buffer; a copy of the text
;; keeps it.  A file that is read again has no text properties; then the
;; `:ID:' of the nearest heading names the act.
;;
;; Without a kernel the program reads the journal itself.
;;
;; `org-agent-prompt' shows the request that would be sent for the draft:
;; every byte, with sizes.  The kernel composes it in the same way as a real
;; request.  It sends nothing and stores nothing.
;;
;; `org-agent-usage' shows what the work took: a table of tokens and cost by
;; turn, conversation, model or day, and of the results of tools.  If a
;; price is not known, the cost is shown as unknown.
;;
;; The texts are in example blocks, where a line that Org would take for
;; its own has a comma before it, as everywhere in Org.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-table)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-draft)
(require 'org-agent-heading)
(require 'org-agent-inert)
(require 'org-agent-layout)
(require 'org-agent-list)
(require 'org-agent-section)
(require 'org-agent-chat)

(declare-function org-agent-command-message "org-agent-command")
(declare-function org-agent-context-draft "org-agent-context")
(declare-function org-agent-context-read-gather "org-agent-context-read")
(declare-function org-agent-context-size "org-agent-context")
(declare-function org-agent-goto-open "org-agent-goto")
(declare-function org-agent-log "org-agent-log")
(declare-function org-agent-log-of-turn "org-agent-log")
(declare-function org-agent-send-event "org-agent-send")
(declare-function org-agent-send-with-context "org-agent-send")
(declare-function org-agent-send-without "org-agent-send")


;;;; Provenance

(defun org-agent-explain-id ()
  "Return the id of what the agent did at point, or nil.
It is the id of the text at point.  Else it is the turn that asks for the
approval or the answer at point, or that the line is about.  Else it is
the `:ID:' of the heading, or of the nearest heading around it.  In the
draft it is that of the last question."
  (or (get-text-property (point) 'org-agent-id)
      (and (> (point) (point-min))
           (get-text-property (1- (point)) 'org-agent-id))
      (plist-get (or (org-agent-section-data-at-point 'approval)
                     (org-agent-section-data-at-point 'question))
                 :turn)
      (org-agent-explain--line-id)
      (and (derived-mode-p 'org-mode)
           (not (derived-mode-p 'org-agent-why-mode))
           (or (org-agent-explain--heading-id)
               (org-agent-explain--last-id)))))

(defun org-agent-explain--line-id ()
  "Return the turn that the line at point is about, nil when it names none."
  (get-text-property (line-beginning-position) 'org-agent-turn))

(defun org-agent-explain--last-id ()
  "Return the id of the last question if point is in the draft behind it, or nil."
  (when-let* (((derived-mode-p 'org-agent-chat-mode))
              (turn (org-agent-draft-turn-meant 'user)))
    (org-agent-heading-property turn "ID")))

(defun org-agent-explain--heading-id ()
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

(defvar-local org-agent-explain-story nil
  "The story in this buffer, a plist from the kernel.")
(put 'org-agent-explain-story 'permanent-local t)

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
  "Keymap of the story of a turn.")

(define-derived-mode org-agent-why-mode org-mode "Org-Agent-Why"
  "Major mode of the story of a turn.
\\<org-agent-why-mode-map>TAB opens and closes what happened, \\[org-open-at-point] follows a link, \\[org-agent-why-visit] goes to
the conversation, \\[org-agent-why-log] shows the turn's lines in the log,
\\[org-agent-why-again] updates it."
  :interactive nil
  (setq-local org-confirm-babel-evaluate t
              enable-local-variables nil
              ;; The end of a folded block's last line is seen: it has no colour.
              org-fontify-whole-block-delimiter-line nil
              org-hide-emphasis-markers t
              font-lock-extra-managed-props
              (append '(display line-prefix wrap-prefix)
                      font-lock-extra-managed-props)
              header-line-format '(:eval (org-agent-explain--header)))
  (add-to-invisibility-spec 'org-agent-page)
  (font-lock-add-keywords nil '((org-agent-explain--fontify)) t)
  (org-agent-layout-setup)
  (setq buffer-read-only t
        buffer-undo-list t
        truncate-lines nil
        word-wrap t)
  (org-agent-fontify-listed-languages))

(defun org-agent-explain--fontify (limit)
  "Show the text from point to LIMIT as a page; a font-lock matcher.
What it has of Org's marks is there and not seen, as in a conversation."
  (let ((from (point)))
    (org-agent-layout-lists from limit)
    (org-agent-layout-blocks from limit)
    (org-agent-layout-tables from limit)
    (goto-char from)
    (while (re-search-forward "^\\*+ " limit t)
      (put-text-property
       (match-beginning 0) (line-end-position) 'line-prefix
       (make-string (* 2 (- (match-end 0) (match-beginning 0) 2)) ?\s))
      (org-agent-layout-hide (match-beginning 0) (match-end 0)))
    ;; The end of a folded block's last line is seen: it has no colour.
    (goto-char (max (point-min) (1- from)))
    (while (re-search-forward "\n\\*" (min (point-max) (1+ limit)) t)
      (put-text-property (match-beginning 0) (1+ (match-beginning 0)) 'face nil)))
  nil)

(defun org-agent-explain--header ()
  "Return the header line of a story."
  (substitute-command-keys
   (format " Turn %s in %s  \\<org-agent-why-mode-map>\\[org-agent-why-visit] conversation  \\[org-agent-why-log] log  \\[org-agent-why-again] again  \\[quit-window] quit"
           (replace-regexp-in-string
            "%" "%%" (substring (or (plist-get org-agent-explain-story :turn) "?")
                                0 (min 8 (length (or (plist-get org-agent-explain-story :turn) "?")))))
           (replace-regexp-in-string
            "%" "%%" (or (plist-get org-agent-explain-story :session) "?")))))

;;;###autoload
(defun org-agent-why (id)
  "Show the story of the turn that wrote or did what is at point.
ID is the id of a question, an answer, an action, an approval or a turn,
or its beginning.  With a prefix argument ask for it."
  (interactive
   (list (let ((here (org-agent-explain-id)))
           (if (or current-prefix-arg (not here))
               (read-string (format-prompt "Why (id)" here) nil nil here)
             here))))
  (when (string-empty-p (string-trim (or id "")))
    (user-error "Nothing here is the agent's; give the id of a question, an answer or a turn"))
  (let ((origin (selected-window)))
    (if (org-agent-kernel-ready-p)
        (org-agent-kernel-request
         "trace/get" (list :id id)
         :success (lambda (story) (org-agent-explain--show story origin))
         :failure (lambda (refusal)
                    (message "org-agent: %s" (plist-get refusal :message))))
      (org-agent-explain--run id origin))))

(defun org-agent-explain--run (id origin)
  "Show the story of ID by calling the program, without a kernel.
ORIGIN is the window from which the command was called."
  (org-agent-kernel-run-program
   (list "why" "--" id)
   (lambda (status output complaint)
     (if (eql status 0)
         (org-agent-explain--show (list :id id :turn id :outline output) origin)
       (message "org-agent: %s"
                (string-remove-prefix "org-agent: " complaint))))))

(defun org-agent-explain--show (story origin)
  "Show STORY, a plist, and select its window if ORIGIN is selected.
If the buffer already shows that turn, folds and point stay."
  (let ((buffer (get-buffer-create "*org-agent-why*"))
        (anew nil)
        (outline (org-agent-inert (or (plist-get story :outline) ""))))
    (with-current-buffer buffer
      (setq anew (not (equal (plist-get story :turn)
                             (plist-get org-agent-explain-story :turn))))
      (org-agent-section-replace-text outline)
      (when anew
        (org-agent-why-mode))
      (setq org-agent-explain-story story)
      (when anew
        (goto-char (point-min))
        (org-overview)
        (org-agent-heading-call-org 'org-fold-show-entry 'org-show-entry)))
    (let ((window (display-buffer buffer)))
      (when anew
        (set-window-point window (point-min)))
      (when (and (eq (selected-window) origin) (window-live-p window)
                 (not (active-minibuffer-window)))
        (select-window window)))))

(defun org-agent-why-again ()
  "Show the story in this buffer again, with what happened since."
  (interactive)
  (org-agent-why (or (plist-get org-agent-explain-story :id)
                     (user-error "There is no story here"))))

(defun org-agent-why-log ()
  "Show the log of this turn."
  (interactive)
  (require 'org-agent-log)
  (org-agent-log-of-turn (or (plist-get org-agent-explain-story :turn)
                             (user-error "There is no story here"))))

(defun org-agent-why-visit ()
  "Go to the question in its conversation."
  (interactive)
  (let ((session (plist-get org-agent-explain-story :session))
        (event (plist-get org-agent-explain-story :event)))
    (unless session
      (user-error "Without a kernel it is not known which conversation this was"))
    (require 'org-agent-chat)
    (pop-to-buffer (org-agent-chat-open session))
    (let ((heading (and event (org-agent-heading-find event))))
      (if (not heading)
          (message "The question is not in the conversation any more")
        (goto-char heading)
        (org-agent-heading-call-org 'org-fold-show-context 'org-show-context)))))

;;;; The prompt of the draft

(defvar-local org-agent-explain--prompt-session nil
  "The conversation whose prompt this buffer shows.")
(put 'org-agent-explain--prompt-session 'permanent-local t)

(defvar org-agent-prompt-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "g") #'org-agent-prompt-again)
    (define-key map (kbd "q") #'quit-window)
    map)
  "Keymap of a prompt; its parent is `org-mode-map'.")

(define-derived-mode org-agent-prompt-mode org-mode "Org-Agent-Prompt"
  "Major mode that shows a prompt.
\\[org-agent-prompt-again] looks again."
  :interactive nil
  (setq-local enable-local-variables nil
              enable-local-eval nil
              org-confirm-babel-evaluate t
              truncate-lines nil
              word-wrap t
              buffer-read-only t)
  (org-agent-fontify-listed-languages))

;;;###autoload
(defun org-agent-prompt ()
  "Show exactly what would be sent to the model for the draft.
Outside a conversation it is that of the conversation used last.
Nothing is sent."
  (interactive)
  (let ((buffer (if org-agent-chat-session (current-buffer)
                  (cl-find-if (lambda (buffer)
                                (buffer-local-value 'org-agent-chat-session buffer))
                              (buffer-list)))))
    (unless buffer
      (user-error "There is no conversation; M-x org-agent-chat opens one"))
    (org-agent-explain--prompt-ask buffer)))

(defun org-agent-prompt-again ()
  "Show the prompt of the draft again."
  (interactive)
  (org-agent-explain--prompt-ask
   (or (org-agent-chat-buffer org-agent-explain--prompt-session)
       (user-error "The conversation is gone"))))

(defun org-agent-explain--prompt-ask (buffer)
  "Ask the kernel for the prompt of the conversation in BUFFER."
  (unless (org-agent-kernel-ready-p)
    (org-agent-kernel-ensure)
    (user-error "The kernel is being started; ask again when it runs"))
  (with-current-buffer buffer
    (let ((session org-agent-chat-session))
      (org-agent-kernel-request
       "prompt/get" (let ((org-agent-draft-chosen
                           (org-agent-draft-branch-at (point))))
                      (org-agent-explain--prompt-parameters))
       :success (lambda (result) (org-agent-explain--prompt-show session result))
       :failure (lambda (refusal)
                  (org-agent-chat-complain "The prompt cannot be shown"
                                           refusal))))))

(defun org-agent-explain--prompt-parameters ()
  "Return the event that sending this conversation's draft would make."
  (pcase-let* ((`(,words . ,references) (org-agent-context-draft))
               (start (org-agent-draft-start))
               (level (if start (org-agent-heading-level start) 1)))
    (org-agent-send-without
     (org-agent-send-event
      (org-agent-send-with-context
       (org-agent-command-message "draft" level (or words ""))
       (org-agent-context-read-gather references)))
     :id)))

(defun org-agent-explain--prompt-show (session result)
  "Show RESULT, the prompt of SESSION, in its buffer."
  (with-current-buffer (get-buffer-create "*org-agent-prompt*")
    (unless (derived-mode-p 'org-agent-prompt-mode)
      (org-agent-prompt-mode))
    (let ((again (equal session org-agent-explain--prompt-session)))
      (setq org-agent-explain--prompt-session session)
      (org-agent-section-replace-text
       (with-temp-buffer
         (let ((org-inhibit-startup t))
           (delay-mode-hooks (org-mode)))
         (org-agent-explain--prompt-insert session result)
         (buffer-substring-no-properties (point-min) (point-max))))
      (unless again
        (org-cycle-hide-drawers 'all)
        (org-overview)
        (goto-char (point-min))))
    (set-buffer-modified-p nil)
    (pop-to-buffer (current-buffer))))

(defun org-agent-explain--prompt-insert (session result)
  "Insert RESULT, the prompt of SESSION, as an outline."
  (insert "What would be sent for the draft of " session
          (if-let* ((model (plist-get result :model)))
              (format ", by the skill %s, to %s" (plist-get result :skill) model)
            "")
          ".\n")
  (mapc #'org-agent-explain--prompt-insert-setting (plist-get result :settings))
  (if-let* ((parts (plist-get result :parts)))
      (progn
        (insert (format "%s, %s, about %d tokens.  Nothing was sent.\n"
                        (org-agent-counted (length parts) "message")
                        (org-agent-context-size (plist-get result :bytes))
                        (plist-get result :tokens)))
        (when-let* ((history (plist-get result :history)))
          (insert (org-agent-explain--prompt-history history) "\n"))
        (org-agent-explain--prompt-insert-sections (plist-get result :sections))
        (mapc #'org-agent-explain--prompt-insert-part parts))
    (insert (or (plist-get result :note) "Nothing would be sent") ".\n")))

(defun org-agent-explain--prompt-insert-sections (sections)
  "Insert a table of SECTIONS, the parts of the system prompt."
  (when sections
    (insert "* What the system prompt is made of\n"
            "| section | whose | | bytes | tokens | from | hash |\n|-\n")
    (let ((start (save-excursion (forward-line -1) (point)))
          (absent nil))
      (dolist (section sections)
        (if-let* ((why (plist-get section :why)))
            (push (plist-get section :name) (alist-get why absent nil nil #'equal))
          (insert (format "| %s | %s | %s | %s | %s | %s | %s |\n"
                          (plist-get section :name)
                          (org-agent-explain--prompt-word (plist-get section :trust))
                          (org-agent-explain--prompt-word (plist-get section :tier))
                          (concat (format "%d" (plist-get section :bytes))
                                  (when-let* ((whole (plist-get section :whole)))
                                    (format " of %d" whole)))
                          (plist-get section :tokens)
                          (org-agent-explain--prompt-sources (plist-get section :sources))
                          (plist-get section :hash)))))
      (save-excursion (goto-char start) (org-table-align))
      (pcase-dolist (`(,why . ,names) (nreverse absent))
        (insert (format "- %s :: %s\n" why (string-join (nreverse names) ", ")))))))

(defun org-agent-explain--prompt-sources (files)
  "Return FILES as the text of a table's cell."
  (if files
      (mapconcat (lambda (file)
                   (replace-regexp-in-string "[]|[]" "_"
                                             (abbreviate-file-name file)))
                 files ", ")
    "the program"))

(defun org-agent-explain--prompt-history (history)
  "Return a line about the part of the conversation that HISTORY shows."
  (concat
   (let ((turns (plist-get history :turns)))
     (format "Of the conversation: %s as said" (org-agent-counted turns "turn")))
   (when-let* ((count (plist-get history :summarised)))
     (format ", notes of the first %d" count))
   (when-let* ((count (plist-get history :left)))
     (format ", %d after those not at all" count))
   (when-let* ((count (plist-get history :shortened)))
     (format ", %s shortened" (org-agent-counted count "result")))
   (when-let* ((count (plist-get history :omitted)))
     (format ", %s left out" (org-agent-counted count "result")))
   (format "; about %d of %d tokens (%s)."
           (or (plist-get history :tokens) 0) (plist-get history :window)
           (if-let* ((source (plist-get history :source)))
               (concat "known by " source)
             "which is assumed: WINDOW in config.org says it"))))

(defun org-agent-explain--prompt-insert-setting (setting)
  "Insert SETTING of the message, and where it was set."
  (insert (format "%s, set by %s: %s\n" (plist-get setting :name)
                  (org-agent-one-line (plist-get setting :from) 200)
                  (org-agent-one-line (plist-get setting :value) 200))))

(defun org-agent-explain--prompt-insert-part (part)
  "Insert PART, one message of a prompt."
  (insert (format "* %s (%s), %s, about %d tokens\n"
                  (capitalize (org-agent-explain--prompt-word (plist-get part :name)))
                  (plist-get part :role)
                  (org-agent-context-size (plist-get part :bytes))
                  (plist-get part :tokens)))
  (dolist (line (plist-get part :context))
    (insert "- =" (replace-regexp-in-string "=" "_" line t t) "=\n"))
  (insert "#+begin_example\n"
          (org-escape-code-in-string (plist-get part :text))
          "\n#+end_example\n"))

(defun org-agent-explain--prompt-word (keyword)
  "Return the name of KEYWORD."
  (substring (symbol-name keyword) 1))

;;;; Usage

(defvar-local org-agent-explain--usage-what nil
  "What the table of usage shows: (BY . SESSION).")

(defvar org-agent-usage-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map (kbd "RET") #'org-agent-usage-visit)
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
\\[org-agent-usage-by-tool] shows the sizes of the results of tools.
\\[org-agent-usage-visit] opens the conversation of a row."
  :interactive nil
  (org-agent-explain--usage-columns nil))

(defun org-agent-explain--usage-columns (tools)
  "Set the columns for models, or for tools if TOOLS is non-nil."
  (let ((format
         (if tools
             (list '("Tool" 40 t)
                   (list "Calls" 8 (org-agent-list-by-number 1) :right-align t)
                   (list "Bytes" 12 (org-agent-list-by-number 2) :right-align t)
                   (list "Tokens, about" 14 (org-agent-list-by-number 3)
                         :right-align t))
           ;; The columns fit into a window of 80.
           (list '("What" 19 t) '("Model" 15 t)
                 (list "In" 7 (org-agent-list-by-number 2) :right-align t)
                 (list "Out" 7 (org-agent-list-by-number 3) :right-align t)
                 '("Cost" 10 nil :right-align t)
                 (list "First" 6 (org-agent-list-by-number 5) :right-align t)
                 (list "Tok/s" 6 (org-agent-list-by-number 6) :right-align t)))))
    (unless (equal (mapcar #'car format) (mapcar #'car tabulated-list-format))
      (setq tabulated-list-sort-key nil) ; it names a column
      (org-agent-list-columns
       (vconcat format) #'org-agent-explain--usage-ask
       "\\<org-agent-usage-mode-map>\\[org-agent-usage-visit] visit  by: \\[org-agent-usage-by-turn] turn  \\[org-agent-usage-by-session] conversation  \\[org-agent-usage-by-model] model  \\[org-agent-usage-by-day] day  \\[org-agent-usage-by-tool] tool"))))

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
                           (setq org-agent-explain--usage-what
                                 (cons (or by (if session 'turn 'session))
                                       session))
                           (org-agent-explain--usage-ask)))))

(defun org-agent-explain--usage-by (by)
  "Show the table of usage BY turn, session, model, day or tool."
  (if (not (derived-mode-p 'org-agent-usage-mode))
      (org-agent-usage by)
    (setcar org-agent-explain--usage-what by)
    (org-agent-explain--usage-ask)))

(defun org-agent-usage-by-turn ()
  "Show a row for each turn."
  (interactive)
  (org-agent-explain--usage-by 'turn))

(defun org-agent-usage-by-session ()
  "Show a row for each of all conversations."
  (interactive)
  (when (derived-mode-p 'org-agent-usage-mode)
    (setcdr org-agent-explain--usage-what nil))
  (org-agent-explain--usage-by 'session))

(defun org-agent-usage-by-model ()
  "Show a row for each model."
  (interactive)
  (org-agent-explain--usage-by 'model))

(defun org-agent-usage-by-day ()
  "Show a row for each day."
  (interactive)
  (org-agent-explain--usage-by 'day))

(defun org-agent-usage-by-tool ()
  "Show a row for each tool: its calls and the size of their results."
  (interactive)
  (org-agent-explain--usage-by 'tool))

(defun org-agent-usage-visit ()
  "Open the conversation of this row, at its turn if it is one."
  (interactive nil org-agent-usage-mode)
  (let* ((row (or (tabulated-list-get-id)
                  (user-error "There is nothing on this line")))
         (session (or (plist-get row :session)
                      (user-error "This row is about more than one conversation"))))
    (pop-to-buffer (if-let* ((event (plist-get row :event)))
                       (org-agent-goto-open session event)
                     (org-agent-chat-open session)))))

(defun org-agent-explain--usage-ask (&rest _)
  "Request the rows, and show them when they arrive."
  (pcase-let ((`(,by . ,session) org-agent-explain--usage-what))
    (org-agent-kernel-ask
     "usage/get" (append (list :by (intern (format ":%s" by))
                               :east (car (current-time-zone)))
                         (and session (list :session session)))
     (lambda (result)
       (org-agent-explain--usage-columns (eq by 'tool))
       (org-agent-list-show
        (append (mapcar #'org-agent-explain--usage-row (plist-get result :rows))
                (mapcar #'org-agent-explain--usage-tool (plist-get result :tools)))
        (if (eq by 'tool)
            "No tool was called yet."
          "No model that counts tokens was asked yet.  \\[org-agent-setup] chooses a model.")
        (format "by %s" by))))))

(defun org-agent-explain--usage-row (row)
  "Return ROW, a plist from the kernel, as a row of the table."
  (list row
        (vector (org-agent-one-line (or (plist-get row :what)
                                        (plist-get row :session)
                                        (plist-get row :model) "all"))
                (or (plist-get row :model) "")
                (number-to-string (or (plist-get row :input) 0))
                (number-to-string (or (plist-get row :output) 0))
                (or (org-agent-dollars row) "unknown")
                (org-agent-explain--usage-rate "%.1fs" (plist-get row :first))
                (org-agent-explain--usage-rate "%.0f" (plist-get row :rate)))))

(defun org-agent-explain--usage-rate (format number)
  "Return NUMBER in FORMAT, or an empty text if NUMBER is nil."
  (if number (format format number) ""))

(defun org-agent-explain--usage-tool (row)
  "Return ROW, a plist from the kernel about a tool, as a row of the table."
  (list row
        (vector (org-agent-one-line (or (plist-get row :tool) "others"))
                (number-to-string (or (plist-get row :calls) 0))
                (number-to-string (or (plist-get row :bytes) 0))
                (number-to-string (or (plist-get row :tokens) 0)))))

(provide 'org-agent-explain)
;;; org-agent-explain.el ends here
