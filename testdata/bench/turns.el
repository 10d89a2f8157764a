;;; turns.el --- What each turn costs an Emacs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What the measured chats have in common: the processor time of each of
;; BENCH_TURNS turns goes, in seconds and a line each, to the file
;; BENCH_RESULT.  With BENCH_LATENCY, latency.el measures other things.

;;; Code:

(require 'cl-lib)

;; An Emacs that has been used has compiled its libraries; this one would
;; do so for the first time, on the processors that are measured.
(setq native-comp-deferred-compilation nil)

(defvar bench-used nil
  "The processor times of the turns, newest first.")

(defvar bench-began nil
  "The processor time when the turn began.")

(defvar bench-allocated nil
  "How many bytes had been allocated when the turn began.")

(defvar bench-pieces 0
  "How many pieces of the answer were shown in the turn.")

(defvar bench-turn-functions nil
  "Functions that are called with the bytes and the pieces of each turn.")

(defun bench-bytes ()
  "Return how many bytes this Emacs has allocated for Lisp objects.
The sizes are those of a processor of 64 bits: conses, floats, cells of
vectors, symbols, characters, intervals of text properties and strings."
  (apply #'+ (cl-mapcar #'* '(16 8 8 48 1 56 32) (memory-use-counts))))

(defun bench-piece (&rest _)
  "Note that a piece of the answer was shown."
  (setq bench-pieces (1+ bench-pieces)))

(defun bench-processor-time ()
  "Return the processor time of this Emacs, in seconds."
  (float-time (get-internal-run-time)))

(defun bench-begin ()
  "Note that a turn begins."
  (garbage-collect)
  (setq bench-began (bench-processor-time)
        bench-pieces 0
        bench-allocated (bench-bytes)))

(defun bench-report ()
  "Return the text of the result."
  (mapconcat (lambda (used) (format "%f\n" used)) (reverse bench-used) ""))

(defun bench-end ()
  "Note what the turn took; behind the last one write the file and end."
  (push (- (bench-processor-time) bench-began) bench-used)
  (run-hook-with-args 'bench-turn-functions
                      (- (bench-bytes) bench-allocated) bench-pieces)
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
