;;; org-agent-turns-test.el --- Tests of commands on turns  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real kernel and scripted models: several answers, thoughts,
;; calls, usage, edited questions, remarks to a running turn.

;;; Code:

(require 'ediff-wind)
(require 'org-agent-kernel-test)
(require 'org-agent-branch)
(require 'org-agent-chat)
(require 'org-agent-heading)
(require 'org-agent-settings)
(require 'org-agent-explain)

(defun org-agent-turns-test--goto (text)
  "Go to TEXT in the conversation."
  (goto-char (point-min))
  (search-forward text))

(ert-deftest org-agent-turns-siblings ()
  "A second answer by another model is after the first; one is preferred."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "first")
            (org-agent-kernel-test--exchange "second")
            (org-agent-kernel-test--exchange nil (cons 'echo t)))
    (org-agent-kernel-test--say "Question?")
    (org-agent-kernel-test--settle 1)
    (org-agent-turns-test--goto "first")
    (let ((kill-ring '("kept")))
      (org-agent-regenerate "other-model")
      (org-agent-kernel-test--settle 2)
      (should (equal kill-ring '("kept")))
      ;; One sees the new answer, which is the last text.
      (should (eobp)))
    (should (equal (mapcar #'cadr (org-agent-kernel-test--shape))
                   '("Question?" "first" "second" "")))
    (org-agent-turns-test--goto "first")
    (org-agent-prefer-answer)
    (org-agent-fake-wait (string-match-p ":PREFERRED: t" (org-agent-fake-file-text)))
    (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
    (org-agent-turns-test--goto "first")
    (org-agent-prefer-answer)
    (org-agent-fake-wait (not (string-match-p ":PREFERRED:" (org-agent-fake-file-text))))
    (let ((answers (org-agent-branch--answers (point-min))))
      (should (= (length answers) 2))
      (let ((buffer (org-agent-branch--buffer (car answers))))
        (unwind-protect
            (should (equal (with-current-buffer buffer (buffer-string))
                           "* first\n"))
          (kill-buffer buffer))))))

(ert-deftest org-agent-turns-thoughts-and-usage ()
  "Thoughts are folded and inert in the answer, with its usage."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange
             "The answer"
             (cons 'reasoning "Hm.\n* Not a heading [[elisp:(error)]]\n:END:\nso")
             (cons 'usage '((prompt_tokens . 12) (completion_tokens . 3) (cost . 0.25)))))
    (org-agent-kernel-test--say "Question?")
    (org-agent-kernel-test--settle 1)
    (should (equal (mapcar #'cadr (org-agent-kernel-test--shape))
                   '("Question?" "The answer" "")))
    (let ((text (org-agent-fake-text)))
      (should (string-match-p ":TOKENS:   12/3\n:COST:     \\$0.25\n:SECONDS:  [0-9.]+\n:SPEED:    [0-9.]+ s to the first word" text))
      (should (string-match-p "\n:END:\n:THOUGHTS:\n: Hm.\n: \\* Not a heading" text))
      (should-not (string-match-p "\\[\\[elisp:" text)))
    (should (string-match-p "12 in, 3 out  \\$0\\.2500" (org-agent-header-line)))
    (org-agent-turns-test--goto ":THOUGHTS:")
    (forward-line 0)
    (font-lock-ensure)
    (should (invisible-p (+ (line-end-position) 3)))
    (should (eq (org-element-type (org-element-at-point)) 'drawer))
    (let ((inhibit-message t)) (call-interactively #'org-cycle))
    (should-not (invisible-p (+ (line-end-position) 3)))
    ;; What it took survives the kernel, and comes with the conversation.
    (org-agent-usage)
    (with-current-buffer "*org-agent-usage*"
      (should (<= (cl-loop for column across tabulated-list-format
                           sum (1+ (cadr column)))
                  78))
      (org-agent-fake-wait tabulated-list-entries)
      (should (string-match-p "Question\\?.*12 +3 +\\$0\\.2500" (buffer-string)))
      (kill-buffer))))

(ert-deftest org-agent-turns-usage-of-tools ()
  "The table by tool has its own columns, and the others come back."
  (org-agent-kernel-test--with
      (list (list (cons 'reply "(:type :request :target :tool :action :call :tool \"list_conversations\")"))
            (org-agent-kernel-test--exchange "Done" '(usage . ((prompt_tokens . 12) (completion_tokens . 3)))))
    (org-agent-kernel-test--say "Which conversations?")
    (org-agent-fake-wait (= 1 (org-agent-kernel-test--answers)))
    (org-agent-usage)
    (with-current-buffer "*org-agent-usage*"
      (org-agent-fake-wait tabulated-list-entries)
      (tabulated-list-sort 2)
      (org-agent-usage-by-tool)
      (org-agent-fake-wait (string-match-p "^  list_conversations +1 +[1-9][0-9]* +[1-9]"
                                           (buffer-string)))
      (should (<= (cl-loop for column across tabulated-list-format
                           sum (1+ (cadr column)))
                  78))
      (org-agent-usage-by-session)
      (org-agent-fake-wait (string-match-p "^  main .* [1-9][0-9]* +[1-9]"
                                           (buffer-string)))
      (should (equal (car (aref tabulated-list-format 0)) "What"))
      (kill-buffer))))

(ert-deftest org-agent-turns-thoughts-are-read-as-they-come ()
  "Thoughts are shown in a buffer of their own while they stream in.
They are plain text.  The conversation gets them with the answer, and the
next turn begins without any."
  (let ((thoughts (mapconcat (lambda (n) (format "thought %d [[elisp:(error)]]" n))
                             (number-sequence 1 60) "\n* ")))
    (org-agent-kernel-test--with
        (list (org-agent-kernel-test--exchange
               "The answer" (cons 'reasoning thoughts) '(chunk . 20) '(delay . "40ms"))
              (org-agent-kernel-test--exchange "Another" '(reasoning . "once more")))
      (should-error (with-temp-buffer (org-agent-thoughts)) :type 'user-error)
      (org-agent-kernel-test--say "Question?")
      (org-agent-fake-type "draft")
      (org-agent-fake-wait (org-agent-chat-get :thought))
      (let ((undo buffer-undo-list) (point (point))
            (kill-ring '("kept")) (text (buffer-string)))
        (save-window-excursion (org-agent-thoughts))
        (with-current-buffer "*org-agent thoughts: main*"
          (should buffer-read-only)
          (should-not (derived-mode-p 'org-mode))
          (should (string-prefix-p "thought 1 " (buffer-string)))
          (goto-char (point-min))
          (let ((size (buffer-size)))
            (org-agent-fake-wait (> (buffer-size) size))
            (should (= (point) (point-min)))))
        (should (string-match-p "thinking [0-9.]+k?" (org-agent-header-line)))
        (should (eq undo buffer-undo-list))
        (should (= point (point)))
        (should (equal kill-ring '("kept")))
        (should (equal text (buffer-string))))
      (org-agent-kernel-test--settle 1)
      (should (equal (with-current-buffer "*org-agent thoughts: main*" (buffer-string))
                     thoughts))
      (should (string-match-p ":THOUGHTS:\n: thought 1 " (org-agent-fake-text)))
      (should (string-match-p "^\\* draft\\'" (buffer-string)))
      (org-agent-kernel-test--say " again")
      (org-agent-kernel-test--settle 2)
      (with-current-buffer "*org-agent thoughts: main*"
        (should (equal (buffer-string) "once more"))
        (kill-buffer)))))

;; It would be taken for the answer, or would be lost behind the count of thoughts.
(ert-deftest org-agent-turns-commentary-is-a-line ()
  "What a model says beside its calls is a quiet line, also when the turn is over."
  (let ((calls '(calls . [((id . "1") (name . "list_conversations") (arguments . "{}"))]))
        (page (lambda ()
                (mapconcat (lambda (overlay)
                             (substring-no-properties
                              (or (overlay-get overlay 'after-string) "")))
                           (overlays-in (point-min) (1+ (point-max))) "|"))))
    (org-agent-kernel-test--with
        (list (org-agent-kernel-test--exchange "I look at them." calls)
              (org-agent-kernel-test--exchange "Now at the\nothers." calls)
              (org-agent-kernel-test--held "There are two." -1))
      (org-agent-kernel-test--say "Which conversations?")
      (org-agent-fake-wait (equal (funcall page) "\nNow at the others."))
      (should-not (string-search "Now at" (buffer-string)))
      (org-agent-kernel-test--let-go)
      (org-agent-kernel-test--settle 1)
      (should (equal (funcall page) ""))
      (should (string-search
               ":COMMENTARY:\n: I look at them.\n:\n: Now at the\n: others.\n:END:\n:CALLS:\n"
               (org-agent-fake-text))))))

(ert-deftest org-agent-turns-compared-with-ediff ()
  "Ediff shows the words of two answers; its end leaves no buffer."
  (require 'ediff)
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Title\n\nsame\n\none\n")
            (org-agent-kernel-test--exchange "Title\n\nsame\n\ntwo\n")
            (org-agent-kernel-test--exchange "Title\n\nsame\n\nthree\n"))
    (org-agent-kernel-test--say "Question?")
    (org-agent-kernel-test--settle 1)
    (org-agent-turns-test--goto "Question")
    (should-error (org-agent-compare-answers) :type 'user-error)
    (dotimes (n 2)
      (org-agent-regenerate (format "model-%d" n))
      (org-agent-kernel-test--settle (+ 2 n)))
    (let ((text (buffer-string)) (undo buffer-undo-list)
          (kill-ring '("kept")) (before (buffer-list))
          (windows (current-window-configuration))
          (ediff-window-setup-function #'ediff-setup-windows-plain)
          compared)
      (dolist (place '("Question" "one" "three"))
        (org-agent-turns-test--goto place)
        (let ((point (point)))
          (org-agent-compare-answers)
          (with-current-buffer "*Ediff Control Panel*"
            (push (mapcar (lambda (buffer)
                            (with-current-buffer buffer
                              (should buffer-read-only)
                              (should (derived-mode-p 'org-mode))
                              (car (last (split-string (buffer-string) "\n" t)))))
                          (list ediff-buffer-A ediff-buffer-B))
                  compared)
            (should (= 1 ediff-number-of-differences))
            (ediff-really-quit nil))
          (set-buffer "*org-agent-chat*")
          (org-agent-fake-wait
           (not (cl-find-if (lambda (buffer)
                              (string-prefix-p "*org-agent answer" (buffer-name buffer)))
                            (buffer-list))))
          (should (= point (point)))))
      (should (equal (nreverse compared)
                     '(("two" "three") ("one" "two") ("two" "three"))))
      (with-suppressed-warnings ((obsolete compare-window-configurations))
        (should (compare-window-configurations windows (current-window-configuration))))
      (should (equal text (buffer-string)))
      (should (eq undo buffer-undo-list))
      (should (equal kill-ring '("kept")))
      (should-not (cl-set-difference
                   (cl-remove-if (lambda (buffer)
                                   (string-match-p "\\` \\|[Ee]diff" (buffer-name buffer)))
                                 (buffer-list))
                   before)))))

(ert-deftest org-agent-turns-edit-and-resend ()
  "An edited question is at the end, and continues from the old one's turns."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "one" (cons 'match "First"))
            (org-agent-kernel-test--exchange "two" (cons 'match "Second"))
            (org-agent-kernel-test--exchange "new" (cons 'match "Better")))
    (org-agent-kernel-test--say "First")
    (org-agent-kernel-test--settle 1)
    (org-agent-kernel-test--say "Second")
    (org-agent-kernel-test--settle 2)
    (org-agent-fake-type "a draft")
    (org-agent-turns-test--goto "one")
    (save-window-excursion
      (org-agent-edit-question)
      (should (equal (buffer-string) "First"))
      (erase-buffer)
      (insert "Better")
      (org-agent-edit-question-send))
    (with-current-buffer "*org-agent-chat*"
      (org-agent-fake-wait (= 3 (org-agent-kernel-test--answers)))
      (org-agent-fake-wait (not (org-agent-chat-get :phase)))
      (org-agent-fake-settle)
      (should (equal (mapcar #'cadr (org-agent-kernel-test--shape))
                     '("First" "one" "Second" "two" "Better" "new" "a draft")))
      (should (string-match-p ":INSTEAD:" (org-agent-fake-file-text)))
      (should-not (string-match-p ":unsent:" (org-agent-fake-text))))))

(ert-deftest org-agent-turns-steer-and-queue ()
  "A remark to a turn without a further request is the next message.
A question that waits is marked, and can be cancelled."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--held
             (org-agent-kernel-test--envelope
              (concat "slowly\n\n" (make-string 300 ?a) "\nthe rest")))
            (org-agent-kernel-test--exchange "rest" (cons 'times -1)))
    (org-agent-kernel-test--say "First")
    ;; What is said before the model was asked goes along with the question.
    (org-agent-fake-wait org-agent-answer-previews)
    (org-agent-kernel-test--say "Waits")
    (org-agent-turns-test--goto "* Waits")
    ;; More of the answer may be shown meanwhile, right before the heading.
    (let ((heading (copy-marker (line-beginning-position) t)))
      (org-agent-fake-wait (org-agent-heading-waits-p heading))
      (font-lock-ensure)
      (should (string-match-p
               "waits for its turn"
               (mapconcat (lambda (position)
                            (or (get-text-property position 'display) ""))
                          (number-sequence heading (line-end-position)) ""))))
    (org-agent-steer "Be brief")
    (org-agent-stop-turn)
    (org-agent-fake-wait (string-match-p "Stopped" (org-agent-fake-text)))
    (org-agent-kernel-test--let-go)
    (org-agent-kernel-test--settle 3)
    (should (equal (mapcar #'cadr (org-agent-kernel-test--shape))
                   '("First" "slowly"
                     "Waits" "Stopped" "Be brief" "rest" "")))))

(ert-deftest org-agent-turns-model-of-a-conversation ()
  "The chosen model is shown, and survives the kernel."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "x" (cons 'times -1)))
    (org-agent-model "chosen-one")
    (org-agent-fake-wait (equal (org-agent-chat-get :model) "chosen-one"))
    (signal-process (org-agent-kernel-test--pid) 'SIGKILL)
    (org-agent-fake-wait (not (eq org-agent-chat-attached t)))
    (org-agent-chat-put :model nil)
    (org-agent-fake-wait (eq org-agent-chat-attached t))
    (should (equal (org-agent-chat-get :model) "chosen-one"))))

(ert-deftest org-agent-turns-models-are-completed ()
  "A model is read without waiting for the kernel's list."
  (org-agent-fake-with-chat
    (setq org-agent-settings--model-known nil)
    (let (held asked offered)
      (push (cons "model/list" (lambda (_) (setq asked t) 'silence))
            org-agent-fake-answers)
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (prompt table &rest _)
                   (push (cons prompt (all-completions "" table)) offered)
                   (unless held
                     (org-agent-fake-wait asked)
                     (let ((request (cl-find "model/list" org-agent-fake-received
                                             :key (lambda (m) (plist-get m :method))
                                             :test #'equal)))
                       (org-agent-fake-send
                        (list :jsonrpc "2.0" :id (plist-get request :id)
                              :result '(:models ((:name "gpt-5" :default t)
                                                 (:name "local:small")))))
                       (org-agent-fake-wait org-agent-settings--model-known))
                     (push (cons prompt (all-completions "l" table)) offered))
                   (should (equal (funcall (cdr (assq 'annotation-function
                                                      (cdr (completion-metadata "" table nil))))
                                           "gpt-5")
                                  "  the configured one"))
                   (or held ""))))
        (should-not (org-agent-settings-model-read "Model"))
        (setq held "gpt-5")
        (should-not (org-agent-settings-model-read "Model"))
        (setq held " new-one ")
        (should (equal (org-agent-settings-model-read "Model") "new-one")))
      (should (equal (nreverse offered)
                     '(("Model (default the configured one): ")
                       ("Model (default the configured one): " "local:small")
                       ("Model (default gpt-5): " "gpt-5" "local:small")
                       ("Model (default gpt-5): " "gpt-5" "local:small"))))
      (org-agent-fake-settle)
      (should (= 3 (length (org-agent-fake-requests "model/list")))))))

(ert-deftest org-agent-turns-blocks ()
  "The code of an answer is copied and inserted without escapes."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Code:\n```org\n* heading\n```\nDone."))
    (org-agent-kernel-test--say "Question?")
    (org-agent-kernel-test--settle 1)
    (let ((kill-ring nil))
      (goto-char (point-max))
      (org-agent-copy-block)
      (should (equal (car kill-ring) "* heading\n")))
    (with-temp-buffer
      (org-agent-yank-block)
      (should (equal (buffer-string) "* heading\n")))))

(ert-deftest org-agent-turns-footnotes-are-of-their-answer ()
  "A footnote of the second answer leads to its own definition, and back."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Paper is old[^1].\n\n[^1]: From China.\n")
            (org-agent-kernel-test--exchange "Ink is older[fn:1].\n\n[fn:1] From Egypt.\n")
            (org-agent-kernel-test--exchange nil (cons 'echo t)))
    (org-agent-kernel-test--say "Paper?")
    (org-agent-kernel-test--settle 1)
    (org-agent-kernel-test--say "Ink?")
    (org-agent-kernel-test--settle 2)
    (pcase-dolist (`(,word ,definition) '(("Paper is old" "From China")
                                          ("Ink is older" "From Egypt")))
      (org-agent-turns-test--goto word)
      (goto-char (line-beginning-position))
      (should (re-search-forward "\\[fn:" (line-end-position) t))
      (call-interactively (key-binding (kbd "C-c C-c")))
      (should (string-match-p definition
                              (buffer-substring-no-properties
                               (line-beginning-position) (line-end-position))))
      ;; And back to where it is referred to.
      (goto-char (line-beginning-position))
      (call-interactively (key-binding (kbd "C-c C-c")))
      (should (string-match-p word (buffer-substring-no-properties
                                    (line-beginning-position) (line-end-position)))))))

(ert-deftest org-agent-turns-pace-follows-the-cost ()
  "Pieces come as often as a small part of the processor allows."
  (should (= (org-agent-turn-pause 0.1) 40))
  (should (= (org-agent-turn-pause 1.6) 40))
  (should (= (org-agent-turn-pause 4.0) 100))
  (should (= (org-agent-turn-pause 50.0) 200))
  (should-not (org-agent-turn-pace-changed-p 100 120))
  (should (org-agent-turn-pace-changed-p 100 130))
  (should (org-agent-turn-pace-changed-p 200 40))
  ;; It comes to a cost that stays, from wherever it was.
  (dolist (former '(0.5 3.0 80.0))
    (let ((mean former))
      (dotimes (_ 60) (setq mean (org-agent-turn-mean-cost mean 4.0)))
      (should (< 3.9 mean 4.1))))
  ;; One collection of garbage among many pieces changes little.
  (should (< (org-agent-turn-mean-cost 2.0 100.0) 4.0))
  (should (> (org-agent-turn-mean-cost 0.5 0.0) 0.1)))

(ert-deftest org-agent-turns-pace-is-told-once ()
  "The kernel is asked for larger pieces where they cost much, and told no more."
  (org-agent-fake-with-chat
    (let* ((question (org-agent-fake-say "Hello"))
           (cost 10) (used 0) (offset 0)
           (tell (lambda (pieces)
                   (dotimes (_ pieces)
                     (org-agent-fake-delta question "a1" offset "word ")
                     (cl-incf offset 5))
                   (org-agent-fake-settle)
                   (mapcar (lambda (params) (plist-get params :milliseconds))
                           (org-agent-fake-requests "session/pace")))))
      ;; The clock is looked at twice for each piece that is measured.
      (cl-letf (((symbol-function 'get-internal-run-time)
                 (lambda () (seconds-to-time (/ (cl-incf used cost) 1000.0)))))
        (let ((told (funcall tell 150)))
          (should (> (car (last told)) 150))
          (should (< (length told) 6))
          (should (equal (funcall tell 50) told))
          (setq cost 1)
          (should (<= 40 (car (last (funcall tell 200))) 60)))))))

(provide 'org-agent-turns-test)
;;; org-agent-turns-test.el ends here
