;;; org-agent-topic.el --- A heading for what is asked below it  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A topic is a heading of the person's that questions stand below.  Its
;; drawer sets what holds for them: see `org-agent-above'.  It has an
;; `:ID:', as without one it would be the draft.

;;; Code:

(require 'subr-x)
(require 'org)
(require 'org-id)
(require 'org-agent-draft)
(require 'org-agent-chat)
(require 'org-agent-paste)
(require 'org-agent-preset)

(defconst org-agent-topic-settings
  '(("MODEL" . "which model answers")
    ("PRESET" . "a preset of config.org")
    ("PROFILE" . "who answers: a file of profiles/ in the home")
    ("SYSTEM" . "more for the model to go by")
    ("HISTORY" . "what it is shown of the conversation")
    ("SKILL" . "which skill answers")
    ("TEMPERATURE" . "from 0 to 2")
    ("MAX_TOKENS" . "how long an answer may be")
    ("BUDGET_ROUNDS" . "how many actions one question may take")
    ("BUDGET_TOKENS" . "how many tokens it may take, as 50k, or off")
    ("BUDGET_TIME" . "how long it may take without you, as 10m, or off")
    ("BUDGET_COST" . "how many dollars it may take, as 0.50, or off"))
  "What a topic can set, with what that is.")

(defun org-agent-topic--read-settings ()
  "Read what a topic sets, an alist, until nothing is chosen or left."
  (let ((left org-agent-topic-settings)
        settings name)
    (while (and left
                (not (string-empty-p
                      (setq name (org-agent-topic--read-name left)))))
      (setq left (assoc-delete-all name (copy-sequence left)))
      (let ((value (string-trim (org-agent-topic--read-value name))))
        (unless (string-empty-p value)
          (push (cons name value) settings))))
    (nreverse settings)))

(defun org-agent-topic--read-name (left)
  "Read the name of a setting, one of the alist LEFT; \"\" is none."
  (let ((completion-extra-properties
         (list :annotation-function
               (lambda (name) (concat "  " (cdr (assoc name left)))))))
    (completing-read "What it sets (RET when done): " left nil t nil nil "")))

(defun org-agent-topic--read-value (name)
  "Read the value of the setting NAME."
  (let ((prompt (concat name ": ")))
    (pcase name
      ("HISTORY" (completing-read prompt '("all" "branch" "none") nil t))
      ("PRESET" (completing-read prompt #'org-agent-preset--table))
      ("PROFILE" (org-agent-preset-read-profile prompt))
      (_ (read-string prompt)))))

(defun org-agent-topic (title settings)
  "Begin a topic: a heading with TITLE that the draft stands below from now on.
SETTINGS, an alist of names and values, hold for all that is asked below
it; they stand in its drawer, to be changed there.  Behind the topic,
\\[org-promote-subtree] on the draft leads out of it."
  (interactive
   (progn
     (org-agent-chat-check)
     (list (read-string "Topic: ") (org-agent-topic--read-settings))))
  (org-agent-chat-check)
  (let ((title (string-trim (replace-regexp-in-string "[\n\r\t]+" " " title))))
    (when (string-empty-p title)
      (user-error "A topic needs a title"))
    (org-agent-chat-restore-draft)
    (org-agent-paste-settle)
    (widen)
    (let* ((start (org-agent-draft-start))
           (end (copy-marker (point-max) t)))
      (undo-boundary)
      (goto-char start)
      (insert "* " title "\n:PROPERTIES:\n"
              (mapconcat (lambda (setting)
                           (format "%-10s %s\n" (concat ":" (car setting) ":")
                                   (cdr setting)))
                         (cons (cons "ID" (org-id-uuid)) settings) "")
              ":END:\n")
      (let* ((draft (buffer-substring (point) end))
             (below (org-agent-draft--demote draft 1)))
        (unless (equal draft below)
          (let ((at (point)))
            (delete-region at end)
            (goto-char at)
            (insert below))))
      (goto-char end)
      (set-marker end nil)
      (undo-boundary))))

(provide 'org-agent-topic)
;;; org-agent-topic.el ends here
