;;; org-agent-complete-inert.el --- Proposed text that does nothing in Org  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A person who accepts a word does not look for what Org would make of
;; it.  So in Org prose a proposal goes through `org-agent-inert', together
;; with the line that it continues: a `+TBLFM:' behind a `#' is nothing by
;; itself.  What the person wrote is not changed; where the line is active
;; by itself nothing is proposed.  In a block of code, and in a buffer that
;; is not Org, text stays exactly as it is: but it never ends the block.

;;; Code:

(require 'subr-x)
(require 'org-agent-draft)
(require 'org-agent-inert)
(require 'org-agent-surroundings)

(defconst org-agent-complete-inert--line
  "[ \t]*\\(?:#\\+\\|:[-_[:word:]]+:\\|\\(?:CLOSED\\|DEADLINE\\|SCHEDULED\\|CLOCK\\):\\)"
  "Matches the beginning of a line of Org that is no text.")

(defun org-agent-complete-inert--in-code-p ()
  "Return non-nil when point is in a block whose text Org leaves alone."
  (org-agent-draft--widely
    (forward-line 0)
    (and (not (looking-at "[ \t]*#\\+\\(?:begin\\|end\\)_"))
         (re-search-backward "^\\(?:\\*+ \\|[ \t]*#\\+\\(begin\\|end\\)_\\(src\\|example\\|export\\|comment\\)\\_>\\)"
                             nil t)
         (match-beginning 1)
         (eq ?b (downcase (char-after (match-beginning 1)))))))

(defun org-agent-complete-inert-refusal ()
  "Return why nothing is proposed in the line at point of an Org buffer, or nil."
  (and (org-agent-surroundings--org-p)
       (not (org-agent-complete-inert--in-code-p))
       (save-excursion
         (forward-line 0)
         (let ((case-fold-search t))
           (looking-at-p org-agent-complete-inert--line)))
       "a line of settings is not continued"))

(defun org-agent-complete-inert (text)
  "Return TEXT as it may come in at point, or nil when nothing of it may."
  (let ((text (cond
               ((not (org-agent-surroundings--org-p)) text)
               ((org-agent-complete-inert--in-code-p)
                (org-agent-complete-inert--within-code text))
               (t (org-agent-complete-inert--prose text)))))
    (and text (not (string-blank-p text)) text)))

(defun org-agent-complete-inert--within-code (text)
  "Return TEXT up to what would end the block that point is in."
  (let* ((before (buffer-substring-no-properties (line-beginning-position)
                                                 (point)))
         (whole (concat before text))
         (case-fold-search t)
         (end (string-match "^\\(?:\\*+ \\|[ \t]*#\\+\\)" whole)))
    (cond
     ((null end) text)
     ((> end (length before))
      (string-trim-right (substring whole (length before) end))))))

(defun org-agent-complete-inert--prose (text)
  "Return TEXT with nothing active in it, in the line that point is in."
  (let* ((before (buffer-substring-no-properties (line-beginning-position)
                                                 (point)))
         (after (buffer-substring-no-properties (point) (line-end-position)))
         ;; A line before it: what begins an answer has a drawer.
         (head (concat "-\n" before))
         (inert (org-agent-inert (concat head text after))))
    (and (string-prefix-p head inert)
         (string-suffix-p after inert)
         (>= (length inert) (+ (length head) (length after)))
         (substring inert (length head) (- (length inert) (length after))))))

(provide 'org-agent-complete-inert)
;;; org-agent-complete-inert.el ends here
