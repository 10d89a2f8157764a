;;; org-agent-file-owner.el --- The file of a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A conversation is the file `sessions/NAME.org' in the agent's home.  Of
;; the attached Emacsen one owns the file: its buffer visits it and saves
;; it, silently, when something was sent or a turn ended; buffer and file
;; are then equal byte for byte.  The buffers of the others visit no file.
;; The kernel says which one it is (`session/keeper').
;;
;; The file is written whole or not at all.  An answer that is still being
;; written is left out of it, so that a file never contains a part of one.
;;
;; Others may change the file at any time (an editor, git, a kernel
;; without an Emacs).  The buffer checks for that before a turn is put into
;; it.  If the buffer has no edits of its own but the draft, it takes the
;; text of the file.  Otherwise neither is changed, and the header line says
;; what to do.  Nothing here asks a question.
;;
;; The owner saves the draft with the conversation.  A draft in another
;; Emacs, or one that is not saved yet, is in no file.  Such a draft is
;; backed up to the state directory when its buffer is killed, when Emacs
;; ends, and whenever Emacs auto-saves.  Opening the conversation restores it.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent)
(require 'org-agent-rpc)
(require 'org-agent-heading)
(require 'org-agent-draft)
(require 'org-agent-answer)
(require 'org-agent-disk-copy)
(require 'org-agent-undo)

(declare-function org-agent-chat-buffers "org-agent-chat")
(declare-function org-agent-page-unfolded "org-agent-page")
(declare-function org-agent-turn-set-all-aside "org-agent-turn")

(defvar org-agent-chat-session)

(defvar-local org-agent-file-owner-file nil
  "The conversation's file, nil before it is known.")
(put 'org-agent-file-owner-file 'permanent-local t)

(defvar-local org-agent-file-owner-p nil
  "Non-nil when this buffer owns its conversation's file.")
(put 'org-agent-file-owner-p 'permanent-local t)

(defvar-local org-agent-file-owner-trouble nil
  "A line that says why file and buffer differ, or nil.")
(put 'org-agent-file-owner-trouble 'permanent-local t)

(defvar-local org-agent-file-owner--draft ""
  "The draft when file and buffer were last equal.")
(put 'org-agent-file-owner--draft 'permanent-local t)

(defvar-local org-agent-file-owner--awaited nil
  "Non-nil when this buffer is to own the file once no answer is being written.")
(put 'org-agent-file-owner--awaited 'permanent-local t)

;;;; Reading

(defun org-agent-file-owner--read (file)
  "Return the text of FILE, nil when there is no such file."
  (when (file-exists-p file)
    (with-temp-buffer
      (org-agent-disk-copy-insert-file file)
      (buffer-string))))

(defun org-agent-file-owner-fill (file)
  "Fill the empty buffer with the text of FILE, if it exists.
Nothing in it is evaluated, and the buffer does not visit it.  A large
text is inserted in part; `org-agent-file-owner-fill-rest' inserts the
rest when the mode is set."
  (setq org-agent-file-owner-file file)
  (org-agent-disk-copy-read file)
  (org-agent-disk-copy-begin))

(defun org-agent-file-owner-fill-rest ()
  "Insert the rest of the text, with what `org-mode' does at the start."
  (when (org-agent-disk-copy-go-on)
    (org-agent-heading-call-org 'org-cycle-set-startup-visibility 'org-set-startup-visibility)
    (org-element-cache-reset))
  (org-agent-file-owner--show-last-turn)
  (org-agent-page-unfolded 'all)
  (setq org-agent-file-owner--draft (org-agent-file-owner--draft-string)))

(defun org-agent-file-owner--show-last-turn ()
  "Unfold the last question, with the answers below it, and the draft.
Whoever has Org begin folded sees at least where the conversation is."
  (save-excursion
    (goto-char (org-agent-file-owner--body-end))
    (let ((turn (re-search-backward org-agent-heading-turn-regexp nil t))
          parent)
      (while (and turn (setq parent (org-agent-heading-parent turn)))
        (setq turn parent))
      (dolist (heading (list turn (org-agent-draft-start)))
        (when heading
          (goto-char heading)
          (org-agent-heading-call-org 'org-fold-show-subtree 'org-show-subtree))))))

(defun org-agent-file-owner--body-end ()
  "Return where the turns end and the draft begins."
  (or (org-agent-draft-start) (point-max)))

(defun org-agent-file-owner--draft-string ()
  "Return the text of the draft with its heading."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (org-agent-file-owner--body-end) (point-max))))

(defun org-agent-file-owner--blank-draft-p (draft)
  "Return non-nil when the string DRAFT has no text."
  (string-match-p "\\`[* \t\n]*\\'" draft))

;;;; Owning the file

(defun org-agent-file-owner-take (file)
  "Make this buffer the owner of FILE.
The buffer takes the text of the file first.  While an answer is being
written nothing is done yet.  Return non-nil when that changed the
turns of the buffer."
  (setq org-agent-file-owner-file file)
  (cond
   ((and org-agent-file-owner-p (equal buffer-file-name file))
    ;; It was the owner already: edits of the person still count.
    (let ((ids (and (org-agent-file-owner-stale-p)
                    (list (org-agent-heading-turn-ids)))))
      (setq org-agent-file-owner--awaited nil)
      (org-agent-file-owner-settle)
      (and ids (not (equal (car ids) (org-agent-heading-turn-ids))))))
   ((org-agent-answer-previews-p)
    (setq org-agent-file-owner--awaited t)
    nil)
   (t
    ;; The time is read before the text, so that a write between the
    ;; two is noticed later.
    (org-agent-file-owner--visit file)
    (setq org-agent-file-owner--awaited nil
          org-agent-file-owner-p t)
    (cond
     ((org-agent-disk-copy-current-p file)
      (set-buffer-modified-p nil)
      nil)
     ((org-agent-disk-copy-unchanged-p file)
      (org-agent-file-owner--merge-draft (org-agent-disk-copy-draft)
                                         (org-agent-file-owner--draft-string))
      nil)
     (t (org-agent-file-owner--take-text (org-agent-file-owner--read file)))))))

(defun org-agent-file-owner--take-text (text)
  "Take TEXT, that of the file that this buffer owns now, nil for no file.
Return non-nil when that changed the turns of the buffer."
  (if (and text (org-agent-file-owner--same-p text))
      (progn (org-agent-file-owner--note-saved)
             (set-buffer-modified-p nil)
             nil)
    (let ((ids (org-agent-heading-turn-ids)))
      (if text
          (org-agent-file-owner--adopt text t)
        (org-agent-file-owner-save))
      (not (equal ids (org-agent-heading-turn-ids))))))

(defun org-agent-file-owner--same-p (text)
  "Return non-nil when TEXT is the whole text of the buffer."
  (save-restriction
    (widen)
    (and (= (length text) (buffer-size))
         (equal text (buffer-substring-no-properties (point-min)
                                                     (point-max))))))

(defun org-agent-file-owner-awaited-p ()
  "Return non-nil when this buffer can now become the owner it is to be."
  (and org-agent-file-owner--awaited (not (org-agent-answer-previews-p))))

(defun org-agent-file-owner--visit (file)
  "Make the buffer visit FILE without renaming it or asking anything."
  (setq buffer-file-name file
        buffer-file-truename (abbreviate-file-name (file-truename file))
        default-directory (file-name-directory file)
        buffer-file-coding-system 'utf-8-unix)
  (setq-local create-lockfiles nil)
  (when (file-exists-p file)
    (set-visited-file-modtime)))

(defun org-agent-file-owner-moved (file)
  "Go on with FILE, the new name of the conversation's file.
If this buffer saved under the former name while the file was renamed,
that version replaces FILE."
  (let ((former buffer-file-name)
        (modtime (visited-file-modtime)))
    (setq org-agent-file-owner-file file)
    (when (and org-agent-file-owner-p former (not (equal former file)))
      (condition-case err
          (when (and (file-exists-p former) (verify-visited-file-modtime))
            (rename-file former file t))
        (file-error
         (org-agent-file-owner--note
          (format "%s is a copy of this conversation under its former name (%s)"
                  former (error-message-string err)))))
      (org-agent-file-owner--visit file)
      (set-visited-file-modtime modtime)
      (when buffer-auto-save-file-name
        (rename-auto-save-file)))))

(defun org-agent-file-owner-release ()
  "Give the file up: another Emacs owns it now.
A draft that came from the file belongs to that Emacs and is removed."
  (let ((owned org-agent-file-owner-p))
    (setq org-agent-file-owner-p nil
          org-agent-file-owner--awaited nil
          org-agent-file-owner-trouble nil
          buffer-file-name nil
          buffer-file-truename nil)
    (when (and (not owned)
               (not (org-agent-file-owner--blank-draft-p org-agent-file-owner--draft))
               (equal org-agent-file-owner--draft
                      (org-agent-file-owner--draft-string)))
      (org-agent-file-owner--set-draft "* "))
    (setq org-agent-file-owner--draft "")
    (set-buffer-modified-p nil)))

(defun org-agent-file-owner--set-draft (draft)
  "Replace the buffer's draft by DRAFT, which has its heading."
  (org-agent-answer-undisturbed
    (let ((beg (org-agent-file-owner--body-end)))
      (org-agent-undo-replace nil beg (point-max) draft))))

;;;; Saving

(defun org-agent-file-owner-save ()
  "Save the file if this buffer owns it; never ask.
Return non-nil when the file now has the text of the buffer, except
answers that are still being written.  A file that has it already is
not written."
  (when (and org-agent-file-owner-p buffer-file-name
             (org-agent-file-owner-look))
    (condition-case err
        (progn (unless (and (not (buffer-modified-p))
                            (not org-agent-file-owner-trouble)
                            (file-exists-p buffer-file-name)
                            (verify-visited-file-modtime))
                 (org-agent-file-owner-write t))
               t)
      (file-error
       (org-agent-file-owner--note
        (format "The conversation is not saved (%s); C-x C-s tries again"
                (error-message-string err)))
       nil))))

(defun org-agent-file-owner--note (trouble)
  "Note the TROUBLE with the file, nil for none, if it has changed."
  (unless (equal trouble org-agent-file-owner-trouble)
    (setq org-agent-file-owner-trouble trouble)
    (when trouble
      (org-agent-rpc-log "%s: %s" (buffer-name) trouble)
      (message "org-agent: %s" trouble))
    (force-mode-line-update)))

(defun org-agent-file-owner-write (&optional added)
  "Write the buffer to its file, whole or not at all.
With ADDED write only the added text where the result is certain to be
the same.  Return t, as `write-contents-functions' wants it."
  (let* ((file (file-truename buffer-file-name))
         (regions (org-agent-answer-regions))
         (modes (file-modes file))
         status
         (temporary (progn
                      (org-agent-file-owner--refuse-read-only file modes)
                      (make-directory (file-name-directory file) t)
                      (make-temp-file
                       (expand-file-name ".org-agent-"
                                         (file-name-directory file))
                       nil ".org"))))
    (unwind-protect
        (progn
          (let ((coding-system-for-write 'utf-8-unix)
                (write-region-annotate-functions nil)
                (write-region-post-annotation-function nil)
                (write-region-inhibit-fsync t)) ; the journal is what is durable
            (unless (and added
                         (org-agent-disk-copy-write-added regions file temporary))
              (org-agent-file-owner--write-without regions temporary)))
          ;; What is said is nobody else's business.
          (set-file-modes temporary (or modes #o600))
          (setq status (org-agent-disk-copy-status temporary))
          (rename-file temporary file t)
          (setq temporary nil))
      (when temporary
        (delete-file temporary)))
    (set-visited-file-modtime)
    (org-agent-file-owner--note-saved status)
    (unless regions
      (set-buffer-modified-p nil)
      (delete-auto-save-file-if-necessary))
    (org-agent-file-owner--note nil)
    t))

(defun org-agent-file-owner--refuse-read-only (file modes)
  "Signal an error if FILE, which has the file modes MODES, is read-only.
Without this check a writable directory would let us replace it."
  (when (and modes (zerop (logand modes #o222)))
    (signal 'file-error
            (list (format "%s is read-only; M-x set-file-modes makes it writable"
                          (abbreviate-file-name file))))))

(defun org-agent-file-owner--write-without (regions file)
  "Write the text of the buffer to FILE silently, without REGIONS.
REGIONS is a sorted list of (BEG . END)."
  (save-restriction
    (widen)
    (let (append)
      (pcase-dolist (`(,beg . ,end)
                     (org-agent-disk-copy-pieces (point-min) regions))
        (write-region beg end file append 'silent)
        (setq append t)))))

;;;; Changes that others make to the file

(defun org-agent-file-owner-stale-p ()
  "Return non-nil when this buffer owns a file that others have changed."
  (and org-agent-file-owner-p buffer-file-name
       (file-exists-p buffer-file-name)
       (not (verify-visited-file-modtime))))

(defun org-agent-file-owner-settle ()
  "Take over changes of the file before the kernel's news change the buffer.
Later the news would look like an edit of the person.  An answer that is
being written does not delay this: its preview is set aside, and comes
back with the next piece or with the act."
  (when (and (org-agent-answer-previews-p) (org-agent-file-owner-stale-p))
    (org-agent-turn-set-all-aside))
  (org-agent-file-owner-look))

(defun org-agent-file-owner-look ()
  "Take over the changes that others made to the file.
Return nil when the buffer has edits of its own, or when an answer is
being written; then nothing is changed."
  (cond
   ((not (and org-agent-file-owner-p buffer-file-name)) t)
   ((verify-visited-file-modtime) t)
   ((not (file-exists-p buffer-file-name)) t) ; deleted: it is written anew
   ((org-agent-answer-previews-p) nil)
   (t
    (set-visited-file-modtime)
    (org-agent-file-owner--adopt (org-agent-file-owner--read buffer-file-name)
                                 nil))))

(defun org-agent-file-owner--adopt (text unsaved)
  "Take TEXT, that of the file, into the buffer; the draft stays.
If turns changed in the file and in the buffer since both were equal,
one change would be lost: note that and return nil.  UNSAVED non-nil
means that the buffer had no file to save to.  Then the turns of the file
are taken, and of the buffer only the questions that were not sent."
  (let ((parts (org-agent-file-owner--parts text))
        (theirs-changed (org-agent-disk-copy-other-body-p text))
        (ours-changed (org-agent-disk-copy-body-changed-p)))
    (cond
     ((org-agent-file-owner--same-p text)
      (org-agent-file-owner--note-saved)
      (set-buffer-modified-p nil)
      t)
     ((not theirs-changed)
      (org-agent-file-owner--merge-draft (cdr parts)
                                         (org-agent-file-owner--draft-string))
      t)
     ((or unsaved (not ours-changed))
      (org-agent-file-owner--merge text)
      t)
     (t
      (org-agent-file-owner--note
       "The file has changed on disk, and so has the buffer.  M-x revert-buffer takes the file, C-x C-s the buffer")
      ;; With this time Emacs asks at the next save by hand.
      (set-visited-file-modtime '(0 1))
      nil))))

(defun org-agent-file-owner--parts (text)
  "Return the turns and the draft of TEXT, a cons of strings."
  (with-temp-buffer
    (insert text)
    (let ((end (org-agent-file-owner--body-end)))
      (cons (buffer-substring (point-min) end)
            (buffer-substring end (point-max))))))

(defun org-agent-file-owner--note-saved (&optional status)
  "Note that the file has the buffer's text, except answers being written.
STATUS is that of the file if it is known to have this text."
  (org-agent-disk-copy-note (org-agent-answer-regions) status)
  (setq org-agent-file-owner--draft (org-agent-file-owner--draft-string)))

(defun org-agent-file-owner--merge (text)
  "Replace the buffer's text by TEXT; add its own draft and unsent questions."
  (let ((draft (org-agent-file-owner--draft-string))
        (unsent (org-agent-file-owner--unsent))
        (places (org-agent-file-owner--places)))
    (org-agent-answer-undisturbed
      (org-agent-undo-replace-accessible text))
    (pcase-dolist (`(,id . ,subtree) unsent)
      (org-agent-answer-insert-question id subtree))
    (org-agent-file-owner--merge-draft (org-agent-file-owner--draft-string) draft)
    (org-agent-file-owner--restore-places places)
    (org-agent-disk-copy-note-text text)
    (set-buffer-modified-p (not (org-agent-file-owner--same-p text)))))

(defun org-agent-file-owner--places ()
  "Return the points that are in the draft, with their distances from its end.
A list of (WINDOW . DISTANCE); WINDOW is nil for the point of the buffer."
  (let ((beg (org-agent-file-owner--body-end)))
    (cl-loop for (window . position)
             in (cons (cons nil (point))
                      (mapcar (lambda (window)
                                (cons window (window-point window)))
                              (get-buffer-window-list nil nil t)))
             when (>= position beg)
             collect (cons window (- (point-max) position)))))

(defun org-agent-file-owner--restore-places (places)
  "Move the points of PLACES back to where they were in the draft."
  (let ((beg (org-agent-file-owner--body-end)))
    (pcase-dolist (`(,window . ,distance) places)
      (let ((position (max beg (- (point-max) distance))))
        (if window
            (set-window-point window position)
          (goto-char position))))))

(defun org-agent-file-owner--merge-draft (theirs ours)
  "Merge THEIRS, the draft of the file, and OURS, that of the buffer.
If only one has changed it is taken, otherwise both, the file's first."
  (let* ((former org-agent-file-owner--draft)
         (news (lambda (draft)
                 (not (or (equal draft former)
                          (org-agent-file-owner--blank-draft-p draft)))))
         (draft (cond
                 ((not (funcall news theirs)) ours)
                 ((not (funcall news ours)) theirs)
                 ((equal theirs ours) ours)
                 (t (concat (org-agent-answer-closed theirs) ours)))))
    (unless (equal draft (org-agent-file-owner--draft-string))
      (org-agent-file-owner--set-draft draft))
    (setq org-agent-file-owner--draft theirs)))

(defun org-agent-file-owner--unsent ()
  "Return the questions that were not sent, an alist of IDs and subtrees."
  (let (questions)
    (org-agent-heading-map-unsent
     (lambda (heading)
       (push (cons (org-agent-heading-property heading "ID")
                   (buffer-substring-no-properties
                    heading (org-agent-heading-subtree-end heading)))
             questions)))
    (nreverse questions)))

(defun org-agent-file-owner-revert (&optional _ignore-auto noconfirm)
  "Replace the buffer's text, except the draft, by the text of the file.
While an answer is being written signal an error; with NOCONFIRM do
nothing then."
  (when (and (org-agent-answer-previews-p) (not noconfirm))
    (user-error "An answer is being written; C-c C-k stops it"))
  (when (and org-agent-file-owner-p buffer-file-name
             (not (org-agent-answer-previews-p))
             (file-exists-p buffer-file-name))
    (set-visited-file-modtime)
    (org-agent-file-owner--merge (org-agent-file-owner--read buffer-file-name))
    (org-agent-file-owner--note nil)))

;;;; Backups of drafts

(defvar-local org-agent-file-owner--backup-file nil
  "The backup of this buffer's draft, nil for none.")
(put 'org-agent-file-owner--backup-file 'permanent-local t)

(defun org-agent-file-owner--backup-name (session pid)
  "Return the file name for the backup of a draft of SESSION in the Emacs PID."
  (org-agent-state-file (format "drafts/%s@%d.org" session pid)))

(defun org-agent-file-owner-keep-draft ()
  "Back up the draft of this conversation if no file has it."
  (let* ((draft (org-agent-file-owner--draft-string))
         (wanted (and (not (and org-agent-file-owner-p
                                (equal draft org-agent-file-owner--draft)))
                      (not (buffer-base-buffer))
                      (not (org-agent-file-owner--blank-draft-p draft))
                      (org-agent-file-owner--backup-name org-agent-chat-session
                                                         (emacs-pid)))))
    (unless (equal wanted org-agent-file-owner--backup-file)
      (org-agent-file-owner--backup-delete))
    (when wanted
      (condition-case err
          (progn
            (make-directory (file-name-directory wanted) t)
            (let ((coding-system-for-write 'utf-8-unix))
              (with-file-modes #o600
                (write-region draft nil wanted nil 'silent)))
            (setq org-agent-file-owner--backup-file wanted))
        (file-error
         (org-agent-rpc-log "The draft of %s could not be backed up: %s"
                            org-agent-chat-session
                            (error-message-string err)))))))

(defun org-agent-file-owner--backup-delete ()
  "Delete the backup of this buffer's draft."
  (when org-agent-file-owner--backup-file
    (ignore-errors (delete-file org-agent-file-owner--backup-file))
    (setq org-agent-file-owner--backup-file nil)))

(defun org-agent-file-owner-keep-drafts ()
  "Back up the drafts of all conversations that no file has."
  (dolist (buffer (org-agent-chat-buffers))
    (with-current-buffer buffer
      (org-agent-file-owner-keep-draft))))

(defun org-agent-file-owner--backups ()
  "Return the backups of drafts of this conversation that no Emacs is using."
  (let ((directory (file-name-directory
                    (org-agent-file-owner--backup-name org-agent-chat-session 0))))
    (and (file-directory-p directory)
         (cl-remove-if
          (lambda (file)
            (or (equal file org-agent-file-owner--backup-file)
                (let ((pid (string-to-number
                            (substring file (1+ (string-match "@[0-9]+\\.org\\'" file))))))
                  (and (/= pid (emacs-pid)) (process-attributes pid)))))
          (directory-files directory t
                           (concat "\\`" (regexp-quote org-agent-chat-session)
                                   "@[0-9]+\\.org\\'"))))))

(defun org-agent-file-owner-restore-draft ()
  "Restore backups of a draft after the draft that is there."
  (dolist (file (org-agent-file-owner--backups))
    (condition-case err
        (let ((left (org-agent-file-owner--read file))
              (draft (org-agent-file-owner--draft-string))
              (at-end (= (point) (point-max))))
          (unless (or (equal left draft) (org-agent-file-owner--blank-draft-p left))
            (org-agent-file-owner--set-draft
             (if (string-prefix-p (string-trim-right draft) left)
                 left                   ; the backup begins with the draft
               (concat (org-agent-answer-closed draft) left)))
            (when at-end (goto-char (point-max)))
            (org-agent-file-owner-save)
            (message "The draft that was here, and not sent, is here again"))
          (delete-file file))
      (file-error
       (org-agent-rpc-log "A draft is still in %s: %s" file
                          (error-message-string err)))))
  (org-agent-file-owner-keep-draft))

(defun org-agent-file-owner-watch-draft ()
  "Back up the draft of this conversation when its buffer or Emacs ends.
Back it up, too, whenever Emacs auto-saves."
  (add-hook 'kill-buffer-hook #'org-agent-file-owner-keep-draft nil t)
  (add-hook 'auto-save-hook #'org-agent-file-owner-keep-drafts)
  (add-hook 'kill-emacs-hook #'org-agent-file-owner-keep-drafts))

(provide 'org-agent-file-owner)
;;; org-agent-file-owner.el ends here
