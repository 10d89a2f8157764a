;;; org-agent-progress.el --- What a turn has used, and what it waits for  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; While a turn runs the kernel reports its progress: the round, and the
;; tokens, time and money used, with their limits.  The header line shows
;; it from the second round on.
;;
;; A model's server may ask for a pause, be overloaded, or be silent.  The
;; kernel reports that with the progress as long as it lasts.  The header
;; line then names the server and the reason, and counts the seconds.

;;; Code:

(require 'subr-x)
(require 'iso8601)
(require 'org-agent)
(require 'org-agent-chat)

(declare-function org-agent-notify-thousands "org-agent-notify")

;;;; What is used

;;;###autoload
(defun org-agent-progress-show (params)
  "Show the progress of the turn that PARAMS report."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :progress params)
    (org-agent-progress--count)))

(defun org-agent-progress--time (seconds)
  "Return SECONDS in words, without the small units."
  (let ((seconds (round seconds)))
    (cond ((< seconds 100) (format "%ds" seconds))
          ((and (>= seconds 3600) (< (% seconds 3600) 60))
           (format "%dh" (/ seconds 3600)))
          ((>= seconds 3600)
           (format "%dh%dm" (/ seconds 3600) (/ (% seconds 3600) 60)))
          (t (format "%dm" (/ seconds 60))))))

(defun org-agent-progress--of (taken limit format &optional unit)
  "Return \"TAKEN of LIMIT UNIT\"; FORMAT is a function that formats a number.
If LIMIT is nil or 0, leave it out."
  (concat (funcall format taken)
          (and limit (> limit 0) (concat " of " (funcall format limit)))
          unit))

;;;###autoload
(defun org-agent-progress-text (progress &optional all)
  "Return PROGRESS, a plist from the kernel, in words.
Time is included when half of it is gone, or with ALL."
  (let ((seconds (or (plist-get progress :seconds) 0))
        (of-seconds (or (plist-get progress :of-seconds) 0)))
    (string-join
     (delq
      nil
      (list
       (if (plist-get progress :last)
           "answering with what was found"
         (concat "round "
                 (org-agent-progress--of (or (plist-get progress :round) 1)
                                                (plist-get progress :of-rounds)
                                                #'number-to-string)))
       (org-agent-progress--of (or (plist-get progress :tokens) 0)
                                      (plist-get progress :of-tokens)
                                      #'org-agent-notify-thousands " tokens")
       (and (or all (> (* 2 seconds) of-seconds 0))
            (org-agent-progress--of seconds of-seconds
                                           #'org-agent-progress--time))
       (and (plist-get progress :cost)
            (org-agent-progress--of (plist-get progress :cost)
                                           (plist-get progress :of-cost)
                                           (lambda (cost) (format "$%.2f" cost))))))
     ", ")))

;;;###autoload
(defun org-agent-progress-header ()
  "Return the part of the header line with the progress of the turn, or nil."
  (when-let* ((turn (org-agent-chat-get :turn))
              (progress (org-agent-chat-get :progress)))
    ;; When Emacs reconnects, the progress may come before the id of the turn.
    (when (and (equal turn (plist-get progress :turn))
               (> (or (plist-get progress :round) 1) 1))
      (org-agent-progress-text progress))))

;;;; What is waited for

(defvar org-agent-progress--timer nil
  "The timer that counts the seconds, or nil while no conversation waits.")

(defun org-agent-progress-wait-text (wait &optional now)
  "Return WAIT, a plist from the kernel, in words; nil for nil.
NOW is the time in seconds, by default the present one."
  (when wait
    (let* ((at (float-time (encode-time (iso8601-parse (plist-get wait :at)))))
           (now (or now (float-time)))
           (left (max 0 (ceiling (- at now))))
           (again (if (> left 0) (format "again in %d s" left) "asked again now"))
           (attempt (or (plist-get wait :attempt) 0)))
      (concat ; what fits a narrow window first
       (pcase (plist-get wait :reason)
         (:rate-limit (concat "rate limit, " again))
         (:unreachable (concat "not reached, " again))
         (:silent (format "nothing for %d s" (max 0 (floor (- now at)))))
         (_ (concat "overloaded or broken, " again)))
       (and (> attempt 2) (format ", request %d" attempt))
       " (" (or (plist-get wait :host) "the model's server") ")"))))

(defun org-agent-progress--wait ()
  "Return what the running turn of this conversation waits for, or nil."
  (when-let* ((turn (org-agent-chat-get :turn))
              (progress (org-agent-chat-get :progress)))
    (and (equal turn (plist-get progress :turn))
         (plist-get progress :wait))))

;;;###autoload
(defun org-agent-progress-wait-header ()
  "Return the part of the header line that says why no answer comes, or nil."
  (when-let* ((text (org-agent-progress-wait-text (org-agent-progress--wait))))
    (propertize (string-replace "%" "%%" (org-agent-one-line text 100))
                'face 'org-agent-header-waiting
                'help-echo "C-c C-k stops the answer; M-x org-agent-model chooses another model")))

(defun org-agent-progress--count ()
  "Count the seconds in header lines as long as a conversation waits."
  (if (org-agent-progress--wait)
      (unless org-agent-progress--timer
        (setq org-agent-progress--timer (run-at-time 1 1 #'org-agent-progress--tick)))
    (org-agent-progress--tick)))

(defun org-agent-progress--tick ()
  "Show the seconds of all conversations that wait, or stop counting."
  (let (waits)
    (dolist (buffer (org-agent-chat-buffers))
      (with-current-buffer buffer
        (when (org-agent-progress--wait)
          (setq waits t)
          (force-mode-line-update))))
    (unless (or waits (null org-agent-progress--timer))
      (cancel-timer org-agent-progress--timer)
      (setq org-agent-progress--timer nil))))

(provide 'org-agent-progress)
;;; org-agent-progress.el ends here
