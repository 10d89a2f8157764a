;;; org-agent-ask-test.el --- Tests of asking from anywhere  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Questions from buffers that are no conversations, with the real kernel.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-agent-kernel-test)

(defmacro org-agent-ask-test--with (exchanges text &rest body)
  "Run BODY in a buffer with TEXT, a kernel whose model says EXCHANGES beside it."
  (declare (indent 2) (debug t))
  `(org-agent-kernel-test--with ,exchanges
     (with-temp-buffer
       (rename-buffer "notes.txt" t)
       (insert ,text)
       (buffer-enable-undo)
       (setq buffer-undo-list nil)
       (unwind-protect (progn ,@body)
         (setq org-agent-await--functions nil)
         (when (get-buffer org-agent-ask-buffer)
           (kill-buffer org-agent-ask-buffer))))))

(defun org-agent-ask-test--reply (text)
  "Return exchanges with one reply that inserts TEXT."
  (list (org-agent-kernel-test--exchange (org-agent-kernel-test--envelope text))))

(defun org-agent-ask-test--settle (answers)
  "Wait for ANSWERS in the main conversation, and that nothing is waited for."
  (with-current-buffer "*org-agent-chat*"
    (org-agent-kernel-test--settle answers))
  (org-agent-fake-wait (null org-agent-await--functions) "the end of a turn"))

(defun org-agent-ask-test--undo ()
  "Undo one step."
  (let ((last-command 'ignore)) (undo-boundary) (undo)))

(ert-deftest org-agent-ask-in-the-chat ()
  "A question is asked before the draft, which stays as it is; so does this buffer."
  (org-agent-ask-test--with (org-agent-ask-test--reply "* Paris\nIt is.") "text"
    (org-agent-fake-type "my draft")
    (let ((tick (buffer-modified-tick)) (kill-ring nil))
      (org-agent-ask "What is the capital?")
      (org-agent-ask-test--settle 1)
      (should (= tick (buffer-modified-tick)))
      (should-not kill-ring))
    (with-current-buffer "*org-agent-chat*"
      (should (equal (org-agent-kernel-test--shape)
                     '((1 "What is the capital?") (2 "Paris") (1 "my draft")))))))

(ert-deftest org-agent-ask-in-the-conversation-in-use ()
  "A question goes to the conversation last seen, never to one in the background."
  (org-agent-fake-with-chat
    (save-window-excursion
      (switch-to-buffer "*org-agent-chat*")
      (switch-to-buffer "*scratch*")
      (org-agent-chat-open "rewrite")
      (bury-buffer "*org-agent-chat*")
      (should (equal (org-agent-chat-session-in-use) "main"))
      (org-agent-chat "garden")
      (should (equal (org-agent-chat-session-in-use) "garden"))
      (switch-to-buffer "*scratch*")
      (should (equal (org-agent-chat-session-in-use) "garden")))
    (with-current-buffer "*org-agent-chat*"
      (should (equal (org-agent-chat-session-in-use) "main")))))

(ert-deftest org-agent-ask-takes-the-region-along ()
  "What is marked goes along; the conversation says so and does not show it."
  (org-agent-ask-test--with
      (list '((match . "line one\n[*] two") (reply . "Yes")))
      "line one\n* two\n#+TBLFM: x\nlast\n"
    (let ((transient-mark-mode t) (current-prefix-arg nil))
      (goto-char (point-min))
      (push-mark 21 t t)
      (cl-letf (((symbol-function 'read-string)
                 (lambda (prompt &rest _)
                   (should (equal prompt "Ask about lines 1-3: "))
                   " Is it so? ")))
        (call-interactively #'org-agent-ask))
      (should-not mark-active))
    (org-agent-ask-test--settle 1)
    (with-current-buffer "*org-agent-chat*"
      (should (equal (org-agent-kernel-test--shape)
                     '((1 "Is it so?") (2 "Yes") (1 ""))))
      (should (string-match-p "^- Context: lines 1-3 of \\[\\[org-agent-buffer:notes.txt\\]"
                              (buffer-string)))
      (should-not (string-match-p "TBLFM" (buffer-string))))))

(ert-deftest org-agent-ask-refuses-what-is-not-to-be-read ()
  "What cannot go along is refused before a question is read."
  (org-agent-ask-test--with nil (make-string 3000000 ?x)
    (let ((transient-mark-mode t))
      (goto-char (point-min))
      (push-mark (point-max) t t)
      (should-error (org-agent-ask--arguments nil) :type 'user-error)
      (should (zerop (org-agent-kernel-test--answers))))))

(ert-deftest org-agent-ask-at-point ()
  "The answer comes in where point was, as one undo step; all else stays."
  (org-agent-ask-test--with (org-agent-ask-test--reply "* Heading\nOne\n\nTwo") "before after"
    (goto-char 8)
    (org-agent-ask "Well?" nil 'insert)
    (goto-char (point-max))
    (insert " typed")
    (undo-boundary)
    (goto-char 3)
    (narrow-to-region 1 5)
    (let ((kill-ring '("mine")))
      (org-agent-ask-test--settle 1)
      (should (equal kill-ring '("mine"))))
    (should (= (point) 3))
    (should (= (point-max) 5))
    (widen)
    (should (equal (buffer-string) "before \nOne\n\nTwo\nafter typed"))
    (org-agent-ask-test--undo)
    (should (equal (buffer-string) "before after typed"))))

(ert-deftest org-agent-ask-at-point-in-org ()
  "In Org the answer's headings go below the one they come under."
  (org-agent-ask-test--with (org-agent-ask-test--reply "* Top\nText\n** Sub\nMore\n*** Deep") "* A\n** B\n\n"
    (delay-mode-hooks (org-mode))
    (goto-char (point-max))
    (org-agent-ask "Well?" nil 'insert)
    (org-agent-ask-test--settle 1)
    (should (equal (buffer-string) "* A\n** B\n\nText\n*** Sub\nMore\n**** Deep"))))

(ert-deftest org-agent-ask-when-the-place-is-gone ()
  "A place that is gone, changed or read-only gets nothing; the answer is shown."
  (dolist (change (list (lambda () (kill-buffer))
                        (lambda () (erase-buffer) (insert "all other text"))
                        (lambda () (setq buffer-read-only t))
                        (lambda () (add-text-properties 1 (point-max) '(read-only t front-sticky t)))))
    (org-agent-ask-test--with (org-agent-ask-test--reply "* H\nThe answer") "some text"
      (let ((buffer (current-buffer)) before)
        (goto-char 5)
        (org-agent-ask "Well?" nil 'insert)
        (funcall change)
        (setq before (and (buffer-live-p buffer) (buffer-string)))
        (ert-with-message-capture messages
          (org-agent-ask-test--settle 1)
          (org-agent-fake-wait (string-match-p "The answer has come, but" messages)))
        (when before
          (should (equal before (with-current-buffer buffer (buffer-string)))))
        (with-current-buffer org-agent-ask-buffer
          (should (string-match-p "The answer" (buffer-string))))
        (with-temp-buffer
          (org-agent-ask-insert-latest)
          (should (equal (buffer-string) "The answer")))))))

(ert-deftest org-agent-ask-without-an-answer ()
  "A turn that failed inserts nothing and says why."
  (org-agent-ask-test--with (list '((status . 400))) "text"
    (org-agent-ask "Well?" nil 'insert)
    (ert-with-message-capture messages
      (org-agent-fake-wait (null org-agent-await--functions))
      (should (string-match-p "nothing was inserted" messages)))
    (should (equal (buffer-string) "text"))))

(ert-deftest org-agent-ask-over-a-kernel-that-dies ()
  "What is waited for is still waited for when the kernel was killed and is back."
  (org-agent-ask-test--with
      (list (org-agent-kernel-test--exchange
             (org-agent-kernel-test--envelope (org-agent-kernel-test--long 400))
             '(chunk . 10) '(delay . "20ms")))
      "text"
    (org-agent-ask "Well?" nil 'insert)
    (org-agent-fake-wait (with-current-buffer "*org-agent-chat*"
                           org-agent-answer--previews))
    (signal-process (org-agent-kernel-test--pid) 'SIGKILL)
    (ert-with-message-capture messages
      (org-agent-fake-wait (null org-agent-await--functions))
      (should (string-match-p "nothing was inserted\\|came in" messages)))))

(ert-deftest org-agent-ask-in-a-window ()
  "The small window shows what comes, without drawers."
  (org-agent-ask-test--with
      (list (org-agent-kernel-test--exchange
             (org-agent-kernel-test--envelope (org-agent-kernel-test--long 200))
             '(chunk . 20) '(delay . "20ms")))
      "text"
    (org-agent-ask "Well?" nil 'window)
    (org-agent-fake-wait (with-current-buffer org-agent-ask-buffer
                           (string-match-p "word20" (buffer-string))))
    (should (with-current-buffer "*org-agent-chat*" org-agent-answer--previews))
    (org-agent-ask-test--settle 1)
    (org-agent-fake-wait (with-current-buffer org-agent-ask-buffer
                           (string-match-p "word200$" (buffer-string))))
    (with-current-buffer org-agent-ask-buffer
      (should (string-match-p "\\`\\* Well\\?\n\\*\\* Long answer\n" (buffer-string)))
      (should-not (string-match-p ":ID:\\|:agent:" (buffer-string))))
    ;; Its ways are its own: every other buffer reverts as before.
    (should (eq (default-value 'revert-buffer-function)
                #'revert-buffer--default))))

(provide 'org-agent-ask-test)
;;; org-agent-ask-test.el ends here
