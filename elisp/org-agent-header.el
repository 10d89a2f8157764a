;;; org-agent-header.el --- The header line of a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The header line shows the model, the preset and the project, the state
;; of the turn, its progress, tokens and cost, and trouble with the kernel or
;; the file.  Its parts are buttons that open the menu.
;;
;; While a turn runs the kernel reports its progress: the round, and the
;; tokens, time and money that the turn has taken of its budgets.  The header
;; line shows the progress from the second round on.  The status shows all
;; of it.

;;; Code:

(require 'subr-x)
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-file-owner)
(require 'org-agent-chat)

(declare-function org-agent-approvals "org-agent-approval")
(declare-function org-agent-menu "org-agent-menu")

(defface org-agent-header-model '((t :inherit bold))
  "Face of the model's name in the header line."
  :group 'org-agent-chat)

(defface org-agent-header-busy '((t :inherit success))
  "Face of the header line's state while an answer is being written."
  :group 'org-agent-chat)

(defface org-agent-header-waiting '((t :inherit warning))
  "Face of the part of the header line that says that you are waited for."
  :group 'org-agent-chat)

(defface org-agent-header-trouble '((t :inherit error))
  "Face of trouble in the header line."
  :group 'org-agent-chat)

(defvar org-agent-header--map
  (let ((map (make-sparse-keymap)))
    (define-key map [header-line mouse-1] #'org-agent-menu)
    map)
  "Keymap of the parts of the header line.")

(defvar org-agent-header--approval-map
  (let ((map (make-sparse-keymap)))
    (define-key map [header-line mouse-1] #'org-agent-approvals)
    map)
  "Keymap of the part of the header line that says that you are waited for.")

(defun org-agent-header--button (text face &optional map)
  "Return TEXT in FACE as a button; MAP is its keymap."
  (propertize text 'face face 'mouse-face 'highlight
              'help-echo "mouse-1: what can be done here"
              'local-map (or map org-agent-header--map)))

;;;###autoload
(defun org-agent-header-line ()
  "Return the header line of the current conversation."
  (string-join
   (delq nil (list (concat " " (org-agent-header--model))
                   (org-agent-header--preset)
                   (org-agent-header--project)
                   (org-agent-header--notice)
                   (org-agent-header--kernel)
                   (org-agent-header--phase)
                   (org-agent-header--progress)
                   (org-agent-header--usage)
                   (org-agent-header--room)
                   (org-agent-header--file)))
   "  "))

(defun org-agent-header--escape (text)
  "Return TEXT escaped for a mode line."
  (string-replace "%" "%%" (org-agent-one-line text)))

(defun org-agent-header--model ()
  "Return the part of the header line that names the model."
  (org-agent-header--button
   (org-agent-header--escape
    (or (org-agent-chat-get :model)
        (plist-get org-agent-kernel-server :model)
        "org-agent"))
   'org-agent-header-model))

(defun org-agent-header--preset ()
  "Return the part of the header line that names the preset, or nil."
  (when-let* ((preset (org-agent-chat-get :preset)))
    (org-agent-header--button
     (concat "@" (org-agent-header--escape preset)) 'org-agent-header-model)))

(defun org-agent-header--project ()
  "Return the part of the header line that names the project, or nil."
  (when (bound-and-true-p org-agent-context-project)
    (propertize (concat "reads " (org-agent-header--escape
                                  (abbreviate-file-name org-agent-context-project)))
                'face 'shadow
                'help-echo "org-agent-project-set: another project, or none")))

(defun org-agent-header--notice ()
  "Return the kernel's notice about settings that it found by itself, or nil.
It is shown until the first answer."
  (when-let* ((notice (and (org-agent-kernel-ready-p)
                           (not (org-agent-chat-get :usage))
                           (plist-get org-agent-kernel-server :notice))))
    (propertize (org-agent-header--escape notice) 'face 'shadow)))

(defun org-agent-header--phase ()
  "Return the part of the header line with the state of the turn, or nil."
  (when (org-agent-kernel-ready-p)
    (let ((queued (or (org-agent-chat-get :queued) 0)))
      (concat
       (pcase (org-agent-chat-get :phase)
         ('waiting (org-agent-header--button
                    "waiting for you" 'org-agent-header-waiting
                    org-agent-header--approval-map))
         ('streaming (org-agent-header--button "streaming"
                                               'org-agent-header-busy))
         ('thinking (org-agent-header--button
                     (if-let* ((chars (org-agent-chat-get :thought)))
                         (concat "thinking " (org-agent-header--thousands chars))
                       "thinking")
                     'org-agent-header-busy))
         (_ (org-agent-header--button
             (if (org-agent-header--new-p)
                 "write below and send it with C-c C-c"
               "ready")
             'shadow)))
       (when (> queued 0) (format " +%d" queued))))))

(defun org-agent-header--new-p ()
  "Return non-nil when this conversation has no turns yet."
  (and (< (buffer-size) 1000)
       (not (org-agent-chat-get :turn))
       (not (org-agent-heading-turn-ids))))

(defun org-agent-header--usage ()
  "Return the part of the header line that counts tokens and money, or nil."
  (when-let* ((usage (org-agent-chat-get :usage)))
    (concat (org-agent-header--thousands (or (plist-get usage :input) 0))
            " in, "
            (org-agent-header--thousands (or (plist-get usage :output) 0))
            " out"
            (when-let* ((cost (org-agent-header-cost usage)))
              (concat "  " cost)))))

(defun org-agent-header--room ()
  "Return the part of the header line that says how full the model's window is.
Return nil when that is unknown."
  (let ((shown (org-agent-chat-get :shown))
        (window (org-agent-chat-get :window)))
    (cond
     ((org-agent-chat-get :compacting)
      (org-agent-header--button "summarising" 'org-agent-header-busy))
     ((and shown window (> window 0))
      (let ((percent (/ (* 100 shown) window)))
        (if (< percent 60)
            (format "%d%%%% full" percent)
          (org-agent-header--button (format "%d%%%% full" percent)
                                    'org-agent-header-waiting)))))))

;;;###autoload
(defun org-agent-header-cost (usage)
  "Return the cost of USAGE, a plist from the kernel, nil when it is unknown.
A `+' says that the price of a part of it is unknown."
  (when-let* ((cost (plist-get usage :cost)))
    (format "$%.4f%s" cost
            (if (> (or (plist-get usage :unpriced) 0) 0) "+" ""))))

(defun org-agent-header--thousands (number)
  "Return NUMBER in at most a few characters."
  (if (< number 1000)
      (number-to-string number)
    (format "%.1fk" (/ number 1000.0))))

(defun org-agent-header--kernel ()
  "Return the part of the header line with trouble with the kernel, or nil."
  (pcase org-agent-kernel-state
    ('ready nil)
    ((or 'starting 'connecting)
     (org-agent-header--button "starting the kernel" 'org-agent-header-busy))
    ('lost
     (org-agent-header--button "kernel lost, looking for it"
                               'org-agent-header-trouble))
    ('failed
     (org-agent-header--button
      (concat "no kernel: "
              (truncate-string-to-width
               (org-agent-header--escape (or org-agent-kernel-trouble ""))
               100 nil nil t))
      'org-agent-header-trouble))
    (_ (org-agent-header--button "no kernel; C-c C-c starts one" 'shadow))))

(defun org-agent-header--file ()
  "Return the part of the header line with trouble with the file, or nil."
  (when org-agent-file-owner-trouble
    (org-agent-header--button (org-agent-header--escape
                               org-agent-file-owner-trouble)
                              'org-agent-header-trouble)))

;;;; Progress

;;;###autoload
(defun org-agent-header-progress-news (params)
  "Show the progress of the turn that PARAMS report."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :progress params)))

;;;###autoload
(defun org-agent-header-progress-thousands (number)
  "Return NUMBER, of tokens, as 950, 12k or 1.5M."
  (cond ((>= number 1000000)
         (concat (string-remove-suffix ".0" (format "%.1f" (/ number 1e6))) "M"))
        ((>= number 10000) (format "%dk" (/ number 1000)))
        ((>= number 1000)
         (concat (string-remove-suffix ".0" (format "%.1f" (/ number 1e3))) "k"))
        (t (number-to-string number))))

(defun org-agent-header--progress-time (seconds)
  "Return SECONDS in words, without the small units."
  (let ((seconds (round seconds)))
    (cond ((< seconds 100) (format "%ds" seconds))
          ((and (>= seconds 3600) (< (% seconds 3600) 60))
           (format "%dh" (/ seconds 3600)))
          ((>= seconds 3600)
           (format "%dh%dm" (/ seconds 3600) (/ (% seconds 3600) 60)))
          (t (format "%dm" (/ seconds 60))))))

(defun org-agent-header--progress-of (taken limit format &optional unit)
  "Return \"TAKEN of LIMIT UNIT\"; FORMAT is a function that formats a number.
If LIMIT is nil or 0, leave it out."
  (concat (funcall format taken)
          (and limit (> limit 0) (concat " of " (funcall format limit)))
          unit))

;;;###autoload
(defun org-agent-header-progress-text (progress &optional all)
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
                 (org-agent-header--progress-of (or (plist-get progress :round) 1)
                                                (plist-get progress :of-rounds)
                                                #'number-to-string)))
       (org-agent-header--progress-of (or (plist-get progress :tokens) 0)
                                      (plist-get progress :of-tokens)
                                      #'org-agent-header-progress-thousands " tokens")
       (and (or all (> (* 2 seconds) of-seconds 0))
            (org-agent-header--progress-of seconds of-seconds
                                           #'org-agent-header--progress-time))
       (and (plist-get progress :cost)
            (org-agent-header--progress-of (plist-get progress :cost)
                                           (plist-get progress :of-cost)
                                           (lambda (cost) (format "$%.2f" cost))))))
     ", ")))

(defun org-agent-header--progress ()
  "Return the part of the header line with the progress of the turn, or nil."
  (when-let* ((turn (org-agent-chat-get :turn))
              (progress (org-agent-chat-get :progress)))
    ;; When Emacs reconnects, the progress may come before the id of the turn.
    (when (and (equal turn (plist-get progress :turn))
               (> (or (plist-get progress :round) 1) 1))
      (org-agent-header-progress-text progress))))

(provide 'org-agent-header)
;;; org-agent-header.el ends here
