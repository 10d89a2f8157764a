;;; org-agent-above.el --- What is set for a question by what stands above it  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; MODEL, SKILL, SYSTEM, PRESET, PROFILE, HISTORY, TEMPERATURE and
;; MAX_TOKENS can be properties of a heading in a conversation; they hold
;; for the questions below it, the nearest first, and a line `#+PROPERTY: MODEL gpt-5' before
;; the first heading holds for the whole file.
;;
;; The rule is the kernel's, for every client.  It is given the text that
;; may set something: this buffer may not be saved.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-draft)

(defconst org-agent-above-limit 20000
  "Characters before the first heading that are looked at.")

(defun org-agent-above (heading)
  "Return the Org text that sets something for the question at HEADING.
That is what stands before the first heading, then each heading above,
with its drawer, and last the question's own.  With HEADING nil only the
former."
  (org-agent-draft--widely
    (let (chain)
      (while heading
        (push (org-agent-above--heading heading) chain)
        (setq heading (org-agent-heading-above heading)))
      (apply #'concat (org-agent-above--head) chain))))

(defun org-agent-above--head ()
  "Return what sets something for all of the buffer."
  (goto-char (point-min))
  (let ((end (if (re-search-forward "^\\*+ " nil t)
                 (match-beginning 0)
               (point-max))))
    (org-agent-above--closed
     (org-agent-rpc-text (point-min)
                         (min end (+ (point-min) org-agent-above-limit))))))

(defun org-agent-above--heading (heading)
  "Return the line at HEADING with its drawer."
  (goto-char heading)
  (org-agent-above--closed
   (org-agent-rpc-text
    heading (or (cdr (assq t (org-agent-heading-properties heading)))
                (line-end-position)))))

(defun org-agent-above--closed (text)
  "Return TEXT with a line end behind it, unless it is empty."
  (if (or (string-empty-p text) (string-suffix-p "\n" text)) text
    (concat text "\n")))

(defun org-agent-above-parent (heading)
  "Return the ID of the question or answer that HEADING stands below, or nil.
One that was not sent is passed over: the kernel does not know it."
  (let ((above (and heading (org-agent-heading-above heading))))
    (while (and above
                (not (and (org-agent-turn-p above)
                          (not (member "unsent"
                                       (org-agent-heading-tags above))))))
      (setq above (org-agent-heading-above above)))
    (and above (org-agent-heading-property above "ID"))))

(defun org-agent-above-of (heading)
  "Return what an event says of where the question at HEADING stands."
  (append (list :above (org-agent-above heading))
          (when-let ((parent (org-agent-above-parent heading)))
            (list :parent parent))))

(defun org-agent-above-event (id)
  "Return what an event says of where the question with the ID stands.
The ID of what is no question yet is \"draft\"."
  (let ((above (org-agent-above-of
                (if (equal id "draft") (org-agent-draft-start)
                  (org-agent-find-heading id)))))
    (if (string-empty-p (plist-get above :above))
        (list :above "* .\n")
      above)))

(defun org-agent-above-sets-p (heading)
  "Return non-nil when something may be set for the question at HEADING."
  (org-agent-draft--widely
    (let ((found (string-match-p "^[ \t]*\\(?:#\\+property\\|:properties\\):"
                                 (org-agent-above--head))))
      (while (and heading (not found))
        (setq found (and (not (eq (org-agent-turn-p heading) 'agent))
                         (cl-find-if
                          (lambda (property)
                            (not (member (car property)
                                         '(t "ID" "INSTEAD"))))
                          (org-agent-heading-properties heading)))
              heading (org-agent-heading-above heading)))
      (and found t))))

(provide 'org-agent-above)
;;; org-agent-above.el ends here
