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

(require 'subr-x)

(defgroup org-agent nil
  "An agent that lives in Org."
  :group 'org
  :prefix "org-agent-")

(defgroup org-agent-chat nil
  "Conversations with the agent."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-context nil
  "What goes along with a message."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-ask nil
  "Asking the agent from any buffer."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-complete nil
  "Text that the agent proposes as one types."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-privacy nil
  "What no model sees."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-speech nil
  "Hearing the agent, and speaking to it."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-notify nil
  "Being told of what one does not look at."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-lists nil
  "Lists of conversations, skills and the like."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-inside nil
  "What the kernel does and how it is."
  :group 'org-agent
  :prefix "org-agent-")

(defconst org-agent-version "0.1.0"
  "The version of this package.")

(defconst org-agent-directory
  (file-name-directory (or load-file-name buffer-file-name default-directory))
  "The directory of this package.")

(defconst org-agent-loaded (current-time)
  "When this Emacs loaded the package.")

(defcustom org-agent-program nil
  "The org-agent program, a file name.
When nil, it is `bin/org-agent' beside the directory of this package,
or else `org-agent' on variable `exec-path'."
  :type '(choice (const :tag "Find it" nil) file)
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-home nil
  "The home of the agent, a directory.
When nil, it is what the environment variable ORG_AGENT_HOME names, or
else `~/.org-agent'."
  :type '(choice (const :tag "Default" nil) directory)
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

;;;; What the kernel may ask

(defvar org-agent-performers
  '((:message . org-agent-act-message)
    (:open . org-agent-act-open)
    (:edit . org-agent-edit-perform)
    (:set-properties . org-agent-edit-set-properties)
    (:insert-at-end . org-agent-turn-insert-answer))
  "What this Emacs does for the kernel: actions of :emacs, and functions.
Each gets the parameters of the method `act', a plist, and returns a
receipt, a plist.  The kernel is told the keys, and asks for nothing
else.")

(defvar org-agent-requests
  '((act . org-agent-kernel-perform)
    (emacs/notes . org-agent-agenda-org-files)
    (emacs/agenda . org-agent-agenda-days)
    (emacs/buffers . org-agent-act-list-buffers)
    (emacs/read . org-agent-act-read))
  "What this Emacs answers: methods of the kernel, and functions.
Each gets the parameters, a plist, and returns the result, a plist.  To
refuse, it signals `org-agent-rpc-error' with a code and a message.")

(defvar org-agent-notifications
  '((turn/started . org-agent-turn-started)
    (turn/delta . org-agent-turn-delta)
    (turn/thought . org-agent-turn-thought)
    (turn/progress . org-agent-header-progress-news)
    (turn/finished . org-agent-turn-finished)
    (turn/kept . org-agent-turn-kept)
    (turn/preferred . org-agent-branch-preferred)
    (session/keeper . org-agent-turn-file-owner)
    (session/renamed . org-agent-sessions-renamed)
    (session/compacted . org-agent-sessions-compacted)
    (ask/opened . org-agent-asks-opened)
    (ask/closed . org-agent-asks-closed)
    (model/changed . org-agent-settings-model-changed)
    (preset/changed . org-agent-settings-preset-changed)
    (skill/changed . org-agent-skills-changed)
    (subagent/changed . org-agent-subagent-changed)
    (memory/changed . org-agent-memory-changed)
    (memory/proposed . org-agent-memory-proposed)
    (file/changed . org-agent-act-refresh-files)
    (log . org-agent-log-news)
    (notice . org-agent-turn-notice))
  "What the kernel tells: methods, and the functions that take note.
Each gets the parameters, a plist.")

;;;; Where things are

(defun org-agent-home-directory ()
  "Return the agent's home as a directory name.
The kernel runs on this machine, and so does its home have to be here."
  (let ((home (or org-agent-home
                  (org-agent--environment "ORG_AGENT_HOME")
                  "~/.org-agent"))
        (default-directory (if (file-remote-p default-directory) "~/"
                             default-directory)))
    (when (file-remote-p home)
      (user-error "The agent's home %s is on another machine; set `org-agent-home' to a directory of this one"
                  home))
    (file-name-as-directory (expand-file-name home))))

(defun org-agent--environment (name)
  "Return the environment variable NAME, nil when it is unset or empty."
  (let ((value (getenv name)))
    (and value (not (string-empty-p value)) value)))

(defun org-agent--real-name (directory)
  "Return the real path of DIRECTORY, without a slash at its end."
  (directory-file-name (file-truename directory)))

(defun org-agent--instance ()
  "Return the name of this home's files: every home has its own kernel."
  (let ((home (org-agent--real-name (org-agent-home-directory))))
    (if (equal home (org-agent--real-name "~/.org-agent"))
        "org-agent"
      (concat "org-agent-"
              (substring (secure-hash 'sha256 (encode-coding-string
                                               home 'utf-8-unix))
                         0 8)))))

(defun org-agent-state-file (name)
  "Return the file NAME in the state directory of this home."
  (let ((state (org-agent--environment "XDG_STATE_HOME")))
    (expand-file-name
     name
     (expand-file-name (org-agent--instance)
                       (if (and state (file-name-absolute-p state))
                           state
                         "~/.local/state")))))

;; Whatever else there is, the autoloads know in which file.  package.el
;; loads them when Emacs starts, and makes them when it installs a package;
;; in a checkout `make build' does.
(unless (fboundp 'org-agent-menu)
  (load (expand-file-name "org-agent-autoloads" org-agent-directory) t t))

(provide 'org-agent)
;;; org-agent.el ends here
