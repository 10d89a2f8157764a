;;; org-agent-policy.el --- What the agent may do without asking  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The table of policy.org in the home has the rules: what the agent may do
;; without asking, and what it may never do.  The decision "always" on an
;; approval adds a row.  `org-agent-policy' lists the rows, with how often
;; each allowed something, and revokes them.  On an approval it goes to the
;; rule that requires it, or to the hook of a note that does.
;;
;; Only the kernel writes the file, when a person says so, and a change that
;; is saved in a buffer counts at once.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-list)
(require 'org-agent-section)

(declare-function org-agent-approval-at-point "org-agent-approval")

(defconst org-agent-policy--buffer "*org-agent-policy*"
  "The name of the buffer that lists the rules.")

;;;; The file

(defun org-agent-policy--reason ()
  "Return the reason of the approval at point, or an empty string."
  (let ((approval (ignore-errors (org-agent-approval-at-point))))
    (or (plist-get approval :reason) "")))

(defun org-agent-policy--line ()
  "Return the line of the policy rule that requires the approval at point."
  (let ((reason (org-agent-policy--reason)))
    (and (string-match "\\bpolicy\\.org:\\([0-9]+\\)\\b" reason)
         (string-to-number (match-string 1 reason)))))

(defun org-agent-policy--hook ()
  "Return (NOTE . LINE) of the hook that requires the approval at point.
Return nil when no hook of the person's notes requires it."
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

(defun org-agent-policy--visit (file line)
  "Visit FILE at LINE, or at the table of rules if LINE is nil or not there."
  (unless (file-exists-p file)
    (user-error "There is no %s yet; it is made when the kernel starts"
                (abbreviate-file-name file)))
  (pop-to-buffer-same-window (find-file-noselect file))
  (widen)
  (goto-char (point-min))
  (unless (and line (zerop (forward-line (1- line))))
    (org-agent-policy--go-to-table))
  (when (derived-mode-p 'org-mode)
    (org-agent-heading-call-org 'org-fold-show-context 'org-show-context 'agenda)))

(defun org-agent-policy--file ()
  "Return the file of the rules."
  (expand-file-name "policy.org" (org-agent-home-directory)))

(defun org-agent-policy-edit ()
  "Visit policy.org at its table, to add and change rules.
What you save counts at once; \\[org-agent-doctor] lists rows that cannot be
read, \\[org-agent-skills] lists the hooks."
  (interactive)
  (org-agent-policy--visit (org-agent-policy--file) nil))

;;;; The list

(defvar org-agent-policy-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-sections-mode-map)
    (define-key map (kbd "RET") #'org-agent-policy-visit)
    (define-key map (kbd "e") #'org-agent-policy-edit)
    (define-key map (kbd "k") #'org-agent-policy-revoke)
    (define-key map (kbd "y") #'org-agent-policy-keep)
    map)
  "Keymap of the list of rules.")

(define-derived-mode org-agent-policy-mode org-agent-list-sections-mode
  "Org-Agent-Policy"
  "Major mode of the list of what the agent may do.
\\<org-agent-policy-mode-map>\\[org-agent-policy-visit] visits the row of a rule in policy.org, \\[org-agent-policy-edit] the table.
\\[org-agent-policy-revoke] revokes a rule, or drops a decision from before there were rules;
\\[org-agent-policy-keep] keeps such a decision as a rule.

\\{org-agent-policy-mode-map}"
  :interactive nil
  (org-agent-list-rows
   '(("Verdict" 8) ("Used" 5 t) ("Last" 16) ("Since" 10) ("What"))
   #'org-agent-policy--ask
   "\\<org-agent-policy-mode-map>\\[org-agent-policy-visit] visit  \\[org-agent-policy-revoke] revoke  \\[org-agent-policy-edit] edit the table"))

;;;###autoload
(defun org-agent-policy ()
  "List what the agent may do without asking, since when and how often it did.
On an approval go to the rule that requires it, or to the hook of a note
that does."
  (interactive)
  (let ((rule (org-agent-policy--line))
        (hook (org-agent-policy--hook)))
    (cond (rule (org-agent-policy--visit (org-agent-policy--file) rule))
          (hook (org-agent-policy--visit (car hook) (cdr hook)))
          (t (org-agent-list-open org-agent-policy--buffer
                                  'org-agent-policy-mode
                                  #'org-agent-policy--ask)))))

(defun org-agent-policy--ask (&rest _)
  "Request the rules, and show them when they arrive."
  (org-agent-kernel-ask "policy/list" nil #'org-agent-policy--show))

(defun org-agent-policy--show (result)
  "Show the rules of RESULT, that of `policy/list'."
  (when-let* ((buffer (get-buffer org-agent-policy--buffer)))
    (with-current-buffer buffer
      (org-agent-list-show-rows
       (append
        (mapcar #'org-agent-policy--fault-row (plist-get result :faults))
        (mapcar #'org-agent-policy--former-row (plist-get result :former))
        (mapcar #'org-agent-policy--row (plist-get result :rules)))
       "There is no rule: the agent reads in its home and asks about everything else.  \\<org-agent-policy-mode-map>\\[org-agent-policy-edit] adds a rule, and so does \"always\" on an approval."))))

(defun org-agent-policy--fault-row (fault)
  "Return the row of FAULT, an error of the file."
  (org-agent-list-row
   'fault fault nil
   (list (org-agent-list-state "error") "" "" "" fault)
   (lambda () "Until it is mended, all that a rule could decide is refused.\n")))

(defun org-agent-policy--former-row (former)
  "Return the row of FORMER, a decision from before there were rules."
  (org-agent-list-row
   'former (plist-get former :hash) former
   (list (org-agent-list-state "keep?") "" ""
         (substring (org-agent-list-time (plist-get former :since)) 0 10)
         (plist-get former :summary))
   (lambda ()
     (org-agent-list-filled
      (substitute-command-keys
       "You allowed this always before such decisions were rules.  It is asked about again now.  \\<org-agent-policy-mode-map>\\[org-agent-policy-keep] makes it a rule, \\[org-agent-policy-revoke] drops it.")))))

(defun org-agent-policy--about (rule)
  "Return what RULE is about, as its row in the file has it."
  (string-join (list (plist-get rule :rule) (or (plist-get rule :matches) ""))
               " "))

(defun org-agent-policy--name (rule)
  "Return what a person calls RULE.
That about one action has a hash, which nobody can read."
  (let ((why (or (plist-get rule :why) "")))
    (if (and (equal (plist-get rule :rule) "action")
             (not (string-empty-p why)))
        why
      (org-agent-policy--about rule))))

(defun org-agent-policy--row (rule)
  "Return the row of RULE."
  (let ((verdict (substring (symbol-name (plist-get rule :verdict)) 1))
        (about (org-agent-policy--about rule))
        (why (or (plist-get rule :why) "")))
    (org-agent-list-row
     'rule (list (plist-get rule :rule) (plist-get rule :matches)) rule
     (list (org-agent-list-state verdict)
           (number-to-string (or (plist-get rule :uses) 0))
           (if-let* ((last (plist-get rule :last))) (org-agent-list-time last) "")
           (let ((since (or (plist-get rule :since) "")))
             (if (string-match "[0-9]\\{4\\}-[0-9]\\{2\\}-[0-9]\\{2\\}" since)
                 (match-string 0 since)
               since))
           (let ((named (org-agent-policy--name rule)))
             (if (member why (list "" named))
                 named
               (concat named (propertize (concat "  " why) 'face 'shadow)))))
     (lambda ()
       (org-agent-list-filled
        (format "Line %d of policy.org: %s\n" (plist-get rule :line) about))))))

(defun org-agent-policy-visit ()
  "Visit the row of the rule at point in policy.org."
  (interactive nil org-agent-policy-mode)
  (org-agent-policy--visit
   (org-agent-policy--file)
   (plist-get (org-agent-section-data-at-point 'rule) :line)))

(defun org-agent-policy-revoke ()
  "Revoke the rule at point, or drop the former decision at point."
  (interactive nil org-agent-policy-mode)
  (let ((rule (org-agent-section-data-at-point 'rule))
        (former (org-agent-section-data-at-point 'former)))
    (cond
     (former
      (org-agent-kernel-ask "policy/keep" (list :hash (plist-get former :hash))
                            #'org-agent-policy--show))
     ((null rule) (user-error "There is no rule on this line"))
     ((yes-or-no-p (format "Revoke the rule \"%s\"? "
                           (org-agent-policy--name rule)))
      (org-agent-kernel-ask
       "policy/revoke" (list :line (plist-get rule :line)
                             :rule (plist-get rule :rule)
                             :matches (or (plist-get rule :matches) ""))
       #'org-agent-policy--show)))))

(defun org-agent-policy-keep ()
  "Make the former decision at point a rule."
  (interactive nil org-agent-policy-mode)
  (if-let* ((former (org-agent-section-data-at-point 'former)))
      (org-agent-kernel-ask "policy/keep" (list :hash (plist-get former :hash)
                                                :keep t)
                            #'org-agent-policy--show)
    (user-error "There is no former decision on this line")))

(provide 'org-agent-policy)
;;; org-agent-policy.el ends here
