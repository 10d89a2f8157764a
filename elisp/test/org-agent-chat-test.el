;;; org-agent-chat-test.el --- Tests of the conversation  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A person writes, sends and undoes in the real buffer; the kernel is a
;; fake that says what a test needs, when it needs it.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-agent-fake-kernel)

(defun org-agent-chat-test--undo (&optional again)
  "Undo one step; AGAIN when the last command was an undo."
  (let ((last-command (if again 'undo 'ignore)))
    (undo-boundary)
    (undo)
    (undo-boundary)))

(defun org-agent-chat-test--draft ()
  "Return the draft of the conversation."
  (with-current-buffer "*org-agent-chat*"
    (buffer-substring-no-properties (org-agent-draft-start) (point-max))))

(defun org-agent-chat-test--property-anywhere-p (property)
  "Return non-nil when PROPERTY is somewhere in the buffer."
  (text-property-not-all (point-min) (point-max) property nil))

;;;; Sending

(ert-deftest org-agent-chat-sends-the-draft ()
  "The draft is sent: first marked and saved, then sent, then acknowledged."
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
                       (concat (org-agent-question-subtree
                                1 (plist-get params :id)
                                "What is this?\nAnd that?" nil)
                               "* ")))
        (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
        (should-not (buffer-modified-p))
        (should (eobp))))))

(ert-deftest org-agent-chat-nothing-to-send ()
  "An empty draft is not sent, and the buffer stays as it is."
  (org-agent-fake-with-chat
    (let ((before (buffer-string)))
      (should-error (org-agent-send) :type 'user-error)
      (should (equal (buffer-string) before))
      (should-not (org-agent-fake-requests "event")))))

(ert-deftest org-agent-chat-ctrl-c-ctrl-c-in-the-draft-sends ()
  "Also on a table, a block, a checkbox; elsewhere it is Org's."
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

(ert-deftest org-agent-chat-messages-queue ()
  "What is sent while an answer is written goes out at once, in order."
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
          (search-forward "whole")
          (org-agent-chat-ctrl-c-ctrl-c)
          (org-agent-fake-wait (= 2 (length (org-agent-fake-requests "event"))))
          (org-agent-fake-settle)
          (let ((params (nth 1 (org-agent-fake-requests "event"))))
            (should (equal (plist-get params :id) id))
            (should (equal (plist-get params :text) "Keep me\nwhole")))
          (should-not (string-match-p "unsent" (buffer-string))))))))

(ert-deftest org-agent-chat-unsent-goes-out-when-the-kernel-is-back ()
  "A message whose acknowledgement was lost is sent again, with its id."
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
      (should (equal first second)))
    (should-not (string-match-p "unsent" (buffer-string)))))

(ert-deftest org-agent-chat-without-a-kernel-nothing-is-lost ()
  "What is sent when no kernel can be started is in the file, unsent."
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

(ert-deftest org-agent-chat-never-received-is-marked ()
  "A question the kernel never received is marked unsent when it says so."
  (org-agent-fake-with-home
    (make-directory (file-name-directory (org-agent-fake-file "main")) t)
    (with-temp-file (org-agent-fake-file "main")
      (insert (org-agent-question-subtree 1 "q1" "known" t)
              (org-agent-question-subtree 1 "q2" "unknown" nil) "* "))
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
      (should (equal (org-agent-heading-tags (org-agent-find-heading "q1"))
                     '("user")))
      (should (equal (org-agent-heading-tags (org-agent-find-heading "q2"))
                     '("user" "unsent")))
      (goto-char (org-agent-find-heading "q2"))
      (org-agent-chat-ctrl-c-ctrl-c)
      (org-agent-fake-wait (org-agent-fake-requests "event"))
      (should (equal (plist-get (car (org-agent-fake-requests "event")) :text)
                     "unknown")))))

;;;; Answers

(ert-deftest org-agent-chat-answer-nests-and-is-saved ()
  "An act goes below its question, before the draft; the receipt tells all."
  (org-agent-fake-with-chat
    (let* ((question (org-agent-fake-say "Hello"))
           (text (org-agent-fake-answer-text "a1" "H\u00e9llo \u4e16\u754c" "Body"))
           (receipt (plist-get (org-agent-fake-act "a1" question text) :result)))
      (should (equal (org-agent-fake-text)
                     (concat (org-agent-question-subtree 1 question "Hello" nil)
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
  "The same act again changes nothing and gets the same receipt."
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
  "A question without a line end and an answer without one are put right."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (delete-region (1- (org-agent-draft-start)) (point-max))
      (org-agent-fake-act "a1" question
                          (string-trim-right
                           (org-agent-fake-answer-text "a1" "Hi" "Body")))
      (should (equal (org-agent-fake-text)
                     (concat (org-agent-question-subtree 1 question "Hello" nil)
                             (org-agent-fake-answer-text "a1" "Hi" "Body")
                             "* ")))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text))))))

(ert-deftest org-agent-chat-question-is-gone ()
  "Without its question an answer goes before the draft, under its words."
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
  "Other buffers, other targets, other actions and closed sessions."
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

;;;; Previews

(ert-deftest org-agent-chat-preview-in-all-pieces ()
  "Whatever the pieces, the preview is what came, and the act keeps it."
  (random "pieces")
  (dotimes (_ 30)
    (org-agent-fake-with-chat
      (let* ((question (org-agent-fake-say "Hello"))
             (text (org-agent-fake-answer-text
                    "a1" "T\u00eftle \U0001f600" "| a | b |" "#+begin_src sh"
                    ",* x src_sh{ls}" "#+end_src" "" "*b* \u4e16\u754c" "[[id:x][y]]"))
             (offset 0))
        (while (< offset (length text))
          (let ((n (min (1+ (random 40)) (- (length text) offset))))
            (org-agent-fake-delta question "a1" offset
                                  (substring text offset (+ offset n)))
            (setq offset (+ offset n))
            (when (zerop (random 3))
              (org-agent-fake-settle)
              (let ((shown (substring text 0 offset)))
                (should (equal (string-replace org-agent-inert-mark ""
                                               (org-agent-fake-text))
                               (concat (org-agent-question-subtree
                                        1 question "Hello" nil)
                                       shown
                                       (unless (string-suffix-p "\n" shown) "\n")
                                       "* ")))))))
        (org-agent-fake-settle)
        (let ((tick (buffer-chars-modified-tick)))
          (org-agent-fake-act "a1" question text)
          (should (= tick (buffer-chars-modified-tick))))
        (should-not org-agent-answer--previews)
        (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))))))

(ert-deftest org-agent-chat-preview-that-differs ()
  "An act that differs from its preview replaces it."
  (dolist (final '(("Other" "Text") ("Title" "Bodies, more of them") ("Title")))
    (org-agent-fake-with-chat
      (let ((question (org-agent-fake-say "Hello"))
            (text (apply #'org-agent-fake-answer-text "a1" final)))
        (org-agent-fake-delta question "a1" 0
                              (org-agent-fake-answer-text "a1" "Title" "Body of"))
        (org-agent-fake-act "a1" question text)
        (should (equal (org-agent-fake-text)
                       (concat (org-agent-question-subtree 1 question "Hello" nil)
                               text "* ")))))))

(ert-deftest org-agent-chat-preview-begins-anew ()
  "A delta at 0 begins anew; an empty one takes the preview back."
  (org-agent-fake-with-chat
    (let* ((question (org-agent-fake-say "Hello"))
           (alone (org-agent-fake-text)))
      (org-agent-fake-delta question "a1" 0 "** First try\nmore\nand more\n")
      (org-agent-fake-delta question "a1" 0 "** Second")
      (org-agent-fake-delta question "a1" 9 " try\n")
      (org-agent-fake-settle)
      (should (string-match-p "^\\*\\* Second try\n\\* \\'" (buffer-string)))
      (should-not (string-match-p "First\\|more" (buffer-string)))
      (org-agent-fake-delta question "a1" 0 "")
      (org-agent-fake-settle)
      (should (equal (org-agent-fake-text) alone))
      (org-agent-fake-delta question "a1" 0 "** Third")
      (org-agent-fake-settle)
      (should (string-match-p "^\\*\\* Third\n" (buffer-string)))
      ;; Another act of the same turn takes its place.
      (org-agent-fake-delta question "a2" 0 "** Fourth")
      (org-agent-fake-settle)
      (should-not (string-match-p "Third" (buffer-string)))
      (org-agent-fake-notify "turn/finished" :session "main" :turn "turn-1"
                             :event question :state :failed :notice "no model")
      (org-agent-fake-settle)
      (should (equal (org-agent-fake-text) alone)))))

(ert-deftest org-agent-chat-gap-is-asked-for ()
  "What is missing is asked for, once; what came twice is left out."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (push (cons "turn/get"
                  (lambda (params)
                    (let ((from (or (plist-get params :from) 0)))
                      (list :id "a1" :offset from :state :running
                            :text (substring "** 0123456789 \u4e16\u754c" from)))))
            org-agent-fake-answers)
      (org-agent-fake-delta question "a1" 0 "** 01")
      (org-agent-fake-delta question "a1" 9 "6789")
      (org-agent-fake-delta question "a1" 13 " \u4e16\u754c")
      (org-agent-fake-delta question "a1" 5 "23456")
      (org-agent-fake-settle)
      (should (string-match-p "^\\*\\* 0123456789 \u4e16\u754c\n\\* " (buffer-string)))
      (should (equal (org-agent-fake-requests "turn/get")
                     '((:turn "turn-1" :from 5)))))
    (let ((question (org-agent-fake-say "Again")))
      (org-agent-fake-delta question "a1" 9 "6789" "turn-2")
      (org-agent-fake-settle)
      (should (equal (car (last (org-agent-fake-requests "turn/get")))
                     '(:turn "turn-2" :from 0)))
      (should (= 2 (how-many "0123456789" (point-min) (point-max)))))))

(ert-deftest org-agent-chat-preview-is-read-only-while-written ()
  "It cannot be changed, not even by undo; around it everything can."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (org-agent-fake-delta question "a1" 0 "** Title\nsome text")
      (org-agent-fake-settle)
      (goto-char (point-min))
      (search-forward "some")
      (should-error (insert "x") :type 'text-read-only)
      (should-error (delete-region (- (point) 2) (point)) :type 'text-read-only)
      (search-backward "** Title")
      (insert "Before\n")
      (goto-char (point-max))
      (search-backward "* ")
      (insert "Behind\n")
      (undo-boundary)
      (let ((text (buffer-string)))
        (condition-case nil
            (progn (org-agent-chat-test--undo)
                   (dotimes (_ 6) (org-agent-chat-test--undo t)))
          (error nil))
        (should (string-match-p "\\*\\* Title\nsome text\n" (buffer-string)))
        (ignore text))
      (org-agent-fake-act "a1" question "** Title\nsome text and more\n")
      (dolist (property '(read-only modification-hooks))
        (should-not (org-agent-chat-test--property-anywhere-p property)))
      (goto-char (point-min))
      (search-forward "some")
      (insert "x"))))

(ert-deftest org-agent-chat-streaming-disturbs-nobody ()
  "Point, mark, region, kill ring, draft and match data stay as they are."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (org-agent-fake-type "my draft")
      (dolist (place (list (point-min) (org-agent-draft-start) (point-max)))
        (goto-char place)
        (let* ((behind (buffer-substring-no-properties
                        (point) (min (point-max) (+ (point) 3))))
               (kill-ring '("k"))
               (transient-mark-mode t))
          (push-mark (org-agent-draft-start) t t)
          (string-match "b" "abc")
          (let ((data (match-data)))
            (dotimes (i 20)
              (org-agent-fake-delta question "a1" (* i 10) "word word\n"))
            (org-agent-fake-settle)
            (org-agent-fake-delta question "a1" 0 "")
            (org-agent-fake-delta question "a1" 0 "** anew\n")
            (org-agent-fake-settle)
            (should (equal (match-data) data)))
          (should (equal (buffer-substring-no-properties
                          (point) (min (point-max) (+ (point) 3)))
                         behind))
          (should (= (mark t) (org-agent-draft-start)))
          (should mark-active)
          (should (equal kill-ring '("k")))
          (should (equal (org-agent-chat-test--draft) "* my draft"))
          (org-agent-fake-delta question "a1" 0 "")
          (org-agent-fake-settle))))))

(ert-deftest org-agent-chat-windows-stay ()
  "Windows that are not at the end do not move; those at the end follow."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (save-window-excursion
        (delete-other-windows)
        (switch-to-buffer "*org-agent-chat*")
        (let ((reading (selected-window))
              (writing (split-window)))
          (set-window-point writing (point-max))
          (set-window-point reading (+ 3 (point-min)))
          (set-window-start reading (point-min))
          (dotimes (i 50)
            (org-agent-fake-delta question "a1" (* i 10) "word word\n"))
          (org-agent-fake-settle)
          (should (= (window-point reading) (+ 3 (point-min))))
          (should (= (window-start reading) (point-min)))
          (should (= (window-point writing) (point-max))))))))

(ert-deftest org-agent-chat-narrowed-buffer ()
  "A narrowed conversation gets its answers and stays narrowed."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (narrow-to-region (point-min) (+ 5 (point-min)))
      (org-agent-fake-delta question "a1" 0 "** Ti")
      (org-agent-fake-act "a1" question "** Title\n")
      (should (= (buffer-size) (length (org-agent-fake-text))))
      (should (= (- (point-max) (point-min)) 5))
      (widen)
      (should (string-match-p "^\\*\\* Title\n\\* " (buffer-string)))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text))))))

;;;; Folding

(defun org-agent-chat-test--hidden-p (text)
  "Return non-nil when TEXT is there but cannot be seen."
  (save-excursion
    (goto-char (point-min))
    (search-forward text)
    (invisible-p (match-beginning 0))))

(ert-deftest org-agent-chat-folded-stays-folded ()
  "Text under a folded question is folded, under an open one it is not."
  (org-agent-fake-with-chat
    (let ((first (org-agent-fake-say "First\nwith a body"))
          (second (org-agent-fake-say "Second")))
      (org-agent-fake-act "a1" first "** One\nbody one\n")
      (goto-char (org-agent-find-heading first))
      (outline-hide-subtree)
      (org-agent-fake-delta first "a2" 0 "** Two\nbody")
      (org-agent-fake-delta first "a2" 11 " two\n")
      (org-agent-fake-act "a2" first "** Two\nbody two\nand\n")
      (org-agent-fake-act "a3" second "** Three\nbody three\n")
      (should (org-agent-chat-test--hidden-p "body two"))
      (should (org-agent-chat-test--hidden-p "** Two"))
      (should (org-agent-chat-test--hidden-p "and\n"))
      (should-not (org-agent-chat-test--hidden-p "* Second"))
      (should-not (org-agent-chat-test--hidden-p "body three"))
      ;; The draft stays in sight, and what is unfolded is all there.
      (should-not (invisible-p (org-agent-draft-start)))
      (goto-char (org-agent-find-heading first))
      (outline-show-subtree)
      (should-not (org-agent-chat-test--hidden-p "** Two"))
      ;; A folded sibling hides itself only.
      (goto-char (point-min))
      (search-forward "** Three")
      (outline-hide-subtree)
      (org-agent-fake-act "a4" second "** Four\nbody four\n")
      (should (org-agent-chat-test--hidden-p "body three"))
      (should-not (org-agent-chat-test--hidden-p "** Four"))
      (should-not (org-agent-chat-test--hidden-p "body four")))))

(ert-deftest org-agent-chat-drawers-are-hidden ()
  "What is in a drawer is out of sight until TAB shows it."
  (org-agent-fake-with-chat
    (org-agent-fake-say "Hello\nbody")
    (font-lock-ensure)
    (should (org-agent-chat-test--hidden-p ":ID:"))
    (should (org-agent-chat-test--hidden-p ":END:"))
    (should-not (org-agent-chat-test--hidden-p ":PROPERTIES:"))
    (should-not (org-agent-chat-test--hidden-p "body"))
    (font-lock-flush)
    (font-lock-ensure)
    (should (org-agent-chat-test--hidden-p ":ID:"))
    (goto-char (point-min))
    (search-forward ":PROP")
    (org-cycle)
    (should-not (org-agent-chat-test--hidden-p ":ID:"))
    (org-cycle)
    (should (org-agent-chat-test--hidden-p ":ID:"))
    (should-not (cl-remove-if-not (lambda (overlay)
                                    (overlay-get overlay 'invisible))
                                  (overlays-in (point-min) (point-max))))))

;;;; Undo

(ert-deftest org-agent-chat-undo-takes-the-answer-at-once ()
  "What the user did while it came undoes one by one, then the answer."
  (org-agent-fake-with-chat
    (let* ((question (org-agent-fake-say "Hello"))
           (alone (org-agent-fake-text))
           (text (org-agent-fake-answer-text "a1" "Title" "Body" "More")))
      (org-agent-fake-delta question "a1" 0 (substring text 0 30))
      (org-agent-fake-settle)
      (org-agent-fake-type "one ")
      (org-agent-fake-delta question "a1" 30 (substring text 30))
      (org-agent-fake-settle)
      (org-agent-fake-type "two")
      (org-agent-fake-act "a1" question text)
      (org-agent-fake-notify "turn/finished" :session "main" :turn "turn-1"
                             :event question :state :answered)
      (org-agent-fake-settle)
      (should (equal (org-agent-fake-text)
                     (concat (substring alone 0 -2) text "* one two")))
      (org-agent-chat-test--undo)
      (should (equal (org-agent-fake-text)
                     (concat (substring alone 0 -2) text "* one ")))
      (org-agent-chat-test--undo t)
      (should (equal (org-agent-fake-text)
                     (concat (substring alone 0 -2) text "* ")))
      (org-agent-chat-test--undo t)
      (should (equal (org-agent-fake-text) alone))
      ;; On to the sending, and the typing of the question.
      (org-agent-chat-test--undo t)
      (should (equal (org-agent-fake-text) "* Hello"))
      (org-agent-chat-test--undo t)
      (should (equal (org-agent-fake-text) "* ")))))

(ert-deftest org-agent-chat-undo-of-history-is-none ()
  "What was loaded is no news, and undo does not take it away."
  (org-agent-fake-with-home
    (push (cons "session/load"
                (lambda (_)
                  (org-agent-fake-notify
                   "turn/kept" :session "main" :turn "t1" :event "q1"
                   :question (org-agent-question-subtree 1 "q1" "Hello" nil)
                   :id "a1" :answer (org-agent-fake-answer-text "a1" "Hi" "Body")
                   :state :answered)
                  (list :session "main" :file (org-agent-fake-file "main")
                        :keeper t)))
          org-agent-fake-answers)
    (org-agent-fake-start)
    (org-agent-chat)
    (with-current-buffer "*org-agent-chat*"
      (org-agent-fake-type "typed early")
      (org-agent-fake-wait (eq org-agent-chat-attached t))
      (let ((history (concat (org-agent-question-subtree 1 "q1" "Hello" nil)
                             (org-agent-fake-answer-text "a1" "Hi" "Body"))))
        (should (equal (org-agent-fake-text) (concat history "* typed early")))
        (org-agent-chat-test--undo)
        (should (equal (org-agent-fake-text) (concat history "* ")))
        (should-error (org-agent-chat-test--undo t))))))

;;;; Stop, retry, header line

(ert-deftest org-agent-chat-stops-and-repeats ()
  "The running turn can be stopped, and what is left repeated."
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
                             :input 1200 :output 30 :cost 0.0123)
      (org-agent-fake-settle)
      (should (string-match-p "ready.*1\\.2k in, 30 out  \\$0\\.0123"
                              (org-agent-header-line)))
      (goto-char (point-min))
      (search-forward "Again?")
      (org-agent-chat-ctrl-c-ctrl-c)
      (org-agent-fake-wait (org-agent-fake-requests "turn/retry"))
      (should (equal (org-agent-fake-requests "turn/retry")
                     '((:turn "turn-1")))))))

(ert-deftest org-agent-chat-repeats-a-turn-of-the-past ()
  "The turn of an old question is found by its event."
  (org-agent-fake-with-home
    (make-directory (file-name-directory (org-agent-fake-file "main")) t)
    (with-temp-file (org-agent-fake-file "main")
      (insert (org-agent-question-subtree 2 "q1" "Hello\nthere" nil)
              "*** Interrupted :agent:\n:PROPERTIES:\n:ID:       n1\n:STATE:    interrupted\n:END:\n* "))
    (org-agent-fake-start)
    (org-agent-chat)
    (with-current-buffer "*org-agent-chat*"
      (org-agent-fake-wait (eq org-agent-chat-attached t))
      (goto-char (org-agent-find-heading "n1"))
      (org-agent-chat-ctrl-c-ctrl-c)
      (org-agent-fake-wait (org-agent-fake-requests "turn/retry"))
      (should (equal (org-agent-fake-requests "event")
                     '((:sensor :chat-message :session "main" :id "q1"
                        :level 2 :text "Hello\nthere")))))))

(ert-deftest org-agent-chat-header-line ()
  "It names model and state, and a percent sign in them is harmless."
  (org-agent-fake-with-chat
    (org-agent-chat-put :model "100%s")
    (should (string-match-p "100%%s" (org-agent-header-line)))
    (org-agent-fake-notify "approval/asked" :id "x" :session "main" :turn "t"
                           :event "e" :action "(:a 1)" :hash "h" :reason "r")
    (org-agent-fake-settle)
    (should (string-match-p "waiting for you" (org-agent-header-line)))
    (org-agent-fake-notify "approval/closed" :id "x" :session "main")
    (org-agent-fake-settle)
    (should (string-match-p "thinking" (org-agent-header-line)))))

(ert-deftest org-agent-chat-mode-restarts ()
  "A keyword line restarts the mode; the conversation goes on."
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

(provide 'org-agent-chat-test)
;;; org-agent-chat-test.el ends here
