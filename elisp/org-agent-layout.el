;;; org-agent-layout.el --- Titles, lists, blocks and tables on a page  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; This file lays out what stands in an answer beside its paragraphs.  A
;; title that only repeats how the text begins is its beginning.  Thoughts
;; and calls are one line each.  Code stands on a band, below the name of
;; its language.  A quotation has a bar before it.  The rules of a table
;; are thin, and a table that is wider than the window has the text of its
;; cells wrapped, so that its columns stay columns.
;;
;; Nothing in the buffer changes for that.  The functions are called by the
;; font lock of `org-agent-page-setup', behind the rules of Org, and set text
;; properties.  The faces that Org has set say what is a block or a table.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-heading)

(declare-function org-agent-fold-change "org-agent-fold")

(defvar org-level-faces)

(defface org-agent-layout-code
  '((((class color) (min-colors 88) (background light))
     :background "#f4f4f4" :extend t)
    (((class color) (min-colors 88) (background dark))
     :background "#1c1c1e" :extend t))
  "Face of the lines of code: a band as wide as the window."
  :group 'org-agent-page)

(defface org-agent-layout-language
  '((t :inherit (shadow org-agent-layout-code)))
  "Face of the name of a language above code."
  :group 'org-agent-page)

(defface org-agent-layout-rule '((t :inherit shadow))
  "Face of rules: those of tables, beside quotations and across the page."
  :group 'org-agent-page)

(defface org-agent-layout-table
  '((((class color) (min-colors 88) (background light)) :foreground "#1c1c1c")
    (((class color) (min-colors 88) (background dark)) :foreground "#e4e4e4"))
  "Face of the text of tables, before that of Org."
  :group 'org-agent-page)

(defface org-agent-layout-table-title '((t :inherit bold))
  "Face of the titles of the columns of a table."
  :group 'org-agent-page)

(defun org-agent-layout-glyph (string simpler)
  "Return STRING, or SIMPLER where it cannot be displayed.
Leave the match data alone: where a font is looked for the first time,
other functions may match."
  (if (save-match-data (cl-every #'char-displayable-p string)) string simpler))

(defun org-agent-layout-hide (beg end)
  "Hide the text from BEG to END."
  (put-text-property beg end 'invisible 'org-agent-page))

(defun org-agent-layout--face-p (position face)
  "Return non-nil when FACE is one of the faces at POSITION."
  (memq face (flatten-tree (get-text-property position 'face))))

;;;; The width

(defcustom org-agent-layout-width 100
  "How many columns a conversation that is shown as a page has at most.
In a wider window the rest stays empty, since long lines are hard to
read.  nil means that a page is as wide as its window."
  :type '(choice (const :tag "As wide as the window" nil) natnum)
  :group 'org-agent-page
  :package-version '(org-agent . "0.1.0"))

(defvar-local org-agent-layout--limited t
  "Non-nil means that the text of this buffer has at most that many columns.")

(defun org-agent-layout-limit (limited)
  "Limit the width of the text of this buffer if LIMITED is non-nil."
  (setq org-agent-layout--limited limited)
  (mapc #'org-agent-layout--fit (get-buffer-window-list nil nil t)))

(defun org-agent-layout--fit (window)
  "Leave so much of WINDOW empty that its text is as wide as is wanted.
Emacs gives the room back when the window shows another buffer."
  (when (windowp window)
    (pcase-let* ((`(,left . ,right) (window-margins window))
                 (room (+ (window-body-width window) (or right 0)))
                 (rest (if (and org-agent-layout-width org-agent-layout--limited)
                           (max 0 (- room (max 20 org-agent-layout-width)))
                         0)))
      (unless (= rest (or right 0))
        ;; Otherwise a window with a wide margin could not be split.
        (set-window-parameter window 'min-margins '(0 . 0))
        (set-window-margins window left rest)))))

;;;; Titles

(defconst org-agent-layout--properties-regexp
  "[ \t]*:PROPERTIES:[ \t]*\n\\(?:[ \t]*:.*\n\\)*?[ \t]*:END:[ \t]*\n"
  "Matches the properties of a heading and the end of their last line.")

(defconst org-agent-layout--drawers-regexp
  "\\(?:[ \t]*:\\(?:THOUGHTS\\|COMMENTARY\\|CALLS\\):[ \t]*\n\\(?:[ \t]*:.*\n\\)*?[ \t]*:END:[ \t]*\n\\)+"
  "Matches what was thought, said and called, and the end of its last line.")

(defun org-agent-layout--repeated (stars title-end end)
  "Return where the text begins that the title from STARS to TITLE-END repeats.
The heading ends at END.  The result is (FROM . TEXT): thoughts and calls
stand between the two.  TEXT is nil when only the text has markup."
  (when (eq (char-before title-end) ?…)
    (let ((words (buffer-substring-no-properties stars (1- title-end))))
      (save-excursion
        (goto-char (min (1+ end) (point-max)))
        (when (looking-at org-agent-layout--properties-regexp)
          (goto-char (match-end 0)))
        (let ((from (point)))
          (when (let ((case-fold-search t))
                  (looking-at org-agent-layout--drawers-regexp))
            (goto-char (match-end 0)))
          (cond ((looking-at-p (regexp-quote words)) (cons from (point)))
                ((org-agent-heading-excerpt-p words) (list from))))))))

(defun org-agent-layout-joined (beg stars title-end end)
  "Show the title from STARS to TITLE-END as the beginning of the text below.
That is for a title that only repeats how the text begins.  The heading
is from BEG to END.  Where thoughts, calls or markup come first, the
title is seen only while the answer is folded.
Return nil when it is a title, or has something to say."
  (when (or (= title-end end) (invisible-p title-end))
    (pcase (org-agent-layout--repeated stars title-end end)
      ('nil nil)
      (`(,from . ,text)
       (cond ((eql from text)
              (org-agent-layout-hide (1- title-end)
                                     (+ text (- title-end 1 stars)))
              (org-agent-layout--plain stars (1- title-end))
              t)
             ((not (org-agent-layout--folded-p from))
              (org-agent-layout-hide beg from)
              t))))))

(defun org-agent-layout-mark (beg stars title-end end mark)
  "Show MARK, not a title from STARS to TITLE-END that repeats a text.
BEG to END is the heading.  Return nil for a title or a folded answer."
  (when-let* ((repeated (org-agent-layout--repeated stars title-end end))
              ((not (org-agent-layout--folded-p (car repeated)))))
    (put-text-property beg end 'display mark)
    t))

(defun org-agent-layout--folded-p (position)
  "Return non-nil when the text at POSITION is in a folded subtree."
  (if (fboundp 'org-fold-folded-p)      ; Org 9.6
      (funcall 'org-fold-folded-p position 'outline)
    (eq (get-char-property position 'invisible) 'outline)))

(defun org-agent-layout--plain (beg end)
  "Take the faces of headings away from the text between BEG and END."
  (while (< beg end)
    (let ((next (next-single-property-change beg 'face nil end)))
      (put-text-property
       beg next 'face
       (cl-remove-if (lambda (face) (memq face org-level-faces))
                     (ensure-list (get-text-property beg 'face))))
      (setq beg next))))

;;;; Lists

(defun org-agent-layout-lists (from limit)
  "Have the items of lists between FROM and LIMIT wrapped below their text."
  (goto-char from)
  (while (re-search-forward "^[ \t]*\\(?:[-+]\\|[0-9]+[.)]\\)[ \t]+" limit t)
    (put-text-property (match-beginning 0) (line-end-position) 'wrap-prefix
                       (make-string (current-column) ?\s))))

;;;; Blocks

(defconst org-agent-layout--code '("src" "example" "export")
  "The types of blocks that have text which is not Org.")

(defconst org-agent-layout--quoted '("quote" "verse")
  "The types of blocks that have a bar before them.")

(defconst org-agent-layout--begin-regexp
  "^[ \t]*#\\+begin_\\([[:alpha:]]+\\)[ \t]*\\(.*\\)\n"
  "Matches the first line of a block: its type, and what follows that.")

(defun org-agent-layout-blocks (from limit)
  "Lay out the blocks that begin between FROM and LIMIT.
As Org does, look for their ends behind LIMIT, too."
  (goto-char from)
  (while (re-search-forward org-agent-layout--begin-regexp limit t)
    (let* ((type (downcase (match-string-no-properties 1)))
           (code (member type org-agent-layout--code))
           (beg (match-beginning 0)) (rest (match-beginning 2)) (body (match-end 0))
           (end (next-single-property-change beg 'font-lock-multiline)))
      (when (and end
                 (or code (member type org-agent-layout--quoted))
                 (org-agent-layout--face-p beg 'org-block-begin-line))
        (save-excursion
          (org-agent-layout--prefix beg body end code)
          (org-agent-layout--begin beg rest body code)
          (when code
            (org-agent-layout--escapes body end))
          (org-agent-layout--end end code)
          (when code
            (org-agent-fold-change beg body end)))))))

(defconst org-agent-layout--recent 4000
  "How many characters of a block that is being written are looked at.")

(defun org-agent-layout-code-p ()
  "Return non-nil when a block of code begins at point.
The match data is that of its first line."
  (and (looking-at org-agent-layout--begin-regexp)
       (member (downcase (match-string-no-properties 1))
               org-agent-layout--code)))

(defun org-agent-layout-open-block (beg end)
  "Lay out the code of the block from BEG to END, which has no end yet.
Org does not take it for a block before that."
  (goto-char beg)
  (when (org-agent-layout-code-p)
    (let ((rest (match-beginning 2)) (body (match-end 0)))
      (org-agent-layout--prefix beg body end t)
      (org-agent-layout--begin beg rest body t)
      (let ((from (max body (- end org-agent-layout--recent))))
        (org-agent-layout--escapes from end)
        (while (setq from (text-property-any from end 'face nil))
          (put-text-property from (next-single-property-change from 'face nil end)
                             'face 'org-block))))))

(defun org-agent-layout--escapes (beg end)
  "Hide the commas with which Org escapes lines of code between BEG and END."
  (goto-char beg)
  (while (re-search-forward "^[ \t]*\\(,\\),*\\(?:\\*\\|#\\+\\)" end t)
    (org-agent-layout-hide (match-beginning 1) (match-end 1))))

(defun org-agent-layout--begin (beg rest body code)
  "Lay out the first line of a block, from BEG to its BODY.
What stands from REST on, as the name of a language, is shown.  CODE is
non-nil if the block has code."
  (if (= (1+ rest) body)
      (org-agent-layout-hide beg body)
    (org-agent-layout-hide beg rest)
    (put-text-property beg body 'face (and code 'org-agent-layout-language))))

(defun org-agent-layout--end (end code)
  "Lay out the last line of a block, which ends at END.
CODE is non-nil if the block has code."
  (goto-char end)
  (forward-line 0)
  (when (org-agent-layout--face-p (point) 'org-block-end-line)
    ;; The end of this line is that of the last line of the body.
    (org-agent-layout-hide (1- (point)) end)
    ;; So it looks like that end, as that of a line of a difference does.
    (put-text-property (point) (min (point-max) (1+ end)) 'face
                       (if code (get-text-property (1- (point)) 'face)))))

(defun org-agent-layout--prefix (beg body end code)
  "Set what stands before the lines of the block from BEG to END.
Its text begins at BODY.  CODE is non-nil if the block has code."
  (let ((prefix (if code
                    (propertize " " 'face 'org-block)
                  (propertize (org-agent-layout-glyph "▎ " "| ")
                              'face 'org-agent-layout-rule))))
    (goto-char body)
    ;; What a list has in it is indented, but the text of a block need not be.
    (unless (looking-at-p "[ \t]")
      (goto-char beg)
      (skip-chars-forward " \t")
      (setq prefix (concat (buffer-substring-no-properties beg (point)) prefix)))
    (put-text-property beg end 'line-prefix prefix)
    (put-text-property beg end 'wrap-prefix
                       (if code
                           (concat prefix (propertize "    " 'face 'org-block))
                         prefix))))

(defun org-agent-layout-rules (from limit)
  "Draw the rules across the page that are between FROM and LIMIT."
  (goto-char from)
  (while (re-search-forward "^-----+[ \t]*$" limit t)
    (unless (org-agent-layout--face-p (match-beginning 0) 'org-block)
      (add-text-properties (match-beginning 0) (match-end 0)
                           '(face (:inherit org-agent-layout-rule :underline t)
                                  display (space :align-to right))))))

;;;; Tables

(defun org-agent-layout-start (position)
  "Return where to begin if the text from POSITION on is laid out anew.
How a row looks depends on whether another row or a rule is below it."
  (save-excursion
    (goto-char position)
    (if (and (looking-at-p "[ \t]*|")
             (zerop (forward-line -1))
             (looking-at-p "[ \t]*|"))
        (point)
      position)))

(defvar-local org-agent-layout--room nil
  "For how many columns the tables of this buffer were laid out.")

(defvar-local org-agent-layout--widest 0
  "The width of the widest row of a table that was laid out.")

(defconst org-agent-layout--narrowest 8
  "Columns that are narrower than this are no help.
A table with so many columns that they were is cut at the edge.")

(defun org-agent-layout--above (window)
  "Highlight the text above what WINDOW shows before it is displayed.
Emacs looks upwards for where a window begins.  It does not come to an
end, and cannot be quit, if the line at which it is gets hidden when it
is highlighted, down to a line end that is displayed as two."
  (when jit-lock-mode
    ;; That many characters have as many lines, with what is hidden.
    (let ((reach (* 300 (window-body-height window))))
      (dolist (end (list (window-start window) (window-point window)))
        (setq end (min end (point-max)))
        (when-let* ((beg (text-property-any (max (point-min) (- end reach)) end
                                            'fontified nil)))
          (jit-lock-fontify-now beg end))))))

(defun org-agent-layout-setup ()
  "Limit the width, and lay out tables anew when that of a window changes.
Highlight what is above a window before it is shown."
  (setq-local face-remapping-alist
              (append '((org-block org-agent-layout-code)
                        (org-table org-agent-layout-table org-table))
                      face-remapping-alist))
  (add-hook 'pre-redisplay-functions #'org-agent-layout--above nil t)
  (add-hook 'window-buffer-change-functions #'org-agent-layout--fit nil t)
  (add-hook 'window-size-change-functions #'org-agent-layout--fit nil t)
  (add-hook 'window-configuration-change-hook #'org-agent-layout--resized nil t)
  (add-hook 'window-size-change-functions #'org-agent-layout--grown nil t))

(defun org-agent-layout--grown (window)
  "Have WINDOW, which has become taller, show more of what is above the end.
Emacs scrolls a window that becomes smaller, to show point.  When the
other window is gone again, it would leave the room below the end empty."
  (when (and (windowp window)
             (< 0 (window-old-body-pixel-height window)
                (window-body-height window t))
             (pos-visible-in-window-p (window-point window) window))
    (with-current-buffer (window-buffer window)
      (when (pos-visible-in-window-p (point-max) window)
        (save-excursion
          (goto-char (point-max))
          (vertical-motion (- 1 (window-body-height window)) window)
          (when (< (point) (window-start window))
            (set-window-start window (point) t)))))))

(defun org-agent-layout--measure ()
  "Return for how many columns to lay out: those of the narrowest window.
Without a window that is what was measured last, or nil."
  (let ((windows (get-buffer-window-list nil 'no-minibuffer 'visible)))
    (if windows
        (apply #'min (mapcar #'window-max-chars-per-line windows))
      org-agent-layout--room)))

(defun org-agent-layout--resized ()
  "Have tables laid out anew if that changes how they look."
  (let ((room (org-agent-layout--measure)))
    (when (and room org-agent-layout--room
               (/= room org-agent-layout--room)
               (> org-agent-layout--widest (min room org-agent-layout--room)))
      (font-lock-flush))))

(defun org-agent-layout-tables (from limit)
  "Lay out the tables between FROM and LIMIT.
A row is laid out by itself: all rows of a table that is aligned are
equally wide, and so are their cells."
  (goto-char from)
  (let ((measured nil))
    (while (re-search-forward "^[ \t]*\\(|\\).*$" limit t)
      (let ((beg (match-beginning 1)) (end (match-end 0)))
        (when (org-agent-layout--face-p beg 'org-table)
          (unless measured
            (setq org-agent-layout--room (org-agent-layout--measure)
                  measured t))
          (save-excursion (org-agent-layout--row beg end)))
        (goto-char end)))))

(defun org-agent-layout--row (beg end)
  "Lay out the row of a table from BEG to END."
  (goto-char beg)
  (let ((rule (eq (char-after (1+ beg)) ?-)))
    (cond
     ((looking-at-p "|\\(?:[ \t]*\\(?:<[lrc]?[0-9]*>\\)?[ \t]*|\\)+[ \t]*$")
      (org-agent-layout--cookies beg end))
     (t
      (when (and (not rule)
                 (progn (goto-char end) (zerop (forward-line)))
                 (looking-at-p "[ \t]*|-"))
        (add-face-text-property beg end 'org-agent-layout-table-title))
      (let* ((cells (org-agent-layout--cells beg end rule))
             (widths (mapcar #'cadr cells))
             (width (+ 1 (apply #'+ widths) (* 3 (length cells))
                       (save-excursion (goto-char beg) (current-indentation)))))
        (setq org-agent-layout--widest (max org-agent-layout--widest width))
        (cond
         ((or (null org-agent-layout--room) (<= width org-agent-layout--room))
          (if rule
              (put-text-property beg end 'display (org-agent-layout--rule widths))
            (org-agent-layout--narrow-row end cells)))
         (t (org-agent-layout--wide-row beg end cells rule))))))))

(defun org-agent-layout--cookies (beg end)
  "Hide the row from BEG to END if it only says how columns are aligned."
  (goto-char beg)
  (when (search-forward "<" end t)
    (org-agent-layout-hide (line-beginning-position) (min (point-max) (1+ end)))))

(defun org-agent-layout--cells (beg end rule)
  "Return the cells of the row from BEG to END, a list of (BEG WIDTH END).
WIDTH is that of the text without the blanks at both sides.  RULE is
non-nil when the row is a rule."
  (let ((cells nil) (bars (if rule "+|" "|")))
    (goto-char (1+ beg))
    (while (< (point) end)
      (let ((from (point)))
        (skip-chars-forward (concat "^" bars "\n"))
        (push (list from (max 1 (- (org-agent-layout--width from (point)) 2)) (point))
              cells)
        (forward-char (if (< (point) end) 1 0))
        (when (looking-at-p "[ \t]*$")
          (goto-char end))))
    (nreverse cells)))

(defun org-agent-layout--width (beg end)
  "Return how wide the text from BEG to END is in an aligned table.
The markers of emphasis count, although they are not seen."
  (let ((width 0))
    (while (< beg end)
      (let ((next (next-single-property-change beg 'invisible nil end)))
        (when (or (not (invisible-p beg)) (get-text-property beg 'org-emphasis))
          (cl-incf width (string-width (buffer-substring-no-properties beg next))))
        (setq beg next)))
    width))

(defun org-agent-layout--seen (beg end)
  "Return what one sees of the text from BEG to END, with its faces."
  (let ((seen nil))
    (while (< beg end)
      (let ((next (next-single-property-change beg 'invisible nil end)))
        (unless (invisible-p beg)
          (push (buffer-substring beg next) seen))
        (setq beg next)))
    (apply #'concat (nreverse seen))))

(defun org-agent-layout--bar ()
  "Return what stands between two cells."
  (propertize (org-agent-layout-glyph "│" "|") 'face 'org-agent-layout-rule))

(defun org-agent-layout--rule (widths)
  "Return a rule across cells of WIDTHS."
  (let ((dash (org-agent-layout-glyph "─" "-")))
    (propertize
     (concat (org-agent-layout-glyph "├" "|")
             (mapconcat (lambda (width) (string-join (make-list (+ 2 width) dash)))
                        widths (org-agent-layout-glyph "┼" "+"))
             (org-agent-layout-glyph "┤" "|"))
     'face 'org-agent-layout-rule)))

(defun org-agent-layout--narrow-row (end cells)
  "Lay out the row up to END, whose CELLS have room beside each other."
  (let ((bar (org-agent-layout--bar)))
    (pcase-dolist (`(,from ,_ ,to) cells)
      ;; Two bars side by side would be one if they were the same string.
      (put-text-property (1- from) from 'display (copy-sequence bar))
      (org-agent-layout--markers from to))
    (when (eq (char-before end) ?|)
      (put-text-property (1- end) end 'display (copy-sequence bar)))))

(defun org-agent-layout--markers (beg end)
  "Make up for the hidden markers of emphasis in the cell from BEG to END.
A blank beside the text gets wider, so that columns stay aligned."
  (let ((hidden 0) (next beg))
    (while (setq next (text-property-any next end 'invisible t))
      (let ((after (next-single-property-change next 'invisible nil end)))
        (cl-incf hidden (- after next))
        (setq next after)))
    (when (> hidden 0)
      (goto-char end)
      (let* ((behind (- (skip-chars-backward " " beg)))
             (before (progn (goto-char beg) (skip-chars-forward " " end)))
             (blank (cond ((and (= behind 1) (> before 1)) beg)
                          ((> behind 0) (1- end)))))
        (if blank
            (put-text-property blank (1+ blank) 'display
                               (make-string (1+ hidden) ?\s))
          (remove-text-properties beg end '(invisible t)))))))

(defun org-agent-layout--wide-row (beg end cells rule)
  "Lay out the row from BEG to END, whose CELLS have no room.
RULE is non-nil when it is a rule.  Each line of the row on the screen has
a character of its own in the buffer, so that one can go through them."
  (let* ((indentation (save-excursion (goto-char beg) (current-indentation)))
         (widths (org-agent-layout--fitted
                  (mapcar #'cadr cells)
                  (- org-agent-layout--room indentation 1 (* 3 (length cells)))))
         (lines (cond
                 ((null widths)
                  (list (org-agent-layout--cut end cells rule indentation)))
                 (rule (list (org-agent-layout--rule widths)))
                 (t (org-agent-layout--spaced
                     (org-agent-layout--lines cells widths) end)))))
    ;; What it has of links is for text that is not seen now.
    (remove-list-of-text-properties beg end '(keymap mouse-face))
    (while lines
      (let ((line (pop lines)))
        (put-text-property
         beg (if lines (1+ beg) end) 'display
         (if lines
             (concat line "\n" (make-string indentation ?\s))
           line))
        (setq beg (1+ beg))))))

(defun org-agent-layout--fitted (widths room)
  "Return WIDTHS of columns, the widest of them smaller, for a ROOM of columns.
Return nil if they were too narrow to be of use."
  (let ((left room) (count (length widths)) (most 0))
    ;; What narrow columns leave of their share, wide ones get.
    (cl-dolist (width (sort (copy-sequence widths) #'<))
      (setq most (/ left count))
      (when (> width most)
        (cl-return))
      (setq left (- left width)
            count (1- count)))
    (unless (< most org-agent-layout--narrowest)
      (mapcar (lambda (width) (min width most)) widths))))

(defun org-agent-layout--lines (cells widths)
  "Return the lines of a row with CELLS that are wrapped to WIDTHS."
  (let* ((columns (cl-loop for (beg _ end) in cells
                           for width in widths
                           collect (org-agent-layout--wrapped
                                    (string-trim (org-agent-layout--seen beg end)) width)))
         (rights (mapcar (lambda (cell)
                           (string-match-p "\\`  +[^ ]\\(?:.*[^ ]\\)? \\'"
                                           (buffer-substring-no-properties
                                            (nth 0 cell) (nth 2 cell))))
                         cells))
         (bar (org-agent-layout--bar)))
    (cl-loop for line below (apply #'max (mapcar #'length columns))
             collect (concat
                      bar
                      (cl-loop for column in columns
                               for width in widths
                               for right in rights
                               for text = (or (nth line column) "")
                               for blanks = (make-string
                                             (max 0 (- width (string-width text))) ?\s)
                               concat (concat " " (and right blanks) text
                                              (unless right blanks) " " bar))))))

(defun org-agent-layout--spaced (lines end)
  "Return LINES of the row that ends at END, with room before the next row.
One line needs none, and before a rule there is enough."
  (if (and (cdr lines)
           (save-excursion
             (goto-char end)
             (and (zerop (forward-line)) (looking-at-p "[ \t]*|[^-]"))))
      (append lines
              (list (replace-regexp-in-string "[^│|]" " " (car lines))))
    lines))

(defun org-agent-layout--wrapped (text width)
  "Return the lines of TEXT, filled to WIDTH between words."
  (let ((lines nil))
    (while (> (string-width text) width)
      (let* ((most (max 1 (length (truncate-string-to-width text width))))
             (blank (string-match-p " [^ ]*\\'" (substring text 0 (1+ most))))
             (at (if (and blank (> blank 0)) blank most)))
        (push (substring text 0 at) lines)
        (setq text (string-trim-left (substring text at)))))
    (nreverse (cons text lines))))

(defun org-agent-layout--cut (end cells rule indentation)
  "Return what there is room for of the row up to END with CELLS.
RULE is non-nil when it is a rule.  INDENTATION stands before it."
  (truncate-string-to-width
   (if rule
       (org-agent-layout--rule (mapcar #'cadr cells))
     (org-agent-layout--narrow-row end cells)
     (car (org-agent-layout--lines cells (mapcar #'cadr cells))))
   (- org-agent-layout--room indentation) nil nil
   (propertize (org-agent-layout-glyph "…" "$") 'face 'org-agent-layout-rule)))

(provide 'org-agent-layout)
;;; org-agent-layout.el ends here
