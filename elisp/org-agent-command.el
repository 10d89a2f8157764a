;;; org-agent-command.el --- Commands of skills  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Skills declare commands: a name, a description, and the data of Emacs
;; that the command needs.  `org-agent-command' sends one from any buffer,
;; and `/NAME' at the beginning of a draft does the same.
;;
;; Only the declared data is sent along: the region or the buffer, or the
;; agenda.  The conversation shows the command and a line that describes
;; the data, not the text.  Buffers of secrets are never sent.

;;; Code:

(require 'cl-lib)
(require 'ol)
(require 'org-id)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-draft)
(require 'org-agent-chat)

(declare-function org-agent-agenda "org-agent-agenda")
(declare-function org-agent-agenda-line "org-agent-agenda")
(declare-function org-agent-send-ask-consent "org-agent-send")
(declare-function org-agent-send-in "org-agent-send")

(defcustom org-agent-command-private-names
  '("\\` " "\\*auth" "authinfo" "\\.netrc" "/\\.password-store/" "/\\.ssh/"
    "/\\.gnupg/" "\\.\\(?:gpg\\|asc\\|pem\\|key\\|p12\\|pfx\\|kdbx\\)\\'"
    "\\*org-agent-approvals\\*")
  "Buffers that are never sent with a command: regexps for names or files."
  :type '(repeat regexp)
  :group 'org-agent-privacy
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-command-private-modes
  '(authinfo-mode pass-mode pass-view-mode password-mode password-store-mode
                  keepass-mode)
  "Buffers that are never sent with a command: their major modes."
  :type '(repeat symbol)
  :group 'org-agent-privacy
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-command-text-limit 200000
  "The number of characters of a buffer that are sent with a command at most.")

(defvar org-agent-command-list nil
  "The commands of the live skills, plists as the kernel sent them.")

(defvar org-agent-command-history nil
  "History of arguments of commands.")

;;;; The commands

;;;###autoload
(defun org-agent-command-take (result)
  "Store the commands of RESULT, that of `skill/list' or `skill/changed'."
  (setq org-agent-command-list (plist-get result :commands)))

;;;###autoload
(defun org-agent-command-refresh ()
  "Ask the kernel for the commands."
  (org-agent-kernel-request "skill/list" nil
                            :success #'org-agent-command-take
                            :failure #'ignore))

(defun org-agent-command--named (name)
  "Return the command NAME, in any case, or nil."
  (cl-find (downcase name) org-agent-command-list
           :key (lambda (command) (plist-get command :name))
           :test #'equal))

(defun org-agent-command--names ()
  "Return the names of all commands."
  (mapcar (lambda (command) (plist-get command :name))
          org-agent-command-list))

(defun org-agent-command--annotate (name)
  "Return what the command NAME does, for a list of completions."
  (when-let* ((command (org-agent-command--named name)))
    (concat (make-string (max 1 (- 16 (length name))) ?\s)
            (plist-get command :description))))

(defun org-agent-command--table (string predicate action)
  "Complete STRING to the name of a command, for `completing-read'.
PREDICATE and ACTION are as there.  The names are looked up each time,
since they come from the kernel, which may be starting."
  (if (eq action 'metadata)
      '(metadata (category . org-agent-command)
                 (annotation-function . org-agent-command--annotate))
    (complete-with-action action (org-agent-command--names)
                          string predicate)))

;;;; Data of a command

(defun org-agent-command-private-p (buffer)
  "Return why BUFFER must not be sent, or nil."
  (with-current-buffer buffer
    (let ((case-fold-search t))
      (cond
       ((minibufferp) "it is the minibuffer")
       ((apply #'derived-mode-p org-agent-command-private-modes)
        "its mode is one for secrets")
       ((seq-some (lambda (regexp)
                    (or (string-match-p regexp (buffer-name))
                        (and buffer-file-name
                             (string-match-p regexp buffer-file-name))))
                  org-agent-command-private-names)
        "its name is one for secrets (`org-agent-command-private-names')")
       ((and buffer-file-name (not (file-remote-p buffer-file-name))
             (org-agent-file-in-directory-p
              buffer-file-name (org-agent-state-file "")))
        "the kernel's token is in that directory")
       ((not enable-multibyte-characters) "it contains no text")
       ((apply #'derived-mode-p
               '(image-mode doc-view-mode archive-mode tar-mode
                 pdf-view-mode))
        "it contains no text")))))

(defun org-agent-command-looked-at ()
  "Return the buffer that the person works in, or nil.
In a conversation it is the buffer of another window of the frame."
  (if (not (or org-agent-chat-session (minibufferp)))
      (current-buffer)
    (cl-loop for window in (cdr (window-list nil 'no-minibuffer))
             for buffer = (window-buffer window)
             unless (or (buffer-local-value 'org-agent-chat-session buffer)
                        (org-agent-command-private-p buffer))
             return buffer)))

(defun org-agent-command--buffer (buffer)
  "Return the region of BUFFER, or else its accessible text, for a command.
The result is (PLIST . LINE); LINE describes it to the person."
  (with-current-buffer buffer
    (when-let* ((reason (org-agent-command-private-p buffer)))
      (user-error "Nothing was sent: %s is never sent, because %s"
                  (buffer-name) reason))
    (let* ((region (and (use-region-p) (not (= (region-beginning) (region-end)))))
           (beg (if region (region-beginning) (point-min)))
           (end (if region (region-end) (point-max)))
           (cut (min end (+ beg org-agent-command-text-limit)))
           (remote (and buffer-file-name (file-remote-p buffer-file-name 'host)))
           (name (org-agent-one-line (buffer-name)))
           (lines (and region
                       (format "lines %d-%d of " (line-number-at-pos beg t)
                               (line-number-at-pos end t)))))
      (cons
       (append
        (list :name name :mode (symbol-name major-mode)
              :text (org-agent-rpc-text beg cut))
        (and buffer-file-name
             (list :file (org-agent-one-line buffer-file-name)))
        (and region '(:region t))
        (and (< cut end) (list :cut (- end beg)))
        (and remote (list :remote remote)))
       (concat "On " lines
               (if (and buffer-file-name (not remote))
                   (org-link-make-string
                    (concat "file:" (org-agent-one-line
                                     (abbreviate-file-name buffer-file-name)))
                    name)
                 (concat "the buffer " name))
               (and remote (format ", a file of %s" remote))
               (and (not region) (buffer-narrowed-p) ", as far as it is narrowed to")
               (if (< cut end)
                   (format ", the first %d of %d characters"
                           (- cut beg) (- end beg))
                 (concat ", " (org-agent-counted (- end beg) "character"))))))))

(defun org-agent-command--context (command buffer)
  "Return the data that COMMAND needs, for a person who is in BUFFER.
The result is (PLIST . LINES); LINES describe it to the person."
  (let (payload lines)
    (dolist (want (plist-get command :wants))
      (pcase want
        ("buffer"
         (when buffer
           (pcase-let ((`(,plist . ,line) (org-agent-command--buffer buffer)))
             (setq payload (append payload (list :buffer plist)))
             (push line lines))))
        ("agenda"
         (let ((agenda (org-agent-agenda)))
           (setq payload (append payload (list :agenda agenda)))
           (push (org-agent-agenda-line agenda) lines)))))
    (cons payload (nreverse lines))))

;;;; Sending a command

(defconst org-agent-command--regexp
  "\\`/\\([[:alnum:]-]+\\)\\(?:[ \t\n]\\|\\'\\)"
  "Matches what may be a command at the beginning of a text, and no path.")

;;;###autoload
(defun org-agent-command-unknown-p (text)
  "Return non-nil if TEXT begins like a command, but with no name of one.
Whether it was meant for one the kernel decides."
  (and (string-match org-agent-command--regexp text)
       (not (org-agent-command--named (match-string 1 text)))))

(defun org-agent-command--in (text)
  "Return the command that TEXT begins with, (PLIST . ARGUMENTS), or nil."
  (when (string-match org-agent-command--regexp text)
    (let ((name (match-string 1 text))
          (rest (substring text (match-end 1))))
      (when-let* ((command (org-agent-command--named name)))
        (cons command (string-trim rest))))))

;;;###autoload
(defun org-agent-command-message (id level text)
  "Return the message ID at LEVEL for TEXT, a draft.
If TEXT begins with the name of a command, the message is that command,
with the data of the buffer that the person works in."
  (pcase (org-agent-command--in text)
    (`(,command . ,arguments)
     (org-agent-command--message id level command text arguments
                                 (org-agent-command-looked-at)))
    (_ (list :id id :level level :text text))))

;;;###autoload
(defun org-agent-command-alone (id level text)
  "Return the message ID at LEVEL for TEXT if it is a command, or nil.
Signal an error if the command needs other data: TEXT only describes the
data that it was sent with."
  (pcase (org-agent-command--in text)
    (`(,command . ,arguments)
     (when (plist-get command :wants)
       (user-error "The text that /%s was sent with is not known any more; use M-x org-agent-command where that text is"
                   (plist-get command :name)))
     (org-agent-command--message id level command text arguments nil))))

(defun org-agent-command--message (id level command text arguments buffer)
  "Return the message ID at LEVEL for COMMAND with ARGUMENTS in BUFFER.
TEXT is the command as the person wrote it."
  (pcase-let ((`(,payload . ,lines)
               (org-agent-command--context command buffer)))
    (list :id id :level level
          :text (string-join (cons text lines) "\n")
          :event (append (list :sensor :user-command
                               :command (plist-get command :name)
                               :arguments arguments)
                         payload))))

;;;###autoload
(defun org-agent-command (name &optional arguments)
  "Send the command NAME of a skill with ARGUMENTS, for this buffer.
The skill gets the data that the command declares: the region or else the
text of this buffer, or the agenda.  The conversation with the answer is
shown."
  (interactive
   (progn
     (add-hook 'org-agent-kernel-ready-hook #'org-agent-command-refresh)
     (if (org-agent-kernel-ready-p)
         (org-agent-command-refresh)
       (org-agent-kernel-ensure))
     (let ((name (completing-read "Command: " #'org-agent-command--table
                                  nil t)))
       (when (string-empty-p name)
         (user-error "No command was given"))
       (list name (read-string (format "/%s, with what (or nothing): " name)
                               nil 'org-agent-command-history)))))
  (let* ((command (or (org-agent-command--named name)
                      (user-error "No live skill has the command /%s" name)))
         (arguments (string-trim (or arguments "")))
         (session (or org-agent-chat-session org-agent-chat-main))
         (id (org-id-uuid)))
    (org-agent-send-ask-consent)
    (let ((message (org-agent-command--message
                    id 1 command
                    (string-trim (format "/%s %s" (plist-get command :name)
                                         arguments))
                    arguments (org-agent-command-looked-at))))
      (display-buffer (org-agent-send-in session message))
      (message "%s" (string-join (split-string (plist-get message :text) "\n")
                                 "  ")))))

;;;; Completion in the draft

;;;###autoload
(defun org-agent-command-completion ()
  "Complete the name of a command after a `/' that begins the draft.
This is for `completion-at-point-functions'."
  (let ((end (point)))
    (save-excursion
      (forward-line 0)
      (when (and (looking-at "\\*+ +/\\([[:alnum:]-]*\\)")
                 (<= (match-beginning 1) end (match-end 1))
                 (equal (org-agent-draft-start) (point)))
        (list (match-beginning 1) (match-end 1) #'org-agent-command--table
              :annotation-function #'org-agent-command--annotate
              :exclusive (org-agent-command-exclusive
                          (match-string-no-properties 1)
                          #'org-agent-command--table))))))

(defun org-agent-command-exclusive (name table)
  "Return `no' unless NAME is completed to something of TABLE, in any style.
Of what is not exclusive Emacs looks at the beginnings of names alone, and
a style that finds words within them would find none."
  (if (completion-try-completion name table nil (length name)) t 'no))

(provide 'org-agent-command)
;;; org-agent-command.el ends here
