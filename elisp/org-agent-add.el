;;; org-agent-add.el --- Adding things to the next message  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-add' lists what the person is at in the draft of the
;; conversation they used last.  The line is theirs then: they may delete
;; it, or change which lines are meant.  It is read when the message is
;; sent (see org-agent-context-read.el); until then a region follows the
;; edits around it.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org)
(require 'org-agent-answer)
(require 'org-agent-chat)
(require 'org-agent-context)
(require 'org-agent-context-read)
(require 'org-agent-remote)

(declare-function dired-get-marked-files "dired")
(declare-function dired-get-filename "dired")

(defun org-agent-add (&optional argument)
  "Have what you are at go along with your next message to the agent.
That is the active region; in Dired the marked files; in an image the
image; on a link to a file, a directory or a heading what it leads to;
with a prefix ARGUMENT, in Org, the subtree; else this buffer.

It is listed in the draft of the conversation used last and sent, as it
is then, with the message.  With two prefix arguments, or with one
outside Org, ask which conversation."
  (interactive "P")
  (let* ((references (org-agent-add--references argument))
         (session (org-agent-add--session
                   (or (> (prefix-numeric-value argument) 4)
                       (and argument (not (derived-mode-p 'org-mode))))))
         (added (mapcar #'org-agent-add--checked references))
         (buffer (org-agent-chat-open session)))
    (with-current-buffer buffer
      (org-agent-chat-restore-draft)
      (pcase-dolist (`(,reference . ,_) added)
        (org-agent-add-line reference)))
    (when (region-active-p)
      (setq deactivate-mark t))
    (message "%s %s along with the next message in %s"
             (mapconcat (lambda (pair)
                          (format "%s (%s)" (org-agent-context-name (car pair))
                                  (org-agent-context-size (cdr pair))))
                        added ", ")
             (if (cdr added) "go" "goes") (buffer-name buffer))))

(defun org-agent-add--session (ask)
  "Return the session whose conversation was used last; if ASK, the person's."
  (if ask
      (org-agent-chat-read-session)
    (org-agent-chat-session-in-use)))

(defun org-agent-add--checked (reference)
  "Return (REFERENCE . BYTES) if what it names can be sent.
A secret that the person agreed to is not asked about again."
  (when (eq (plist-get reference :type) 'file)
    (org-agent-remote-offer (plist-get reference :path)))
  (let ((item (org-agent-context-read reference)))
    (cons (append (list :agreed t) reference)
          (org-agent-context-bytes item))))

;;;; What the person is at

(defun org-agent-add--references (argument)
  "Return the references to what the person is at, as ARGUMENT wants it."
  (cond
   ((use-region-p) (list (org-agent-add--region (region-beginning) (region-end))))
   ((derived-mode-p 'dired-mode) (org-agent-add--dired))
   ((and (derived-mode-p 'image-mode) buffer-file-name)
    (list (org-agent-context-of-buffer (current-buffer))))
   ((and argument (derived-mode-p 'org-mode)
         (= (prefix-numeric-value argument) 4))
    (list (org-agent-add--subtree)))
   ((org-agent-add--link))
   (org-agent-chat-session
    (user-error "This is the conversation itself; add from another buffer, from a region of this one or on a link"))
   (t (list (org-agent-context-of-buffer (current-buffer))))))

(defun org-agent-add--region (beg end)
  "Return the reference to the text from BEG to END."
  (append (org-agent-context-of-buffer (current-buffer))
          (list :lines (cons (line-number-at-pos beg t)
                             (org-agent-context-last-line beg end))
                :span (cons (copy-marker beg) (copy-marker end)))))

(defun org-agent-add--dired ()
  "Return the references to the marked files, or to the one at point."
  (mapcar (lambda (file)
            (list :type 'file
                  :path (if (and (not (org-agent-remote-silent-p file))
                                 (file-directory-p file))
                            (file-name-as-directory file)
                          file)))
          (or (dired-get-marked-files nil nil nil nil)
              (user-error "There is no file here"))))

(defun org-agent-add--subtree ()
  "Return the reference to the subtree that point is in."
  (save-excursion
    (when (org-before-first-heading-p)
      (user-error "There is no heading here"))
    (org-back-to-heading t)
    (let ((id (org-entry-get nil "ID"))
          (heading (org-get-heading t t t t))
          (span (cons (point-marker)
                      (save-excursion (org-end-of-subtree t t) (point-marker)))))
      (when (string-empty-p heading)
        (user-error "The heading here has no words to know it by"))
      (append (if id (list :type 'id :path id :name heading)
                (append (org-agent-context-of-buffer (current-buffer))
                        (list :heading heading)))
              (list :span span)))))

(defun org-agent-add--link ()
  "Return a list of the reference that the link at point is, or nil.
A link that leads elsewhere is an error: nothing is fetched."
  (let* ((context (and (derived-mode-p 'org-mode) (org-element-context)))
         (link (and (eq (org-element-type context) 'link)
                    (org-element-property :raw-link context))))
    (when link
      (list (or (org-agent-context--of-link link)
                (user-error "Nothing is read from %s; open it and add the buffer, or a region of it"
                            link))))))

;;;; The draft

(defun org-agent-add-file (file)
  "Have FILE go along with the next message in this conversation."
  (org-agent-chat-check-whole)
  (pcase-let ((`(,reference . ,bytes)
               (org-agent-add--checked (list :type 'file :path file))))
    (org-agent-chat-restore-draft)
    (org-agent-add-line reference)
    (message "%s (%s) goes along with the next message"
             (org-agent-context-name reference)
             (org-agent-context-size bytes))))

(defun org-agent-add-line (reference)
  "List REFERENCE at the end of this conversation's draft, once.
Point stays, and so does what was written."
  (let* ((said (org-agent-context-link
                reference (or (plist-get reference :name)
                              (org-agent-context-name reference))))
         (line (org-agent-context-line said)))
    (unless (cl-find reference (cdr (org-agent-context-draft))
                     :test #'org-agent-context-same-p)
      (save-excursion
        (save-restriction
          (widen)
          (goto-char (point-max))
          (unless (bolp) (insert "\n"))
          ;; On one character only: what is typed behind it is not meant.
          (put-text-property 0 1 'org-agent-context
                             (list :line said :span (plist-get reference :span)
                                   :agreed (plist-get reference :agreed))
                             line)
          (insert line))))))

(provide 'org-agent-add)
;;; org-agent-add.el ends here
