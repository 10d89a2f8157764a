;;; org-agent-agenda.el --- What commands are given of the agenda  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A command that wants `:agenda' is given the open tasks and the dates of
;; `org-agenda-files', as data: what to make of them is the skill's.  Files
;; that are visited are read as they are in their buffer, saved or not;
;; others are read without visiting them, and nothing is asked or run.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org)

(defconst org-agent-agenda-limit 1000
  "Entries of the agenda that are sent.")

(defconst org-agent-agenda--file-limit (* 8 1024 1024)
  "Bytes of the largest file of the agenda that is read.")

(defconst org-agent-agenda--title-limit 200
  "Characters of a heading that are sent.")

(defun org-agent-agenda ()
  "Return what the person's agenda holds, a plist.
`:today' is the date, `:entries' are plists (:heading :todo :done :tags
:scheduled :deadline :timestamp :touched :file :line), `:files' is how
many files were read, `:unread' names those that were not, and `:cut' is
non-nil when there are more entries."
  (let ((read 0) unread entries cut)
    (dolist (file (org-agent-agenda--files))
      (cond
       (cut)
       ((org-agent-agenda--readable-p file)
        (cl-incf read)
        (let ((found (org-agent-agenda--of-file file)))
          (setq entries (nconc entries found))
          (when (> (length entries) org-agent-agenda-limit)
            (setq entries (seq-take entries org-agent-agenda-limit)
                  cut t))))
       (t (push file unread))))
    (append (list :today (format-time-string "%Y-%m-%d")
                  :files read :entries entries)
            (and unread (list :unread (nreverse unread)))
            (and cut (list :cut t)))))

(defun org-agent-agenda--files ()
  "Return the files of the agenda; what is on another machine is not looked at."
  (if (not (listp org-agenda-files))
      (ignore-errors (org-agenda-files t))
    (let* ((remote (seq-filter #'file-remote-p org-agenda-files))
           (org-agenda-files (seq-difference org-agenda-files remote))
           (org-agenda-skip-unavailable-files nil))
      (seq-uniq (append (mapcar #'expand-file-name
                                (ignore-errors (org-agenda-files t)))
                        remote)))))

(defun org-agent-agenda-line (agenda)
  "Return the line that says what was sent of AGENDA."
  (let ((entries (length (plist-get agenda :entries)))
        (files (plist-get agenda :files))
        (unread (length (plist-get agenda :unread))))
    (concat (format "On the agenda, %s%d %s of %d %s"
                    (if (plist-get agenda :cut) "the first " "")
                    entries (if (= entries 1) "entry" "entries")
                    files (if (= files 1) "file" "files"))
            (if (> unread 0) (format ", without %d that cannot be read" unread)
              ""))))

(defun org-agent-agenda--readable-p (file)
  "Return non-nil when FILE can be read without a question or a wait."
  (and (not (file-remote-p file))
       (or (find-buffer-visiting file)
           (and (file-regular-p file)
                (file-readable-p file)
                (<= (file-attribute-size (file-attributes file))
                    org-agent-agenda--file-limit)))))

(defun org-agent-agenda--of-file (file)
  "Return the entries of FILE."
  (if-let ((buffer (find-buffer-visiting file)))
      (and (buffer-local-value 'major-mode buffer)
           (with-current-buffer buffer
             (and (derived-mode-p 'org-mode)
                  (org-agent-agenda--of-buffer file))))
    (with-temp-buffer
      (insert-file-contents file)
      (let ((org-inhibit-startup t)
            (enable-local-variables nil)
            (org-mode-hook nil))
        (delay-mode-hooks (org-mode)))
      (org-agent-agenda--of-buffer file))))

(defun org-agent-agenda--of-buffer (file)
  "Return the entries of the current buffer, which has the text of FILE."
  (let (entries (case-fold-search nil))
    (org-with-wide-buffer
     (goto-char (point-min))
     (while (and (re-search-forward org-outline-regexp-bol nil t)
                 (<= (length entries) org-agent-agenda-limit))
       (forward-line 0)
       (if (save-excursion (org-agent-agenda--skipped-p))
           (org-end-of-subtree t)
         (when-let ((entry (save-excursion (org-agent-agenda--entry file))))
           (push entry entries))
         (end-of-line))))
    (nreverse entries)))

(defun org-agent-agenda--skipped-p ()
  "Return non-nil when the subtree at point is archived or commented out."
  (or (org-in-commented-heading-p t)
      (member org-archive-tag (org-get-tags nil t))))

(defun org-agent-agenda--entry (file)
  "Return the entry at point, in FILE, or nil when the agenda has no use for it.
That is a heading with a TODO word, or with a date in what stands below it."
  (let* ((todo (org-get-todo-state))
         (done (and todo (member todo org-done-keywords) t))
         (scheduled (org-entry-get (point) "SCHEDULED"))
         (deadline (org-entry-get (point) "DEADLINE"))
         (active (org-entry-get (point) "TIMESTAMP")))
    (when (and (or todo scheduled deadline active) (not done))
      (append
       (list :heading (truncate-string-to-width
                       (org-agent-agenda--plain (org-get-heading t t t t))
                       org-agent-agenda--title-limit nil nil t)
             :file file :line (line-number-at-pos nil t))
       (and todo (list :todo todo))
       (when-let ((tags (org-get-tags)))
         (list :tags (mapcar #'substring-no-properties tags)))
       (org-agent-agenda--date :scheduled scheduled)
       (org-agent-agenda--date :deadline deadline)
       (org-agent-agenda--date :timestamp active)
       (when-let ((touched (org-agent-agenda--touched)))
         (list :touched touched))))))

(defun org-agent-agenda--plain (heading)
  "Return HEADING without text properties, links by what they show."
  (org-link-display-format (substring-no-properties (or heading ""))))

(defun org-agent-agenda--date (key timestamp)
  "Return (KEY DATE) for TIMESTAMP, nil when it has no date."
  (and timestamp
       (string-match "[0-9]\\{4\\}-[0-9]\\{2\\}-[0-9]\\{2\\}" timestamp)
       (list key (match-string 0 timestamp))))

(defun org-agent-agenda--touched ()
  "Return the latest date in the entry at point that is not to come, or nil."
  (let ((end (save-excursion (outline-next-heading) (point)))
        (today (format-time-string "%Y-%m-%d"))
        latest)
    (while (re-search-forward
            "[[<]\\([0-9]\\{4\\}-[0-9]\\{2\\}-[0-9]\\{2\\}\\)[^]>\n]*[]>]" end t)
      (let ((date (match-string-no-properties 1)))
        (when (and (not (string< today date))
                   (or (null latest) (string< latest date)))
          (setq latest date))))
    latest))

(provide 'org-agent-agenda)
;;; org-agent-agenda.el ends here
