;;; org-agent-chat.el --- The conversation as an Org buffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A conversation is an Org buffer.  What stands behind the last turn is
;; the draft; `C-c C-c' in it sends it, `C-c C-k' stops the answer that is
;; being written.  Everywhere else the buffer is Org's, and so are its
;; keys.
;;
;; This file has the mode and how a buffer is attached to its session.
;; `org-agent-send.el' has what a person does with turns and
;; `org-agent-turn.el' what the kernel reports of them.

;;; Code:

;; Org makes so much garbage when it is loaded that Emacs would spend half
;; of the time on collecting it: that can wait a moment.
(let ((gc-cons-threshold (max gc-cons-threshold (* 64 1024 1024))))
  (require 'org))

(require 'cl-lib)
(require 'org)
(require 'org-id)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-draft)
(require 'org-agent-answer)
(require 'org-agent-file-owner)
(require 'org-agent-disk-copy)
(require 'org-agent-undo)
(require 'org-agent-asks)
(require 'org-agent-fontify)

(declare-function org-agent-add-drop-data "org-agent-add")
(declare-function org-agent-add-drop-file "org-agent-add")
(declare-function org-agent-add-drop-image "org-agent-add")
(declare-function org-agent-add-drop-link "org-agent-add")
(declare-function org-agent-add-mention-completion "org-agent-add")
(declare-function org-agent-chat-ctrl-c-ctrl-c "org-agent-send")
(declare-function org-agent-chat-ctrl-c-ctrl-k "org-agent-send")
(declare-function org-agent-command-completion "org-agent-command")
(declare-function org-agent-command-refresh "org-agent-command")
(declare-function org-agent-context-project-take "org-agent-context")
(declare-function org-agent-context-show-soon "org-agent-context")
(declare-function org-agent-goto-bookmark-make "org-agent-goto")
(declare-function org-agent-goto-imenu-index "org-agent-goto")
(declare-function org-agent-header-line "org-agent-header")
(declare-function org-agent-input-history-refresh "org-agent-input-history")
(declare-function org-agent-menu "org-agent-menu")
(declare-function org-agent-send-mark "org-agent-send")
(declare-function org-agent-send-waiting "org-agent-send")
(declare-function org-agent-settings-preset-refresh "org-agent-settings")
(declare-function org-agent-turn-ask-preview "org-agent-turn")

(defcustom org-agent-chat-hide-drawers t
  "Non-nil means to hide what is in the property drawers of a conversation.
TAB on a `:PROPERTIES:' line shows one."
  :type 'boolean
  :group 'org-agent-chat
  :package-version '(org-agent . "0.1.0"))

(defvar org-agent-chat-loaded-hook nil
  "Run in a conversation when the kernel has sent what its buffer lacked.")

(defvar org-agent-chat-status-hook nil
  "Run in a conversation when something in `org-agent-chat-status' changed.")

(defconst org-agent-chat-main "main"
  "The session whose buffer has no session in its name.")

;;;; State

(defvar-local org-agent-chat-session nil
  "The name of the session of this buffer.")

(defvar-local org-agent-chat-attached nil
  "Non-nil while the kernel sends this buffer the events of its session.
It is `requested' until the kernel has answered.")

(defvar-local org-agent-chat-status nil
  "What the header line shows: a plist.
`:model' MODEL, `:turn' the turn that runs, `:phase' `thinking',
`streaming' or `waiting', `:queued' turns that wait, `:usage' what the
session took, a plist (:input :output :cost :unpriced …), `:thought' how
many characters the model has thought, `:shown' how many tokens its last
request had of its `:window', `:compacting' while it is summarised,
`:progress' what the turn took of what it may take, a plist.")

(defvar-local org-agent-chat-outbox nil
  "Messages to be sent or acknowledged, oldest first.
Each is a plist (:id ID :level LEVEL :text TEXT :sent FLAG), that of a
command with `:event', a plist (:sensor :command :arguments …).")

(defvar-local org-agent-chat-records nil
  "Undo records of unacknowledged questions, an alist by ID.")

(defvar-local org-agent-chat-previews-requested nil
  "Turns whose preview was requested and has not come yet.")

;; Org restarts the mode when C-c C-c is pressed on a keyword.
(dolist (variable '(org-agent-chat-session org-agent-chat-attached
                                           org-agent-chat-status org-agent-chat-outbox
                                           org-agent-chat-records org-agent-chat-previews-requested))
  (put variable 'permanent-local t))

(defun org-agent-chat-put (&rest changes)
  "Change `org-agent-chat-status' by CHANGES, keys and values."
  (while changes
    (setq org-agent-chat-status
          (plist-put org-agent-chat-status (pop changes) (pop changes))))
  (run-hooks 'org-agent-chat-status-hook)
  (force-mode-line-update))

(defun org-agent-chat-get (key)
  "Return the value of KEY in `org-agent-chat-status'."
  (plist-get org-agent-chat-status key))

;;;; The mode

(defvar org-agent-chat-mode-map
  (let ((map (make-sparse-keymap)))
    ;; With names, for which-key and its like.
    (define-key map (kbd "C-c C-c") '("send" . org-agent-chat-ctrl-c-ctrl-c))
    (define-key map (kbd "C-c C-k") '("stop the answer" . org-agent-chat-ctrl-c-ctrl-k))
    ;; Org leaves this one to others; what is left of C-c is for minor modes.
    (define-key map (kbd "C-c C-x ?") '("agent" . org-agent-menu))
    map)
  "Keys of a conversation; the rest is `org-mode-map'.")

(define-derived-mode org-agent-chat-mode org-mode "Org-Agent"
  "Major mode of a conversation with the agent.
Behind the last turn write a message; \\[org-agent-chat-ctrl-c-ctrl-c]
there sends it and \\[org-agent-chat-ctrl-c-ctrl-k] stops the answer.  On a
message that was not sent \\[org-agent-chat-ctrl-c-ctrl-c] sends it
again, on an answer that was stopped or failed it has it answered
again.  \\[org-agent-menu] shows all commands.

All other keys are Org's.  \\[undo] takes a whole answer back at once,
\\[imenu] goes to a question or an answer by its words, \\[bookmark-set] and
\\[org-store-link] remember the one that point is in.  What
\\[org-agent-add] lists in the draft goes along with the message, and so
does a file that is dropped here.  \\[org-agent-previous-question] puts an
earlier question into the draft, \\[org-agent-next-question] comes back to what
you were writing, \\[org-agent-previous-matching-question] only finds what begins
as the draft does, \\[org-agent-insert-question] lets you choose.

\\[org-agent-ask] asks from any buffer, \\[org-agent-ask-here] has the answer
inserted there, and \\[org-agent-rewrite] has a region rewritten."
  (setq-local org-confirm-babel-evaluate t
              org-link-elisp-confirm-function #'yes-or-no-p
              org-link-shell-confirm-function #'yes-or-no-p
              ;; Org evaluates local variables when it restarts a mode.
              enable-local-variables nil
              enable-local-eval nil
              require-final-newline nil
              create-lockfiles nil
              buffer-save-without-query t
              ;; A paragraph of a model is one long line.
              truncate-lines nil
              word-wrap t
              revert-buffer-function #'org-agent-chat-revert
              header-line-format '(:eval (org-agent-header-line)))
  (add-hook 'org-ctrl-c-ctrl-c-hook #'org-agent-chat--being-written nil t)
  (add-hook 'write-contents-functions #'org-agent-chat--write nil t)
  (add-hook 'after-save-hook #'org-agent-chat-restore-draft nil t)
  (add-hook 'after-set-visited-file-name-hook #'org-agent-chat--written-elsewhere nil t)
  (add-hook 'kill-buffer-query-functions #'org-agent-chat--save-first nil t)
  (add-hook 'kill-buffer-hook #'org-agent-chat--leave nil t)
  (org-agent-draft-paste-setup)
  (org-agent-fontify-quietly)
  (org-agent-fontify-listed-languages)
  (org-agent-heading-show-waiting)
  (org-agent-disk-copy-watch)
  (org-agent-file-owner-watch-draft)
  ;; Behind Org's hook, which sets some of it anew.
  (add-hook 'org-agent-chat-mode-hook #'org-agent-chat--lend-commands -90 t)
  (when org-agent-chat-hide-drawers
    (org-agent-fontify-drawers)))

(defun org-agent-chat--lend-commands ()
  "Have commands of Emacs know conversations; what they need comes with them."
  (add-hook 'post-command-hook #'org-agent-context-show-soon nil t)
  (add-hook 'completion-at-point-functions #'org-agent-command-completion nil t)
  (add-hook 'completion-at-point-functions #'org-agent-add-mention-completion
            nil t)
  (setq-local imenu-create-index-function #'org-agent-goto-imenu-index
              imenu-auto-rescan t
              imenu-auto-rescan-maxout most-positive-fixnum
              imenu-space-replacement nil
              imenu-max-item-length nil
              bookmark-make-record-function #'org-agent-goto-bookmark-make
              dnd-protocol-alist
              (append '(("\\`file:" . org-agent-add-drop-file)
                        ("\\`https?:" . org-agent-add-drop-link)
                        ("\\`data:" . org-agent-add-drop-data))
                      dnd-protocol-alist))
  (when (fboundp 'yank-media-handler)   ; Emacs 29
    (yank-media-handler "\\`image/" #'org-agent-add-drop-image)))

(defun org-agent-chat--being-written ()
  "Refuse to do what point is on in an answer that is being written.
This is for `org-ctrl-c-ctrl-c-hook': the answer is checked whole only
when it is."
  (when (memq 'org-agent-answer-refuse
              (get-text-property (point) 'modification-hooks))
    (user-error "The answer is being written; C-c C-k stops it")))

(defun org-agent-chat--write ()
  "Write the conversation; for `write-contents-functions'."
  (org-agent-draft-paste-settle)
  (and org-agent-file-owner-p buffer-file-name
       (org-agent-file-owner-write)))

(defun org-agent-chat--save-first ()
  "Save before the buffer is killed, without asking; return t."
  (unless (buffer-base-buffer)
    (org-agent-file-owner-save))
  t)

(defun org-agent-chat--leave ()
  "Tell the kernel that the buffer goes."
  (when (and org-agent-chat-attached (org-agent-kernel-ready-p)
             (not (buffer-base-buffer)))
    (org-agent-kernel-request "session/leave"
                              (list :session org-agent-chat-session))))

(defun org-agent-chat--written-elsewhere ()
  "Make this buffer no conversation: its user has it visit another file.
What is said from now on would go there, and the conversation's file
would not have it."
  (unless (or (not org-agent-chat-session)
              (equal buffer-file-name org-agent-file-owner-file))
    (org-agent-answer-remove-all)
    (org-agent-chat--leave)
    (setq org-agent-chat-session nil
          org-agent-chat-attached nil
          org-agent-chat-outbox nil
          org-agent-file-owner-p nil
          org-agent-file-owner-file nil)
    (let ((inhibit-read-only t))
      (remove-overlays (point-min) (point-max) 'org-agent-asks t)
      (remove-list-of-text-properties
       (point-min) (point-max) '(category org-agent-asks read-only)))
    (org-mode)
    (message "This is a copy now; M-x org-agent-chat opens the conversation")))

;; The mode goes before it is called.
(put 'org-agent-chat--written-elsewhere 'permanent-local-hook t)

(defun org-agent-chat-restore-draft ()
  "See to it that there is a draft at the end of the buffer.
If that changes a buffer that was saved, save it again."
  (when-let* ((missing (org-agent-draft-missing)))
    (let ((saved (not (buffer-modified-p))))
      (org-agent-answer-undisturbed
        (let ((at-end (= org-agent-answer-point (point-max))))
          (org-agent-undo-insert nil (car missing) (cdr missing))
          (when at-end
            (set-marker org-agent-answer-point (point-max)))))
      (when saved (org-agent-file-owner-save)))))

;;;; Buffers

(defun org-agent-chat-buffer-name (session)
  "Return the name of the buffer of SESSION."
  (if (equal session org-agent-chat-main)
      "*org-agent-chat*"
    (format "*org-agent-chat: %s*" session)))

(defun org-agent-chat-buffer (session)
  "Return the live buffer of SESSION, or nil."
  (let ((of-it (lambda (buffer)
                 (equal (buffer-local-value 'org-agent-chat-session buffer)
                        session)))
        (buffer (get-buffer (org-agent-chat-buffer-name session))))
    (if (and buffer (funcall of-it buffer))
        buffer
      ;; Its user, or a buffer that had its name already, may have it
      ;; called otherwise.
      (cl-find-if of-it (buffer-list)))))

;;;###autoload
(defun org-agent-chat-buffers ()
  "Return the buffers of all conversations.
A clone, as Org makes of a subtree, is none."
  (cl-remove-if-not (lambda (buffer)
                      (and (not (buffer-base-buffer buffer))
                           (buffer-local-value 'org-agent-chat-session buffer)))
                    (buffer-list)))

(defun org-agent-chat-session-in-use ()
  "Return the session of this buffer, or that last seen, or the main one.
A conversation that no window has shown is not in use: texts are
rewritten in one."
  (or org-agent-chat-session
      (cl-some (lambda (buffer)
                 (and (> (buffer-local-value 'buffer-display-count buffer) 0)
                      (buffer-local-value 'org-agent-chat-session buffer)))
               (org-agent-chat-buffers))
      org-agent-chat-main))

(defun org-agent-chat-check-whole ()
  "Signal an error in a buffer that shows a part of a conversation.
Org makes such clones; what goes on is known in the conversation only."
  (when (buffer-base-buffer)
    (user-error "This is a part of %s; do that there"
                (buffer-name (buffer-base-buffer)))))

(defun org-agent-chat-check ()
  "Signal an error in a buffer that is no conversation, or a part of one."
  (unless org-agent-chat-session
    (user-error "This is no conversation; M-x org-agent-chat opens one"))
  (org-agent-chat-check-whole))

(defun org-agent-chat-check-attached ()
  "Signal an error where there is no conversation that a kernel knows."
  (org-agent-chat-check)
  (unless (eq org-agent-chat-attached t)
    (user-error "No kernel is running; M-x org-agent-chat starts one")))

(defmacro org-agent-chat-in (session &rest body)
  "Run BODY in the buffer of SESSION; without one do nothing.
Keys and values in the buffer's state are the buffer's own."
  (declare (indent 1) (debug t))
  `(when-let* ((buffer (org-agent-chat-buffer (or ,session
                                                  org-agent-chat-main))))
     (with-current-buffer buffer ,@body)))

(defun org-agent-chat-valid-session-p (name)
  "Return non-nil when NAME can name a session."
  (let ((case-fold-search nil))
    (and (<= 1 (length name) 64)
         (string-match-p "\\`[[:alnum:]_-][[:alnum:] ._-]*\\'" name)
         (not (string-suffix-p " " name)))))

(defun org-agent-chat-file (session)
  "Return the file of SESSION."
  (expand-file-name (concat "sessions/" session ".org")
                    (org-agent-home-directory)))

(defun org-agent-chat-sessions ()
  "Return the names of the sessions that have a file or a buffer."
  (let ((directory (file-name-directory
                    (org-agent-chat-file org-agent-chat-main))))
    (seq-uniq
     (append
      (mapcar (lambda (buffer)
                (buffer-local-value 'org-agent-chat-session buffer))
              (org-agent-chat-buffers))
      (and (file-directory-p directory)
           (mapcar #'file-name-sans-extension
                   (directory-files directory nil "\\`[^.#].*\\.org\\'")))))))

(defun org-agent-chat-read-session ()
  "Read the name of a session, an old or a new one."
  (let ((name (completing-read
               "Conversation: " (org-agent-chat-sessions) nil nil nil nil
               org-agent-chat-main)))
    (org-agent-chat-check-name name)
    name))

(defun org-agent-chat-check-name (name)
  "Signal an error unless NAME can be that of a session."
  (unless (org-agent-chat-valid-session-p name)
    (user-error "A conversation's name has letters, digits, blanks and ._-, 64 at most")))

(defun org-agent-chat-open (session)
  "Return the buffer of SESSION, made if there is none."
  (or (org-agent-chat-buffer session)
      (with-current-buffer (get-buffer-create
                            (org-agent-chat-buffer-name session))
        (let ((file (org-agent-chat-file session))
              (new (zerop (buffer-size))))
          ;; Org loads its modules here, which fails in a directory that is
          ;; not there: a new home comes with the kernel.
          (setq default-directory
                (file-name-as-directory
                 (seq-find #'file-directory-p
                           (list (org-agent-home-directory)
                                 (expand-file-name "~") "/"))))
          (when new
            (org-agent-file-owner-fill file))
          ;; The first Org buffer loads `org-modules', and much garbage with them.
          (let ((gc-cons-threshold (max gc-cons-threshold
                                        org-agent-rpc-gc-threshold)))
            (org-agent-chat-mode))
          (when new
            (org-agent-file-owner-fill-rest))
          (setq org-agent-chat-session session)
          (org-agent-chat-restore-draft)
          (org-agent-chat--follow-kernel)
          (setq buffer-undo-list nil)
          (set-buffer-modified-p nil)
          (goto-char (point-max))
          (org-agent-chat-attach)
          (current-buffer)))))

;;;###autoload
(defun org-agent-chat (&optional session)
  "Talk to the agent, in the conversation SESSION.
That is the main one; with a prefix argument, ask which.  The kernel is
started if none runs.  A conversation that a person opens from a project
may read there: see `org-agent-project-taken'."
  (interactive (list (and current-prefix-arg (org-agent-chat-read-session))))
  (let ((from (and (called-interactively-p 'any)
                   (not (derived-mode-p 'org-agent-chat-mode))
                   default-directory)))
    (pop-to-buffer-same-window
     (org-agent-chat-open (or session org-agent-chat-main)))
    (org-agent-context-project-take from))
  (org-agent-kernel-ensure))

;;;###autoload
(defun org-agent-chat-other ()
  "Talk to the agent in another conversation."
  (interactive)
  (org-agent-chat (org-agent-chat-read-session)))

;;;; Attaching

(defun org-agent-chat-attach-all ()
  "Attach all conversations to the kernel, which has just become ready."
  (dolist (buffer (org-agent-chat-buffers))
    (with-current-buffer buffer
      (setq org-agent-chat-attached nil)
      (org-agent-chat-attach))))

(defun org-agent-chat-attach ()
  "Attach this conversation to the kernel, if there is one.
The kernel sends what the buffer lacks, and then what happens."
  (when (and (org-agent-kernel-ready-p) (not org-agent-chat-attached))
    (setq org-agent-chat-attached 'requested)
    (org-agent-kernel-request-here
     "session/load"
     (list :session org-agent-chat-session :ids (org-agent-heading-turn-ids)
           :waiting (org-agent-asks-waiting))
     :success #'org-agent-chat--loaded
     :failure (lambda (refusal)
                (setq org-agent-chat-attached nil)
                (org-agent-chat-complain
                 "The conversation could not be loaded" refusal)))))

(defun org-agent-chat-revert (&optional ignore-auto noconfirm)
  "Take the file's text, giving up what the buffer has but the draft.
This is the `revert-buffer-function' of a conversation; IGNORE-AUTO and
NOCONFIRM are as for `revert-buffer'.  What was said and the file never
had comes from the kernel again."
  (org-agent-file-owner-revert ignore-auto noconfirm)
  (when (eq org-agent-chat-attached t)
    (setq org-agent-chat-attached nil)
    (org-agent-chat-attach)))

(defun org-agent-chat-complain (what refusal)
  "Say that WHAT happened because of REFUSAL, an error of the kernel."
  (let ((line (format "%s: %s" what (plist-get refusal :message))))
    (org-agent-rpc-log "%s" line)
    (message "org-agent: %s" line)))

(defun org-agent-chat--loaded (result)
  "Go on with RESULT, that of `session/load'.
What the buffer lacked was sent before it."
  (unless (equal (plist-get result :session) org-agent-chat-session)
    (org-agent-chat-renamed (plist-get result :session)
                            (plist-get result :file)))
  (setq org-agent-chat-attached t
        org-agent-chat-previews-requested nil)
  (org-agent-chat-put :preset (plist-get result :preset))
  (org-agent-chat-put :model (or (plist-get result :model)
                                 (org-agent-chat-get :model))
                      :queued (length (plist-get result :queued))
                      :turn (plist-get result :running)
                      ;; What waits for the person was told before this.
                      :phase (and (plist-get result :running)
                                  (if (eq (org-agent-chat-get :phase) 'waiting)
                                      'waiting
                                    'thinking))
                      :usage (plist-get result :usage))
  (org-agent-chat--drop-stale-previews (plist-get result :running))
  (if (plist-get result :keeper)
      (org-agent-chat-keep (plist-get result :file))
    (org-agent-file-owner-release))
  (org-agent-chat--mark-unreceived (plist-get result :never-received))
  (dolist (event (plist-get result :queued-events))
    (org-agent-heading-mark-waiting event t))
  (org-agent-chat-restore-draft)
  (org-agent-file-owner-save)
  (when (plist-get result :running)
    (org-agent-answer-begin (plist-get result :running))
    (org-agent-turn-ask-preview (plist-get result :running)
                                (plist-get result :running-event) 0))
  (org-agent-file-owner-restore-draft)
  (run-hooks 'org-agent-chat-loaded-hook)
  (when org-agent-chat-outbox
    (org-agent-send-waiting)))

(defun org-agent-chat-renamed (name file)
  "Follow the conversation of this buffer to its new NAME and FILE."
  (setq org-agent-chat-session name)
  (rename-buffer (org-agent-chat-buffer-name name) t)
  (org-agent-file-owner-moved file)
  (org-agent-chat-put)
  (message "This conversation is now called %s" name))

(defun org-agent-chat-keep (file)
  "Keep FILE; load again when it had turns that the buffer had not."
  (when (org-agent-file-owner-take file)
    (setq org-agent-chat-attached nil)
    (org-agent-chat-attach))
  (org-agent-file-owner-save))

(defun org-agent-chat--drop-stale-previews (running)
  "Take away the previews of turns other than RUNNING: they have ended."
  (pcase-dolist (`(,turn . ,_) (copy-sequence org-agent-answer-previews))
    (unless (equal turn running)
      (org-agent-answer-remove turn))))

(defun org-agent-chat--mark-unreceived (ids)
  "Mark the questions of IDS, which the kernel never received, as unsent.
Take the mark from the others."
  (dolist (id ids)
    (when-let* ((heading (org-agent-heading-find id)))
      (when (eq (org-agent-heading-turn-p heading) 'user)
        (org-agent-send-mark heading t))))
  (org-agent-heading-map-unsent
   (lambda (heading)
     (unless (member (org-agent-heading-property heading "ID") ids)
       (org-agent-send-mark heading nil)))))

(defun org-agent-chat-detach-all ()
  "Note that the kernel was lost."
  (dolist (buffer (org-agent-chat-buffers))
    (with-current-buffer buffer
      (setq org-agent-chat-attached nil
            org-agent-chat-previews-requested nil)
      (dolist (message org-agent-chat-outbox)
        (plist-put message :sent nil))
      (org-agent-chat-put :phase nil :turn nil :queued 0)
      (when (memq org-agent-kernel-state '(failed stopped))
        (org-agent-answer-remove-all)
        (when (and (eq org-agent-kernel-state 'failed)
                   (not org-agent-file-owner-p))
          ;; Nobody says who keeps the file; what is written must not be
          ;; lost meanwhile.
          (org-agent-file-owner-take
           (org-agent-chat-file org-agent-chat-session)))))))

(defconst org-agent-chat--when-ready
  '(org-agent-command-refresh org-agent-settings-preset-refresh
                              org-agent-input-history-refresh)
  "Functions that ask a kernel, when it becomes ready, what a draft can name.")

(defun org-agent-chat--follow-kernel ()
  "Attach conversations to the kernel whenever it becomes ready.
The first conversation that is opened begins with it."
  (unless (memq #'org-agent-chat-attach-all org-agent-kernel-ready-hook)
    (dolist (function (reverse org-agent-chat--when-ready))
      (add-hook 'org-agent-kernel-ready-hook function))
    (add-hook 'org-agent-kernel-ready-hook #'org-agent-chat-attach-all)
    (add-hook 'org-agent-kernel-lost-hook #'org-agent-chat-detach-all)
    (when (org-agent-kernel-ready-p)
      (mapc #'funcall org-agent-chat--when-ready))))

(provide 'org-agent-chat)
;;; org-agent-chat.el ends here
