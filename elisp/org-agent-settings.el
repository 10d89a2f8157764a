;;; org-agent-settings.el --- Models, presets and topics  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; MODEL, SKILL, SYSTEM, PRESET, PROFILE, HISTORY, TEMPERATURE and
;; MAX_TOKENS can be properties of a heading in a conversation.  They apply
;; to the questions below it, and the nearest heading has priority.  A line
;; `#+PROPERTY: MODEL gpt-5' before the first heading applies to the file.
;; The kernel interprets the properties.  Emacs sends it the text that has
;; them, since the buffer may not be saved.
;;
;; A *topic* is a heading of the person with questions below it, whose drawer
;; has settings for them.  It has an `:ID:', since a heading without one
;; would be the draft.
;;
;; A conversation uses the configured model or the one that was chosen for
;; it.  `org-agent-regenerate' has a question answered again, by any model.
;; The name of a model is a heading below Models in config.org, HEADING:MODEL
;; for another model of the same server, or a name that the server lists.
;;
;; A *preset* is a heading below Presets in config.org: a name for a model, a
;; skill, a temperature and a text for the model.  `@NAME' in a message
;; applies it to that message, the property PRESET to the questions below a
;; heading, and `org-agent-preset' to the conversation.  The kernel
;; interprets `@NAME'; Emacs completes it.  A buffer whose name is that of a
;; preset can only be mentioned by a link.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-id)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-draft)
(require 'org-agent-chat)

(declare-function org-agent-retry "org-agent-send")

;;;; Inherited settings

(defconst org-agent-settings--head-limit 20000
  "How many characters before the first heading are sent to the kernel.")

(defun org-agent-settings-inherited (heading)
  "Return the Org text with the settings of the question at HEADING.
It is the text before the first heading of the buffer, followed by the
headings above the question and its own, each with its drawer.  If
HEADING is nil, return only the former."
  (org-agent-heading-widely
    (let (chain)
      (while heading
        (push (org-agent-settings--heading heading) chain)
        (setq heading (org-agent-heading-parent heading)))
      (apply #'concat (org-agent-settings--head) chain))))

(defun org-agent-settings--head ()
  "Return the text before the first heading of the buffer."
  (goto-char (point-min))
  (let ((end (if (re-search-forward "^\\*+ " nil t)
                 (match-beginning 0)
               (point-max))))
    (org-agent-settings--with-line-end
     (org-agent-rpc-text (point-min)
                         (min end (+ (point-min) org-agent-settings--head-limit))))))

(defun org-agent-settings--heading (heading)
  "Return the line at HEADING with its property drawer."
  (goto-char heading)
  (org-agent-settings--with-line-end
   (org-agent-rpc-text
    heading (or (cdr (assq t (org-agent-heading-properties heading)))
                (line-end-position)))))

(defun org-agent-settings--with-line-end (text)
  "Return TEXT with a newline at its end, unless it is empty."
  (if (or (string-empty-p text) (string-suffix-p "\n" text)) text
    (concat text "\n")))

(defun org-agent-settings-parent (heading)
  "Return the ID of the question or answer that HEADING is below, or nil.
Skip questions that were not sent, since the kernel does not know them."
  (let ((parent (and heading (org-agent-heading-parent heading))))
    (while (and parent
                (not (and (org-agent-heading-turn-p parent)
                          (not (member "unsent"
                                       (org-agent-heading-tags parent))))))
      (setq parent (org-agent-heading-parent parent)))
    (and parent (org-agent-heading-property parent "ID"))))

(defun org-agent-settings-of (heading)
  "Return the parameters of an event for the question at HEADING."
  (append (list :above (org-agent-settings-inherited heading))
          (when-let* ((parent (org-agent-settings-parent heading)))
            (list :parent parent))))

(defun org-agent-settings-event (id)
  "Return the parameters of an event for the question ID.
If ID is \"draft\", return those for the draft."
  (let ((above (org-agent-settings-of
                (if (equal id "draft") (org-agent-draft-start)
                  (org-agent-heading-find id)))))
    (if (string-empty-p (plist-get above :above))
        (list :above "* .\n")
      above)))

(defun org-agent-settings-set-p (heading)
  "Return non-nil if there may be settings for the question at HEADING."
  (org-agent-heading-widely
    (let ((found (string-match-p "^[ \t]*\\(?:#\\+property\\|:properties\\):"
                                 (org-agent-settings--head))))
      (while (and heading (not found))
        (setq found (and (not (eq (org-agent-heading-turn-p heading) 'agent))
                         (cl-find-if
                          (lambda (property)
                            (not (member (car property)
                                         '(t "ID" "INSTEAD"))))
                          (org-agent-heading-properties heading)))
              heading (org-agent-heading-parent heading)))
      (and found t))))

;;;; Topics

(defconst org-agent-settings-topic-settings
  '(("MODEL" . "which model answers")
    ("PRESET" . "a preset of config.org")
    ("PROFILE" . "who answers: a file of profiles/ in the home")
    ("SYSTEM" . "further instructions for the model")
    ("HISTORY" . "which turns of the conversation the model gets")
    ("SKILL" . "which skill answers")
    ("TEMPERATURE" . "from 0 to 2")
    ("MAX_TOKENS" . "how long an answer may be")
    ("BUDGET_ROUNDS" . "how many rounds of actions a question may take")
    ("BUDGET_TOKENS" . "how many tokens it may take, as 50k, or off")
    ("BUDGET_TIME" . "how long it may take without you, as 10m, or off")
    ("BUDGET_COST" . "how many dollars it may take, as 0.50, or off"))
  "An alist of the settings of a topic and their descriptions.")

(defun org-agent-settings--topic-read-settings ()
  "Read the settings of a topic, until none is chosen; return an alist."
  (let ((left org-agent-settings-topic-settings)
        settings name)
    (while (and left
                (not (string-empty-p
                      (setq name (org-agent-settings--topic-read-name left)))))
      (setq left (assoc-delete-all name (copy-sequence left)))
      (let ((value (string-trim (org-agent-settings--topic-read-value name))))
        (unless (string-empty-p value)
          (push (cons name value) settings))))
    (nreverse settings)))

(defun org-agent-settings--topic-read-name (left)
  "Read the name of a setting, one of the alist LEFT, or the empty string."
  (let ((completion-extra-properties
         (list :annotation-function
               (lambda (name) (concat "  " (cdr (assoc name left)))))))
    (completing-read "Setting (RET when done): " left nil t nil nil "")))

(defun org-agent-settings--topic-read-value (name)
  "Read the value of the setting NAME."
  (let ((prompt (concat name ": ")))
    (pcase name
      ("HISTORY" (completing-read prompt '("all" "branch" "none") nil t))
      ("PRESET" (completing-read prompt #'org-agent-settings--preset-table))
      ("PROFILE" (org-agent-settings-preset-read-profile prompt))
      (_ (read-string prompt)))))

;;;###autoload
(defun org-agent-topic (title settings)
  "Insert a topic: a heading with TITLE above the draft.
SETTINGS, an alist of names and values, are the properties of the topic.
They apply to all questions below it, and you can edit them there.
\\[org-promote-subtree] on the draft moves it out of the topic."
  (interactive
   (progn
     (org-agent-chat-check)
     (list (read-string "Topic: ") (org-agent-settings--topic-read-settings))))
  (org-agent-chat-check)
  (let ((title (string-trim (org-agent-one-line title))))
    (when (string-empty-p title)
      (user-error "A topic needs a title"))
    (org-agent-chat-restore-draft)
    (org-agent-draft-paste-settle)
    (widen)
    (let* ((start (org-agent-draft-start))
           (end (copy-marker (point-max) t)))
      (undo-boundary)
      (goto-char start)
      (insert "* " title "\n:PROPERTIES:\n"
              (mapconcat (lambda (setting)
                           (format "%-10s %s\n" (concat ":" (car setting) ":")
                                   (cdr setting)))
                         (cons (cons "ID" (org-id-uuid)) settings) "")
              ":END:\n")
      (let* ((draft (buffer-substring (point) end))
             (below (org-agent-heading-demote draft 1)))
        (unless (equal draft below)
          (let ((at (point)))
            (delete-region at end)
            (goto-char at)
            (insert below))))
      (goto-char end)
      (set-marker end nil)
      (undo-boundary))))

;;;; Models

(defvar org-agent-settings--model-known nil
  "The models of the latest list from the kernel: plists.")

(defun org-agent-settings--model-refresh ()
  "Request the list of models from the kernel, without waiting.
The kernel asks each server, which can take seconds."
  (org-agent-kernel-request
   "model/list" (list :session org-agent-chat-session)
   :success (lambda (result)
              (setq org-agent-settings--model-known (plist-get result :models)))
   :failure #'ignore))

(defun org-agent-settings-model-names ()
  "Return the names of the models in the kernel's latest list."
  (mapcar (lambda (model) (plist-get model :name)) org-agent-settings--model-known))

(defun org-agent-settings--model-standard ()
  "Return the name of the configured model, or nil if it is not known yet."
  (plist-get (seq-find (lambda (model) (plist-get model :default))
                       org-agent-settings--model-known)
             :name))

(defun org-agent-settings--model-table (chosen)
  "Return a completion table of the known models.
CHOSEN is the name of the model of this conversation."
  (lambda (text predicate action)
    (if (eq action 'metadata)
        `(metadata
          (category . org-agent-model)
          (annotation-function
           . ,(lambda (name)
                (cond ((equal name (org-agent-settings--model-standard))
                       "  the configured one")
                      ((equal name chosen) "  this conversation's")
                      (t "")))))
      (complete-with-action
       action
       (org-agent-settings-model-names) text predicate))))

(defun org-agent-settings-model-read (prompt)
  "Read the name of a model with PROMPT; return nil for the configured one.
Completion offers the models of the kernel's latest list, which is
requested again meanwhile.  Other names are allowed, since not every
server lists its models."
  (org-agent-kernel-check)
  (org-agent-settings--model-refresh)
  (let* ((standard (org-agent-settings--model-standard))
         (name (string-trim
                (completing-read
                 (format-prompt prompt (or standard "the configured one"))
                 (org-agent-settings--model-table (org-agent-chat-get :model))
                 nil nil nil nil standard))))
    (unless (or (string-empty-p name)
                (equal name (org-agent-settings--model-standard)))
      name)))

;;;###autoload
(defun org-agent-model (model)
  "Set the model of this conversation to MODEL, from the next message on.
Nil means the configured model.  The header line shows the model, which
is kept when Emacs or the kernel ends."
  (interactive
   (progn
     (org-agent-chat-check-attached)
     (list (org-agent-settings-model-read "Model of this conversation"))))
  (org-agent-chat-check-attached)
  (org-agent-kernel-request
   "session/model" (append (list :session org-agent-chat-session)
                           (and model (list :model model)))
   :success (lambda (_)
              (message "The model of this conversation is now %s"
                       (or model "the configured one")))
   :failure (lambda (refusal)
              (org-agent-chat-complain "The model was not changed" refusal))))

;;;###autoload
(defun org-agent-settings-model-changed (params)
  "Show the new model of the conversation in PARAMS."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :model (or (plist-get params :model)
                                   (plist-get org-agent-kernel-server :model)))))

;;;###autoload
(defun org-agent-settings-server-changed (params)
  "Show what PARAMS say of the kernel after a change of config.org."
  (let ((before (plist-get org-agent-kernel-server :model))
        (model (plist-get params :model)))
    (dolist (key '(:model :notice :consent :hears :speaks :variables))
      (setq org-agent-kernel-server
            (plist-put org-agent-kernel-server key (plist-get params key))))
    (dolist (buffer (org-agent-chat-buffers))
      (with-current-buffer buffer
        (when (equal (org-agent-chat-get :model) before)
          (org-agent-chat-put :model model))))
    (force-mode-line-update t)
    (unless (equal before model)
      (message "org-agent: %s answers from the next message on" model))))

;;;###autoload
(defun org-agent-regenerate (&optional model)
  "Have the question of the turn at point answered again.
The new answer is inserted after the others.  MODEL is the name of a
model, or nil for that of the conversation.  With a prefix argument, read
it.  The model gets the turns before the question.  Later turns get the
last answer, unless `org-agent-prefer-answer' marked another one."
  (interactive
   (progn
     (org-agent-chat-check-attached)
     (list (and current-prefix-arg
                (org-agent-settings-model-read "Answer with the model")))))
  (org-agent-retry model))

;;;###autoload
(defun org-agent-regenerate-with (model)
  "Have the question of the turn at point answered again by MODEL."
  (interactive
   (progn
     (org-agent-chat-check-attached)
     (list (org-agent-settings-model-read "Answer with the model"))))
  (org-agent-regenerate model))

;;;; Presets

(defvar org-agent-settings--preset-known nil
  "The presets of the latest list from the kernel: plists.")

(defvar org-agent-settings--preset-profiles nil
  "The names of profiles of the latest list from the kernel.")

(defun org-agent-settings--preset-update (result)
  "Set the presets and the profiles from RESULT, that of `preset/list'."
  (setq org-agent-settings--preset-known (plist-get result :presets)
        org-agent-settings--preset-profiles (plist-get result :profiles)))

(defun org-agent-settings-preset-read-profile (prompt)
  "Read the name of a profile with PROMPT; offer those that are known."
  (org-agent-settings-preset-refresh)
  (completing-read prompt
                   (lambda (text predicate action)
                     (if (eq action 'metadata)
                         '(metadata (category . org-agent-profile))
                       (complete-with-action action org-agent-settings--preset-profiles
                                             text predicate)))))

;;;###autoload
(defun org-agent-settings-preset-refresh ()
  "Request the list of presets from the kernel, without waiting."
  (when (org-agent-kernel-ready-p)
    (org-agent-kernel-request "preset/list" nil
                              :success #'org-agent-settings--preset-update
                              :failure #'ignore)))

;;;###autoload
(defun org-agent-settings-preset-p (name)
  "Return non-nil if NAME is that of a preset; ignore case."
  (cl-member (downcase name) org-agent-settings--preset-known
             :key (lambda (preset) (downcase (plist-get preset :name)))
             :test #'equal))

(defun org-agent-settings--preset-describe (preset)
  "Return the settings of PRESET as one line."
  (truncate-string-to-width
   (mapconcat (lambda (setting)
                (format "%s %s" (downcase (plist-get setting :name))
                        (string-join (split-string (plist-get setting :value))
                                     " ")))
              (plist-get preset :settings) ", ")
   80 nil nil t))

;;;###autoload
(defun org-agent-settings-preset-mentions ()
  "Return the presets for completion after an at sign.
Each is a list (NAME ANNOTATION)."
  (org-agent-settings-preset-refresh)
  (mapcar (lambda (preset)
            (list (plist-get preset :name)
                  (concat "preset: " (org-agent-settings--preset-describe preset))))
          org-agent-settings--preset-known))

(defun org-agent-settings--preset-table (text predicate action)
  "Complete TEXT to the name of a preset.
PREDICATE and ACTION are as for a function of `completing-read'."
  (if (eq action 'metadata)
      `(metadata
        (category . org-agent-preset)
        (annotation-function
         . ,(lambda (name)
              (concat "  " (org-agent-settings--preset-describe
                            (car (org-agent-settings-preset-p name)))))))
    (complete-with-action
     action
     (mapcar (lambda (preset) (plist-get preset :name))
             org-agent-settings--preset-known)
     text predicate)))

(defun org-agent-settings--preset-read ()
  "Read the name of a preset; return nil for none."
  (org-agent-settings-preset-refresh)
  (let ((name (string-trim
               (completing-read
                (format-prompt "Preset of this conversation" "none")
                #'org-agent-settings--preset-table))))
    (unless (string-empty-p name) name)))

;;;###autoload
(defun org-agent-preset (preset)
  "Set the preset of this conversation to PRESET, from the next message on.
Nil means no preset.  The header line shows the preset.  Properties of
headings have priority over it.  If the preset has a model, it replaces
the one that was chosen before."
  (interactive
   (progn
     (org-agent-chat-check-attached)
     (list (org-agent-settings--preset-read))))
  (org-agent-chat-check-attached)
  (org-agent-kernel-request
   "session/preset" (append (list :session org-agent-chat-session)
                            (and preset (list :preset preset)))
   :success (lambda (_)
              (if preset
                  (message "The preset of this conversation is now %s" preset)
                (message "This conversation has no preset now")))
   :failure (lambda (refusal)
              (org-agent-chat-complain "The preset was not changed" refusal))))

;;;###autoload
(defun org-agent-settings-preset-changed (params)
  "Show the new preset of the conversation in PARAMS."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :preset (plist-get params :preset))))

(provide 'org-agent-settings)
;;; org-agent-settings.el ends here
