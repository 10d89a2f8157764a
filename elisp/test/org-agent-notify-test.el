;;; org-agent-notify-test.el --- Tests of notifications and the mode line  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The desktop is a real D-Bus session bus with another Emacs on it, which
;; receives notifications and clicks them.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-heading)
(require 'org-agent-notify)

(defconst org-agent-notify-test--desktop
  '(progn
     (require 'dbus)
     (dbus-register-service :session "org.freedesktop.Notifications")
     (dbus-register-method
      :session "org.freedesktop.Notifications"
      "/org/freedesktop/Notifications" "org.freedesktop.Notifications" "Notify"
      (lambda (application _replaces _icon title text &rest _)
        (princ (format "%S\n" (list application title text)))
        (run-at-time 0.1 nil
                     (lambda ()
                       (dbus-send-signal
                        :session nil "/org/freedesktop/Notifications"
                        "org.freedesktop.Notifications" "ActionInvoked"
                        :uint32 7 "default")))
        '(:uint32 7)))
     (princ "ready\n")
     (while t (read-event nil nil 1)))
  "What the other Emacs does.")

(defmacro org-agent-notify-test--with-desktop (output &rest body)
  "Run BODY with a desktop, whose output is the function OUTPUT, on the bus."
  (declare (indent 1) (debug t))
  `(org-agent-fake-with-chat
     (let* ((desktop (start-process
                      "desktop" (generate-new-buffer " *desktop*")
                      (expand-file-name invocation-name invocation-directory)
                      "-Q" "--batch" "--eval"
                      (prin1-to-string org-agent-notify-test--desktop)))
            (,output (lambda ()
                       (with-current-buffer (process-buffer desktop)
                         (buffer-string)))))
       (setq org-agent-notify--listening nil)
       (unwind-protect
           (progn
             (org-agent-fake-wait (string-match-p "ready" (funcall ,output)))
             ,@body)
         (setq org-agent-notify--listening nil)
         (delete-process desktop)
         (kill-buffer (process-buffer desktop))))))

(defun org-agent-notify-test--end (seconds &optional session)
  "Report the end of a turn of SESSION that took SECONDS."
  (org-agent-fake-notify "turn/finished" :session (or session "main")
                         :turn "turn-1" :event "q1" :state :answered
                         :seconds seconds))

(defun org-agent-notify-test-over-the-bus ()
  "Have a long turn notified of over D-Bus, as plain text; a click shows it."
  (should (featurep 'dbusbind))
  (org-agent-notify-test--with-desktop output
    (goto-char (point-min))
    (insert (org-agent-heading-question 1 "q1" "Is <b>this</b> & that so?" nil))
    (goto-char (point-max))
    (save-window-excursion
      (switch-to-buffer "*scratch*")
      (org-agent-notify-test--end 30)
      (org-agent-fake-wait (string-match-p "Answered" (funcall output)))
      (should (string-match-p
               (regexp-quote
                "(\"Emacs\" \"org-agent\" \"Answered: Is &lt;b&gt;this&lt;/b&gt; &amp; that so?\")")
               (funcall output)))
      (let ((deadline (+ (float-time) org-agent-fake-timeout)))
        (while (and (not (equal (buffer-name (window-buffer)) "*org-agent-chat*"))
                    (< (float-time) deadline))
          (read-event nil nil 0.05)))
      (should (equal (buffer-name (window-buffer)) "*org-agent-chat*"))
      (should (looking-at "\\* Is <b>")))))

(ert-deftest org-agent-notify-over-the-bus ()
  "A long turn is notified of over D-Bus.
This runs in another Emacs, which is started with the address of the bus
in its environment, since libdbus reads only that."
  (let* ((directory (make-temp-file "org-agent-bus" t))
         (socket (expand-file-name "bus" directory))
         (address (concat "unix:path=" socket))
         (bus (start-process "bus" nil "dbus-daemon" "--session" "--nofork"
                             "--address" address)))
    (unwind-protect
        (let ((process-environment
               (append (list (concat "DBUS_SESSION_BUS_ADDRESS=" address)
                             "XDG_RUNTIME_DIR")
                       process-environment)))
          (org-agent-fake-wait (file-exists-p socket))
          (org-agent-fake-elsewhere 'org-agent-notify-test
                                    'org-agent-notify-test-over-the-bus))
      (delete-process bus)
      (delete-directory directory t))))

(ert-deftest org-agent-notify-without-a-bus ()
  "Without a bus the echo area is used; nothing fails and nothing waits."
  (dolist (address '(nil "" "unix:path=/nonexistent" "autolaunch:" "tcp:host=x"))
    (org-agent-fake-with-chat
      (let ((process-environment
             (append (list (if address (concat "DBUS_SESSION_BUS_ADDRESS=" address)
                             "DBUS_SESSION_BUS_ADDRESS")
                           "XDG_RUNTIME_DIR=/nonexistent")
                     process-environment)))
        (save-window-excursion
          (switch-to-buffer "*scratch*")
          (ert-with-message-capture messages
            (org-agent-notify-test--end 30)
            (org-agent-fake-wait (string-match-p "org-agent: Answered: a question"
                                                 messages))))))))

(ert-deftest org-agent-notify-only-of-what-is-not-seen ()
  "Short turns, visible ones and those of others are not notified of."
  (org-agent-fake-with-chat
    (let* (told (org-agent-notify-function
                 (lambda (title text _) (push (list title text) told))))
      (cl-flet ((tell (&rest arguments)
                  (apply #'org-agent-notify-test--end arguments)
                  (org-agent-fake-settle)
                  (prog1 told (setq told nil))))
        (save-window-excursion
          (switch-to-buffer "*scratch*")
          (should-not (tell 19))
          (should (equal (tell 20) '(("org-agent" "Answered: a question"))))
          (should-not (tell 30 "other"))
          (let ((org-agent-notify-after nil)) (should-not (tell 30)))
          (org-agent-fake-notify "ask/opened" :sort :approval :id "p1" :session "other" :turn "t"
                                 :event "q" :action "(:type :request)")
          (org-agent-fake-settle)
          (should (equal told '(("org-agent: other" "Waits for your decision: a question"))))
          (setq told nil))
        (save-window-excursion
          (switch-to-buffer "*org-agent-chat*")
          ;; This Emacs has no terminal, and so no focus.
          (should (tell 30))
          (dolist (focus '(t unknown))
            (cl-letf (((symbol-function 'frame-focus-state) (lambda (_) focus)))
              (should-not (tell 30)))))))))

(ert-deftest org-agent-mode-line-counts ()
  "The mode line counts running answers and approvals, and is empty when off."
  (org-agent-fake-with-chat
    (let ((global-mode-string '("mine")))
      (unwind-protect
          ;; Without a terminal Emacs formats no mode line.
          (cl-flet ((shown ()
                      (mapconcat (lambda (part)
                                   (pcase part
                                     (`(,variable ,string)
                                      (if (symbol-value variable)
                                          (substring-no-properties
                                           (symbol-value string))
                                        ""))
                                     (_ part)))
                                 global-mode-string "")))
            (should (equal (shown) "mine"))
            (org-agent-mode-line-mode 1)
            (org-agent-mode-line-mode 1)
            (should (equal (shown) "mine"))
            (org-agent-fake-notify "turn/started" :session "main" :turn "t1" :event "q1")
            (org-agent-fake-settle)
            (should (equal (shown) "mine Agent:1"))
            (org-agent-fake-notify "ask/opened" :sort :approval :id "p1" :session "main" :turn "t1"
                                   :event "q1" :action "(:type :request)")
            (org-agent-fake-settle)
            (should (equal (shown) "mine Agent waits:1"))
            (should (eq (lookup-key (get-text-property
                                     1 'local-map org-agent-notify--mode-line-string)
                                    [mode-line mouse-1])
                        'org-agent-approvals))
            (org-agent-fake-notify "ask/closed" :sort :approval :id "p1" :session "main")
            (org-agent-fake-settle)
            (should (equal (shown) "mine Agent:1"))
            (save-window-excursion
              (switch-to-buffer "*scratch*")
              (org-agent-mode-line-show)
              (should (equal (buffer-name) "*org-agent-chat*")))
            (org-agent-notify-test--end 1)
            (org-agent-fake-settle)
            (org-agent-fake-notify "turn/finished" :session "main" :turn "t1"
                                   :event "q1" :state :answered)
            (org-agent-fake-settle)
            (should (equal (shown) "mine"))
            (org-agent-fake-notify "turn/started" :session "main" :turn "t2" :event "q1")
            (org-agent-fake-settle)
            (org-agent-fake-kill)
            (org-agent-fake-wait (equal (shown) "mine"))
            (org-agent-mode-line-mode -1)
            (should (equal global-mode-string '("mine"))))
        (org-agent-mode-line-mode -1)))))

(provide 'org-agent-notify-test)
;;; org-agent-notify-test.el ends here
