;;; org-agent-file-owner.el --- The file of a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A conversation is the file `sessions/NAME.org' in the agent's home, and
;; it is its owner's.  Of the attached Emacsen one is the *keeper*: its
;; buffer visits the file and saves it, silently, when something was sent
;; or a turn ended; buffer and file are then equal byte for byte.  The
;; buffers of the others visit no file.
;;
;; The file is written whole or not at all.  An answer that is still being
;; written is left out of it, so that a file never holds a part of one.
;;
;; Others may change the file at any time (an editor, git, a kernel
;; without an Emacs).  That is looked for before a turn is put into the
;; buffer.  While the buffer holds no edits of its own but the draft, the
;; file's text is taken; else neither is touched, and the header line says
;; what to do.  Nothing here asks.
;;
;; Of several Emacsen one keeps a conversation's file, with its draft, and
;; saves it when something is sent or a turn ends.  What is written in
;; another, or not saved yet, stands in no file; it is kept in the state
;; directory when that buffer or Emacs goes, and whenever Emacs saves by
;; itself, and comes back when the conversation is opened again.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-draft)
(require 'org-agent-answer)
(require 'org-agent-disk-copy)
(require 'org-agent-undo)

(declare-function org-agent-chat-buffers "org-agent-chat")

(defvar org-agent-chat-loaded-hook)
(defvar org-agent-chat-session)

(defvar-local org-agent-file-owner-file nil
  "The conversation's file, nil before it is known.")
(put 'org-agent-file-owner-file 'permanent-local t)

(defvar-local org-agent-file-owner-p nil
  "Non-nil when this buffer keeps its conversation's file.")
(put 'org-agent-file-owner-p 'permanent-local t)

(defvar-local org-agent-file-owner-trouble nil
  "Why the file is not what the buffer is, a line for a person, or nil.")
(put 'org-agent-file-owner-trouble 'permanent-local t)

(defvar-local org-agent-file-owner--draft ""
  "The draft as file and buffer last had it.")
(put 'org-agent-file-owner--draft 'permanent-local t)

(defvar-local org-agent-file-owner--awaited nil
  "Non-nil when the file is to be kept as soon as no answer is being written.")
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
Nothing in it is evaluated, and the buffer does not visit it.  Of a
large text the rest comes with `org-agent-file-owner-fill-rest', when the
mode is set."
  (setq org-agent-file-owner-file file)
  (org-agent-disk-copy-read file)
  (org-agent-disk-copy-begin))

(defun org-agent-file-owner-fill-rest ()
  "Insert the rest of the text, with what `org-mode' does at the start."
  (when (org-agent-disk-copy-go-on)
    (org-agent-heading-call-org 'org-cycle-set-startup-visibility 'org-set-startup-visibility)
    (org-element-cache-reset))
  (setq org-agent-file-owner--draft (org-agent-file-owner--draft-string)))

(defun org-agent-file-owner--body-end ()
  "Return where the turns end and the draft begins."
  (or (org-agent-draft-start) (point-max)))

(defun org-agent-file-owner--draft-string ()
  "Return the draft with its heading, as it stands in the buffer."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (org-agent-file-owner--body-end) (point-max))))

(defun org-agent-file-owner--blank-draft-p (draft)
  "Return non-nil when the string DRAFT says nothing."
  (string-match-p "\\`[* \t\n]*\\'" draft))

;;;; Keeping

(defun org-agent-file-owner-take (file)
  "Keep FILE in this buffer from now on.
What the file has is taken into the buffer first.  While an answer is
being written that waits.  Return non-nil when the buffer's turns
changed by it."
  (setq org-agent-file-owner-file file)
  (cond
   ((and org-agent-file-owner-p (equal buffer-file-name file))
    ;; It kept it all the time: what its user did counts as ever.
    (let ((ids (org-agent-heading-turn-ids)))
      (setq org-agent-file-owner--awaited nil)
      (org-agent-file-owner-settle)
      (not (equal ids (org-agent-heading-turn-ids)))))
   ((org-agent-answer-previews-p)
    (setq org-agent-file-owner--awaited t)
    nil)
   (t
    ;; First the time, then the text: what is written between counts.
    (org-agent-file-owner--visit file)
    (let* ((current (org-agent-disk-copy-current-p file))
           (text (unless current (org-agent-file-owner--read file)))
           (same (or current (and text (org-agent-file-owner--same-p text))))
           (ids (unless same (org-agent-heading-turn-ids))))
      (setq org-agent-file-owner--awaited nil
            org-agent-file-owner-p t)
      (cond (current (set-buffer-modified-p nil))
            (same (org-agent-file-owner--note-saved)
                  (set-buffer-modified-p nil))
            (text (org-agent-file-owner--adopt text t))
            (t (org-agent-file-owner-save)))
      (not (or same (equal ids (org-agent-heading-turn-ids))))))))

(defun org-agent-file-owner--same-p (text)
  "Return non-nil when the buffer has TEXT, all of it."
  (save-restriction
    (widen)
    (and (= (length text) (buffer-size))
         (equal text (buffer-substring-no-properties (point-min)
                                                     (point-max))))))

(defun org-agent-file-owner-awaited-p ()
  "Return non-nil when the file is to be taken now."
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
  "Go on with FILE, which the conversation's file is called from now on.
What this buffer saved under the former name while that changed takes
the place of what was moved."
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
  "Do not keep the file any longer: another Emacs does.
A draft that came from the file belongs to that Emacs and goes."
  (let ((kept org-agent-file-owner-p))
    (setq org-agent-file-owner-p nil
          org-agent-file-owner--awaited nil
          org-agent-file-owner-trouble nil
          buffer-file-name nil
          buffer-file-truename nil)
    (when (and (not kept)
               (not (org-agent-file-owner--blank-draft-p org-agent-file-owner--draft))
               (equal org-agent-file-owner--draft
                      (org-agent-file-owner--draft-string)))
      (org-agent-file-owner--set-draft "* "))
    (setq org-agent-file-owner--draft "")
    (set-buffer-modified-p nil)))

(defun org-agent-file-owner--set-draft (draft)
  "Put DRAFT, with its heading, in the place of the buffer's draft."
  (org-agent-answer-undisturbed
    (let ((beg (org-agent-file-owner--body-end)))
      (org-agent-undo-replace nil beg (point-max) draft))))

;;;; Saving

(defun org-agent-file-owner-save ()
  "Save the file if this buffer keeps it; never ask.
Return non-nil when the file now has what the buffer has, but for
answers that are still being written.  One that has it already is left
alone."
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
  "Note the TROUBLE with the file, or that there is none, when it is new."
  (unless (equal trouble org-agent-file-owner-trouble)
    (setq org-agent-file-owner-trouble trouble)
    (when trouble
      (org-agent-rpc-log "%s: %s" (buffer-name) trouble)
      (message "org-agent: %s" trouble))
    (force-mode-line-update)))

(defun org-agent-file-owner-write (&optional added)
  "Write the buffer to its file, whole or not at all.
With ADDED only what was added is written where that is certain to be
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
                (write-region-inhibit-fsync t)) ; what is durable is the journal
            (unless (and added
                         (org-agent-disk-copy-write-added regions file temporary))
              (org-agent-file-owner--write-without regions temporary)))
          (set-file-modes temporary (or modes (default-file-modes)))
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
  "Signal an error if FILE, with these MODES, is there not to be written.
Its directory would let us put another in its place."
  (when (and modes (zerop (logand modes #o222)))
    (signal 'file-error
            (list (format "%s is read-only; M-x set-file-modes makes it writable"
                          (abbreviate-file-name file))))))

(defun org-agent-file-owner--write-without (regions file)
  "Make FILE have what the buffer has, as it is and without a word.
REGIONS, a list of (BEG . END) in order, are left out."
  (save-restriction
    (widen)
    (let (append)
      (pcase-dolist (`(,beg . ,end)
                     (org-agent-disk-copy-pieces (point-min) regions))
        (write-region beg end file append 'silent)
        (setq append t)))))

;;;; What others do to the file

(defun org-agent-file-owner-stale-p ()
  "Return non-nil when this buffer keeps a file that others have changed."
  (and org-agent-file-owner-p buffer-file-name
       (file-exists-p buffer-file-name)
       (not (verify-visited-file-modtime))))

(defun org-agent-file-owner-settle ()
  "Take in what others did to the file, before news change the buffer.
Afterwards they would look like an edit of its user's.  An answer that
is being written is no reason to wait: its preview goes, and comes back
with the next piece or with the act."
  (when (and (org-agent-answer-previews-p) (org-agent-file-owner-stale-p))
    (org-agent-answer-remove-all))
  (org-agent-file-owner-look))

(defun org-agent-file-owner-look ()
  "Take in what others did to the file.
Return nil when that cannot be, since the buffer has edits of its own,
or not yet, since an answer is being written."
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
Where both turns of the file and turns of the buffer changed since they
were the same, one would be lost: note it and return nil, unless UNSAVED
is non-nil, which says that there was no file to save the buffer to.
Then the file's are taken and only questions that were not sent carried
over."
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
      ;; The next save by hand is to ask.
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
  "Note that the file has what the buffer has but for what is being written.
STATUS is the file's if it is known to have this text."
  (org-agent-disk-copy-note (org-agent-answer-regions) status)
  (setq org-agent-file-owner--draft (org-agent-file-owner--draft-string)))

(defun org-agent-file-owner--merge (text)
  "Make the buffer have TEXT; add its own draft and unsent questions."
  (let ((draft (org-agent-file-owner--draft-string))
        (unsent (org-agent-file-owner--unsent)))
    (org-agent-answer-undisturbed
      (org-agent-file-owner--set-text text))
    (pcase-dolist (`(,id . ,subtree) unsent)
      (org-agent-answer-insert-question id subtree))
    (org-agent-file-owner--merge-draft (org-agent-file-owner--draft-string) draft)
    (org-agent-disk-copy-note-text text)
    (set-buffer-modified-p (not (org-agent-file-owner--same-p text)))))

(defun org-agent-file-owner--merge-draft (theirs ours)
  "Make a draft of THEIRS, the file's, and OURS, the buffer's.
The one that changed is taken, or else both, the file's first."
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

(defun org-agent-file-owner--set-text (text)
  "Make TEXT the buffer's, changing no more than is needed."
  (let ((source (generate-new-buffer " *org-agent-file*" t)))
    (unwind-protect
        (progn
          (with-current-buffer source (insert text))
          ;; Obsolete in Emacs 31; what it names there 28 has not.
          (with-suppressed-warnings ((obsolete replace-buffer-contents))
            (replace-buffer-contents source 1.0)))
      (kill-buffer source))))

(defun org-agent-file-owner-revert (&optional _ignore-auto noconfirm)
  "Take the file's text, giving up what the buffer has but the draft.
While an answer is being written it cannot be; with NOCONFIRM, which a
program says, there is no word about it."
  (when (and (org-agent-answer-previews-p) (not noconfirm))
    (user-error "An answer is being written; C-c C-k stops it"))
  (when (and org-agent-file-owner-p buffer-file-name
             (not (org-agent-answer-previews-p))
             (file-exists-p buffer-file-name))
    (set-visited-file-modtime)
    (org-agent-file-owner--merge (org-agent-file-owner--read buffer-file-name))
    (org-agent-file-owner--note nil)))

;;;; A draft that stands in no file

(defvar-local org-agent-file-owner--kept-draft-file nil
  "The file that has this buffer's draft, nil for none.")
(put 'org-agent-file-owner--kept-draft-file 'permanent-local t)

(defun org-agent-file-owner--kept-draft-name (session pid)
  "Return the file for a draft of SESSION in the Emacs PID."
  (org-agent-state-file (format "drafts/%s@%d.org" session pid)))

(defun org-agent-file-owner-keep-draft ()
  "Keep the draft of this conversation if no file has it."
  (let* ((draft (org-agent-file-owner--draft-string))
         (wanted (and (not (and org-agent-file-owner-p
                                (equal draft org-agent-file-owner--draft)))
                      (not (buffer-base-buffer))
                      (not (org-agent-file-owner--blank-draft-p draft))
                      (org-agent-file-owner--kept-draft-name org-agent-chat-session
                                                             (emacs-pid)))))
    (unless (equal wanted org-agent-file-owner--kept-draft-file)
      (org-agent-file-owner--kept-draft-forget))
    (when wanted
      (condition-case err
          (progn
            (make-directory (file-name-directory wanted) t)
            (let ((coding-system-for-write 'utf-8-unix))
              (with-file-modes #o600
                (write-region draft nil wanted nil 'silent)))
            (setq org-agent-file-owner--kept-draft-file wanted))
        (file-error
         (org-agent-rpc-log "The draft of %s is not kept: %s"
                            org-agent-chat-session
                            (error-message-string err)))))))

(defun org-agent-file-owner--kept-draft-forget ()
  "Delete the file that has this buffer's draft."
  (when org-agent-file-owner--kept-draft-file
    (ignore-errors (delete-file org-agent-file-owner--kept-draft-file))
    (setq org-agent-file-owner--kept-draft-file nil)))

(defun org-agent-file-owner-keep-drafts ()
  "Keep the drafts of all conversations that no file has."
  (dolist (buffer (org-agent-chat-buffers))
    (with-current-buffer buffer
      (org-agent-file-owner-keep-draft))))

(defun org-agent-file-owner--kept-draft-left ()
  "Return the files with drafts of this conversation that nobody is writing."
  (let ((directory (file-name-directory
                    (org-agent-file-owner--kept-draft-name org-agent-chat-session 0))))
    (and (file-directory-p directory)
         (cl-remove-if
          (lambda (file)
            (or (equal file org-agent-file-owner--kept-draft-file)
                (let ((pid (string-to-number
                            (substring file (1+ (string-match "@[0-9]+\\.org\\'" file))))))
                  (and (/= pid (emacs-pid)) (process-attributes pid)))))
          (directory-files directory t
                           (concat "\\`" (regexp-quote org-agent-chat-session)
                                   "@[0-9]+\\.org\\'"))))))

(defun org-agent-file-owner-restore-draft ()
  "Put what was left of a draft behind the one that stands there."
  (dolist (file (org-agent-file-owner--kept-draft-left))
    (condition-case err
        (let ((left (org-agent-file-owner--read file))
              (draft (org-agent-file-owner--draft-string))
              (at-end (= (point) (point-max))))
          (unless (or (equal left draft) (org-agent-file-owner--blank-draft-p left))
            (org-agent-file-owner--set-draft
             (if (string-prefix-p (string-trim-right draft) left)
                 left                   ; the file has what it was before
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
  "Keep the draft of this conversation when its buffer or Emacs goes.
It is kept whenever Emacs saves by itself, too."
  (add-hook 'kill-buffer-hook #'org-agent-file-owner-keep-draft nil t)
  (add-hook 'auto-save-hook #'org-agent-file-owner-keep-drafts)
  (add-hook 'kill-emacs-hook #'org-agent-file-owner-keep-drafts))

(provide 'org-agent-file-owner)
;;; org-agent-file-owner.el ends here
