;;; org-agent-inert.el --- Text of a model runs nothing in Org  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An answer is a document that its reader refiles, tangles, exports and
;; plans with.  So Org stays as it was written, except for what is in the
;; list below: what runs code, reaches outside, changes the whole file, or
;; speaks as the kernel.  Such a place is held: a zero-width space stands
;; in it, and Org takes it for text.  In a drawer the key is renamed
;; HELD_NAME, because a zero-width space would break the drawer.
;; `org-agent-held.el' shows held places and makes them real.
;;
;; The kernel does this first.  This is the client's own implementation of
;; the list.  It does not trust the kernel's, and neither was made from
;; the other.  Both are tested with the cases in testdata/held.
;;
;; `org-agent-inert' takes a whole text.  A text that is still being
;; written is checked line by line with `org-agent-inert-lines', which is
;; linear however the text was cut.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'subr-x)
(require 'org-agent-inert-list)

(defconst org-agent-inert-mark "\u200b"
  "The zero-width space that holds a place.")

(defconst org-agent-inert-prefix "HELD_"
  "What stands before the key of a property that is held.")

;;;; The list

(defconst org-agent-inert-rules
  '((language . "Org shows or exports this by what it is called: for a block of the language X it calls the function X-mode, whatever that does")
    (argument . "Org evaluates this header argument, or a run, an export or a tangle with it reaches outside of the block")
    (keyword . "This keyword holds for the whole file, or takes something into it")
    (formula . "This formula runs Lisp, or reads other tables, when the table is calculated")
    (inline . "This runs or reaches outside when it is followed, exported, shown in the agenda, or when the file is opened")
    (property . "This property or tag tells Org or the agent what only a person may say"))
  "The rules, and why each holds a place.")

;;;; State

(cl-defstruct (org-agent-inert-state (:copier org-agent-inert-copy-state))
  "Where in a text a line stands."
  (place 'start :documentation "`start', `own' (the answer's drawer may
begin here), `properties' (within it), or `body'.")
  (block nil :documentation "Within a block that is no Org: its type.")
  (stays nil :documentation "That type as it is written.")
  (verse nil :documentation "Non-nil within a verse block.")
  (drawer nil :documentation "Within a drawer: t, or `properties'.")
  (latex nil :documentation "Within a LaTeX environment: its name.")
  (footnote nil :documentation "Non-nil within a footnote's definition.")
  (belongs nil :documentation "Non-nil when the line above says something of what comes.")
  (formula nil :documentation "Non-nil when the paragraph may have opened a formula.")
  (blanks 0 :documentation "Blank lines directly before."))

(defvar org-agent-inert--places nil
  "The places that were held: a list of (MARKER RULE WHAT), or `none'.
With the latter nobody wants to know.")

(defvar org-agent-inert--taken nil
  "Names that the file has or reaches for, in lower case.")

;;;; Entry points

(defun org-agent-inert (text &optional names report)
  "Return TEXT, a whole answer in Org, with nothing active in it.
Its first heading may have the tag `:agent:' and a drawer with an ID.  A
text that is inert already is returned as it is.  NAMES are those that
the file has, see `org-agent-inert-names'.  REPORT is called with the
position in the result, the rule and a description of each place that is
held, in order."
  (let ((org-agent-inert--places (if report nil 'none))
        (org-agent-inert--taken names)
        (state (make-org-agent-inert-state)))
    (with-temp-buffer
      (insert text)
      (goto-char (point-min))
      (org-agent-inert-list-with-parser
        (org-agent-inert--scan state))
      (when (org-agent-inert-state-block state)
        (goto-char (point-max))
        (unless (bolp) (insert "\n"))
        (insert "#+end_" (org-agent-inert-state-stays state)
                (if (string-suffix-p "\n" text) "\n" "")))
      (when report
        (pcase-dolist (`(,place ,rule ,what)
                       (cl-sort org-agent-inert--places #'< :key #'car))
          (funcall report (marker-position place) rule what)))
      (buffer-string))))

(defun org-agent-inert-lines (text state)
  "Make the lines of TEXT inert; TEXT begins with a line at STATE.
Return (INERT FINAL . STATE): INERT is the new text, FINAL how many
characters of TEXT are whole lines, the last STATE that of the line
behind them.  STATE itself is not changed."
  (let ((state (org-agent-inert-copy-state state))
        (org-agent-inert-list-whole nil)
        (org-agent-inert--places 'none)
        (final (org-agent-inert-whole-lines text)))
    (with-current-buffer (get-buffer-create " *org-agent-inert*" t)
      (buffer-disable-undo)
      (erase-buffer)
      (insert text)
      (narrow-to-region 1 (1+ final))
      (goto-char (point-min))
      (org-agent-inert--scan state)
      (widen)
      (let ((next (org-agent-inert-copy-state state)))
        (org-agent-inert--scan state)
        (cons (buffer-string) (cons final next))))))

(defun org-agent-inert-whole-lines (text)
  "Return how many characters of TEXT are whole lines."
  (if (string-match "\n[^\n]*\\'" text)
      (1+ (match-beginning 0))
    0))

(defconst org-agent-inert--name-regexp
  (concat "^[ \t]*#\\+" (regexp-opt org-agent-inert-list-names)
          "\\(?:\\[[^]\n]*\\]\\)?:[ \t]*\\(?1:[^ \t\n].*?\\)[ \t]*$"
          "\\|<<\\(?1:[^<>\n]+\\)>>"
          "\\|^[ \t]*#\\+call:[ \t]*\\(?1:[^ \t\n([]+\\)"
          "\\|\\<call_\\(?1:[^ \t\n([]+\\)[[(]"
          "\\|\\<remote(\\(?1:[^,)\n]+\\),"
          "\\|[ \t]:\\(?:var\\|post\\|stdin\\)[ \t]+\\(?2:.*\\)")
  "Matches what gives a name, group 1, or values that may be names, group 2.")

(defun org-agent-inert-names (&rest regions)
  "Return the names that the current buffer has or reaches for.
REGIONS are (BEG . END) of text that does not count."
  (let ((case-fold-search t) names)
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (while (re-search-forward org-agent-inert--name-regexp nil t)
          (unless (cl-some (lambda (region)
                             (<= (car region) (match-beginning 0) (cdr region)))
                           regions)
            (if (match-beginning 1)
                (push (downcase (string-trim (match-string-no-properties 1)))
                      names)
              (dolist (name (split-string (match-string-no-properties 2)
                                          "[][() \t=,\"]+" t))
                (push (downcase name) names)))))))
    names))

;;;; Lines

(defun org-agent-inert--scan (state)
  "Make the lines from point on inert; STATE is that of the first."
  (let ((case-fold-search t)
        (org-agent-inert-list-parsed 0))
    (with-syntax-table org-mode-syntax-table
      (while (not (eobp))
        (org-agent-inert--line state)
        (forward-line)))))

(defun org-agent-inert--hold (position rule what)
  "Hold POSITION by RULE; WHAT is held.
Point stays in front of what it is before."
  (unless (or (eq (char-after position) ?\u200b)
              (eq (char-before position) ?\u200b))
    (save-excursion
      (goto-char position)
      (insert org-agent-inert-mark))
    (org-agent-inert--note position rule what)))

(defun org-agent-inert--note (position rule what)
  "Note that the place at POSITION is held by RULE, and WHAT it is."
  (when (listp org-agent-inert--places)
    (push (list (copy-marker position t) rule what) org-agent-inert--places)))

(defconst org-agent-inert--belongs-regexp
  (concat "[ \t]*#\\+\\(?:caption\\|headers?\\|attr_[^][ \t\n:]*\\|"
          (regexp-opt org-agent-inert-list-names) "\\)\\(?:\\[.*?\\]\\)?:")
  "Matches the beginning of a line that belongs to what follows it.")

(defun org-agent-inert--line (state)
  "Make the line at point inert; STATE becomes that of the next line."
  (org-agent-inert--show-controls state)
  (let ((blank (not (org-agent-inert--first-char))))
    (cond
     ((org-agent-inert-state-block state)
      (org-agent-inert--block-line state))
     (blank
      (when (eq (org-agent-inert-state-drawer state) 'properties)
        (setf (org-agent-inert-state-drawer state) t)))
     ((and (eq (char-after) ?*) (looking-at-p "\\*+ "))
      (org-agent-inert--heading state))
     ((org-agent-inert--property state))
     (t (org-agent-inert--element state)))
    (setf (org-agent-inert-state-blanks state)
          (if blank (1+ (org-agent-inert-state-blanks state)) 0)
          (org-agent-inert-state-formula state)
          (org-agent-inert--formula-p state)
          (org-agent-inert-state-belongs state)
          (looking-at-p org-agent-inert--belongs-regexp))
    (when (and (> (org-agent-inert-state-blanks state) 1)
               (not (org-agent-inert-state-block state)))
      (setf (org-agent-inert-state-footnote state) nil))))

(defun org-agent-inert--formula-p (state)
  "Return non-nil when a formula may be open behind the line at point.
STATE is that of the next line.  What is held there already counts as
text, and so does what would need an end below.  In a verse all lines are
one text."
  (if (or (org-agent-inert-state-verse state)
          (if (org-agent-inert-state-block state)
              (org-agent-inert--doubtful-p state)
            (or (looking-at-p (if (org-agent-inert-state-belongs state)
                                  "[ \t]*#\\(?:\\+begin_\\| \\|$\\)"
                                "[ \t]*#\\+begin_"))
                (not (looking-at-p
                      "[ \t]*\\(?:$\\|#\\(?: \\|$\\|\\+[^][ \t\n:]+\\(?:\\[.*?\\]\\)?:\\)\\|:\\(?: \\|$\\)\\||\\|\\*+ \\)")))))
      (or (org-agent-inert-state-formula state)
          (org-agent-inert-list-opens-formula-p (line-end-position)))))

(defun org-agent-inert--first-char ()
  "Return the first character of the line at point, behind blanks.
Return nil for a blank line."
  (let ((beg (point)) char)
    (skip-chars-forward " \t")
    (setq char (char-after))
    (goto-char beg)
    (unless (eq char ?\n) char)))

(defun org-agent-inert--unfinished-p ()
  "Return non-nil when more of the line at point may come."
  (and (not org-agent-inert-list-whole)
       (= (line-end-position) (point-max))))

(defconst org-agent-inert--no-controls
  "^\n\0-\10\v-\37\177\u0080-\u009f\u202a-\u202e\u2066-\u2069"
  "All characters of a line but controls and direction marks.
In the syntax of `skip-chars-forward'.")

(defun org-agent-inert--show-controls (state)
  "Make controls and direction marks of the line at point visible.
STATE is the line's.  A carriage return at the end of the line goes."
  (let ((beg (point))
        (in-block (org-agent-inert-state-block state)))
    (while (progn
             (skip-chars-forward org-agent-inert--no-controls)
             (not (or (eobp) (eq (char-after) ?\n))))
      (let ((char (char-after)))
        (delete-char 1)
        (cond
         ((and (eq char ?\r) (eolp) (not (eobp))))
         ((and (not in-block) (memq char '(?\r ?\f ?\v))) (insert " "))
         ((< char 32) (insert (+ #x2400 char)))
         ((= char 127) (insert #x2421))
         (t (insert #xfffd)))))
    (goto-char beg)))

(defun org-agent-inert--heading (state)
  "Make the heading at point inert; STATE is that of its line.
The first heading of a text may have the tag `:agent:'."
  (let ((first (eq (org-agent-inert-state-place state) 'start)))
    (setf (org-agent-inert-state-place state) 'body
          (org-agent-inert-state-verse state) nil
          (org-agent-inert-state-drawer state) nil
          (org-agent-inert-state-latex state) nil
          (org-agent-inert-state-footnote state) nil
          (org-agent-inert-state-formula state) nil)
    (save-excursion
      (when (re-search-forward ":\\([[:alnum:]_@#%:]+\\):[ \t]*$"
                               (line-end-position) t)
        ;; Since Org 9.7 the parser takes tags without a blank before them.
        (let ((place (match-end 1))
              (tags (split-string (downcase (match-string 1)) ":" t)))
          (when (and first (member "agent" tags))
            (setf (org-agent-inert-state-place state) 'own))
          (when (cl-some #'org-agent-inert-list-tag-p
                         (if first (remove "agent" tags) tags))
            (org-agent-inert--hold place 'property "a tag of the kernel's")))))
    (org-agent-inert--objects state 'text)))

(defun org-agent-inert--property (state)
  "Make the line at point inert if it is one of a property drawer.
STATE is the line's.  Return nil if it is none.  Only the drawer of the
answer itself may have an ID."
  (let ((own (eq (org-agent-inert-state-place state) 'properties)))
    (when (eq (org-agent-inert-state-drawer state) 'properties)
      (cond
       ((and (looking-at "[ \t]*:\\(\\S-+?\\):\\(?:[ \t]\\|$\\)")
             (not (equal (downcase (match-string 1)) "end")))
        (let ((key (match-string 1)))
          (when (and (string-match-p org-agent-inert-list-properties key)
                     (not (and own (equal key "ID"))))
            (save-excursion
              (goto-char (match-beginning 1))
              (insert org-agent-inert-prefix)
              (org-agent-inert--note (match-beginning 1) 'property
                                     (concat "the property " key)))))
        (org-agent-inert--objects state 'text)
        t)
       (t
        (setf (org-agent-inert-state-drawer state) t)
        nil)))))

(defun org-agent-inert--element (state)
  "Make the line at point, which is no heading, inert; STATE is its own."
  (let ((place (org-agent-inert-state-place state)))
    (setf (org-agent-inert-state-place state) 'body)
    (pcase (org-agent-inert--first-char)
      (?# (org-agent-inert--hash state))
      (?: (org-agent-inert--colon state place))
      (char (org-agent-inert--text char state)))
    (when (org-agent-inert-state-latex state)
      (save-excursion
        (end-of-line)
        (skip-chars-backward " \t")
        (when (looking-back (concat "\\\\end{" (regexp-quote (org-agent-inert-state-latex state)) "}")
                            (line-beginning-position))
          (setf (org-agent-inert-state-latex state) nil))))))

(defun org-agent-inert--hash (state)
  "Make the line at point, whose first character is #, inert.
STATE is its own."
  (cond
   ((looking-at-p "[ \t]*#\\+begin_")
    (org-agent-inert--block-begin state))
   ((looking-at-p "[ \t]*#\\+")
    (org-agent-inert--keyword)
    (when (looking-at-p "[ \t]*#\\+end_verse")
      (setf (org-agent-inert-state-verse state) nil))
    (org-agent-inert--objects state 'text))
   ((looking-at-p "[ \t]*#\\(?: \\|$\\)")
    (org-agent-inert--objects state (if (org-agent-inert-state-belongs state)
                                        'text ; such a line begins a paragraph
                                      (org-agent-inert--mark-context state))))
   (t (org-agent-inert--objects state 'text))))

(defun org-agent-inert--colon (state place)
  "Make the line at point, whose first character is a colon, inert.
STATE is its own.  PLACE is where it stood before the line."
  (cond
   ((looking-at-p "[ \t]*:\\(?: \\|$\\)")
    (org-agent-inert--objects state (org-agent-inert--mark-context state)))
   ((looking-at-p "[ \t]*:[-_[:alnum:]]+:[ \t]*$")
    (setf (org-agent-inert-state-drawer state)
          (cond ((looking-at-p "[ \t]*:end:")
                 ;; Without a beginning it is one for Org.
                 (not (org-agent-inert-state-drawer state)))
                ((looking-at-p "[ \t]*:properties:")
                 (when (eq place 'own)
                   (setf (org-agent-inert-state-place state) 'properties))
                 'properties)
                (t t))))
   (t (org-agent-inert--objects state 'text))))

(defun org-agent-inert--mark-context (state)
  "Return the context of a line that begins with the mark of a comment.
The same goes for text of fixed width.  STATE is the line's: in a verse
and in a LaTeX environment it is text."
  (if (or (org-agent-inert-state-verse state) (org-agent-inert-state-latex state))
      'text
    'raw))

(defun org-agent-inert--text (char state)
  "Make the line of text at point, whose first character is CHAR, inert.
STATE is its own."
  (pcase char
    (?\[ (when (looking-at-p "\\[fn:")
           (setf (org-agent-inert-state-footnote state) t)))
    (?\\ (when (and (not (org-agent-inert-state-latex state))
                    (looking-at "[ \t]*\\\\begin{\\([A-Za-z0-9*]+\\)}"))
            (setf (org-agent-inert-state-latex state) (match-string 1))))
    (?| (unless (org-agent-inert-state-verse state)
          ;; A row of a table is no part of the paragraph above it.
          (setf (org-agent-inert-state-formula state) nil))
        (org-agent-inert--formulas)))
  (org-agent-inert--objects state 'text))

(defun org-agent-inert--keyword ()
  "Hold the keyword at point if it is to be held."
  (when (looking-at "[ \t]*#\\(?1:\\+\\)\\(?2:[^][ \t\n:]+\\)\\(?:\\[.*?\\]\\)?:\\(?3:.*\\)")
    (let ((place (match-beginning 1))
          (key (downcase (match-string 2)))
          (value (match-string 3))
          (from (match-beginning 3)))
      (cond
       ((member key '("header" "headers"))
        (org-agent-inert--hold-arguments from))
       ((equal key "tblfm")
        (when (org-agent-inert--lisp-formula-p (concat "=" value))
          (org-agent-inert--hold place 'formula "a formula in Lisp or over another table")))
       ((member key org-agent-inert-list-names)
        (when (member (downcase (string-trim value)) org-agent-inert--taken)
          (org-agent-inert--hold place 'keyword "a name that the file has")))
       ((string-prefix-p "attr_" key)
        (when (string-match-p "\\(?:\\`\\|[ \t]\\):on[a-z]+\\(?:[ \t]\\|\\'\\)\\|javascript:\\|vbscript:\\|data:\\|[<>]" value)
          (org-agent-inert--hold place 'keyword "a script")))
       ((string-match-p org-agent-inert-list-keywords key)
        (org-agent-inert--hold place 'keyword (concat "#+" (upcase key))))))))

;;;; Tables

(defun org-agent-inert--lisp-formula-p (text)
  "Return non-nil when the formula TEXT is Lisp or over another table."
  (string-match-p "'(\\|=[ \t]*'\\|\\<remote[ \t]*(" text))

(defun org-agent-inert--formulas ()
  "Hold the cells of the table row at point that begin like such a formula."
  (let ((end (copy-marker (line-end-position) t)))
    (save-excursion
      (while (re-search-forward "|[ \t]*\\(?1::?=[^|\n]*\\)" end t)
        (let ((place (match-beginning 1)))
          (when (org-agent-inert--lisp-formula-p (match-string 1))
            (org-agent-inert--hold place 'formula "a formula in Lisp or over another table"))
          (goto-char place))))
    (set-marker end nil)))

;;;; Blocks

(defun org-agent-inert--block-begin (state)
  "Make the line at point, which begins a block, inert; STATE is its own."
  (looking-at "[ \t]*#\\(?1:\\+\\)begin_\\(?2:[^[:space:]\u2000-\u200b\n]*\\)\\(?3:[ \t]*\\)\\(?4:[^ \t\n]*\\)")
  (let* ((plus (match-beginning 1))
         (kind (downcase (match-string 2)))
         (kind-place (match-beginning 2))
         (word (match-string 4))
         (place (copy-marker (match-beginning 4) t))
         (held-already (string-prefix-p org-agent-inert-mark word))
         (unfinished (org-agent-inert--unfinished-p))
         (word (if unfinished word (org-agent-inert--in-small-letters kind word)))
         (name (and (string-match "\\`[[:alpha:]*]*" kind) (match-string 0 kind)))
         (unlisted (not (or (string-match-p "\\`\\(?:[-+:\"]\\|\\'\\)" word)
                            held-already
                            (org-agent-inert-list-language-p word))))
         (stays kind))
    (if (or (string-prefix-p "org-agent" kind)
            (member name org-agent-inert-list-tex)
            (and (not (equal name kind))
                 (member name '("src" "example" "export" "comment"))))
        (progn
          (org-agent-inert--hold plus 'language (concat "a block named " kind))
          (org-agent-inert--objects state 'text))
      (when (equal kind "verse")
        (setf (org-agent-inert-state-verse state) t))
      ;; Without the mark Org would highlight an example by that name too.
      (when (and unlisted (equal kind "src") (not unfinished))
        (setq stays "example")
        (org-agent-inert--rename-block kind-place "src" "example"))
      (when (and (or (member kind '("src"))
                     (and (equal kind "example") (or unlisted held-already))))
        (org-agent-inert--hold-arguments
         (+ place (if (string-match-p "\\`\\(?:[-+:\"]\\|\\'\\)" word) 0 (length word))))
        (unless unfinished
          (org-agent-inert--say-exports word stays)))
      (when (or unlisted
                (and (equal kind "export") (not held-already) (not (equal word ""))))
        (org-agent-inert--hold (marker-position place) 'language
                               (if (equal kind "src") (concat "the language " word)
                                 (format "the word %s behind #+begin_%s" word kind))))
      (set-marker place nil)
      (when (member kind '("src" "example" "export" "comment"))
        (setf (org-agent-inert-state-block state) kind
              (org-agent-inert-state-stays state) stays))
      ;; Without its end the line is text.
      (org-agent-inert--objects state 'text t))))

(defun org-agent-inert--in-small-letters (kind word)
  "Return WORD, which was just matched behind the KIND of a block.
If it is a listed language in other letters, write it as it is listed:
as it stands it may be the name of another function."
  (let ((small (downcase word)))
    (if (and (equal kind "src") (not (org-agent-inert-list-language-p word))
             (org-agent-inert-list-language-p small))
        (progn (replace-match small t t nil 4) small)
      word)))

(defun org-agent-inert--hold-arguments (from)
  "Hold the header arguments of the line at point, from FROM on."
  ;; From the last one on, so that the places stay right.
  (pcase-dolist (`(,place ,what) (org-agent-inert-list-held-arguments from))
    (org-agent-inert--hold place 'argument what)))

(defun org-agent-inert--objects (state context &optional opaque)
  "Hold what the line at point holds within it.
STATE is the line's, CONTEXT is as for `org-agent-inert-list-inline'.  When
OPAQUE is non-nil nothing in the line is verbatim."
  (org-agent-inert-list-inline context
                        (or opaque
                            (org-agent-inert-state-latex state)
                            (org-agent-inert-state-block state))
                        (org-agent-inert-state-formula state)
                        #'org-agent-inert--hold))

(defun org-agent-inert--rename-block (place from to)
  "Replace FROM, the type of a block, which stands at PLACE, by TO."
  (save-excursion
    (goto-char place)
    (let* ((case-fold-search nil)
           (to (if (looking-at-p "[A-Z]") (upcase to) to)))
      (delete-char (length from))
      ;; Where markers are, the name is.
      (insert-before-markers to))))

(defun org-agent-inert--say-exports (language stays)
  "Have a block of LANGUAGE say that its code is exported, where it must.
STAYS is the type of the block."
  (when (and (equal stays "src")
             (member (downcase language) org-agent-inert-list-exported-languages)
             (not (save-excursion
                    (re-search-forward "[ \t]:exports[ \t]+\\(?:code\\|none\\)[ \t]*\\(?:[ \t]:\\|$\\)"
                                       (line-end-position) t))))
    (save-excursion
      (end-of-line)
      (delete-horizontal-space)
      (insert " :exports code"))))

(defun org-agent-inert--block-line (state)
  "Make the line at point, in a block that is no Org, inert; STATE is its own.
What would end the block early gets a comma, which Org takes off."
  (let ((block (org-agent-inert-state-block state))
        (stays (org-agent-inert-state-stays state)))
    (cond
     ((and (eq (org-agent-inert--first-char) ?#)
           (looking-at "[ \t]*#\\+end_\\(src\\|example\\|export\\|comment\\)[ \t]*$")
           (equal (downcase (match-string 1)) block))
      (unless (equal block stays)
        (org-agent-inert--rename-block (match-beginning 1) block stays))
      (setf (org-agent-inert-state-block state) nil))
     (t
      (when (and (memq (org-agent-inert--first-char) '(?* ?#))
                 (not (org-agent-inert--may-end-p block))
                 (looking-at "[ \t]*\\(\\*\\|#\\+\\)"))
        (save-excursion
          (goto-char (match-beginning 1))
          (insert ",")))
      (cond
       ;; What the block stands in may end within it for Org.
       ((org-agent-inert--doubtful-p state)
        (when (looking-at "[ \t]*|")
          (org-agent-inert--formulas))
        (org-agent-inert--objects state 'text))
       ((equal stays "src") (org-agent-inert--objects state 'code))
       (t (org-agent-inert--objects state 'raw)))))))

(defun org-agent-inert--may-end-p (block)
  "Return non-nil when the line at point may become the end of BLOCK."
  (and (memq (org-agent-inert--first-char) '(nil ?#))
       (org-agent-inert--unfinished-p)
       (string-prefix-p (string-trim (buffer-substring-no-properties
                                      (point) (line-end-position)))
                        (concat "#+end_" block) t)))

(defun org-agent-inert--doubtful-p (state)
  "Return non-nil when a block at STATE may not be one for Org."
  (or (org-agent-inert-state-verse state)
      (org-agent-inert-state-drawer state)
      (org-agent-inert-state-latex state)
      (org-agent-inert-state-footnote state)))

(provide 'org-agent-inert)
;;; org-agent-inert.el ends here
