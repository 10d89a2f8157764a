;;; org-agent.el --- An agent that lives in Org  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; URL: https://org-agent.invalid/
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
;; program, the kernel.  Emacs starts it when none runs, and it outlives
;; Emacs.  An answer streams in below its question as Org while you go on
;; typing.  It is one undo step, and nothing in it can run code.
;;
;; No key is bound.  These are some that you could bind in your init file:
;;
;;     (global-set-key (kbd "C-c t") #'org-agent-chat)    ; talk
;;     (global-set-key (kbd "C-c q") #'org-agent-ask)     ; ask from here
;;     (global-set-key (kbd "C-c r") #'org-agent-rewrite) ; rewrite the region
;;     (global-set-key (kbd "C-c j") #'org-agent-menu)    ; everything else
;;
;; `org-agent-menu' has every command.  This file has what all other files
;; need: the customize groups, the tables of what the kernel may ask of
;; Emacs, and where the files are.  The other files are loaded when they are
;; used.

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
  "Files, buffers, regions and images that are sent with a message."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-ask nil
  "Asking the agent from any buffer."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-complete nil
  "Completions that a model proposes while you type."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-privacy nil
  "Buffers and text that no model may see."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-speech nil
  "Reading answers aloud, and dictating."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-notify nil
  "Notifications, and the state of the agent in the mode line."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-lists nil
  "Lists of conversations, skills and the like."
  :group 'org-agent
  :prefix "org-agent-")

(defgroup org-agent-inside nil
  "Log, status and doctor of the kernel."
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
When nil, it is `bin/org-agent' in the directory of this package or
beside that, or else `org-agent' on variable `exec-path'.  Where none of
them is there, it is built from the sources beside the package."
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

;;;; Tasks in the agenda files

(declare-function org-agent-tasks-announce "org-agent-tasks" ())

(defcustom org-agent-tasks-agenda-tag nil
  "Tag of the headings of your agenda files that are tasks of the agent.
When nil, only the headings of `tasks.org' are tasks.  With a tag, such as
\"agenttask\", the kernel looks at the files of `org-agenda-files' for
headings with that tag and a time.  Each is done only after you armed it
in the list of `org-agent-tasks', and only as long as you do not change
it.  The tag is held where a model writes it, as agenttask always is."
  :type '(choice (const :tag "Only tasks.org has tasks" nil)
                 (string :value "agenttask"
                         :valid-regexp "\\`[[:alnum:]_@#%]+\\'"))
  :set (lambda (symbol value)
         (set-default symbol value)
         (when (featurep 'org-agent-kernel)
           (org-agent-tasks-announce)))
  :group 'org-agent-lists
  :package-version '(org-agent . "0.1.0"))

(defun org-agent-tasks-announce-wanted ()
  "Tell the kernel where there are tasks if `org-agent-tasks-agenda-tag' is set.
This is for `org-agent-kernel-ready-hook'."
  (when org-agent-tasks-agenda-tag
    (org-agent-tasks-announce)))

;;;; Requests of the kernel

(defvar org-agent-performers
  '((:message . org-agent-act-message)
    (:open . org-agent-act-open)
    (:edit . org-agent-edit-perform)
    (:set-properties . org-agent-edit-set-properties)
    (:insert-at-end . org-agent-turn-insert-answer))
  "The actions that this Emacs performs, an alist of names and functions.
A function gets the parameters of the method `act', a plist, and returns
a receipt, a plist.  Emacs announces the names to the kernel, which
requests no other action of Emacs.")

(defvar org-agent-requests
  '((act . org-agent-kernel-perform)
    (emacs/notes . org-agent-agenda-org-files)
    (emacs/agenda . org-agent-agenda-days)
    (emacs/buffers . org-agent-act-list-buffers)
    (emacs/contacts . org-agent-contacts-find)
    (emacs/read . org-agent-act-read))
  "The requests of the kernel that this Emacs answers: methods and functions.
A function gets the parameters, a plist, and returns the result, a plist.
It refuses a request with `org-agent-rpc-refuse'.")

(defvar org-agent-notifications
  '((turn/started . org-agent-turn-started)
    (turn/delta . org-agent-turn-delta)
    (turn/thought . org-agent-turn-thought)
    (turn/commentary . org-agent-turn-commentary)
    (turn/progress . org-agent-header-show-progress)
    (turn/finished . org-agent-turn-finished)
    (turn/kept . org-agent-turn-kept)
    (turn/preferred . org-agent-branch-preferred)
    (session/keeper . org-agent-turn-file-owner)
    (session/renamed . org-agent-sessions-renamed)
    (session/compacted . org-agent-sessions-compacted)
    (ask/opened . org-agent-asks-opened)
    (ask/closed . org-agent-asks-closed)
    (model/changed . org-agent-settings-model-changed)
    (server/changed . org-agent-settings-server-changed)
    (preset/changed . org-agent-settings-preset-changed)
    (skill/changed . org-agent-skills-changed)
    (subagent/changed . org-agent-status-subagent-changed)
    (memory/changed . org-agent-memory-changed)
    (memory/proposed . org-agent-memory-proposed)
    (inbox/changed . org-agent-inbox-changed)
    (chat/changed . org-agent-inbox-chat-changed)
    (file/changed . org-agent-act-refresh-files)
    (log . org-agent-log-news)
    (notice . org-agent-turn-notice))
  "The notifications of the kernel: methods and the functions that handle them.
A function gets the parameters, a plist.")

;;;; Text

(defun org-agent-one-line (text &optional width)
  "Return TEXT on one line, with blanks in place of control characters.
With WIDTH cut it to that many columns."
  (let ((line (if (string-match-p "[[:cntrl:]]" text)
                  (replace-regexp-in-string "[[:cntrl:]]+" " " text)
                text)))
    (if width
        (truncate-string-to-width line width nil nil t)
      line)))

(defun org-agent-say (format &rest arguments)
  "Show a message, FORMAT with ARGUMENTS, with lines broken between words.
Emacs would break one that is longer than the echo area inside a word."
  (let ((text (apply #'format-message format arguments))
        (width (- (frame-width) 2)))
    (message "%s" (if (or noninteractive (<= (string-width text) width))
                      text
                    (with-temp-buffer
                      (setq fill-column width
                            sentence-end-double-space nil)
                      (insert text)
                      (let ((adaptive-fill-mode nil))
                        (fill-region (point-min) (point-max)))
                      (string-trim-right (buffer-string)))))))

(defun org-agent-counted (count noun)
  "Return COUNT with NOUN, which gets an s unless there is one."
  (format "%d %s%s" count noun (if (eql count 1) "" "s")))

(defun org-agent-thousands (number)
  "Return NUMBER, of tokens, as 950, 12k or 1.5M."
  (cond ((>= number 1000000)
         (concat (string-remove-suffix ".0" (format "%.1f" (/ number 1e6))) "M"))
        ((>= number 10000) (format "%dk" (/ number 1000)))
        ((>= number 1000)
         (concat (string-remove-suffix ".0" (format "%.1f" (/ number 1e3))) "k"))
        (t (number-to-string number))))

(defun org-agent-dollars (usage)
  "Return the cost of USAGE, a plist from the kernel, nil when it is unknown.
A `+' says that the price of a part of it is unknown."
  (when-let* ((cost (plist-get usage :cost)))
    (format "$%.4f%s" cost
            (if (> (or (plist-get usage :unpriced) 0) 0) "+" ""))))

;;;; The mouse

(defun org-agent-click-map (command)
  "Return a keymap in which a click of the first or second button calls COMMAND."
  (let ((map (make-sparse-keymap)))
    (define-key map [mouse-1] command)
    (define-key map [mouse-2] command)
    map))

(defun org-agent-clicked (place)
  "Return the click that called this command, as a list of its arguments.
PLACE, in words, is what has to be clicked on."
  (list (if (mouse-event-p last-input-event)
            last-input-event
          (user-error "Click on %s" place))))

;;;; Files

(defun org-agent-home-directory ()
  "Return the agent's home as a directory name.
It has to be a directory of this machine, since the kernel runs here."
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

(defun org-agent-file-in-directory-p (file directory)
  "Return non-nil if FILE is DIRECTORY or in it.  Links are followed.
`file-in-directory-p' compares what the directory is at two moments, with
its times, and so says no while another program, such as the kernel,
writes there."
  (string-prefix-p (file-name-as-directory (file-truename directory))
                   (file-name-as-directory (file-truename file))))

(defun org-agent--instance ()
  "Return the name of this home's directories for state and sockets.
Every home has a kernel of its own."
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

;; The autoloads say which file defines a command.  package.el makes them
;; when it installs the package, and loads them when Emacs starts.  In a
;; checkout `make build' makes them, and this file loads them.
(unless (fboundp 'org-agent-menu)
  (load (expand-file-name "org-agent-autoloads" org-agent-directory) t t))

(provide 'org-agent)
;;; org-agent.el ends here
