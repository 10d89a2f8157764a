;;; org-agent-list.el --- What our lists have in common  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The lists of conversations, of results, of skills and of usage are the
;; same kind of buffer: the kernel is asked, its answer is shown when it
;; comes, point stays on the line it was on, and the mode line says what
;; is not listed.

;;; Code:

(require 'iso8601)
(require 'tabulated-list)

(define-derived-mode org-agent-list-mode tabulated-list-mode "Org-Agent-List"
  "Parent mode of the lists of what the kernel knows.
A mode of its own calls `org-agent-list-columns'."
  (setq tabulated-list-sort-key nil))

(defun org-agent-list-columns (format ask)
  "Have columns as FORMAT, a `tabulated-list-format', in the current buffer.
ASK asks the kernel for what is listed, and shows it."
  (setq tabulated-list-format format)
  (setq-local revert-buffer-function ask)
  (tabulated-list-init-header))

(defun org-agent-list-open (name mode ask)
  "Select the buffer NAME in MODE, made if there is none; there, call ASK."
  (with-current-buffer (get-buffer-create name)
    (unless (derived-mode-p mode)
      (funcall mode))
    (funcall ask)
    (pop-to-buffer (current-buffer))))

(defun org-agent-list-show (entries &optional note)
  "Show ENTRIES, as `tabulated-list-entries' has them, in the current buffer.
NOTE, a string, stands behind the mode's name in the mode line."
  (setq mode-line-process (and note (concat " " note))
        tabulated-list-entries entries)
  (tabulated-list-print t))

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
