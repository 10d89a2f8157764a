;;; org-agent-list.el --- What our lists have in common  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The lists of what the kernel knows are the same kind of buffer: the
;; kernel is asked, its answer is shown when it comes, and point stays on
;; what it was on.  The header line shows the keys, the first line names
;; the columns, and the mode line says what is not listed.
;;
;; What is a table, to be sorted, is in `org-agent-list-mode', which is
;; that of `tabulated-list-mode'.  What has more to say than a row holds is
;; in `org-agent-list-sections-mode': each row is the heading of a section.

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
  "Keys in every table.")

(define-derived-mode org-agent-list-mode tabulated-list-mode "Org-Agent-List"
  "Parent mode of the tables of what the kernel knows.
A mode of its own calls `org-agent-list-columns'.
\\<org-agent-list-mode-map>\\[describe-mode] tells the keys, \\[tabulated-list-sort] sorts by the column at point.

\\{org-agent-list-mode-map}"
  (setq tabulated-list-sort-key nil
        tabulated-list-padding 2
        tabulated-list-use-header-line nil))

(defun org-agent-list-columns (format ask &optional keys)
  "Have columns as FORMAT, a `tabulated-list-format', in the current buffer.
ASK asks the kernel for what is listed, and shows it.  KEYS are the
mode's for the header line, as `substitute-command-keys' takes them."
  (setq tabulated-list-format format
        header-line-format `(:eval (org-agent-section-header
                                    ,keys "\\[tabulated-list-sort] sort")))
  (setq-local revert-buffer-function ask)
  (tabulated-list-init-header))

(defun org-agent-list-show (entries &optional note)
  "Show ENTRIES, as `tabulated-list-entries' has them, in the current buffer.
NOTE, a string, stands behind the mode's name in the mode line.  Point,
that of every window, and what each shows stay on their rows."
  (org-agent-list-note note)
  (setq tabulated-list-entries entries)
  (let ((places (mapcar (lambda (window)
                          (list window (org-agent-list--place (window-start window))
                                (org-agent-list--place (window-point window))))
                        (get-buffer-window-list nil nil t)))
        (point (org-agent-list--place (point))))
    (tabulated-list-print)
    (goto-char (org-agent-list--position point 2))
    (pcase-dolist (`(,window ,start ,point) places)
      (set-window-start window (org-agent-list--position start 1) t)
      (set-window-point window (org-agent-list--position point 2)))))

(defun org-agent-list--place (position)
  "Return what POSITION is on: (ID LINE . COLUMN)."
  (save-excursion
    (goto-char (min position (point-max)))
    (cons (tabulated-list-get-id)
          (cons (line-number-at-pos) (- (point) (line-beginning-position))))))

(defun org-agent-list--position (place least)
  "Return where PLACE, see `org-agent-list--place', is by now.
A row that is gone leaves its place to that in its line, of which LEAST
is the first."
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
  "The columns of the rows: a list of (TITLE WIDTH), the last without WIDTH.
With a third element, non-nil, a column stands at its right.")

(define-derived-mode org-agent-list-sections-mode org-agent-section-mode
  "Org-Agent-List"
  "Parent mode of the lists whose rows unfold.
A mode of its own calls `org-agent-list-rows'.

\\{org-agent-list-sections-mode-map}"
  (setq truncate-lines t))

(defun org-agent-list-rows (columns ask keys)
  "Have rows of COLUMNS in the current buffer.
COLUMNS is a list of (TITLE WIDTH RIGHT); the last has no width.  ASK
asks the kernel for what is listed, and shows it.  KEYS are the mode's
for the header line, as `substitute-command-keys' takes them."
  (setq org-agent-list--columns columns
        org-agent-section-keys keys)
  (setq-local revert-buffer-function ask))

(defun org-agent-list-row (type value data cells body &optional children)
  "Return the section of TYPE, VALUE and DATA whose heading shows CELLS.
BODY and CHILDREN are what TAB unfolds, or nil."
  (org-agent-section type value :data data :folded t :children children
                     :heading (org-agent-list--cells cells) :body body))

(defun org-agent-list--cells (cells)
  "Return CELLS, strings, in the columns of this buffer."
  (cl-loop for (_ width right) in org-agent-list--columns
           for cell in cells
           for text = (replace-regexp-in-string "[\n\r\t]+" " " cell)
           concat (if width
                      (concat (org-agent-list--fitted text width right) " ")
                    text)))

(defun org-agent-list--fitted (text width right)
  "Return TEXT in WIDTH columns, at their RIGHT if that is non-nil."
  (let* ((text (truncate-string-to-width text width nil nil "…"))
         (blanks (make-string (- width (string-width text)) ?\s)))
    (if right (concat blanks text) (concat text blanks))))

(defun org-agent-list-show-rows (rows &optional note)
  "Show ROWS, of `org-agent-list-row', below the names of the columns.
NOTE is as for `org-agent-list-show'."
  (org-agent-list-note note)
  (org-agent-section-show
   (cons (org-agent-section
          nil 'columns
          :heading (propertize (org-agent-list--cells
                                (mapcar #'car org-agent-list--columns))
                               'face 'tabulated-list-fake-header))
         rows)))

(defun org-agent-list-filled (text)
  "Return TEXT in lines of 70 columns, for what unfolds below a row.
It is made so since the rows themselves are cut at the window's edge."
  (with-temp-buffer
    (insert text)
    (let ((fill-column 70))
      (fill-region (point-min) (point-max)))
    (goto-char (point-max))
    (unless (bolp) (insert "\n"))
    (buffer-string)))

;;;; What both have

(defun org-agent-list-note (note)
  "Have NOTE, a string or nil, stand behind the mode's name in the mode line."
  (setq mode-line-process (and note (concat " " note))))

(defun org-agent-list-open (name mode ask)
  "Select the buffer NAME in MODE, made if there is none; there, call ASK."
  (with-current-buffer (get-buffer-create name)
    (unless (derived-mode-p mode)
      (funcall mode))
    (funcall ask)
    (pop-to-buffer (current-buffer))))

(defun org-agent-list-refresh (name)
  "Ask the kernel again for the list in the buffer NAME, if a window shows it."
  (when (get-buffer-window name t)
    (with-current-buffer name
      (revert-buffer))))

(defun org-agent-list-left (result words)
  "Return how much RESULT of the kernel left out, with WORDS; nil if nothing."
  (let ((left (or (plist-get result :left) 0)))
    (and (> left 0) (format "(%d %s, not listed)" left words))))

(defun org-agent-list-by-number (column)
  "Return a predicate that sorts entries by the number in COLUMN.
Columns count from 0; what is no number counts as 0."
  (lambda (one other)
    (< (string-to-number (aref (cadr one) column))
       (string-to-number (aref (cadr other) column)))))

(defun org-agent-list-time (time)
  "Return TIME, as RFC 3339 has it, as the local time."
  (condition-case nil
      (format-time-string "%Y-%m-%d %H:%M" (encode-time (iso8601-parse time)))
    (error "")))

(provide 'org-agent-list)
;;; org-agent-list.el ends here
