;;; org-agent-remote.el --- Files on other machines  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Emacs reads files of other machines, and asks them, over connections
;; that may take long to open and may want a password.  Nothing of the
;; agent opens one by itself: not what is shown of a draft, not a message
;; that is sent.  What is on a machine to which there is no connection is
;; named as that; a person who adds it is offered to connect.
;;
;; The kernel is given the text, and the file's whole name with its
;; machine, which it takes for no file of its own.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defun org-agent-remote-connected-p (path)
  "Return non-nil when there is a connection to the machine that PATH is on."
  (and (file-remote-p path nil t) t))

(defun org-agent-remote-silent-p (path)
  "Return non-nil when PATH is on a machine to which there is no connection.
PATH may be relative to the directory of this buffer."
  (let ((remote (or (file-remote-p path)
                    (and (not (file-name-absolute-p path))
                         (file-remote-p default-directory)))))
    (and remote (not (org-agent-remote-connected-p remote)))))

(defun org-agent-remote-host (path)
  "Return how a person knows the machine that PATH is on."
  (or (file-remote-p path 'host) (file-remote-p path) "this machine"))

(defun org-agent-remote-visiting (path)
  "Return the buffer that visits PATH, or nil; no other machine is asked.
A file there is known by its name alone."
  (if (file-remote-p path)
      (cl-find path (buffer-list)
               :key (lambda (buffer)
                      (buffer-local-value 'buffer-file-name buffer))
               :test #'equal)
    (find-buffer-visiting path)))

(defun org-agent-remote-offer (path)
  "Offer the person to connect to the machine that PATH is on, if there is need."
  (when (and (org-agent-remote-silent-p path)
             (not (org-agent-remote-visiting path))
             (y-or-n-p (format "There is no connection to %s.  Connect to it? "
                               (org-agent-remote-host path))))
    (condition-case err
        (file-attributes path)
      (file-error (user-error "No connection to %s: %s"
                              (org-agent-remote-host path)
                              (error-message-string err))))))

(provide 'org-agent-remote)
;;; org-agent-remote.el ends here
