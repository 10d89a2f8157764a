;;; org-agent-drawer.el --- Thoughts, calls and subagents on a page  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An answer begins with drawers that have what the agent thought and
;; called.  On a page each is one quiet line, which TAB unfolds.  A subagent
;; that was started is a call, and has a line of its own below that of the
;; calls.  TAB on it shows what the subagent did.
;;
;; The functions here are called by the font lock of `org-agent-page-setup'
;; and set text properties, as those of `org-agent-layout.el' do.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-fontify)
(require 'org-agent-heading)
(require 'org-agent-layout)

(declare-function org-agent-status-open-called "org-agent-status")

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
        (org-agent-layout-hide line-end end)
        (org-agent-drawer--lay-out-subagents line-end end)))))

(defun org-agent-drawer--unfolded-p (position)
  "Return non-nil when the drawer at POSITION is to be seen whole.
That is what a person chose with TAB, or else what is the rule."
  (pcase (get-text-property position 'org-agent-drawer-unfolded)
    ('yes t)
    ('no nil)
    (_ org-agent-page-show-thoughts)))

;;;; Subagents

(defconst org-agent-drawer--subagent-regexp
  "^[ \t]*: \\(?:start_subagent\\|sessions_spawn\\) (.*"
  "Matches the call that starts a subagent, by its name of today or before.")

(defvar org-agent-drawer-subagent-map
  (let ((map (make-sparse-keymap)))
    (define-key map [mouse-1] #'org-agent-drawer-subagent-at-mouse)
    (define-key map [mouse-2] #'org-agent-drawer-subagent-at-mouse)
    map)
  "Keymap of the line of a subagent.")

(defun org-agent-drawer--subagent-label (call)
  "Return the label of the subagent that CALL, a line of a drawer, starts.
That is the beginning of its task if the call gives it none."
  (let ((string "\"\\(\\(?:[^\"\\]\\|\\\\.\\)*\\)\""))
    (and (or (string-match (concat ":label " string) call)
             (string-match (concat ":task " string) call))
         (let ((label (string-join
                       (split-string (replace-regexp-in-string
                                      "\\\\\\(.\\)" "\\1"
                                      (replace-regexp-in-string
                                       "\\\\[nt]" " " (match-string 1 call) t t)))
                       " ")))
           (if (> (length label) 40)
               (concat (string-trim (substring label 0 39)) "…")
             label)))))

(defun org-agent-drawer--lay-out-subagents (beg end)
  "Show a line for each subagent that a call between BEG and END started."
  (goto-char beg)
  (while (re-search-forward org-agent-drawer--subagent-regexp end t)
    (let ((line (match-beginning 0))
          (label (org-agent-drawer--subagent-label (match-string-no-properties 0)))
          (verdict (org-agent-fontify-verdict
                    (buffer-substring-no-properties
                     (line-beginning-position 2)
                     (max (line-beginning-position 2) (line-end-position 2))))))
      (when (and label (not (member verdict '("refused" "denied"))))
        (remove-list-of-text-properties (1- line) (1+ line) '(invisible))
        (put-text-property
         line (1+ line) 'display
         (propertize (concat (org-agent-layout-glyph "  ↳ " "  > ")
                             label (and (equal verdict "failed") " (failed)"))
                     'face 'org-agent-page-quiet
                     'mouse-face 'highlight
                     'help-echo "mouse-1, TAB: show what it did"
                     'keymap org-agent-drawer-subagent-map))))))

(defun org-agent-drawer--subagent-here ()
  "Return (LABEL . RANK) of the subagent on whose line point is seen, or nil.
RANK is how many with that label the turn's question has started before."
  (save-excursion
    ;; Point may be behind what is hidden of the line.
    (while (and (not (bobp)) (invisible-p (1- (point))))
      (goto-char (previous-single-char-property-change (point) 'invisible)))
    (forward-line 0)
    (when-let* (((looking-at-p org-agent-drawer--subagent-regexp))
                (drawer (org-agent-fontify-drawer-around))
                (call (point))
                (label (org-agent-drawer--subagent-label
                        (buffer-substring-no-properties call (line-end-position))))
                (question (org-agent-heading-turn-at call 'user)))
      (let ((rank 0))
        (org-agent-heading-widely
          (goto-char question)
          (while (re-search-forward org-agent-drawer--subagent-regexp call t)
            (when (equal label (org-agent-drawer--subagent-label
                                (match-string-no-properties 0)))
              (setq rank (1+ rank)))))
        (cons label rank)))))

(defun org-agent-drawer-open-subagent ()
  "Show the conversation of the subagent on whose line point is.
Return nil where there is none.  This is for `org-open-at-point-functions'."
  (pcase (org-agent-drawer--subagent-here)
    (`(,label . ,rank)
     (org-agent-status-open-called
      (org-agent-heading-property (org-agent-heading-turn-at (point) 'user) "ID")
      label rank)
     t)))

(defun org-agent-drawer-subagent-at-mouse (event)
  "Show the conversation of the subagent that was clicked on in EVENT."
  (interactive (list (if (mouse-event-p last-input-event)
                         last-input-event
                       (user-error "Click on the line of a subagent"))))
  (let ((start (event-start event)))
    (with-current-buffer (window-buffer (posn-window start))
      (save-excursion
        (goto-char (posn-point start))
        (org-agent-drawer-open-subagent)))))

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
On the line of a subagent show its conversation.  Return nil elsewhere."
  (or (org-agent-drawer-open-subagent)
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
        t)))

(provide 'org-agent-drawer)
;;; org-agent-drawer.el ends here
