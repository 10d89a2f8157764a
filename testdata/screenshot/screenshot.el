;;; screenshot.el --- Have a conversation and export the frame  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: emacs -Q -L elisp -l testdata/screenshot/screenshot.el IMAGE
;;
;; Asks what the scripted model knows answers to, one after the other, and
;; writes the frame to the file IMAGE when all are there.

;;; Code:

(load (expand-file-name "shot" (file-name-directory load-file-name)) nil t)

(defvar shot-file (expand-file-name (pop command-line-args-left))
  "The image.")

(defvar shot-questions '("How do I undo my last commit, but keep the changes?"
                         "And if I have pushed it already?")
  "What is still to be asked.")

(defvar shot-draft "Make me an alias for"
  "What stands in the draft at the end.")

(defvar shot-answering nil
  "Non-nil when the latest question was seen to be answered.")

(defun shot-ask ()
  "Ask the next question."
  (goto-char (point-max))
  (insert (pop shot-questions))
  (setq shot-answering nil)
  (org-agent-send))

(defun shot-export ()
  "Write the image."
  (goto-char (point-max))
  (insert shot-draft)
  (set-window-start nil (point-min))
  (message nil)
  (shot-write shot-file)
  (shot-end))

(defun shot-look ()
  "Ask, or write the image, when nothing goes on."
  (with-current-buffer "*org-agent-chat*"
    (cond
     ((org-agent-chat-get :phase) (setq shot-answering t))
     ((not (shot-quiet-p)))
     ((and (not shot-answering) (= 2 (length shot-questions))) (shot-ask))
     ((not shot-answering))
     (shot-questions (shot-ask))
     (t (shot-export)))))

(shot-begin 100 40 110)
(switch-to-buffer "*org-agent-chat*")
(delete-other-windows)
(run-with-timer 1 0.2 #'shot-look)

(provide 'screenshot)
;;; screenshot.el ends here
