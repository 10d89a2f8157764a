;;; org-agent-chat.el --- The conversation as an Org buffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A conversation is an Org buffer.  The text after the last turn is the
;; draft.  `C-c C-c' in it sends it, `C-c C-k' stops the answer that is
;; being written.  All other keys are those of Org.
;;
;; This file has the mode, and attaches a buffer to its session.  The file
;; `org-agent-send.el' has the commands that send, stop and repeat turns.
;; The file `org-agent-turn.el' handles the kernel's notifications.

;;; Code:

;; Loading Org and the package allocates so much that Emacs would spend half
;; of the time on garbage collections, which can wait a moment.
(let ((gc-cons-threshold (max gc-cons-threshold (* 64 1024 1024))))
  (require 'org)
  (require 'org-agent-asks)
  (require 'org-agent-kernel)
  (require 'org-agent-file-owner))

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
(require 'org-agent-page)

(declare-function org-agent-add-drop-data "org-agent-add")
(declare-function org-agent-add-drop-file "org-agent-add")
(declare-function org-agent-add-drop-image "org-agent-add")
(declare-function org-agent-add-drop-link "org-agent-add")
(declare-function org-agent-chat-ctrl-c-ctrl-c "org-agent-send")
(declare-function org-agent-chat-ctrl-c-ctrl-k "org-agent-send")
(declare-function org-agent-command-completion "org-agent-command")
(declare-function org-agent-command-refresh "org-agent-command")
(declare-function org-agent-context-project-take "org-agent-context")
(declare-function org-agent-context-show-soon "org-agent-context")
(declare-function org-agent-goto-bookmark-make "org-agent-goto")
(declare-function org-agent-goto-imenu-index "org-agent-goto")
(declare-function org-agent-held-copied "org-agent-held")
(declare-function org-agent-held-ctrl-c-ctrl-c "org-agent-held")
(declare-function org-agent-input-history-refresh "org-agent-input-history")
(declare-function org-agent-add-mention-completion "org-agent-add")
(declare-function org-agent-add-mention-in-region "org-agent-add")
(declare-function org-agent-menu "org-agent-menu")
(declare-function org-agent-header-fitted "org-agent-header")
(declare-function org-agent-send-mark "org-agent-send")
(declare-function org-agent-send-mark-unreceived "org-agent-send")
(declare-function org-agent-send-show-unsent "org-agent-send")
(declare-function org-agent-send-waiting "org-agent-send")
(declare-function org-agent-settings-preset-refresh "org-agent-settings")
(declare-function org-agent-turn-ask-preview "org-agent-turn")
(declare-function org-agent-turn-bring-back "org-agent-turn")
(declare-function org-agent-turn-set-aside "org-agent-turn")

(defvar org-agent-chat-loaded-hook nil
  "Hook run in a conversation when the kernel has sent its missing turns.")

(defvar org-agent-chat-status-hook nil
  "Hook run in a conversation when `org-agent-chat-status' has changed.")

(defconst org-agent-chat-main "main"
  "The main session; the name of its buffer does not contain it.")

;;;; State

(defvar-local org-agent-chat-session nil
  "The name of the session of this buffer.")

(defvar-local org-agent-chat-attached nil
  "Non-nil while the kernel sends this buffer the events of its session.
It is `requested' until the kernel has answered.")

(defvar-local org-agent-chat-status nil
  "The state of the conversation, which the header line shows: a plist.
`:model'      the model that answers
`:turn'       the turn that runs
`:phase'      `thinking', `streaming' or `waiting'
`:queued'     the number of turns that wait
`:usage'      tokens and cost of the session, a plist (:input :output
              :cost :unpriced …)
`:thought'    how many characters the model has thought
`:shown'      how many tokens of its `:window' the last request had
`:compacting' non-nil while the beginning is being summarised
`:progress'   how much of its budgets the turn has taken, a plist.")

(defvar-local org-agent-chat-outbox nil
  "Messages that are to be sent or acknowledged, oldest first.
Each is a plist (:id ID :level LEVEL :text TEXT :sent FLAG).  A command
also has `:event', a plist (:sensor :command :arguments …).")

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
    ;; The names are for which-key and the like.
    (define-key map (kbd "C-c C-c") '("send" . org-agent-chat-ctrl-c-ctrl-c))
    (define-key map (kbd "C-c C-k") '("stop the answer" . org-agent-chat-ctrl-c-ctrl-k))
    ;; Org does not use this key, and minor modes may not.
    (define-key map (kbd "C-c C-x ?") '("agent" . org-agent-menu))
    (define-key map (kbd "C-c C-x |") '("page or file" . org-agent-page-toggle))
    map)
  "Keymap of a conversation; its parent is `org-mode-map'.")

(define-derived-mode org-agent-chat-mode org-mode "Org-Agent"
  "Major mode of a conversation with the agent.
Write a message after the last turn; \\[org-agent-chat-ctrl-c-ctrl-c]
there sends it and \\[org-agent-chat-ctrl-c-ctrl-k] stops the answer.  On a
message that was not sent \\[org-agent-chat-ctrl-c-ctrl-c] sends it
again; on an answer that was stopped or failed it asks for another.
\\[org-agent-menu] shows all commands.  What you see is a page of
the file; \\[org-agent-page-toggle] shows the file as it is.

All other keys are those of Org.  \\[undo] takes back a whole answer at
once.  \\[imenu] goes to a question or an answer by its words.
\\[bookmark-set] and \\[org-store-link] refer to the turn at point.
\\[org-agent-add] adds a file, a buffer or a region to the message, and so
does dropping a file here.  \\[org-agent-previous-question] puts an earlier
question into the draft, \\[org-agent-next-question] a later one or the text
you were writing.  \\[org-agent-previous-matching-question] only finds questions
that begin as the draft does, and \\[org-agent-insert-question] lets you choose.

\\[org-agent-ask] asks from any buffer, \\[org-agent-ask-here] inserts the
answer there, and \\[org-agent-rewrite] rewrites a region."
  :interactive nil
  (setq-local org-confirm-babel-evaluate t
              org-link-elisp-confirm-function #'yes-or-no-p
              org-link-shell-confirm-function #'yes-or-no-p
              ;; The level of the draft says what a message belongs to.
              org-cycle-level-after-item/entry-creation nil
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
              header-line-format '(:eval (org-agent-header-fitted)))
  (add-hook 'org-ctrl-c-ctrl-c-hook #'org-agent-held-ctrl-c-ctrl-c nil t)
  (add-hook 'org-ctrl-c-ctrl-c-hook #'org-agent-chat--being-written nil t)
  (add-function :around (local 'filter-buffer-substring-function)
                #'org-agent-held-copied)
  (add-hook 'write-contents-functions #'org-agent-chat--write nil t)
  (add-hook 'after-save-hook #'org-agent-chat-restore-draft nil t)
  (add-hook 'after-set-visited-file-name-hook #'org-agent-chat--written-elsewhere nil t)
  (add-hook 'after-change-major-mode-hook #'org-agent-chat--come-back nil t)
  (add-hook 'kill-buffer-query-functions #'org-agent-chat--save-first nil t)
  (add-hook 'kill-buffer-hook #'org-agent-chat--leave nil t)
  (org-agent-draft-paste-setup)
  (org-agent-fontify-quietly)
  (org-agent-fontify-listed-languages)
  (org-agent-fontify-held-places)
  (org-agent-heading-show-waiting)
  (org-agent-disk-copy-watch)
  (org-agent-file-owner-watch-draft)
  ;; After the hooks of Org mode, which set some of these variables.
  (add-hook 'org-agent-chat-mode-hook #'org-agent-chat--lend-commands -90 t)
  (org-agent-page-setup))

(defun org-agent-chat--lend-commands ()
  "Set up completion, imenu, bookmarks and dropping in this conversation.
Their functions are autoloaded."
  (add-hook 'post-command-hook #'org-agent-context-show-soon nil t)
  (add-hook 'pre-command-hook #'org-agent-draft-guard nil t)
  (add-hook 'post-command-hook #'org-agent-draft-keep nil t)
  (add-hook 'org-tab-first-hook #'org-agent-draft-complete nil t)
  (add-hook 'completion-at-point-functions #'org-agent-command-completion nil t)
  (add-hook 'completion-at-point-functions #'org-agent-add-mention-completion
            nil t)
  (add-function :around (local 'completion-in-region-function)
                #'org-agent-add-mention-in-region)
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
  "Refuse `org-ctrl-c-ctrl-c' in an answer that is being written.
Only a complete answer is checked as a whole for active Org."
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
  "Tell the kernel that this buffer is killed."
  (when (and org-agent-chat-attached (org-agent-kernel-ready-p)
             (not (buffer-base-buffer)))
    (org-agent-kernel-request "session/leave"
                              (list :session org-agent-chat-session))))

(defun org-agent-chat--written-elsewhere ()
  "Make this buffer an ordinary copy, since its user has it visit another file.
Otherwise later turns would be saved there and not in the conversation's
file."
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

(defun org-agent-chat--come-back ()
  "Be a conversation again when a command of Org has started Org's own mode.
`org-toggle-tags-groups' does.  Whoever asks for `org-mode' gets it."
  (when (and (eq major-mode 'org-mode) org-agent-chat-session
             (not (eq this-command 'org-mode)))
    (org-agent-chat-mode)))

;; The mode is left before these functions are called.
(put 'org-agent-chat--written-elsewhere 'permanent-local-hook t)
(put 'org-agent-chat--come-back 'permanent-local-hook t)

(defun org-agent-chat-restore-draft ()
  "Insert a draft at the end of the buffer if it has none.
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
      ;; It has another name if its user renamed it, or if another buffer
      ;; had this one already.
      (cl-find-if of-it (buffer-list)))))

;;;###autoload
(defun org-agent-chat-buffers ()
  "Return the buffers of all conversations, without indirect buffers."
  (cl-remove-if-not (lambda (buffer)
                      (and (not (buffer-base-buffer buffer))
                           (buffer-local-value 'org-agent-chat-session buffer)))
                    (buffer-list)))

(defun org-agent-chat-session-in-use ()
  "Return the session of this buffer, or the last one shown, or the main one.
A conversation that no window has shown does not count, such as the one
in which texts are rewritten."
  (or org-agent-chat-session
      (cl-some (lambda (buffer)
                 (and (> (buffer-local-value 'buffer-display-count buffer) 0)
                      (buffer-local-value 'org-agent-chat-session buffer)))
               (org-agent-chat-buffers))
      org-agent-chat-main))

(defun org-agent-chat-check-whole ()
  "Signal an error in an indirect buffer of a conversation.
Only the conversation itself has the state of its turns."
  (when (buffer-base-buffer)
    (user-error "This is a part of %s; do that there"
                (buffer-name (buffer-base-buffer)))))

(defun org-agent-chat-check ()
  "Signal an error in a buffer that is no conversation, or a part of one."
  (unless org-agent-chat-session
    (user-error "This is no conversation; M-x org-agent-chat opens one"))
  (org-agent-chat-check-whole))

(defun org-agent-chat-check-attached ()
  "Signal an error unless this conversation is, or soon gets, attached to a kernel."
  (org-agent-chat-check)
  (with-timeout (2)
    (while (eq org-agent-chat-attached 'requested) (accept-process-output nil 0.05)))
  (unless (eq org-agent-chat-attached t)
    (user-error "No kernel is running; M-x org-agent-chat starts one")))

(defmacro org-agent-chat-in (session &rest body)
  "Run BODY in the buffer of SESSION; if it has none do nothing."
  (declare (indent 1) (debug t))
  (let ((buffer (make-symbol "buffer")))
    `(when-let* ((,buffer (org-agent-chat-buffer (or ,session org-agent-chat-main))))
       (with-current-buffer ,buffer ,@body))))

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
  "Return the buffer of SESSION, made if there is none.
If somebody turned another mode on in it, turn it into a conversation again."
  (if-let* ((buffer (org-agent-chat-buffer session)))
      (with-current-buffer buffer
        (unless (derived-mode-p 'org-agent-chat-mode)
          (org-agent-chat-mode)
          (org-agent-chat-restore-draft))
        buffer)
      (with-current-buffer (get-buffer-create
                            (org-agent-chat-buffer-name session))
        ;; The first Org buffer loads `org-modules', which allocates much.
        (let ((gc-cons-threshold (max gc-cons-threshold
                                      org-agent-rpc-gc-threshold)))
          (org-agent-chat--fill session))
        (current-buffer))))

(defun org-agent-chat--fill (session)
  "Make the current buffer, a new one, that of SESSION."
  (let ((file (org-agent-chat-file session))
        (new (zerop (buffer-size))))
    ;; Org loads its modules here, which fails in a directory that does
    ;; not exist.  The kernel makes a new home.
    (setq default-directory
          (file-name-as-directory
           (seq-find #'file-directory-p
                     (list (org-agent-home-directory)
                           (expand-file-name "~") "/"))))
    (when new
      (org-agent-file-owner-fill file))
    (org-agent-chat-mode)
    (when new
      (org-agent-file-owner-fill-rest))
    (setq org-agent-chat-session session)
    (org-agent-chat-restore-draft)
    (org-agent-chat--follow-kernel)
    (setq buffer-undo-list nil)
    (set-buffer-modified-p nil)
    (goto-char (point-max))
    (org-agent-chat-attach)))

;;;###autoload
(defun org-agent-chat (&optional session)
  "Talk to the agent, in the conversation SESSION, by default the main one.
With a prefix argument, ask for the conversation.  A kernel is started if
none runs.  The agent may read the project that the command is called in;
see `org-agent-project-taken'."
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
  "Attach all conversations to the kernel, which has become ready."
  (dolist (buffer (org-agent-chat-buffers))
    (with-current-buffer buffer
      (setq org-agent-chat-attached nil)
      (org-agent-chat-attach))))

(defun org-agent-chat-attach ()
  "Attach this conversation to the kernel, if there is one.
The kernel sends the turns that the buffer lacks, and then notifications."
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
  "Replace the text of the buffer, except the draft, by that of the file.
This is the `revert-buffer-function' of a conversation; IGNORE-AUTO and
NOCONFIRM are as for `revert-buffer'.  Turns that the file lacks come
from the kernel again."
  (org-agent-file-owner-revert ignore-auto noconfirm)
  (when (eq org-agent-chat-attached t)
    (setq org-agent-chat-attached nil)
    (org-agent-chat-attach)))

(defun org-agent-chat-complain (what refusal)
  "Report WHAT, and REFUSAL, an error of the kernel, as its reason."
  (let ((line (format "%s: %s" what (plist-get refusal :message))))
    (org-agent-rpc-log "%s" line)
    (org-agent-say "org-agent: %s" line)))

(defun org-agent-chat--loaded (result)
  "Update the conversation with RESULT, that of `session/load'.
The kernel has sent the missing turns before."
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
                      ;; Open asks were announced before this reply.
                      :phase (and (plist-get result :running)
                                  (if (eq (org-agent-chat-get :phase) 'waiting)
                                      'waiting
                                    'thinking))
                      :usage (plist-get result :usage))
  (org-agent-chat--drop-stale-previews (plist-get result :running))
  (if (plist-get result :keeper)
      (org-agent-chat-own-file (plist-get result :file))
    (org-agent-file-owner-release))
  (org-agent-turn-bring-back)
  (org-agent-send-mark-unreceived (plist-get result :never-received))
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

(defun org-agent-chat-own-file (file)
  "Own FILE; attach again when it has turns that the buffer lacks."
  (when (org-agent-file-owner-take file)
    (setq org-agent-chat-attached nil)
    (org-agent-chat-attach))
  (org-agent-file-owner-save))

(defun org-agent-chat--drop-stale-previews (running)
  "Set the previews of turns other than RUNNING, which have ended, aside."
  (pcase-dolist (`(,turn . ,_) (copy-sequence org-agent-answer-previews))
    (unless (equal turn running)
      (org-agent-turn-set-aside turn))))

(defun org-agent-chat-detach-all ()
  "Note that the kernel was lost."
  (dolist (buffer (org-agent-chat-buffers))
    (with-current-buffer buffer
      (setq org-agent-chat-attached nil
            org-agent-chat-previews-requested nil)
      (dolist (message org-agent-chat-outbox)
        (plist-put message :sent nil))
      (org-agent-send-show-unsent)
      (org-agent-chat-put :phase nil :turn nil :queued 0)
      (when (memq org-agent-kernel-state '(failed stopped))
        (org-agent-answer-remove-all)
        (when (and (eq org-agent-kernel-state 'failed)
                   (not org-agent-file-owner-p))
          ;; Without a kernel no Emacs is notified that it owns the file.  This
          ;; one does, so that what is written is saved.
          (org-agent-file-owner-take
           (org-agent-chat-file org-agent-chat-session)))))))

(defconst org-agent-chat--when-ready
  '(org-agent-command-refresh org-agent-settings-preset-refresh
                              org-agent-input-history-refresh)
  "Functions that request the names that a draft can use from a ready kernel.")

(defun org-agent-chat--follow-kernel ()
  "Attach conversations to the kernel whenever it becomes ready.
This adds to hooks of ours when the first conversation is opened."
  (unless (memq #'org-agent-chat-attach-all org-agent-kernel-ready-hook)
    (dolist (function (reverse org-agent-chat--when-ready))
      (add-hook 'org-agent-kernel-ready-hook function))
    (add-hook 'org-agent-kernel-ready-hook #'org-agent-chat-attach-all)
    (add-hook 'org-agent-kernel-lost-hook #'org-agent-chat-detach-all)
    (when (org-agent-kernel-ready-p)
      (mapc #'funcall org-agent-chat--when-ready))))

(provide 'org-agent-chat)
;;; org-agent-chat.el ends here
