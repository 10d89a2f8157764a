;;; org-agent-progress-test.el --- Tests of what a turn may take  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real kernel and a scripted model: the progress of a turn is
;; shown while it runs, its end is reported, and "continue" continues it.

;;; Code:

(require 'org-agent-kernel-test)
(require 'org-agent-notify)
(require 'org-agent-progress)
(require 'org-agent-status)
(require 'org-agent-chat)

(defun org-agent-progress-test--search (words &rest options)
  "Return an exchange that looks for WORDS; see OPTIONS."
  (append
   (list (cons 'reply (format "(:type :request :target :tool :action :call :tool \"memory_search\" :args (:query \"%s\"))" words)))
   options))

(ert-deftest org-agent-progress-words ()
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
    (should (equal (org-agent-progress-text (nth 0 case)) (nth 1 case)))
    (should (equal (org-agent-progress-text (nth 0 case) t) (nth 2 case)))))

(ert-deftest org-agent-progress-shown-and-stopped ()
  "The header line and the status show the progress of a turn."
  (org-agent-kernel-test--with
      (list (org-agent-progress-test--search "zebra" (cons 'usage '((prompt_tokens . 12000) (completion_tokens . 300) (cost . 0.02))))
            (org-agent-progress-test--search "gnu")
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
                         (org-agent-notify-header-line))
         (substring-no-properties (org-agent-notify-header-line)))
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
    (should-not (string-match-p "round\\|found" (org-agent-notify-header-line)))
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

(ert-deftest org-agent-progress-wait-words ()
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
      (should (equal (org-agent-progress-wait-text (nth 0 case) now) (nth 1 case)))))
  (should-not (org-agent-progress-wait-text nil)))

(ert-deftest org-agent-progress-wait-shown ()
  "A rate limit is in the header line while it lasts, and counts down."
  (org-agent-kernel-test--with
      (list '((status . 429) (headers . (("Retry-After" . "3")))
              (body . "{\"error\":{\"message\":\"slow down\"}}"))
            (org-agent-kernel-test--exchange "* Here it is"))
    (org-agent-kernel-test--say "Are you there?")
    (org-agent-fake-wait
     (string-match-p "rate limit, again in [123] s (127\\.0\\.0\\.1:[0-9]+)"
                     (org-agent-notify-header-line))
     (substring-no-properties (org-agent-notify-header-line)))
    (should (timerp org-agent-progress--timer))
    (org-agent-fake-wait
     (string-match-p "again in 1 s" (org-agent-notify-header-line)))
    (org-agent-kernel-test--settle 1)
    (should-not (string-match-p "rate limit" (org-agent-notify-header-line)))
    (org-agent-fake-wait (not org-agent-progress--timer))
    (should (string-match-p "Here it is" (org-agent-fake-text)))))

(provide 'org-agent-progress-test)
;;; org-agent-progress-test.el ends here
