;;; stream.el --- What streamed answers cost an Emacs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: emacs -nw -Q -L elisp -l testdata/bench/stream.el
;;
;; Opens the chat and asks as often as turns.el says.  The window shows
;; the end of the conversation all the time, so that every change is drawn.

;;; Code:

(load (expand-file-name "turns" (file-name-directory load-file-name)) nil t)
(require 'org-agent)

(defvar bench-answering nil
  "Non-nil when the turn was seen to be answered.")

(defun bench-ask ()
  "Ask something."
  (goto-char (point-max))
  (insert "What came by?")
  (setq bench-answering nil)
  (bench-begin)
  (org-agent-send))

(defun bench-idle-p ()
  "Return non-nil when the turn is over and all of it is saved."
  (and (not (org-agent-chat-get :phase))
       (not (org-agent-answer-previews-p))
       (not (buffer-modified-p))))

(defun bench-look ()
  "Ask when nothing goes on, and note what the last turn took."
  (with-current-buffer "*org-agent-chat*"
    (cond
     ((not (eq org-agent-chat-attached t)))
     ((not bench-began) (bench-ask))
     ((org-agent-chat-get :phase) (setq bench-answering t))
     ((and bench-answering (bench-idle-p))
      (bench-end)
      (bench-ask)))))

(advice-add 'org-agent-turn-delta :before #'bench-piece)
(org-agent-chat)
(switch-to-buffer "*org-agent-chat*")
(delete-other-windows)
(run-with-timer 0.2 0.2 #'bench-look)

(provide 'stream)
;;; stream.el ends here
