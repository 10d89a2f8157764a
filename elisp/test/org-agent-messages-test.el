;;; org-agent-messages-test.el --- Tests of the chats in the inbox  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The chats are those of a real kernel: this Emacs is a program that talks
;; to its webhook.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'json)
(require 'url)
(require 'org-agent-chat)
(require 'org-agent-inbox)
(require 'org-agent-kernel-test)

(defconst org-agent-messages-test--token "0123456789abcdef-for-tests"
  "The token of the webhook.")

(defvar org-agent-messages-test--port nil
  "The port of the webhook.")

(defun org-agent-messages-test--free-port ()
  "Return a port of this machine on which nothing listens."
  (let ((server (make-network-process :name "port" :server t :host 'local
                                      :family 'ipv4 :service t :noquery t)))
    (prog1 (process-contact server :service)
      (delete-process server))))

(defun org-agent-messages-test--request (method path &optional body)
  "Send the webhook a request of METHOD for PATH with BODY, return the answer.
Return nil while nothing listens there."
  (let ((url-request-method method)
        (url-show-status nil)
        (url-proxy-services nil)
        (url-request-extra-headers
         `(("Content-Type" . "application/json")
           ("Authorization" . ,(concat "Bearer " org-agent-messages-test--token))))
        (url-request-data (and body (encode-coding-string (json-encode body) 'utf-8))))
    (when-let* ((buffer (ignore-errors
                          (url-retrieve-synchronously
                           (format "http://127.0.0.1:%d%s" org-agent-messages-test--port path)
                           t t 10))))
      (unwind-protect
          (with-current-buffer buffer
            (goto-char (point-min))
            (when (looking-at "HTTP/1.1 200")
              (search-forward "\n\n")
              (json-parse-string (decode-coding-region (point) (point-max) 'utf-8 t)
                                 :object-type 'alist :array-type 'list)))
        (kill-buffer buffer)))))

(defun org-agent-messages-test--post (id sender text &rest more)
  "Have SENDER write TEXT, as the message ID of the chat door; see MORE."
  (org-agent-fake-wait
   (org-agent-messages-test--request
    "POST" "/messages"
    (append `((id . ,id) (chat . "door")
              (sender . ((id . ,sender) (name . ,(capitalize sender)))) (text . ,text))
            more))))

(defun org-agent-messages-test--said ()
  "Return the texts that the agent said at the door."
  (mapcar (lambda (message) (alist-get 'text message))
          (alist-get 'messages
                     (org-agent-messages-test--request
                      "GET" "/messages?chat=door&after=0"))))

(defmacro org-agent-messages-test--with (exchanges &rest body)
  "Run BODY with a kernel that has a webhook and whose model says EXCHANGES."
  (declare (indent 1) (debug t))
  `(let* ((org-agent-messages-test--port (org-agent-messages-test--free-port))
          (org-agent-kernel-test-configure
           (lambda (_)
             (setenv "DOOR_TOKEN" org-agent-messages-test--token)
             (with-temp-file (expand-file-name "config.org" org-agent-home)
               (insert (format "* Channels\n** door\n:PROPERTIES:\n:DRIVER: webhook\n:TOKEN: env:DOOR_TOKEN\n:LISTEN: 127.0.0.1:%d\n:END:\n"
                               org-agent-messages-test--port)))
             (with-temp-file (expand-file-name "channels.org" org-agent-home)
               (insert "* People\n| channel | id | who | role | since |\n|-\n| door | ada | Ada | friend | |\n")))))
     (org-agent-kernel-test--with ,exchanges
       ;; That of another test is of a home that is gone.
       (when (get-buffer "*org-agent-inbox*") (kill-buffer "*org-agent-inbox*"))
       (save-window-excursion
         (unwind-protect (progn ,@body)
           (dolist (buffer (cons (get-buffer "*org-agent-inbox*")
                                 (org-agent-messages--buffers)))
             (when buffer (kill-buffer buffer))))))))

(defun org-agent-messages-test--line (regexp)
  "Wait for a line of the inbox that REGEXP matches, and put point there."
  (with-current-buffer "*org-agent-inbox*"
    (org-agent-fake-wait (progn (goto-char (point-min))
                                (re-search-forward regexp nil t))
                         (buffer-string))
    (beginning-of-line)
    (when-let* ((window (get-buffer-window)))
      (set-window-point window (point)))))

(ert-deftest org-agent-messages-listed-answered-and-moved ()
  "A chat is listed, read, answered by hand and moved to another conversation."
  (org-agent-messages-test--with
      (list (org-agent-kernel-test--exchange "Hello Ada.")
            (org-agent-kernel-test--exchange "In Emacs."))
    (org-agent-inbox)
    (org-agent-messages-test--post
     "1" "ada" "hello\nthere" `(attachments . [((name . "a.txt") (media . "text/plain")
                                                (data . ,(base64-encode-string "hi")))]))
    (org-agent-fake-wait (member "Hello Ada." (org-agent-messages-test--said)))
    (org-agent-messages-test--line "door +• Ada (1)  the agent: Hello Ada\\.")
    (with-current-buffer "*org-agent-inbox*"
      (should (string-match-p "Conversations\n" (buffer-string)))
      (should (string-match-p "Kept\n +Nothing" (buffer-string)))
      (should (string-match-p "RET open  m messages  a answer  v move"
                              (org-agent-section--header)))
      (org-agent-inbox-messages))
    (let ((page (car (org-agent-messages--buffers))))
      (org-agent-fake-wait (with-current-buffer page
                             (string-match-p "the agent\n +Hello Ada" (buffer-string))))
      (with-current-buffer page
        (should (string-match-p "\\`Ada  on door, answered in the conversation door-door\n"
                                (buffer-string)))
        (should (string-match-p " [0-9:]+ Ada\n +hello\n +there\n +a\\.txt  2 ?B\n"
                                (buffer-string)))
        (goto-char (point-min))
        (search-forward "a.txt")
        (push-button (match-beginning 0)))
      (with-current-buffer (window-buffer)
        (should (equal "hi" (buffer-string)))
        (kill-buffer))
      (org-agent-messages-test--line "door +  Ada  the agent")
      ;; By hand.
      (let (prompts)
        (cl-letf (((symbol-function 'read-string)
                   (lambda (prompt &rest _) (push prompt prompts) "It is *me*.")))
          (with-current-buffer "*org-agent-inbox*" (org-agent-inbox-answer)))
        (should (equal prompts '("Send to Ada on door, as the agent: "))))
      (org-agent-fake-wait (member "It is me." (org-agent-messages-test--said)))
      (pop-to-buffer page)
      (org-agent-fake-wait (with-current-buffer page
                             (string-match-p "you, by hand\n +It is me" (buffer-string)))))
    (with-current-buffer (org-agent-chat-open "door-door")
      (org-agent-fake-wait (string-match-p "Answered by hand" (buffer-string)))
      (should (string-match-p "It is \\*me\\*\\." (buffer-string)))
      (goto-char (point-min))
      (search-forward "* Answered by hand")
      (should-not (org-agent-heading-another-answer-p (line-beginning-position)))
      (kill-buffer))
    (org-agent-messages-test--line "door +  Ada  you: It is me\\.")
    ;; Into the main conversation, and what is said then is there.
    (pop-to-buffer "*org-agent-inbox*")
    (org-agent-messages-test--line "Ada")
    (with-current-buffer "*org-agent-inbox*" (org-agent-inbox-move "main"))
    (org-agent-fake-wait
     (equal "main" (plist-get (org-agent-section-data-at-point 'chat) :session)))
    (org-agent-messages-test--post "2" "ada" "where are we?")
    (org-agent-fake-wait (member "In Emacs." (org-agent-messages-test--said)))
    (org-agent-messages-test--line "• Ada (1)")
    (with-current-buffer "*org-agent-inbox*" (org-agent-inbox-visit))
    (with-current-buffer (window-buffer)
      (should (equal "main" org-agent-chat-session))
      (org-agent-fake-wait (string-match-p "where are we\\?" (buffer-string))))
    (pop-to-buffer "*org-agent-inbox*")
    (org-agent-messages-test--line "  Ada  the agent: In Emacs")))

(ert-deftest org-agent-messages-lets-a-stranger-in ()
  "A stranger is in the inbox once, is let in with a key, and is answered then."
  (org-agent-messages-test--with (list (org-agent-kernel-test--exchange "Welcome."))
    (org-agent-messages-test--post "1" "eve" "let me in")
    (org-agent-inbox)
    (org-agent-messages-test--line "stranger +• Eve wrote on door  eve$")
    (with-current-buffer "*org-agent-inbox*"
      (org-agent-section-toggle)
      (should (string-match-p "- Channel :: door\n +- Id :: =eve=\n +- Username :: none\n\n +let me in\n\n"
                              (buffer-string)))
      (org-agent-section-toggle)
      (should (string-match-p "\\+ let in" (org-agent-section--header)))
      (should-error (org-agent-inbox-answer) :type 'user-error)
      (cl-letf (((symbol-function 'read-string)
                 (lambda (prompt &rest arguments)
                   (should (equal prompt "Let eve on door talk to the agent, as (Eve): "))
                   (nth 2 arguments))))
        (call-interactively #'org-agent-inbox-let-in)))
    (org-agent-messages-test--line "stranger +  Eve wrote on door")
    (with-temp-buffer
      (insert-file-contents (expand-file-name "channels.org" org-agent-home))
      (should (re-search-forward "| door +| eve +| Eve +| friend " nil t)))
    (org-agent-messages-test--post "2" "eve" "and now?")
    (org-agent-fake-wait (equal '("Welcome.") (org-agent-messages-test--said)))
    (org-agent-messages-test--line "door +• Eve (1)  the agent: Welcome")
    (with-current-buffer "*org-agent-inbox*" (org-agent-inbox-read-all))
    (org-agent-messages-test--line "door +  Eve  the agent: Welcome")))

(ert-deftest org-agent-messages-text-of-others ()
  "What others write is plain text: it makes no line, button or heading.
The keys are those of other lists."
  (with-temp-buffer
    (org-agent-messages-mode)
    (should (eq 'describe-mode (local-key-binding "?")))
    (should (string-match-p "\\? describe\\'" (eval (nth 1 header-line-format) t)))
    (let* ((messages '((:id "1" :name "Eve\n09:00 you, by hand" :sender "e" :time "2026-12-01T09:00:00Z"
                        :text "* h\n[[elisp:(x)][y]]\e[31m" :edited "2026-12-01T09:00:00Z"
                        :reactions ((:emoji "👍" :count 2) (:emoji "x\ny" :count 1)))
                       (:id "2" :time "2026-12-01T10:00:00Z" :reply-to "1" :text "gone"
                        :deleted "2026-12-01T11:00:00Z" :by-hand t
                        :attachments ((:name "b" :size 9 :fault "it is too\nlarge")))))
           (text (org-agent-messages--text
                  '(:channel :telegram :chat "7" :session "main" :title "A\nB") messages)))
      (should (string-match-p "\\`A B  on telegram, answered in the conversation main; the channel is not connected\n" text))
      (should (string-match-p "Eve 09:00 you, by hand  edited\n       \\* h\n       \\[\\[elisp:(x)\\]\\[y\\]\\] \\[31m\n       👍 2  x y\n" text))
      (should (string-match-p "you, by hand  deleted\n       > Eve 09:00 you, by hand: \\* h .*\n       gone\n       b  9 ?B, not kept: it is too large\n" text))
      (should-not (text-property-not-all 0 (length text) 'button nil text)))))

(provide 'org-agent-messages-test)
;;; org-agent-messages-test.el ends here
