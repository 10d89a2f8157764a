;;; org-agent.el --- An agent that lives in Org  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: outlines, convenience, tools
;; SPDX-License-Identifier: GPL-3.0-or-later

;; This program is free software; you can redistribute it and/or modify
;; it under the terms of the GNU General Public License as published by
;; the Free Software Foundation, either version 3 of the License, or
;; (at your option) any later version.

;; This program is distributed in the hope that it will be useful,
;; but WITHOUT ANY WARRANTY; without even the implied warranty of
;; MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the
;; GNU General Public License for more details.

;; You should have received a copy of the GNU General Public License
;; along with this program.  If not, see <https://www.gnu.org/licenses/>.

;;; Commentary:

;; Talk to an agent in an Org buffer: M-x org-agent-chat.  The agent is a
;; program, the kernel, which is started when none runs and outlives
;; Emacs.  What it says nests under the question as Org, streams while you
;; go on typing, and undoes as one step; nothing in it can run code.
;;
;; `org-agent-menu' has every command.

;;; Code:

;; Org and the like make so much garbage when they are loaded that Emacs
;; would spend half of the time on collecting it: that can wait a moment.
(let ((gc-cons-threshold (max gc-cons-threshold (* 64 1024 1024))))
  (mapc #'require '(org org-id org-capture bookmark transient)))

(require 'transient)
(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-send)
(require 'org-agent-command)
(require 'org-agent-settings)
(require 'org-agent-branch)
(require 'org-agent-file-owner)
(require 'org-agent-add)
(require 'org-agent-context)
(require 'org-agent-approval)
(require 'org-agent-explain)
(require 'org-agent-sessions)
(require 'org-agent-turn)
(require 'org-agent-subagent)
(require 'org-agent-status)
(require 'org-agent-markup)
(require 'org-agent-input-history)
(require 'org-agent-complete)
(require 'org-agent-ask)
(require 'org-agent-rewrite)
(require 'org-agent-memory)
(require 'org-agent-goto)
(require 'org-agent-speak)
(require 'org-agent-dictate)
(require 'org-agent-edit)
(require 'org-agent-act)
(require 'org-agent-private)
(require 'org-agent-agenda)
(require 'org-agent-undo-turn)
(require 'org-agent-header)
(require 'org-agent-question)
(require 'org-agent-notify)
(require 'org-agent-review)
(require 'org-agent-log)
(require 'org-agent-doctor)
(require 'org-agent-skills)
(require 'org-agent-skill)

;;;###autoload
(defgroup org-agent nil
  "An agent that lives in Org."
  :group 'org
  :prefix "org-agent-")

;;;###autoload (autoload 'org-agent-chat "org-agent" nil t)
;;;###autoload (autoload 'org-agent-command "org-agent" nil t)
;;;###autoload (autoload 'org-agent-ask "org-agent" nil t)
;;;###autoload (autoload 'org-agent-ask-here "org-agent" nil t)
;;;###autoload (autoload 'org-agent-rewrite "org-agent" nil t)
;;;###autoload (autoload 'org-agent-complete "org-agent" nil t)
;;;###autoload (autoload 'org-agent-complete-mode "org-agent" nil t)
;;;###autoload
(autoload 'org-agent-capture-setup "org-agent-capture"
  "Add the template that asks the agent to Org's, under KEY." t)
;;;###autoload (autoload 'org-agent-sessions "org-agent" nil t)
;;;###autoload (autoload 'org-agent-search "org-agent" nil t)
;;;###autoload (autoload 'org-agent-subagents "org-agent" nil t)
;;;###autoload (autoload 'org-agent-memory "org-agent" nil t)
;;;###autoload (autoload 'org-agent-memory-search "org-agent" nil t)
;;;###autoload (autoload 'org-agent-memory-undo "org-agent" nil t)
;;;###autoload (autoload 'org-agent-memory-notes "org-agent" nil t)
;;;###autoload (autoload 'org-agent-bookmark-jump "org-agent")
;;;###autoload (autoload 'org-agent-add "org-agent" nil t)
;;;###autoload (autoload 'org-agent-add-clipboard "org-agent" nil t)
;;;###autoload (autoload 'org-agent-add-screenshot "org-agent" nil t)
;;;###autoload (autoload 'org-agent-speak "org-agent" nil t)
;;;###autoload (autoload 'org-agent-speak-mode "org-agent" nil t)
;;;###autoload (autoload 'org-agent-dictate "org-agent" nil t)
;;;###autoload (autoload 'org-agent-persona "org-agent" nil t)
;;;###autoload (autoload 'org-agent-policy "org-agent" nil t)
;;;###autoload (autoload 'org-agent-prompt "org-agent" nil t)
;;;###autoload (autoload 'org-agent-compact "org-agent" nil t)
;;;###autoload (autoload 'org-agent-compact-stop "org-agent" nil t)
;;;###autoload (autoload 'org-agent-compact-undo "org-agent" nil t)
;;;###autoload (autoload 'org-agent-approvals "org-agent" nil t)
;;;###autoload (autoload 'org-agent-usage "org-agent" nil t)
;;;###autoload (autoload 'org-agent-yank-block "org-agent" nil t)
;;;###autoload (autoload 'org-agent-mode-line-mode "org-agent" nil t)
;;;###autoload (autoload 'org-agent-log "org-agent" nil t)
;;;###autoload (autoload 'org-agent-why "org-agent" nil t)
;;;###autoload (autoload 'org-agent-undo-turn "org-agent" nil t)
;;;###autoload (autoload 'org-agent-status "org-agent" nil t)
;;;###autoload (autoload 'org-agent-doctor "org-agent" nil t)

;;;###autoload (autoload 'org-agent-skills "org-agent" nil t)
;;;###autoload (autoload 'org-agent-skill-new "org-agent" nil t)
;;;###autoload (autoload 'org-agent-skill-grant "org-agent" nil t)
;;;###autoload (autoload 'org-agent-skill-revoke "org-agent" nil t)

(defcustom org-agent-help-with-skills t
  "Whether skill notes get `org-agent-skill-mode' once the agent runs."
  :type 'boolean
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defun org-agent--help-with-skills ()
  "Turn `org-agent-skill-global-mode' on if that is wanted."
  (when org-agent-help-with-skills
    (org-agent-skill-global-mode 1)))

(add-hook 'org-agent-kernel-ready-hook #'org-agent--help-with-skills)

;;;###autoload
(defun org-agent-stop ()
  "Stop the agent's kernel.
It is started again by \\[org-agent-chat], or by sending a message."
  (interactive)
  (org-agent-kernel-stop))

(defun org-agent-chat-other ()
  "Talk to the agent in another conversation."
  (interactive)
  (org-agent-chat (org-agent-chat-read-session)))

(defun org-agent--chat-p ()
  "Return non-nil in a conversation."
  (and org-agent-chat-session t))

(transient-define-prefix org-agent-menu-senses ()
  "Speaking, hearing and seeing.
What the system lacks a program for cannot be chosen; the command says
what to install."
  [["Speech"
    ("s" "Read the answer aloud" org-agent-speak :inapt-if org-agent-speak-lacks)
    ("q" "Be quiet" org-agent-speak-stop)
    ("a" "Read all answers" org-agent-speak-mode :inapt-if org-agent-speak-lacks)
    ("d" "Dictate, or stop" org-agent-dictate :inapt-if org-agent-dictate-lacks)
    ("r" "The last one again" org-agent-dictate-again)
    ("k" "Forget what I say" org-agent-dictate-cancel)]
   ["Images for the next message"
    ("c" "From the clipboard" org-agent-add-clipboard
     :inapt-if org-agent-add-image-clipboard-lacks)
    ("i" "A part of the screen" org-agent-add-screenshot
     :inapt-if org-agent-add-image-screenshot-lacks)]])

;;;###autoload (autoload 'org-agent-menu "org-agent" nil t)
(transient-define-prefix org-agent-menu-summaries ()
  "Summaries of the beginning of a long conversation, for the model.
What was said stays as it is."
  [["Summaries"
    ("s" "Summarise this conversation" org-agent-compact)
    ("k" "Stop the one being made" org-agent-compact-stop)
    ("u" "Take the last one back" org-agent-compact-undo)]])

(transient-define-prefix org-agent-menu-permissions ()
  "What the agent may do, and what it never sees."
  [["What it may do"
    ("j" "The rules" org-agent-policy)
    ("o" "The project it reads" org-agent-project-set :if org-agent--chat-p)
    ("s" "Subagents" org-agent-subagents)
    ("p" "This buffer is private" org-agent-private-mode)]])

(transient-define-prefix org-agent-menu ()
  "What can be done with the agent.
What makes no sense where point is is not shown."
  [["Conversations"
    ("c" "Open" org-agent-chat)
    ("o" "Open another" org-agent-chat-other)
    ("L" "List all" org-agent-sessions)
    ("/" "Search all" org-agent-search)
    ("K" "What is kept" org-agent-memory)
    ("I" "Who it is" org-agent-persona)
    ("N" "Rename one" org-agent-session-rename)]
   ["Message"
    :if org-agent--chat-p
    ("s" "Send the draft" org-agent-send)
    ("k" "Stop the answer" org-agent-stop-turn)
    ("r" "Answer again" org-agent-retry)
    ("S" "Steer the turn" org-agent-steer)
    ("E" "Ask it anew" org-agent-edit-question)
    ("f" "Fork at point" org-agent-fork)
    ("D" "Draft below this" org-agent-branch)]
   ["Answer"
    :if org-agent--chat-p
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
    ("x" "Give a command" org-agent-command)
    ("+" "Add this" org-agent-add)
    ("A" "Aloud, images" org-agent-menu-senses)
    ("p" "What is sent" org-agent-prompt)]]
  [["Agent"
    ("a" "What waits" org-agent-approvals)
    ("w" "Skills" org-agent-skills)
    ("n" "New skill" org-agent-skill-new)
    ("g" "Grant a skill" org-agent-skill-grant)
    ("M" "In mode lines" org-agent-mode-line-mode)
    ("Z" "Summaries" org-agent-menu-summaries :if org-agent--chat-p)
    ("Q" "Stop the kernel" org-agent-stop)]
   ["Inside"
    ("y" "Why it did this" org-agent-why)
    ("u" "Usage and cost" org-agent-usage)
    ("z" "Take a turn back" org-agent-undo-turn)
    ("l" "Log" org-agent-log)
    ("j" "What it may do" org-agent-menu-permissions)
    ("i" "Status" org-agent-status)
    ("d" "Doctor" org-agent-doctor)]
   ["Writing"
    ("v" "Complete" org-agent-complete)
    ("V" "Complete as I type" org-agent-complete-mode)
    ("<" "Question before" org-agent-previous-question
     :if org-agent--chat-p :transient t)
    (">" "Question after" org-agent-next-question
     :if org-agent--chat-p :transient t)
    ("H" "Earlier questions" org-agent-insert-question :if org-agent--chat-p)
    ("b" "Copy a block" org-agent-copy-block)
    ("B" "Insert the block" org-agent-yank-block)]])

(provide 'org-agent)
;;; org-agent.el ends here
