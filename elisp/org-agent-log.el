;;; org-agent-log.el --- The log and the state of the kernel  -*- lexical-binding: t; -*-

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

;; `*org-agent-log*' shows the kernel's `log.jsonl', one line for each
;; record, as it grows; what this Emacs itself has to say stands between.
;; The timer belongs to that buffer and ends with it.

;;; Code:

(require 'cl-lib)
(require 'iso8601)
(require 'json)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)

(declare-function org-agent-skill-position "org-agent-skill")

(defconst org-agent-log--tail 65536
  "Bytes of the log that are shown at first.")

(defvar-local org-agent-log--offset nil
  "The byte up to which the log was read, nil before it was.")

(defvar-local org-agent-log--rest ""
  "Bytes of a record that is not complete yet.")

(defvar-local org-agent-log--timer nil
  "The timer that looks for new records.")

(defvar org-agent-log-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (define-key map (kbd "RET") #'org-agent-log-visit)
    map)
  "Keys in the log.")

(defconst org-agent-log--place "\\(/[^:\n]+?\\.org\\):\\([0-9]+\\):\\([0-9]+\\)"
  "What the place of a fault in a note looks like.")

(define-derived-mode org-agent-log-mode special-mode "Org-Agent-Log"
  "Major mode of the agent's log, which follows the kernel's."
  (setq truncate-lines t)
  (setq-local revert-buffer-function
              (lambda (&rest _) (org-agent-log-update)))
  (add-hook 'kill-buffer-hook #'org-agent-log--stop nil t))

(defun org-agent-log ()
  "Show the agent's log, as it grows."
  (interactive)
  (let ((buffer (get-buffer-create "*org-agent-log*")))
    (with-current-buffer buffer
      (unless (derived-mode-p 'org-agent-log-mode)
        (org-agent-log-mode))
      (unless org-agent-log--timer
        (setq org-agent-log--timer
              (run-at-time 1 1 #'org-agent-log--tick buffer)))
      (org-agent-log-update)
      (goto-char (point-max)))
    (pop-to-buffer buffer)
    (goto-char (point-max))))

(defun org-agent-log--tick (buffer)
  "Look for new records if BUFFER, the log, is shown."
  (when (and (buffer-live-p buffer) (get-buffer-window buffer t))
    (with-current-buffer buffer
      (with-demoted-errors "org-agent: the log cannot be read: %S"
        (org-agent-log-update)))))

(defun org-agent-log--stop ()
  "End the buffer's timer."
  (when org-agent-log--timer
    (cancel-timer org-agent-log--timer)
    (setq org-agent-log--timer nil)))

;;;; Reading

(defun org-agent-log-update ()
  "Add the records that are new in the kernel's log."
  (let* ((file (org-agent-state-file "log.jsonl"))
         (size (file-attribute-size (file-attributes file))))
    (when size
      (when (and org-agent-log--offset (< size org-agent-log--offset))
        (setq org-agent-log--offset 0   ; a new file: the old one is full
              org-agent-log--rest ""))
      (let ((from (or org-agent-log--offset
                      (max 0 (- size org-agent-log--tail)))))
        (when (< from size)
          (org-agent-log--show
           (org-agent-log--records file from size
                                   (and (not org-agent-log--offset)
                                        (> from 0))))
          (setq org-agent-log--offset size))))))

(defun org-agent-log--records (file from to partial)
  "Return the complete records in FILE between the bytes FROM and TO.
PARTIAL says that the first one is cut off and is left out."
  (let* ((bytes (concat org-agent-log--rest
                        (with-temp-buffer
                          (set-buffer-multibyte nil)
                          (insert-file-contents-literally file nil from to)
                          (buffer-string))))
         (lines (split-string bytes "\n")))
    (setq org-agent-log--rest (car (last lines)))
    (delete "" (if partial (cdr (butlast lines)) (butlast lines)))))

(defun org-agent-log--show (records)
  "Add RECORDS, JSON in UTF-8, to the buffer, one line each.
Who is at the end of the buffer stays there."
  (let ((inhibit-read-only t)
        (at-end (eobp))
        (windows (cl-remove-if-not
                  (lambda (window) (= (window-point window) (point-max)))
                  (get-buffer-window-list nil nil t))))
    (save-excursion
      (goto-char (point-max))
      (dolist (record records)
        (insert (org-agent-log-line (decode-coding-string record 'utf-8-unix))
                "\n")))
    (when at-end (goto-char (point-max)))
    (dolist (window windows)
      (set-window-point window (point-max)))))

(defun org-agent-log-line (record)
  "Return RECORD, a JSON text, as one readable line.
What is no record is shown as it is."
  (let ((fields (ignore-errors
                  (let ((json-object-type 'alist)
                        (json-key-type 'symbol)
                        (json-array-type 'list))
                    (json-read-from-string record)))))
    (if (not (and (consp fields) (consp (car fields))))
        record
      (concat
       (org-agent-log--time (alist-get 'time fields)) " "
       (format "%-6s " (downcase (format "%s" (or (alist-get 'level fields) ""))))
       (org-agent-log--value (or (alist-get 'msg fields) ""))
       (mapconcat
        (lambda (field)
          (unless (memq (car field) '(time level msg))
            (format "  %s=%s" (car field) (org-agent-log--value (cdr field)))))
        fields "")))))

(defun org-agent-log--time (time)
  "Return TIME, as RFC 3339 has it, as the local time of the day."
  (condition-case nil
      (format-time-string "%H:%M:%S" (encode-time (iso8601-parse time)))
    (error "--:--:--")))

(defun org-agent-log--value (value)
  "Return VALUE, from JSON, on one line."
  (replace-regexp-in-string
   "[\n\r]+" " "
   (cond ((stringp value) value)
         ((eq value :json-false) "false")
         ((and (listp value) value) (json-encode value))
         (t (format "%s" value)))))

(defun org-agent-log-visit ()
  "Go to the place in a note that this line names, the one at point first."
  (interactive)
  (save-match-data
    (let ((end (line-end-position)) (here (point)) file line column)
      (save-excursion
        (forward-line 0)
        (while (and (not (and file (<= here (point))))
                    (re-search-forward org-agent-log--place end t))
          (setq file (match-string-no-properties 1)
                line (string-to-number (match-string 2))
                column (string-to-number (match-string 3)))))
      (unless file
        (user-error "This line names no place in a note"))
      (find-file-other-window file)
      (goto-char (org-agent-skill-position line column)))))

;;;; Status

(defun org-agent-status ()
  "Show how the kernel is."
  (interactive)
  (if (not (org-agent-kernel-ready-p))
      (message "No kernel is running%s; M-x org-agent-chat starts one"
               (if org-agent-kernel-trouble
                   (format " (%s)" org-agent-kernel-trouble)
                 ""))
    (org-agent-kernel-request
     "status" nil
     :success #'org-agent-log--show-status
     :failure (lambda (refusal)
                (message "org-agent: %s" (plist-get refusal :message))))))

(defun org-agent-log--show-status (status)
  "Show STATUS, the kernel's, in a help window."
  (with-help-window "*org-agent-status*"
    (with-current-buffer standard-output
      (cl-loop for (key value) on status by #'cddr
               do (insert (format "%-10s %s\n"
                                  (substring (symbol-name key) 1) value))))))

(provide 'org-agent-log)
;;; org-agent-log.el ends here
