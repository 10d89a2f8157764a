;;; org-agent-branch.el --- Going on from an old heading  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-branch' makes a draft below the question or answer at point: a
;; heading with the tag `:draft:', which C-c C-c in it sends.  With the
;; property HISTORY set to branch the model is shown the turns that the
;; question stands below, and nothing that was said elsewhere.

;;; Code:

(require 'subr-x)
(require 'org)
(require 'org-agent-draft)
(require 'org-agent-chat)

(defcustom org-agent-branch-alone t
  "Whether a draft below an old heading gets the property HISTORY: branch.
It holds for all that is asked below it.  If nil the model is shown what
was said before in the whole conversation, as always."
  :type 'boolean
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defun org-agent-branch ()
  "Begin a draft below the question or answer at point, and go there.
\\[org-agent-send] sends it while point is in it.  See
`org-agent-branch-alone' for what the model is shown."
  (interactive)
  (org-agent-chat-check)
  (let ((heading (org-agent-branch--turn-at (point))))
    (unless heading
      (user-error "Point is on no question and no answer"))
    (when (member "unsent" (org-agent-heading-tags heading))
      (user-error "This question was not sent yet; C-c C-c sends it"))
    (widen)
    (let ((level (1+ (org-agent-heading-level heading)))
          start)
      (goto-char (org-agent-subtree-end heading))
      (unless (bolp) (insert "\n"))
      (setq start (point))
      (insert (org-agent-turn-heading level "" '("draft"))
              (if org-agent-branch-alone
                  ":PROPERTIES:\n:HISTORY:  branch\n:END:\n"
                ""))
      (goto-char (+ start level 1))
      (org-show-set-visibility 'canonical))))

(defun org-agent-branch--turn-at (position)
  "Return the heading of the question or answer that POSITION is in, or nil."
  (let ((heading (org-agent-heading-at position)))
    (while (and heading (not (org-agent-turn-p heading)))
      (setq heading (org-agent-heading-above heading)))
    heading))

(provide 'org-agent-branch)
;;; org-agent-branch.el ends here
