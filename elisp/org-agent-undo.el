;;; org-agent-undo.el --- Undo beside text that streams in  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Text that streams into a buffer while its user goes on editing must
;; undo as one step that stands where it began: `undo' takes back what
;; the user did meanwhile, one by one, and then the streamed text at once.
;;
;; A *record* is the entry (BEG . END) that the first insertion puts into
;; `buffer-undo-list'.  Later changes of the same text are made with undo
;; recording off: the record is changed to fit, and the entries that are
;; newer than it are moved, from the newest to the record.  In each of
;; these steps the place of the change is taken back to what it was
;; before the entry's own change, so that every entry fits the text that
;; will be there when its turn comes.
;;
;; A record that is not in the list any more (Emacs drops old entries, a
;; user may have undone it) is no trouble: all entries are moved, and the
;; text simply is not undoable.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defmacro org-agent-undo-off (&rest body)
  "Run BODY with undo recording off in the current buffer."
  (declare (indent 0) (debug t))
  `(let ((buffer-undo-list t)) ,@body))

(defun org-agent-undo-insert-new (position text)
  "Insert TEXT at POSITION as an undo step of its own; return its record.
Return nil where undo is disabled.  Point and the mark stay where they
are in the text."
  (if (eq buffer-undo-list t)
      (progn (org-agent-undo--insert position text) nil)
    (let ((record (cons position (+ position (length text)))))
      (undo-boundary)
      (org-agent-undo-off (org-agent-undo--insert position text))
      (push record buffer-undo-list)
      ;; The boundary also ends the run of characters that Emacs would
      ;; join with what the user types next.
      (undo-boundary)
      record)))

(defun org-agent-undo-place ()
  "Return the place in the undo list for what begins now and comes later.
`org-agent-undo-vacant' makes a record there."
  (when (listp buffer-undo-list)
    (undo-boundary)
    buffer-undo-list))

(defun org-agent-undo-vacant (place)
  "Put a record without text at PLACE of the undo list and return it.
What was done since PLACE was noted stands before it.  Return nil when
nothing was, or when PLACE is not in the list any more."
  (let ((above (and (listp buffer-undo-list) buffer-undo-list)))
    (while (and above (not (eq (cdr above) place)))
      (setq above (cdr above)))
    (when above
      (let ((record (cons (point-min) (point-min))))
        (setcdr above (cons nil (cons record place)))
        record))))

(defun org-agent-undo-drop (record)
  "Take RECORD, which is vacant, out of the undo list: it is no step.
Return the place where it stood, as of `org-agent-undo-place'."
  (let ((cell (memq record buffer-undo-list))
        (above buffer-undo-list))
    (while (not (or (eq above cell) (eq (cdr above) cell)))
      (setq above (cdr above)))
    (cond
     ((eq above cell) (setq buffer-undo-list (cdr cell)))
     ((or (car above) (cadr cell)) (setcdr above (cdr cell)))
     (t (setcdr above (cddr cell)) above)))) ; one boundary of the two

(defun org-agent-undo-insert (record position text)
  "Insert TEXT at POSITION as a part of what RECORD stands for.
With nil as RECORD it is a part of nothing and cannot be undone.  Return
nil."
  (org-agent-undo-off (org-agent-undo--insert position text))
  (unless (eq buffer-undo-list t)
    (org-agent-undo--move buffer-undo-list record
                          (cons position (length text)) t))
  nil)

(defun org-agent-undo-delete (record beg end)
  "Delete the text from BEG to END, a part of what RECORD stands for."
  (org-agent-undo-off (delete-region beg end))
  (unless (eq buffer-undo-list t)
    (org-agent-undo--move buffer-undo-list record
                          (cons beg (- end beg)) nil)))

(defun org-agent-undo-replace (record beg end text)
  "Replace the text from BEG to END by TEXT, a part of what RECORD stands for.
Text that both have at their start or end is not changed."
  (pcase-let* ((old (buffer-substring-no-properties beg end))
               (`(,front . ,back) (org-agent-undo-common-ends old text))
               (from (+ beg front))
               (to (- end back))
               (new (substring text front (- (length text) back))))
    ;; The new text goes in behind some of the old one, so that the place
    ;; is never empty: text before and behind it stays apart.
    (when (and (= from to beg) (< to end))
      (setq new (substring text 0 (- (length text) back -1))
            to (1+ to)))
    (unless (string-empty-p new)
      (org-agent-undo-insert record to new))
    (when (< from to)
      (org-agent-undo-delete record from to))))

(defun org-agent-undo-common-ends (old new)
  "Return how much text OLD and NEW have in common at their ends.
The result is (START . END), two numbers of characters."
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
  "Make TEXT the accessible text of the buffer by small changes.
So point, marks and markers stay in the text that they are in.  If finding
such changes would take more than a second, replace the whole text and
return nil."
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
  "Insert TEXT at POSITION; point and mark do not move."
  (save-excursion
    (goto-char position)
    (insert text)))

;;;; Moving entries

(defun org-agent-undo--move (list record change inserted)
  "Move the entries of LIST, an undo list, through CHANGE, up to RECORD.
CHANGE is (POSITION . LENGTH) in the text as it is before the newest
entry is undone; it was an insertion when INSERTED is non-nil, or else a
deletion.  RECORD is changed to fit.  Return the CHANGE as it stands
before the last entry looked at, or nil when an entry owns it."
  (while list
    (let ((entry (car list)))
      (if (and record (eq entry record))
          (progn (org-agent-undo--resize record change inserted)
                 (setq list nil change nil))
        (setq change (org-agent-undo--move-entry list change inserted)
              list (and change (cdr list))))))
  change)

(defun org-agent-undo--shift (position change inserted)
  "Return POSITION as it is after CHANGE, INSERTED or deleted.
What stands at the place of an insertion comes to stand behind it."
  (pcase-let ((`(,at . ,length) change))
    (cond ((< position at) position)
          (inserted (+ position length))
          (t (max at (- position length))))))

(defun org-agent-undo--resize (record change inserted)
  "Change RECORD, a cell (BEG . END), to fit CHANGE within it.
CHANGE was INSERTED or deleted.  A record whose text was all deleted
goes where the next text goes in."
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
  "Return non-nil when RECORD can be used again: its text was all deleted."
  (and record
       (= (car record) (cdr record))
       (consp buffer-undo-list)
       (memq record buffer-undo-list)
       t))

(defun org-agent-undo--move-entry (cell change inserted)
  "Move the entry in CELL of an undo list through CHANGE.
CHANGE was INSERTED or deleted.  Return it as it stands before the
entry's own change, or nil when the entry's text holds all of it."
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
  "Move ENTRY, a cell (BEG . END), through CHANGE, and CHANGE through it.
CHANGE was INSERTED or deleted."
  (pcase-let ((`(,beg . ,end) entry)
              (`(,at . ,length) change))
    (cond
     ((>= at end)                       ; the change stands behind
      (cons (- at (- end beg)) length))
     ((<= (if inserted at (+ at length)) beg) ; before
      (setcar entry (org-agent-undo--shift beg change inserted))
      (setcdr entry (org-agent-undo--shift end change inserted))
      change)
     (inserted                          ; inside: it goes with this entry
      (setcdr entry (+ end length))
      nil)
     (t                                 ; a deletion that overlaps
      (let* ((overlap (- (min end (+ at length)) (max beg at)))
             (rest (- length overlap)))
        (setcar entry (org-agent-undo--shift beg change nil))
        (setcdr entry (org-agent-undo--shift end change nil))
        (and (> rest 0) (cons (min at beg) rest)))))))

(defun org-agent-undo--move-deletion (entry change inserted)
  "Move ENTRY, a cell (TEXT . POSITION), through CHANGE, and CHANGE through it.
CHANGE was INSERTED or deleted.  Text that was deleted right where it
inserts stood behind it: what streams in grows at its end."
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
     (t                                 ; inside what was deleted
      (setcdr entry (if (< signed 0) (- at) at))
      (cons (+ at (length text)) length)))))

(defun org-agent-undo--move-apply (entry change inserted)
  "Move ENTRY, (apply DELTA BEG END FUN . ARGUMENTS), through CHANGE.
CHANGE was INSERTED or deleted.  The entries that
`combine-change-calls' keeps inside are moved as well; what another
function will change is known by its place only."
  (pcase-let* ((`(,delta ,beg ,end ,function . ,arguments) (cdr entry))
               (`(,at . ,length) change)
               ;; As with deletions, what was taken out right where CHANGE
               ;; inserts stood behind it.
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
