;;; org-agent-ask-capture.el --- Ask the agent by Org capture  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-capture-setup' adds a template to Org capture.  What is
;; written in it is a question, which `org-agent-ask' asks.

;;; Code:

(require 'org-agent-ask)

(defvar org-capture-plist)
(defvar org-capture-templates)
(defvar org-note-abort)
(declare-function org-capture-get "org-capture")
(declare-function org-capture-put "org-capture")

(defvar org-agent-ask-capture-template
  '("a" "Ask the agent" plain (function org-agent-ask-capture-place)
    (function org-agent-ask-capture-text)
    :no-save t :org-agent-capture t)
  "An element of `org-capture-templates' that asks the agent.")

;;;###autoload
(defun org-agent-capture-setup (&optional key)
  "Add the template that asks the agent to Org's, under KEY, by default \"a\".
If that is taken by another, or to be taken back, change
`org-capture-templates' yourself."
  (interactive)
  (require 'org-capture)
  (let* ((key (or key "a"))
         (taken (assoc key org-capture-templates)))
    (if (and taken (not (plist-get (nthcdr 5 taken) :org-agent-capture)))
        (user-error "The key %s is that of the template \"%s\"; (org-agent-capture-setup KEY) takes another"
                    key (cadr taken))
      (unless taken
        (setq org-capture-templates
              (append org-capture-templates
                      (list (cons key (cdr org-agent-ask-capture-template))))))
      (add-hook 'org-capture-after-finalize-hook #'org-agent-ask-capture--send)
      (message "M-x org-capture %s asks the agent" key))))

(defun org-agent-ask-capture-place ()
  "Go to a new buffer, in which a question is written."
  (set-buffer (generate-new-buffer "*org-agent-question*"))
  (org-mode)
  ;; Org would try to set a bookmark here, and report that it cannot.
  (setq-local org-bookmark-names-plist nil)
  (org-capture-put :org-agent-buffer (current-buffer)))

(defun org-agent-ask-capture-text ()
  "Return the initial text of a question, with a link to the original place.
With an active region there is no link: the region is sent along."
  (org-capture-put :org-agent-region
                   (with-current-buffer (or (org-capture-get :original-buffer)
                                            (current-buffer))
                     (org-agent-ask-region)))
  (if (org-capture-get :org-agent-region)
      "%?\n"
    "%?\n%a"))

(defun org-agent-ask-capture--send ()
  "Send the question that was captured, unless the capture was aborted.
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

(provide 'org-agent-ask-capture)
;;; org-agent-ask-capture.el ends here
