;;; org-agent-skills.el --- List, create and authorize skills  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-skills' lists the notes that are skills with their state, and
;; the directories with a SKILL.md.  It is updated when you save a note.
;; `org-agent-skill-new' creates a note.
;;
;; A note requests capabilities outside of its Lisp in its line
;; #+CAPABILITIES:.  `org-agent-skill-grant', which is C-c C-c on that line,
;; describes them in plain words and grants them after a yes.
;; `org-agent-skill-revoke' revokes them.  The kernel refuses a grant if the
;; note has changed after it was shown.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-element)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-list)
(require 'org-agent-section)
(require 'org-agent-skill)

(declare-function org-agent-command-take "org-agent-command")

(defconst org-agent-skills--buffer "*org-agent-skills*"
  "The name of the buffer of the list.")

(defvar org-agent-skills-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-sections-mode-map)
    (define-key map (kbd "RET") #'org-agent-skills-visit)
    (define-key map (kbd "t") #'org-agent-skills-test)
    (define-key map (kbd "+") #'org-agent-skill-new)
    (define-key map (kbd "G") #'org-agent-skill-grant)
    map)
  "Keymap of the list of skills.")

(define-derived-mode org-agent-skills-mode org-agent-list-sections-mode
  "Org-Agent-Skills"
  "Major mode of the list of skills.
\\<org-agent-skills-mode-map>\\[org-agent-skills-visit] visits a note, at its first error if it has one.  \\[org-agent-skills-test] runs its tests,
\\[org-agent-skill-grant] grants its capabilities, \\[org-agent-skill-new] creates a new note."
  :interactive nil
  (org-agent-list-rows
   ;; A state can be "effective", and the note is seen in a window of 80 columns.
   '(("Skill" 16) ("State" 10) ("Version" 7) ("Tests" 5 t) ("Capabilities" 12)
     ("Note"))
   #'org-agent-skills--reload
   "\\<org-agent-skills-mode-map>\\[org-agent-skills-visit] visit  \\[org-agent-skills-test] test  \\[org-agent-skill-grant] grant  \\[org-agent-skill-new] new"))

;;;###autoload
(defun org-agent-skills ()
  "List the skills of the agent and their states."
  (interactive)
  (org-agent-list-open
   org-agent-skills--buffer 'org-agent-skills-mode
   (lambda () (org-agent-kernel-ask "skill/list" nil #'org-agent-skills--show))))

(defun org-agent-skills--reload (&rest _)
  "Have the kernel read all notes again, and list them."
  (org-agent-kernel-ask "skill/reload" nil #'org-agent-skills--show))

(defun org-agent-skills--show (result)
  "List the skills of RESULT, that of `skill/list'."
  (org-agent-list-show-rows
   (append (mapcar #'org-agent-skills--policy-row
                   (plist-get result :diagnostics))
           (mapcar #'org-agent-skills--row (plist-get result :skills)))
   "There is no skill.  \\<org-agent-skills-mode-map>\\[org-agent-skill-new] creates one."
   (org-agent-list-left result "more")))

(defun org-agent-skills--row (status)
  "Return the row of STATUS, which unfolds to the details."
  (let ((name (plist-get status :skill)))
    (org-agent-list-row
     'skill (plist-get status :file) status
     (list (if (string-empty-p (or name "")) "-" name)
           (org-agent-skills--state status)
           (or (plist-get status :version) "")
           (if (org-agent-skills--prompt-p status) "-"
             (number-to-string (or (plist-get status :tests) 0)))
           (org-agent-skills--capabilities status)
           (string-join (cons (org-agent-skills--short-file status)
                              (org-agent-skills--remarks status))
                        "  "))
     (lambda () (org-agent-skills--details status))
     (cl-loop for fault in (plist-get status :diagnostics)
              for number from 0
              collect (org-agent-section
                       'fault number :data fault
                       :heading (org-agent-skills--fault-place fault)
                       :body (let ((fault fault))
                               (lambda ()
                                 (org-agent-list-filled
                                  (plist-get fault :message)))))))))

(defun org-agent-skills--state (status)
  "Return the state of STATUS with its face."
  (let ((state (substring (symbol-name (plist-get status :state)) 1)))
    (propertize (if (plist-get status :last-good) (concat state "+old") state)
                'face (get-text-property 0 'face (org-agent-list-state state))
                'help-echo (if (plist-get status :last-good)
                               "The last good version is live"
                             (org-agent-skills--reasons status)))))

(defun org-agent-skills--file (status)
  "Return the file of the note of STATUS for display."
  (let ((file (plist-get status :file)))
    (if (plist-get status :shipped)
        (concat "shipped: " file)
      (abbreviate-file-name file))))

(defun org-agent-skills--short-file (status)
  "Return the file of the note of STATUS relative to that of all notes."
  (let ((file (plist-get status :file))
        (directory (expand-file-name "skills/" (org-agent-home-directory))))
    (cond ((plist-get status :shipped) "shipped")
          ((string-prefix-p directory file) (file-relative-name file directory))
          (t (org-agent-skills--file status)))))

(defun org-agent-skills--remarks (status)
  "Return remarks about STATUS, a list of strings, its first error last."
  (let ((fault (cl-find-if-not (lambda (fault) (plist-get fault :warning))
                               (plist-get status :diagnostics))))
    (delq nil
          (list (when-let* ((reasons (org-agent-skills--reasons status)))
                  (propertize reasons 'face 'shadow))
                (when-let* ((actions (plist-get status :actions)))
                  (propertize (org-agent-skills--actions actions) 'face 'shadow))
                (when-let* ((tools (plist-get status :tools)))
                  (propertize (org-agent-skills--tools tools) 'face 'shadow))
                (when-let* ((hooks (plist-get status :hooks)))
                  (propertize (org-agent-skills--hooks hooks) 'face 'shadow))
                (when-let* ((why (plist-get status :withheld)))
                  (propertize (format "not granted: %s" why) 'face 'warning))
                (when fault
                  (org-agent-skills--fault fault))))))

(defun org-agent-skills--fault (fault)
  "Return a line with the position and the message of FAULT."
  (propertize (format "%s: %s" (plist-get fault :line)
                      (car (split-string (or (plist-get fault :message) "") "\n")))
              'face (if (plist-get fault :warning) 'warning 'error)))

(defun org-agent-skills--fault-place (fault)
  "Return the severity and the line of FAULT."
  (propertize (format "%s in line %s"
                      (if (plist-get fault :warning) "warning" "error")
                      (plist-get fault :line))
              'face (if (plist-get fault :warning) 'warning 'error)))

(defun org-agent-skills--details (status)
  "Return the details of STATUS, except its errors, as lines."
  (let ((capabilities (plist-get status :capabilities))
        (since (plist-get status :since)))
    (mapconcat
     #'org-agent-list-filled
     (delq nil
           (append
            (list (org-agent-skills--file status)
                  (and (plist-get status :last-good)
                       "The last good version is live.")
                  (and capabilities
                       (format "requests %s%s" (string-join capabilities ", ")
                               (if since (concat ", granted since " since) ""))))
            (plist-get status :reasons)
            (when-let* ((actions (plist-get status :actions)))
              (list (org-agent-skills--actions actions)))
            (when-let* ((tools (plist-get status :tools)))
              (list (org-agent-skills--tools tools)))
            (when-let* ((hooks (plist-get status :hooks)))
              (list (org-agent-skills--hooks hooks)))
            (when-let* ((why (plist-get status :withheld)))
              (list (format "not granted: %s" why)))))
     "")))

(defun org-agent-skills--actions (actions)
  "Return a description of ACTIONS of a note."
  (mapconcat (lambda (action)
               (format "action %s, %s" (plist-get action :key)
                       (plist-get action :does)))
             actions ", "))

(defun org-agent-skills--tools (tools)
  "Return a description of TOOLS of a note."
  (mapconcat (lambda (tool)
               (format "tool %s: %s" (plist-get tool :name)
                       (plist-get tool :does)))
             tools ", "))

(defun org-agent-skills--hooks (hooks)
  "Return a description of HOOKS of a note."
  (mapconcat (lambda (hook)
               (format "hook %s at %s" (plist-get hook :name)
                       (plist-get hook :on)))
             hooks ", "))

(defun org-agent-skills--capabilities (status)
  "Return the capabilities of STATUS in a face for granted or not."
  (let ((withheld (plist-get status :withheld))
        (since (plist-get status :since)))
    (propertize (string-join (plist-get status :capabilities) " ")
                'face (if withheld 'warning 'success)
                'help-echo (cond (withheld (concat "Not granted: " withheld))
                                 (since (concat "Granted since " since))))))

(defun org-agent-skills--policy-row (fault)
  "Return the row of FAULT, an error of policy.org that voids all grants."
  (let ((file (plist-get fault :file)))
    (org-agent-list-row
     'skill (list file (plist-get fault :line))
     (list :file file :diagnostics (list fault))
     (list "-" (org-agent-list-state "void") "" "" ""
           (concat (abbreviate-file-name file) "  "
                   (org-agent-skills--fault fault)))
     (lambda () (org-agent-list-filled (or (plist-get fault :message) ""))))))

(defun org-agent-skills--prompt-p (status)
  "Return non-nil if STATUS is that of a directory with a SKILL.md."
  (eq (plist-get status :kind) :prompt))

(defun org-agent-skills--reasons (status)
  "Return the reasons why the skill of STATUS is not in effect, or nil."
  (when-let* ((reasons (plist-get status :reasons)))
    (string-join reasons "; ")))

(defun org-agent-skills--status ()
  "Return the status of the line at point."
  (or (org-agent-section-data-at-point 'skill)
      (user-error "There is no skill on this line")))

(defun org-agent-skills-visit ()
  "Visit the note of this line, at the error of the line or at its first."
  (interactive)
  (let* ((status (org-agent-skills--status))
         (file (plist-get status :file))
         (fault (or (org-agent-section-data-at-point 'fault)
                    (car (plist-get status :diagnostics)))))
    (when (plist-get status :shipped)
      (user-error "This skill is part of the program; \"org-agent skill copy %s\" makes a copy of yours"
                  (if (org-agent-skills--prompt-p status)
                      (plist-get status :skill)
                    (file-name-base file))))
    (pop-to-buffer-same-window (find-file-noselect file))
    (when (and (plist-get status :state)
               (not (org-agent-skills--prompt-p status)))
      (org-agent-skill-mode 1))
    (when fault
      (goto-char (org-agent-skill-position (plist-get fault :line)
                                           (plist-get fault :column))))))

(defun org-agent-skills-test ()
  "Run the tests of the note of this line."
  (interactive)
  (unless (plist-get (org-agent-skills--status) :state)
    (user-error "There is no skill on this line"))
  (when (org-agent-skills--prompt-p (org-agent-skills--status))
    (user-error "A SKILL.md is a text for models and has no tests"))
  (org-agent-skills-visit)
  (org-agent-skill-test))

;;;###autoload
(defun org-agent-skills-changed (params)
  "List the notes of PARAMS, and report new errors."
  (org-agent-command-take params)
  (when-let* ((buffer (get-buffer org-agent-skills--buffer)))
    (with-current-buffer buffer
      (org-agent-skills--show params)))
  (dolist (status (plist-get params :skills))
    ;; What a note's tests showed when it was saved is marked in it.
    (org-agent-skills--check-again status)
    (cond ((eq (plist-get status :state) :failed)
           (org-agent-skills--report-error status))
          ((eq (plist-get status :state) :live)
           (org-agent-skills--report-mended status)
           (org-agent-skills--report-withheld status)))))

(defvar org-agent-skills--found nil
  "What the kernel found in notes: an alist of files and their diagnostics.")

(defun org-agent-skills--check-again (status)
  "Check the note of STATUS, if the kernel found something else in it before."
  (let ((file (plist-get status :file))
        (found (plist-get status :diagnostics)))
    (unless (equal found (alist-get file org-agent-skills--found nil nil #'equal))
      (setf (alist-get file org-agent-skills--found nil 'remove #'equal) found)
      (org-agent-skill-check file))))

(defvar org-agent-skills--withheld nil
  "The notes reported for missing grants: an alist of files and reasons.")

(defun org-agent-skills--report-withheld (status)
  "Report once that the note of STATUS is live without its capabilities."
  (let* ((file (plist-get status :file))
         (why (plist-get status :withheld))
         (reported (assoc file org-agent-skills--withheld)))
    (unless (and reported (equal why (cdr reported)))
      (setf (alist-get file org-agent-skills--withheld nil nil #'equal) why)
      (org-agent-skill-check file)
      (when (and why (not (plist-get status :shipped)))
        (message "org-agent: %s is live without %s (%s); %s grants it"
                 (abbreviate-file-name file)
                 (string-join (plist-get status :capabilities) " ") why
                 (substitute-command-keys "\\[org-agent-skill-grant]"))))))

(defvar org-agent-skills--errors nil
  "The errors that were reported: an alist of files and plists.")

(defun org-agent-skills--report-error (status)
  "Report the first error of the note of STATUS, unless it was reported."
  (let ((file (plist-get status :file))
        (fault (cl-find-if-not (lambda (fault) (plist-get fault :warning))
                               (plist-get status :diagnostics))))
    (unless (equal (alist-get file org-agent-skills--errors nil nil #'equal)
                   fault)
      (setf (alist-get file org-agent-skills--errors nil nil #'equal) fault)
      (org-agent-say "org-agent: %s:%s: %s%s" (abbreviate-file-name file)
                     (or (plist-get fault :line) 1)
                     (or (plist-get fault :message) "the note is not live")
                     (if (plist-get status :last-good)
                         " (the last good version stays live)"
                       "")))))

(defun org-agent-skills--report-mended (status)
  "Report that the note of STATUS is live if an error of it was reported."
  (let ((file (plist-get status :file)))
    (when (alist-get file org-agent-skills--errors nil nil #'equal)
      (setf (alist-get file org-agent-skills--errors nil 'remove #'equal) nil)
      (message "org-agent: %s is live" (abbreviate-file-name file)))))

;;;; New notes

;;;###autoload
(defun org-agent-skill-new (name)
  "Create a skill NAME: a note with tests that pass."
  (interactive "sName of the skill: ")
  (let ((program (or (org-agent-kernel-program)
                     (user-error "The program org-agent was not found; M-x org-agent-doctor says what to do"))))
    (pop-to-buffer-same-window
     (with-temp-buffer
       (let* ((default-directory (file-name-as-directory (expand-file-name "~")))
              (status (condition-case err
                          (call-process program nil '(t t) nil
                                        "--home" (directory-file-name
                                                  (org-agent-home-directory))
                                        "skill" "new" name)
                        (file-error (user-error "%s could not be run: %s" program
                                                (error-message-string err)))))
              (output (string-trim (buffer-string))))
         (unless (eq status 0)
           (user-error "%s" (string-remove-prefix "org-agent: " output)))
         (find-file-noselect output)))))
  (org-agent-skill-mode 1)
  (org-agent-say "%s"
                 (substitute-command-keys
                  (format "Try it: send \"%s: hello\" in the chat (\\[org-agent-chat]).  Saving the note makes a change live; C-c C-c on \"Success Criteria\" runs its tests"
                          name))))

;;;; Capabilities

(defun org-agent-skills--grant-request (&rest params)
  "Return the result of the request `skill/grant' with PARAMS."
  (org-agent-kernel-call "skill/grant" params))

;;;###autoload
(defun org-agent-skills-grant-line-p ()
  "Return non-nil if point is on a line #+CAPABILITIES."
  (save-excursion
    (beginning-of-line)
    (let ((case-fold-search t))
      (and (looking-at-p "[ \t]*#\\+capabilities:")
           (not (memq (org-element-type (org-element-at-point))
                      '(src-block example-block comment-block)))))))

(defun org-agent-skills--grant-file ()
  "Return the file of the note for a command: at point, or read it."
  (let ((status (org-agent-section-data-at-point 'skill)))
    (cond
     ((and (consp status) (plist-get status :shipped))
      (user-error "Skills of the program get no grants"))
     ((and (consp status) (plist-get status :file)))
     ((and buffer-file-name (derived-mode-p 'org-mode))
      (org-agent-skills--grant-save)
      buffer-file-name)
     (t (expand-file-name
         (read-file-name "Note: " (expand-file-name "skills/"
                                                    (org-agent-home-directory))
                         nil t nil
                         (lambda (file) (string-suffix-p ".org" file))))))))

(defun org-agent-skills--grant-save ()
  "Save this note, whose file has to have the text that is granted.
Ask first, and signal an error if the answer is no."
  (when (buffer-modified-p)
    (if (y-or-n-p (format "Save %s first? "
                          (file-name-nondirectory buffer-file-name)))
        (save-buffer)
      (user-error "Nothing was granted: the note is not saved"))))

(defun org-agent-skills--grant-names (shown)
  "Return the names of the capabilities of SHOWN that can be granted."
  (delq nil (mapcar (lambda (capability)
                      (unless (plist-get capability :refused)
                        (plist-get capability :name)))
                    (plist-get shown :capabilities))))

(defun org-agent-skills--grant-insert (shown)
  "Insert a description of SHOWN, the result of `skill/grant'."
  (insert (plist-get shown :note) "\nrequests permission to\n\n")
  (dolist (capability (plist-get shown :capabilities))
    (let ((refused (plist-get capability :refused)))
      (insert (if refused
                  (propertize (format "  (%s cannot be granted: %s)\n"
                                      (plist-get capability :asked) refused)
                              'face 'shadow)
                (format "  %s\n" (plist-get capability :meaning))))))
  (insert "\nIts Lisp has the SHA-256\n" (plist-get shown :blocks)
          (format "\n(%s).\n" (org-agent-skills--grant-state shown))))

(defun org-agent-skills--grant-state (shown)
  "Return the state of the grant of SHOWN."
  (let ((since (plist-get shown :since)))
    (cond ((plist-get shown :withheld))
          (since (concat "granted since " since))
          (t "granted"))))

(defun org-agent-skills--grant-agreed-p (shown)
  "Show the capabilities of SHOWN; return non-nil if the user grants them."
  (let ((buffer (generate-new-buffer "*org-agent-grant*")))
    (unwind-protect
        (save-window-excursion
          (with-current-buffer buffer
            (org-agent-skills--grant-insert shown)
            (goto-char (point-min))
            (special-mode))
          (display-buffer buffer '(nil (inhibit-same-window . t)))
          (yes-or-no-p "Grant this? "))
      (kill-buffer buffer))))

(defun org-agent-skills--grant-tell (result)
  "Report RESULT, that of `skill/grant'."
  (message "org-agent: %s: %s"
           (file-name-nondirectory (plist-get result :note))
           (if (plist-get result :granted)
               (concat "granted "
                       (string-join (org-agent-skills--grant-names result) " "))
             (concat "not granted: " (org-agent-skills--grant-state result)))))

;;;###autoload
(defun org-agent-skill-grant (file)
  "Grant the skill note FILE its capabilities, after asking you.
Interactively, FILE is that of this buffer, or of this line of the list
of skills, or else read it."
  (interactive (list (org-agent-skills--grant-file)))
  (let* ((shown (org-agent-skills--grant-request :file file))
         (names (org-agent-skills--grant-names shown)))
    (cond
     ((null names)
      (user-error "%s requests nothing that can be granted"
                  (file-name-nondirectory file)))
     ((plist-get shown :granted)
      (org-agent-skills--grant-tell shown))
     ((org-agent-skills--grant-agreed-p shown)
      (org-agent-skills--grant-tell
       (org-agent-skills--grant-request :file file :blocks (plist-get shown :blocks)
                                        :capabilities names)))
     (t (message "Nothing was granted")))))

;;;###autoload
(defun org-agent-skill-revoke (file)
  "Revoke the capabilities that the skill note FILE was granted."
  (interactive (list (org-agent-skills--grant-file)))
  (org-agent-skills--grant-tell (org-agent-skills--grant-request :file file :revoke t)))

(provide 'org-agent-skills)
;;; org-agent-skills.el ends here
