;;; org-agent-preset.el --- Settings under a name  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A preset is a heading below Presets in config.org: a model, a skill, a
;; temperature and its text for the model, under a name.  `@NAME' in a
;; message applies it to that message, the property PRESET to all below a
;; heading, and `org-agent-preset' to the conversation.
;;
;; The kernel reads config.org whenever it is asked, and it is the one who
;; finds `@NAME': what is known here is for completing it.  A buffer that has
;; the name of a preset is named by a link.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-chat)

(defvar org-agent-preset--known nil
  "The presets, as the kernel told of them last: plists.")

(defvar org-agent-preset--profiles nil
  "The names that PROFILE can have, as the kernel told of them last.")

(defun org-agent-preset--take (result)
  "Take the presets and the profiles of RESULT, that of `preset/list'."
  (setq org-agent-preset--known (plist-get result :presets)
        org-agent-preset--profiles (plist-get result :profiles)))

(defun org-agent-preset-read-profile (prompt)
  "Read the name of a profile with PROMPT, one that the kernel knows or any."
  (org-agent-preset-refresh)
  (completing-read prompt
                   (lambda (text predicate action)
                     (if (eq action 'metadata)
                         '(metadata (category . org-agent-profile))
                       (complete-with-action action org-agent-preset--profiles
                                             text predicate)))))

(defun org-agent-preset-refresh ()
  "Ask the kernel anew which presets there are; nobody waits for it."
  (when (org-agent-kernel-ready-p)
    (org-agent-kernel-request "preset/list" nil
                              :success #'org-agent-preset--take
                              :failure #'ignore)))

(add-hook 'org-agent-kernel-ready-hook #'org-agent-preset-refresh)

(defun org-agent-preset-p (name)
  "Return non-nil when NAME, in any case, is that of a preset."
  (cl-member (downcase name) org-agent-preset--known
             :key (lambda (preset) (downcase (plist-get preset :name)))
             :test #'equal))

(defun org-agent-preset--describe (preset)
  "Return in a line what PRESET sets."
  (truncate-string-to-width
   (mapconcat (lambda (setting)
                (format "%s %s" (downcase (plist-get setting :name))
                        (string-join (split-string (plist-get setting :value))
                                     " ")))
              (plist-get preset :settings) ", ")
   80 nil nil t))

(defun org-agent-preset-mentions ()
  "Return the presets for the completion of what stands behind an at sign.
Each is (NAME ANNOTATION); what is chosen stays as it stands."
  (org-agent-preset-refresh)
  (mapcar (lambda (preset)
            (list (plist-get preset :name)
                  (concat "preset: " (org-agent-preset--describe preset))))
          org-agent-preset--known))

(defun org-agent-preset--table (text predicate action)
  "Complete TEXT to a preset's name, with PREDICATE and ACTION as usual."
  (if (eq action 'metadata)
      `(metadata
        (category . org-agent-preset)
        (annotation-function
         . ,(lambda (name)
              (concat "  " (org-agent-preset--describe
                            (car (org-agent-preset-p name)))))))
    (complete-with-action
     action
     (mapcar (lambda (preset) (plist-get preset :name))
             org-agent-preset--known)
     text predicate)))

(defun org-agent-preset--read ()
  "Read the name of a preset; nil is none."
  (org-agent-preset-refresh)
  (let ((name (string-trim
               (completing-read
                (format-prompt "Preset of this conversation" "none")
                #'org-agent-preset--table))))
    (unless (string-empty-p name) name)))

(defun org-agent-preset (preset)
  "Have PRESET hold in this conversation from the next message on; nil is none.
The header line shows it.  What headings set is nearer.  A preset with a
model takes the place of the model that was chosen before."
  (interactive
   (progn
     (org-agent-chat-check-attached)
     (list (org-agent-preset--read))))
  (org-agent-chat-check-attached)
  (org-agent-kernel-request
   "session/preset" (append (list :session org-agent-chat-session)
                            (and preset (list :preset preset)))
   :success (lambda (_)
              (if preset
                  (message "The preset %s holds from now on" preset)
                (message "No preset holds any more")))
   :failure (lambda (refusal)
              (org-agent-chat-complain "The preset is not changed" refusal))))

(cl-defmethod org-agent-handle-notification ((_method (eql 'preset/changed))
                                             params)
  "Show the preset of PARAMS, which holds from now on."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :preset (plist-get params :preset))))

(provide 'org-agent-preset)
;;; org-agent-preset.el ends here
