;;; org-agent-pending.el --- Show where something is to come  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A text that is being rewritten, and a place where an answer is to be
;; inserted, are in a buffer of the person's, where nothing is seen of a
;; turn.  This file shows at the place that something is to come, in the
;; mode line that there is such a place, and has a command that stops it.

;;; Code:

(require 'cl-lib)
(require 'org-agent-layout)

(defface org-agent-pending '((t :inherit org-agent-page-question))
  "Face of a text in whose place a new one is to come."
  :group 'org-agent-ask)

(defvar-local org-agent-pending--overlays nil
  "The places of this buffer where something is to come.")
(put 'org-agent-pending--overlays 'permanent-local t)

(defconst org-agent-pending--lighter
  '(org-agent-pending--overlays (:propertize " Asked" face mode-line-emphasis))
  "What the mode line has where something is to come, as a minor mode does.")

(defvar org-agent-pending-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-k") #'org-agent-stop-here)
    map)
  "Keymap of a text in whose place a new one is to come.")

(defun org-agent-pending-show (beg end what stop)
  "Show from BEG to END that something is to come; return an overlay.
WHAT says what.  STOP is called, without arguments, to stop it."
  (add-to-list 'minor-mode-alist org-agent-pending--lighter)
  (let ((overlay (make-overlay beg end)))
    (overlay-put overlay 'face 'org-agent-pending)
    (overlay-put overlay 'keymap org-agent-pending-map)
    (overlay-put overlay 'org-agent-pending stop)
    (overlay-put overlay 'after-string
                 (propertize (concat (org-agent-layout-glyph "  … " "  ")
                                     (substitute-command-keys what))
                             'face 'shadow))
    (with-current-buffer (overlay-buffer overlay)
      (push overlay org-agent-pending--overlays)
      (force-mode-line-update))
    overlay))

(defun org-agent-pending-hide (overlay)
  "Show no more that something is to come at OVERLAY, which may be nil."
  (when-let* ((overlay overlay)
              (buffer (overlay-buffer overlay)))
    (with-current-buffer buffer
      (setq org-agent-pending--overlays (delq overlay org-agent-pending--overlays))
      (force-mode-line-update))
    (delete-overlay overlay)))

;;;###autoload
(defun org-agent-stop-here ()
  "Stop what is to come at point: a new text, or an answer."
  (interactive)
  (let ((overlay (or (cl-find-if (lambda (overlay)
                                   (<= (overlay-start overlay) (point) (overlay-end overlay)))
                                 org-agent-pending--overlays)
                     (user-error "Nothing is to come at point"))))
    (funcall (overlay-get overlay 'org-agent-pending))))

(provide 'org-agent-pending)
;;; org-agent-pending.el ends here
