;;; stream.el --- What streamed answers cost an Emacs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: emacs -nw -Q -L elisp -l testdata/bench/stream.el
;;
;; Opens the chat, asks as often as BENCH_TURNS says and writes the
;; processor time of each turn, in seconds and a line each, to the file
;; BENCH_RESULT.  The window shows the end of the conversation all the
;; time, so that every change is drawn.

;;; Code:

;; An Emacs that has been used has compiled its libraries; this one would
;; do so for the first time, on the processors that are measured.
(setq native-comp-deferred-compilation nil)

(require 'org-agent)

(defvar bench-used nil
  "The processor times of the turns, newest first.")

(defvar bench-began nil
  "The processor time when the turn began.")

(defvar bench-answering nil
  "Non-nil when the turn was seen to be answered.")

(defun bench-processor-time ()
  "Return the processor time of this Emacs, in seconds."
  (float-time (get-internal-run-time)))

(defun bench-ask ()
  "Ask something."
  (goto-char (point-max))
  (insert "What came by?")
  (garbage-collect)
  (setq bench-answering nil
        bench-began (bench-processor-time))
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
      (push (- (bench-processor-time) bench-began) bench-used)
      (if (< (length bench-used)
             (string-to-number (getenv "BENCH_TURNS")))
          (bench-ask)
        (let ((file (getenv "BENCH_RESULT")))
          (with-temp-file (concat file ".part")
            (dolist (used (reverse bench-used))
              (insert (format "%f\n" used))))
          (rename-file (concat file ".part") file))
        (kill-emacs))))))

(org-agent-chat)
(switch-to-buffer "*org-agent-chat*")
(delete-other-windows)
(run-with-timer 0.2 0.2 #'bench-look)

(provide 'stream)
;;; stream.el ends here
