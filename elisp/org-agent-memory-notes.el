;;; org-agent-memory-notes.el --- Which notes of yours are looked through  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The agent can look through Org files of yours, which it never writes
;; to.  Which these are stands in config.org, below "Settings", as NOTES.
;; As long as nothing stands there `org-agent-memory' says so, and
;; `org-agent-memory-notes' asks and writes the answer, yes or no.

;;; Code:

(require 'org)
(require 'org-agent-kernel)

(defun org-agent-memory-notes-offer ()
  "Return what is said where it is open which notes may be looked through.
Nil when there is nothing to offer."
  (and (stringp org-directory)
       (not (file-remote-p org-directory))
       (file-directory-p org-directory)
       (substitute-command-keys
        (format-message "Your notes in %s are not looked through: \\[org-agent-memory-notes] asks whether they may be"
                        (abbreviate-file-name
                         (directory-file-name (expand-file-name org-directory)))))))

(defun org-agent-memory-notes--read ()
  "Ask which directory may be looked through, and return it, or nil for none."
  (if current-prefix-arg
      (read-directory-name "Let the agent look through: " org-directory nil t)
    (and (file-directory-p org-directory)
         (y-or-n-p (format "Let the agent look through %s, which it never writes to? "
                           (abbreviate-file-name org-directory)))
         org-directory)))

;;;###autoload
(defun org-agent-memory-notes (directory)
  "Let the agent look through the Org files of DIRECTORY, never to write there.
You are asked about `org-directory'; with a prefix argument, which one.
Nil is none.  The answer is written into config.org."
  (interactive (list (org-agent-memory-notes--read)))
  (let ((file (expand-file-name "config.org" (org-agent-home-directory))))
    (when (and (get-file-buffer file)
               (buffer-modified-p (get-file-buffer file)))
      (user-error "Save %s first" (abbreviate-file-name file)))
    (with-current-buffer (find-file-noselect file)
      (org-with-wide-buffer
       (goto-char (point-min))
       (unless (re-search-forward "^\\* Settings[ \t]*$" nil t)
         (goto-char (point-max))
         (unless (bolp) (insert "\n"))
         (insert "* Settings"))
       (org-back-to-heading t)
       (org-entry-put nil "NOTES" (org-agent-memory-notes--value
                                   (org-entry-get nil "NOTES") directory)))
      (let ((save-silently t))
        (save-buffer)))
    (message "%s" (if directory
                      (format "The agent looks through %s from its next start on (M-x org-agent-stop ends it)"
                              (abbreviate-file-name directory))
                    "The agent looks through no notes of yours"))))

(defun org-agent-memory-notes--value (old directory)
  "Return the value of NOTES that was OLD, with DIRECTORY too; nil is none."
  (let* ((known (and old (not (member old '("" "none"))) old))
         (name (and directory
                    (directory-file-name
                     (abbreviate-file-name (expand-file-name directory)))))
         (written (if (and name (string-match-p "[ \t,]" name))
                      (format "\"%s\"" name)
                    name)))
    (cond ((not name) (or known "none"))
          ((not known) written)
          ((member name (split-string-and-unquote known)) known)
          (t (concat known " " written)))))

(provide 'org-agent-memory-notes)
;;; org-agent-memory-notes.el ends here
