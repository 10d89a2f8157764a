;;; org-agent-log.el --- Follow the kernel's log  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The buffer `*org-agent-log*' shows the kernel's log, one line for each
;; record, and the messages of this Emacs between them.  The kernel sends
;; each record when it is written (`log/tail' and `log' on the wire), so
;; that nothing is polled, and the file may be on another machine.  Lines
;; can be filtered by level, session, turn and text; the header line shows
;; the filter.  Without a kernel, the program `org-agent' reads the file
;; once.

;;; Code:

(require 'cl-lib)
(require 'iso8601)
(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-section)

(declare-function org-agent-skill-position "org-agent-skill")
(declare-function org-agent-why "org-agent-explain")

(defcustom org-agent-log-lines 500
  "The number of lines that the log shows when it is opened."
  :type 'integer
  :group 'org-agent-inside
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-log--most 5000
  "The number of lines that the buffer keeps; the oldest are deleted.")

(defvar-local org-agent-log--level "info"
  "The lowest level that is shown.")

(defvar-local org-agent-log--session nil
  "The session whose lines are shown, or nil for all.")

(defvar-local org-agent-log--turn nil
  "The turn whose lines are shown, or nil for all.")

(defvar-local org-agent-log--text nil
  "A text that all shown lines contain, or nil.")

(defvar-local org-agent-log--paused nil
  "Non-nil while the log is not followed.")

(defvar-local org-agent-log--mark 0
  "The number of the latest request; records for others are ignored.")

(defvar-local org-agent-log--asked nil
  "The number of the request whose result has not arrived, or nil.")

(defvar-local org-agent-log--early nil
  "Records that arrived before the result of the request, newest first.")

(defvar-local org-agent-log--last nil
  "The record that was shown last.")

(defvar-local org-agent-log--left nil
  "Non-nil if the log has older lines than the buffer.")

(defface org-agent-log-warning '((t :inherit warning))
  "Face of warnings in the log."
  :group 'org-agent-inside)

(defface org-agent-log-error '((t :inherit error))
  "Face of errors in the log."
  :group 'org-agent-inside)

(defface org-agent-log-detail '((t :inherit shadow))
  "Face of debug messages in the log."
  :group 'org-agent-inside)

(defvar org-agent-log-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (define-key map (kbd "RET") #'org-agent-log-visit)
    (define-key map "?" #'describe-mode)
    (define-key map "l" #'org-agent-log-set-level)
    (define-key map "s" #'org-agent-log-set-session)
    (define-key map "t" #'org-agent-log-set-turn)
    (define-key map "/" #'org-agent-log-set-text)
    (define-key map "c" #'org-agent-log-show-all)
    (define-key map "f" #'org-agent-log-toggle-follow)
    (define-key map "y" #'org-agent-why)
    map)
  "Keys in the log.")

(defconst org-agent-log--place "\\(/[^:\n]+?\\.org\\):\\([0-9]+\\):\\([0-9]+\\)"
  "Regexp that matches FILE:LINE:COLUMN of an error in a note.")

(define-derived-mode org-agent-log-mode special-mode "Org-Agent-Log"
  "Major mode of the agent's log, which follows the kernel's.
\\<org-agent-log-mode-map>These keys filter the lines: \\[org-agent-log-set-level] by level, \\[org-agent-log-set-session] by session, \\[org-agent-log-set-turn] by turn,
\\[org-agent-log-set-text] by a text.  \\[org-agent-log-show-all] removes the filter.
\\[org-agent-log-visit] goes to the position in a note that the line names, or else
explains the turn of the line.  \\[org-agent-log-toggle-follow] starts or stops following the log.

\\{org-agent-log-mode-map}"
  :interactive nil
  (org-agent-section-cut-lines)
  (setq buffer-undo-list t)
  (setq-local revert-buffer-function
              (lambda (&rest _) (org-agent-log--ask t))
              header-line-format '(:eval (org-agent-log--header)))
  (add-hook 'org-agent-kernel-ready-hook #'org-agent-log--ready)
  (add-hook 'kill-buffer-hook #'org-agent-log--leave nil t))

;;;###autoload
(defun org-agent-log ()
  "Show the agent's log, and follow it."
  (interactive)
  (pop-to-buffer (org-agent-log--buffer))
  (unless org-agent-log--asked
    (org-agent-log--ask (not org-agent-log--last)))
  (goto-char (point-max)))

;;;###autoload
(defun org-agent-log-of-turn (turn)
  "Show the lines of the log that belong to TURN."
  (pop-to-buffer (org-agent-log--buffer))
  (org-agent-log--show-only "debug" nil turn nil))

(defun org-agent-log--buffer ()
  "Return the buffer of the log, in its mode."
  (with-current-buffer (get-buffer-create "*org-agent-log*")
    (unless (derived-mode-p 'org-agent-log-mode)
      (org-agent-log-mode))
    (current-buffer)))

(defun org-agent-log--header ()
  "Return the header line: whether the log is followed, and the filter."
  (org-agent-section-header
   (string-join
    (delq nil
          (list (cond (org-agent-log--paused "not followed")
                      ((org-agent-kernel-ready-p) "following")
                      (t "no kernel runs"))
                (format "level %s and above" org-agent-log--level)
                (and org-agent-log--session (format "session %s" org-agent-log--session))
                (and org-agent-log--turn (format "turn %s" org-agent-log--turn))
                (and org-agent-log--text (format "with \"%s\"" org-agent-log--text))
                (and org-agent-log--left "(older lines are not shown)")))
    "  ")
   "\\<org-agent-log-mode-map>\\[org-agent-log-visit] visit  \\[org-agent-log-set-level] level  \\[org-agent-log-set-text] text  \\[org-agent-log-set-session] session  \\[org-agent-log-set-turn] turn  \\[org-agent-log-show-all] all  \\[org-agent-log-toggle-follow] follow"))

;;;; The filter

(defun org-agent-log--show-only (level session turn text)
  "Show lines of LEVEL and above, of SESSION and TURN, and with TEXT in them."
  (setq org-agent-log--level level
        org-agent-log--session session
        org-agent-log--turn turn
        org-agent-log--text text)
  (org-agent-log--ask t)
  (force-mode-line-update))

(defun org-agent-log--none-if-empty (text)
  "Return TEXT without blanks around it, or nil if that is empty."
  (let ((text (string-trim text)))
    (unless (string-empty-p text) text)))

(defun org-agent-log-set-level (level)
  "Show lines of LEVEL and above only."
  (interactive (list (completing-read "Lowest level: "
                                      '("debug" "info" "warn" "error")
                                      nil t nil nil org-agent-log--level)))
  (org-agent-log--show-only level org-agent-log--session
                            org-agent-log--turn org-agent-log--text))

(defun org-agent-log-set-session (session)
  "Show lines of SESSION only; if it is empty, lines of all sessions."
  (interactive (list (read-string "Session (empty for all): "
                                  (org-agent-log--field "session"))))
  (org-agent-log--show-only org-agent-log--level
                            (org-agent-log--none-if-empty session)
                            org-agent-log--turn org-agent-log--text))

(defun org-agent-log-set-turn (turn)
  "Show lines of TURN only; if it is empty, lines of all turns.
TURN may be the beginning of an id."
  (interactive (list (read-string "Turn (empty for all): "
                                  (org-agent-log--field "turn"))))
  (org-agent-log--show-only org-agent-log--level org-agent-log--session
                            (org-agent-log--none-if-empty turn)
                            org-agent-log--text))

(defun org-agent-log-set-text (text)
  "Show lines that contain TEXT only; if it is empty, all lines."
  (interactive (list (read-string "With the text (empty for any): "
                                  org-agent-log--text)))
  (org-agent-log--show-only org-agent-log--level org-agent-log--session
                            org-agent-log--turn
                            (org-agent-log--none-if-empty text)))

(defun org-agent-log-show-all ()
  "Show lines of level info and above of all sessions and turns."
  (interactive)
  (org-agent-log--show-only "info" nil nil nil))

(defun org-agent-log-toggle-follow ()
  "Start or stop following the log."
  (interactive)
  (setq org-agent-log--paused (not org-agent-log--paused))
  (org-agent-log--ask nil)
  (force-mode-line-update))

(defun org-agent-log--field (name)
  "Return the value of the field NAME of the line at point, or nil."
  (save-excursion
    (forward-line 0)
    (and (re-search-forward (format "  %s=\\(\\(?:[^ \n]\\| [^ \n]\\)+\\)" name)
                            (line-end-position) t)
         (match-string-no-properties 1))))

;;;; Requests to the kernel

(defmacro org-agent-log--in (buffer mark &rest body)
  "Run BODY in BUFFER, the log, if the request MARK is still the latest."
  (declare (indent 2) (debug t))
  `(when (buffer-live-p ,buffer)
     (with-current-buffer ,buffer
       (when (eql ,mark org-agent-log--mark)
         (setq org-agent-log--asked nil)
         ,@body))))

(defun org-agent-log--ask (anew)
  "Request the end of the log, and the records to come if it is followed.
If ANEW is non-nil, replace the lines of the buffer; else add new ones."
  (let ((buffer (current-buffer))
        (mark (cl-incf org-agent-log--mark)))
    (setq org-agent-log--early nil
          org-agent-log--asked mark)
    (if (not (org-agent-kernel-ready-p))
        (org-agent-log--read-file buffer mark)
      (org-agent-kernel-request
       "log/tail"
       (list :lines org-agent-log-lines :level (intern (concat ":" org-agent-log--level))
             :session org-agent-log--session :turn org-agent-log--turn
             :text org-agent-log--text :follow (not org-agent-log--paused)
             :mark mark)
       :success (lambda (result)
                  (org-agent-log--in buffer mark
                    (setq org-agent-log--left (plist-get result :left))
                    (org-agent-log--take (plist-get result :records) anew)))
       :failure (lambda (refusal)
                  (org-agent-log--in buffer mark
                    (message "org-agent: the log cannot be read: %s"
                             (plist-get refusal :message))))))))

(defun org-agent-log--read-file (buffer mark)
  "Show the end of the log's file in BUFFER for the request MARK."
  (org-agent-kernel-run-program
   (append (list "log" "--lines" (number-to-string org-agent-log-lines)
                 "--level" org-agent-log--level)
           (and org-agent-log--session (list (concat "--session=" org-agent-log--session)))
           (and org-agent-log--turn (list (concat "--turn=" org-agent-log--turn)))
           (and org-agent-log--text (list (concat "--text=" org-agent-log--text))))
   (lambda (status output complaint)
     (org-agent-log--in buffer mark
       (if (not (eql status 0))
           (message "%s" complaint)
         (setq org-agent-log--last nil)
         (org-agent-log--change
          (lambda ()
            (org-agent-log--erase)
            (dolist (line (split-string output "\n" t))
              (org-agent-log--insert line)))))))))

;;;###autoload
(defun org-agent-log-news (params)
  "Show the records in PARAMS, those of the notification `log'."
  (when-let* ((buffer (get-buffer "*org-agent-log*")))
    (with-current-buffer buffer
      (when (and (derived-mode-p 'org-agent-log-mode)
                 (eql (plist-get params :mark) org-agent-log--mark))
        (if org-agent-log--asked
            (push params org-agent-log--early)
          (org-agent-log--add params))))))

(defun org-agent-log--add (params)
  "Insert the records in PARAMS, those of the notification `log'."
  (org-agent-log--change
   (lambda ()
     (org-agent-log--insert-records (plist-get params :records))
     (when-let* ((dropped (plist-get params :dropped)))
       (org-agent-log--insert
        (format "(%s more came too fast to be shown)"
                (org-agent-counted dropped "line")))))))

(defun org-agent-log--take (records anew)
  "Show RECORDS, the end of the log, and those that arrived meanwhile.
If ANEW is non-nil, replace the lines of the kernel; else add the records
that are not shown yet."
  (let ((known (and (not anew) (member org-agent-log--last (reverse records)))))
    (when known
      (setq records (last records (- (length records) (length known)))))
    (org-agent-log--change
     (lambda ()
       (when anew (org-agent-log--erase))
       (org-agent-log--insert-records records)))
    (mapc #'org-agent-log--add (reverse org-agent-log--early))
    (setq org-agent-log--early nil)))

(defun org-agent-log--leave ()
  "Tell the kernel to send no more records."
  (remove-hook 'org-agent-kernel-ready-hook #'org-agent-log--ready)
  (when (org-agent-kernel-ready-p)
    (org-agent-kernel-request "log/tail" (list :lines 1))))

(defun org-agent-log--ready ()
  "Follow the log of the kernel that has just become ready."
  (when-let* ((buffer (get-buffer "*org-agent-log*")))
    (with-current-buffer buffer
      (when (derived-mode-p 'org-agent-log-mode)
        (org-agent-log--ask nil)))))

;;;; The buffer

(defun org-agent-log--change (function)
  "Call FUNCTION, which changes the buffer.
Point and the points of windows stay at the end if they were there."
  (let ((inhibit-read-only t)
        (at-end (eobp))
        (windows (cl-remove-if-not
                  (lambda (window) (= (window-point window) (point-max)))
                  (get-buffer-window-list nil nil t))))
    (save-excursion
      (goto-char (point-max))
      (funcall function)
      (let ((excess (- (line-number-at-pos (point-max)) 1 org-agent-log--most)))
        (when (> excess 0)
          (goto-char (point-min))
          (forward-line (+ excess (/ org-agent-log--most 10)))
          (delete-region (point-min) (point))
          (setq org-agent-log--left t))))
    (when at-end (goto-char (point-max)))
    (dolist (window windows)
      (set-window-point window (point-max)))))

(defun org-agent-log--erase ()
  "Delete the lines of the kernel, and keep those of this Emacs."
  (goto-char (point-min))
  (while (not (eobp))
    (if (get-text-property (point) 'org-agent-log-own)
        (forward-line)
      (delete-region (point)
                     (or (next-single-property-change (point) 'org-agent-log-own)
                         (point-max)))))
  (setq org-agent-log--last nil))

(defun org-agent-log--insert-records (records)
  "Insert RECORDS, plists from `log/tail', at the end of the buffer."
  (goto-char (point-max))
  (dolist (record records)
    (setq org-agent-log--last record)
    (org-agent-log--insert (org-agent-log-line record)
                           (plist-get record :level)
                           (plist-get record :turn))))

(defun org-agent-log--insert (line &optional level turn)
  "Insert LINE of LEVEL about TURN, both of which may be nil."
  (goto-char (point-max))
  (let ((beg (point))
        (turn (or turn
                  (and (string-match "  turn=\\([^ \n]+\\)" line)
                       (match-string 1 line)))))
    (insert (replace-regexp-in-string "[\n\r]+" " " line) "\n")
    (pcase level
      (:warn (put-text-property beg (point) 'face 'org-agent-log-warning))
      (:error (put-text-property beg (point) 'face 'org-agent-log-error))
      (:debug (put-text-property beg (point) 'face 'org-agent-log-detail)))
    (when turn
      (put-text-property beg (point) 'org-agent-turn turn))))

(defun org-agent-log-line (record)
  "Return RECORD, a plist from `log/tail', as one readable line."
  (concat
   (when-let* ((time (plist-get record :time)))
     (concat (org-agent-log--time time) " "))
   (when-let* ((level (plist-get record :level)))
     (format "%-5s " (upcase (substring (symbol-name level) 1))))
   (or (plist-get record :message) "")
   (plist-get record :fields)))

(defun org-agent-log--time (time)
  "Return TIME, a string of RFC 3339, as the local time of the day."
  (condition-case nil
      (concat (format-time-string "%H:%M:%S" (encode-time (iso8601-parse time)))
              (if (string-match "\\(\\.[0-9]\\{1,3\\}\\)" time)
                  (substring (concat (match-string 1 time) "00") 0 4)
                ".000"))
    (error "--:--:--.---")))

(defun org-agent-log-visit ()
  "Go to the position in a note that this line names.
If it names several, go to the one at point, or else the first after it.
If it names none, explain the turn of the line."
  (interactive)
  (let ((end (line-end-position)) (here (point)) file line column)
    (save-match-data
      (save-excursion
        (forward-line 0)
        (while (and (not (and file (<= here (point))))
                    (re-search-forward org-agent-log--place end t))
          (setq file (match-string-no-properties 1)
                line (string-to-number (match-string 2))
                column (string-to-number (match-string 3))))))
    (cond
     (file
      (pop-to-buffer (find-file-noselect file))
      (goto-char (org-agent-skill-position line column)))
     ((get-text-property (line-beginning-position) 'org-agent-turn)
      (require 'org-agent-explain)
      (org-agent-why (get-text-property (line-beginning-position)
                                        'org-agent-turn)))
     (t (user-error "This line names no place in a note and no turn")))))

(provide 'org-agent-log)
;;; org-agent-log.el ends here
