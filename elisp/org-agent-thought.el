;;; org-agent-thought.el --- What a model thinks before it answers  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Thoughts are counted in the header line while they come.  Whoever wants
;; to read them meanwhile opens them: they are shown in a buffer of their
;; own, as plain text.  The answer has them in a folded drawer, THOUGHTS,
;; beside the calls of tools, CALLS.

;;; Code:

(require 'org-agent-chat)
(require 'org-agent-header)

(defcustom org-agent-show-thoughts nil
  "Non-nil means that thoughts and calls stand unfolded in an answer.
TAB on the first line of their drawer opens and closes it."
  :type 'boolean
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defvar-local org-agent-thought--text nil
  "The turn and what its model thought so far: (TURN . STRING).")
(put 'org-agent-thought--text 'permanent-local t)

(defconst org-agent-thought--limit 200000
  "Characters of thoughts that are kept for reading meanwhile.")

(defun org-agent-thought--buffer-name ()
  "Return the name of the buffer for the thoughts of this conversation."
  (format "*org-agent thoughts: %s*" org-agent-chat-session))

(cl-defmethod org-agent-handle-notification ((_method (eql 'turn/thought))
                                             params)
  "Count what the model thinks, as PARAMS say; show it where that is open."
  (org-agent-chat-in (plist-get params :session)
    (let ((turn (plist-get params :turn))
          (text (or (plist-get params :text) "")))
      (unless (equal turn (car org-agent-thought--text))
        (setq org-agent-thought--text (list turn))
        (org-agent-thought--show t ""))
      (when (<= (or (plist-get params :chars) 0) org-agent-thought--limit)
        (push text (cdr org-agent-thought--text)))
      (org-agent-chat-put :thought (plist-get params :chars))
      (org-agent-thought--show nil text))))

(defun org-agent-thought--show (anew text)
  "Add TEXT to the buffer of thoughts, if there is one; ANEW empties it."
  (when-let ((buffer (get-buffer (org-agent-thought--buffer-name))))
    (with-current-buffer buffer
      (let ((inhibit-read-only t))
        (when anew (erase-buffer))
        (save-excursion
          (goto-char (point-max))
          (when (< (buffer-size) org-agent-thought--limit)
            (insert text)))))))

(defun org-agent-thoughts ()
  "Show what the model of this conversation thinks, as it comes."
  (interactive)
  (org-agent-chat-check)
  (let ((text (apply #'concat (reverse (cdr org-agent-thought--text))))
        (name (org-agent-thought--buffer-name)))
    (with-current-buffer (get-buffer-create name)
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert text)
        (special-mode)
        (visual-line-mode 1)))
    (display-buffer name)))

(provide 'org-agent-thought)
;;; org-agent-thought.el ends here
