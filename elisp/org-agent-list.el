;;; org-agent-list.el --- Parent modes of tables and unfolding lists  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The lists of conversations, subagents, usage, skills, memory and changes
;; are made with the modes and functions of this file, so that all of them
;; work alike.  A list requests its entries from the kernel and shows them
;; when they arrive, and point stays on its entry.  The header line shows
;; the keys, the first line the names of the columns, and the mode line how
;; many entries are not listed.
;;
;; A table that can be sorted uses `org-agent-list-mode', which is derived
;; from `tabulated-list-mode'.  A list whose rows unfold uses
;; `org-agent-list-sections-mode': each row is the heading of a section.

;;; Code:

(require 'cl-lib)
(require 'iso8601)
(require 'tabulated-list)
(require 'org-agent-section)

;;;; Tables

(defvar org-agent-list-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map tabulated-list-mode-map)
    (define-key map (kbd "?") #'describe-mode)
    map)
  "Keymap of all tables.")

(define-derived-mode org-agent-list-mode tabulated-list-mode "Org-Agent-List"
  "Parent mode of tables.  A derived mode calls `org-agent-list-columns'.
\\<org-agent-list-mode-map>\\[describe-mode] describes the keys, \\[tabulated-list-sort] sorts by the column at point.

\\{org-agent-list-mode-map}"
  :interactive nil
  (org-agent-section-cut-lines)
  (setq tabulated-list-sort-key nil
        tabulated-list-padding 2
        tabulated-list-use-header-line nil))

(defun org-agent-list-columns (format ask &optional keys)
  "Set the columns of the current buffer to FORMAT.
FORMAT is a `tabulated-list-format'.  The function ASK requests the
entries from the kernel and shows them.  KEYS is a string for the header
line in the format of `substitute-command-keys'."
  (setq tabulated-list-format format
        header-line-format `(:eval (org-agent-section-header
                                    nil ,keys "\\[tabulated-list-sort] sort")))
  (setq-local revert-buffer-function ask)
  (tabulated-list-init-header))

(defun org-agent-list-show (entries empty &optional note)
  "Show ENTRIES, a value of `tabulated-list-entries', in the current buffer.
If there are none, show the sentence EMPTY, as for `org-agent-list-empty'.
The mode line shows the string NOTE after the name of the mode.  Point
and the start of every window stay on their rows."
  (org-agent-list-note note)
  (setq tabulated-list-entries entries)
  (let ((places (mapcar (lambda (window)
                          (list window (org-agent-list--place (window-start window))
                                (org-agent-list--place (window-point window))))
                        (get-buffer-window-list nil nil t)))
        (point (org-agent-list--place (point))))
    (tabulated-list-print)
    (unless entries
      (with-silent-modifications
        (save-excursion
          (goto-char (point-max))
          (insert (org-agent-section-indented
                   (org-agent-list-empty empty)
                   (make-string tabulated-list-padding ?\s))))))
    (goto-char (org-agent-list--position point 2))
    (pcase-dolist (`(,window ,start ,point) places)
      (set-window-start window (org-agent-list--position start 1) t)
      (set-window-point window (org-agent-list--position point 2)))))

(defun org-agent-list--place (position)
  "Return POSITION as (ID LINE . COLUMN), where ID is that of its row."
  (save-excursion
    (goto-char (min position (point-max)))
    (cons (tabulated-list-get-id)
          (cons (line-number-at-pos) (- (point) (line-beginning-position))))))

(defun org-agent-list--position (place least)
  "Return the position of PLACE, a value of `org-agent-list--place'.
If its row is gone, return a position in the same line, or in the last
row.  LEAST is the number of the first line that is allowed."
  (pcase-let ((`(,id ,line . ,column) place))
    (save-excursion
      (goto-char (point-min))
      (while (and id (not (eobp)) (not (equal id (tabulated-list-get-id))))
        (forward-line))
      (when (or (null id) (eobp))
        (goto-char (point-min))
        (forward-line (1- (max line least)))
        (when (and (eobp) (> (line-number-at-pos) (1+ least)))
          (forward-line -1)))
      (min (+ (point) column) (line-end-position)))))

;;;; Rows that are sections

(defvar-local org-agent-list--columns nil
  "The columns of the rows: a list of (TITLE WIDTH RIGHT).
The last column has no WIDTH.  If RIGHT is non-nil, align to the right.")

(define-derived-mode org-agent-list-sections-mode org-agent-section-mode
  "Org-Agent-List"
  "Parent mode of lists whose rows unfold.
A derived mode calls `org-agent-list-rows'.

\\{org-agent-list-sections-mode-map}"
  :interactive nil
  (org-agent-section-cut-lines))

(defun org-agent-list-rows (columns ask keys)
  "Set the columns of the current buffer to COLUMNS.
COLUMNS is a list of (TITLE WIDTH RIGHT); the last has no WIDTH.  The
function ASK requests the entries from the kernel and shows them.  KEYS
is a string for the header line in the format of
`substitute-command-keys'."
  (setq org-agent-list--columns columns
        org-agent-section-keys keys)
  (setq-local revert-buffer-function ask))

(defun org-agent-list-row (type value data cells body &optional children)
  "Return a section of TYPE, VALUE and DATA whose heading shows CELLS.
BODY and CHILDREN, which may be nil, are shown when it is unfolded."
  (org-agent-section type value :data data :folded t :children children
                     :heading (org-agent-list--cells cells) :body body))

(defun org-agent-list--cells (cells)
  "Return a line that shows CELLS, strings, in the columns of this buffer."
  (cl-loop for (_ width right) in org-agent-list--columns
           for cell in cells
           for text = (replace-regexp-in-string "[\n\r\t]+" " " cell)
           concat (if width
                      (concat (org-agent-list--fitted text width right) " ")
                    text)))

(defun org-agent-list--fitted (text width right)
  "Return TEXT cut or padded to WIDTH, aligned to the right if RIGHT."
  (let* ((text (truncate-string-to-width text width nil nil "…"))
         (blanks (make-string (- width (string-width text)) ?\s)))
    (if right (concat blanks text) (concat text blanks))))

(defun org-agent-list-show-rows (rows empty &optional note)
  "Show ROWS, values of `org-agent-list-row', below the names of the columns.
EMPTY and NOTE are as for `org-agent-list-show'."
  (org-agent-list-note note)
  (org-agent-section-show
   (cons (org-agent-section
          nil 'columns
          :heading (propertize (org-agent-list--cells
                                (mapcar #'car org-agent-list--columns))
                               'face 'tabulated-list-fake-header))
         (or rows
             (list (org-agent-section nil 'empty
                                      :body (org-agent-list-empty empty)))))))

(defun org-agent-list-filled (text)
  "Return TEXT filled to 70 columns, as the body of a row.
Lines are not wrapped in these lists, since rows are cut at the edge."
  (with-temp-buffer
    (insert text)
    (let ((fill-column 70))
      (fill-region (point-min) (point-max)))
    (goto-char (point-max))
    (unless (bolp) (insert "\n"))
    (buffer-string)))

;;;; Both kinds of lists

(defface org-agent-list-good '((t :inherit success))
  "Face of states that are in order, or of work that goes on."
  :group 'org-agent-lists)

(defface org-agent-list-attention '((t :inherit warning))
  "Face of states that wait for a person or need attention."
  :group 'org-agent-lists)

(defface org-agent-list-bad '((t :inherit error))
  "Face of faults and of what is refused."
  :group 'org-agent-lists)

(defconst org-agent-list--states
  '((org-agent-list-good "running" "live" "effective" "ok" "allow" "works")
    (org-agent-list-attention "waiting for you" "warn" "ask" "keep?" "paused"
                              "retry" "not armed" "changed")
    (org-agent-list-bad "failed" "fail" "failing" "error" "refuse" "void"))
  "The words for states that have a face.")

(defun org-agent-list-state (word)
  "Return WORD, which names a state, in the face that it has in all lists."
  (propertize word 'face (or (car (cl-find word org-agent-list--states
                                           :test #'member :key #'cdr))
                             'shadow)))

(defun org-agent-list-empty (sentence)
  "Return SENTENCE as the text of a list that is empty.
It says what to do, and names keys as `substitute-command-keys' takes them."
  (propertize (org-agent-list-filled (substitute-command-keys sentence))
              'face 'shadow))

(defun org-agent-list-choices (map &rest choices)
  "Return a line of CHOICES, conses of a label and the command it calls.
Each is a button, with its key in the keymap that the symbol MAP names
before it."
  (concat
   (mapconcat
    (pcase-lambda (`(,label . ,command))
      (concat (substitute-command-keys (format "\\<%s>\\[%s]" map command))
              " "
              (make-text-button (copy-sequence label) nil
                                'follow-link t
                                'action #'org-agent-list--press
                                'org-agent-command command)))
    choices "   ")
   "\n"))

(defun org-agent-list--press (button)
  "Call the command of BUTTON where it is."
  (goto-char button)
  (call-interactively (button-get button 'org-agent-command)))

(defun org-agent-list-note (note)
  "Show NOTE, a string or nil, after the name of the mode in the mode line."
  (setq mode-line-process (and note (concat " " note))))

(defun org-agent-list-open (name mode ask)
  "Pop to the buffer NAME in MODE, made if needed, and call ASK in it."
  (with-current-buffer (get-buffer-create name)
    (unless (derived-mode-p mode)
      (funcall mode))
    (funcall ask)
    (pop-to-buffer (current-buffer))))

(defun org-agent-list-refresh (name)
  "Revert the list in the buffer NAME if a window shows it."
  (when (get-buffer-window name t)
    (with-current-buffer name
      (revert-buffer))))

(defun org-agent-list-left (result words)
  "Return a note of how many entries RESULT of the kernel left out, or nil.
WORDS is what the entries are called."
  (let ((left (or (plist-get result :left) 0)))
    (and (> left 0) (format "(%d %s, not listed)" left words))))

(defun org-agent-list-by-number (column)
  "Return a predicate that sorts entries by the number in COLUMN.
Columns count from 0.  A cell that is no number counts as 0."
  (lambda (one other)
    (< (string-to-number (aref (cadr one) column))
       (string-to-number (aref (cadr other) column)))))

(defun org-agent-list-time (time)
  "Return TIME, a string of RFC 3339, in local time."
  (condition-case nil
      (format-time-string "%Y-%m-%d %H:%M" (encode-time (iso8601-parse time)))
    (error "")))

(provide 'org-agent-list)
;;; org-agent-list.el ends here
