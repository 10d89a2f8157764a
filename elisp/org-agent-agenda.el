;;; org-agent-agenda.el --- The agenda and the Org files, for the kernel  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A skill's command that wants `:agenda' gets the open tasks and the dates
;; of `org-agenda-files', as data.  Of a visited file the text of the buffer
;; is read, saved or not.  Other files are read without visiting them.
;; Nothing is asked or evaluated.
;;
;; The request `emacs/agenda' asks for the agenda of one file on some days.
;; Org's own agenda functions compute it, with the person's options, without
;; the agenda buffer.  A file that no buffer visits is read into a temporary
;; buffer.  No expression of a file is evaluated, so entries of diary
;; expressions are missing.
;;
;; The request `emacs/notes' asks for the agenda files, the TODO keywords,
;; and the texts of Org buffers with unsaved changes.  The kernel reads all
;; other files itself, so that large files do not block Emacs.

;;; Code:

(require 'calendar)
(require 'cl-lib)
(require 'org)
(require 'org-agenda)
(require 'org-id)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-private)

(declare-function org-agent-act-regular-file "org-agent-act")
(declare-function org-agent-edit-has-p "org-agent-edit")

(defvar org-agent-chat-session)

(defconst org-agent-agenda-limit 1000
  "The number of entries of the agenda that are sent at most.")

(defconst org-agent-agenda--file-limit (* 8 1024 1024)
  "The size in bytes of the largest agenda file that is read.")

(defconst org-agent-agenda--title-limit 200
  "The number of columns of a heading that are sent at most.")

;;;###autoload
(defun org-agent-agenda ()
  "Return the entries of the person's agenda files, a plist.
`:today' is the date, `:entries' are plists (:heading :todo :tags
:scheduled :deadline :timestamp :touched :file :line), `:files' is the
number of files that were read, `:unread' are the files that were not,
and `:cut' is non-nil when there are more entries."
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
  "Return the agenda files; do not access files of other machines."
  (if (not (listp org-agenda-files))
      (ignore-errors (org-agenda-files t))
    (let* ((remote (seq-filter #'file-remote-p org-agenda-files))
           (org-agenda-files (seq-difference org-agenda-files remote))
           (org-agenda-skip-unavailable-files nil))
      (seq-uniq (append (mapcar #'expand-file-name
                                (ignore-errors (org-agenda-files t)))
                        remote)))))

;;;###autoload
(defun org-agent-agenda-line (agenda)
  "Return a line that describes AGENDA, which was sent."
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
  "Return non-nil when FILE can be read quickly and without a question."
  (and (not (file-remote-p file))
       (or (find-buffer-visiting file)
           (and (file-regular-p file)
                (file-readable-p file)
                (<= (file-attribute-size (file-attributes file))
                    org-agent-agenda--file-limit)))))

(defun org-agent-agenda--of-file (file)
  "Return the entries of FILE."
  (if-let* ((buffer (find-buffer-visiting file)))
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
  "Return the entries of the current buffer, which contains the text of FILE."
  (let (entries (case-fold-search nil))
    (org-with-wide-buffer
     (goto-char (point-min))
     (while (and (re-search-forward org-outline-regexp-bol nil t)
                 (<= (length entries) org-agent-agenda-limit))
       (forward-line 0)
       (if (save-excursion (org-agent-agenda--skipped-p))
           (org-end-of-subtree t)
         (when-let* ((entry (save-excursion (org-agent-agenda--entry file))))
           (push entry entries))
         (end-of-line))))
    (nreverse entries)))

(defun org-agent-agenda--skipped-p ()
  "Return non-nil when the subtree at point is archived or commented out."
  (or (org-in-commented-heading-p t)
      (member org-archive-tag (org-get-tags nil t))))

(defun org-agent-agenda--entry (file)
  "Return the entry at point, in FILE, if it belongs into the agenda, or nil.
An open entry with a TODO keyword or a date belongs into the agenda."
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
       (when-let* ((tags (org-get-tags)))
         (list :tags (mapcar #'substring-no-properties tags)))
       (org-agent-agenda--date :scheduled scheduled)
       (org-agent-agenda--date :deadline deadline)
       (org-agent-agenda--date :timestamp active)
       (when-let* ((touched (org-agent-agenda--touched)))
         (list :touched touched))))))

(defun org-agent-agenda--plain (heading)
  "Return HEADING without text properties, with links as they are displayed."
  (org-link-display-format (substring-no-properties (or heading ""))))

(defun org-agent-agenda--date (key timestamp)
  "Return (KEY DATE) for TIMESTAMP, nil when it has no date."
  (and timestamp
       (string-match "[0-9]\\{4\\}-[0-9]\\{2\\}-[0-9]\\{2\\}" timestamp)
       (list key (match-string 0 timestamp))))

(defun org-agent-agenda--touched ()
  "Return the latest date in the entry at point that is not in the future."
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

;;;; Days

(defconst org-agent-agenda--days-limit (* 4 1024 1024)
  "The size in characters of the largest file whose agenda is computed.")

(defconst org-agent-agenda--days-seconds 0.3
  "Seconds after which no further day is computed.")

;;;###autoload
(defun org-agent-agenda-days (params)
  "Return the agenda of the file and the days of PARAMS, a plist."
  (let* ((file (org-agent-act-regular-file (plist-get params :file)))
         (visiting (find-buffer-visiting file))
         (from (org-agent-agenda--days-absolute (plist-get params :from)))
         (days (min 62 (or (plist-get params :days) 1))))
    (when (or (org-agent-private-name-p file)
              (if visiting (org-agent-private-p visiting)
                (> (file-attribute-size (file-attributes file))
                   org-agent-agenda--days-limit))
              (and visiting (> (buffer-size visiting)
                               org-agent-agenda--days-limit))
              (and visiting (not (with-current-buffer visiting
                                   (derived-mode-p 'org-mode)))))
      (org-agent-rpc-refuse 'forbidden "no agenda is made of %s here" file))
    (if visiting
        (org-agent-private-briefly
          (org-agent-agenda--days-of visiting from days))
      (org-agent-agenda--days-of-file file from days))))

(defun org-agent-agenda--days-absolute (day)
  "Return DAY, YYYY-MM-DD, as a number of days, or refuse it."
  (unless (and (stringp day)
               (string-match "\\`\\([0-9]\\{4\\}\\)-\\([0-9][0-9]\\)-\\([0-9][0-9]\\)\\'"
                             day))
    (org-agent-rpc-refuse 'invalid "a day is YYYY-MM-DD"))
  (calendar-absolute-from-gregorian
   (list (string-to-number (match-string 2 day))
         (string-to-number (match-string 3 day))
         (string-to-number (match-string 1 day)))))

(defun org-agent-agenda--days-of-file (file from days)
  "Return the agenda of FILE, which no buffer visits, for DAYS days from FROM.
The temporary buffer has the name of the file, since Org looks at it."
  (let ((buffer (generate-new-buffer " *org-agent-agenda*" t)))
    (unwind-protect
        (org-agent-private-briefly
          (with-current-buffer buffer
            (let (file-name-handler-alist)
              (insert-file-contents file))
            (let ((org-inhibit-startup t)
                  (enable-local-variables nil)
                  (org-mode-hook nil))
              (delay-mode-hooks (org-mode)))
            (setq buffer-file-name file)
            (set-buffer-modified-p nil)
            (org-agent-agenda--days-of buffer from days)))
      (with-current-buffer buffer
        (setq buffer-file-name nil)
        (set-buffer-modified-p nil)
        (let (kill-buffer-hook kill-buffer-query-functions)
          (kill-buffer))))))

(defun org-agent-agenda--days-of (buffer from days)
  "Return the agenda of BUFFER, of an Org file, for DAYS days from FROM."
  (let* ((org-agenda-buffer (get-buffer-create " *org-agent-days*" t))
         (org-agenda-markers nil)
         (org-agenda-last-marker-time nil)
         (org-agenda-current-date nil)
         (org-agenda-contributing-files nil)
         (org-agenda-restrict nil)
         (org-agenda-prefix-format "%t%s")
         (org-agenda-inhibit-startup t)
         org-prefix-has-time org-prefix-has-tag org-prefix-category-length
         org-prefix-category-max-length org-prefix-has-effort
         org-prefix-has-breadcrumbs org-prefix-format-compiled
         org-todo-keywords-for-agenda org-done-keywords-for-agenda
         org-todo-keyword-alist-for-agenda org-tag-alist-for-agenda
         org-tag-groups-alist-for-agenda
         (types (remq :sexp org-agenda-entry-types))
         (until (+ (float-time) org-agent-agenda--days-seconds))
         (kept (with-current-buffer buffer (org-agent-private-parts)))
         (day from)
         items)
    (unwind-protect
        (cl-letf (((symbol-function 'org-diary-sexp-entry) #'ignore)
                  ((symbol-function 'org-get-agenda-file-buffer)
                   (lambda (_file) buffer)))
          (with-current-buffer buffer
            (save-excursion
              (save-restriction
                (org-agenda-prepare-buffers (list buffer))
                (org-compile-prefix-format 'agenda)
                (while (and (< day (+ from days))
                            (or (= day from) (< (float-time) until)))
                  (dolist (item (apply #'org-agenda-get-day-entries
                                       buffer-file-name
                                       (calendar-gregorian-from-absolute day)
                                       types))
                    (let ((heading (get-text-property 0 'org-hd-marker item)))
                      (unless (and heading
                                   (org-agent-private-part-at heading kept))
                        (push (org-agent-agenda--days-item item day) items))))
                  (cl-incf day))))))
      (mapc (lambda (marker) (set-marker marker nil)) org-agenda-markers)
      (kill-buffer org-agenda-buffer))
    (append (list :items (nreverse (delq nil items)))
            (when (< day (+ from days))
              (list :next (org-agent-agenda--days-date day))))))

(defun org-agent-agenda--days-date (day)
  "Return DAY, a number of days, as YYYY-MM-DD."
  (pcase-let ((`(,month ,date ,year) (calendar-gregorian-from-absolute day)))
    (format "%04d-%02d-%02d" year month date)))

(defun org-agent-agenda--days-item (item day)
  "Return ITEM, a line of the agenda of DAY, as a plist, or nil."
  (when-let* ((heading (get-text-property 0 'org-hd-marker item)))
    (let ((time (get-text-property 0 'time-of-day item))
          (minutes (get-text-property 0 'duration item))
          (plain #'substring-no-properties))
      (org-with-point-at heading
        (let ((todo (org-get-todo-state))
              (priority (nth 3 (org-heading-components)))
              (id (org-entry-get nil "ID")))
          (append
           (list :day (org-agent-agenda--days-date day)
                 :kind (or (get-text-property 0 'type item) "")
                 :leader (string-trim (or (get-text-property 0 'extra item) ""))
                 :title (funcall plain (or (org-get-heading t t t t) ""))
                 :tags (org-agent-agenda--days-tags)
                 :line (line-number-at-pos nil t))
           (and todo (list :todo (funcall plain todo)))
           (and priority (list :priority (char-to-string priority)))
           (and id (list :id (funcall plain id)))
           (and time (list :time (org-agent-agenda--days-clock time)))
           (and time minutes (> minutes 0)
                (list :end (org-agent-agenda--days-clock
                            (org-agent-agenda--days-later
                             time (round minutes)))))))))))

(defun org-agent-agenda--days-tags ()
  "Return all tags of the heading at point, with all inherited tags."
  (let ((org-use-tag-inheritance t)
        (org-tags-exclude-from-inheritance nil))
    (mapcar #'substring-no-properties (org-get-tags))))

(defun org-agent-agenda--days-clock (time)
  "Return TIME, a number such as 930, as HH:MM."
  (format "%02d:%02d" (/ time 100) (% time 100)))

(defun org-agent-agenda--days-later (time minutes)
  "Return the time that is MINUTES later than TIME, a number such as 930."
  (let ((all (+ (* 60 (/ time 100)) (% time 100) minutes)))
    (+ (* 100 (/ all 60)) (% all 60))))

;;;; Org files

(defconst org-agent-agenda--notes-limit (* 2 1024 1024)
  "The number of characters that the texts of one reply have at most.")

;;;###autoload
(defun org-agent-agenda-org-files (params)
  "Return what PARAMS ask about Org files, a plist."
  (org-agent-private-briefly
    (let ((texts (org-agent-agenda--notes-texts (plist-get params :file)))
          (entry (plist-get params :entry)))
      (append
       (list :agenda (org-agent-agenda--notes-agenda)
             :sequences (org-agent-agenda--notes-sequences)
             :warning (max 1 (abs org-deadline-warning-days))
             :unsaved (car texts)
             :too-large (cdr texts))
       (when-let* ((file (and entry (org-agent-agenda--notes-file-of entry))))
         (list :entry file))))))

(defun org-agent-agenda--notes-agenda ()
  "Return the agenda files of this machine."
  (cl-loop for file in (ignore-errors (org-agent-agenda--files))
           unless (or (file-remote-p file) (org-agent-private-name-p file))
           collect (file-truename file)))

;;;###autoload
(defun org-agent-agenda-keywords-and-files ()
  "Return what a reader of the agenda files needs, a plist."
  (list :files (org-agent-agenda--notes-agenda)
        :sequences (org-agent-agenda--notes-sequences)))

(defun org-agent-agenda--notes-sequences ()
  "Return the TODO keywords as the values of lines `#+TODO:'."
  (let ((all (default-value 'org-todo-keywords)))
    (mapcar (lambda (sequence) (string-join sequence " "))
            (if (stringp (car all))
                (list all)
              (mapcar (lambda (sequence) (cl-remove-if-not #'stringp sequence))
                      all)))))

(defun org-agent-agenda--notes-texts (file)
  "Return (TEXTS . NAMES) of the buffers of Org files with unsaved changes.
TEXTS are plists (:file :text), NAMES the files of buffers that are too
large.  With FILE look only at the buffer that visits it, changed or not, and
whatever its mode is."
  (let ((left org-agent-agenda--notes-limit) texts names)
    (dolist (buffer (if file (delq nil (list (find-buffer-visiting file)))
                      (buffer-list)))
      (with-current-buffer buffer
        (when (and buffer-file-name
                   (or file
                       (and (buffer-modified-p) (derived-mode-p 'org-mode)))
                   (not (buffer-base-buffer))
                   (not (bound-and-true-p org-agent-chat-session))
                   (not (file-remote-p buffer-file-name))
                   (not (org-agent-private-p buffer)))
          (let ((real (file-truename buffer-file-name)))
            (if (> (buffer-size) left)
                (push real names)
              (cl-decf left (buffer-size))
              (save-restriction
                (widen)
                (push (list :file real
                            :text (org-agent-rpc-text (point-min) (point-max)))
                      texts)))))))
    (cons texts names)))

(defun org-agent-agenda--notes-file-of (entry)
  "Return the file with the ENTRY, an Org id, or nil.
Look in buffers and in Org's own list; open no file."
  (unless org-id-locations
    (ignore-errors (org-id-locations-load)))
  (let ((file (or (cl-some
                   (lambda (buffer)
                     (with-current-buffer buffer
                       (and buffer-file-name (derived-mode-p 'org-mode)
                            (not (bound-and-true-p org-agent-chat-session))
                            (not (org-agent-private-p buffer))
                            (org-agent-edit-has-p entry)
                            buffer-file-name)))
                   (buffer-list))
                  (and (hash-table-p org-id-locations)
                       (gethash entry org-id-locations)))))
    (and file (not (file-remote-p file)) (file-truename file))))

(provide 'org-agent-agenda)
;;; org-agent-agenda.el ends here
