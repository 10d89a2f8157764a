;;; org-agent-chat-test.el --- Tests of the conversation  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A person writes, sends and undoes in the real buffer.  The kernel is a
;; fake, which sends what a test needs, when it needs it.

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
(require 'org-agent-header)

;;;; Answers

(ert-deftest org-agent-chat-answer-nests-and-is-saved ()
  "An answer is inserted below its question; the receipt describes it."
  (org-agent-fake-with-chat
    (let* ((question (org-agent-fake-say "Hello"))
           (text (org-agent-fake-answer-text "a1" "H\u00e9llo \u4e16\u754c" "Body"))
           (receipt (plist-get (org-agent-fake-act "a1" question text) :result)))
      (should (equal (org-agent-fake-text)
                     (concat (org-agent-heading-question 1 question "Hello" nil)
                             text "* ")))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
      (should (equal (plist-get receipt :buffer) "*org-agent-chat*"))
      (should (equal (buffer-substring-no-properties
                      (plist-get receipt :start) (plist-get receipt :end))
                     text))
      (should (= (plist-get receipt :chars) (length text)))
      (should (equal (plist-get receipt :sha256)
                     (secure-hash 'sha256 (encode-coding-string text 'utf-8))))
      (should (eq (plist-get receipt :saved) t)))))

(ert-deftest org-agent-chat-act-is-performed-once ()
  "A repeated act changes nothing and gets the same receipt."
  (org-agent-fake-with-chat
    (let* ((question (org-agent-fake-say "Hello"))
           (text (org-agent-fake-answer-text "a1" "Hi" "Body"))
           (first (plist-get (org-agent-fake-act "a1" question text) :result))
           (after (org-agent-fake-text))
           (second (plist-get (org-agent-fake-act "a1" question text) :result)))
      (should (equal first second))
      (should (equal (org-agent-fake-text) after))
      ;; Also when a person changed it meanwhile.
      (goto-char (point-min))
      (search-forward "Body")
      (insert " language")
      (org-agent-fake-act "a1" question text)
      (should (= 1 (how-many ":ID:       a1" (point-min) (point-max)))))))

(ert-deftest org-agent-chat-text-without-line-ends ()
  "Missing newlines at the ends of a question and an answer are inserted."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (delete-region (1- (org-agent-draft-start)) (point-max))
      (org-agent-fake-act "a1" question
                          (string-trim-right
                           (org-agent-fake-answer-text "a1" "Hi" "Body")))
      (should (equal (org-agent-fake-text)
                     (concat (org-agent-heading-question 1 question "Hello" nil)
                             (org-agent-fake-answer-text "a1" "Hi" "Body")
                             "* ")))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text))))))

(ert-deftest org-agent-chat-question-is-gone ()
  "If its question is gone, an answer is inserted before the draft."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (delete-region (point-min) (org-agent-draft-start))
      (org-agent-fake-type "my draft")
      (org-agent-fake-request
       "act" :id "a1" :session "main" :turn "turn-1" :event question
       :words "Hello\n" :type :request :target :emacs
       :payload (list :action :insert-at-end
                      :text (org-agent-fake-answer-text "a1" "Hi" "Body")))
      (should (equal (org-agent-fake-text)
                     (concat "* Re: Hello\n"
                             (org-agent-fake-answer-text "a1" "Hi" "Body")
                             "* my draft"))))))

(ert-deftest org-agent-chat-acts-that-are-refused ()
  "Acts for other buffers, targets, actions and closed sessions are refused."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")) (before (buffer-string)))
      (pcase-dolist
          (`(,code . ,change)
           '((-32002 :payload (:action :insert-at-end :text "x" :buffer "*scratch*"))
             (-32002 :payload (:action :insert-at-end :text "x"
                               :buffer "*org-agent-chat: other*"))
             (-32002 :session "other")
             (-32002 :target :shell)
             (-32002 :type :response)
             (-32002 :payload (:action :insert-at-end))
             (-32002 :payload (:action :insert-at-end :text 7))
             (-32601 :payload (:action :eval :text "(f)"))
             (-32601 :payload nil)))
        (let* ((params (list :id "a1" :session "main" :turn "turn-1"
                             :event question :type :request :target :emacs
                             :payload '(:action :insert-at-end :text "x")))
               (changed (plist-put (copy-sequence params) (car change)
                                   (cadr change)))
               (answer (apply #'org-agent-fake-request "act" changed)))
          (ert-info ((format "%S" change))
            (should (equal (plist-get (plist-get answer :error) :code) code)))))
      (should (equal (buffer-string) before)))))

(ert-deftest org-agent-chat-other-session-has-its-buffer ()
  "Each session has its own buffer, file and answers."
  (org-agent-fake-with-chat
    (org-agent-chat "two words")
    (should (equal (buffer-name) "*org-agent-chat: two words*"))
    (org-agent-fake-wait (eq org-agent-chat-attached t))
    (should (equal buffer-file-name (org-agent-fake-file "two words")))
    (insert "Hi")
    (org-agent-send)
    (org-agent-fake-wait (org-agent-fake-requests "event"))
    (should (equal (plist-get (car (org-agent-fake-requests "event")) :session)
                   "two words"))
    (org-agent-fake-settle)
    (should-not (string-match-p "Hi" (org-agent-fake-text)))
    (dolist (name '("" ".x" "a/b" "a " "a\nb" "a*b"))
      (should-not (org-agent-chat-valid-session-p name)))))

;;;; Keys of Org

(ert-deftest org-agent-chat-tab-leaves-the-draft ()
  "TAB in an empty draft leaves its level, which says what it belongs to."
  (org-agent-fake-with-chat
    (org-agent-fake-act "a1" (org-agent-fake-say "Hello")
                        (org-agent-fake-answer-text "a1" "Yes" "Body"))
    (goto-char (point-max))
    (let ((before (org-agent-fake-text)))
      (should (string-suffix-p "\n* " before))
      (dotimes (_ 3)
        (call-interactively (key-binding (kbd "TAB")))
        (should (equal (org-agent-fake-text) before))))))

;;;; Stop, retry, header line

(defun org-agent-chat-test--retried ()
  "Return the events that were to be answered again.
Each came with what stands above its question."
  (mapcar (lambda (params)
            (should (string-match-p (concat "^:ID: +" (plist-get params :event))
                                    (plist-get params :above)))
            (plist-get params :event))
          (org-agent-fake-requests "turn/retry")))

(ert-deftest org-agent-chat-stops-and-repeats ()
  "The running turn can be stopped, and repeated."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (push (cons "turn/cancel" (lambda (_) '(:cancelled t))) org-agent-fake-answers)
      (org-agent-fake-notify "turn/started" :session "main" :turn "turn-1"
                             :event question :model "m-2")
      (org-agent-fake-settle)
      (should (string-match-p "m-2.*thinking" (org-agent-header-line)))
      (call-interactively (key-binding (kbd "C-c C-k")))
      (org-agent-fake-wait (org-agent-fake-requests "turn/cancel"))
      (should (equal (org-agent-fake-requests "turn/cancel")
                     '((:turn "turn-1"))))
      (org-agent-fake-act
       "n1" question
       "** Stopped  :agent:\n:PROPERTIES:\n:ID:       n1\n:STATE:    cancelled\n:END:\nAgain?\n")
      (org-agent-fake-notify "turn/finished" :session "main" :turn "turn-1"
                             :event question :state :cancelled
                             :total (list :input 1200 :output 30 :cost 0.0123))
      (org-agent-fake-settle)
      (should (string-match-p "ready.*1\\.2k in, 30 out  \\$0\\.0123"
                              (org-agent-header-line)))
      (goto-char (point-min))
      (search-forward "Again?")
      (org-agent-chat-ctrl-c-ctrl-c)
      (org-agent-fake-wait (org-agent-fake-requests "turn/retry"))
      (should (equal (org-agent-chat-test--retried) (list question)))
      ;; The new answer comes before the draft.
      (should (eobp))
      ;; From the question, too, and not Org's tags.
      (goto-char (org-agent-heading-find question))
      (org-agent-chat-ctrl-c-ctrl-c)
      (org-agent-fake-wait (cdr (org-agent-fake-requests "turn/retry")))
      (should (equal (org-agent-chat-test--retried) (list question question))))))

(ert-deftest org-agent-chat-repeats-a-turn-of-the-past ()
  "An old question can be repeated by its id."
  (org-agent-fake-with-home
    (make-directory (file-name-directory (org-agent-fake-file "main")) t)
    (with-temp-file (org-agent-fake-file "main")
      (insert (org-agent-heading-question 2 "q1" "Hello\nthere" nil)
              "*** Interrupted :agent:\n:PROPERTIES:\n:ID:       n1\n:STATE:    interrupted\n:END:\n"
              (org-agent-heading-question 2 "q2" "And then" nil) "* "))
    (org-agent-fake-start)
    (org-agent-chat)
    (with-current-buffer "*org-agent-chat*"
      (org-agent-fake-wait (eq org-agent-chat-attached t))
      (goto-char (org-agent-heading-find "n1"))
      (org-agent-chat-ctrl-c-ctrl-c)
      (org-agent-fake-wait (org-agent-fake-requests "turn/retry"))
      (should (equal (org-agent-chat-test--retried) '("q1")))
      ;; Its answer comes here, behind the others, and not at the end.
      (should (= (1+ (point)) (org-agent-heading-find "q2")))
      (should (= (mark t) (org-agent-heading-find "n1"))))))

(ert-deftest org-agent-chat-counts-what-waits ()
  "The header line counts the messages that wait for a running turn."
  (org-agent-fake-with-chat
    (push (cons "event" (lambda (params)
                          (list :event (plist-get params :id) :state :queued
                                :turn (plist-get params :text))))
          org-agent-fake-answers)
    (let ((first (org-agent-fake-say "one")))
      (org-agent-fake-notify "turn/started" :session "main" :turn "one"
                             :event first)
      (org-agent-fake-settle)
      (let ((second (org-agent-fake-say "two")))
        (org-agent-fake-say "three")
        (should (string-match-p "thinking \\+2" (org-agent-header-line)))
        (org-agent-fake-notify "turn/finished" :session "main" :turn "one"
                               :event first :state :answered)
        (org-agent-fake-notify "turn/started" :session "main" :turn "two"
                               :event second)
        (org-agent-fake-settle)
        (should (string-match-p "thinking \\+1" (org-agent-header-line)))))))

(ert-deftest org-agent-chat-acknowledged-late-does-not-wait ()
  "A message whose turn began before the acknowledgement is not waiting."
  (org-agent-fake-with-chat
    (push (cons "event" (lambda (params)
                          (org-agent-fake-notify
                           "turn/started" :session "main" :turn "one"
                           :event (plist-get params :id))
                          (list :event (plist-get params :id) :state :queued
                                :turn "one")))
          org-agent-fake-answers)
    (let ((question (org-agent-fake-say "one")))
      (org-agent-fake-settle)
      (should-not (string-match-p "\\+1" (org-agent-header-line)))
      (org-agent-fake-notify "turn/finished" :session "main" :turn "one"
                             :event question :state :answered)
      (org-agent-fake-settle)
      (should-not (string-match-p "\\+" (org-agent-header-line))))))

(defun org-agent-chat-test--load-ended ()
  "Load the conversation again, whose turn has ended meanwhile."
  (push (cons "turn/get" (lambda (_) '(:state :interrupted))) org-agent-fake-answers)
  (setq org-agent-chat-attached nil)
  (org-agent-chat-attach)
  (org-agent-fake-wait (org-agent-fake-requests "turn/get"))
  (org-agent-fake-settle))

(ert-deftest org-agent-chat-ended-while-loading-does-not-run ()
  "A turn that ended after `session/load' reported it is not shown as running."
  (org-agent-fake-with-chat
    (push (cons "session/load" (lambda (_) '(:session "main" :running "t9" :running-event "q9")))
          org-agent-fake-answers)
    (org-agent-chat-test--load-ended)
    (should-not (string-match-p "thinking\\|streaming" (org-agent-header-line)))))

(ert-deftest org-agent-chat-ended-while-loading-is-saved ()
  "The preview of such a turn is removed, and the buffer equals the file."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (org-agent-fake-delta question "a1" 0 "** Half\nan ans" "t9")
      (org-agent-fake-settle)
      (push (cons "session/load"
                  (lambda (_) (list :session "main" :keeper t :file buffer-file-name
                                    :running "t9" :running-event question)))
            org-agent-fake-answers)
      (org-agent-chat-test--load-ended)
      (should-not (string-match-p "Half" (buffer-string)))
      (should-not (buffer-modified-p))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text))))))

(ert-deftest org-agent-chat-says-how-to-begin ()
  "An empty conversation says how to send a message; others do not."
  (org-agent-fake-with-chat
    (should (string-match-p "C-c C-c" (org-agent-header-line)))
    (org-agent-fake-type "Hello")
    (org-agent-send)
    (org-agent-fake-settle)
    (should-not (string-match-p "C-c C-c" (org-agent-header-line)))))

(ert-deftest org-agent-chat-header-line ()
  "It shows model and state, and escapes percent signs."
  (org-agent-fake-with-chat
    (org-agent-chat-put :model "100%s")
    (should (string-match-p "100%%s" (org-agent-header-line)))
    (org-agent-fake-notify "ask/opened" :sort :approval :id "x" :session "main" :turn "t"
                           :event "e" :action "(:a 1)" :hash "h" :reason "r")
    (org-agent-fake-settle)
    (should (string-match-p "waiting for you" (org-agent-header-line)))
    (org-agent-fake-notify "ask/closed" :sort :approval :id "x" :session "main")
    (org-agent-fake-settle)
    (should (string-match-p "thinking" (org-agent-header-line)))))

(ert-deftest org-agent-chat-mode-restarts ()
  "A keyword line restarts the mode, and the conversation continues."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (goto-char (point-min))
      (insert "#+STARTUP: nofold\n")
      (org-agent-fake-delta question "a1" 0 "** Ti")
      (org-agent-fake-settle)
      (goto-char (point-min))
      (org-agent-chat-ctrl-c-ctrl-c)
      (should (eq major-mode 'org-agent-chat-mode))
      (should (equal org-agent-chat-session "main"))
      (should (equal (buffer-name) "*org-agent-chat*"))
      (should (equal buffer-file-name (org-agent-fake-file "main")))
      (org-agent-fake-delta question "a1" 5 "tle\n")
      (org-agent-fake-act "a1" question "** Title\n")
      (should (string-match-p "^\\*\\* Title\n\\* " (buffer-string)))
      (should (eq (key-binding (kbd "C-c C-c")) 'org-agent-chat-ctrl-c-ctrl-c)))
    (with-temp-buffer
      (org-mode)
      (should (eq (key-binding (kbd "C-c C-c")) 'org-ctrl-c-ctrl-c)))))

(ert-deftest org-agent-chat-mode-comes-back ()
  "A command of Org that starts Org's own mode leaves the conversation one."
  (org-agent-fake-with-chat
    (org-agent-fake-say "Hello")
    (let ((org-group-tags org-group-tags) (text (buffer-string)))
      (org-toggle-tags-groups)
      (should (eq major-mode 'org-agent-chat-mode))
      (should (equal text (buffer-string)))
      (should (eq (key-binding (kbd "C-c C-c")) 'org-agent-chat-ctrl-c-ctrl-c)))
    (let ((this-command 'org-mode))
      (org-mode))
    (should (eq major-mode 'org-mode))))

(ert-deftest org-agent-chat-clones-are-no-conversations ()
  "Killing a clone of a part of the buffer does not close the session."
  (org-agent-fake-with-chat
    (org-agent-fake-say "Hello")
    (let ((clone (org-get-indirect-buffer)))
      (should (buffer-local-value 'org-agent-chat-session clone))
      (should (equal (org-agent-chat-buffers) (list (current-buffer))))
      (with-current-buffer clone
        (goto-char (point-max))
        (insert "more")
        (should-error (org-agent-send) :type 'user-error)
        (should-error (org-agent-stop-turn) :type 'user-error))
      (kill-buffer clone))
    (org-agent-fake-settle)
    (should-not (org-agent-fake-requests "session/leave"))
    (should (eq org-agent-chat-attached t))))

(ert-deftest org-agent-chat-comes-back-from-another-mode ()
  "Whoever turned Org mode on in a conversation has it back by its command."
  (org-agent-fake-with-chat
    (org-agent-fake-say "Before.")
    (org-mode)
    (org-agent-chat)
    (should (derived-mode-p 'org-agent-chat-mode))
    (should (eq (current-buffer) (get-buffer "*org-agent-chat*")))
    (should (eq (key-binding (kbd "C-c C-c")) 'org-agent-chat-ctrl-c-ctrl-c))
    (should header-line-format)
    (should (eq org-agent-chat-attached t))
    (org-agent-fake-say "After.")
    (should (equal (length (org-agent-fake-requests "event")) 2))))

(ert-deftest org-agent-chat-shows-the-last-turn ()
  "Where Org begins folded one sees the last question and all of its answer."
  (dolist (folded '(t content showeverything))
    (ert-info ((format "%s" folded))
      (org-agent-fake-with-home
        (let ((file (org-agent-fake-file "main")))
          (make-directory (file-name-directory file) t)
          (with-temp-file file
            (insert "* First :user:\n:PROPERTIES:\n:ID: q1\n:END:\n** Early :agent:\n:PROPERTIES:\n:ID: a1\n:END:\nearly text\n"
                    "* Last :user:\n:PROPERTIES:\n:ID: q2\n:END:\nmore of it\n** Late :agent:\n:PROPERTIES:\n:ID: a2\n:END:\nlate text\n*** A part\nits text\n"))
          (org-agent-fake-start)
          (let ((org-startup-folded folded))
            (org-agent-chat)
            (with-current-buffer "*org-agent-chat*"
              (org-agent-fake-wait (eq org-agent-chat-attached t))
              (dolist (text '("more of it" "late text" "A part" "its text"))
                (goto-char (point-min))
                (search-forward text)
                (should-not (invisible-p (1- (point)))))
              (should-not (invisible-p (org-agent-draft-start)))
              (goto-char (point-min))
              (search-forward "early text")
              (should (eq (and (invisible-p (1- (point))) t)
                          (not (eq folded 'showeverything)))))))))))

;; The header line names the model before the conversation is attached.
(ert-deftest org-agent-chat-attaching-is-waited-for ()
  "A command for an attached conversation waits for a moment while it is being attached."
  (org-agent-fake-with-chat
    (should (eq org-agent-chat-attached t))
    (let ((buffer (current-buffer)))
      (setq org-agent-chat-attached 'requested)
      (run-at-time 0.1 nil (lambda ()
                             (with-current-buffer buffer
                               (setq org-agent-chat-attached t))))
      (org-agent-chat-check-attached)
      (setq org-agent-chat-attached nil)
      (should-error (org-agent-chat-check-attached) :type 'user-error))))

(provide 'org-agent-chat-test)
;;; org-agent-chat-test.el ends here
