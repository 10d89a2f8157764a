;;; org-agent-header.el --- The header line of a conversation  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The header line of a conversation shows the model, the preset and the
;; project, the state of the turn, tokens and cost, and trouble with the
;; kernel or the file.  Its parts are buttons that open the menu.
;;
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
(require 'org-agent-kernel)
(require 'org-agent-heading)
(require 'org-agent-file-owner)
(require 'org-agent-chat)

(declare-function org-agent-approvals "org-agent-approval")
(declare-function org-agent-inbox "org-agent-inbox")
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

(defvar org-agent-header--inbox-map
  (let ((map (make-sparse-keymap)))
    (define-key map [header-line mouse-1] #'org-agent-inbox)
    map)
  "Keymap of the part of the header line that says what is unread.")

(defun org-agent-header--button (text face &optional map)
  "Return TEXT in FACE as a button; MAP is its keymap."
  (propertize text 'face face 'mouse-face 'highlight
              'help-echo "mouse-1: what can be done here"
              'local-map (or map org-agent-header--map)))

(defvar-local org-agent-header--drawn nil
  "The header line and what it was made of: (LINE WIDTH . VALUES).")

;;;###autoload
(defun org-agent-header-fitted ()
  "Return the header line of this conversation, as much as there is room for.
Where it is cut it says how to see the rest.  While a turn runs it is made
anew only when it has changed, since Emacs asks for it whenever it draws."
  (let ((inputs (cons (org-agent-header--width)
                      (mapcar (lambda (variable) (and (boundp variable) (symbol-value variable)))
                              '(org-agent-chat-status
                                org-agent-kernel-state org-agent-kernel-trouble org-agent-kernel-server
                                org-agent-file-owner-trouble org-agent-context-project)))))
    (unless (and (plist-get (nth 1 inputs) :turn) (equal (cdr org-agent-header--drawn) inputs))
      ;; The status changes in place.
      (setq org-agent-header--drawn (cons (org-agent-header--cut) (copy-tree inputs))))
    (car org-agent-header--drawn)))

(defun org-agent-header--width ()
  "Return how many columns the header line of the selected window has."
  (pcase-let ((`(,left . ,right) (window-margins)))
    (+ (window-width) (or left 0) (or right 0))))

(defun org-agent-header--cut ()
  "Return the header line of this conversation, cut to the window's width."
  (let* ((line (org-agent-header-line))
         (hint "… M-x org-agent-header")
         (room (- (org-agent-header--width) (string-width hint))))
    (if (or (< room 0)
            (<= (string-width (string-replace "%%" "%" line)) (org-agent-header--width)))
        line
      (concat
       ;; No half of an escaped character is left at the end.
       (replace-regexp-in-string
        "\\(\\`\\|[^%]\\)\\(\\(?:%%\\)*\\)%\\'" "\\1\\2"
        (truncate-string-to-width line room))
       (propertize hint 'face 'shadow)))))

(defun org-agent-header-line ()
  "Return the header line of the current conversation."
  (string-join
   (delq nil (list (concat " " (org-agent-header--model))
                   (org-agent-header--preset)
                   (org-agent-header--project)
                   (org-agent-header--notice)
                   (org-agent-header--kernel)
                   (org-agent-header--phase)
                   (org-agent-header--wait)
                   (org-agent-header--progress)
                   (org-agent-header--usage)
                   (org-agent-header--room)
                   (org-agent-header--inbox)
                   (org-agent-header--file)))
   "  "))

;;;###autoload
(defun org-agent-header ()
  "Say in full what the header line of this conversation says.
That is why there is no kernel, too, where there is none."
  (interactive nil org-agent-chat-mode)
  (message "%s%s"
           (string-trim (string-replace
                         "%%" "%"
                         (substring-no-properties (org-agent-header-line))))
           (if (and org-agent-kernel-trouble (not (org-agent-kernel-ready-p)))
               (concat "\n" org-agent-kernel-trouble)
             "")))

(defun org-agent-header--escape (text &optional width)
  "Return TEXT escaped for a mode line, cut to WIDTH columns if that is non-nil."
  (string-replace "%" "%%" (org-agent-one-line text width)))

(defun org-agent-header--model ()
  "Return the part of the header line that names the model."
  (org-agent-header--button
   (pcase (or (org-agent-chat-get :model)
              (plist-get org-agent-kernel-server :model) "org-agent")
     ("builtin" "built-in guide")
     (name (org-agent-header--escape name)))
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

(defun org-agent-header--inbox ()
  "Return the part of the header line that says what is unread, or nil."
  (let ((unread (or (plist-get org-agent-kernel-server :unread) 0)))
    (when (and (> unread 0) (org-agent-kernel-ready-p))
      (org-agent-header--button (format "%d in the inbox" unread) 'shadow
                                org-agent-header--inbox-map))))

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
                         (concat "thinking " (org-agent-thousands chars))
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
    (propertize
     (concat (org-agent-thousands (or (plist-get usage :input) 0)) " in, "
             (org-agent-thousands (or (plist-get usage :output) 0)) " out"
             (when-let* ((cost (org-agent-dollars usage)))
               (concat "  " cost)))
     'help-echo "tokens that models read and wrote in this conversation; M-x org-agent-usage: more")))

(defun org-agent-header--room ()
  "Return the part of the header line that says how full the model's window is.
Return nil when that is unknown."
  (let ((shown (org-agent-chat-get :shown))
        (window (org-agent-chat-get :window)))
    (cond
     ((org-agent-chat-get :compacting)
      (org-agent-header--button "summarising" 'org-agent-header-busy))
     ((and shown window (> window 0)
           (not (equal (org-agent-chat-get :model) "builtin"))) ; the guide reads no context
      (let* ((percent (/ (* 100 shown) window))
             (words (format "context %d%%%% full" percent)))
        (if (>= percent 60)
            (org-agent-header--button words 'org-agent-header-waiting)
          (propertize words 'help-echo "how much of what the model can read at once the last request had")))))))

(defun org-agent-header--kernel ()
  "Return the part of the header line with trouble with the kernel, or nil."
  (pcase org-agent-kernel-state
    ('ready nil)
    ((or 'building 'starting 'connecting)
     (let ((text (or (unless (eq org-agent-kernel-state 'connecting) org-agent-kernel-trouble) "starting the kernel")))
       (org-agent-header--button (org-agent-header--escape text 100) 'org-agent-header-busy)))
    ('lost
     (org-agent-header--button "kernel lost, looking for it" 'org-agent-header-trouble))
    ('failed
     (org-agent-header--button
      (concat "no kernel: "
              (org-agent-header--escape (or org-agent-kernel-trouble "") 100))
      'org-agent-header-trouble))
    (_ (org-agent-header--button "no kernel; C-c C-c starts one" 'shadow))))

(defun org-agent-header--file ()
  "Return the part of the header line with trouble with the file, or nil."
  (when org-agent-file-owner-trouble
    (org-agent-header--button (org-agent-header--escape
                               org-agent-file-owner-trouble)
                              'org-agent-header-trouble)))

;;;; What a turn has used

;;;###autoload
(defun org-agent-header-show-progress (params)
  "Show the progress of the turn that PARAMS report."
  (org-agent-chat-in (plist-get params :session)
    (org-agent-chat-put :progress params)
    (org-agent-header--count)))

(defun org-agent-header--time (seconds)
  "Return SECONDS in words, without the small units."
  (let ((seconds (round seconds)))
    (cond ((< seconds 100) (format "%ds" seconds))
          ((and (>= seconds 3600) (< (% seconds 3600) 60))
           (format "%dh" (/ seconds 3600)))
          ((>= seconds 3600)
           (format "%dh%dm" (/ seconds 3600) (/ (% seconds 3600) 60)))
          (t (format "%dm" (/ seconds 60))))))

(defun org-agent-header--of (taken limit format &optional unit)
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
                 (org-agent-header--of (or (plist-get progress :round) 1)
                                       (plist-get progress :of-rounds)
                                       #'number-to-string)))
       (org-agent-header--of (or (plist-get progress :tokens) 0)
                             (plist-get progress :of-tokens)
                             #'org-agent-thousands " tokens")
       (and (or all (> (* 2 seconds) of-seconds 0))
            (org-agent-header--of seconds of-seconds
                                  #'org-agent-header--time))
       (and (plist-get progress :cost)
            (org-agent-header--of (plist-get progress :cost)
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

;;;; What a turn waits for

(defvar org-agent-header--timer nil
  "The timer that counts the seconds, or nil while no conversation waits.")

(defun org-agent-header-wait-text (wait &optional now)
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

(defun org-agent-header--waited ()
  "Return what the running turn of this conversation waits for, or nil."
  (when-let* ((turn (org-agent-chat-get :turn))
              (progress (org-agent-chat-get :progress)))
    (and (equal turn (plist-get progress :turn))
         (plist-get progress :wait))))

(defun org-agent-header--wait ()
  "Return the part of the header line that says why no answer comes, or nil."
  (when-let* ((text (org-agent-header-wait-text (org-agent-header--waited))))
    (propertize (string-replace "%" "%%" (org-agent-one-line text 100))
                'face 'org-agent-header-waiting
                'help-echo "C-c C-k stops the answer; M-x org-agent-model chooses another model")))

(defun org-agent-header--count ()
  "Count the seconds in header lines as long as a conversation waits."
  (if (org-agent-header--waited)
      (unless org-agent-header--timer
        (setq org-agent-header--timer (run-at-time 1 1 #'org-agent-header--tick)))
    (org-agent-header--tick)))

(defun org-agent-header--tick ()
  "Show the seconds of all conversations that wait, or stop counting."
  (let (waits)
    (dolist (buffer (org-agent-chat-buffers))
      (with-current-buffer buffer
        (when (org-agent-header--waited)
          (setq waits t)
          (force-mode-line-update))))
    (unless (or waits (null org-agent-header--timer))
      (cancel-timer org-agent-header--timer)
      (setq org-agent-header--timer nil))))

(provide 'org-agent-header)
;;; org-agent-header.el ends here
