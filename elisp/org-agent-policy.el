;;; org-agent-policy.el --- What the agent may do  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What the agent may do without asking, and what it may never do, stands in a
;; table of policy.org in its home.  `org-agent-policy' opens it, and where
;; something waits for a decision, at the row because of which it is asked; a
;; hook of a note that asks is opened in its note.
;; The file is the person's: nothing here writes it, and what is saved counts
;; at once.

;;; Code:

(require 'org)
(require 'org-agent-kernel)
(require 'org-agent-approval)

(defun org-agent-policy--reason ()
  "Return why what is at point is asked, an empty string where nothing is."
  (let ((approval (ignore-errors (org-agent-approval-at-point))))
    (or (plist-get approval :reason) "")))

(defun org-agent-policy--line ()
  "Return the line of policy.org because of which what is at point is asked."
  (let ((reason (org-agent-policy--reason)))
    (and (string-match "\\bpolicy\\.org:\\([0-9]+\\)\\b" reason)
         (string-to-number (match-string 1 reason)))))

(defun org-agent-policy--hook ()
  "Return the note and the line of the hook because of which is asked.
That is a cons cell, nil where no hook of the person's notes asks."
  (let ((reason (org-agent-policy--reason)))
    (when (or (string-match "\\bthe hook [^ ]+ (\\([^/()]+\\.org\\):\\([0-9]+\\))"
                            reason)
              (string-match "\\bthe hooks of \\([^/()]+\\.org\\) are .*?: line \\([0-9]+\\):"
                            reason))
      (let* ((line (string-to-number (match-string 2 reason)))
             (file (expand-file-name
                    (match-string 1 reason)
                    (expand-file-name "skills" (org-agent-home-directory)))))
        (and (file-exists-p file) (cons file line))))))

(defun org-agent-policy--go-to-table ()
  "Move to the table of rules, if there is one."
  (goto-char (point-min))
  (let ((case-fold-search t))
    (when (re-search-forward "^\\*+[ \t]+Rules[ \t]*$" nil t)
      (forward-line 0)
      (let ((end (save-excursion (org-end-of-subtree t) (point))))
        (when (re-search-forward "^[ \t]*|" end t)
          (forward-line 0))))))

;;;###autoload
(defun org-agent-policy (&optional line note)
  "Open policy.org, which says what the agent may do, at LINE if that is given.
Where something waits for a decision, that is the line of the rule
because of which it is asked, or that of the hook of a NOTE that
asks.  What you save counts at once; \\[org-agent-doctor] tells of rows
that cannot be read, \\[org-agent-skills] lists the hooks."
  (interactive (let ((rule (org-agent-policy--line))
                     (hook (org-agent-policy--hook)))
                 (if (or rule (not hook))
                     (list rule)
                   (list (cdr hook) (car hook)))))
  (let ((file (or note (expand-file-name "policy.org"
                                         (org-agent-home-directory)))))
    (unless (file-exists-p file)
      (user-error "There is no %s yet; it is made when the kernel starts"
                  (abbreviate-file-name file)))
    (find-file file)
    (widen)
    (goto-char (point-min))
    (unless (and line (zerop (forward-line (1- line))))
      (org-agent-policy--go-to-table))
    (when (derived-mode-p 'org-mode)
      (org-show-context 'agenda))))

(provide 'org-agent-policy)
;;; org-agent-policy.el ends here
