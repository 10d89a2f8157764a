;;; org-agent-status.el --- How the kernel is  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;; This program is free software; you can redistribute it and/or modify
;; it under the terms of the GNU General Public License as published by
;; the Free Software Foundation, either version 3 of the License, or
;; (at your option) any later version.

;; This program is distributed in the hope that it will be useful,
;; but WITHOUT ANY WARRANTY; without even the implied warranty of
;; MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the
;; GNU General Public License for more details.

;; You should have received a copy of the GNU General Public License
;; along with this program.  If not, see <https://www.gnu.org/licenses/>.

;;; Commentary:

;; `*org-agent-status*' says what runs, where and since when, what it is
;; doing, and how its models and its notes are.

;;; Code:

(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)

(declare-function org-agent-log "org-agent-log")
(declare-function org-agent-doctor "org-agent-doctor")
(declare-function org-agent-skills "org-agent-skills")
(declare-function org-agent-approvals "org-agent-approval")

(defvar org-agent-status-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (define-key map "l" #'org-agent-log)
    (define-key map "d" #'org-agent-doctor)
    (define-key map "w" #'org-agent-skills)
    (define-key map "a" #'org-agent-approvals)
    map)
  "Keys in the status.")

(define-derived-mode org-agent-status-mode special-mode "Org-Agent-Status"
  "Major mode of the state of the kernel.
\\<org-agent-status-mode-map>\\[revert-buffer] looks again, \\[org-agent-log] shows the log, \\[org-agent-doctor] looks for faults."
  (setq-local revert-buffer-function (lambda (&rest _) (org-agent-status)))
  (setq buffer-undo-list t))

(defun org-agent-status ()
  "Show how the kernel is."
  (interactive)
  (if (not (org-agent-kernel-ready-p))
      (message "No kernel is running%s; M-x org-agent-chat starts one, M-x org-agent-doctor looks for faults"
               (if org-agent-kernel-trouble
                   (format " (%s)" org-agent-kernel-trouble)
                 ""))
    (org-agent-kernel-request
     "status" nil
     :success #'org-agent-status--show
     :failure (lambda (refusal)
                (message "org-agent: %s" (plist-get refusal :message))))))

(defun org-agent-status--show (status)
  "Show STATUS, the kernel's."
  (with-current-buffer (get-buffer-create "*org-agent-status*")
    (unless (derived-mode-p 'org-agent-status-mode)
      (org-agent-status-mode))
    (let ((inhibit-read-only t)
          (line (line-number-at-pos)))
      (erase-buffer)
      (while status
        (org-agent-status--insert (pop status) (pop status)))
      (goto-char (point-min))
      (forward-line (1- line)))
    (display-buffer (current-buffer))))

(defun org-agent-status--insert (key value)
  "Insert the line, or the lines, of KEY with VALUE."
  (let ((name (substring (symbol-name key) 1)))
    (cond
     ((and (consp value) (consp (car value)))
      (insert name "\n")
      (dolist (item value)
        (insert "  " (org-agent-status--item item) "\n")))
     ((consp value)
      (insert (format "%-12s %s\n" name (mapconcat (lambda (v) (format "%s" v))
                                                   value ", "))))
     (t (insert (format "%-12s %s\n" name
                        (org-agent-status--value key value)))))))

(defun org-agent-status--value (key value)
  "Return VALUE of KEY as people read it."
  (pcase key
    ((or :memory :journal-size)
     (if (integerp value) (file-size-human-readable value 'si " " "B") value))
    (_ (replace-regexp-in-string "[\n\r]+" " " (format "%s" value)))))

(defun org-agent-status--item (plist)
  "Return PLIST on one line: the values, what is not obvious with its name."
  (let (parts)
    (while plist
      (let ((key (pop plist)) (value (pop plist)))
        (when value
          (push (pcase key
                  ((or :name :state) (string-remove-prefix ":" (format "%s" value)))
                  (_ (format "%s %s" (substring (symbol-name key) 1) value)))
                parts))))
    (replace-regexp-in-string "[\n\r]+" " "
                              (string-join (nreverse parts) "  "))))

(provide 'org-agent-status)
;;; org-agent-status.el ends here
