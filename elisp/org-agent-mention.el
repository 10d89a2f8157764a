;;; org-agent-mention.el --- Naming things in a message with @  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Behind an at sign in the draft `completion-at-point' knows the region
;; of the buffer one looks at, buffers, headings of Org buffers and, after
;; a slash, files.  What is chosen becomes a link, which is what goes
;; along: there is no second notation to learn, and it can be read in
;; twenty years.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org)
(require 'org-agent-chat)
(require 'org-agent-command)
(require 'org-agent-context)
(require 'org-agent-context-read)
(require 'org-agent-add)
(require 'org-agent-preset)
(require 'org-agent-remote)

(defconst org-agent-mention-heading-limit 2000
  "Headings that are offered.")

(defun org-agent-mention-completion ()
  "Complete what is named behind an at sign in the draft.
This is for `completion-at-point-functions'."
  (let ((end (point)))
    (save-excursion
      (when (and (re-search-backward "\\(?:^\\|[ \t(]\\)@\\([^\n@]\\{0,100\\}\\)"
                                     (line-beginning-position) t)
                 (org-agent-draft-p (match-beginning 1))
                 (<= (match-beginning 1) end))
        (let* ((beg (match-beginning 1))
               (said (buffer-substring-no-properties beg end)))
          (unless (string-match-p "[])]" said)
            (if (string-match-p "\\`\\(?:\\.\\.?/\\|~\\|/\\)" said)
                (list beg end (if (org-agent-remote-silent-p said)
                                  #'ignore
                                #'completion-file-name-table)
                      :exclusive 'no
                      :exit-function #'org-agent-mention--file-chosen)
              (let ((known (org-agent-mention--known)))
                (list beg end
                      (lambda (string predicate action)
                        (if (eq action 'metadata)
                            '(metadata (category . org-agent-mention))
                          (complete-with-action action (mapcar #'car known)
                                                string predicate)))
                      :exclusive 'no
                      :annotation-function
                      (lambda (name)
                        (concat "  " (cadr (assoc name known))))
                      :exit-function
                      (lambda (name status)
                        (when (eq status 'finished)
                          (when-let ((chosen (nth 2 (assoc name known))))
                            (org-agent-mention--insert name chosen)))))))))))))

(defun org-agent-mention--known ()
  "Return what can be named: a list of (NAME ANNOTATION FUNCTION).
FUNCTION returns the reference."
  (let ((looked (org-agent-command--looked-at)) known)
    (when looked
      (with-current-buffer looked
        (when (and (mark t) (/= (mark t) (point)))
          (let ((beg (min (point) (mark t))) (end (max (point) (mark t))))
            (push (list "region"
                        (format "%s, from line %d" (buffer-name)
                                (line-number-at-pos beg t))
                        (lambda ()
                          (with-current-buffer looked
                            (org-agent-add--region beg end))))
                  known)))
        (when (derived-mode-p 'org-mode)
          (setq known (append (org-agent-mention--headings) known)))))
    (append (org-agent-preset-mentions) known (org-agent-mention--buffers))))

(defun org-agent-mention--headings ()
  "Return the headings of this buffer, as `org-agent-mention--known' does."
  (let ((buffer (current-buffer)) (count 0) headings)
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (while (and (< count org-agent-mention-heading-limit)
                    (re-search-forward "^\\*+ " nil t))
          (let ((title (org-get-heading t t t t))
                (position (copy-marker (match-beginning 0))))
            (cl-incf count)
            (unless (string-empty-p title)
              (push (list (concat "*" (substring-no-properties title))
                          (buffer-name)
                          (lambda ()
                            (with-current-buffer buffer
                              (save-excursion
                                (goto-char position)
                                (org-agent-add--subtree)))))
                    headings))))))
    (nreverse headings)))

(defun org-agent-mention--buffers ()
  "Return the buffers, as `org-agent-mention--known' does."
  (cl-loop for buffer in (buffer-list)
           unless (or (string-prefix-p " " (buffer-name buffer))
                      (buffer-local-value 'org-agent-chat-session buffer)
                      (org-agent-command--private-p buffer))
           collect (let ((buffer buffer))
                     (list (buffer-name buffer)
                           (if (buffer-file-name buffer)
                               (org-agent-context--abbreviate
                                (buffer-file-name buffer))
                             "buffer")
                           (lambda () (org-agent-context-of-buffer buffer))))))

(defun org-agent-mention--insert (name function)
  "Put the link to what FUNCTION returns in the place of NAME and its at sign."
  (let* ((end (point)) (beg (- end (length name) 1)))
    (when (and (>= beg (point-min)) (eq (char-after beg) ?@))
      (let* ((reference (funcall function))
             (said (org-agent-context-link
                    reference (or (plist-get reference :name)
                                  (org-agent-context-name reference)))))
        (put-text-property 0 1 'org-agent-context
                           (list :line said :span (plist-get reference :span))
                           said)
        (delete-region beg end)
        (insert said)))))

(defun org-agent-mention--file-chosen (name status)
  "Put a link in the place of the file NAME when STATUS says it is chosen."
  (when (and (eq status 'finished) (not (directory-name-p name)))
    (org-agent-mention--insert
     name (lambda ()
            (list :type 'file :path (if (file-remote-p name) name
                                      (expand-file-name name)))))))

(defun org-agent-mention--in-chat ()
  "Have what is named completed in this conversation."
  (add-hook 'completion-at-point-functions #'org-agent-mention-completion
            nil t))

(add-hook 'org-agent-chat-mode-hook #'org-agent-mention--in-chat)

(provide 'org-agent-mention)
;;; org-agent-mention.el ends here
