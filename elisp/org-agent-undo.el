;;; org-agent-undo.el --- Undo beside text that streams in  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Text streams into a buffer while the user edits it.  The streamed text
;; must be one step of undo, at the time when it began: `undo' first undoes
;; the later edits of the user, one by one, and then the whole streamed text.
;;
;; A *record* is the entry (BEG . END) that the first insertion adds to
;; `buffer-undo-list'.  Later changes of the same text are made with undo
;; recording off.  Then the record is adapted, and the entries that are newer
;; than it are moved, from the newest to the record.  An entry is moved in
;; the text as it is when that entry is undone.  Therefore the position of
;; the change is translated through each entry on the way.
;;
;; If a record is not in the list any more, since Emacs has dropped old
;; entries or the user has undone it, all entries are moved, and the text is
;; not part of the undo history.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defmacro org-agent-undo-off (&rest body)
  "Run BODY with undo recording off in the current buffer."
  (declare (indent 0) (debug t))
  `(let ((buffer-undo-list t)) ,@body))

(defun org-agent-undo-insert-new (position text)
  "Insert TEXT at POSITION as an undo step of its own; return its record.
Return nil if undo is disabled.  Point and the mark stay in their text."
  (if (eq buffer-undo-list t)
      (progn (org-agent-undo--insert position text) nil)
    (let ((record (cons position (+ position (length text)))))
      (undo-boundary)
      (org-agent-undo-off (org-agent-undo--insert position text))
      (push record buffer-undo-list)
      ;; Without the boundary, Emacs would amalgamate this step with the
      ;; next characters that the user types.
      (undo-boundary)
      record)))

(defun org-agent-undo-place ()
  "Return the current place in the undo list.
`org-agent-undo-vacant' can insert a record there later."
  (when (listp buffer-undo-list)
    (undo-boundary)
    buffer-undo-list))

(defun org-agent-undo-vacant (place)
  "Insert a record without text at PLACE of the undo list, and return it.
Entries since PLACE was returned are newer than the record.  If there are
none, or if PLACE is not in the list any more, return nil."
  (let ((above (and (listp buffer-undo-list) buffer-undo-list)))
    (while (and above (not (eq (cdr above) place)))
      (setq above (cdr above)))
    (when above
      (let ((record (cons (point-min) (point-min))))
        (setcdr above (cons nil (cons record place)))
        record))))

(defun org-agent-undo-drop (record)
  "Remove RECORD, which is vacant, from the undo list.
Return its place, as `org-agent-undo-place' does."
  (let ((cell (memq record buffer-undo-list))
        (above buffer-undo-list))
    (while (not (or (eq above cell) (eq (cdr above) cell)))
      (setq above (cdr above)))
    (cond
     ((eq above cell) (setq buffer-undo-list (cdr cell)))
     ((or (car above) (cadr cell)) (setcdr above (cdr cell)))
     (t (setcdr above (cddr cell)) above)))) ; one boundary of the two

(defun org-agent-undo-insert (record position text)
  "Insert TEXT at POSITION as a part of the undo step RECORD.
If RECORD is nil, the insertion cannot be undone.  Return nil."
  (org-agent-undo-off (org-agent-undo--insert position text))
  (unless (eq buffer-undo-list t)
    (org-agent-undo--move buffer-undo-list record
                          (cons position (length text)) t))
  nil)

(defun org-agent-undo-delete (record beg end)
  "Delete the text from BEG to END as a part of the undo step RECORD."
  (org-agent-undo-off (delete-region beg end))
  (unless (eq buffer-undo-list t)
    (org-agent-undo--move buffer-undo-list record
                          (cons beg (- end beg)) nil)))

(defun org-agent-undo-replace (record beg end text)
  "Replace the text from BEG to END by TEXT as a part of the step RECORD.
Text that both have in common at their ends is not changed."
  (pcase-let* ((old (buffer-substring-no-properties beg end))
               (`(,front . ,back) (org-agent-undo-common-ends old text))
               (from (+ beg front))
               (to (- end back))
               (new (substring text front (- (length text) back))))
    ;; The new text is inserted before the old one is deleted, and after at
    ;; least one character of it, so that the region is never empty.  Else
    ;; markers before and after the region would meet.
    (when (and (= from to beg) (< to end))
      (setq new (substring text 0 (- (length text) back -1))
            to (1+ to)))
    (unless (string-empty-p new)
      (org-agent-undo-insert record to new))
    (when (< from to)
      (org-agent-undo-delete record from to))))

(defun org-agent-undo-common-ends (old new)
  "Return the lengths of the common prefix and suffix of OLD and NEW.
The result is (PREFIX . SUFFIX), two numbers of characters."
  (let* ((shorter (min (length old) (length new)))
         (common (compare-strings old nil nil new nil nil))
         (start (if (eq common t) shorter (1- (abs common))))
         (end 0))
    (while (and (< end (- shorter start))
                (eq (aref old (- (length old) end 1))
                    (aref new (- (length new) end 1))))
      (cl-incf end))
    (cons start end)))

(defun org-agent-undo-replace-accessible (text)
  "Replace the accessible text of the buffer by TEXT with small changes.
Point, marks and markers stay in their text.  If finding such changes
would take more than a second, replace the whole text and return nil."
  (if (>= emacs-major-version 31)
      (replace-region-contents (point-min) (point-max) text 1.0)
    (let ((source (generate-new-buffer " *org-agent-source*" t)))
      (unwind-protect
          (progn
            (with-current-buffer source (insert text))
            (with-suppressed-warnings ((obsolete replace-buffer-contents))
              (replace-buffer-contents source 1.0)))
        (kill-buffer source)))))

(defun org-agent-undo--insert (position text)
  "Insert TEXT at POSITION; point and mark stay in their text."
  (save-excursion
    (goto-char position)
    (insert text)))

;;;; Moving entries

(defun org-agent-undo--move (list record change inserted)
  "Move the entries of LIST, an undo list, through CHANGE, up to RECORD.
CHANGE is (POSITION . LENGTH) in the current text.  It was an insertion
if INSERTED is non-nil, and else a deletion.  Adapt RECORD.  Return CHANGE
in the text before the last visited entry, or nil if an entry contains it
whole."
  (while list
    (let ((entry (car list)))
      (if (and record (eq entry record))
          (progn (org-agent-undo--resize record change inserted)
                 (setq list nil change nil))
        (setq change (org-agent-undo--move-entry list change inserted)
              list (and change (cdr list))))))
  change)

(defun org-agent-undo--shift (position change inserted)
  "Return POSITION after CHANGE, which was INSERTED or else deleted.
A position at the beginning of an insertion moves to its end."
  (pcase-let ((`(,at . ,length) change))
    (cond ((< position at) position)
          (inserted (+ position length))
          (t (max at (- position length))))))

(defun org-agent-undo--resize (record change inserted)
  "Adapt RECORD, a cell (BEG . END), to CHANGE, which belongs to it.
CHANGE was INSERTED or else deleted.  A record without text moves to the
insertion."
  (pcase-let ((`(,beg . ,end) record)
              (`(,at . ,length) change))
    (cond
     ((not inserted)
      (setcar record (org-agent-undo--shift beg change nil))
      (setcdr record (org-agent-undo--shift end change nil)))
     ((= beg end)
      (setcar record at)
      (setcdr record (+ at length)))
     (t
      (setcar record (min beg at))
      (setcdr record (+ end length))))))

(defun org-agent-undo-vacant-p (record)
  "Return non-nil if RECORD is in the undo list and has no text."
  (and record
       (= (car record) (cdr record))
       (consp buffer-undo-list)
       (memq record buffer-undo-list)
       t))

(defun org-agent-undo-ends-at-p (record position)
  "Return non-nil if the text of RECORD is in the buffer and ends at POSITION.
What newer entries of the undo list have put between the two does not
count: it is gone before RECORD is undone."
  (and record
       (< (car record) (cdr record))
       (consp buffer-undo-list)
       (memq record buffer-undo-list)
       (let ((change (org-agent-undo--move
                      (copy-tree (cl-subseq buffer-undo-list
                                            0 (cl-position record buffer-undo-list)))
                      nil (cons position 1) t)))
         (and change (= (car change) (cdr record))))))

(defun org-agent-undo--move-entry (cell change inserted)
  "Move the entry in CELL of an undo list through CHANGE.
CHANGE was INSERTED or else deleted.  Return CHANGE in the text before
the entry, or nil if the text of the entry contains it whole."
  (pcase (car cell)
    ((and (pred integerp) position)
     (setcar cell (org-agent-undo--shift position change inserted))
     change)
    (`(,(pred integerp) . ,(pred integerp))
     (org-agent-undo--move-insertion (car cell) change inserted))
    (`(,(pred stringp) . ,(pred integerp))
     (org-agent-undo--move-deletion (car cell) change inserted))
    (`(nil ,_ ,_ . (,(pred integerp) . ,(pred integerp)))
     (let ((range (nthcdr 3 (car cell))))
       (setcar range (org-agent-undo--shift (car range) change inserted))
       (setcdr range (1+ (org-agent-undo--shift (1- (cdr range))
                                                change inserted))))
     change)
    (`(apply ,(pred integerp) . ,_)
     (org-agent-undo--move-apply (car cell) change inserted))
    (_ change)))                    ; boundaries, markers, (t . TIME)

(defun org-agent-undo--move-insertion (entry change inserted)
  "Move ENTRY, a cell (BEG . END), through CHANGE.
CHANGE was INSERTED or else deleted.  Return CHANGE before the entry."
  (pcase-let ((`(,beg . ,end) entry)
              (`(,at . ,length) change))
    (cond
     ((>= at end)                       ; after it
      (cons (- at (- end beg)) length))
     ((<= (if inserted at (+ at length)) beg) ; before
      (setcar entry (org-agent-undo--shift beg change inserted))
      (setcdr entry (org-agent-undo--shift end change inserted))
      change)
     (inserted                          ; inside, and undone with the entry
      (setcdr entry (+ end length))
      nil)
     (t                                 ; a deletion that overlaps
      (let* ((overlap (- (min end (+ at length)) (max beg at)))
             (rest (- length overlap)))
        (setcar entry (org-agent-undo--shift beg change nil))
        (setcdr entry (org-agent-undo--shift end change nil))
        (and (> rest 0) (cons (min at beg) rest)))))))

(defun org-agent-undo--move-deletion (entry change inserted)
  "Move ENTRY, a cell (TEXT . POSITION), through CHANGE.
CHANGE was INSERTED or else deleted.  Return CHANGE before the entry.
Text that was deleted at the position of an insertion was after it, since
streamed text grows at its end."
  (pcase-let* ((`(,text . ,signed) entry)
               (`(,at . ,length) change)
               (position (abs signed))
               (behind (if inserted
                           (>= position at)
                         (and (> position at)
                              (>= position (+ at length))))))
    (cond
     (behind
      (let ((moved (org-agent-undo--shift position change inserted)))
        (setcdr entry (if (< signed 0) (- moved) moved)))
      change)
     ((<= position at)
      (cons (+ at (length text)) length))
     (t                                 ; inside the deleted text
      (setcdr entry (if (< signed 0) (- at) at))
      (cons (+ at (length text)) length)))))

(defun org-agent-undo--move-apply (entry change inserted)
  "Move ENTRY, (apply DELTA BEG END FUN . ARGUMENTS), through CHANGE.
CHANGE was INSERTED or else deleted.  Return CHANGE before the entry, or
nil if it is inside.  The entries of `combine-change-calls' within ENTRY
are moved, too."
  (pcase-let* ((`(,delta ,beg ,end ,function . ,arguments) (cdr entry))
               (`(,at . ,length) change)
               ;; As with deletions, text that was deleted at the position
               ;; of an insertion was after it.
               (behind (if (and inserted (= beg end))
                           (> at end)
                         (>= at end))))
    (unless behind
      (dolist (place (list (nthcdr 2 entry) (nthcdr 3 entry)))
        (setcar place (org-agent-undo--shift (car place) change inserted))))
    (cond
     ((eq function 'undo--wrap-and-run-primitive-undo) ; BEG END LIST
      (setcar arguments (nth 2 entry))
      (setcar (cdr arguments) (nth 3 entry))
      (org-agent-undo--move (nth 2 arguments) nil change inserted))
     (behind (cons (+ at delta) length))
     ((<= (if inserted at (+ at length)) beg) change))))

(provide 'org-agent-undo)
;;; org-agent-undo.el ends here
