;;; org-agent-notes.el --- What Org files are here, for the kernel  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The request `emacs/notes' asks which agenda files there are, what TODO
;; keywords mean, and which buffers of Org files have changes that are not
;; saved, with their texts.  The kernel looks through all files itself, so
;; that a large one keeps nobody from typing.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-id)
(require 'org-agent-rpc)
(require 'org-agent-agenda)
(require 'org-agent-private)

(defvar org-agent-chat-session)

(defconst org-agent-notes--limit (* 2 1024 1024)
  "Characters of all texts that one answer has.")

(cl-defmethod org-agent-handle-request ((_method (eql 'emacs/notes)) params)
  "Tell what is here of Org files, as PARAMS ask."
  (org-agent-private-briefly
    (let ((texts (org-agent-notes--texts (plist-get params :file)))
          (entry (plist-get params :entry)))
      (append
       (list :agenda (org-agent-notes--agenda)
             :sequences (org-agent-notes--sequences)
             :warning (max 1 (abs org-deadline-warning-days))
             :unsaved (car texts)
             :too-large (cdr texts))
       (when-let ((file (and entry (org-agent-notes--file-of entry))))
         (list :entry file))))))

(cl-defmethod org-agent-handle-request ((_method (eql 'emacs/agenda)) params)
  "Tell what the agenda has of the file and the days of PARAMS."
  (require 'org-agent-agenda-days)
  (org-agent-agenda-days params))

(defun org-agent-notes--agenda ()
  "Return the agenda files of this machine."
  (cl-loop for file in (ignore-errors (org-agent-agenda--files))
           unless (or (file-remote-p file) (org-agent-private-name-p file))
           collect (file-truename file)))

(defun org-agent-notes--sequences ()
  "Return the TODO keywords as the values of lines `#+TODO:'."
  (let ((all (default-value 'org-todo-keywords)))
    (mapcar (lambda (sequence) (string-join sequence " "))
            (if (stringp (car all))
                (list all)
              (mapcar (lambda (sequence) (cl-remove-if-not #'stringp sequence))
                      all)))))

(defun org-agent-notes--texts (file)
  "Return (TEXTS . NAMES) of the buffers of Org files with unsaved changes.
TEXTS are plists (:file :text), NAMES the files of those that are too
large.  With FILE only of the buffer that visits it, changed or not."
  (let ((left org-agent-notes--limit) texts names)
    (dolist (buffer (if file (delq nil (list (find-buffer-visiting file)))
                      (buffer-list)))
      (with-current-buffer buffer
        (when (and buffer-file-name
                   (or file (buffer-modified-p))
                   (derived-mode-p 'org-mode)
                   (not (buffer-base-buffer))
                   (not org-agent-chat-session)
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

(defun org-agent-notes--file-of (entry)
  "Return the file in which Org or a buffer has the ENTRY, an Org id.
No file is opened for that."
  (unless org-id-locations
    (ignore-errors (org-id-locations-load)))
  (let ((file (or (cl-some
                   (lambda (buffer)
                     (with-current-buffer buffer
                       (and buffer-file-name (derived-mode-p 'org-mode)
                            (not org-agent-chat-session)
                            (not (org-agent-private-p buffer))
                            (org-agent-edit-has-p entry)
                            buffer-file-name)))
                   (buffer-list))
                  (and (hash-table-p org-id-locations)
                       (gethash entry org-id-locations)))))
    (and file (not (file-remote-p file)) (file-truename file))))

(declare-function org-agent-edit-has-p "org-agent-edit")
(declare-function org-agent-agenda-days "org-agent-agenda-days")

(provide 'org-agent-notes)
;;; org-agent-notes.el ends here
