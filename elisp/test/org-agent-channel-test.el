;;; org-agent-channel-test.el --- Tests of adding channels  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With a fake kernel what the page says and asks for, with the real one
;; that nothing is written without an account.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent)
(require 'org-agent-channel)

(defun org-agent-channel-test--text ()
  "Return what the page of channels says, on one line."
  (with-current-buffer "*org-agent-channels*"
    (string-join (split-string (buffer-string)) " ")))

(defun org-agent-channel-test--press (name)
  "Press the last button NAME of the page."
  (with-current-buffer "*org-agent-channels*"
    (goto-char (point-max))
    (search-backward name)
    (push-button (point))))

(defconst org-agent-channel-test--list
  '(:file "/h/.org-agent/config.org"
    :channels ((:name "telegram" :driver "telegram" :line 7)
               (:name "old" :driver "matrix" :line 12 :fault "the token\nis not valid"))
    :drivers ((:name "telegram" :begin ("Write to @BotFather." "Send it /newbot.")
               :properties ((:name "TOKEN" :doc "where the token is" :key t :required t)
                            (:name "URL" :doc "the address of a server"))))))

(ert-deftest org-agent-channel-page ()
  "The page has the channels, adds one with its account tested, and makes a code.
It fits 80 columns and 24 lines.  Where a key is goes to the kernel, and
no key."
  (org-agent-fake-with-home
    (let (added paired)
      (push (cons "channel/list" (lambda (_) org-agent-channel-test--list)) org-agent-fake-answers)
      (push (cons "channel/add"
                  (lambda (params)
                    (setq added params)
                    (list :file "/h/.org-agent/config.org" :line 20 :name "work"
                          :account (list :id "7" :name "Agent"))))
            org-agent-fake-answers)
      (push (cons "channel/pair"
                  (lambda (params)
                    (setq paired params)
                    (list :code "0AB1C-DE2FG-H3JK4-M5NPQ-RSTVWX" :until "2026-12-01T09:00:00Z")))
            org-agent-fake-answers)
      (org-agent-fake-start)
      (save-window-excursion
        (org-agent-channel-pair)
        (org-agent-fake-wait (string-match-p "BotFather\\|kinds" (org-agent-channel-test--text)))
        (with-current-buffer "*org-agent-channels*"
          (should (equal "telegram" (button-label (button-at (point)))))
          (should (< (count-lines (point-min) (point-max)) 22))
          (goto-char (point-min))
          (while (not (eobp))
            (end-of-line)
            (should (<= (current-column) 80))
            (forward-line)))
        (should (string-match-p "telegram runs (telegram) old the token is not valid"
                                (org-agent-channel-test--text)))
        (cl-letf (((symbol-function 'read-string)
                   (lambda (prompt &rest _)
                     (cond ((string-match-p "\\`Name of the channel" prompt) "Work")
                           ((string-match-p "\\`Name of the variable" prompt) "BOT")
                           ((string-match-p "\\`URL, the address of a server (RET: none)" prompt) "")
                           (t (ert-fail prompt)))))
                  ((symbol-function 'completing-read) (lambda (&rest _) "environment")))
          (org-agent-channel-test--press "telegram"))
        (org-agent-fake-wait added)
        (should (equal added '(:name "work" :driver "telegram"
                               :properties ((:name "TOKEN" :value "env:BOT")))))
        (org-agent-fake-wait (string-match-p "work is in line 20 of config.org, and its account is Agent\\."
                                             (org-agent-channel-test--text)))
        (should (string-match-p "1\\. Write to @BotFather\\. 2\\. Send it /newbot\\."
                                (org-agent-channel-test--text)))
        (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "owner")))
          (org-agent-channel-test--press "a code for work"))
        (org-agent-fake-wait (string-match-p "0AB1C-DE2FG" (org-agent-channel-test--text)))
        (should (equal paired '(:name "work" :role :owner)))
        (org-agent-channel-test--press "0AB1C")
        (should (equal (current-kill 0 t) "0AB1C-DE2FG-H3JK4-M5NPQ-RSTVWX"))
        (kill-buffer "*org-agent-channels*")))))

(ert-deftest org-agent-channel-of-the-kernel ()
  "The real kernel offers its kinds, and writes none whose account is refused.
The file of who may talk is visited."
  (org-agent-kernel-test--with nil
    (let ((config (expand-file-name "config.org" org-agent-home)))
      (save-window-excursion
        (org-agent-channel-add)
        (org-agent-fake-wait (string-match-p "telegram" (org-agent-channel-test--text)))
        (let ((before (with-temp-buffer (insert-file-contents config) (buffer-string))))
          (cl-letf (((symbol-function 'read-string)
                     (lambda (prompt &rest _)
                       (cond ((string-match-p "\\`Name of the channel" prompt) "telegram")
                             ((string-match-p "variable" prompt) "ORG_AGENT_NO_SUCH_VARIABLE")
                             (t ""))))
                    ((symbol-function 'completing-read) (lambda (&rest _) "environment")))
            (org-agent-channel-test--press "telegram"))
          (org-agent-fake-wait
           (string-match-p "nothing was written: .*ORG_AGENT_NO_SUCH_VARIABLE, which is not set"
                           (org-agent-channel-test--text)))
          (should (equal before (with-temp-buffer (insert-file-contents config) (buffer-string)))))
        (org-agent-channel-people)
        (should (equal "channels.org" (file-name-nondirectory buffer-file-name)))
        (goto-char (point-min))
        (should (search-forward "* People" nil t))
        (kill-buffer)
        (kill-buffer "*org-agent-channels*")))))

(provide 'org-agent-channel-test)
;;; org-agent-channel-test.el ends here
