;;; org-agent-capture.el --- Ask the agent with Org capture  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A template of Org capture in which a question is written at leisure,
;; with a link to where one is; what is marked goes with it.  `C-c C-c'
;; sends it, `C-c C-k' does not.  Your templates are yours:
;;
;;   (org-agent-capture-setup)
;;
;; adds this one, under the key "a", or the one you name.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-capture)
(require 'subr-x)
(require 'org-agent-ask)

(defvar org-agent-capture-template
  '("a" "Ask the agent" plain (function org-agent-capture-place)
    (function org-agent-capture-text)
    :no-save t :org-agent-capture t)
  "An element of `org-capture-templates' that asks the agent.")

;;;###autoload
(defun org-agent-capture-setup (&optional key)
  "Add the template that asks the agent to Org's, under KEY, by default \"a\".
If that is taken by another, or to be taken back, change
`org-capture-templates' yourself."
  (interactive)
  (let* ((key (or key "a"))
         (taken (assoc key org-capture-templates)))
    (if (and taken (not (plist-get (nthcdr 5 taken) :org-agent-capture)))
        (user-error "The key %s is that of the template \"%s\"; (org-agent-capture-setup KEY) takes another"
                    key (cadr taken))
      (unless taken
        (setq org-capture-templates
              (append org-capture-templates
                      (list (cons key (cdr org-agent-capture-template))))))
      (add-hook 'org-capture-after-finalize-hook #'org-agent-capture--send)
      (message "M-x org-capture %s asks the agent" key))))

(defun org-agent-capture-place ()
  "Go to a buffer of its own, in which a question is written."
  (set-buffer (generate-new-buffer "*org-agent-question*"))
  (org-mode)
  ;; Org would set a bookmark here, and say that it cannot.
  (setq-local org-capture-bookmark nil)
  (org-capture-put :org-agent-buffer (current-buffer)))

(defun org-agent-capture-text ()
  "Return what a question begins with: a link to where one is.
The region, if there is one, goes along."
  (org-capture-put :org-agent-region
                   (with-current-buffer (or (org-capture-get :original-buffer)
                                            (current-buffer))
                     (org-agent-ask-region)))
  (if (org-capture-get :org-agent-region)
      "%?\n"
    "%?\n%a"))

(defun org-agent-capture--send ()
  "Send the question that was captured, if one was and was not given up.
This is for `org-capture-after-finalize-hook'."
  (when-let* ((buffer (plist-get org-capture-plist :org-agent-buffer)))
    (when (buffer-live-p buffer)
      (let ((question (with-current-buffer buffer
                        (string-trim (buffer-substring-no-properties
                                      (point-min) (point-max))))))
        (with-current-buffer buffer (set-buffer-modified-p nil))
        (kill-buffer buffer)
        (unless org-note-abort
          (if (string-empty-p question)
              (message "Nothing was asked")
            (org-agent-ask question nil nil
                           (plist-get org-capture-plist :org-agent-region))))))))

(provide 'org-agent-capture)
;;; org-agent-capture.el ends here
