;;; org-agent-settings.el --- What holds for a question: model, preset, topic, persona  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; MODEL, SKILL, SYSTEM, PRESET, PROFILE, HISTORY, TEMPERATURE and
;; MAX_TOKENS can be properties of a heading in a conversation.  They hold
;; for the questions below it, and the nearest heading counts.  A line
;; `#+PROPERTY: MODEL gpt-5' before the first heading holds for the file.
;; The kernel applies this rule, for every client.  Emacs sends it the text
;; that may set something, since the buffer may not be saved.
;;
;; A *topic* is a heading of the person's that questions stand below, and
;; its drawer sets what holds for them.  It has an `:ID:'; without one it
;; would be the draft.
;;
;; A conversation is answered by the configured model, or by the one that
;; was chosen for it; `org-agent-regenerate' has a question answered once
;; more, by any model.  A model is named by a heading below Models in
;; config.org, by HEADING:MODEL for another one of that server, or as the
;; server lists it.
;;
;; A *preset* is a heading below Presets in config.org: a model, a skill, a
;; temperature and a text for the model, under a name.  `@NAME' in a message
;; applies it to that message, the property PRESET to all below a heading,
;; and `org-agent-preset' to the conversation.  The kernel finds `@NAME';
;; Emacs knows the names to complete them.  A buffer that has the name of a
;; preset is named by a link.
;;
;; Files of the home say who the agent is, whom it works for and what it
;; should know.  `org-agent-persona' opens one.  They are the person's:
;; nothing here writes them, and what is saved counts from the next turn on.

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

(declare-function org-agent-send-question-here "org-agent-send")

;;;; What stands above a question

(defconst org-agent-settings--head-limit 20000
  "Characters before the first heading that are looked at.")

(defun org-agent-settings-inherited (heading)
  "Return the Org text that sets something for the question at HEADING.
That is what stands before the first heading, then each heading above,
with its drawer, and last the question's own.  With HEADING nil only the
former."
  (org-agent-heading-widely
    (let (chain)
      (while heading
        (push (org-agent-settings--heading heading) chain)
        (setq heading (org-agent-heading-parent heading)))
      (apply #'concat (org-agent-settings--head) chain))))

(defun org-agent-settings--head ()
  "Return what sets something for all of the buffer."
  (goto-char (point-min))
  (let ((end (if (re-search-forward "^\\*+ " nil t)
                 (match-beginning 0)
               (point-max))))
    (org-agent-settings--with-line-end
     (org-agent-rpc-text (point-min)
                         (min end (+ (point-min) org-agent-settings--head-limit))))))

(defun org-agent-settings--heading (heading)
  "Return the line at HEADING with its drawer."
  (goto-char heading)
  (org-agent-settings--with-line-end
   (org-agent-rpc-text
    heading (or (cdr (assq t (org-agent-heading-properties heading)))
                (line-end-position)))))

(defun org-agent-settings--with-line-end (text)
  "Return TEXT with a line end behind it, unless it is empty."
  (if (or (string-empty-p text) (string-suffix-p "\n" text)) text
    (concat text "\n")))

(defun org-agent-settings-parent (heading)
  "Return the ID of the question or answer that HEADING stands below, or nil.
One that was not sent is passed over: the kernel does not know it."
  (let ((parent (and heading (org-agent-heading-parent heading))))
    (while (and parent
                (not (and (org-agent-heading-turn-p parent)
                          (not (member "unsent"
                                       (org-agent-heading-tags parent))))))
      (setq parent (org-agent-heading-parent parent)))
    (and parent (org-agent-heading-property parent "ID"))))

(defun org-agent-settings-of (heading)
  "Return what an event says of where the question at HEADING stands."
  (append (list :above (org-agent-settings-inherited heading))
          (when-let* ((parent (org-agent-settings-parent heading)))
            (list :parent parent))))

(defun org-agent-settings-event (id)
  "Return what an event says of where the question with the ID stands.
The ID of what is no question yet is \"draft\"."
  (let ((above (org-agent-settings-of
                (if (equal id "draft") (org-agent-draft-start)
                  (org-agent-heading-find id)))))
    (if (string-empty-p (plist-get above :above))
        (list :above "* .\n")
      above)))

(defun org-agent-settings-set-p (heading)
  "Return non-nil when something may be set for the question at HEADING."
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
    ("SYSTEM" . "more for the model to go by")
    ("HISTORY" . "what it is shown of the conversation")
    ("SKILL" . "which skill answers")
    ("TEMPERATURE" . "from 0 to 2")
    ("MAX_TOKENS" . "how long an answer may be")
    ("BUDGET_ROUNDS" . "how many actions one question may take")
    ("BUDGET_TOKENS" . "how many tokens it may take, as 50k, or off")
    ("BUDGET_TIME" . "how long it may take without you, as 10m, or off")
    ("BUDGET_COST" . "how many dollars it may take, as 0.50, or off"))
  "What a topic can set, with what that is.")

(defun org-agent-settings--topic-read-settings ()
  "Read what a topic sets, an alist, until nothing is chosen or left."
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
  "Read the name of a setting, one of the alist LEFT; \"\" is none."
  (let ((completion-extra-properties
         (list :annotation-function
               (lambda (name) (concat "  " (cdr (assoc name left)))))))
    (completing-read "What it sets (RET when done): " left nil t nil nil "")))

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
  "Begin a topic: a heading with TITLE that the draft stands below from now on.
SETTINGS, an alist of names and values, hold for all that is asked below
it; they stand in its drawer, to be changed there.  Behind the topic,
\\[org-promote-subtree] on the draft leads out of it."
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

;;;; Names

(defvar org-agent-settings--model-known nil
  "The models of the kernel's latest list: plists.")

(defun org-agent-settings--model-refresh ()
  "Ask the kernel anew which models there are.
It asks each server, which can take seconds; nobody waits for it."
  (org-agent-kernel-request
   "model/list" (list :session org-agent-chat-session)
   :success (lambda (result)
              (setq org-agent-settings--model-known (plist-get result :models)))
   :failure #'ignore))

(defun org-agent-settings--model-standard ()
  "Return the name of the configured model, nil when it is not known yet."
  (plist-get (seq-find (lambda (model) (plist-get model :default))
                       org-agent-settings--model-known)
             :name))

(defun org-agent-settings--model-table (chosen)
  "Return a completion table of the models that are known when it is asked.
CHOSEN is the name of this conversation's."
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
       (mapcar (lambda (model) (plist-get model :name)) org-agent-settings--model-known)
       text predicate))))

(defun org-agent-settings-model-read (prompt)
  "Read the name of a model with PROMPT; nil is the configured one.
What is completed is what the kernel told last; it is asked anew while
one types.  Any name can be given: not every server lists what it has."
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

;;;; Choosing

;;;###autoload
(defun org-agent-model (model)
  "Have MODEL answer in this conversation from the next message on.
The header line shows it, and it stays when Emacs or the kernel ends.
The configured model is chosen by its name, or by none."
  (interactive
   (progn
     (org-agent-chat-check-attached)
     (list (org-agent-settings-model-read "Model of this conversation"))))
  (org-agent-chat-check-attached)
  (org-agent-kernel-request
   "session/model" (append (list :session org-agent-chat-session)
                           (and model (list :model model)))
   :success (lambda (_)
              (message "%s answers from now on"
                       (or model "The configured model")))
   :failure (lambda (refusal)
              (org-agent-chat-complain "The model is not changed" refusal))))

;;;###autoload
(defun org-agent-settings-model-changed (params)
  "Show the model of PARAMS, which answers from now on."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :model (or (plist-get params :model)
                                   (plist-get org-agent-kernel-server :model)))))

;;;###autoload
(defun org-agent-regenerate (&optional model)
  "Have the question at point answered once more, behind its answers.
Point is on the question or on an answer to it.  The model is that of
the conversation; with a prefix argument ask for MODEL.  It is shown
what was said before the question.  Later turns are shown the last
answer, unless `org-agent-prefer-answer' marked another one."
  (interactive
   (progn
     (org-agent-chat-check-attached)
     (list (and current-prefix-arg
                (org-agent-settings-model-read "Answer with the model")))))
  (org-agent-chat-check-attached)
  (let ((heading (org-agent-send-question-here)))
    (org-agent-kernel-request
     "turn/retry"
     (append (list :event (org-agent-heading-property heading "ID")
                   :above (org-agent-settings-inherited heading))
             (and model (list :model model)))
     :success (lambda (_) (message "It is being answered once more"))
     :failure (lambda (refusal)
                (org-agent-chat-complain "Not answered once more" refusal)))))

;;;###autoload
(defun org-agent-regenerate-with (model)
  "Have the question at point answered once more, by MODEL."
  (interactive
   (progn
     (org-agent-chat-check-attached)
     (list (org-agent-settings-model-read "Answer with the model"))))
  (org-agent-regenerate model))

;;;; Presets

(defvar org-agent-settings--preset-known nil
  "The presets of the kernel's latest list: plists.")

(defvar org-agent-settings--preset-profiles nil
  "The names that PROFILE can have, of the kernel's latest list.")

(defun org-agent-settings--preset-take (result)
  "Take the presets and the profiles of RESULT, that of `preset/list'."
  (setq org-agent-settings--preset-known (plist-get result :presets)
        org-agent-settings--preset-profiles (plist-get result :profiles)))

(defun org-agent-settings-preset-read-profile (prompt)
  "Read the name of a profile with PROMPT, one that the kernel knows or any."
  (org-agent-settings-preset-refresh)
  (completing-read prompt
                   (lambda (text predicate action)
                     (if (eq action 'metadata)
                         '(metadata (category . org-agent-profile))
                       (complete-with-action action org-agent-settings--preset-profiles
                                             text predicate)))))

;;;###autoload
(defun org-agent-settings-preset-refresh ()
  "Ask the kernel anew which presets there are; nobody waits for it."
  (when (org-agent-kernel-ready-p)
    (org-agent-kernel-request "preset/list" nil
                              :success #'org-agent-settings--preset-take
                              :failure #'ignore)))

;;;###autoload
(defun org-agent-settings-preset-p (name)
  "Return non-nil when NAME, in any case, is that of a preset."
  (cl-member (downcase name) org-agent-settings--preset-known
             :key (lambda (preset) (downcase (plist-get preset :name)))
             :test #'equal))

(defun org-agent-settings--preset-describe (preset)
  "Return in a line what PRESET sets."
  (truncate-string-to-width
   (mapconcat (lambda (setting)
                (format "%s %s" (downcase (plist-get setting :name))
                        (string-join (split-string (plist-get setting :value))
                                     " ")))
              (plist-get preset :settings) ", ")
   80 nil nil t))

;;;###autoload
(defun org-agent-settings-preset-mentions ()
  "Return the presets for the completion of what stands behind an at sign.
Each is (NAME ANNOTATION); what is chosen stays as it stands."
  (org-agent-settings-preset-refresh)
  (mapcar (lambda (preset)
            (list (plist-get preset :name)
                  (concat "preset: " (org-agent-settings--preset-describe preset))))
          org-agent-settings--preset-known))

(defun org-agent-settings--preset-table (text predicate action)
  "Complete TEXT to a preset's name, with PREDICATE and ACTION as usual."
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
  "Read the name of a preset; nil is none."
  (org-agent-settings-preset-refresh)
  (let ((name (string-trim
               (completing-read
                (format-prompt "Preset of this conversation" "none")
                #'org-agent-settings--preset-table))))
    (unless (string-empty-p name) name)))

;;;###autoload
(defun org-agent-preset (preset)
  "Have PRESET hold in this conversation from the next message on; nil is none.
The header line shows it.  What headings set is nearer.  A preset with a
model takes the place of the model that was chosen before."
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
                  (message "The preset %s holds from now on" preset)
                (message "No preset holds any more")))
   :failure (lambda (refusal)
              (org-agent-chat-complain "The preset is not changed" refusal))))

;;;###autoload
(defun org-agent-settings-preset-changed (params)
  "Show the preset of PARAMS, which holds from now on."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :preset (plist-get params :preset))))

;;;; Who the agent is

(defconst org-agent-settings-persona-roles
  '(("IDENTITY" . "who the agent is: its name, what it is for")
    ("SOUL" . "how it is and speaks")
    ("USER" . "you: name, time zone, languages")
    ("TOOLS" . "what it should know when it uses tools here")
    ("PROFILES" . "people it hears of")
    ("WORKSPACE" . "where your work is")
    ("MEMORY" . "what it is to remember")
    ("HEARTBEAT" . "what it looks after from time to time"))
  "The files of a home that are told to the model, and what they are for.")

(defun org-agent-settings--persona-file (role)
  "Return the file of ROLE: the one in Org, or in Markdown if only that is there."
  (let ((file (expand-file-name role (org-agent-home-directory))))
    (cl-find-if #'file-exists-p (list (concat file ".org") (concat file ".md")))))

(defun org-agent-settings--persona-state (role)
  "Return a word on the content of the file of ROLE."
  (let ((file (org-agent-settings--persona-file role)))
    (cond ((null file) "not there")
          ((not (file-readable-p file)) "not readable")
          ((with-temp-buffer
             (insert-file-contents file)
             (re-search-forward "^[ \t]*[^#\n \t]" nil t))
           "")
          (t "says nothing yet"))))

(defun org-agent-settings--persona-annotate (role)
  "Return what is shown behind ROLE where one is chosen."
  (let ((state (org-agent-settings--persona-state role)))
    (concat "  " (cdr (assoc role org-agent-settings-persona-roles))
            (unless (string-empty-p state) (concat " (" state ")")))))

;;;###autoload
(defun org-agent-persona (role)
  "Open the file of ROLE: who the agent is, whom it works for and the like.
What you save counts from the next turn on; \\[org-agent-prompt]
shows what the model is told of it."
  (interactive
   (list (let ((completion-extra-properties
                '(:annotation-function org-agent-settings--persona-annotate))
               (completion-ignore-case t))
           (completing-read "Who it is: " (mapcar #'car org-agent-settings-persona-roles)
                            nil t nil nil "IDENTITY"))))
  (unless (assoc role org-agent-settings-persona-roles)
    (user-error "There is no file of that name; there are %s"
                (string-join (mapcar #'car org-agent-settings-persona-roles) ", ")))
  (let ((file (org-agent-settings--persona-file role)))
    (find-file (or file (expand-file-name (concat role ".org")
                                          (org-agent-home-directory))))
    (when (and (null file) (zerop (buffer-size)))
      (insert "#+TITLE: " (capitalize role) "\n")
      (set-buffer-modified-p nil))))

(provide 'org-agent-settings)
;;; org-agent-settings.el ends here
