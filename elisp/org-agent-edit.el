;;; org-agent-edit.el --- Edits of live buffers and properties, for the kernel  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The act `:edit' replaces one text, `:old', by another, `:new', in a file
;; or in an entry that is named by its `:ID:'.  A person has allowed exactly
;; this change, so it is made exactly or not at all: `:old' has to be there
;; once.  It is made in the buffer that visits the file, as one undo step; a
;; buffer that held unsaved work stays unsaved, any other is saved.  Nothing
;; here asks: where Emacs would have to, the edit is refused.
;;
;; An act is performed once for its id.  When the kernel loses the connection
;; before the receipt arrives, it sends the act again with `:settle'.  The reply
;; is then the stored receipt, or else the outcome that the text shows.
;;
;; The act `:set-properties' sets properties of the entry with an `:ID:', in the
;; buffer that has it: an open one, or the one that visits the file where Org
;; knows the entry to be, or an agenda file.  Like an edit it is whole or not at
;; all, one undo step, and without a question.  The kernel's policy has allowed
;; the act before; values that must never be set are refused here again.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-id)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-diff)
(require 'org-agent-private)
(require 'org-agent-act)
(require 'org-agent-undo)

(defvar org-agent-chat-session)

(defvar org-agent-edit--veiled nil
  "Non-nil while an act of a model is made or checked.
Private parts, see `org-agent-private-parts', are then as if not there.")

(defvar org-agent-edit--receipts nil
  "Receipts of the latest edits, an alist by the act's id.")

(defconst org-agent-edit--remembered 200
  "The number of receipts that are stored.")

(defconst org-agent-edit--shown 4000
  "How many characters of a text a refusal shows.")

(defconst org-agent-edit--around 200
  "How many characters on each side of a change its receipt contains.")

(defun org-agent-edit-p (act)
  "Return non-nil when what performs ACT here changes a text by this file.
The symbol of such a performer has the property `org-agent-edit'."
  (function-get (org-agent-kernel-performer act) 'org-agent-edit))

;;;###autoload
(defun org-agent-edit-perform (params)
  "Replace the text `:old' of PARAMS by `:new', once for the act's id."
  (org-agent-edit-act params (lambda () params)
                      #'org-agent-edit--change #'org-agent-edit--settle
                      #'org-agent-edit--check))
(put 'org-agent-edit-perform 'org-agent-edit t)

(defvar org-agent-edit-changed-functions nil
  "Functions that get the parameters and the receipt of an act that changed this.")

(defun org-agent-edit-act (params locate change settle check)
  "Perform, settle or check the act with PARAMS; return the receipt.
LOCATE returns the parameters for `org-agent-edit-in', which calls one of
the other functions in the buffer: CHANGE makes the change, once for the
act's id.  SETTLE finds the outcome of an act that was sent before.
CHECK refuses if the change could not be made."
  (let ((known (assoc (plist-get params :id) org-agent-edit--receipts))
        (org-agent-edit--veiled (plist-get params :veiled))
        (inhibit-interaction t))
    (cl-flet ((there (function)
                     (condition-case err
                         (org-agent-edit-in (funcall locate) function)
                       ((inhibited-interaction text-read-only buffer-read-only
                                               file-error)
                        (org-agent-kernel-refuse "nothing was changed: %s"
                                                 (error-message-string err))))))
      (cond
       ((plist-get params :check) (there check) nil)
       (known (cdr known))
       ((plist-get params :settle) (there settle))
       (t (org-agent-edit--remember
           (plist-get params :id)
           (there (lambda (old new)
                    (let ((receipt (funcall change old new)))
                      (run-hook-with-args 'org-agent-edit-changed-functions
                                          params receipt)
                      receipt)))))))))

(defun org-agent-edit--remember (id receipt)
  "Store RECEIPT for the act ID, and return it."
  (push (cons id receipt) org-agent-edit--receipts)
  (when-let* ((rest (nthcdr (1- org-agent-edit--remembered)
                            org-agent-edit--receipts)))
    (setcdr rest nil))
  receipt)

;;;; Buffers and entries

(defun org-agent-edit-in (params function)
  "Call FUNCTION in the buffer of the act with PARAMS.
Its arguments are `:old' and `:new'.  The buffer is narrowed to the entry
that PARAMS names, or else widened."
  (let* ((payload (plist-get params :payload))
         (old (plist-get payload :old))
         (new (or (plist-get payload :new) ""))
         (entry (plist-get payload :id))
         (file (plist-get payload :file)))
    (unless (and (stringp (or old "")) (stringp new))
      (org-agent-kernel-refuse "an edit has :old and :new, two texts"))
    (with-current-buffer (org-agent-edit-buffer file entry)
      (org-agent-edit-check-buffer)
      (save-excursion
        (save-restriction
          (widen)
          (when entry
            (org-agent-edit-narrow entry))
          (funcall function (or old "") new))))))

(defun org-agent-edit-buffer (file entry)
  "Return the buffer that visits FILE, or the file with the ENTRY."
  (let ((real (org-agent-act-regular-file
               (or file (org-agent-edit--file-of entry)))))
    (when (org-agent-file-in-directory-p
           real (expand-file-name "sessions" (org-agent-home-directory)))
      (org-agent-kernel-refuse "%s is a conversation, and nobody changes what was said" real))
    (or (find-buffer-visiting real)
        (progn
          (unless (file-writable-p real)
            (org-agent-kernel-refuse "%s cannot be written" real))
          (org-agent-act-visit real)))))

(defun org-agent-edit--file-of (entry)
  "Return the file with the ENTRY, an Org id.
Search Org's own list first, then open buffers, then agenda files.  Other
files are not searched, since that can take long."
  (unless (and (stringp entry) (not (string-blank-p entry)))
    (org-agent-kernel-refuse "an edit names a :file or the :id of an entry"))
  (or (org-agent-edit--listed-file entry)
      (cl-some (lambda (buffer)
                 (with-current-buffer buffer
                   (and buffer-file-name (derived-mode-p 'org-mode)
                        (org-agent-edit-has-p entry)
                        buffer-file-name)))
               (buffer-list))
      (cl-some (lambda (file) (org-agent-edit--file-with-p file entry))
               (ignore-errors (org-agenda-files t)))
      (org-agent-kernel-refuse
       "no entry with the id %s is known to Org here, in open buffers or in agenda files"
       entry)))

(defun org-agent-edit--listed-file (entry)
  "Return the file in which Org's own list has the ENTRY, if it is there."
  (unless org-id-locations
    (org-id-locations-load))
  (let ((file (and (hash-table-p org-id-locations)
                   (gethash entry org-id-locations))))
    (and file (org-agent-edit--file-with-p file entry))))

(defun org-agent-edit--file-with-p (file entry)
  "Return the name of FILE if it has the ENTRY, an Org id."
  (and (not (file-remote-p file))
       (ignore-errors
         (with-current-buffer (org-agent-act-visit
                               (org-agent-act-regular-file
                                (expand-file-name file)))
           (and (org-agent-edit-has-p entry) buffer-file-name)))))

;;;###autoload
(defun org-agent-edit-has-p (entry)
  "Return non-nil when the current buffer has the ENTRY, an Org id."
  (let ((case-fold-search t))
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (re-search-forward (org-agent-edit--id-regexp entry) nil t)))))

(defun org-agent-edit--id-regexp (entry)
  "Return a regexp for the line with the `:ID:' ENTRY."
  (format "^[ \t]*:ID:[ \t]+%s[ \t]*$" (regexp-quote entry)))

(defun org-agent-edit-narrow (entry)
  "Narrow the buffer to the subtree whose `:ID:' is ENTRY."
  (let ((case-fold-search t)
        (regexp (org-agent-edit--id-regexp entry)))
    (goto-char (point-min))
    (unless (re-search-forward regexp nil t)
      (org-agent-kernel-refuse "no entry of %s has the id %s"
                               (buffer-name) entry))
    (when (and org-agent-edit--veiled
               (org-agent-private-part-at (point) (org-agent-private-parts)))
      (org-agent-kernel-refuse "no entry of %s that may be seen has the id %s"
                               (buffer-name) entry))
    (when (save-excursion (re-search-forward regexp nil t))
      (org-agent-kernel-refuse "several entries of %s have the id %s"
                               (buffer-name) entry))
    (when (re-search-backward "^\\(\\*+\\) " nil t)
      (let ((beg (point))
            (level (length (match-string 1))))
        (end-of-line)
        (narrow-to-region
         beg (if (re-search-forward (format "^\\*\\{1,%d\\} " level) nil t)
                 (match-beginning 0)
               (point-max)))))))

(defun org-agent-edit-check-buffer ()
  "Refuse the edit if Emacs would ask a question before it in this buffer."
  (let ((name (buffer-name))
        (file buffer-file-name))
    (cond
     ((bound-and-true-p org-agent-chat-session)
      (org-agent-kernel-refuse "%s is a conversation, and nobody changes what was said"
                               name))
     (buffer-read-only
      (org-agent-kernel-refuse "the buffer %s is read-only" name))
     ((stringp (file-locked-p file))
      (org-agent-kernel-refuse "%s is being edited by %s" file
                               (file-locked-p file)))
     ((verify-visited-file-modtime))
     ((not (file-exists-p file))
      (org-agent-kernel-refuse "the file of the buffer %s is gone" name))
     ((buffer-modified-p)
      (org-agent-kernel-refuse "%s has changed on the disk, and the buffer has unsaved work: save or revert it first"
                               file))
     (t (revert-buffer t t t)))))

;;;; The change

(defun org-agent-edit--change (old new)
  "Replace OLD, which must occur once in the buffer, by NEW; return the receipt."
  (org-agent-edit--replace-at (org-agent-edit-find old) old new))

(defun org-agent-edit--replace-at (beg old new)
  "Replace OLD, which is at BEG, by NEW as one undo step; return the receipt."
  (let ((modified (buffer-modified-p)))
    (when (equal old new)
      (org-agent-kernel-refuse "the new text is the old one"))
    (org-agent-edit-check-encoding new)
    (org-agent-edit--check-private beg old new)
    (undo-boundary)
    (atomic-change-group
      (org-agent-edit-replace beg old new))
    (undo-boundary)
    (org-agent-edit--receipt beg new (and (not modified)
                                          (org-agent-edit-save)))))

(defun org-agent-edit--check (old new)
  "Refuse if OLD could not be replaced by NEW now."
  (let ((beg (org-agent-edit-find old)))
    (when (equal old new)
      (org-agent-kernel-refuse "the new text is the old one"))
    (org-agent-edit-check-encoding new)
    (org-agent-edit--check-private beg old new)))

(defun org-agent-edit-find (old)
  "Return the position of OLD; refuse unless it occurs exactly once."
  (let ((case-fold-search nil)
        (private (and org-agent-edit--veiled (org-agent-private-parts)))
        (places nil))
    (if (string-empty-p old)
        (if (= (point-min) (point-max))
            (push (point-min) places)
          (org-agent-kernel-refuse "the old text is empty and %s is not: name the text to replace"
                                   (buffer-name)))
      (goto-char (point-min))
      (while (search-forward old nil t)
        (unless (cl-some (lambda (part)
                           (and (< (match-beginning 0) (cdr part))
                                (> (match-end 0) (car part))))
                         private)
          (push (match-beginning 0) places))
        (goto-char (1+ (match-beginning 0)))))
    (pcase places
      ((and '() (guard private))
       (org-agent-kernel-refuse
        "the old text is not in what may be seen of %s; what is tagged :noagent:, :@private: or :crypt: only the person changes"
        (buffer-name)))
      ('() (org-agent-kernel-refuse "the old text is not in %s%s" (buffer-name)
                                    (org-agent-edit--describe-difference old)))
      (`(,beg) beg)
      (_ (org-agent-kernel-refuse
          "the old text occurs %d times in %s, on the lines %s: give more of it"
          (length places) (buffer-name)
          (mapconcat (lambda (place)
                       (number-to-string (line-number-at-pos place t)))
                     (seq-take (reverse places) 10) ", "))))))

(defun org-agent-edit--check-private (beg old new)
  "Refuse to replace OLD at BEG by NEW if private text would change.
This concerns only acts of a model."
  (when org-agent-edit--veiled
    (let ((mode major-mode)
          (file (buffer-file-name (buffer-base-buffer)))
          (private (org-agent-edit--private-text))
          (text (save-restriction
                  (widen)
                  (concat (buffer-substring-no-properties (point-min) beg) new
                          (buffer-substring-no-properties
                           (+ beg (length old)) (point-max))))))
      (unless (equal private (with-temp-buffer
                               (insert text)
                               ;; These say whether it is Org; no mode runs.
                               (setq major-mode mode
                                     buffer-file-name file)
                               (unwind-protect (org-agent-edit--private-text)
                                 (setq buffer-file-name nil))))
        (org-agent-kernel-refuse
         "%s has a subtree tagged :noagent:, :@private: or :crypt:, and this would change it or what is in it; only the person does that"
         (buffer-name))))))

(defun org-agent-edit--private-text ()
  "Return the text of all private parts of this buffer."
  (let ((parts (org-agent-private-parts)))
    (save-restriction
      (widen)
      (mapconcat (lambda (part)
                   (buffer-substring-no-properties (car part) (cdr part)))
                 parts ""))))

(defun org-agent-edit--describe-difference (old)
  "Return a description of the text that is there instead of OLD."
  (let ((difference (org-agent-edit-difference old)))
    (if difference
        (concat "; this is what it was made for (-) and what is there now (+):\n"
                difference)
      (org-agent-edit--describe-line (car (split-string old "\n"))))))

(defun org-agent-edit-difference (old)
  "Return a diff from OLD to the text where most of its lines are, or nil."
  (let* ((wanted (split-string (string-trim-right old "\n") "\n"))
         (count (length wanted))
         (votes (make-hash-table))
         (lines (make-hash-table :test #'equal))
         (index 0) best)
    (dolist (line wanted)
      (unless (string-blank-p line)
        (push index (gethash (string-trim line) lines)))
      (cl-incf index))
    (goto-char (point-min))
    (setq index 0)
    (while (not (eobp))
      (dolist (at (gethash (string-trim (buffer-substring-no-properties
                                         (point) (line-end-position)))
                           lines))
        (let ((from (- index at)))
          (when (> (cl-incf (gethash from votes 0))
                   (if best (gethash best votes) 0))
            (setq best from))))
      (cl-incf index)
      (forward-line))
    (when best
      (goto-char (point-min))
      (forward-line (max 0 best))
      (let ((first (line-number-at-pos nil t))
            (there (buffer-substring-no-properties
                    (point) (line-end-position (+ count (min 0 best))))))
        (org-agent-edit-clip
         (org-agent-diff (concat (string-trim-right old "\n") "\n")
                         (concat there "\n") (string-trim (buffer-name))
                         first))))))

(defun org-agent-edit--describe-line (line)
  "Return a description of the line that contains LINE, or an empty string."
  (goto-char (point-min))
  (if (and (not (string-blank-p line)) (search-forward (string-trim line) nil t))
      (format "; where it begins there is: %s"
              (org-agent-edit-clip
               (buffer-substring-no-properties (line-beginning-position)
                                               (line-end-position))))
    ""))

(defun org-agent-edit-clip (text)
  "Return TEXT, cut to the length that a refusal shows."
  (if (<= (length text) org-agent-edit--shown)
      text
    (concat (substring text 0 org-agent-edit--shown)
            (format "\n… %d more characters"
                    (- (length text) org-agent-edit--shown)))))

(defun org-agent-edit-check-encoding (new)
  "Refuse NEW when the file's encoding lacks one of its characters."
  (let ((index (and buffer-file-coding-system
                    (ignore-errors
                      (unencodable-char-position
                       0 (length new) buffer-file-coding-system nil new)))))
    (when index
      (org-agent-kernel-refuse "%s is written in %s, which has no %c"
                               (buffer-name) buffer-file-coding-system
                               (aref new index)))))

(defun org-agent-edit-replace (beg old new)
  "Replace OLD, which is at BEG, by NEW.
Text that both have at their start or end is not changed, so that point,
markers and folds there stay."
  (pcase-let ((`(,start . ,end) (org-agent-undo-common-ends old new)))
    (goto-char (- (+ beg (length old)) end))
    (insert (substring new start (- (length new) end)))
    (delete-region (+ beg start) (- (+ beg (length old)) end))))

(defun org-agent-edit-save ()
  "Save the buffer; return t when it is saved.
If a hook signals an error, the buffer stays unsaved and the receipt says so."
  (condition-case err
      (let ((save-silently t)
            (inhibit-message t))
        (save-buffer)
        (not (buffer-modified-p)))
    (error (org-agent-rpc-log "%s was changed and could not be saved: %s"
                              (buffer-name) (error-message-string err))
           nil)))

(defun org-agent-edit--receipt (beg new saved)
  "Return the receipt for NEW, which is at BEG.
SAVED is non-nil if it is in the file.  The receipt contains the text
around NEW, with which the change can be undone later."
  (let ((end (+ beg (length new))))
    (save-restriction
      (widen)
      (list :buffer (buffer-name) :start beg :end end :chars (length new)
            :sha256 (secure-hash 'sha256 (encode-coding-string new 'utf-8-unix))
            :saved saved :done t :file buffer-file-name
            :before (buffer-substring-no-properties
                     (max (point-min) (- beg org-agent-edit--around)) beg)
            :after (buffer-substring-no-properties
                    end (min (point-max) (+ end org-agent-edit--around)))))))

;;;; After a lost connection

(defun org-agent-edit--settle (old new)
  "Find the outcome of the edit of OLD to NEW by searching for both.
Return a receipt, or refuse and say that nothing was changed."
  (let ((case-fold-search nil)
        (there (lambda (text)
                 (goto-char (point-min))
                 (and (not (string-empty-p text))
                      (search-forward text nil t)
                      (match-beginning 0)))))
    (cond
     ((funcall there new)
      (org-agent-edit--receipt (funcall there new) new
                               (not (buffer-modified-p))))
     ((funcall there old)
      (org-agent-kernel-refuse "nothing was changed: the old text is still there"))
     ((string-empty-p new)
      (org-agent-edit--receipt (point-min) new (not (buffer-modified-p))))
     (t (org-agent-edit-outcome-unknown "neither the old text nor the new one is there")))))

(defun org-agent-edit-outcome-unknown (reason)
  "Signal that the outcome of an act is unknown, for REASON."
  (org-agent-rpc-refuse 'not-found "%s" reason))

;;;; Properties

(defconst org-agent-edit--properties-former-limit (* 1024 1024)
  "How many characters the former values of properties may have.
They are part of the receipt, with which they can be restored.")

;;;###autoload
(defun org-agent-edit-set-properties (params)
  "Set the `:properties' of PARAMS in the entry `:id', once for the act's id."
  (let* ((payload (plist-get params :payload))
         (entry (plist-get payload :id))
         (pairs (org-agent-edit-properties-checked (plist-get payload :properties))))
    (org-agent-edit-act
     params
     (lambda () (list :payload (list :id entry)))
     (lambda (_old _new) (org-agent-edit--properties-set pairs))
     (lambda (_old _new) (org-agent-edit--properties-settle pairs))
     (lambda (_old _new) (org-agent-edit-properties-check pairs)))))
(put 'org-agent-edit-set-properties 'org-agent-edit t)

(defun org-agent-edit-properties-checked (pairs)
  "Return PAIRS, two texts each, or refuse what must not be set."
  (unless (and pairs (proper-list-p pairs))
    (org-agent-kernel-refuse "the act names no property"))
  (dolist (pair pairs pairs)
    (unless (and (proper-list-p pair) (= 2 (length pair))
                 (cl-every #'stringp pair))
      (org-agent-kernel-refuse "properties are pairs of two texts"))
    (let ((name (upcase (car pair))))
      (cond
       ((or (member name '("ID" "CRON" "END" "PROPERTIES"))
            (member name org-special-properties)
            (string-prefix-p "HEADER-ARGS" name)
            (string-search "+" name)
            (not (string-match-p "\\`[^ \t\n\r:[:cntrl:]]+\\'" name)))
        (org-agent-kernel-refuse "the property %s is not to be set from outside"
                                 (car pair)))
       ((string-match-p "[\n\r\f\v\u2028\u2029]" (cadr pair))
        (org-agent-kernel-refuse "the value of the property %s is not one line"
                                 (car pair)))))))

(defun org-agent-edit-properties-find ()
  "Return the drawer of the entry the buffer is narrowed to: (BEG . TEXT).
TEXT are the lines between its first and its last, the first at BEG."
  (goto-char (point-min))
  (let ((case-fold-search t))
    (unless (and (re-search-forward "^[ \t]*:PROPERTIES:[ \t]*\n" nil t)
                 (<= (count-lines (point-min) (point)) 3))
      (org-agent-kernel-refuse "the entry has no property drawer of its own in %s"
                               (buffer-name)))
    (let ((beg (point)))
      (unless (re-search-forward "^[ \t]*:END:[ \t]*$" nil t)
        (org-agent-kernel-refuse "the drawer of the entry has no end"))
      (cons beg (buffer-substring-no-properties beg (line-beginning-position))))))

(defun org-agent-edit--properties-set (pairs)
  "Set PAIRS in the drawer of the entry the buffer is narrowed to.
Return the receipt.  The drawer's other lines stay as they are."
  (pcase-let* ((`(,beg . ,old) (org-agent-edit-properties-check pairs))
               (former (org-agent-edit--properties-former old pairs)))
    (append (org-agent-edit--replace-at
             beg old (org-agent-edit-properties-drawer old pairs))
            (list :former former))))

(defun org-agent-edit-properties-check (pairs)
  "Refuse where PAIRS could not be set as things are; return the drawer."
  (pcase-let* ((`(,beg . ,old) (org-agent-edit-properties-find))
               (new (org-agent-edit-properties-drawer old pairs)))
    (when (equal old new)
      (org-agent-kernel-refuse "the entry has these properties already"))
    (when (> (cl-loop for former in (org-agent-edit--properties-former old pairs)
                      sum (length (plist-get former :line)))
             org-agent-edit--properties-former-limit)
      (org-agent-kernel-refuse "what the properties are now is too long to be put back later"))
    (org-agent-edit-check-encoding new)
    (cons beg old)))

(defun org-agent-edit--properties-settle (pairs)
  "Say what became of setting PAIRS, by looking at the drawer.
The answer is a receipt, or a refusal that says that nothing happened."
  (pcase-let* ((`(,beg . ,drawer) (org-agent-edit-properties-find))
               (there (cl-count-if
                       (pcase-lambda (`(,name ,value))
                         (equal (org-agent-edit-properties-value drawer name)
                                (string-trim value)))
                       pairs)))
    (cond
     ((= there (length pairs))
      (org-agent-edit--receipt beg drawer (not (buffer-modified-p))))
     ((= there 0)
      (org-agent-kernel-refuse "nothing was changed: the properties are others"))
     (t (org-agent-edit-outcome-unknown "some of the properties are as they were to be, and some are not")))))

(defun org-agent-edit--properties-regexp (name)
  "Return a regexp for the line of the property NAME."
  (format "^[ \t]*:%s:\\(?:[ \t]\\(.*\\)\\)?\n" (regexp-quote name)))

(defun org-agent-edit-properties-line (drawer name)
  "Return the line of the property NAME in DRAWER, with its end, or nil."
  (let ((case-fold-search t))
    (and (string-match (org-agent-edit--properties-regexp name) drawer)
         (match-string 0 drawer))))

(defun org-agent-edit-properties-value (drawer name)
  "Return the value of the property NAME in DRAWER, or nil."
  (let ((case-fold-search t))
    (and (string-match (org-agent-edit--properties-regexp name) drawer)
         (string-trim (or (match-string 1 drawer) "")))))

(defun org-agent-edit--properties-former (drawer pairs)
  "Return what DRAWER has of the properties that PAIRS set, for the receipt."
  (mapcar (pcase-lambda (`(,name ,_))
            (let ((line (org-agent-edit-properties-line drawer name)))
              (append (list :name name)
                      (and line (list :line (string-remove-suffix "\n" line))))))
          pairs))

(defun org-agent-edit-properties-drawer (drawer pairs)
  "Return the lines DRAWER with PAIRS set."
  (let ((case-fold-search t)
        (indentation (if (string-match "\\`[ \t]*" drawer)
                         (match-string 0 drawer)
                       "")))
    (pcase-dolist (`(,name ,value) pairs)
      (let ((line (concat indentation
                          (string-trim-right
                           (format "%-10s %s" (concat ":" name ":") value))
                          "\n")))
        (setq drawer
              (if (string-match (org-agent-edit--properties-regexp name) drawer)
                  (replace-match line t t drawer)
                (concat drawer line)))))
    drawer))

(provide 'org-agent-edit)
;;; org-agent-edit.el ends here
