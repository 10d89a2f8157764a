;;; org-agent-notify.el --- Show elsewhere what the agent does and what waits  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The person sees what the agent does wherever they look.
;;
;; `org-agent-mode-line-mode' shows in the mode line how many conversations
;; are being answered and how many decisions wait for the person; a click
;; shows them.  It follows the kernel's notifications, and polls nothing.
;;
;; If a long turn ends, or a turn needs a decision, while the person looks
;; elsewhere, a notification says so: on the desktop if there is a D-Bus
;; session bus, else in the echo area.  A click on it shows the
;; conversation.  Emacs never waits for the bus.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-asks)
(require 'org-agent-heading)
(require 'org-agent-chat)

(declare-function org-agent-approvals "org-agent-approval")
(declare-function org-agent-goto-first-words "org-agent-goto")
(declare-function org-agent-goto-open "org-agent-goto")

(declare-function dbus-call-method-asynchronously "dbus")
(declare-function dbus-init-bus "dbus")
(declare-function dbus-register-signal "dbus")

(defvar org-agent-mode-line-mode)

;;;; The mode lines

(defface org-agent-mode-line-running '((t :inherit mode-line-emphasis))
  "Face of the number of conversations that are being answered."
  :group 'org-agent-notify)

(defface org-agent-mode-line-waiting '((t :inherit warning))
  "Face of the number of approvals and questions that wait."
  :group 'org-agent-notify)

(defvar org-agent-notify--mode-line-string ""
  "The text in the mode lines.")
(put 'org-agent-notify--mode-line-string 'risky-local-variable t)

(defvar org-agent-notify--mode-line-shown nil
  "The numbers in the mode lines: (RUNNING . WAITING), or nil.")

(defconst org-agent-notify--mode-line-construct
  '(org-agent-mode-line-mode org-agent-notify--mode-line-string)
  "The element of `global-mode-string' while the mode is on.")

;;;###autoload
(defun org-agent-notify-in-mode-lines (construct on)
  "Add CONSTRUCT to the mode lines if ON is non-nil, or else remove it."
  (setq global-mode-string
        (remove construct (ensure-list global-mode-string)))
  (when on
    (setq global-mode-string
          (append (or global-mode-string '("")) (list construct)))))

(defun org-agent-notify--mode-line-part (text face command help)
  "Return TEXT in FACE as a button that runs COMMAND and has a HELP text."
  (let ((map (make-sparse-keymap)))
    (define-key map [mode-line mouse-1] command)
    (propertize text 'face face 'mouse-face 'mode-line-highlight
                'local-map map 'help-echo (concat "mouse-1: " help))))

(defun org-agent-notify--mode-line-counts ()
  "Return the numbers of answers in progress and of approvals and questions."
  (cons (cl-count-if
         (lambda (buffer)
           (memq (plist-get (buffer-local-value 'org-agent-chat-status buffer)
                            :phase)
                 '(thinking streaming)))
         (org-agent-chat-buffers))
        (length org-agent-asks-open)))

(defun org-agent-notify--mode-line-update (&rest _)
  "Update the mode lines if the numbers have changed."
  (when org-agent-mode-line-mode
    (let ((counts (org-agent-notify--mode-line-counts)))
      (unless (equal counts org-agent-notify--mode-line-shown)
        (setq org-agent-notify--mode-line-shown counts
              org-agent-notify--mode-line-string (org-agent-notify--mode-line-text counts))
        (force-mode-line-update t)))))

(defun org-agent-notify--mode-line-text (counts)
  "Return the text for COUNTS, (RUNNING . WAITING)."
  (pcase-let ((`(,running . ,waiting) counts))
    (concat
     (when (> running 0)
       (org-agent-notify--mode-line-part (format " Agent:%d" running)
                                         'org-agent-mode-line-running
                                         #'org-agent-mode-line-show
                                         "show the conversation"))
     (when (> waiting 0)
       (org-agent-notify--mode-line-part (format " Agent waits:%d" waiting)
                                         'org-agent-mode-line-waiting
                                         #'org-agent-approvals
                                         "show what waits for you")))))

(defun org-agent-mode-line-show ()
  "Show a conversation that is being answered, or else the latest one."
  (interactive)
  (pop-to-buffer
   (or (cl-find-if (lambda (buffer)
                     (plist-get (buffer-local-value 'org-agent-chat-status
                                                    buffer)
                                :phase))
                   (org-agent-chat-buffers))
       (car (org-agent-chat-buffers))
       (user-error "No conversation is open"))))

(defun org-agent-notify--mode-line-listen (on)
  "Add our functions to the hooks if ON is non-nil, or else remove them."
  (pcase-dolist (`(,hook . ,function)
                 '((org-agent-chat-status-hook . org-agent-notify--mode-line-update)
                   (org-agent-kernel-lost-hook . org-agent-notify--mode-line-update)
                   (org-agent-kernel-notified-functions
                    . org-agent-notify--mode-line-notified)))
    (if on (add-hook hook function 90)
      (remove-hook hook function))))

(defun org-agent-notify--mode-line-notified (method _params)
  "Update the mode lines if METHOD changes the number of what waits."
  (when (memq method '(ask/opened ask/closed))
    (org-agent-notify--mode-line-update)))

;;;###autoload
(define-minor-mode org-agent-mode-line-mode
  "Show in the mode lines what the agent does and what waits for you.
\"Agent:2\" means that two conversations are being answered, and \"Agent
waits:1\" that one approval or question waits; a click shows it."
  :global t
  :group 'org-agent-notify
  (org-agent-notify--mode-line-listen org-agent-mode-line-mode)
  (setq org-agent-notify--mode-line-shown nil
        org-agent-notify--mode-line-string "")
  (org-agent-notify-in-mode-lines org-agent-notify--mode-line-construct
                                  org-agent-mode-line-mode)
  (org-agent-notify--mode-line-update)
  (force-mode-line-update t))

;;;; Notifications

(defcustom org-agent-notify-after 20
  "Notify of the end of a turn if it took that many seconds.
A turn that needs a decision is always notified of.  If nil, there are no
notifications at all."
  :type '(choice (const :tag "Never" nil) (number :tag "Seconds"))
  :group 'org-agent-notify
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-notify-function #'org-agent-notify-desktop
  "The function that shows a notification.
Its arguments are a title, a text and a function without arguments, which
it calls when the person wants to see the conversation."
  :type '(choice (const :tag "The desktop's notifications"
                        org-agent-notify-desktop)
                 (const :tag "The echo area" org-agent-notify-message)
                 function)
  :group 'org-agent-notify
  :package-version '(org-agent . "0.1.0"))

(defvar org-agent-notify--actions nil
  "An alist of ids of desktop notifications and functions for clicks.")

(defvar org-agent-notify--listening nil
  "The address of the bus with a handler for clicks, or nil.")

(defconst org-agent-notify--remembered 50
  "The number of latest notifications whose clicks have an effect.")

(defun org-agent-notify--seen-p (buffer)
  "Return non-nil if a window of a frame with focus shows BUFFER.
A terminal that does not report focus counts as focused."
  (cl-some (lambda (window)
             (let ((frame (window-frame window)))
               (and (eq t (frame-visible-p frame))
                    (frame-focus-state frame))))
           (get-buffer-window-list buffer 'no-minibuffer 'visible)))

(defun org-agent-notify-message (title text _function)
  "Show TITLE and TEXT in the echo area."
  (message "%s: %s" title text))

(defun org-agent-notify--bus ()
  "Return the session bus, or nil if none is running.
Return `:session' if Emacs was started with its address, else the address.
Never start a bus, since that takes time."
  (let ((address (or (getenv "DBUS_SESSION_BUS_ADDRESS") ""))
        (directory (getenv "XDG_RUNTIME_DIR")))
    (and (featurep 'dbusbind)
         (cond
          ((and (string-match "\\`unix:path=\\([^,;]+\\)" address)
                (org-agent-notify--socket-p (match-string 1 address)))
           ;; Signals of the bus that Emacs was started with arrive from
           ;; :session.  A handler for the address would not be found.
           (if (member (concat "DBUS_SESSION_BUS_ADDRESS=" address)
                       initial-environment)
               :session
             address))
          ((and directory (string-empty-p address)
                (org-agent-notify--socket-p (expand-file-name "bus" directory)))
           (concat "unix:path=" (expand-file-name "bus" directory)))))))

(defun org-agent-notify--socket-p (file)
  "Return non-nil if FILE is a socket."
  (eq ?s (aref (or (file-attribute-modes (file-attributes file)) " ") 0)))

(defun org-agent-notify-desktop (title text function)
  "Show TITLE and TEXT on the desktop; a click calls FUNCTION.
Without a session bus show them in the echo area."
  (let ((bus (org-agent-notify--bus)))
    (unless (and bus
                 (require 'dbus nil t)
                 (condition-case err
                     (org-agent-notify--send bus title text function)
                   (error
                    (setq org-agent-notify--listening nil)
                    (org-agent-rpc-log "not notified over D-Bus: %s"
                                       (error-message-string err))
                    nil)))
      (org-agent-notify-message title text function))))

(defconst org-agent-notify--interface "org.freedesktop.Notifications"
  "The D-Bus name and interface of the notification service.")

(defconst org-agent-notify--path "/org/freedesktop/Notifications"
  "The D-Bus object path of the notification service.")

(defun org-agent-notify--send (bus title text function)
  "Show TITLE and TEXT on the desktop of BUS; a click calls FUNCTION.
Return non-nil without waiting for the reply."
  (unless (equal bus org-agent-notify--listening)
    (dbus-init-bus bus)
    (dbus-register-signal
     bus nil org-agent-notify--path org-agent-notify--interface
     "ActionInvoked" #'org-agent-notify--clicked)
    (setq org-agent-notify--listening bus))
  (dbus-call-method-asynchronously
   bus org-agent-notify--interface org-agent-notify--path
   org-agent-notify--interface "Notify"
   (lambda (&optional id &rest _)
     (when (integerp id)
       (push (cons id function) org-agent-notify--actions)
       (when-let* ((rest (nthcdr (1- org-agent-notify--remembered)
                                 org-agent-notify--actions)))
         (setcdr rest nil))))
   :string "Emacs" :uint32 0 :string "emacs"
   :string (org-agent-notify--plain title)
   :string (org-agent-notify--markup text)
   '(:array :string "default" :string "Show")
   '(:array :signature "{sv}") :int32 -1)
  t)

(defun org-agent-notify--plain (text)
  "Return TEXT as one line of characters that D-Bus allows."
  (replace-regexp-in-string
   "[[:cntrl:]\ud800-\udfff\x110000-\x3fffff]+" " " text))

(defun org-agent-notify--markup (text)
  "Return TEXT with the characters of the desktop's markup escaped."
  (let ((text (org-agent-notify--plain text)))
    (pcase-dolist (`(,from . ,to) '(("&" . "&amp;") ("<" . "&lt;") (">" . "&gt;")))
      (setq text (string-replace from to text)))
    text))

(defun org-agent-notify--clicked (id &rest _)
  "Call the function of the notification ID, if it is ours."
  (when-let* ((action (assq id org-agent-notify--actions)))
    (setq org-agent-notify--actions (delq action org-agent-notify--actions))
    (funcall (cdr action))))

;;;; What is notified of

(defun org-agent-notify--title (session)
  "Return the title of a notification about SESSION."
  (if (equal session org-agent-chat-main)
      "org-agent"
    (concat "org-agent: " session)))

(defun org-agent-notify--words (buffer event)
  "Return the first words of the question EVENT in BUFFER."
  (or (and buffer event
           (with-current-buffer buffer
             (when-let* ((heading (org-agent-heading-find event)))
               (org-agent-goto-first-words heading))))
      "a question"))

;;;###autoload
(defun org-agent-notify-ended (params)
  "Notify of the end of the turn in PARAMS, if it took long and is not seen.
PARAMS are those of the kernel's notification of the end."
  (let* ((session (or (plist-get params :session) org-agent-chat-main))
         (event (plist-get params :event))
         (buffer (org-agent-chat-buffer session))
         (words (org-agent-notify--words buffer event)))
    (when (and org-agent-notify-after buffer
               (>= (or (plist-get params :seconds) 0) org-agent-notify-after)
               (not (org-agent-notify--seen-p buffer)))
      (funcall org-agent-notify-function (org-agent-notify--title session)
               (pcase (plist-get params :state)
                 (:answered (format "Answered: %s" words))
                 (:cancelled (format "Stopped: %s" words))
                 (_ (format "No answer: %s" words)))
               (lambda () (org-agent-notify--show session event))))))

;;;###autoload
(defun org-agent-notify-asked (params)
  "Notify of the approval or question in PARAMS, unless it is seen.
PARAMS are those of the kernel's notification `ask/opened'."
  (let* ((session (or (plist-get params :session) org-agent-chat-main))
         (buffer (org-agent-chat-buffer session)))
    (when (and org-agent-notify-after
               (not (and buffer (org-agent-notify--seen-p buffer)))
               (not (when-let* ((list (get-buffer "*org-agent-approvals*")))
                      (org-agent-notify--seen-p list))))
      (funcall org-agent-notify-function (org-agent-notify--title session)
               (if-let* ((form (plist-get params :form)))
                   (format "Asks you: %s" (plist-get form :title))
                 (format "Waits for your decision: %s"
                         (org-agent-notify--words
                          buffer (plist-get params :event))))
               (lambda ()
                 (select-frame-set-input-focus (selected-frame))
                 (org-agent-approvals))))))

(defun org-agent-notify--show (session event)
  "Show the question EVENT of SESSION."
  (select-frame-set-input-focus (selected-frame))
  (pop-to-buffer (org-agent-goto-open session event)))

(provide 'org-agent-notify)
;;; org-agent-notify.el ends here
