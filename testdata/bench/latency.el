;;; latency.el --- How late text and keys are in an Emacs that streams  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; turns.el loads this.  Each delta of the answer has the time at which the
;; server sent it, "w1764153600123".  When Emacs is about to draw, the age of
;; each time that is new in the window's buffer is noted.  <f5> notes when it
;; is obeyed; whoever sends it knows when that was.  The result has a line
;; "delta MILLISECONDS" for each delta, "key SECONDS", the time of the day,
;; for each key, and "answer SECONDS SECONDS" for each turn: when its first
;; delta was sent and when its last one was drawn.

;;; Code:

(defvar bench-ages nil
  "The ages of deltas when they were drawn, in milliseconds, newest first.")

(defvar bench-keys nil
  "The times of the day at which keys were obeyed, newest first.")

(defvar bench-allocations nil
  "What was allocated for a piece in each turn, in bytes, newest first.")

(defvar bench-answers nil
  "When the first delta of each turn was sent and its last one drawn.
Pairs in seconds, newest first; the first is of the turn that goes on,
unless that is nil.")

(defvar bench-looked-to 1
  "The position up to which the times in the buffer were noted.")

(defvar bench-looked-at nil
  "The modification count of the buffer when its times were noted.")

(defun bench-note-deltas (window)
  "Note the ages of the times that WINDOW is about to show first.
This allocates little, since what is allocated is measured too."
  (let ((tick (buffer-chars-modified-tick (window-buffer window))))
    (unless (eql tick bench-looked-at)
      (setq bench-looked-at tick)
      (with-current-buffer (window-buffer window)
        (save-excursion
          (save-restriction
            (widen)
            (goto-char (min bench-looked-to (point-max)))
            (let ((now (* 1000 (float-time))) (case-fold-search nil))
              (save-match-data
                (while (re-search-forward "w\\([1-9][0-9]\\{12\\}\\)" nil t)
                  (setq bench-looked-to (point))
                  (let ((sent (string-to-number (match-string 1))))
                    (push (- now sent) bench-ages)
                    (if (car bench-answers)
                        (setcdr (car bench-answers) now)
                      (setq bench-answers
                            (cons (cons sent now) (cdr bench-answers))))))))))))))

(defun bench-note-key ()
  "Note that the key was obeyed."
  (interactive)
  (push (float-time) bench-keys))

(defun bench-note-bytes (allocated pieces)
  "Note that ALLOCATED bytes were for PIECES of an answer."
  (push (/ allocated (max 1 pieces)) bench-allocations)
  (push nil bench-answers))

(defun bench-report ()
  "Return the text of the result."
  (concat
   (mapconcat (lambda (age) (format "delta %.3f\n" age)) (reverse bench-ages) "")
   (mapconcat (lambda (time) (format "key %.6f\n" time)) (reverse bench-keys) "")
   (mapconcat (lambda (answer)
                (format "answer %.6f %.6f\n"
                        (/ (car answer) 1e3) (/ (cdr answer) 1e3)))
              (reverse (delq nil bench-answers)) "")
   (mapconcat (lambda (bytes) (format "bytes %d\n" bytes))
              (reverse bench-allocations) "")))

;; What is interpreted allocates several times as much.
(mapc #'byte-compile '(bench-note-deltas bench-note-key))

(add-hook 'bench-turn-functions #'bench-note-bytes)
(add-hook 'pre-redisplay-functions #'bench-note-deltas)
(global-set-key (kbd "<f5>") #'bench-note-key)

(provide 'latency)
;;; latency.el ends here
