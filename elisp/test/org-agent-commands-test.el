;;; org-agent-commands-test.el --- Tests of approvals and status  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-approval)
(require 'org-agent-status)

;;;; Approvals

(defun org-agent-commands-test--approval (id action)
  "Return the approval ID of ACTION."
  (list :id id :session "main" :turn "t" :event "e" :action action
        :hash "h" :reason "it writes" :asked "2026-11-21T10:00:00Z" :always t
        :reading '(:directory "/x" :rows ((:rule "runs in /x" :matches "cat **")))))

(ert-deftest org-agent-commands-approvals ()
  "Approvals are listed in full, and each key decides the one at point."
  (org-agent-fake-with-chat
    (let ((long (concat "(:cmd \"" (make-string 500 ?x) "\")")))
      (push (cons "ask/list"
                  (lambda (_)
                    (list :asks
                          (list (org-agent-commands-test--approval "p1" "(:cmd \"ls\")")
                                (org-agent-commands-test--approval "p2" long)))))
            org-agent-fake-answers)
      (save-window-excursion
        (org-agent-approvals)
        (org-agent-fake-wait (string-match-p (regexp-quote long) (buffer-string)))
        (pcase-dolist (`(,key . ,decision) '(("o" . :allow-once)
                                             ("t" . :allow-turn)
                                             ("s" . :allow-session)
                                             ("A" . :allow-always)
                                             ("r" . :allow-reading)))
          (org-agent-approval--refresh)
          (org-agent-fake-settle)
          (goto-char (point-min))
          (search-forward "\"ls\"")
          (call-interactively (key-binding key))
          (org-agent-fake-settle)
          (should (equal (car (last (org-agent-fake-requests "ask/decide")))
                         (list :id "p1" :decision decision)))
          (should-not (string-match-p "\"ls\"" (buffer-string))))
        (search-forward "xxx")
        (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "too long")))
          (call-interactively (key-binding "d")))
        (org-agent-fake-settle)
        (should (equal (car (last (org-agent-fake-requests "ask/decide")))
                       '(:id "p2" :decision :deny :reason "too long")))
        (should (string-match-p "Nothing waits" (buffer-string)))
        (should-error (call-interactively (key-binding "o")) :type 'user-error)))))

(ert-deftest org-agent-commands-approvals-come-and-go ()
  "A new approval appears once in an open list; a closed one is removed."
  (org-agent-fake-with-chat
    (save-window-excursion
      (org-agent-approvals)
      (org-agent-fake-settle)
      (dotimes (_ 2)
        (apply #'org-agent-fake-notify "ask/opened" :sort :approval
               (org-agent-commands-test--approval "p1" "(:cmd \"ls\")")))
      (org-agent-fake-settle)
      (should (= 1 (how-many "\"ls\"" (point-min) (point-max))))
      (org-agent-fake-notify "ask/closed" :sort :approval :id "p1" :session "main"
                             :decision :deny)
      (org-agent-fake-settle)
      (should (string-match-p "Nothing waits" (buffer-string))))))

;;;; Status

(ert-deftest org-agent-commands-status ()
  "The status is shown, or a message that there is no kernel."
  (org-agent-fake-with-chat
    (push (cons "status"
                (lambda (_)
                  '(:version "1" :pid 7 :home "/h" :running 1 :queued 2 :waiting 3
                    :skills 9 :faulty 1 :model "m" :seconds 7384 :memory 64000000
                    :models ((:name "m" :state :failing :fault "no\nanswer"
                              :at "2026-11-22T10:00:00Z")
                             (:name "n" :state :unasked))
                    :presets ((:name "concise") (:name "long")
                              (:name "hot" :fault "config.org:9: no number"))
                    :mcp ((:name "files" :state :ready :tools ("files_a" "files_b"))
                          (:name "web" :state :failing :fault "no answer"
                           :left ("b: the kernel has one")))
                    :conversations ((:name "main" :running "t" :queued 2))
                    :faults ("config.org has changed")
                    :connected ((:name "emacs" :id "c1" :version "0.1.0")))))
          org-agent-fake-answers)
    (save-window-excursion
      (org-agent-status)
      ;; It is selected, so that its keys work.
      (should (equal "*org-agent-status*" (buffer-name (window-buffer))))
      (with-current-buffer "*org-agent-status*"
        (org-agent-fake-wait (> (buffer-size) 0))
        ;; Before each line is the mark of its section.
        (let ((text (replace-regexp-in-string "^[ ▾] " "" (buffer-string))))
          (dolist (line '("\\`Approvals 3 to decide or to answer\nAnswers   1 being written, 2 queued\n +main, being written, 2 queued\n"
                          "Model     m\n +m  failing  2026-11-22 ..:..  no answer\n +n  not used yet\n"
                          "Presets   concise, long\n +hot  config.org:9: no number\n"
                          "Servers   files  ready, 2 tools\n +web  failing  no answer\n +left out: b: the kernel has one\n"
                          "Skills    9 live, 1 with errors in their files\nProblem   config.org has changed\n"
                          "Kernel    version 1  process 7  for 2 hours, 3 minutes, 4 seconds  64 MB\n"
                          "Clients   emacs 0.1.0\nHome      /h\n\\'"))
            (should (string-match-p line text))))
        ;; A conversation is a button that leads there; point stays where it was.
        (goto-char (point-min))
        (forward-line 2)
        (push-button (next-button (point)))
        (should (equal (buffer-name (window-buffer)) "*org-agent-chat*"))
        (set-buffer "*org-agent-status*")
        (goto-char (point-min))
        (forward-line 4)
        (revert-buffer)
        (org-agent-fake-settle)
        (should (= 5 (line-number-at-pos)))
        (kill-buffer))))
  (org-agent-fake-with-home
    (ert-with-message-capture messages
      (org-agent-status)
      (should (string-match-p "No kernel is running; M-x org-agent-chat"
                              messages)))))

(provide 'org-agent-commands-test)
;;; org-agent-commands-test.el ends here
