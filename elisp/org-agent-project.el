;;; org-agent-project.el --- The project that a conversation is about  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Who opens a conversation from a file of a project talks about that
;; project: the agent may read there without asking, as it may in the
;; project of what was attached.  The header line says which it is, and
;; `org-agent-project' sets another, or none.  The directory goes along
;; with each message; the kernel finds the project by itself and takes
;; no home for one, whatever it is sent.

;;; Code:

(require 'org-agent-kernel)

(defcustom org-agent-project-taken t
  "Non-nil has `org-agent-chat' take the project it is called in.
What it is called in outside of any project leaves a conversation's
project as it is."
  :type 'boolean
  :group 'org-agent)

(defvar-local org-agent-project nil
  "The directory of the project that this conversation may read, or nil.")
(put 'org-agent-project 'permanent-local t)

(defconst org-agent-project--signs '(".git" ".org-agent")
  "What the directory of a project has in it; the kernel looks for the same.")

(defun org-agent-project-of (directory)
  "Return the project that DIRECTORY of this machine is in, or nil.
A directory that holds the home is no project."
  (unless (file-remote-p directory)
    (when-let ((root (locate-dominating-file
                      directory
                      (lambda (parent)
                        (seq-some (lambda (sign)
                                    (file-exists-p (expand-file-name sign parent)))
                                  org-agent-project--signs)))))
      (let ((root (file-truename root)))
        (unless (or (equal root "/")
                    (string-prefix-p (file-name-as-directory root)
                                     (file-name-as-directory
                                      (file-truename "~"))))
          (file-name-as-directory root))))))

(defun org-agent-project-take (directory)
  "Make the project of DIRECTORY that of this conversation, if there is one."
  (when-let ((project (and org-agent-project-taken directory
                           (org-agent-project-of directory))))
    (setq org-agent-project project)
    (force-mode-line-update)))

(defun org-agent-project-set (directory)
  "Let this conversation read the project of DIRECTORY without asking.
With a prefix argument, which makes DIRECTORY nil, it has no project any
more: what was attached opens its own."
  (interactive
   (list (unless current-prefix-arg
           (read-directory-name "Project: " org-agent-project nil t)))
   org-agent-chat-mode)
  (unless (derived-mode-p 'org-agent-chat-mode)
    (user-error "A conversation has a project: call this in one"))
  (setq org-agent-project
        (when directory
          (or (org-agent-project-of directory)
              (user-error
               "%s is in no project below your home: neither .git nor .org-agent is in it or above it; an empty .org-agent makes it one"
               (abbreviate-file-name directory)))))
  (force-mode-line-update)
  (message (if org-agent-project "What is in %s is read without asking"
             "No project is read without asking")
           (and org-agent-project (abbreviate-file-name org-agent-project))))

(defun org-agent-project-event ()
  "Return what a message says of the project, as parameters of an event."
  (and org-agent-project (list :directory (directory-file-name org-agent-project))))

(provide 'org-agent-project)
;;; org-agent-project.el ends here
