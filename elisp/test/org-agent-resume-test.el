;;; org-agent-resume-test.el --- Tests of restarts  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The kernel, Emacs, or both are killed during an answer, while another
;; message waits and a third was written.  Then all is opened again.  The
;; death of one alone is tested in `org-agent-recovery-test.el'.

;;; Code:

(require 'org-agent-kernel-test)
(require 'org-agent-answer)
(require 'org-agent-chat)
(require 'org-agent-file-owner)
(require 'org-agent-heading)
(require 'org-agent-kernel)

(defun org-agent-resume-test--long ()
  "Return an exchange of which the rest is held."
  (org-agent-kernel-test--held
   (org-agent-kernel-test--envelope (org-agent-kernel-test--long 150))))

(defun org-agent-resume-test--begin ()
  "Return an Emacs in which an answer streams and another message waits."
  (let ((other (org-agent-kernel-test--emacs
                '(org-agent-kernel-test--say "First")
                '(org-agent-fake-wait
                  (with-current-buffer "*org-agent-chat*"
                    org-agent-answer-previews))
                '(org-agent-kernel-test--say "Second")
                '(org-agent-fake-wait
                  (with-current-buffer "*org-agent-chat*"
                    (and (not org-agent-chat-outbox) org-agent-answer-previews)))
                '(message "streaming")
                '(while t (accept-process-output nil 1)))))
    (org-agent-kernel-test--wait-print other "streaming")
    other))

(defun org-agent-resume-test--kill (process)
  "Kill PROCESS, another Emacs, so that it can do nothing more."
  (signal-process (process-id process) 'SIGKILL)
  (org-agent-fake-wait (not (process-live-p process))))

(defun org-agent-resume-test--kill-kernel ()
  "Kill the kernel so that it can do nothing more."
  (let ((pid (org-agent-kernel-test--pid)))
    (signal-process pid 'SIGKILL)
    (org-agent-fake-wait (org-agent-fake-ended-p pid))))

(defun org-agent-resume-test--open ()
  "Open the conversation again, go on, and check that all is there, once."
  (org-agent-chat)
  (with-current-buffer "*org-agent-chat*"
    (org-agent-kernel-test--wait-attached)
    (org-agent-kernel-test--settle 2)
    (goto-char (point-min))
    ;; What was killed says so; it is answered when that is asked for.
    (when (re-search-forward "^:STATE: +interrupted$" nil t)
      (org-agent-chat-ctrl-c-ctrl-c)
      (org-agent-kernel-test--settle 3))
    (let ((questions (cl-remove-if-not (lambda (heading) (= 1 (car heading)))
                                       (org-agent-kernel-test--shape))))
      (should (equal (mapcar #'cadr questions) '("First" "Second" ""))))
    (should (= 1 (how-many "word150" (point-min) (point-max))))
    (should (= 1 (how-many "the second" (point-min) (point-max))))
    (should-not (string-match-p ":unsent:" (buffer-string)))
    (let ((ids (org-agent-heading-turn-ids)))
      (should (equal ids (delete-dups (copy-sequence ids)))))
    (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))))

(ert-deftest org-agent-resume-after-both-died ()
  "Emacs and kernel die during an answer, in either order."
  (dolist (first '(kernel emacs))
    (org-agent-kernel-test--with
        (list (org-agent-resume-test--long)
              (org-agent-kernel-test--exchange "the second" '(match . "Second") '(times . -1))
              (org-agent-resume-test--long))
      (kill-buffer)                     ; so that the other one keeps the file
      (org-agent-fake-settle)
      (let ((other (org-agent-resume-test--begin)))
        ;; This Emacs does not start another kernel meanwhile.
        (setq org-agent-kernel--wanted nil)
        (if (eq first 'emacs)
            (progn (org-agent-resume-test--kill other)
                   (org-agent-resume-test--kill-kernel))
          (signal-process (process-id other) 'SIGSTOP)
          (org-agent-resume-test--kill-kernel)
          (org-agent-resume-test--kill other)))
      (org-agent-kernel-test--let-go)
      (org-agent-fake-reset)
      (org-agent-resume-test--open))))

(ert-deftest org-agent-resume-with-what-was-not-sent ()
  "A message that was written without a kernel survives Emacs.
It is marked, and sent with the same id when the person sends it."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "heard" '(times . -1)))
    (kill-buffer)
    (org-agent-fake-settle)
    (setq org-agent-kernel--wanted nil)
    (let ((other (org-agent-kernel-test--emacs
                  '(org-agent-kernel-test--say "First")
                  '(org-agent-kernel-test--settle 1)
                  `(setq org-agent-program "/nonexistent")
                  '(message "ready")
                  '(org-agent-fake-wait (not org-agent-chat-attached))
                  '(org-agent-kernel-test--say "Into the void")
                  '(org-agent-file-owner-save)
                  '(message "written")
                  '(while t (accept-process-output nil 1)))))
      (org-agent-kernel-test--wait-print other "ready")
      (org-agent-resume-test--kill-kernel)
      (org-agent-kernel-test--wait-print other "written")
      (org-agent-resume-test--kill other))
    (org-agent-fake-reset)
    (org-agent-chat)
    (with-current-buffer "*org-agent-chat*"
      (org-agent-kernel-test--wait-attached)
      (goto-char (point-min))
      (search-forward "* Into the void")
      (let ((id (org-agent-heading-property (line-beginning-position) "ID")))
        (should (string-match-p ":unsent:" (thing-at-point 'line t)))
        (org-agent-chat-ctrl-c-ctrl-c)
        (org-agent-kernel-test--settle 2)
        (should (equal id (org-agent-heading-property
                           (org-agent-heading-find id) "ID"))))
      (should (equal (mapcar #'cadr (org-agent-kernel-test--shape))
                     '("First" "heard" "Into the void" "heard" "")))
      (should-not (string-match-p ":unsent:" (buffer-string))))))

(ert-deftest org-agent-resume-lost-journal-marks-nothing-answered ()
  "An answered question that the kernel does not know is not marked as unsent.
The person is told, and the file stays as it was."
  (org-agent-fake-with-home
    (make-directory (file-name-directory (org-agent-fake-file "main")) t)
    (let ((text (concat (org-agent-heading-question 1 "q1" "first" nil)
                        (org-agent-fake-answer-text "a1" "One" "Body")
                        (org-agent-heading-question 1 "q2" "second" nil)
                        (org-agent-fake-answer-text "a2" "Two" "Body")
                        "* "))
          said)
      (with-temp-file (org-agent-fake-file "main") (insert text))
      (push (cons "session/load"
                  (lambda (params)
                    (list :session "main" :file (org-agent-fake-file "main")
                          :keeper t :never-received (plist-get params :ids))))
            org-agent-fake-answers)
      (org-agent-fake-start)
      (cl-letf (((symbol-function 'org-agent-chat-complain)
                 (lambda (what refusal)
                   (push (concat what ": " (plist-get refusal :message)) said))))
        (org-agent-chat)
        (with-current-buffer "*org-agent-chat*"
          (org-agent-fake-wait (eq org-agent-chat-attached t))
          (should (equal (org-agent-fake-text) text))
          (should (equal (org-agent-fake-file-text) text))))
      (should (= (length said) 1))
      (should (string-match-p "\\`2 answered questions here are not in the kernel's journal: they stay"
                              (car said))))))

(provide 'org-agent-resume-test)
;;; org-agent-resume-test.el ends here
