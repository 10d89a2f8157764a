;;; org-agent-menu.el --- All commands in a menu  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-menu' is a menu of all commands that apply at point, with a
;; key for each.

;;; Code:

(require 'transient)

(defvar org-agent-chat-session)

(defun org-agent-menu--chat-p ()
  "Return non-nil in a conversation."
  (bound-and-true-p org-agent-chat-session))

(transient-define-prefix org-agent-menu-senses ()
  "Speech and images.
A command that needs a program that is not installed cannot be chosen.
Called by its name, it says what to install."
  [["Speech"
    ("s" "Read the answer aloud" org-agent-speak :inapt-if org-agent-speak-lacks)
    ("q" "Stop reading" org-agent-speak-stop)
    ("a" "Read all answers" org-agent-speak-mode :inapt-if org-agent-speak-lacks)
    ("d" "Dictate, or stop" org-agent-dictate :inapt-if org-agent-dictate-lacks)
    ("r" "Transcribe again" org-agent-dictate-again)
    ("k" "Cancel dictation" org-agent-dictate-cancel)]
   ["Images for the next message"
    ("c" "From the clipboard" org-agent-add-clipboard
     :inapt-if org-agent-add-image-clipboard-lacks)
    ("i" "A part of the screen" org-agent-add-screenshot
     :inapt-if org-agent-add-image-screenshot-lacks)]])

(transient-define-prefix org-agent-menu-summaries ()
  "Summaries of the beginning of a long conversation, for the model.
The text of the conversation does not change."
  [["Summaries"
    ("s" "Summarize the conversation" org-agent-compact)
    ("k" "Stop summarizing" org-agent-compact-stop)
    ("u" "Undo the last summary" org-agent-compact-undo)]])

(transient-define-prefix org-agent-menu-permissions ()
  "What the agent may do, and which buffers it never sees."
  [["Permissions"
    ("j" "Policy" org-agent-policy)
    ("o" "Project it may read" org-agent-project-set :if org-agent-menu--chat-p)
    ("s" "Subagents" org-agent-subagents)
    ("p" "Private buffer" org-agent-private-mode)]])

;;;###autoload (autoload 'org-agent-menu "org-agent-menu" nil t)
(transient-define-prefix org-agent-menu ()
  "All commands of the agent.
Commands that do not apply at point are not shown."
  [["Conversations"
    ("c" "Open" org-agent-chat)
    ("o" "Open another" org-agent-chat-other)
    ("L" "List all" org-agent-sessions)
    ("/" "Search all" org-agent-search)
    ("K" "Memory" org-agent-memory)
    ("I" "Persona" org-agent-persona)
    ("N" "Rename one" org-agent-session-rename)]
   ["Message"
    :if org-agent-menu--chat-p
    ("s" "Send the draft" org-agent-send)
    ("k" "Stop the answer" org-agent-stop-turn)
    ("r" "Retry" org-agent-retry)
    ("S" "Steer the turn" org-agent-steer)
    ("E" "Edit a question" org-agent-edit-question)
    ("f" "Fork at point" org-agent-fork)
    ("D" "Draft below this" org-agent-branch)]
   ["Answer"
    :if org-agent-menu--chat-p
    ("R" "Another model's" org-agent-regenerate-with)
    ("P" "Prefer this one" org-agent-prefer-answer)
    ("=" "Compare two" org-agent-compare-answers)
    ("t" "Thoughts" org-agent-thoughts)
    ("m" "Choose a model" org-agent-model)
    ("T" "Choose a preset" org-agent-preset)
    ("O" "New topic" org-agent-topic)]
   ["From anywhere"
    ("q" "Ask" org-agent-ask)
    ("h" "Answer here" org-agent-ask-here)
    ("e" "Rewrite region" org-agent-rewrite :if use-region-p)
    ("x" "Run a command" org-agent-command)
    ("+" "Attach this" org-agent-add)
    ("A" "Speech, images" org-agent-menu-senses)
    ("p" "Prompt" org-agent-prompt)]]
  [["Agent"
    ("a" "Approvals" org-agent-approvals)
    ("w" "Skills" org-agent-skills)
    ("n" "New skill" org-agent-skill-new)
    ("g" "Grant a skill" org-agent-skill-grant)
    ("M" "Mode line" org-agent-mode-line-mode)
    ("Z" "Summaries" org-agent-menu-summaries :if org-agent-menu--chat-p)
    ("Q" "Stop the kernel" org-agent-stop)]
   ["Inspect"
    ("y" "Explain a turn" org-agent-why)
    ("u" "Usage and cost" org-agent-usage)
    ("z" "Undo a turn" org-agent-undo-turn)
    ("l" "Log" org-agent-log)
    ("j" "Permissions" org-agent-menu-permissions)
    ("i" "Status" org-agent-status)
    ("d" "Doctor" org-agent-doctor)]
   ["Writing"
    ("v" "Complete" org-agent-complete)
    ("V" "Complete as I type" org-agent-complete-mode)
    ("<" "Previous question" org-agent-previous-question
     :if org-agent-menu--chat-p :transient t)
    (">" "Next question" org-agent-next-question
     :if org-agent-menu--chat-p :transient t)
    ("H" "Earlier questions" org-agent-insert-question :if org-agent-menu--chat-p)
    ("b" "Copy a block" org-agent-copy-block)
    ("B" "Insert the block" org-agent-yank-block)]])

(provide 'org-agent-menu)
;;; org-agent-menu.el ends here
