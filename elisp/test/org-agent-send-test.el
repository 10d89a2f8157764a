;;; org-agent-send-test.el --- Tests of what is sent  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A person writes and sends in the real buffer, also while no kernel is
;; there.  The kernel is a fake, which sends what a test needs, when it
;; needs it.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'map)
(require 'org-agent-fake-kernel)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-heading)
(require 'org-agent-kernel)
(require 'org-agent-kernel-start-test)
(require 'org-agent-send)

(ert-deftest org-agent-chat-sends-the-draft ()
  "The draft is first marked and saved, then sent, then acknowledged."
  (org-agent-fake-with-chat
    (let (file)
      (push (cons "event"
                  (lambda (params)
                    (setq file (org-agent-fake-file-text))
                    (list :event (plist-get params :id) :turn "t")))
            org-agent-fake-answers)
      (org-agent-fake-type "What is this?\nAnd that?")
      (call-interactively (key-binding (kbd "C-c C-c")))
      (org-agent-fake-wait file)
      (org-agent-fake-settle)
      (let ((params (car (org-agent-fake-requests "event"))))
        (should (equal (plist-get params :text) "What is this?\nAnd that?"))
        (should (equal (plist-get params :sensor) :chat-message))
        (should (equal (plist-get params :level) 1))
        (should (string-match-p ":user:unsent:$" file))
        (should (equal (org-agent-fake-text)
                       (concat (org-agent-heading-question
                                1 (plist-get params :id)
                                "What is this?\nAnd that?" nil)
                               "* ")))
        (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
        (should-not (buffer-modified-p))
        (should (eobp))))))

(ert-deftest org-agent-chat-nothing-to-send ()
  "An empty draft is not sent, and the buffer does not change."
  (org-agent-fake-with-chat
    (let ((before (buffer-string)))
      (should-error (org-agent-send) :type 'user-error)
      (should (equal (buffer-string) before))
      (should-not (org-agent-fake-requests "event")))))

(ert-deftest org-agent-chat-ctrl-c-ctrl-c-in-the-draft-sends ()
  "It sends also on a table, a block or a checkbox; elsewhere it is Org's."
  (dolist (place '("| a" "ls" "- \\[ \\]" "TODO"))
    (org-agent-fake-with-chat
      (org-agent-fake-type "TODO x\n| a | b |\n#+begin_src sh\nls\n#+end_src\n- [ ] c")
      (goto-char (point-min))
      (re-search-forward place)
      (org-agent-chat-ctrl-c-ctrl-c)
      (org-agent-fake-wait (org-agent-fake-requests "event"))))
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "x\n|a|b|\n- [ ] c")))
      (goto-char (point-min))
      (search-forward "|a")
      (org-agent-chat-ctrl-c-ctrl-c)
      (should (string-match-p "^| a | b |$" (buffer-string)))
      (search-forward "- [")
      (org-agent-chat-ctrl-c-ctrl-c)
      (should (string-match-p "^- \\[X\\] c$" (buffer-string)))
      (should (equal (mapcar (lambda (p) (plist-get p :id))
                             (org-agent-fake-requests "event"))
                     (list question))))))

(ert-deftest org-agent-chat-asks-where-words-go ()
  "A message goes to a host that was found only if the person agrees, once."
  (let (org-agent-send-agreed asked (answer nil))
    (org-agent-fake-with-home
      (setq org-agent-fake-answers
            (list (cons "initialize"
                        (lambda (_) '(:protocol 1 :server (:name "k" :version "0" :pid 1
                                                           :home "/h" :consent "api.example"))))))
      (org-agent-fake-start)
      (org-agent-chat)
      (with-current-buffer "*org-agent-chat*"
        (org-agent-fake-wait (eq org-agent-chat-attached t))
        (cl-letf (((symbol-function 'yes-or-no-p)
                   (lambda (prompt) (push prompt asked) answer)))
          (org-agent-fake-type "secret")
          (should-error (org-agent-send) :type 'user-error)
          (should (equal (buffer-string) "* secret"))
          (should (string-match-p "api\\.example" (car asked)))
          (setq answer t)
          (org-agent-send)
          (org-agent-fake-say "more")
          (should (= 2 (length asked)))
          (should (equal (mapcar (lambda (params) (plist-get params :consent))
                                 (org-agent-fake-requests "event"))
                         '("api.example" "api.example"))))))))

(ert-deftest org-agent-chat-messages-queue ()
  "Messages that are sent while an answer is written are sent at once, in order."
  (org-agent-fake-with-chat
    (dotimes (n 20)
      (org-agent-fake-type (format "m%d" n))
      (org-agent-send))
    (org-agent-fake-wait (= 20 (length (org-agent-fake-requests "event"))))
    (should (equal (mapcar (lambda (params) (plist-get params :text))
                           (org-agent-fake-requests "event"))
                   (cl-loop for n below 20 collect (format "m%d" n))))
    (org-agent-fake-settle)
    (should-not (string-match-p "unsent" (buffer-string)))
    (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))))

(ert-deftest org-agent-chat-refused-message-stays-unsent ()
  "A message that the kernel refuses stays, marked, and can be sent again."
  (org-agent-fake-with-chat
    (let ((refuse t))
      (push (cons "event"
                  (lambda (params)
                    (if refuse
                        '(:error (:code -32006 :message "the disk is full"))
                      (list :event (plist-get params :id) :turn "t"))))
            org-agent-fake-answers)
      (ert-with-message-capture messages
        (let ((id (org-agent-fake-say "Keep me\nwhole")))
          (org-agent-fake-settle)
          (should (string-match-p "the disk is full" messages))
          (should (string-match-p "C-c C-c" messages))
          (should (string-match-p ":user:unsent:$" (buffer-string)))
          (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
          (setq refuse nil)
          (goto-char (point-min))
          (search-forward "Keep")
          ;; Org moves the tags then.
          (let ((last-command-event ?!))
            (call-interactively #'org-self-insert-command)
            (run-hooks 'post-command-hook))
          (should (string-match-p ":user:unsent:$" (buffer-string)))
          (search-forward "whole")
          (org-agent-chat-ctrl-c-ctrl-c)
          (org-agent-fake-wait (= 2 (length (org-agent-fake-requests "event"))))
          (org-agent-fake-settle)
          (let ((params (nth 1 (org-agent-fake-requests "event"))))
            (should (equal (plist-get params :id) id))
            (should (equal (plist-get params :text) "Keep! me\nwhole")))
          (should-not (string-match-p "unsent" (buffer-string))))))))

(ert-deftest org-agent-chat-unsent-goes-out-when-the-kernel-is-back ()
  "A message whose acknowledgement was lost is sent again with the same id."
  (org-agent-fake-with-chat
    (push (cons "event" (lambda (_) (org-agent-fake-kill) 'silence))
          org-agent-fake-answers)
    (org-agent-fake-type "Are you there?")
    (org-agent-send)
    (org-agent-fake-wait (org-agent-fake-requests "event"))
    (org-agent-fake-wait (not (org-agent-kernel-ready-p)))
    (should (string-match-p ":user:unsent:$" (buffer-string)))
    (setq org-agent-fake-answers nil)
    (org-agent-fake-start)
    (org-agent-fake-wait (= 2 (length (org-agent-fake-requests "event"))))
    (org-agent-fake-settle)
    (pcase-let ((`(,first ,second) (org-agent-fake-requests "event")))
      ;; The tag `unsent' stands above it once only.
      (should (equal (map-delete first :above) (map-delete second :above))))
    (should-not (string-match-p "unsent" (buffer-string)))))

(ert-deftest org-agent-chat-without-a-kernel-nothing-is-lost ()
  "If no kernel can be started, the message is in the file, marked as unsent."
  (org-agent-fake-with-home
    (org-agent-chat)
    (with-current-buffer "*org-agent-chat*"
      (org-agent-fake-wait (eq org-agent-kernel-state 'failed))
      (org-agent-fake-type "For later")
      (org-agent-send)
      (should (string-match-p ":user:unsent:$" (org-agent-fake-file-text)))
      (org-agent-fake-start)
      (org-agent-fake-wait (org-agent-fake-requests "event"))
      (org-agent-fake-settle)
      (should-not (string-match-p "unsent" (org-agent-fake-file-text))))))

(defun org-agent-send-test--said-of (words)
  "Return what the page says behind the question WORDS."
  (font-lock-ensure)
  (save-excursion
    (goto-char (point-min))
    (search-forward words)
    (string-trim (or (get-char-property (point) 'display) ""))))

(ert-deftest org-agent-chat-says-where-a-message-is ()
  "Until the kernel has a message the page says what happens to it.
It says that it was not sent only when a person has to send it again."
  (org-agent-fake-with-home
    (let* ((go (expand-file-name "go" org-agent-fake-directory))
           (org-agent-program
            (org-agent-kernel-start-test--program
             (format "for i in $(seq 300); do [ -e %s ] && break; sleep 0.1; done; [ -e %s ] && echo 'org-agent: ready /x'"
                     go go)))
           answer)
      (push (cons "event" (lambda (_) (or answer 'silence))) org-agent-fake-answers)
      (push (cons "session/load"
                  (lambda (params)
                    (append (org-agent-fake--default "session/load" params)
                            (list :never-received (plist-get params :ids)))))
            org-agent-fake-answers)
      (org-agent-chat)
      (with-current-buffer "*org-agent-chat*"
        (org-agent-fake-type "Hello")
        (org-agent-send)
        (should (equal (org-agent-send-test--said-of "* Hello") "starting the kernel…"))
        (org-agent-fake-start)
        (write-region "" nil go nil 'silent)
        (org-agent-fake-wait (org-agent-fake-requests "event"))
        (should (equal (org-agent-send-test--said-of "* Hello") "sending…"))
        ;; The kernel is gone before it has said that it has the message.
        (org-agent-fake-kill)
        (org-agent-fake-wait (not (org-agent-kernel-ready-p)))
        (should (equal (org-agent-send-test--said-of "* Hello") "waits for the kernel"))
        (setq answer '(:error (:code -32006 :message "the disk is full")))
        (org-agent-fake-start)
        (org-agent-fake-wait (= 2 (length (org-agent-fake-requests "event"))))
        (org-agent-fake-settle)
        (should (equal (org-agent-send-test--said-of "* Hello")
                       "not sent; C-c C-c sends it"))
        (setq answer 'silence)
        (goto-char (point-min))
        (search-forward "Hello")
        (org-agent-chat-ctrl-c-ctrl-c)
        (should (equal (org-agent-send-test--said-of "* Hello") "sending…"))))))

(ert-deftest org-agent-chat-says-that-no-kernel-starts ()
  "Where no kernel can be started the page says that a message was not sent."
  (org-agent-fake-with-home
    (let ((org-agent-program (org-agent-kernel-start-test--program "exit 1")))
      (org-agent-chat)
      (with-current-buffer "*org-agent-chat*"
        (org-agent-fake-type "Hello")
        (org-agent-send)
        (should (equal (org-agent-send-test--said-of "* Hello") "starting the kernel…"))
        (org-agent-fake-wait (eq org-agent-kernel-state 'failed))
        (should (equal (org-agent-send-test--said-of "* Hello")
                       "not sent; C-c C-c sends it"))))))

(ert-deftest org-agent-chat-never-received-is-marked ()
  "A question that the kernel does not know is marked as unsent."
  (org-agent-fake-with-home
    (make-directory (file-name-directory (org-agent-fake-file "main")) t)
    (with-temp-file (org-agent-fake-file "main")
      (insert (org-agent-heading-question 1 "q1" "known" t)
              (org-agent-heading-question 1 "q2" "unknown" nil) "* "))
    (push (cons "session/load"
                (lambda (params)
                  (should (equal (plist-get params :ids) '("q1" "q2")))
                  (list :session "main" :file (org-agent-fake-file "main")
                        :keeper t :never-received '("q2"))))
          org-agent-fake-answers)
    (org-agent-fake-start)
    (org-agent-chat)
    (with-current-buffer "*org-agent-chat*"
      (org-agent-fake-wait (eq org-agent-chat-attached t))
      (should (equal (org-agent-heading-tags (org-agent-heading-find "q1"))
                     '("user")))
      (should (equal (org-agent-heading-tags (org-agent-heading-find "q2"))
                     '("user" "unsent")))
      (goto-char (org-agent-heading-find "q2"))
      (org-agent-chat-ctrl-c-ctrl-c)
      (org-agent-fake-wait (org-agent-fake-requests "event"))
      (should (equal (plist-get (car (org-agent-fake-requests "event")) :text)
                     "unknown")))))

(provide 'org-agent-send-test)
;;; org-agent-send-test.el ends here
