;;; org-agent-drawer.el --- Thoughts, calls and subagents on a page  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An answer begins with drawers that have what the agent thought and
;; called.  On a page each is one quiet line, which TAB unfolds.
;;
;; The functions here are called by the font lock of `org-agent-page-setup'
;; and set text properties, as those of `org-agent-layout.el' do.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-fontify)
(require 'org-agent-heading)
(require 'org-agent-layout)

(defvar org-agent-page-show-thoughts)

;;;; How a drawer looks

(defun org-agent-drawer--quiet (string simpler)
  "Return STRING, or SIMPLER where it cannot be displayed, as a quiet text."
  (propertize (org-agent-layout-glyph string simpler)
              'face 'org-agent-page-quiet))

(defun org-agent-drawer-lay-out (beg end name)
  "Show the drawer NAME from BEG to END, or rather what of it one reads.
The properties of a turn are for programs.  Group 2 of the match data is
the text of the drawer."
  (if (equal name "PROPERTIES")
      (when (> beg (point-min))
        (org-agent-layout-hide (1- beg) end))
    (let ((line-end (save-excursion (goto-char beg) (line-end-position)))
          (unfolded (org-agent-drawer--unfolded-p beg)))
      (put-text-property
       beg (1+ beg) 'display
       (concat (if unfolded
                   (org-agent-drawer--quiet "▾ " "- ")
                 (org-agent-drawer--quiet "▸ " "+ "))
               (propertize (org-agent-fontify-drawer-summary
                            name (match-string-no-properties 2))
                           'face 'org-agent-page-quiet)))
      ;; One character has the line.  Were it the text, Emacs would lose the
      ;; column behind a hidden heading.
      (org-agent-layout-hide (1+ beg) line-end)
      (if unfolded
          (progn
            (goto-char end)
            (org-agent-layout-hide (1- (line-beginning-position)) end))
        (org-agent-layout-hide line-end end)))))

(defun org-agent-drawer--unfolded-p (position)
  "Return non-nil when the drawer at POSITION is to be seen whole.
That is what a person chose with TAB, or else what is the rule."
  (pcase (get-text-property position 'org-agent-drawer-unfolded)
    ('yes t)
    ('no nil)
    (_ org-agent-page-show-thoughts)))

;;;; What TAB does on its line

(defun org-agent-drawer--here ()
  "Return where the thoughts or calls begin on whose line point is seen, or nil.
The heading before them may be hidden."
  (save-excursion
    (forward-line 0)
    (when (eq (get-text-property (point) 'invisible) 'org-agent-page)
      (goto-char (next-single-property-change (point) 'invisible nil (point-max))))
    (let ((case-fold-search t))
      (and (bolp)
           (looking-at org-agent-fontify-drawer-regexp)
           (not (equal (upcase (match-string 1)) "PROPERTIES"))
           (point)))))

(defun org-agent-drawer-toggle ()
  "Unfold or fold the thoughts or calls on whose line point is.
Return nil when there are none."
  (when-let* ((beg (org-agent-drawer--here)))
    (save-excursion
      (goto-char beg)
      (let ((end (cdr (org-agent-fontify-drawer-around)))
            (unfolded (org-agent-drawer--unfolded-p beg)))
        (with-silent-modifications
          (put-text-property beg end 'org-agent-drawer-unfolded
                             (if unfolded 'no 'yes)))
        (unless unfolded
          (org-agent-heading-call-org 'org-fold-hide-drawer-toggle
                                      'org-hide-drawer-toggle 'off t))
        (font-lock-flush beg end)
        (font-lock-ensure beg end)))
    t))

(provide 'org-agent-drawer)
;;; org-agent-drawer.el ends here
