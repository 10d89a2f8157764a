;;; org-agent-header.el --- The header line of a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The header line says who answers, what is going on, how far that has
;; come, what it cost so far and how the kernel is.  Its parts are buttons:
;; the mouse on them opens the menu.
;;
;; While a turn runs the kernel tells how far it has come: in which round
;; it is, and what it took in tokens, time and money, of how much.  The
;; header line shows that from the second round on, as a first answer is
;; no work to watch; the status shows all of it.

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
  "Face of what waits for a person in the header line."
  :group 'org-agent-chat)

(defface org-agent-header-trouble '((t :inherit error))
  "Face of trouble in the header line."
  :group 'org-agent-chat)

(defvar org-agent-header--map
  (let ((map (make-sparse-keymap)))
    (define-key map [header-line mouse-1] #'org-agent-menu)
    map)
  "Keys of the header line's parts.")

(defvar org-agent-header--approval-map
  (let ((map (make-sparse-keymap)))
    (define-key map [header-line mouse-1] #'org-agent-approvals)
    map)
  "Keys of the header line's part that waits for a person.")

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
  "Return TEXT as it can stand in a mode line."
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
  "Return the part of the header line that says what is read freely, or nil."
  (when (bound-and-true-p org-agent-context-project)
    (propertize (concat "reads " (org-agent-header--escape
                                  (abbreviate-file-name org-agent-context-project)))
                'face 'shadow
                'help-echo "org-agent-project-set: another project, or none")))

(defun org-agent-header--notice ()
  "Return what the kernel found rather than was told, or nil.
It is shown until the first answer."
  (when-let* ((notice (and (org-agent-kernel-ready-p)
                           (not (org-agent-chat-get :usage))
                           (plist-get org-agent-kernel-server :notice))))
    (propertize (org-agent-header--escape notice) 'face 'shadow)))

(defun org-agent-header--phase ()
  "Return the part of the header line that says what is going on, or nil."
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
  "Return non-nil when nothing was said in this conversation yet."
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
  "Return the part of the header line that says how full the window is.
That is what the model was shown last, of what it can be shown; nil when
nobody knows."
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
  "Return what USAGE, a plist of the kernel's, cost, nil when nobody knows.
A `+' says that it cost more: of a part the price is not known."
  (when-let* ((cost (plist-get usage :cost)))
    (format "$%.4f%s" cost
            (if (> (or (plist-get usage :unpriced) 0) 0) "+" ""))))

(defun org-agent-header--thousands (number)
  "Return NUMBER shortly."
  (if (< number 1000)
      (number-to-string number)
    (format "%.1fk" (/ number 1000.0))))

(defun org-agent-header--kernel ()
  "Return the part of the header line that says how the kernel is.
A kernel that is well is not worth a word: return nil."
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
  "Return the part of the header line that tells of trouble with the file."
  (when org-agent-file-owner-trouble
    (org-agent-header--button (org-agent-header--escape
                               org-agent-file-owner-trouble)
                              'org-agent-header-trouble)))

;;;; How far a turn has come

;;;###autoload
(defun org-agent-header-progress-news (params)
  "Show how far the turn of PARAMS has come."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :progress params)))

;;;###autoload
(defun org-agent-header-progress-thousands (number)
  "Return NUMBER, of tokens, as people read it: 950, 12k, 1.5M."
  (cond ((>= number 1000000)
         (concat (string-remove-suffix ".0" (format "%.1f" (/ number 1e6))) "M"))
        ((>= number 10000) (format "%dk" (/ number 1000)))
        ((>= number 1000)
         (concat (string-remove-suffix ".0" (format "%.1f" (/ number 1e3))) "k"))
        (t (number-to-string number))))

(defun org-agent-header--progress-time (seconds)
  "Return SECONDS as people read them, without what is not worth a word."
  (let ((seconds (round seconds)))
    (cond ((< seconds 100) (format "%ds" seconds))
          ((and (>= seconds 3600) (< (% seconds 3600) 60))
           (format "%dh" (/ seconds 3600)))
          ((>= seconds 3600)
           (format "%dh%dm" (/ seconds 3600) (/ (% seconds 3600) 60)))
          (t (format "%dm" (/ seconds 60))))))

(defun org-agent-header--progress-of (taken limit format &optional unit)
  "Return that TAKEN of LIMIT are taken, as FORMAT writes a number.
Without LIMIT, nil or 0, it is TAKEN alone.  UNIT stands behind it."
  (concat (funcall format taken)
          (and limit (> limit 0) (concat " of " (funcall format limit)))
          unit))

;;;###autoload
(defun org-agent-header-progress-text (progress &optional all)
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
  "Return how far the running turn has come, for the header line, or nil."
  (when-let* ((turn (org-agent-chat-get :turn))
              (progress (org-agent-chat-get :progress)))
    ;; That of a turn that ran on without this Emacs comes before its id.
    (when (and (equal turn (plist-get progress :turn))
               (> (or (plist-get progress :round) 1) 1))
      (org-agent-header-progress-text progress))))

(provide 'org-agent-header)
;;; org-agent-header.el ends here
