;;; org-agent-siege-test.el --- Tests of a file that others change  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; One Emacs owns the file of a conversation, and other programs change it,
;; with the project's kernel.  No text is lost, nothing is duplicated, and
;; the header line says what is wrong.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-file-owner-test)
(require 'org-agent-answer)
(require 'org-agent-chat)
(require 'org-agent-file-owner)

(defun org-agent-siege-test--run (program &rest arguments)
  "Run PROGRAM with ARGUMENTS in the home and fail if it does."
  (let ((default-directory (file-name-as-directory org-agent-home)))
    (with-temp-buffer
      (unless (eq 0 (apply #'call-process program nil t nil arguments))
        (ert-fail (list program arguments (buffer-string)))))))

(defun org-agent-siege-test--sed (script)
  "Have sed change the file by SCRIPT; it puts a new file in its place."
  (org-agent-siege-test--run "sed" "-i" script (org-agent-fake-file "main")))

(defun org-agent-siege-test--git (&rest arguments)
  "Run git with ARGUMENTS in the home."
  (apply #'org-agent-siege-test--run "git" "-c" "user.name=t"
         "-c" "user.email=t@example.org" "-c" "commit.gpgsign=false" arguments))

(defun org-agent-siege-test--count (regexp)
  "Return how often REGEXP stands in the conversation."
  (with-current-buffer "*org-agent-chat*"
    (save-excursion
      (goto-char (point-min))
      (how-many regexp))))

(defun org-agent-siege-test--reopen ()
  "Kill the conversation's buffer and open it again."
  (kill-buffer "*org-agent-chat*")
  (org-agent-fake-settle)
  (org-agent-chat)
  (org-agent-kernel-test--wait-attached)
  (org-agent-fake-settle))

(defmacro org-agent-siege-test--with-slow-answer (&rest body)
  "Run BODY while the second answer is being written; the first is \"First\".
The rest of it comes after `org-agent-kernel-test--let-go'."
  (declare (indent 0) (debug t))
  `(org-agent-file-owner-test--asking-fails
     (org-agent-kernel-test--with
         (list (org-agent-kernel-test--exchange "First\n\nanswer")
               (org-agent-kernel-test--held
                (org-agent-kernel-test--envelope
                 (org-agent-kernel-test--long 150)))
               '((echo . t) (times . -1)))
       (org-agent-kernel-test--say "one")
       (org-agent-kernel-test--settle 1)
       (org-agent-kernel-test--say "two")
       (org-agent-fake-wait org-agent-answer-previews)
       ,@body)))

(ert-deftest org-agent-siege-edited-while-an-answer-is-written ()
  "Another editor's text and the answer are in buffer and file, once."
  (org-agent-siege-test--with-slow-answer
    (org-agent-fake-type "my draft")
    (org-agent-siege-test--sed "1i # a remark")
    (org-agent-siege-test--sed "s/^answer$/answer, mended/")
    (org-agent-kernel-test--let-go)
    (org-agent-kernel-test--settle 2)
    (should (string-prefix-p "# a remark\n" (org-agent-fake-text)))
    (dolist (regexp '("answer, mended" "word150" "^\\* my draft\\'" "^\\* two "))
      (should (= 1 (org-agent-siege-test--count regexp))))
    (should-not org-agent-file-owner-trouble)
    (let ((text (org-agent-fake-text)))
      (org-agent-siege-test--reopen)
      (should (equal (org-agent-fake-text) text)))))

(ert-deftest org-agent-siege-checked-out-while-an-answer-is-written ()
  "After a checkout of an old version the answer is there, once."
  (org-agent-siege-test--with-slow-answer
    (org-agent-stop-turn)
    (org-agent-kernel-test--settle 2)
    (org-agent-siege-test--git "init" "-q")
    (org-agent-siege-test--git "add" "sessions")
    (org-agent-siege-test--git "commit" "-qm" "old")
    (org-agent-kernel-test--say "three")
    (org-agent-kernel-test--settle 3)
    (org-agent-kernel-test--say "four")
    (org-agent-siege-test--git "checkout" "-q" "--" "sessions")
    (org-agent-kernel-test--settle 3)
    (org-agent-fake-wait (= 1 (org-agent-siege-test--count "^\\*\\* .*four")))
    (dolist (regexp '("^\\* one " "^\\*\\* First " "^\\*\\* .*four"))
      (should (= 1 (org-agent-siege-test--count regexp))))
    (let ((text (org-agent-fake-text)))
      (org-agent-siege-test--reopen)
      (should (equal (org-agent-fake-text) text)))))

(ert-deftest org-agent-siege-both-edited ()
  "If two people edited, neither text is overwritten, and either can be taken."
  (org-agent-siege-test--with-slow-answer
    (org-agent-kernel-test--let-go)
    (org-agent-kernel-test--settle 2)
    (goto-char (point-min))
    (end-of-line)
    (insert "\n# mine")
    (org-agent-siege-test--sed "1i # theirs")
    (let ((theirs (org-agent-fake-file-text)))
      (org-agent-kernel-test--say "three")
      (org-agent-fake-wait (= 3 (org-agent-kernel-test--answers)))
      (org-agent-fake-wait (not (org-agent-chat-get :phase)))
      (org-agent-fake-settle)
      (should (equal (org-agent-fake-file-text) theirs))
      (should (= 1 (org-agent-siege-test--count "# mine")))
      (should (string-match-p "revert-buffer takes the file"
                              (org-agent-header-line)))
      (revert-buffer t t)
      (org-agent-fake-settle)
      (org-agent-fake-wait (eq org-agent-chat-attached t))
      (org-agent-kernel-test--settle 3)
      (should-not org-agent-file-owner-trouble)
      (dolist (regexp '("^# theirs" "^\\* three " "^\\*\\* .*three"))
        (should (= 1 (org-agent-siege-test--count regexp))))
      (should (= 0 (org-agent-siege-test--count "# mine"))))))

(ert-deftest org-agent-siege-deleted-renamed-directory-gone ()
  "The file is written again, whole, and a copy elsewhere stays."
  (org-agent-siege-test--with-slow-answer
    (let ((file (org-agent-fake-file "main")))
      (delete-file file)
      (org-agent-kernel-test--let-go)
      (org-agent-kernel-test--settle 2)
      (should (= 1 (org-agent-siege-test--count "word150")))
      (rename-file file (concat file ".mine"))
      (org-agent-kernel-test--say "three")
      (org-agent-kernel-test--settle 3)
      (should (file-exists-p (concat file ".mine")))
      (delete-directory (file-name-directory file) t)
      (org-agent-kernel-test--say "four")
      (org-agent-kernel-test--settle 4)
      (should (= 1 (org-agent-siege-test--count "^\\* one ")))
      (should-not org-agent-file-owner-trouble))))

(ert-deftest org-agent-siege-read-only ()
  "A read-only file is not written, and that is reported."
  (org-agent-siege-test--with-slow-answer
    (org-agent-kernel-test--let-go)
    (org-agent-kernel-test--settle 2)
    (let ((file (org-agent-fake-file "main"))
          (text (org-agent-fake-file-text)))
      (set-file-modes file #o444)
      (org-agent-kernel-test--say "three")
      (org-agent-fake-wait (= 3 (org-agent-kernel-test--answers)))
      (org-agent-fake-settle)
      (should (equal (org-agent-fake-file-text) text))
      (should (string-match-p "read-only" (org-agent-header-line)))
      (should (buffer-modified-p))
      (set-file-modes file #o644)
      (save-buffer)
      (org-agent-kernel-test--settle 3)
      (should-not org-agent-file-owner-trouble))))

(ert-deftest org-agent-siege-kernel-dies-and-the-file-is-edited ()
  "The kernel is killed during an answer, and the file is edited."
  (org-agent-siege-test--with-slow-answer
    (let ((pid (org-agent-kernel-test--pid)))
      (signal-process pid 'SIGKILL)
      (org-agent-siege-test--sed "1i # meanwhile")
      (org-agent-fake-wait (not (equal pid (org-agent-kernel-test--pid)))))
    (org-agent-kernel-test--let-go)
    (org-agent-kernel-test--wait-attached)
    (org-agent-kernel-test--settle 2)
    (dolist (regexp '("^# meanwhile" "^\\* one " "^\\* two " "^\\*\\* First "))
      (should (= 1 (org-agent-siege-test--count regexp))))
    (should-not org-agent-file-owner-trouble)))

(ert-deftest org-agent-siege-file-owner-dies-while-an-answer-is-written ()
  "The owner of the file is killed during an answer; the other continues."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--held
             (org-agent-kernel-test--envelope (org-agent-kernel-test--long 150)))
            '((echo . t) (times . -1)))
    (kill-buffer)
    (org-agent-fake-settle)
    (let ((other (org-agent-kernel-test--emacs
                  '(with-current-buffer "*org-agent-chat*"
                     (org-agent-kernel-test--say "Tell me")
                     (org-agent-fake-wait org-agent-answer-previews)
                     (message "visits %s streaming" buffer-file-name)
                     (while t (accept-process-output nil 1))))))
      (org-agent-kernel-test--wait-print other "visits /.* streaming")
      (org-agent-chat)
      (with-current-buffer "*org-agent-chat*"
        (org-agent-kernel-test--wait-attached)
        (should-not buffer-file-name)
        (org-agent-fake-type "a draft here")
        (signal-process (process-id other) 'SIGKILL)
        (org-agent-fake-wait (not (process-live-p other)))
        (org-agent-kernel-test--let-go)
        (org-agent-fake-wait buffer-file-name)
        (org-agent-kernel-test--settle 1)
        (dolist (regexp '("^\\* Tell me " "word150" "^\\* a draft here\\'"))
          (should (= 1 (org-agent-siege-test--count regexp))))
        (org-agent-kernel-test--say " sent")
        (org-agent-kernel-test--settle 2)))))

(ert-deftest org-agent-siege-terminal-beside-emacs ()
  "Turns of a terminal are in the buffer, the file and the terminal."
  (org-agent-kernel-test--with (list '((echo . t) (times . -1)))
    (org-agent-kernel-test--say "from Emacs")
    (org-agent-kernel-test--settle 1)
    (org-agent-fake-type "a draft")
    (let* ((output (generate-new-buffer " *terminal*"))
           (terminal (make-process
                      :name "terminal" :buffer output :noquery t
                      :connection-type 'pipe :sentinel #'ignore
                      :command (list org-agent-program "--home" org-agent-home
                                     "chat" "--session" "main"
                                     "from a terminal"))))
      (process-send-eof terminal)
      (org-agent-fake-wait (string-match-p "from a terminal"
                                           (with-current-buffer output
                                             (buffer-string))))
      (org-agent-fake-wait (not (process-live-p terminal)))
      (kill-buffer output))
    (org-agent-kernel-test--settle 2)
    (should (= 1 (org-agent-siege-test--count "^\\* from a terminal ")))
    (should (= 1 (org-agent-siege-test--count "^\\*\\* .*from a terminal")))
    (should (string-suffix-p "\n* a draft" (org-agent-fake-text)))))

(provide 'org-agent-siege-test)
;;; org-agent-siege-test.el ends here
