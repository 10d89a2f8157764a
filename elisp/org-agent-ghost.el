;;; org-agent-ghost.el --- Text that is proposed where one writes  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A ghost is text that is seen behind point and is not in the buffer: the
;; string of one overlay, of the window one writes in.  There is one at a
;; time in an Emacs.  It is never in the undo list, in what is saved or
;; copied, and it moves nothing.  It goes at the next command, unless that
;; has the property `org-agent-ghost-keeps', and when the text beside it
;; changes.

;;; Code:

(require 'cl-lib)

(defface org-agent-ghost '((t :inherit shadow))
  "Face of text that is proposed and not there."
  :group 'org-agent)

(defvar org-agent-ghost--overlay nil
  "The overlay that shows the ghost, or nil when none was shown yet.")

(defvar org-agent-ghost--text nil
  "The text of the ghost, nil when there is none.")

(defvar-local org-agent-ghost-shown nil
  "Non-nil while a ghost is shown in this buffer.")

(defun org-agent-ghost-show (text)
  "Show TEXT, which is not empty, behind point, in the selected window."
  (org-agent-ghost-hide)
  (unless org-agent-ghost--overlay
    (setq org-agent-ghost--overlay (make-overlay (point) (point))))
  (let ((overlay org-agent-ghost--overlay))
    (move-overlay overlay (point) (point) (current-buffer))
    (overlay-put overlay 'window (selected-window))
    (overlay-put overlay 'priority 100)
    (overlay-put overlay 'after-string (org-agent-ghost--string text)))
  (setq org-agent-ghost--text text
        org-agent-ghost-shown t)
  (add-hook 'pre-command-hook #'org-agent-ghost--before-command nil t)
  (add-hook 'post-command-hook #'org-agent-ghost--after-command nil t)
  (add-hook 'after-change-functions #'org-agent-ghost--after-change nil t)
  (add-hook 'change-major-mode-hook #'org-agent-ghost-hide nil t)
  (add-hook 'kill-buffer-hook #'org-agent-ghost-hide nil t))

(defun org-agent-ghost--string (text)
  "Return TEXT as it is shown behind point.
The cursor stands before it, and lines are indented as this one is.
Before a line break it would not: there it stands on a blank."
  (let ((string (propertize (if (string-prefix-p "\n" text)
                                (concat " " text)
                              text)
                            'face 'org-agent-ghost)))
    (dolist (property '(line-prefix wrap-prefix))
      (when-let ((value (get-char-property (line-beginning-position) property)))
        (put-text-property 0 (length string) property value string)))
    (put-text-property 0 1 'cursor t string)
    string))

(defun org-agent-ghost-hide ()
  "Show no ghost any more, wherever it is."
  (setq org-agent-ghost--text nil)
  (when-let* ((overlay org-agent-ghost--overlay)
              (buffer (overlay-buffer overlay)))
    (overlay-put overlay 'after-string nil)
    (delete-overlay overlay)
    (with-current-buffer buffer
      (setq org-agent-ghost-shown nil)
      (remove-hook 'pre-command-hook #'org-agent-ghost--before-command t)
      (remove-hook 'post-command-hook #'org-agent-ghost--after-command t)
      (remove-hook 'after-change-functions #'org-agent-ghost--after-change t)
      (remove-hook 'change-major-mode-hook #'org-agent-ghost-hide t)
      (remove-hook 'kill-buffer-hook #'org-agent-ghost-hide t))))

(defun org-agent-ghost-at-point ()
  "Return the text of the ghost that is shown at point, or nil."
  (and org-agent-ghost-shown
       ;; A clone of the buffer has its variables, and no ghost.
       (eq (overlay-buffer org-agent-ghost--overlay) (current-buffer))
       (eql (overlay-start org-agent-ghost--overlay) (point))
       org-agent-ghost--text))

(defun org-agent-ghost--before-command ()
  "Hide the ghost before a command that is not about it."
  (unless (and (symbolp this-command)
               (get this-command 'org-agent-ghost-keeps))
    (org-agent-ghost-hide)))

(defun org-agent-ghost--after-command ()
  "Hide the ghost when a command that keeps it has moved point."
  (unless (org-agent-ghost-at-point)
    (org-agent-ghost-hide)))

(defun org-agent-ghost--after-change (beg end _length)
  "Hide the ghost when the text from BEG to END, which changed, touches it."
  (let ((place (overlay-start org-agent-ghost--overlay)))
    (when (or (null place) (<= beg place end))
      (org-agent-ghost-hide))))

(provide 'org-agent-ghost)
;;; org-agent-ghost.el ends here
