;;; latency.el --- How late text and keys are in an Emacs that streams  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; turns.el loads this.  Each delta of the answer has the time at which the
;; server sent it, "w1764153600123".  When Emacs is about to draw, the age of
;; each time that is new in the window's buffer is noted.  <f5> notes when it
;; is obeyed; whoever sends it knows when that was.  The result has a line
;; "delta MILLISECONDS" for each delta and "key SECONDS", the time of the day,
;; for each key.

;;; Code:

(defvar bench-report-lines nil
  "The lines of the result, newest first.")

(defvar bench-looked-to 1
  "The position up to which the times in the buffer were noted.")

(defun bench-note-deltas (window)
  "Note the ages of the times that WINDOW is about to show first."
  (with-current-buffer (window-buffer window)
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (min bench-looked-to (point-max)))
        (let ((now (* 1000 (float-time))) (case-fold-search nil))
          (save-match-data
            (while (re-search-forward "w\\([1-9][0-9]\\{12\\}\\)" nil t)
              (setq bench-looked-to (point))
              (push (format "delta %.3f\n" (- now (string-to-number (match-string 1))))
                    bench-report-lines))))))))

(defun bench-note-key ()
  "Note that the key was obeyed."
  (interactive)
  (push (format "key %.6f\n" (float-time)) bench-report-lines))

(defun bench-report ()
  "Return the text of the result."
  (apply #'concat (reverse bench-report-lines)))

(add-hook 'pre-redisplay-functions #'bench-note-deltas)
(global-set-key (kbd "<f5>") #'bench-note-key)

(provide 'latency)
;;; latency.el ends here
