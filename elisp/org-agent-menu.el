;;; org-agent-menu.el --- All commands in a menu  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-menu' is a menu of what people do most, with a key for each,
;; and of smaller menus that have all other commands.

;;; Code:

(require 'seq)
(require 'transient)

(defvar org-agent-chat-session)

(defun org-agent-menu--chat-p ()
  "Return non-nil in a conversation."
  (bound-and-true-p org-agent-chat-session))

;;;; How many groups there are beside each other

(defun org-agent-menu--width ()
  "Return how many columns a menu has.
By default it is shown at the bottom of the frame, in all of its width."
  (if (memq 'display-buffer-in-side-window
            (flatten-list (car-safe transient-display-buffer-action)))
      (frame-width)
    (window-width)))

(defun org-agent-menu--fits-p (columns)
  "Return non-nil when a menu of so many COLUMNS is seen whole."
  (< columns (org-agent-menu--width)))

(defmacro org-agent-menu--define (name columns documentation &rest groups)
  "Define the menu NAME with DOCUMENTATION and GROUPS.
Beside each other these take so many COLUMNS.  Where there are not so
many, half of them are above the others.  With q each is left."
  (declare (indent 2) (doc-string 3) (debug (name integerp stringp &rest vectorp)))
  (let ((half (/ (1+ (length groups)) 2))
        ;; Only the menu with all others shows it, and all are left with it.
        (leave (unless (eq name 'org-agent-menu)
                 '([:hide always ("q" "Close" transient-quit-one)])))
        (narrow `(lambda () (not (org-agent-menu--fits-p ,columns)))))
    `(transient-define-prefix ,name ()
       ,documentation
       ,(apply #'vector :if `(lambda () (org-agent-menu--fits-p ,columns)) groups)
       ,(apply #'vector :if narrow (seq-take groups half))
       ,@(when (cdr groups)
           (list (apply #'vector :if narrow (seq-drop groups half))))
       ,@leave)))

;;;; The menus

(org-agent-menu--define org-agent-menu-senses 54
  "Speech and images.
A command that needs a program that is not installed cannot be chosen.
Called by its name, it says what to install."
  ["Speech"
   ("s" "Read the answer aloud" org-agent-speak :inapt-if org-agent-speak-lacks)
   ("S" "Stop reading" org-agent-speak-stop)
   ("a" "Read all answers" org-agent-speak-mode :inapt-if org-agent-speak-lacks)
   ("d" "Dictate, or stop" org-agent-dictate :inapt-if org-agent-dictate-lacks)
   ("r" "Transcribe again" org-agent-dictate-again)
   ("k" "Cancel dictation" org-agent-dictate-cancel)]
  ["Images for the next message"
   ("c" "From the clipboard" org-agent-add-clipboard
    :inapt-if org-agent-add-image-clipboard-lacks)
   ("i" "A part of the screen" org-agent-add-screenshot
    :inapt-if org-agent-add-image-screenshot-lacks)])

(transient-define-prefix org-agent-menu-summaries ()
  "Summaries of the beginning of a long conversation, for the model.
The text of the conversation does not change."
  [["Summaries"
    ("s" "Summarize the conversation" org-agent-compact)
    ("k" "Stop summarizing" org-agent-compact-stop)
    ("u" "Undo the last summary" org-agent-compact-undo)
    ("q" "Close" transient-quit-one)]])

(org-agent-menu--define org-agent-menu-permissions 30
  "What the agent may do, and which buffers it never sees."
  ["Permissions"
   ("j" "Policy" org-agent-policy)
   ("o" "Project it may read" org-agent-project-set :if org-agent-menu--chat-p)
   ("s" "Subagents" org-agent-subagents)
   ("h" "What is held here" org-agent-held :if-derived org-mode)
   ("r" "Skills react to edits" org-agent-hooks-mode)
   ("d" "What would react here" org-agent-hooks-dry-run :if-derived org-mode)
   ("p" "Private buffer" org-agent-private-mode)])

(org-agent-menu--define org-agent-menu-conversations 64
  "Conversations, what outlasts them, and who talks to the agent by chats."
  ["Conversations"
   ("o" "Open another" org-agent-chat-other)
   ("i" "Inbox" org-agent-inbox)
   ("r" "Rename this one" org-agent-session-rename :if org-agent-menu--chat-p)
   ("t" "New topic" org-agent-topic :if org-agent-menu--chat-p)
   ("b" "Draft below this" org-agent-branch :if org-agent-menu--chat-p)
   ("Z" "Summaries" org-agent-menu-summaries :if org-agent-menu--chat-p)
   ("|" "Page or file" org-agent-page-toggle :if org-agent-menu--chat-p)]
  ["What outlasts them"
   ("K" "Memory" org-agent-memory)
   ("I" "Persona" org-agent-persona)
   ("T" "Tasks" org-agent-tasks)
   ("w" "Skills" org-agent-skills)
   ("n" "New skill" org-agent-skill-new)
   ("g" "Grant a skill" org-agent-skill-grant)]
  ["By chats"
   ("N" "Add a channel" org-agent-channel-add)
   ("c" "Make a code" org-agent-channel-pair)
   ("p" "Who may talk" org-agent-channel-people)])

(org-agent-menu--define org-agent-menu-answers 48
  "What can be done with a question and its answers."
  ["Again"
   :if org-agent-menu--chat-p
   ("r" "Retry" org-agent-retry)
   ("w" "With another model" org-agent-regenerate-with)
   ("e" "Edit the question" org-agent-edit-question)
   ("S" "Steer the turn" org-agent-steer)
   ("z" "Undo what it changed" org-agent-undo-turn)]
  ["Look"
   ("=" "Compare two answers" org-agent-compare-answers :if org-agent-menu--chat-p)
   ("P" "Prefer this one" org-agent-prefer-answer :if org-agent-menu--chat-p)
   ("t" "Thoughts" org-agent-thoughts :if org-agent-menu--chat-p)
   ("b" "Copy a block" org-agent-copy-block)
   ("B" "Insert the block" org-agent-yank-block)])

(org-agent-menu--define org-agent-menu-writing 44
  "Commands for the draft, and for writing anywhere."
  ["The draft"
   ("<" "Previous question" org-agent-previous-question
    :if org-agent-menu--chat-p :transient t)
   (">" "Next question" org-agent-next-question
    :if org-agent-menu--chat-p :transient t)
   ("H" "Earlier questions" org-agent-insert-question :if org-agent-menu--chat-p)
   ("T" "Choose a preset" org-agent-preset :if org-agent-menu--chat-p)
   ("x" "Run a command" org-agent-command)
   ("A" "Speech, images" org-agent-menu-senses)]
  ["Anywhere"
   ("h" "Answer here" org-agent-ask-here)
   ("v" "Complete" org-agent-complete)
   ("V" "Complete as I type" org-agent-complete-mode)])

(org-agent-menu--define org-agent-menu-inspect 44
  "How the agent is, and what it did."
  ["What it did"
   ("y" "Explain a turn" org-agent-why)
   ("p" "What would be sent" org-agent-prompt)
   ("u" "Usage and cost" org-agent-usage)
   ("l" "Log" org-agent-log)]
  ["How it is"
   ("i" "Status" org-agent-status)
   ("d" "Doctor" org-agent-doctor)
   ("m" "Models" org-agent-model-list)
   ("s" "Set up a model" org-agent-setup)
   ("h" "Whole header line" org-agent-header :if org-agent-menu--chat-p)
   ("B" "Build the kernel" org-agent-build)
   ("Q" "Stop the kernel" org-agent-stop)])

;;;###autoload (autoload 'org-agent-menu "org-agent-menu" nil t)
(org-agent-menu--define org-agent-menu 78
  "What people do most with the agent; the last group leads to the rest.
Commands that do not apply at point are not shown."
  ["Talk"
   ("c" "Open the chat" org-agent-chat)
   ("h" "Ask from here" org-agent-ask)
   ("+" "Attach this" org-agent-add)
   ("e" "Rewrite region" org-agent-rewrite :if use-region-p)]
  ["This conversation"
   :if org-agent-menu--chat-p
   ("s" "Send the draft" org-agent-send)
   ("k" "Stop the answer" org-agent-stop-turn)
   ("m" "Choose a model" org-agent-model)
   ("f" "Fork at point" org-agent-fork)]
  ["Find"
   ("L" "Conversations" org-agent-sessions)
   ("/" "Search all" org-agent-search)
   ("a" "Approvals" org-agent-approvals)]
  ["More"
   ("C" "Chats, skills …" org-agent-menu-conversations)
   ("A" "Answers …" org-agent-menu-answers)
   ("W" "Writing …" org-agent-menu-writing)
   ("I" "Inspect …" org-agent-menu-inspect)
   ("j" "Permissions …" org-agent-menu-permissions)
   ("q" "Close" transient-quit-one)])

(provide 'org-agent-menu)
;;; org-agent-menu.el ends here
