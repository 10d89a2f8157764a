;;; org-agent-drawer.el --- Property drawers out of sight  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Every turn of a conversation has a property drawer, which its reader
;; rarely wants to see.  Font lock hides what is in it, with text
;; properties: no overlay for each turn.  TAB on a `:PROPERTIES:' line
;; shows one drawer and hides it again.  That an answer was stopped, failed
;; or broke off is seen all the same: its `:STATE:' is not hidden.

;;; Code:

(require 'org)

(defvar font-lock-beg)
(defvar font-lock-end)
(defcustom org-agent-show-thoughts nil
  "Non-nil means that thoughts and calls stand unfolded in an answer.
TAB on the first line of their drawer opens and closes it."
  :type 'boolean
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-drawer--regexp
  "^[ \t]*:\\(?:PROPERTIES\\|THOUGHTS\\|CALLS\\):[ \t]*\\(\n\\(?:[ \t]*:.*\n\\)*?[ \t]*:END:\\)[ \t]*$"
  "Matches a drawer that is hidden; group 1 is what of it.
All its lines begin with a colon: those of thoughts and calls have a
fixed width.")

(defconst org-agent-drawer--start
  "[ \t]*:\\(?:PROPERTIES\\|THOUGHTS\\|CALLS\\):[ \t]*$"
  "Matches the first line of such a drawer.")

(defface org-agent-drawer-state '((t :inherit warning))
  "Face of what became of an answer that is not whole."
  :group 'org-agent)

(defun org-agent-drawer-setup ()
  "Hide property drawers in the current buffer, which is in Org mode."
  (add-to-invisibility-spec '(org-agent-drawer . t))
  (font-lock-add-keywords nil '((org-agent-drawer--fontify)) t)
  (add-hook 'font-lock-extend-region-functions
            #'org-agent-drawer--extend-region nil t)
  (add-hook 'org-tab-first-hook #'org-agent-drawer-toggle nil t))

(defun org-agent-drawer--fontify (limit)
  "Hide the drawers between point and LIMIT; a font-lock matcher.
Return nil: there is nothing left to highlight."
  (let ((case-fold-search t))
    (while (re-search-forward org-agent-drawer--regexp limit t)
      (unless (org-agent-drawer--shown-p (match-beginning 0))
        (org-agent-drawer--hide (match-beginning 1) (match-end 1)))))
  nil)

(defun org-agent-drawer--hide (beg end)
  "Hide the lines of a drawer from BEG to END but what it says of its state."
  (put-text-property beg end 'invisible 'org-agent-drawer)
  (save-excursion
    (save-match-data
      (goto-char beg)
      (when (re-search-forward "\n:STATE:[ \t]+\\(\\S-.*\\)$" end t)
        (remove-list-of-text-properties (match-beginning 0) (match-end 0)
                                        '(invisible))
        (add-face-text-property (match-beginning 1) (match-end 1)
                                'org-agent-drawer-state)))))

(defun org-agent-drawer--shown-p (position)
  "Return non-nil when the drawer at POSITION is to be seen.
That is what a person chose with TAB, or else what is the rule."
  (pcase (get-text-property position 'org-agent-drawer-shown)
    ('yes t)
    ('no nil)
    (_ (and org-agent-show-thoughts
            (save-excursion
              (goto-char position)
              (looking-at-p "[ \t]*:\\(?:THOUGHTS\\|CALLS\\):"))))))

(defun org-agent-drawer--extend-region ()
  "Extend the region to be fontified to whole drawers.
Return non-nil when that changed it."
  (let ((beg font-lock-beg) (end font-lock-end))
    (setq font-lock-beg (org-agent-drawer--edge beg #'car)
          font-lock-end (org-agent-drawer--edge end #'cdr))
    (not (and (= beg font-lock-beg) (= end font-lock-end)))))

(defun org-agent-drawer--edge (position edge)
  "Return the EDGE, `car' or `cdr', of the drawer POSITION is within.
Outside of drawers return POSITION."
  (save-excursion
    (goto-char position)
    (let ((region (org-agent-drawer--around)))
      (if (and region (< (car region) position (cdr region)))
          (funcall edge region)
        position))))

(defun org-agent-drawer--around ()
  "Return the drawer that point is in, (BEG . END), or nil."
  (save-excursion
    (save-match-data
      (forward-line 0)
      (let ((case-fold-search t))
        (while (and (not (bobp))
                    (looking-at "[ \t]*:")
                    (not (looking-at org-agent-drawer--start)))
          (forward-line -1))
        (when (looking-at org-agent-drawer--regexp)
          (cons (match-beginning 0)
                (min (point-max) (1+ (match-end 0)))))))))

(defun org-agent-drawer-toggle ()
  "Show or hide the drawer whose first line point is on.
Return nil when there is none.  This is for `org-tab-first-hook'."
  (when-let ((region (and (save-excursion
                            (forward-line 0)
                            (looking-at-p org-agent-drawer--start))
                          (org-agent-drawer--around))))
    (let ((shown (org-agent-drawer--shown-p (car region))))
      (with-silent-modifications
        (put-text-property (car region) (cdr region)
                           'org-agent-drawer-shown (if shown 'no 'yes)))
      (unless shown (org-hide-drawer-toggle 'off t))
      (font-lock-flush (car region) (cdr region))
      (font-lock-ensure (car region) (cdr region)))
    t))

(provide 'org-agent-drawer)
;;; org-agent-drawer.el ends here
