;;; org-agent-section.el --- Buffers made of sections that keep their place  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A buffer of `org-agent-section-mode' shows a tree of sections.  A section
;; has a TYPE, a symbol; a VALUE, which is its identity among its siblings
;; of that type; a heading of one line; and a body and children, which are
;; shown while it is unfolded.
;;
;; `org-agent-section-show' takes the tree as it is to be and changes the
;; buffer where what is printed differs.  Sections are known by their
;; identity: one that was there is folded or unfolded as it was, and point,
;; the point of every window and what each window shows stay on the same
;; line of the same section.  The place of a section that is gone is that
;; of the one that followed, or of its parent if that is folded now.
;;
;; A mode derives from `org-agent-section-mode', sets
;; `org-agent-section-keys' and `revert-buffer-function', and calls
;; `org-agent-section-show'.  A type adds behaviour by methods of
;; `org-agent-section-visit', `org-agent-section-keymap' and
;; `org-agent-section-hint'.  Commands find out what they are about with
;; `org-agent-section-at-point'.
;;
;; Everything is text with properties; what is folded is not in the buffer.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(cl-defstruct (org-agent-section
               (:constructor org-agent-section
                             (type value &key data heading body children folded))
               (:copier nil))
  "One section.
TYPE is a symbol; with nil it is text that cannot be folded or gone to.
VALUE, compared with `equal', identifies it among siblings of that type.
DATA is what it shows, for commands.  HEADING is a string of one line, nil
for none.  BODY is a string, or a function that returns one; it is
called only while the section is unfolded.  CHILDREN are sections.
FOLDED says how the section is shown at first.

The rest is set by `org-agent-section-show': KEY is the identity in the
whole tree, with PARENT's after it; DEPTH counts the parents; TEXT is
what the section itself printed, and START is where, nil for nowhere."
  type value data heading body children folded
  key parent depth text start)

(defface org-agent-section-heading '((t :inherit bold))
  "Face of headings of sections that are no rows of a table."
  :group 'org-agent-lists)

(defface org-agent-section-marker '((t :inherit shadow))
  "Face of the marks that say whether a section is folded."
  :group 'org-agent-lists)

(defvar-local org-agent-section-keys nil
  "The mode's keys for the header line, as `substitute-command-keys' takes them.")

(defvar-local org-agent-section--roots nil
  "The tree that is shown: a list of sections.")

(defvar-local org-agent-section--shown nil
  "The sections whose text is in the buffer, in its order.")

(defvar-local org-agent-section--printed nil
  "What is in the buffer: an alist of keys and texts, in its order.")

(defvar-local org-agent-section--table nil
  "The sections that are shown: a hash table of their keys.")

(defvar-local org-agent-section--folds nil
  "A hash table: the key of each section that was shown, and t if it is folded.")

;;;; What types add

(cl-defgeneric org-agent-section-visit (type section)
  "Visit SECTION, whose type is TYPE; \\`RET' on it calls this.")

(cl-defmethod org-agent-section-visit (_type _section)
  "Fold or unfold what leads nowhere."
  (org-agent-section-toggle))

(cl-defgeneric org-agent-section-keymap (_type)
  "Return the keymap of sections of a type, nil for that of the mode alone."
  nil)

(cl-defgeneric org-agent-section-hint (_type)
  "Return the keys of sections of a type for the header line, nil for none.
The string is one that `substitute-command-keys' takes."
  nil)

;;;; The tree

(defun org-agent-section--foldable-p (section)
  "Return non-nil when SECTION has anything to unfold."
  (and (org-agent-section-heading section)
       (or (org-agent-section-body section) (org-agent-section-children section))))

(defun org-agent-section--folded-p (section)
  "Return non-nil when SECTION is folded, as it was left or else begins."
  (and (org-agent-section--foldable-p section)
       (let* ((key (org-agent-section-key section))
              (state (gethash key org-agent-section--folds 'new)))
         (if (eq state 'new)
             (puthash key (org-agent-section-folded section)
                      org-agent-section--folds)
           state))))

(defun org-agent-section--place-in-tree (sections parent seen)
  "Set key, parent and depth of SECTIONS, the children of PARENT.
SEEN is a hash table of the keys that are taken.  A key that was shown
before stays the same object: text in the buffer has it."
  (dolist (section sections)
    (let* ((above (and parent (org-agent-section-key parent)))
           (name (list (org-agent-section-type section)
                       (org-agent-section-value section)))
           (key (cons (cons 0 name) above)))
      (while (gethash key seen)         ; two siblings are called the same
        (setq key (cons (cons (1+ (caar key)) name) above)))
      (when-let* ((known (gethash key org-agent-section--table)))
        (setq key (org-agent-section-key known)))
      (puthash key t seen)
      (setf (org-agent-section-key section) key
            (org-agent-section-parent section) parent
            (org-agent-section-depth section) (length above)))
    (org-agent-section--place-in-tree (org-agent-section-children section)
                                      section seen)))

(defun org-agent-section--visible (sections)
  "Return SECTIONS and what is below them unfolded, each with its text."
  (mapcan (lambda (section)
            (let ((folded (org-agent-section--folded-p section)))
              (setf (org-agent-section-text section)
                    (org-agent-section--print section folded))
              (cons section
                    (unless folded
                      (org-agent-section--visible
                       (org-agent-section-children section))))))
          sections))

;;;; Printing

(defconst org-agent-section--markers '("▸ " "▾ ")
  "The marks of what is folded, and of what is unfolded.")

(defun org-agent-section--marker (section folded)
  "Return the mark before the heading of SECTION, which may be FOLDED."
  (cond ((not (org-agent-section--foldable-p section)) "  ")
        ((not (char-displayable-p ?▸)) (if folded "+ " "- "))
        (t (nth (if folded 0 1) org-agent-section--markers))))

(defun org-agent-section--print (section folded)
  "Return the text of SECTION itself, FOLDED or not, as it is inserted."
  (let* ((margin (make-string (* 2 (org-agent-section-depth section)) ?\s))
         (heading (org-agent-section-heading section))
         (inner (concat margin (if heading "    " "  ")))
         (body (unless folded (org-agent-section-body section)))
         (body (if (functionp body) (funcall body) body))
         (text
          (concat
           (when heading
             (let ((line (replace-regexp-in-string "[\n\r]+" " " heading)))
               (concat margin
                       (propertize (org-agent-section--marker section folded)
                                   'face 'org-agent-section-marker)
                       line "\n")))
           (unless (string-empty-p (or body ""))
             (concat (org-agent-section-indented body inner)
                     (unless (string-suffix-p "\n" body) "\n"))))))
    (put-text-property 0 (length text) 'wrap-prefix inner text)
    (org-agent-section--with-keys text section)))

(defun org-agent-section-indented (text margin)
  "Return TEXT with MARGIN before each line that is not empty.
All characters of TEXT keep their properties."
  (mapconcat (lambda (line) (if (string-empty-p line) line (concat margin line)))
             (split-string text "\n") "\n"))

(defun org-agent-section--with-keys (text section)
  "Return TEXT with the identity and the keys of SECTION.
Where TEXT has keys, those of a button, say, they come first."
  (let ((map (org-agent-section-keymap (org-agent-section-type section)))
        (from 0))
    ;; Not sticky: at its end the keys are those of what follows.
    (add-text-properties 0 (length text)
                         (list 'org-agent-section (org-agent-section-key section)
                               'rear-nonsticky t)
                         text)
    (while (and map (< from (length text)))
      (let ((to (next-single-property-change from 'keymap text (length text)))
            (own (get-text-property from 'keymap text)))
        (put-text-property from to 'keymap
                           (if own (make-composed-keymap own map) map) text)
        (setq from to)))
    text))

(defun org-agent-section--same-p (text other)
  "Return non-nil when TEXT and OTHER look and behave the same."
  (and (string= text other)
       (equal (object-intervals text) (object-intervals other))))

(defun org-agent-section--reconcile (old new)
  "Make the buffer, which shows OLD, show the sections NEW.
OLD is an alist of keys and texts.  What is in both, in the same order
and with the same text, is not touched."
  (let ((wanted (make-hash-table :test #'eq)))
    (dolist (section new)
      (puthash (org-agent-section-key section) t wanted))
    (goto-char (point-min))
    (dolist (section new)
      (let ((key (org-agent-section-key section))
            (text (org-agent-section-text section)))
        ;; Of the sections here, some are gone, some have been printed above,
        ;; and one may have moved below the next.
        (while (and old
                    (or (not (gethash (caar old) wanted))
                        (and (not (eq key (caar old)))
                             (eq key (caadr old)))))
          (delete-char (length (cdr (pop old)))))
        (setf (org-agent-section-start section) (point))
        (if (not (eq key (caar old)))
            (insert text)
          (let ((former (cdr (pop old))))
            (if (org-agent-section--same-p text former)
                (forward-char (length text))
              (delete-char (length former))
              (insert text))))
        (remhash key wanted)))
    (delete-region (point) (point-max))))

;;;; Places

(defun org-agent-section--place (position)
  "Return what POSITION is on, for `org-agent-section--position'.
That is (KEY LINE COLUMN . MARKER): the section, the line in it, the
column, and where the position itself comes to be."
  (let* ((key (get-text-property position 'org-agent-section))
         (section (and key (gethash key org-agent-section--table)))
         (start (and section (org-agent-section-start section)))
         (bol (save-excursion (goto-char position) (line-beginning-position))))
    (cons (and start key)
          (cons (and start (count-lines start bol))
                (cons (- position bol)
                      (copy-marker position (= position (point-max))))))))

(defun org-agent-section--position (place)
  "Return where PLACE, see `org-agent-section--place', is now."
  (pcase-let* ((`(,key ,line ,column . ,marker) place)
               (section (gethash key org-agent-section--table))
               (known (and section (org-agent-section-start section)))
               (natural (prog1 (marker-position marker) (set-marker marker nil))))
    (save-excursion
      (cond
       (known
        (let ((end (+ known (length (org-agent-section-text section)))))
          (goto-char known)
          (forward-line line)
          (when (>= (point) end)
            (goto-char (1- end))
            (forward-line 0))
          (min (+ (point) column) (line-end-position))))
       ((when-let* ((above (cl-loop for rest on (cdr key)
                                    thereis (gethash rest org-agent-section--table))))
          ;; What was folded away is at its parent.
          (and (or (org-agent-section--folded-p above)
                   (not (org-agent-section-children above)))
               (org-agent-section-start above))))
       ((or (null key) (< natural (point-max))) natural)
       (t (or (cl-loop for section in (reverse org-agent-section--shown)
                       when (org-agent-section-type section)
                       return (org-agent-section-start section))
              (point-max)))))))

(defun org-agent-section--places ()
  "Return a function that puts point, and every window, where they are now."
  (let ((point (org-agent-section--place (point)))
        (windows (mapcar (lambda (window)
                           (list window
                                 (org-agent-section--place (window-point window))
                                 (org-agent-section--place
                                  (min (window-start window) (point-max)))))
                         (get-buffer-window-list nil nil t))))
    (lambda ()
      (goto-char (org-agent-section--position point))
      (pcase-dolist (`(,window ,point ,start) windows)
        (set-window-start window (org-agent-section--position start) t)
        (set-window-point window (org-agent-section--position point))))))

;;;; Showing

(defun org-agent-section--prepare ()
  "Have the tables that the current buffer needs."
  (unless org-agent-section--table
    (setq org-agent-section--table (make-hash-table :test #'equal)
          org-agent-section--folds (make-hash-table :test #'equal))))

(defun org-agent-section-show (sections)
  "Have the current buffer show SECTIONS, a list, and nothing else."
  (org-agent-section--prepare)
  (let* ((inhibit-read-only t)
         (buffer-undo-list t)
         (first (cl-notany #'org-agent-section-type org-agent-section--shown))
         (table (make-hash-table :test #'equal)))
    (org-agent-section--place-in-tree sections nil
                                      (make-hash-table :test #'equal))
    (save-restriction
      (widen)
      (let ((shown (org-agent-section--visible sections))
            (restore (org-agent-section--places)))
        (with-silent-modifications
          (org-agent-section--reconcile org-agent-section--printed shown))
        (dolist (section shown)
          (puthash (org-agent-section-key section) section table))
        (setq org-agent-section--roots sections
              org-agent-section--shown shown
              org-agent-section--printed
              (mapcar (lambda (section)
                        (cons (org-agent-section-key section)
                              (org-agent-section-text section)))
                      shown)
              org-agent-section--table table)
        (funcall restore)
        (when first
          (org-agent-section-go-to-first))))
    (force-mode-line-update)))

;;;###autoload
(defun org-agent-section-go-to-first ()
  "Move point, and that of every window, to the first section.
The windows show the buffer from its beginning."
  (when-let* ((section (cl-find-if #'org-agent-section-type
                                   org-agent-section--shown)))
    (goto-char (org-agent-section-start section))
    (dolist (window (get-buffer-window-list nil nil t))
      (set-window-start window (point-min))
      (set-window-point window (point)))))

(defun org-agent-section-insert (section)
  "Insert SECTION, unfolded, at point in a buffer that is no tree of sections.
`org-agent-section-at-point' finds it there, until it is inserted again."
  (org-agent-section--prepare)
  (setf (org-agent-section-folded section) nil)
  (org-agent-section--place-in-tree (list section) nil
                                    (make-hash-table :test #'equal))
  (dolist (one (org-agent-section--visible (list section)))
    (puthash (org-agent-section-key one) one org-agent-section--table)
    (insert (org-agent-section-text one))))

;;;; Buffers that are one text

(defvar-local org-agent-section--text nil
  "What `org-agent-section-replace-text' showed last.
Highlighting changes the properties of what is in the buffer.")
(put 'org-agent-section--text 'permanent-local t)

(defun org-agent-section--lines (text)
  "Return the lines of TEXT, each with its end."
  (let ((from 0) lines)
    (while (< from (length text))
      (let ((to (if (string-match "\n" text from) (match-end 0) (length text))))
        (push (substring text from to) lines)
        (setq from to)))
    (nreverse lines)))

;;;###autoload
(defun org-agent-section-replace-text (text)
  "Have the current buffer, which has no sections, show TEXT.
Only lines that differ are changed.  Point, that of every window and what
each shows stay where they are in the others, and on the same line of
those between them."
  (let* ((inhibit-read-only t)
         (buffer-undo-list t)
         (shown (buffer-string))
         (old (org-agent-section--lines
               (if (equal org-agent-section--text shown)
                   org-agent-section--text
                 shown)))
         (new (org-agent-section--lines text))
         (same (lambda ()
                 (and old new (org-agent-section--same-p (car old) (car new)))))
         (beg (point-min)) (end (point-max)))
    (while (funcall same)
      (cl-incf beg (length (pop old)))
      (pop new))
    (setq old (nreverse old) new (nreverse new))
    (while (funcall same)
      (cl-decf end (length (pop old)))
      (pop new))
    (let ((restore (org-agent-section--places-beside
                    beg end (cl-reduce #'+ new :key #'length))))
      (goto-char beg)
      (delete-region beg end)
      (apply #'insert (nreverse new))
      (funcall restore))
    (setq org-agent-section--text text)))

(defun org-agent-section--places-beside (beg end length)
  "Return a function that restores point and the positions of all windows.
LENGTH characters have replaced the text from BEG to END when it is called."
  (cl-flet ((place (position)
              (cond ((<= position beg) (lambda () position))
                    ((>= position end) (lambda () (+ beg length (- position end))))
                    (t
                     (save-excursion
                       (goto-char position)
                       (let ((column (- position (line-beginning-position)))
                             (line (count-lines beg (line-beginning-position))))
                         (lambda ()
                           (save-excursion
                             (goto-char beg)
                             (forward-line line)
                             (min (+ (point) column) (line-end-position)
                                  (+ beg length))))))))))
    (let ((point (place (point)))
          (windows (mapcar (lambda (window)
                             (list window (place (window-point window))
                                   (place (window-start window))))
                           (get-buffer-window-list nil nil t))))
      (lambda ()
        (pcase-dolist (`(,window ,point ,start) windows)
          (set-window-start window (funcall start) t)
          (set-window-point window (funcall point)))
        (goto-char (funcall point))))))

(defun org-agent-section-at-point (&optional type)
  "Return the section at point, nil if there is none.
With TYPE return the innermost one that is of this type."
  (let* ((position (if (and (eobp) (not (bobp))) (1- (point)) (point)))
         (key (get-text-property position 'org-agent-section))
         (section (and key org-agent-section--table
                       (gethash key org-agent-section--table))))
    (while (and section
                (not (if type
                         (eq type (org-agent-section-type section))
                       (org-agent-section-type section))))
      (setq section (org-agent-section-parent section)))
    section))

(defun org-agent-section-data-at-point (type)
  "Return the data of the innermost section of TYPE at point, or nil."
  (when-let* ((section (org-agent-section-at-point type)))
    (org-agent-section-data section)))

(defun org-agent-section-all (type)
  "Return the sections of TYPE in the buffer's tree, in its order."
  (cl-labels ((walk (sections)
                    (mapcan (lambda (section)
                              (append (and (eq type (org-agent-section-type section))
                                           (list section))
                                      (walk (org-agent-section-children section))))
                            sections)))
    (walk org-agent-section--roots)))

;;;; Commands

(defun org-agent-section-toggle ()
  "Fold the section at point, or unfold it."
  (interactive)
  (let ((section (org-agent-section-at-point)))
    (while (and section (not (org-agent-section--foldable-p section)))
      (setq section (org-agent-section-parent section)))
    (unless section
      (user-error "Nothing is folded here"))
    (goto-char (org-agent-section-start section))
    (puthash (org-agent-section-key section)
             (not (org-agent-section--folded-p section))
             org-agent-section--folds)
    (org-agent-section-show org-agent-section--roots)))

(defun org-agent-section-toggle-all ()
  "Unfold every section; if none is folded, fold all."
  (interactive)
  (let* ((foldable (cl-remove-if-not #'org-agent-section--foldable-p
                                     org-agent-section--shown))
         (fold (cl-notany #'org-agent-section--folded-p foldable)))
    (dolist (section foldable)
      (puthash (org-agent-section-key section) fold org-agent-section--folds))
    (org-agent-section-show org-agent-section--roots)))

(defun org-agent-section-next (&optional count)
  "Go to the next section, COUNT of them further."
  (interactive "p")
  (let ((count (or count 1)))
    (dotimes (_ (abs count))
      (let ((place (point)) found)
        (while (and (not found)
                    (setq place (if (< count 0)
                                    (org-agent-section--previous-start place)
                                  (next-single-property-change
                                   place 'org-agent-section))))
          (save-excursion
            (goto-char place)
            (setq found (and (not (eobp)) (org-agent-section-at-point)))))
        (unless found
          (user-error (if (< count 0) "No section is above" "No section is below")))
        (goto-char place)))))

(defun org-agent-section--previous-start (position)
  "Return where a section begins that does so before POSITION, or nil."
  (when (> position (point-min))
    (or (previous-single-property-change position 'org-agent-section)
        (point-min))))

(defun org-agent-section-previous (&optional count)
  "Go to the section before, or to the beginning of this one; COUNT times."
  (interactive "p")
  (org-agent-section-next (- (or count 1))))

(defun org-agent-section-up ()
  "Go to the section that this one is in."
  (interactive)
  (let* ((section (org-agent-section-at-point))
         (parent (and section (org-agent-section-parent section))))
    (unless parent
      (user-error "This section is in no other"))
    (goto-char (org-agent-section-start parent))))

(defun org-agent-section-return ()
  "Visit what the section at point is about."
  (interactive)
  (let ((section (or (org-agent-section-at-point)
                     (user-error "There is no section here"))))
    (org-agent-section-visit (org-agent-section-type section) section)))

;;;; The mode

(defun org-agent-section-header (state &rest hints)
  "Return a header line of STATE, a string or nil, and the keys HINTS.
A hint is a string that `substitute-command-keys' takes, or nil, in which
two blanks separate the keys.  The last ones are left out where the
window has no room.  The keys of all lists follow."
  (let* ((common (substitute-command-keys
                  "\\[revert-buffer] revert  \\[quit-window] quit  \\[describe-mode] describe"))
         (shown (if state (concat " " state "  ") " "))
         (room (- (max 72 (window-width)) (string-width common) 1)))
    (cl-dolist (hint (split-string (substitute-command-keys
                                    (string-join (delq nil hints) "  "))
                                   "  " t))
      (let ((more (concat shown hint "  ")))
        (when (> (string-width more) room)
          (cl-return))
        (setq shown more)))
    (replace-regexp-in-string "%" "%%" (concat shown common) t t)))

(defun org-agent-section--header ()
  "Return the header line: the keys of the section at point and of the mode."
  (let* ((section (org-agent-section-at-point))
         (hint (and section (org-agent-section-hint
                             (org-agent-section-type section)))))
    (org-agent-section-header
     nil hint org-agent-section-keys
     (and (cl-some #'org-agent-section--foldable-p org-agent-section--shown)
          "\\<org-agent-section-mode-map>\\[org-agent-section-toggle] fold"))))

(defvar org-agent-section-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (define-key map (kbd "TAB") #'org-agent-section-toggle)
    (define-key map (kbd "<backtab>") #'org-agent-section-toggle-all)
    (define-key map (kbd "n") #'org-agent-section-next)
    (define-key map (kbd "p") #'org-agent-section-previous)
    (define-key map (kbd "^") #'org-agent-section-up)
    (define-key map (kbd "M-n") #'forward-button)
    (define-key map (kbd "M-p") #'backward-button)
    (define-key map (kbd "RET") #'org-agent-section-return)
    (define-key map (kbd "?") #'describe-mode)
    map)
  "Keys in every buffer of sections.")

(define-derived-mode org-agent-section-mode special-mode "Org-Agent-Sections"
  "Parent mode of buffers that show sections.
\\<org-agent-section-mode-map>\\[org-agent-section-toggle] folds the section at point or unfolds it, \\[org-agent-section-toggle-all] all of them;
\\[org-agent-section-next] and \\[org-agent-section-previous] go to the next one and the one before, \\[org-agent-section-up] to the one around it,
\\[forward-button] to the next button.  \\[org-agent-section-return] visits what it is about.

\\{org-agent-section-mode-map}"
  :interactive nil
  (setq buffer-undo-list t
        truncate-lines nil
        word-wrap t
        header-line-format '(:eval (org-agent-section--header))))

(defun org-agent-section-cut-lines ()
  "Cut the lines of this buffer at the edge of its windows.
Its major mode calls this.  Where every buffer has visual lines this one
has none, unless the user wants them here."
  (when (bound-and-true-p global-visual-line-mode)
    (visual-line-mode -1))
  (setq truncate-lines t))

(provide 'org-agent-section)
;;; org-agent-section.el ends here
