;;; org-agent-recovery-test.el --- Tests of kernels and Emacsen that are killed  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the project's kernel: it is killed, an Emacs is killed, or there are
;; two of them.  What was shown stays, and nothing is lost or said twice.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-answer)
(require 'org-agent-chat)
(require 'org-agent-file-owner)
(require 'org-agent-heading)
(require 'org-agent-kernel)
(require 'org-agent-turn)

;;;; Deaths

(ert-deftest org-agent-recovery-killed-leaves-what-was-shown ()
  "What was shown when the kernel was killed stays, and so does point.
The turn ends once, with what to press, and is answered again by it."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange
             (org-agent-kernel-test--envelope
              (concat "Look here:\n\n#+begin_src python\n"
                      (mapconcat (lambda (n) (format "word%d" n))
                                 (number-sequence 1 2000) "\n")))
             '(delay . "20ms"))
            (org-agent-kernel-test--exchange "Second try" '(times . -1)))
    (org-agent-kernel-test--say "Tell me")
    (org-agent-fake-wait (save-excursion
                           (goto-char (point-min))
                           (search-forward "word5" nil t)))
    (goto-char (point-max))
    (insert "I write on")
    (let (shown)
      (signal-process (org-agent-kernel-test--pid) 'SIGKILL)
      (org-agent-fake-wait (not org-agent-chat-attached))
      (save-excursion
        (goto-char (point-min))
        (re-search-forward "^#\\+begin_src python\n")
        (setq shown (buffer-substring-no-properties
                     (point) (search-forward "word5\n"))))
      (org-agent-kernel-test--wait-attached)
      (org-agent-kernel-test--settle 1)
      ;; The kernel may tell how the turn ended after it has told that it is attached.
      (org-agent-fake-wait (string-search shown (buffer-string)))
      (should (with-current-buffer (messages-buffer)
                (string-search "The answer broke off, because the kernel ended" (buffer-string))))
      (should (string-suffix-p "I write on" (buffer-string)))
      (should (equal "I write on" (buffer-substring-no-properties (max (point-min) (- (point) 10)) (point))))
      (should (string-match-p
               (concat "^\\*\\* Interrupted +:agent:\n\\(?::.*\n\\)+.*answered again\\.\n\n"
                       "Look here:\n#\\+begin_src python\n"
                       (regexp-quote shown) "\\(?:.*\n\\)*#\\+end_src\n\\* I write on")
               (buffer-substring-no-properties (point-min) (point-max)))))
    (should (= 1 (org-agent-kernel-test--answers)))
    (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
    (should-not (text-property-not-all (point-min) (point-max) 'read-only nil))
    (goto-char (point-min))
    (re-search-forward "^:STATE: +interrupted$")
    (org-agent-chat-ctrl-c-ctrl-c)
    (org-agent-fake-wait (save-excursion
                           (goto-char (point-min))
                           (search-forward "Second try" nil t)))))

(defun org-agent-recovery-test--said-count (words)
  "Return how often a message with WORDS was shown."
  (with-current-buffer (messages-buffer)
    (save-excursion
      (goto-char (point-min))
      (cl-loop while (search-forward words nil t)
               sum (if (looking-at ".*\\[\\([0-9]+\\) times\\]$")
                       (string-to-number (match-string 1))
                     1)))))

(ert-deftest org-agent-recovery-is-killed-before-anything-came ()
  "That the kernel ended is said once, also where nothing was shown of an answer.
It is said again when it ends again."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Late" '(first_delay . "1h") '(times . 2))
            (org-agent-kernel-test--exchange "Second try" '(times . -1)))
    (let ((before (org-agent-recovery-test--said-count "The kernel ended before an answer came")))
      (dotimes (n 2)
        (if (zerop n)
            (org-agent-kernel-test--say "Tell me")
          (org-agent-retry))
        (org-agent-fake-wait
         (= (1+ n) (with-temp-buffer
                     (ignore-errors
                       (insert-file-contents
                        (expand-file-name "trace" org-agent-fake-directory)))
                     (count-lines (point-min) (point-max)))))
        (signal-process (org-agent-kernel-test--pid) 'SIGKILL)
        (org-agent-fake-wait (not org-agent-chat-attached))
        (org-agent-kernel-test--wait-attached)
        (org-agent-kernel-test--settle (1+ n))
        (should (= (+ before n 1)
                   (org-agent-recovery-test--said-count "The kernel ended before an answer came"))))
      (org-agent-retry)
      (org-agent-kernel-test--settle 3)
      (should (= (+ before 2)
                 (org-agent-recovery-test--said-count "The kernel ended before an answer came"))))))

(ert-deftest org-agent-recovery-cut-by-a-server-is-shown-once ()
  "An answer that its server cut off is complete as it is: nothing is added."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange
             "## Rivers\n\nThe Zeravshan flows past Samarkand, and farther.\n"
             '(delay . "60ms") '(cut_after . 3)))
    (org-agent-kernel-test--say "Tell me")
    (org-agent-fake-wait org-agent-answer-previews)
    (org-agent-kernel-test--settle 1)
    (should (string-search ":STATE:    interrupted" (buffer-string)))
    (should (= 1 (how-many "Rivers" (point-min) (point-max))))))

(ert-deftest org-agent-recovery-is-killed-while-streaming ()
  "After SIGKILL the kernel is started again, and the turn ends visibly, once."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange
             (org-agent-kernel-test--envelope (org-agent-kernel-test--long 2000))
             '(delay . "20ms"))
            (org-agent-kernel-test--exchange "Second try" '(times . -1)))
    (org-agent-kernel-test--say "Tell me")
    (org-agent-fake-wait org-agent-answer-previews)
    (let ((pid (org-agent-kernel-test--pid)))
      (signal-process pid 'SIGKILL)
      (org-agent-fake-wait (not org-agent-chat-attached))
      (org-agent-kernel-test--wait-attached)
      (should-not (equal pid (org-agent-kernel-test--pid))))
    (org-agent-kernel-test--settle 1)
    (should (= 1 (org-agent-kernel-test--answers)))
    (goto-char (point-min))
    (when (re-search-forward "^:STATE: +interrupted$" nil t)
      (org-agent-chat-ctrl-c-ctrl-c)
      (org-agent-kernel-test--settle 2))
    (should (= 1 (how-many "Second try" (point-min) (point-max))))
    (should (= 1 (how-many "Tell me" (point-min) (point-max))))))

(ert-deftest org-agent-recovery-emacs-is-killed-while-streaming ()
  "An Emacs that dies while an answer streams loses no sent message."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--held
             (org-agent-kernel-test--envelope (org-agent-kernel-test--long 150))))
    (kill-buffer)                       ; so that the other one keeps the file
    (org-agent-fake-settle)
    (let ((other (org-agent-kernel-test--emacs
                  '(org-agent-kernel-test--say "Tell me")
                  '(org-agent-fake-wait
                    (with-current-buffer "*org-agent-chat*"
                      org-agent-answer-previews))
                  '(message "streaming")
                  '(while t (accept-process-output nil 1)))))
      (org-agent-kernel-test--wait-print other "streaming")
      (signal-process (process-id other) 'SIGKILL)
      (org-agent-fake-wait (not (process-live-p other))))
    (org-agent-kernel-test--let-go)
    (org-agent-chat)
    (with-current-buffer "*org-agent-chat*"
      (org-agent-kernel-test--wait-attached)
      (org-agent-kernel-test--settle 1)
      (should (equal (org-agent-kernel-test--shape)
                     '((1 "Tell me") (2 "Long answer") (1 ""))))
      (should (= 1 (how-many "word150" (point-min) (point-max)))))))

(ert-deftest org-agent-recovery-reopens-the-conversation ()
  "A closed conversation is complete, once, when it is opened again."
  (org-agent-kernel-test--with
      (list '((echo . t) (times . -1)))
    (dotimes (n 3)
      (org-agent-kernel-test--say (format "m%d" n)))
    (org-agent-kernel-test--settle 3)
    (let ((text (org-agent-fake-text)))
      (org-agent-kernel-test--end-kernel)
      (org-agent-fake-reset)
      (should-not (get-buffer "*org-agent-chat*"))
      (org-agent-chat)
      (org-agent-kernel-test--wait-attached)
      (should (equal (org-agent-fake-text) text))
      (kill-buffer "*org-agent-chat*")
      (delete-file (org-agent-fake-file "main"))
      (org-agent-fake-settle)
      (org-agent-chat)
      (org-agent-kernel-test--wait-attached)
      (org-agent-fake-settle)
      (should (equal (org-agent-fake-text) text)))))

;;;; Two Emacsen

(ert-deftest org-agent-recovery-two-emacsen ()
  "Both show the same turns, and one of them owns the file."
  (org-agent-kernel-test--with
      (list '((echo . t) (times . -1) (chunk . 3) (delay . "2ms")))
    (org-agent-kernel-test--say "from the first")
    (org-agent-kernel-test--settle 1)
    (let ((other (org-agent-kernel-test--emacs
                  '(with-current-buffer "*org-agent-chat*"
                     (org-agent-kernel-test--say "from the second")
                     (org-agent-fake-wait (<= 2 (org-agent-kernel-test--answers)))
                     (org-agent-fake-wait
                      (string-match-p "the last" (org-agent-fake-text)))
                     (org-agent-fake-wait (<= 3 (org-agent-kernel-test--answers)))
                     (org-agent-fake-wait (not org-agent-answer-previews))
                     (org-agent-fake-settle)
                     (message "visits %s" buffer-file-name)
                     (message "%s" (secure-hash
                                    'sha1 (encode-coding-string
                                           (org-agent-fake-text) 'utf-8)))
                     (message "done")))))
      (org-agent-fake-wait (<= 2 (org-agent-kernel-test--answers))
                           (with-current-buffer (process-buffer other)
                             (buffer-string)))
      (org-agent-kernel-test--say "the last")
      (org-agent-kernel-test--wait-print other "done")
      (org-agent-kernel-test--settle 3)
      (org-agent-kernel-test--wait-print other "^visits nil$")
      (org-agent-kernel-test--wait-print
       other (concat "^" (secure-hash 'sha1 (encode-coding-string
                                             (org-agent-fake-text) 'utf-8))
                     "$"))
      (should (equal (mapcar #'cadr (cl-remove-if-not
                                     (lambda (heading) (= 1 (car heading)))
                                     (org-agent-kernel-test--shape)))
                     '("from the first" "from the second" "the last" ""))))))

(ert-deftest org-agent-recovery-file-owner-passes-on ()
  "When the owner of the file exits, the other Emacs becomes the owner."
  (org-agent-kernel-test--with
      (list '((echo . t) (times . -1)))
    (kill-buffer)
    (org-agent-fake-settle)
    (let ((other (org-agent-kernel-test--emacs
                  '(org-agent-kernel-test--say "from the first")
                  '(org-agent-fake-wait (<= 1 (org-agent-kernel-test--answers)))
                  '(message "ready")
                  '(while t (accept-process-output nil 1)))))
      (org-agent-kernel-test--wait-print other "ready")
      (org-agent-chat)
      (with-current-buffer "*org-agent-chat*"
        (org-agent-kernel-test--wait-attached)
        (should-not buffer-file-name)
        (should (= 1 (org-agent-kernel-test--answers)))
        (signal-process (process-id other) 'SIGKILL)
        (org-agent-fake-wait buffer-file-name)
        (org-agent-kernel-test--say "from the second")
        (org-agent-kernel-test--settle 2)
        (should (equal (mapcar #'cadr (cl-remove-if-not
                                       (lambda (heading) (= 1 (car heading)))
                                       (org-agent-kernel-test--shape)))
                       '("from the first" "from the second" "")))))))

(provide 'org-agent-recovery-test)
;;; org-agent-recovery-test.el ends here
