;;; org-agent-block.el --- Source blocks of answers  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What a model wrote as code is wanted elsewhere: in the kill ring, or in
;; the buffer one was in.

;;; Code:

(require 'org)
(require 'org-src)
(require 'org-agent-draft)
(require 'org-agent-chat)

(defconst org-agent-block--regexp
  "^[ \t]*#\\+begin_\\(?:src\\|example\\)\\(?:[ \t].*\\)?\n\\(\\(?:.*\n\\)*?\\)[ \t]*#\\+end_\\(?:src\\|example\\)[ \t]*$"
  "Matches a block; group 1 is its text.")

(defun org-agent-block--text ()
  "Return the text of the block that was just matched, unescaped."
  (org-unescape-code-in-string (match-string-no-properties 1)))

(defun org-agent-block--at-point ()
  "Return the text of the block at point, or nil."
  (save-excursion
    (save-match-data
      (let ((position (point)) found)
        (end-of-line)
        (while (and (not found)
                    (re-search-backward "^[ \t]*#\\+begin_\\(?:src\\|example\\)" nil t))
          (when (and (looking-at org-agent-block--regexp)
                     (<= (match-beginning 0) position (match-end 0)))
            (setq found (org-agent-block--text)))
          (unless found (goto-char (point-min))))
        found))))

(defun org-agent-block--last (beg end)
  "Return the text of the last block between BEG and END, or nil."
  (org-agent-draft--widely
    (goto-char beg)
    (let (found)
      (while (re-search-forward org-agent-block--regexp end t)
        (setq found (org-agent-block--text)))
      found)))

(defun org-agent-block--of-answer ()
  "Return the last block of the answer at point, else of the last with one."
  (let* ((here (org-agent-heading-at (point)))
         (found (and here
                     (org-agent-block--last
                      here (org-agent-subtree-end here)))))
    (or found
        (let (answers)
          (org-agent-map-turns
           (lambda (heading)
             (when (eq (org-agent-turn-p heading) 'agent)
               (push heading answers))))
          (while (and answers (not found))
            (setq found (org-agent-block--last
                         (car answers) (org-agent-subtree-end (car answers)))
                  answers (cdr answers)))
          found))))

(defun org-agent-block--wanted ()
  "Return the text of the block that is wanted here, or signal an error."
  (or (org-agent-block--at-point)
      (org-agent-block--of-answer)
      (user-error "No answer has a source block")))

(defun org-agent-copy-block ()
  "Copy the source block at point, or the last one of the answer.
It is code as it is: without the commas that protect it in Org."
  (interactive)
  (unless (derived-mode-p 'org-mode)
    (user-error "This is no Org buffer"))
  (let ((text (org-agent-block--wanted)))
    (kill-new text)
    (message "Copied %d lines" (length (split-string text "\n" t)))))

(defun org-agent-yank-block ()
  "Insert the last source block of the conversation at point.
In a conversation, insert the block at point, or the last one, into the
buffer one was in before."
  (interactive)
  (if org-agent-chat-session
      (let ((text (org-agent-block--wanted))
            (target (other-buffer (current-buffer) t)))
        (when (buffer-local-value 'buffer-read-only target)
          (user-error "The buffer %s is read-only" (buffer-name target)))
        (with-current-buffer target
          (org-agent-block--insert text))
        (message "Inserted into %s" (buffer-name target)))
    (barf-if-buffer-read-only)
    (let ((chat (or (car (org-agent-chat-buffers))
                    (user-error "No conversation is open"))))
      (org-agent-block--insert
       (with-current-buffer chat
         (save-excursion
           (goto-char (point-max))
           (or (org-agent-block--of-answer)
               (user-error "No answer has a source block"))))))))

(defun org-agent-block--insert (text)
  "Insert TEXT at point as one undo step, the mark before it."
  (push-mark nil t)
  (undo-boundary)
  (insert text)
  (undo-boundary))

(provide 'org-agent-block)
;;; org-agent-block.el ends here
