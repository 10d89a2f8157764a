;;; org-agent-paste.el --- Turns that are pasted are words  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A turn's heading is one with a tag and an `:ID:', and the draft is what
;; stands behind the last.  So a question or an answer that somebody copies
;; into the draft would count as said, and cut the draft in two.  What is
;; put into a draft is words: the tags and drawers of turns go, as a part
;; of the command that brought them, and one `undo' takes back both.
;;
;; Elsewhere a turn that is moved stays one; of a copy the ID would stand
;; twice, and it becomes words too.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-draft)
(require 'org-agent-answer)

(defvar org-agent-chat-session)

(defvar-local org-agent-paste--regions nil
  "What was put in and not looked at yet: a list of (BEG . END), markers.")

(defun org-agent-paste-setup ()
  "Look at what is put into this conversation."
  (add-hook 'after-change-functions #'org-agent-paste--note nil t))

(defun org-agent-paste--note (beg end _length)
  "Note the text from BEG to END if it has what looks like a turn.
It may not be changed before the command that put it in has ended.  What
cuts off the tag of a draft below an old heading is noted, too."
  (when (and (> (- end beg) 1)
             org-agent-chat-session
             (not undo-in-progress)
             (not org-agent-answer--writing)
             (org-agent-draft--widely
               (goto-char end)
               (let ((limit (line-end-position)))
                 (goto-char beg)
                 (forward-line 0)
                 (or (re-search-forward org-agent-draft--turn-regexp limit t)
                     (org-agent-paste--split-p (point) beg end)))))
    (push (cons (copy-marker beg) (copy-marker end t)) org-agent-paste--regions)
    (add-hook 'post-command-hook #'org-agent-paste-settle nil t)))

(defun org-agent-paste--split-p (from beg end)
  "Return non-nil when the heading at FROM lost its tag, \":draft:\".
That is because lines were put into it between BEG and END."
  (and (< from beg)
       (progn (goto-char end) (looking-at-p "[ \t]+:draft:[ \t]*$"))
       (not (<= (line-beginning-position) from))
       (progn (goto-char from) (looking-at-p "\\*+ "))))

(defun org-agent-paste-settle ()
  "Make words of the turns that were put where they are none."
  (remove-hook 'post-command-hook #'org-agent-paste-settle t)
  (while org-agent-paste--regions
    (pcase-let ((`(,beg . ,end) (pop org-agent-paste--regions)))
      (when (< beg end)
        (let ((inhibit-read-only t))
          (org-agent-draft--widely
            (org-agent-paste--settle beg end))))
      (set-marker beg nil)
      (set-marker end nil))))

(defun org-agent-paste--settle (beg end)
  "Make words of the turns between the markers BEG and END, where needed."
  (let* ((from (progn (goto-char beg) (line-beginning-position)))
         (split (org-agent-paste--split-p from beg end))
         (branch (if split from
                   (and (> from (point-min))
                        (org-agent-draft-branch-at (1- from)))))
         (drafted (or branch (org-agent-paste--in-draft-p from beg end)))
         (elsewhere (unless drafted (org-agent-paste--ids-outside from end))))
    (dolist (heading (org-agent-paste--turns from end))
      (when (or drafted
                (gethash (org-agent-heading-property heading "ID") elsewhere))
        (org-agent-paste--to-words heading)))
    (when drafted
      (org-agent-paste--join beg))
    (when split
      (org-agent-paste--unsplit from end))
    (when branch
      (org-agent-paste--demote beg end (org-agent-heading-level branch)))))

(defun org-agent-paste--turns (from end)
  "Return the headings of the turns between FROM and END, the last first."
  (let (turns)
    (goto-char end)
    (let ((limit (line-end-position)))
      (goto-char from)
      (while (re-search-forward org-agent-draft--turn-regexp limit t)
        (let ((heading (line-beginning-position)))
          (when (and (< heading end) (org-agent-turn-p heading))
            (push heading turns)))))
    turns))

(defun org-agent-paste--in-draft-p (from beg end)
  "Return non-nil when what stands between BEG and END was put into the draft.
FROM is the beginning of its first line.  That is so when no turn stands
behind it, and the draft begins before it."
  (and (null (org-agent-paste--turns-behind end))
       (let ((last (org-agent-paste--turn-before from))
             found)
         (goto-char (if last (min from (org-agent-subtree-end last))
                      (point-min)))
         (while (and (not found) (re-search-forward "^\\*+ " beg t))
           (goto-char (match-beginning 0))
           ;; In the first line stands what was put there, too.
           (if (and (< (point) from) (org-agent-heading-property (point) "ID"))
               (end-of-line)
             (setq found t)))
         found)))

(defun org-agent-paste--turns-behind (end)
  "Return non-nil when a turn stands behind the line of END."
  (goto-char end)
  (unless (bolp) (forward-line))
  (let (found)
    (while (and (not found)
                (re-search-forward org-agent-draft--turn-regexp nil t))
      (setq found (org-agent-turn-p (line-beginning-position))))
    found))

(defun org-agent-paste--turn-before (from)
  "Return the heading of the last turn before FROM, or nil."
  (goto-char from)
  (let (found)
    (while (and (not found)
                (re-search-backward org-agent-draft--turn-regexp nil t))
      (when (org-agent-turn-p (point))
        (setq found (point))))
    found))

(defun org-agent-paste--ids-outside (from end)
  "Return the IDs of the turns that are not between FROM and END, a table."
  (let ((ids (make-hash-table :test #'equal)))
    (org-agent-map-turns
     (lambda (heading)
       (unless (<= from heading end)
         (puthash (org-agent-heading-property heading "ID") t ids))))
    ids))

(defun org-agent-paste--to-words (heading)
  "Take from the turn at HEADING what makes it one: its tags and its drawer."
  (let ((drawer-end (cdr (assq t (org-agent-heading-properties heading))))
        (tags (cl-set-difference (org-agent-heading-tags heading)
                                 '("user" "agent" "unsent" "waiting")
                                 :test #'equal)))
    (goto-char drawer-end)
    (re-search-backward "^[ \t]*:PROPERTIES:" heading)
    (delete-region (point) drawer-end)
    (goto-char heading)
    (when (re-search-forward org-agent-draft--tags-regexp
                             (line-end-position) t)
      (delete-region (match-beginning 0) (line-end-position))
      (when tags
        (goto-char (line-end-position))
        (insert " :" (string-join tags ":") ":")))))

(defun org-agent-paste--join (beg)
  "Take the stars away that were put at BEG, right behind those of the draft."
  (goto-char beg)
  (when (and (looking-at "\\*+ ")
             (save-match-data (looking-back "^\\*+ +" (line-beginning-position))))
    (delete-region (match-beginning 0) (match-end 0))))

(defun org-agent-paste--unsplit (from end)
  "Give the heading at FROM its tag back, and its drawer, which stand at END."
  (goto-char end)
  (when (looking-at "[ \t]+:draft:[ \t]*\\(?:\n:PROPERTIES:\n\\(?:.*\n\\)*?:END:[ \t]*\\)?$")
    (let ((tail (match-string 0)))
      (delete-region (match-beginning 0) (match-end 0))
      (goto-char from)
      (end-of-line)
      (insert tail))))

(defun org-agent-paste--demote (beg end level)
  "Move the headings between BEG and END below LEVEL."
  (goto-char beg)
  (unless (bolp) (forward-line))
  (when (< (point) end)
    (let* ((text (buffer-substring (point) end))
           (below (org-agent-draft--demote text level)))
      (unless (equal text below)
        (delete-region (point) end)
        (insert below)))))

(provide 'org-agent-paste)
;;; org-agent-paste.el ends here
