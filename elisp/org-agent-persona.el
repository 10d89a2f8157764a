;;; org-agent-persona.el --- Who the agent is  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Who the agent is, whom it works for and what it should know stands in
;; files of its home.  `org-agent-persona' opens one.  They are the person's:
;; nothing here writes them, and what is saved counts from the next turn on.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-kernel)

(defconst org-agent-persona-roles
  '(("IDENTITY" . "who the agent is: its name, what it is for")
    ("SOUL" . "how it is and speaks")
    ("USER" . "you: name, time zone, languages")
    ("TOOLS" . "what it should know when it uses tools here")
    ("PROFILES" . "people it hears of")
    ("WORKSPACE" . "where your work is")
    ("MEMORY" . "what it is to remember")
    ("HEARTBEAT" . "what it looks after from time to time"))
  "The files of a home that are told to the model, and what they are for.")

(defun org-agent-persona--file (role)
  "Return the file of ROLE: the one in Org, or in Markdown if only that is there."
  (let ((file (expand-file-name role (org-agent-home-directory))))
    (cl-find-if #'file-exists-p (list (concat file ".org") (concat file ".md")))))

(defun org-agent-persona--state (role)
  "Return a word on the content of the file of ROLE."
  (let ((file (org-agent-persona--file role)))
    (cond ((null file) "not there")
          ((not (file-readable-p file)) "not readable")
          ((with-temp-buffer
             (insert-file-contents file)
             (re-search-forward "^[ \t]*[^#\n \t]" nil t))
           "")
          (t "says nothing yet"))))

(defun org-agent-persona--annotate (role)
  "Return what is shown behind ROLE where one is chosen."
  (let ((state (org-agent-persona--state role)))
    (concat "  " (cdr (assoc role org-agent-persona-roles))
            (unless (string-empty-p state) (concat " (" state ")")))))

;;;###autoload
(defun org-agent-persona (role)
  "Open the file of ROLE: who the agent is, whom it works for and the like.
What you save counts from the next turn on; \\[org-agent-prompt]
shows what the model is told of it."
  (interactive
   (list (let ((completion-extra-properties
                '(:annotation-function org-agent-persona--annotate))
               (completion-ignore-case t))
           (completing-read "Who it is: " (mapcar #'car org-agent-persona-roles)
                            nil t nil nil "IDENTITY"))))
  (unless (assoc role org-agent-persona-roles)
    (user-error "There is no file of that name; there are %s"
                (string-join (mapcar #'car org-agent-persona-roles) ", ")))
  (let ((file (org-agent-persona--file role)))
    (find-file (or file (expand-file-name (concat role ".org")
                                          (org-agent-home-directory))))
    (when (and (null file) (zerop (buffer-size)))
      (insert "#+TITLE: " (capitalize role) "\n")
      (set-buffer-modified-p nil))))

(provide 'org-agent-persona)
;;; org-agent-persona.el ends here
