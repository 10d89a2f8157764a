;;; org-agent-header-test.el --- Tests of the header line  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What the header line says and when it is made.  With the real kernel and a
;; scripted model: the progress of a turn is shown while it runs, its end is
;; reported, and "continue" continues it.

;;; Code:

(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-header)
(require 'org-agent-layout)
(require 'org-agent-status)
(require 'org-agent-chat)

(defun org-agent-header-test--search (words &rest options)
  "Return an exchange that looks for WORDS; see OPTIONS."
  (append
   (list (cons 'reply (format "(:type :request :target :tool :action :call :tool \"memory_search\" :args (:query \"%s\"))" words)))
   options))

(ert-deftest org-agent-header-progress-words ()
  "The usage of a turn is described in words."
  (dolist (case '(((:round 3 :of-rounds 20 :tokens 12345 :of-tokens 100000
                    :seconds 4.5 :of-seconds 3600 :cost 0.021 :of-cost 0.5)
                   "round 3 of 20, 12k of 100k tokens, $0.02 of $0.50"
                   "round 3 of 20, 12k of 100k tokens, 4s of 1h, $0.02 of $0.50")
                  ((:round 2 :of-rounds 1000 :tokens 1500000)
                   "round 2 of 1000, 1.5M tokens"
                   "round 2 of 1000, 1.5M tokens, 0s")
                  ((:round 21 :of-rounds 20 :tokens 999 :of-tokens 2000000
                    :seconds 2000.2 :of-seconds 3600 :last t)
                   "answering with what was found, 999 of 2M tokens, 33m of 1h"
                   "answering with what was found, 999 of 2M tokens, 33m of 1h")))
    (should (equal (org-agent-header-progress-text (nth 0 case)) (nth 1 case)))
    (should (equal (org-agent-header-progress-text (nth 0 case) t) (nth 2 case)))))

(ert-deftest org-agent-header-progress-shown-and-stopped ()
  "The header line and the status show the progress of a turn."
  (org-agent-kernel-test--with
      (list (org-agent-header-test--search "zebra" (cons 'usage '((prompt_tokens . 12000) (completion_tokens . 300) (cost . 0.02))))
            (org-agent-header-test--search "gnu")
            (append (list (cons 'match "nothing more is done"))
                    (org-agent-kernel-test--held "* What I found\nThe rest is left." -1))
            (org-agent-kernel-test--exchange "* All of it"))
    (goto-char (point-min))
    (insert "#+PROPERTY: BUDGET_ROUNDS 2\n")
    (goto-char (point-max))
    (let ((kill-ring '("kept")))
      (org-agent-kernel-test--say "What is known of zebras?")
      (let ((undo buffer-undo-list))
        (org-agent-fake-wait
         (string-match-p "answering with what was found, 1[0-9]k of 1M tokens, \\$0.02 of \\$2.00"
                         (org-agent-header-line))
         (substring-no-properties (org-agent-header-line)))
        (insert "my draft")
        (should-not (equal undo t))
        (org-agent-status)
        (org-agent-fake-wait
         (when-let* ((status (get-buffer "*org-agent-status*")))
           (with-current-buffer status
             (string-match-p "main, being written: answering with what was found, .* tokens, [0-9]+s of 1h, \\$0.02 of \\$2.00"
                             (buffer-string)))))
        (kill-buffer "*org-agent-status*"))
      (org-agent-kernel-test--let-go)
      (org-agent-fake-wait (not (org-agent-chat-get :turn)))
      (should (equal kill-ring '("kept"))))
    (should-not (string-match-p "round\\|found" (org-agent-header-line)))
    (should (string-suffix-p "* my draft" (org-agent-fake-text)))
    (should (string-match-p
             (concat "^- Stopped :: What this may take is used up: 2 of 2 rounds (BUDGET_ROUNDS)\\."
                     " This is what was found until then: say \"continue\" to have it go on\\.\nThe rest is left\\.")
             (org-agent-fake-text)))
    (goto-char (point-max))
    (delete-char (- (length "my draft")))
    (org-agent-kernel-test--say "continue")
    (org-agent-kernel-test--settle 2)
    (should (string-match-p "^\\*\\* All of it" (org-agent-fake-text)))))

(ert-deftest org-agent-header-wait-words ()
  "Why an answer does not come is said in words, with the seconds."
  (let ((now (float-time (encode-time (iso8601-parse "2026-11-30T12:00:00Z")))))
    (dolist (case '(((:host "api.example.org" :reason :rate-limit :at "2026-11-30T12:00:12Z" :attempt 2)
                     "rate limit, again in 12 s (api.example.org)")
                    ((:host "api.example.org" :reason :rate-limit :at "2026-11-30T11:59:59Z" :attempt 3)
                     "rate limit, asked again now, request 3 (api.example.org)")
                    ((:reason :server :at "2026-11-30T12:00:02Z" :attempt 4)
                     "overloaded or broken, again in 2 s, request 4 (the model's server)")
                    ((:host "localhost:1" :reason :unreachable :at "2026-11-30T12:00:01Z" :attempt 2)
                     "not reached, again in 1 s (localhost:1)")
                    ((:host "localhost:1" :reason :silent :at "2026-11-30T11:59:45Z")
                     "nothing for 15 s (localhost:1)")))
      (should (equal (org-agent-header-wait-text (nth 0 case) now) (nth 1 case)))))
  (should-not (org-agent-header-wait-text nil)))

(ert-deftest org-agent-header-wait-shown ()
  "A rate limit is in the header line while it lasts, and counts down."
  (org-agent-kernel-test--with
      (list '((status . 429) (headers . (("Retry-After" . "3")))
              (body . "{\"error\":{\"message\":\"slow down\"}}"))
            (org-agent-kernel-test--exchange "* Here it is"))
    (org-agent-kernel-test--say "Are you there?")
    (org-agent-fake-wait
     (string-match-p "rate limit, again in [123] s (127\\.0\\.0\\.1:[0-9]+)"
                     (org-agent-header-line))
     (substring-no-properties (org-agent-header-line)))
    (should (timerp org-agent-header--timer))
    (org-agent-fake-wait
     (string-match-p "again in 1 s" (org-agent-header-line)))
    (org-agent-kernel-test--settle 1)
    (should-not (string-match-p "rate limit" (org-agent-header-line)))
    (org-agent-fake-wait (not org-agent-header--timer))
    (should (string-match-p "Here it is" (org-agent-fake-text)))))

(ert-deftest org-agent-header-explains-its-numbers ()
  "The mouse on a number of the header line says what it counts."
  (org-agent-fake-with-chat
    (org-agent-chat-put :usage '(:input 12000 :output 300) :shown 9 :window 100)
    (let ((line (org-agent-header-line)))
      (pcase-dolist (`(,shown . ,said) '(("12k in, 300 out" . "tokens that models read and wrote")
                                         ("context 9%% full" . "what the model can read at once")))
        (should (string-search said (or (get-text-property (string-search shown line)
                                                           'help-echo line)
                                        "")))))
    ;; The guide is no model, and reads nothing of what was said.
    (org-agent-chat-put :model "builtin")
    (should-not (string-search "full" (org-agent-header-line)))))

(ert-deftest org-agent-header-is-made-when-it-changes ()
  "While a turn runs, nothing is made for the header line that is the same."
  (org-agent-fake-with-chat
    (let ((line (org-agent-header-fitted)))
      (should-not (eq line (org-agent-header-fitted))))
    (org-agent-chat-put :turn "turn-1" :phase 'streaming :model "one")
    (let ((line (org-agent-header-fitted)))
      (should (string-match-p "one.*streaming" line))
      (should (eq line (org-agent-header-fitted))))
    (pcase-dolist (`(,words . ,change)
                   `(("two" . ,(lambda () (org-agent-chat-put :model "two")))
                     ("round 2 of 9" . ,(lambda ()
                                          (org-agent-chat-put
                                           :progress '(:turn "turn-1" :round 2 :of-rounds 9))))
                     ("reads /p" . ,(lambda () (setq-local org-agent-context-project "/p")))
                     ("not saved" . ,(lambda () (setq org-agent-file-owner-trouble "not saved")))
                     ("kernel lost" . ,(lambda () (setq org-agent-kernel-state 'lost)))
                     ("no kernel: why" . ,(lambda ()
                                            (setq org-agent-kernel-state 'failed
                                                  org-agent-kernel-trouble "why")))))
      (should-not (string-match-p words (org-agent-header-fitted)))
      (funcall change)
      (should (string-match-p words (org-agent-header-fitted))))))

(ert-deftest org-agent-header-is-seen-whole ()
  "A header line that is too long for its window says how to see all of it."
  (let ((org-agent-kernel-state 'failed)
        (org-agent-kernel-trouble
         (concat "The kernel did not start: " (make-string 60 ?x) " 100% of the disk is full")))
    (with-temp-buffer
      (org-agent-chat-mode)
      (should (equal header-line-format '(:eval (org-agent-header-fitted))))
      (should (<= (string-width (org-agent-header-fitted)) (window-width)))
      (should (string-match-p "no kernel: The kernel did not start" (org-agent-header-fitted)))
      (should (string-match-p "… M-x org-agent-header\\'" (org-agent-header-fitted)))
      (ert-with-message-capture messages
        (call-interactively #'org-agent-header)
        (should (string-search org-agent-kernel-trouble messages)))
      (setq org-agent-kernel-trouble "It is gone")
      (should (equal (org-agent-header-fitted) (org-agent-header-line))))
    ;; Wherever it is cut, what is escaped stays so.
    (cl-letf (((symbol-function 'org-agent-header-line)
               (lambda () (concat (make-string 30 ?x) (make-string 80 ?%)))))
      (dotimes (n 40)
        (cl-letf (((symbol-function 'window-width) (lambda (&rest _) (+ 40 n))))
          (should (cl-evenp (cl-count ?% (org-agent-header-fitted)))))))))

(provide 'org-agent-header-test)
;;; org-agent-header-test.el ends here
