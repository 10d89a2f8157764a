;;; org-agent-prompt.el --- What the model would be sent  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-prompt' shows what would be sent if the draft were sent now:
;; every byte, with sizes.  The kernel composes it as it composes what it
;; sends; nothing is sent, and nothing is kept.
;;
;; The texts stand in example blocks, where a line that Org would take for
;; its own has a comma before it, as everywhere in Org.

;;; Code:

(require 'subr-x)
(require 'org)
(require 'org-table)
(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-context)
(require 'org-agent-context-read)
(require 'org-agent-command)
(require 'org-agent-send)

(defvar-local org-agent-prompt--session nil
  "The conversation whose prompt this buffer shows.")
(put 'org-agent-prompt--session 'permanent-local t)

(defvar org-agent-prompt-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "g") #'org-agent-prompt-again)
    (define-key map (kbd "q") #'quit-window)
    map)
  "Keys where a prompt is shown; the rest is `org-mode-map'.")

(define-derived-mode org-agent-prompt-mode org-mode "Org-Agent-Prompt"
  "Major mode of a prompt that is looked at.
\\[org-agent-prompt-again] looks again."
  (setq-local enable-local-variables nil
              enable-local-eval nil
              org-confirm-babel-evaluate t
              truncate-lines nil
              word-wrap t
              buffer-read-only t)
  (org-agent-fontify-listed-languages))

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
    (org-agent-prompt--ask buffer)))

(defun org-agent-prompt-again ()
  "Look again at what would be sent."
  (interactive)
  (org-agent-prompt--ask
   (or (org-agent-chat-buffer org-agent-prompt--session)
       (user-error "The conversation is gone"))))

(defun org-agent-prompt--ask (buffer)
  "Ask the kernel for the prompt of the conversation in BUFFER."
  (unless (org-agent-kernel-ready-p)
    (org-agent-kernel-ensure)
    (user-error "The kernel is being started; ask again when it runs"))
  (with-current-buffer buffer
    (let ((session org-agent-chat-session))
      (org-agent-kernel-request
       "prompt/get" (let ((org-agent-draft-chosen
                           (org-agent-draft-branch-at (point))))
                      (org-agent-prompt--params))
       :success (lambda (result) (org-agent-prompt--show session result))
       :failure (lambda (refusal)
                  (org-agent-chat-complain "The prompt cannot be shown"
                                           refusal))))))

(defun org-agent-prompt--params ()
  "Return the event that this conversation's draft would be."
  (pcase-let* ((`(,words . ,references) (org-agent-context-draft))
               (start (org-agent-draft-start))
               (level (if start (org-agent-heading-level start) 1)))
    (org-agent-send--without
     (org-agent-send--event
      (org-agent-send-with-context
       (org-agent-command-message "draft" level (or words ""))
       (org-agent-context-gather references)))
     :id)))

(defun org-agent-prompt--show (session result)
  "Show RESULT, the prompt of SESSION, in its buffer."
  (with-current-buffer (get-buffer-create "*org-agent-prompt*")
    (unless (derived-mode-p 'org-agent-prompt-mode)
      (org-agent-prompt-mode))
    (setq org-agent-prompt--session session)
    (let ((inhibit-read-only t) (buffer-undo-list t))
      (erase-buffer)
      (org-agent-prompt--insert session result)
      (org-cycle-hide-drawers 'all)
      (org-overview)
      (goto-char (point-min)))
    (set-buffer-modified-p nil)
    (display-buffer (current-buffer))))

(defun org-agent-prompt--insert (session result)
  "Insert RESULT, the prompt of SESSION, as an outline."
  (insert "What would be sent for the draft of " session
          (if-let ((model (plist-get result :model)))
              (format ", by the skill %s, to %s" (plist-get result :skill) model)
            "")
          ".\n")
  (mapc #'org-agent-prompt--insert-setting (plist-get result :settings))
  (if-let ((parts (plist-get result :parts)))
      (progn
        (insert (format "%d messages, %s, about %d tokens.  Nothing was sent.\n"
                        (length parts)
                        (org-agent-context-size (plist-get result :bytes))
                        (plist-get result :tokens)))
        (when-let ((history (plist-get result :history)))
          (insert (org-agent-prompt--history history) "\n"))
        (org-agent-prompt--insert-sections (plist-get result :sections))
        (mapc #'org-agent-prompt--insert-part parts))
    (insert (or (plist-get result :note) "Nothing would be sent") ".\n")))

(defun org-agent-prompt--insert-sections (sections)
  "Insert a table of SECTIONS, what the system prompt is made of."
  (when sections
    (insert "* What the system prompt is made of\n"
            "| section | whose | | bytes | tokens | from | hash |\n|-\n")
    (let ((start (save-excursion (forward-line -1) (point)))
          (absent nil))
      (dolist (section sections)
        (if-let ((why (plist-get section :why)))
            (push (plist-get section :name) (alist-get why absent nil nil #'equal))
          (insert (format "| %s | %s | %s | %s | %s | %s | %s |\n"
                          (plist-get section :name)
                          (org-agent-prompt--word (plist-get section :trust))
                          (org-agent-prompt--word (plist-get section :tier))
                          (concat (format "%d" (plist-get section :bytes))
                                  (when-let ((whole (plist-get section :whole)))
                                    (format " of %d" whole)))
                          (plist-get section :tokens)
                          (org-agent-prompt--sources (plist-get section :sources))
                          (plist-get section :hash)))))
      (save-excursion (goto-char start) (org-table-align))
      (pcase-dolist (`(,why . ,names) (nreverse absent))
        (insert (format "- %s :: %s\n" why (string-join (nreverse names) ", ")))))))

(defun org-agent-prompt--sources (files)
  "Return FILES as they stand in a cell of a table."
  (if files
      (mapconcat (lambda (file)
                   (replace-regexp-in-string "[]|[]" "_"
                                             (abbreviate-file-name file)))
                 files ", ")
    "the program"))

(defun org-agent-prompt--history (history)
  "Return a line that says what of the conversation HISTORY shows."
  (concat
   (format "Of the conversation: %d turns as said" (plist-get history :turns))
   (when-let ((count (plist-get history :summarised)))
     (format ", notes of the first %d" count))
   (when-let ((count (plist-get history :left)))
     (format ", %d behind those not at all" count))
   (when-let ((count (plist-get history :shortened)))
     (format ", %d results shortened" count))
   (when-let ((count (plist-get history :omitted)))
     (format ", %d results left out" count))
   (format "; about %d of %d tokens (%s)."
           (or (plist-get history :tokens) 0) (plist-get history :window)
           (if-let ((source (plist-get history :source)))
               (concat "known by " source)
             "which is assumed: WINDOW in config.org says it"))))

(defun org-agent-prompt--insert-setting (setting)
  "Insert SETTING, something that holds for the message, and who set it."
  (insert (format "%s, set by %s: %s\n" (plist-get setting :name)
                  (org-agent-prompt--one-line (plist-get setting :from))
                  (org-agent-prompt--one-line (plist-get setting :value)))))

(defun org-agent-prompt--one-line (text)
  "Return TEXT shortened to a line."
  (truncate-string-to-width (string-join (split-string text) " ")
                            200 nil nil t))

(defun org-agent-prompt--insert-part (part)
  "Insert PART, one message of a prompt."
  (insert (format "* %s (%s), %s, about %d tokens\n"
                  (capitalize (org-agent-prompt--word (plist-get part :name)))
                  (plist-get part :role)
                  (org-agent-context-size (plist-get part :bytes))
                  (plist-get part :tokens)))
  (dolist (line (plist-get part :context))
    (insert "- =" (replace-regexp-in-string "=" "_" line t t) "=\n"))
  (insert "#+begin_example\n"
          (org-escape-code-in-string (plist-get part :text))
          "\n#+end_example\n"))

(defun org-agent-prompt--word (keyword)
  "Return the name of KEYWORD."
  (substring (symbol-name keyword) 1))

(provide 'org-agent-prompt)
;;; org-agent-prompt.el ends here
