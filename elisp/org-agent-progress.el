;;; org-agent-progress.el --- What a turn has taken of what it may  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; While a turn runs the kernel tells how far it has come: in which round
;; it is, and what it took in tokens, time and money, of how much.  The
;; header line shows that from the second round on, as a first answer is
;; no work to watch; the status shows all of it.

;;; Code:

(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-chat)

(cl-defmethod org-agent-handle-notification ((_method (eql 'turn/progress))
                                             params)
  "Show how far the turn of PARAMS has come."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :progress params)))

(defun org-agent-progress-thousands (number)
  "Return NUMBER, of tokens, as people read it: 950, 12k, 1.5M."
  (cond ((>= number 1000000)
         (concat (string-remove-suffix ".0" (format "%.1f" (/ number 1e6))) "M"))
        ((>= number 10000) (format "%dk" (/ number 1000)))
        ((>= number 1000)
         (concat (string-remove-suffix ".0" (format "%.1f" (/ number 1e3))) "k"))
        (t (number-to-string number))))

(defun org-agent-progress--time (seconds)
  "Return SECONDS as people read them, without what is not worth a word."
  (let ((seconds (round seconds)))
    (cond ((< seconds 100) (format "%ds" seconds))
          ((and (>= seconds 3600) (< (% seconds 3600) 60))
           (format "%dh" (/ seconds 3600)))
          ((>= seconds 3600)
           (format "%dh%dm" (/ seconds 3600) (/ (% seconds 3600) 60)))
          (t (format "%dm" (/ seconds 60))))))

(defun org-agent-progress--of (taken limit format &optional unit)
  "Return that TAKEN of LIMIT are taken, as FORMAT writes a number.
Without LIMIT, nil or 0, it is TAKEN alone.  UNIT stands behind it."
  (concat (funcall format taken)
          (and limit (> limit 0) (concat " of " (funcall format limit)))
          unit))

(defun org-agent-progress-text (progress &optional all)
  "Return PROGRESS, a plist of the kernel's, in words.
Time is told when half of it is gone, or with ALL."
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
                               #'org-agent-progress-thousands " tokens")
       (and (or all (> (* 2 seconds) of-seconds 0))
            (org-agent-progress--of seconds of-seconds
                                    #'org-agent-progress--time))
       (and (plist-get progress :cost)
            (org-agent-progress--of (plist-get progress :cost)
                                    (plist-get progress :of-cost)
                                    (lambda (cost) (format "$%.2f" cost))))))
     ", ")))

(defun org-agent-progress-header ()
  "Return how far the running turn has come, for the header line, or nil."
  (when-let ((turn (org-agent-chat-get :turn))
             (progress (org-agent-chat-get :progress)))
    ;; That of a turn that ran on without this Emacs comes before its id.
    (when (and (equal turn (plist-get progress :turn))
               (> (or (plist-get progress :round) 1) 1))
      (org-agent-progress-text progress))))

(provide 'org-agent-progress)
;;; org-agent-progress.el ends here
