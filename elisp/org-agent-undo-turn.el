;;; org-agent-undo-turn.el --- Undo the changes of a turn  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-undo-turn' undoes the changes of a turn: edits and properties,
;; in any file, also after a restart of Emacs and the kernel, and if no buffer
;; visits the file.  The kernel's journal lists the changes, and the texts
;; show whether they are still there.  First a plan is made on copies of the
;; buffers, from the last change to the first.  It is carried out in all
;; buffers or, if a text was changed since, in none.  In each buffer it is
;; one step of undo.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-diff)
(require 'org-agent-edit)
(require 'org-agent-explain)
(require 'org-agent-list)
(require 'org-agent-section)

(defvar-local org-agent-undo-turn--reply nil
  "The kernel's reply about the turn of this buffer: a plist with its changes.")
(put 'org-agent-undo-turn--reply 'permanent-local t)

;;;###autoload
(defun org-agent-undo-turn (&optional others)
  "Undo the changes of texts and properties that the turn at point made.
The turn is that of the question, the answer or the change at point, and
in a draft the last one.  In each buffer `undo' makes the changes again.

If a text is not as the turn made it, nothing is undone, and the
difference is shown.  With a prefix argument OTHERS, the other changes
are undone then."
  (interactive "P")
  (let ((id (or (org-agent-undo-turn--id)
                (user-error "There is no turn at point: go to it in its conversation, or to a change"))))
    (org-agent-kernel-check)
    (org-agent-undo-turn--ask id 0 nil (and others t))))

(defun org-agent-undo-turn--id ()
  "Return an id of the turn to undo, or nil."
  (cond
   (org-agent-undo-turn--reply (plist-get org-agent-undo-turn--reply :turn))
   ((derived-mode-p 'org-agent-why-mode) (plist-get org-agent-explain-story :turn))
   ((org-agent-explain-id))
   (org-agent-chat-session
    (when-let* ((heading (org-agent-heading-last-turn 'user)))
      (org-agent-heading-property heading "ID")))))

(defun org-agent-undo-turn--ask (id from changes others)
  "Request the changes of the turn ID from the kernel, and undo them.
The kernel sends them in pages.  FROM is the number of the first change
of this page, CHANGES are those of the pages before.  OTHERS is as for
`org-agent-undo-turn'."
  (org-agent-kernel-request
   "turn/changes" (list :id id :from from)
   :success
   (lambda (reply)
     (let ((changes (append changes (plist-get reply :changes)))
           (next (plist-get reply :next)))
       (if next
           (org-agent-undo-turn--ask id next changes others)
         (org-agent-undo-turn--undo
          (plist-put (copy-sequence reply) :changes changes) others))))
   :failure
   (lambda (refusal)
     (message "org-agent: %s" (plist-get refusal :message)))))

(defun org-agent-undo-turn--undo (reply others)
  "Undo the changes in REPLY, the kernel's reply to turn/changes.
OTHERS is as for `org-agent-undo-turn'."
  (if (memq (plist-get reply :state) '(:queued :running :waiting))
      (message "The turn is not over yet; C-c C-k stops it")
    (let* ((inhibit-interaction t)
           (plan (org-agent-undo-turn--plan (plist-get reply :changes)))
           (refused (cl-remove-if-not (lambda (part) (plist-get part :reason))
                                      plan))
           (steps (cl-remove-if-not (lambda (part) (plist-get part :step))
                                    plan)))
      (if (and refused (not others))
          (org-agent-undo-turn--show reply refused (length plan))
        (condition-case err
            (progn
              (org-agent-undo-turn--apply steps)
              (org-agent-undo-turn--report reply plan steps refused))
          ((inhibited-interaction text-read-only buffer-read-only file-error)
           (message "Nothing was undone: %s" (error-message-string err))))))))

;;;; The plan

(defun org-agent-undo-turn--plan (changes)
  "Return the plan to undo CHANGES, which are sorted oldest first.
The plan is a list of parts, for the last change first.  A part is a
plist with the :change and its :buffer.  It has a :step, a list of a
position, the text there and the text that replaces it.  Or it has a
:reason why the change cannot be undone.  If it has neither, the text is
as it was before the change."
  (let (copies)
    (unwind-protect
        (cl-loop
         for (change . earlier) on (reverse changes)
         collect
         (condition-case err
             (if (org-agent-undo-turn--gone-p change changes)
                 (list :change change)
               (let* ((buffer (org-agent-undo-turn--buffer change))
                      (copy (or (alist-get buffer copies)
                                (setf (alist-get buffer copies)
                                      (org-agent-undo-turn--copy buffer)))))
                 (list :change change :buffer buffer
                       :step (with-current-buffer copy
                               (org-agent-undo-turn--back change earlier)))))
           ((org-agent-rpc-error inhibited-interaction file-error)
            (list :change change
                  :reason (if (eq (car err) 'org-agent-rpc-error)
                              (nth 2 err)
                            (error-message-string err))))))
      (pcase-dolist (`(,_ . ,copy) copies)
        (kill-buffer copy)))))

(defun org-agent-undo-turn--gone-p (change changes)
  "Return non-nil if the file of CHANGE is gone and one of CHANGES made it."
  (let ((file (plist-get change :file)))
    (and file
         (not (file-exists-p file))
         (cl-some (lambda (other)
                    (and (plist-get other :created)
                         (equal (plist-get other :file) file)))
                  changes))))

(defun org-agent-undo-turn--back (change earlier)
  "Undo CHANGE in this copy; return the step, or nil if none is needed.
EARLIER are the changes before it, the last first."
  (condition-case err
      (let ((step (save-restriction (org-agent-undo-turn--step change))))
        (when step
          (apply #'org-agent-edit-replace step)
          step))
    (org-agent-rpc-error
     ;; CHANGE may have changed text that an EARLIER one had made.  If that
     ;; one is undone already, neither text of CHANGE is there.
     (unless (org-agent-undo-turn--undone-p change earlier)
       (signal (car err) (cdr err))))))

(defun org-agent-undo-turn--undone-p (change earlier)
  "Return non-nil when CHANGE could be made again after the EARLIER ones.
EARLIER are the changes before it, the last first."
  (let ((text (buffer-string))
        (file (plist-get change :file)))
    (with-temp-buffer
      (insert text)
      (ignore-error org-agent-rpc-error
        (dolist (former (reverse earlier))
          (when (equal (plist-get former :file) file)
            (org-agent-undo-turn--again former)))
        (org-agent-undo-turn--again change)
        t))))

(defun org-agent-undo-turn--again (change)
  "Make CHANGE in this copy unless it is made; refuse if that fails."
  (save-restriction
    (unless (org-agent-undo-turn--step change)
      (if (plist-get change :properties)
          (pcase-let ((`(,beg . ,drawer) (org-agent-edit-properties-find)))
            (org-agent-edit-replace
             beg drawer
             (org-agent-edit-properties-drawer
              drawer (mapcar (lambda (setting)
                               (list (plist-get setting :name)
                                     (or (plist-get setting :value) "")))
                             (plist-get change :properties)))))
        (let ((old (or (plist-get change :old) ""))
              (new (or (plist-get change :new) ""))
              (before (or (plist-get change :before) ""))
              (after (or (plist-get change :after) "")))
          (org-agent-edit-replace
           (or (org-agent-undo-turn--find new old before after)
               (org-agent-kernel-refuse "it cannot be made again"))
           old new))))))

(defun org-agent-undo-turn--copy (buffer)
  "Return a temporary buffer with the text of BUFFER.
Refuse if BUFFER cannot be edited."
  (with-current-buffer buffer
    (org-agent-edit-check-buffer)
    (let ((name (buffer-name))
          (text (save-restriction
                  (widen)
                  (buffer-substring-no-properties (point-min) (point-max)))))
      (with-current-buffer (generate-new-buffer (concat " " name) t)
        (setq buffer-undo-list t)
        (insert text)
        (current-buffer)))))

(defun org-agent-undo-turn--buffer (change)
  "Return the buffer with the text of CHANGE.
An entry is found by its `:ID:', also in another file."
  (let* ((file (plist-get change :file))
         (entry (plist-get change :entry))
         (buffer (and file
                      (condition-case err
                          (org-agent-edit-buffer file nil)
                        (org-agent-rpc-error
                         (unless entry (signal (car err) (cdr err))))))))
    (if (and entry
             (not (and buffer (with-current-buffer buffer
                                (org-agent-edit-has-p entry)))))
        (condition-case err
            (org-agent-edit-buffer nil entry)
          (org-agent-rpc-error (or buffer (signal (car err) (cdr err)))))
      (or buffer
          (org-agent-kernel-refuse "no receipt has its file")))))

(defun org-agent-undo-turn--step (change)
  "Return the step that undoes CHANGE in this buffer, or nil."
  (if (plist-get change :properties)
      (org-agent-undo-turn--properties change)
    (org-agent-undo-turn--edit change)))

;;;; Edits

(defun org-agent-undo-turn--edit (change)
  "Return the step that undoes CHANGE, an edit, or nil."
  (let* ((old (or (plist-get change :old) ""))
         (new (or (plist-get change :new) ""))
         (before (or (plist-get change :before) ""))
         (after (or (plist-get change :after) ""))
         (position (if (plist-get change :unsure)
                       (org-agent-undo-turn--find-unsure old new)
                     (org-agent-undo-turn--find old new before after))))
    (pcase position
      ((pred integerp) (list position new old))
      ('before nil)
      (_ (org-agent-kernel-refuse
          "the text that the turn made has changed%s"
          (org-agent-undo-turn--difference before new after))))))

(defun org-agent-undo-turn--find (old new before after)
  "Return the position of NEW, which replaced OLD between BEFORE and AFTER.
The result is `before' if OLD is there again, and nil if neither is found.
The search uses as much of the text around it as a single match needs."
  (cl-loop
   for size in (list (max (length before) (length after)) 80 24 8)
   for head = (substring before (- (min size (length before))))
   for tail = (substring after 0 (min size (length after)))
   for made = (or (org-agent-undo-turn--single (concat head new tail) (length head))
                  ;; If one side was changed since, the other is enough.
                  (and (not (string-blank-p new)) (< size 200)
                       (or (org-agent-undo-turn--single (concat head new)
                                                        (length head))
                           (org-agent-undo-turn--single (concat new tail) 0))))
   when (and made (org-agent-undo-turn--within-p made old new)) return 'before
   when made return made
   when (org-agent-undo-turn--single (concat head old tail) 0) return 'before))

(defun org-agent-undo-turn--find-unsure (old new)
  "Return the position of NEW, which may have replaced OLD, without a receipt.
The result is `before' if the change does not seem to be made."
  (let ((made (and (not (string-empty-p new))
                   (org-agent-undo-turn--single new 0))))
    (cond
     ((and made (or (string-search old new)
                    (null (org-agent-undo-turn--occurrences old))))
      made)
     ((org-agent-undo-turn--occurrences old) 'before))))

(defun org-agent-undo-turn--occurrences (text)
  "Return the positions of TEXT in this buffer."
  (let ((case-fold-search nil) positions)
    (save-excursion
      (goto-char (point-min))
      (if (string-empty-p text)
          (and (eobp) (list (point)))
        (while (search-forward text nil t)
          (push (match-beginning 0) positions)
          (goto-char (1+ (match-beginning 0))))
        positions))))

(defun org-agent-undo-turn--single (text ahead)
  "Return the position AHEAD characters after the start of TEXT.
The result is nil unless TEXT occurs exactly once in this buffer."
  (let ((positions (org-agent-undo-turn--occurrences text)))
    (and positions (null (cdr positions)) (+ (car positions) ahead))))

(defun org-agent-undo-turn--within-p (position old new)
  "Return non-nil when NEW at POSITION is only a part of an OLD text there."
  (and (> (length old) (length new))
       (cl-some (lambda (beg)
                  (<= beg position (+ position (length new)) (+ beg (length old))))
                (org-agent-undo-turn--occurrences old))))

(defun org-agent-undo-turn--difference (before new after)
  "Return a diff from NEW to the current text, for a refusal.
BEFORE and AFTER are the texts around it; the diff compares whole lines."
  (let* ((made (concat (replace-regexp-in-string "\\`\\(?:.*\n\\)*" "" before)
                       new
                       (and (string-match "\\`.*" after) (match-string 0 after))))
         (difference (org-agent-edit-difference made)))
    (cond
     (difference
      (concat ": the text that it made (-), and the current text (+)\n" difference))
     ((string-blank-p new) "; it deleted text there")
     (t (concat ". It was:\n" (org-agent-edit-clip made))))))

;;;; Properties

(defun org-agent-undo-turn--properties (change)
  "Return the step that undoes CHANGE of properties, or nil."
  (when (or (plist-get change :unsure)
            ;; Another Emacs than the one that made it wrote the receipt.
            (cl-set-difference (plist-get change :properties)
                               (plist-get change :former)
                               :test #'equal
                               :key (lambda (named) (plist-get named :name))))
    (org-agent-kernel-refuse "no receipt has the former properties"))
  (org-agent-edit-narrow (plist-get change :entry))
  (pcase-let* ((`(,beg . ,drawer) (org-agent-edit-properties-find))
               (back drawer) (differences ""))
    (dolist (setting (plist-get change :properties))
      (let* ((name (plist-get setting :name))
             (line (org-agent-edit-properties-line drawer name))
             (former (org-agent-undo-turn--former change name)))
        (cond
         ((equal line former))
         ((equal (org-agent-edit-properties-value drawer name)
                 (string-trim (or (plist-get setting :value) "")))
          (setq back (org-agent-undo-turn--put back line former)))
         (t (setq differences
                  (concat differences
                          (format "-:%s: %s\n" name (plist-get setting :value))
                          (and line (concat "+" (string-trim-left line)))))))))
    (unless (string-empty-p differences)
      (org-agent-kernel-refuse "the properties have changed: those that the turn made (-), and the current ones (+)\n%s"
                               differences))
    (unless (equal back drawer)
      (list beg drawer back))))

(defun org-agent-undo-turn--former (change name)
  "Return the line that the property NAME had before CHANGE, or nil."
  (let ((line (plist-get (cl-find name (plist-get change :former)
                                  :key (lambda (former)
                                         (plist-get former :name))
                                  :test #'equal)
                         :line)))
    (and line (concat line "\n"))))

(defun org-agent-undo-turn--put (drawer line former)
  "Return the lines DRAWER with LINE replaced by FORMER, nil for none."
  (let ((at (string-search line drawer)))
    (concat (substring drawer 0 at) former
            (substring drawer (+ at (length line))))))

;;;; Carrying out the plan

(defun org-agent-undo-turn--apply (steps)
  "Carry out STEPS, parts of a plan, in their buffers: all or none.
A buffer that had no unsaved work is saved."
  (let* ((buffers (cl-remove-duplicates
                   (mapcar (lambda (part) (plist-get part :buffer)) steps)))
         (unsaved (cl-remove-if-not #'buffer-modified-p buffers))
         (group (mapcan #'prepare-change-group buffers))
         done)
    (dolist (buffer buffers)
      (with-current-buffer buffer (undo-boundary)))
    (activate-change-group group)
    (unwind-protect
        (progn
          (dolist (part steps)
            (with-current-buffer (plist-get part :buffer)
              (save-excursion
                (save-restriction
                  (widen)
                  (org-agent-edit-check-encoding (nth 2 (plist-get part :step)))
                  (apply #'org-agent-edit-replace (plist-get part :step))))))
          (setq done t))
      (if done
          (accept-change-group group)
        (cancel-change-group group)))
    (dolist (buffer buffers)
      (with-current-buffer buffer
        (undo-boundary)
        (unless (memq buffer unsaved)
          (org-agent-edit-save))))
    (dolist (part steps)
      (when (plist-get (plist-get part :change) :created)
        (org-agent-undo-turn--remove-file (plist-get part :buffer))))))

(defun org-agent-undo-turn--remove-file (buffer)
  "Delete the file of BUFFER, which a turn made, if it is empty.
The buffer stays, so that undoing and saving it makes the file again."
  (with-current-buffer buffer
    (when (and (zerop (buffer-size)) (not (buffer-modified-p))
               (file-regular-p buffer-file-name))
      (delete-file buffer-file-name t)
      (set-visited-file-modtime 0))))

(defun org-agent-undo-turn--report (reply plan steps refused)
  "Report to the kernel and to the person which parts of PLAN were done.
REPLY is the kernel's reply to turn/changes.  STEPS are the parts that
were done, REFUSED those that were not possible."
  (when steps
    (org-agent-kernel-request
     "turn/undone"
     (list :turn (plist-get reply :turn)
           :acts (mapcar (lambda (part)
                           (plist-get (plist-get part :change) :act))
                         steps))
     :failure (lambda (refusal)
                (org-agent-rpc-log "the journal does not have what was undone: %s"
                                   (plist-get refusal :message)))))
  (message
   "%s%s%s"
   (cond
    (steps (org-agent-undo-turn--sentence steps))
    (refused "Nothing was undone")
    (plan (org-agent-undo-turn--nothing-to-do plan))
    (t "The turn changed no text"))
   (if refused (format "; %s stay%s, since the text has changed"
                       (org-agent-counted (length refused) "change")
                       (if (cdr refused) "" "s"))
     "")
   (let ((stays (plist-get reply :stays)))
     (if stays
         (concat "; not undone: " (string-join stays ", "))
       ""))))

(defun org-agent-undo-turn--sentence (steps)
  "Return a sentence about STEPS, which were carried out."
  (format "Undone: %s in %s; undo there makes %s again"
          (org-agent-counted (length steps) "change")
          (mapconcat #'buffer-name
                     (cl-remove-duplicates
                      (mapcar (lambda (part) (plist-get part :buffer)) steps))
                     ", ")
          (if (cdr steps) "them" "it")))

(defun org-agent-undo-turn--nothing-to-do (plan)
  "Return a sentence about PLAN, in which there was nothing to do."
  (let ((at (cl-some (lambda (part)
                       (plist-get (plist-get part :change) :undone))
                     plan)))
    (if at
        (format "The turn was undone already, %s"
                (org-agent-list-time at))
      "There is nothing to undo: the texts are as they were before the turn")))

;;;; Changes that cannot be undone

(defvar org-agent-undo-turn-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (define-key map (kbd "?") #'describe-mode)
    (define-key map (kbd "C-c C-c") '("undo the others" . org-agent-undo-turn-others))
    map)
  "Keymap of `org-agent-undo-turn-mode'.")

(define-derived-mode org-agent-undo-turn-mode special-mode "Org-Agent-Undo"
  "Major mode that shows why a turn cannot be undone.
\\<org-agent-undo-turn-mode-map>\\[org-agent-undo-turn-others] undoes the other changes."
  :interactive nil
  (setq truncate-lines nil
        bidi-display-reordering nil
        header-line-format
        '(:eval (org-agent-section-header
                 nil "\\<org-agent-undo-turn-mode-map>\\[org-agent-undo-turn-others] undo the others"))
        revert-buffer-function (lambda (&rest _) (org-agent-undo-turn))))

(defun org-agent-undo-turn--show (reply refused total)
  "Show REFUSED, the parts of a plan that cannot be carried out.
The plan has TOTAL parts.  REPLY is the kernel's reply to turn/changes."
  (let ((buffer (get-buffer-create "*org-agent-undo-turn*")))
    (with-current-buffer buffer
      (unless (derived-mode-p 'org-agent-undo-turn-mode)
        (org-agent-undo-turn-mode))
      (org-agent-section-replace-text
       (apply #'concat
              (format "Nothing was undone: %d of %d changes of the turn are not as it made them.\n"
                      (length refused) total)
              (mapcar #'org-agent-undo-turn--refused refused)))
      (setq org-agent-undo-turn--reply reply))
    (pop-to-buffer buffer)
    (message "Nothing was undone: a text was changed since; C-c C-c undoes the others")))

(defun org-agent-undo-turn--refused (part)
  "Return the text that shows PART, a change that cannot be undone."
  (let ((change (plist-get part :change)))
    (concat "\n"
            (propertize (if-let* ((file (plist-get change :file)))
                            (abbreviate-file-name file)
                          (or (plist-get change :entry) ""))
                        'face 'bold)
            "\n" (org-agent-diff-fontify (plist-get part :reason)) "\n")))

(defun org-agent-undo-turn-others ()
  "Undo the changes of this buffer's turn that can be undone."
  (interactive nil org-agent-undo-turn-mode)
  (let ((buffer (current-buffer)))
    (org-agent-undo-turn t)
    (quit-window nil (get-buffer-window buffer))))

(provide 'org-agent-undo-turn)
;;; org-agent-undo-turn.el ends here
