;;; org-agent-context-show.el --- Showing what will go along  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Behind everything in the draft that will go along with the message its
;; size is shown, or why it cannot go: before it is sent, so that it can
;; be deleted.  The sizes are no text of the buffer.  They are looked up
;; while Emacs is idle, after a command of the person's that changed the
;; conversation; nothing is read for it, and no other machine is asked.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-draft)
(require 'org-agent-chat)
(require 'org-agent-context)
(require 'org-agent-context-read)
(require 'org-agent-remote)

(defface org-agent-context-size '((t :inherit shadow))
  "How the size of what will go along with a message is shown."
  :group 'org-agent)

(defcustom org-agent-context-show-delay 0.3
  "Seconds without a command after which sizes in the draft are shown anew."
  :type 'number
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defvar-local org-agent-context-show--tick nil
  "The state of the text for which sizes are shown.")
(put 'org-agent-context-show--tick 'permanent-local t)

(defvar-local org-agent-context-show--timer nil
  "The timer that will show sizes anew, or nil.")
(put 'org-agent-context-show--timer 'permanent-local t)

(defun org-agent-context-show--mode ()
  "Have sizes shown in this conversation."
  (add-hook 'post-command-hook #'org-agent-context-show--soon nil t)
  (add-hook 'kill-buffer-hook #'org-agent-context-show--stop nil t))

(defun org-agent-context-show--stop ()
  "Give up the timer of this conversation."
  (when org-agent-context-show--timer
    (cancel-timer org-agent-context-show--timer)
    (setq org-agent-context-show--timer nil)))

(defun org-agent-context-show--soon ()
  "Have sizes shown when Emacs is idle, if the text has changed."
  (unless (or org-agent-context-show--timer
              (eql org-agent-context-show--tick (buffer-chars-modified-tick)))
    (setq org-agent-context-show--timer
          (run-with-idle-timer org-agent-context-show-delay nil
                               #'org-agent-context-show--now (current-buffer)))))

(defun org-agent-context-show--now (buffer)
  "Show the sizes in BUFFER, if it is still there."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq org-agent-context-show--timer nil)
      (org-agent-context-show))))

(defun org-agent-context-show ()
  "Show behind each thing in the draft what it will bring."
  (setq org-agent-context-show--tick (buffer-chars-modified-tick))
  (org-agent-draft--widely
    (when-let ((start (org-agent-draft-start)))
      (remove-overlays start (point-max) 'org-agent-context t)
      (dolist (reference (ignore-errors
                           (org-agent-context-references
                            (buffer-substring start (point-max)))))
        (let ((overlay (make-overlay (+ start (plist-get reference :from))
                                     (+ start (plist-get reference :to)))))
          (overlay-put overlay 'org-agent-context t)
          (overlay-put overlay 'evaporate t)
          (overlay-put overlay 'after-string
                       (propertize (concat " (" (org-agent-context-show--told reference)
                                           ")")
                                   'face 'org-agent-context-size)))))))

(defun org-agent-context-show--told (reference)
  "Return in a few words what REFERENCE will bring."
  (let* ((span (plist-get reference :span))
         (path (plist-get reference :path))
         (buffer (pcase (plist-get reference :type)
                   ('buffer (get-buffer path))
                   ('file (org-agent-remote-visiting path)))))
    (cond
     ((and span (buffer-live-p (marker-buffer (car span))))
      (org-agent-context-show--characters (car span) (cdr span)
                                          (marker-buffer (car span))))
     ((eq (plist-get reference :type) 'id) "the heading's subtree")
     ((plist-get reference :heading) "the heading's subtree")
     ((and buffer (not (plist-get reference :lines)))
      (org-agent-context-show--characters
       (with-current-buffer buffer (point-min))
       (with-current-buffer buffer (point-max)) buffer))
     ((eq (plist-get reference :type) 'buffer)
      (if buffer "its lines" "gone"))
     ((file-remote-p path)
      (format (if (org-agent-remote-connected-p path) "on %s"
                "on %s, not connected: open it first")
              (org-agent-remote-host path)))
     (t (org-agent-context-show--file path (plist-get reference :lines))))))

(defun org-agent-context-show--characters (beg end buffer)
  "Return how much text is from BEG to END of BUFFER."
  (with-current-buffer buffer
    (save-restriction
      (widen)
      (org-agent-context-size (- (position-bytes end) (position-bytes beg))))))

(defun org-agent-context-show--file (path lines)
  "Return what the file PATH will bring, or LINES of it."
  (let* ((attributes (file-attributes (file-truename path)))
         (size (file-attribute-size attributes))
         (case-fold-search t))
    (cond
     ((null attributes) "not there")
     ((eq t (file-attribute-type attributes)) "a listing")
     ((not (file-regular-p path)) "no regular file")
     ((cl-some (lambda (regexp) (string-match-p regexp path))
               org-agent-context-secret-names)
      "a secret: asks first")
     (lines "its lines")
     ((> size (if (string-match-p "\\.\\(?:png\\|jpe?g\\|gif\\|webp\\)\\'" path)
                  org-agent-context-image-limit
                org-agent-context-text-limit))
      (concat (org-agent-context-size size) ": too large"))
     (t (org-agent-context-size size)))))

(add-hook 'org-agent-chat-mode-hook #'org-agent-context-show--mode)

(provide 'org-agent-context-show)
;;; org-agent-context-show.el ends here
