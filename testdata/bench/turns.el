;;; turns.el --- What each turn costs an Emacs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What the measured chats have in common: the processor time of each of
;; BENCH_TURNS turns goes, in seconds and a line each, to the file
;; BENCH_RESULT.  With BENCH_LATENCY, latency.el measures other things.

;;; Code:

;; An Emacs that has been used has compiled its libraries; this one would
;; do so for the first time, on the processors that are measured.
(setq native-comp-deferred-compilation nil)

(defvar bench-used nil
  "The processor times of the turns, newest first.")

(defvar bench-began nil
  "The processor time when the turn began.")

(defun bench-processor-time ()
  "Return the processor time of this Emacs, in seconds."
  (float-time (get-internal-run-time)))

(defun bench-begin ()
  "Note that a turn begins."
  (garbage-collect)
  (setq bench-began (bench-processor-time)))

(defun bench-report ()
  "Return the text of the result."
  (mapconcat (lambda (used) (format "%f\n" used)) (reverse bench-used) ""))

(defun bench-end ()
  "Note what the turn took; behind the last one write the file and end."
  (push (- (bench-processor-time) bench-began) bench-used)
  (unless (< (length bench-used) (string-to-number (getenv "BENCH_TURNS")))
    (let ((file (getenv "BENCH_RESULT")))
      (with-temp-file (concat file ".part")
        (insert (bench-report)))
      (rename-file (concat file ".part") file))
    (kill-emacs)))

(when (getenv "BENCH_LATENCY")
  (load (expand-file-name "latency" (file-name-directory load-file-name)) nil t))

(provide 'turns)
;;; turns.el ends here
