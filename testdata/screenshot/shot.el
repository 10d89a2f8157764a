;;; shot.el --- A frame to take pictures of  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What the pictures have in common: what the frame looks like, when the
;; conversation is quiet, and the writing of an image.

;;; Code:

;; The libraries of an Emacs that has been used are compiled already.
(setq native-comp-deferred-compilation nil)

(require 'org-agent)

(defun shot-begin (columns lines height)
  "Open the chat in a frame of COLUMNS and LINES, in letters of HEIGHT."
  (setq inhibit-startup-screen t
        use-dialog-box nil)
  (menu-bar-mode -1)
  (tool-bar-mode -1)
  (scroll-bar-mode -1)
  (blink-cursor-mode -1)
  (modify-frame-parameters nil '((internal-border-width . 8)))
  (load-theme 'modus-operandi t)
  (set-face-attribute 'default nil :family "DejaVu Sans Mono" :height height)
  ;; Else the font of blocks is another one on some systems, and taller.
  (set-face-attribute 'fixed-pitch nil :family "DejaVu Sans Mono")
  (set-frame-size nil columns lines)
  (org-agent-chat))

(defun shot-quiet-p ()
  "Return non-nil when the conversation is there and nothing goes on in it."
  (with-current-buffer "*org-agent-chat*"
    (and (eq org-agent-chat-attached t)
         (not (org-agent-chat-get :phase))
         (not (org-agent-answer-previews-p))
         (not (buffer-modified-p)))))

(defun shot-shown-p (buffer text)
  "Return non-nil when BUFFER has TEXT."
  (and (get-buffer buffer)
       (with-current-buffer buffer
         (save-excursion
           (goto-char (point-min))
           (search-forward text nil t)))))

(defun shot-write (file)
  "Write the frame into the image FILE."
  (redisplay t)
  (let ((coding-system-for-write 'binary))
    (write-region (x-export-frames nil 'png) nil file nil 'silent)))

;;;; Steps

(defvar shot-steps nil
  "What is to be done, in order: when the first function agrees, the second.")

(defvar shot-timeout 60
  "Seconds after which a step is waited for in vain.")

(defvar shot-since (float-time)
  "When the latest step was done.")

(defun shot-play (steps &optional pause)
  "Do STEPS one after the other, looking every PAUSE seconds, and end.
STEPS are pairs of functions: when the first agrees, the second is called."
  (setq shot-steps steps)
  (run-with-timer 1 (or pause 0.4) #'shot--look))

(defun shot--look ()
  "Do the next step if it is time for it; end behind the last."
  (cond ((not shot-steps)
         (shot-end))
        ((funcall (caar shot-steps))
         (condition-case err
             ;; A timer runs where the command loop was, not where a step went.
             (with-current-buffer (window-buffer (selected-window))
               (funcall (cdr (pop shot-steps))))
           (error (shot--fail (error-message-string err))))
         (setq shot-since (float-time)))
        ((> (- (float-time) shot-since) shot-timeout)
         (shot--fail "nothing more came"))))

(defun shot--fail (what)
  "Say WHAT went wrong at which step and end."
  (princ (format "pictures: %s, with %d steps to go\n" what (length shot-steps))
         #'external-debugging-output)
  (kill-emacs 1))

(defun shot-end ()
  "End this Emacs and ask nothing."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer (set-buffer-modified-p nil)))
  (kill-emacs))

(provide 'shot)
;;; shot.el ends here
