;;; org-agent-subagent-test.el --- Tests of subagents  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real kernel and a scripted model: running subagents are shown
;; below the question, can be read, and are stopped with it.

;;; Code:

(require 'org-agent-kernel-test)
(require 'org-agent-status)
(require 'org-agent-approval)
(require 'org-agent-chat)
(require 'org-agent-kernel)

(defun org-agent-subagent-test--lines ()
  "Return what stands below the questions of this buffer about subagents, sorted."
  (sort (split-string
         (mapconcat (lambda (pair)
                      (substring-no-properties
                       (or (overlay-get (cdr pair) 'after-string) "")))
                    org-agent-status--subagent-overlays "\n")
         "\n" t " +")
        #'string<))

(defconst org-agent-subagent-test--two
  "(:type :request :target :tool :action :batch :calls ((:tool \"start_subagent\" :args (:task \"part one\" :label \"one\")) (:tool \"start_subagent\" :args (:task \"part two\" :label \"two\"))))"
  "A reply that hands on two tasks.")

(defun org-agent-subagent-test--allow ()
  "Wait for something to decide, and allow it once."
  (org-agent-fake-wait (org-agent-asks-of :approval))
  (org-agent-kernel-request
   "ask/decide" (list :id (plist-get (car (org-agent-asks-of :approval)) :id)
                           :decision :allow-once)))

(ert-deftest org-agent-subagent-words ()
  "The state of a subagent is described in words."
  (dolist (case '(((:label "a" :state :queued) "a: queued")
                  ((:label "a" :state :running :round 3 :tokens 12345)
                   "a: running, round 3, 12k tokens")
                  ((:label "a" :state :waiting :round 3 :tokens 10)
                   "a: waits for your decision, M-x org-agent-approvals, 10 tokens")
                  ((:label "a" :state :error :notice "no such model")
                   "a: error, no such model")))
    (should (equal (org-agent-status--subagent-text (car case)) (cadr case)))))

(ert-deftest org-agent-subagent-shown-and-stopped ()
  "Two subagents are shown while they run, can be read, and end with the turn."
  (org-agent-kernel-test--with
      (list (list (cons 'match "^Go on") (cons 'reply org-agent-subagent-test--two))
            (append (list (cons 'match "^part") (cons 'first_delay "1h") (cons 'times -1))
                    (org-agent-kernel-test--exchange "never")))
    (org-agent-kernel-test--say "Go on")
    (org-agent-subagent-test--allow)
    (org-agent-fake-wait
     (equal (org-agent-subagent-test--lines)
            '("↳ one: running, round 1" "↳ two: running, round 1"))
     (org-agent-subagent-test--lines))
    (should-not (string-match-p "↳" (org-agent-fake-text)))
    (let ((chat (current-buffer))
          (child (plist-get (car org-agent-status--subagents) :child)))
      (org-agent-status)
      (org-agent-fake-wait
       (when-let* ((status (get-buffer "*org-agent-status*")))
         (with-current-buffer status
           (and (string-match-p "main, being written" (buffer-string))
                (string-match-p "one, subagent of main, being written" (buffer-string))
                (string-match-p "two, subagent of main, being written" (buffer-string))))))
      (kill-buffer "*org-agent-status*")
      (save-window-excursion
        (org-agent-subagents)
        (with-current-buffer "*org-agent-subagents*"
          (org-agent-fake-wait tabulated-list-entries)
          (goto-char (point-min))
          (search-forward "running")
          (org-agent-list-refresh org-agent-status--subagents-buffer)
          (should (equal (org-agent-status--subagent-choose)
                         (cdr (tabulated-list-get-id))))
          (should (org-agent-status--subagent-choose))))
      (save-window-excursion
        (org-agent-subagent-open child)
        (should buffer-read-only)
        (org-agent-fake-wait (string-match-p "^\\* part \\(one\\|two\\)" (buffer-string))
                             (buffer-string)))
      (with-current-buffer chat
        (org-agent-stop-turn)
        (org-agent-fake-wait (not (org-agent-subagent-test--lines))
                             (org-agent-subagent-test--lines))
        (org-agent-fake-wait (not (org-agent-chat-get :turn)))
        (should-not org-agent-status--subagent-overlays)
        (save-window-excursion
          (org-agent-subagents)
          (with-current-buffer "*org-agent-subagents*"
            (org-agent-fake-wait
             (= 2 (how-many "main .*cancelled" (point-min) (point-max)))
             (buffer-string))
            (kill-buffer)))
        (save-window-excursion
          (org-agent-sessions)
          (with-current-buffer "*org-agent-sessions*"
            (org-agent-fake-wait
             (= 2 (how-many "(subagent of main)" (point-min) (point-max)))
             (buffer-string))
            (kill-buffer))))
      (kill-buffer (org-agent-chat-buffer child)))))

(ert-deftest org-agent-subagent-asks ()
  "An approval of a subagent has its name, also without its buffer."
  (org-agent-kernel-test--with
      (list (list (cons 'match "^Go on")
                  (cons 'reply "(:type :request :target :tool :action :call :tool \"start_subagent\" :args (:task \"part\" :label \"the writer\"))"))
            (list (cons 'match "^part")
                  (cons 'reply "(:type :request :target :tool :action :call :tool \"write\" :args (:path \"notes/x.org\" :content \"x\"))"))
            (append (list (cons 'match "a person refused it"))
                    (org-agent-kernel-test--exchange "* It may not"))
            (append (list (cons 'match "It may not")) (org-agent-kernel-test--exchange "* Well")))
    (org-agent-kernel-test--say "Go on")
    (let ((first (progn (org-agent-fake-wait (org-agent-asks-of :approval))
                        (car (org-agent-asks-of :approval)))))
      (should-not (plist-get first :subagent))
      (org-agent-subagent-test--allow)
      (org-agent-fake-wait (plist-get (car (org-agent-asks-of :approval)) :subagent)
                           (org-agent-asks-of :approval)))
    (let ((asked (car (org-agent-asks-of :approval))))
      (should (equal (org-agent-approval--who asked) "the writer, subagent of main"))
      (org-agent-fake-wait
       (string-prefix-p "↳ the writer: waits for your decision, M-x org-agent-approvals, "
                        (car (org-agent-subagent-test--lines)))
       (org-agent-subagent-test--lines))
      (save-window-excursion
        (org-agent-approvals)
        (with-current-buffer "*org-agent-approvals*"
          (org-agent-fake-wait (string-match-p "(the writer, subagent of main, " (buffer-string))
                               (buffer-string))
          (kill-buffer)))
      (org-agent-kernel-request "ask/decide"
                                (list :id (plist-get asked :id) :decision :deny)))
    (org-agent-kernel-test--settle 1)
    (should (string-match-p "^\\*\\* Well" (org-agent-fake-text)))
    (should (string-match-p "^: start_subagent .*the writer" (org-agent-fake-text)))
    ;; What it did is a key away when it has ended.
    (goto-char (point-min))
    (re-search-forward "^: start_subagent")
    (save-window-excursion
      (should (org-agent-page-toggle-drawer))
      (org-agent-fake-wait
       (string-prefix-p "*org-agent-chat: main.the-writer-"
                        (buffer-name (window-buffer))))
      (with-current-buffer (window-buffer)
        (org-agent-fake-wait (string-match-p "It may not" (buffer-string)))
        (should buffer-read-only)
        (kill-buffer)))))

(provide 'org-agent-subagent-test)
;;; org-agent-subagent-test.el ends here
