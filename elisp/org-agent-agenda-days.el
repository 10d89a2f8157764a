;;; org-agent-agenda-days.el --- Days of the agenda, for the kernel  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The request `emacs/agenda' asks what stands in one file on some days.
;; Org's own agenda says so, with what the person set for it; its buffer is
;; neither made nor changed.  A file that nobody visits is read into a
;; buffer that goes away again.  No expression of a file is evaluated, so
;; that what only a diary expression says is missing.

;;; Code:

(require 'cl-lib)
(require 'calendar)
(require 'org)
(require 'org-agenda)
(require 'org-agent-rpc)
(require 'org-agent-private)

(defconst org-agent-agenda-days--limit (* 4 1024 1024)
  "Characters of the largest file whose agenda is made here.")

(defconst org-agent-agenda-days--seconds 0.3
  "Seconds after which no further day is begun.")

(defun org-agent-agenda-days (params)
  "Return what the agenda has of the file and the days of PARAMS, a plist."
  (let* ((file (org-agent-act-regular-file (plist-get params :file)))
         (visiting (find-buffer-visiting file))
         (from (org-agent-agenda-days--absolute (plist-get params :from)))
         (days (min 62 (or (plist-get params :days) 1))))
    (when (or (org-agent-private-name-p file)
              (if visiting (org-agent-private-p visiting)
                (> (file-attribute-size (file-attributes file))
                   org-agent-agenda-days--limit))
              (and visiting (> (buffer-size visiting)
                               org-agent-agenda-days--limit))
              (and visiting (not (with-current-buffer visiting
                                   (derived-mode-p 'org-mode)))))
      (signal 'org-agent-rpc-error
              (list -32002 (format "no agenda is made of %s here" file))))
    (if visiting
        (org-agent-private-briefly
          (org-agent-agenda-days--of visiting from days))
      (org-agent-agenda-days--of-file file from days))))

(defun org-agent-agenda-days--absolute (day)
  "Return DAY, YYYY-MM-DD, as a number of days, or refuse it."
  (unless (and (stringp day)
               (string-match "\\`\\([0-9]\\{4\\}\\)-\\([0-9][0-9]\\)-\\([0-9][0-9]\\)\\'"
                             day))
    (signal 'org-agent-rpc-error (list -32602 "a day is YYYY-MM-DD")))
  (calendar-absolute-from-gregorian
   (list (string-to-number (match-string 2 day))
         (string-to-number (match-string 3 day))
         (string-to-number (match-string 1 day)))))

(defun org-agent-agenda-days--of-file (file from days)
  "Return what FILE, which nobody visits, has on DAYS days, the first FROM.
It is read where Org thinks that it is visited, as its name is asked for."
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
            (org-agent-agenda-days--of buffer from days)))
      (with-current-buffer buffer
        (setq buffer-file-name nil)
        (set-buffer-modified-p nil)
        (let (kill-buffer-hook kill-buffer-query-functions)
          (kill-buffer))))))

(defun org-agent-agenda-days--of (buffer from days)
  "Return what BUFFER, of an Org file, has on DAYS days, the first FROM."
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
         (until (+ (float-time) org-agent-agenda-days--seconds))
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
                        (push (org-agent-agenda-days--item item day) items))))
                  (cl-incf day))))))
      (mapc (lambda (marker) (set-marker marker nil)) org-agenda-markers)
      (kill-buffer org-agenda-buffer))
    (append (list :items (nreverse (delq nil items)))
            (when (< day (+ from days))
              (list :next (org-agent-agenda-days--date day))))))

(defun org-agent-agenda-days--date (day)
  "Return DAY, a number of days, as YYYY-MM-DD."
  (pcase-let ((`(,month ,date ,year) (calendar-gregorian-from-absolute day)))
    (format "%04d-%02d-%02d" year month date)))

(defun org-agent-agenda-days--item (item day)
  "Return ITEM, a line of the agenda that stands on DAY, as a plist, or nil."
  (when-let ((heading (get-text-property 0 'org-hd-marker item)))
    (let ((time (get-text-property 0 'time-of-day item))
          (minutes (get-text-property 0 'duration item))
          (plain #'substring-no-properties))
      (org-with-point-at heading
        (let ((todo (org-get-todo-state))
              (priority (nth 3 (org-heading-components)))
              (id (org-entry-get nil "ID")))
          (append
           (list :day (org-agent-agenda-days--date day)
                 :kind (or (get-text-property 0 'type item) "")
                 :leader (string-trim (or (get-text-property 0 'extra item) ""))
                 :title (funcall plain (or (org-get-heading t t t t) ""))
                 :tags (org-agent-agenda-days--tags)
                 :line (line-number-at-pos nil t))
           (and todo (list :todo (funcall plain todo)))
           (and priority (list :priority (char-to-string priority)))
           (and id (list :id (funcall plain id)))
           (and time (list :time (org-agent-agenda-days--clock time)))
           (and time minutes (> minutes 0)
                (list :end (org-agent-agenda-days--clock
                            (org-agent-agenda-days--later
                             time (round minutes)))))))))))

(defun org-agent-agenda-days--tags ()
  "Return all tags of the heading at point, whatever Org lets be inherited."
  (let ((org-use-tag-inheritance t)
        (org-tags-exclude-from-inheritance nil))
    (mapcar #'substring-no-properties (org-get-tags))))

(defun org-agent-agenda-days--clock (time)
  "Return TIME, a number of four digits as 930, as HH:MM."
  (format "%02d:%02d" (/ time 100) (% time 100)))

(defun org-agent-agenda-days--later (time minutes)
  "Return the time that is MINUTES later than TIME, both as 930."
  (let ((all (+ (* 60 (/ time 100)) (% time 100) minutes)))
    (+ (* 100 (/ all 60)) (% all 60))))

(declare-function org-agent-act-regular-file "org-agent-act")

(provide 'org-agent-agenda-days)
;;; org-agent-agenda-days.el ends here
