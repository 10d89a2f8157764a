;;; org-agent-question-test.el --- Tests of forms  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real kernel, and a skill that asks what the model says.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-approval-test)
(require 'org-agent-approval)
(require 'org-agent-chat)
(require 'org-agent-file-owner)
(require 'org-agent-inert)
(require 'org-agent-notify)
(require 'org-agent-question)

(defconst org-agent-question-test--printing
  '(:title "Printing" :questions
    ((:question "Which printer?" :options ("laser" "ink") :own t :name "printer")
     (:question "How many?" :kind :number :min 1 :max 9 :default "1" :name "copies")
     (:question "What along?" :kind :choices :options ("cover" "index" "notes")
      :optional t :name "along")
     (:question "Both sides?" :kind :yes-no :name "both")
     (:question "The word?" :kind :secret :optional t :name "word")
     (:question "Anything else?" :optional t :name "else")))
  "Every kind of field.")

(defmacro org-agent-question-test--with (arguments &rest body)
  "Run BODY in a conversation in which \"do it\" makes the model ask ARGUMENTS."
  (declare (indent 1) (debug t))
  `(org-agent-approval-test--with
       (prin1-to-string
        (list :type :request :target :tool :action :call :tool "ask_user"
              :args ,arguments))
     (setq org-agent-asks-open nil)
     ,@body))

(defun org-agent-question-test--asked ()
  "Say \"do it\", wait until the form is there, and return the question."
  (org-agent-kernel-test--say "do it")
  (org-agent-fake-wait (org-agent-asks-of :question))
  (org-agent-question-test--decorated)
  (car (org-agent-asks-of :question)))

(defun org-agent-question-test--decorated ()
  "Wait until the form can be filled in; go there."
  (org-agent-fake-wait
   (text-property-not-all (point-min) (point-max) 'org-agent-asks nil))
  (goto-char (text-property-not-all (point-min) (point-max)
                                    'org-agent-asks nil)))

(defun org-agent-question-test--at (text)
  "Go to TEXT in the form."
  (org-agent-question-test--decorated)
  (search-forward text))

(defun org-agent-question-test--check (option)
  "Check OPTION as a person does, on its line."
  (org-agent-question-test--decorated)
  (re-search-forward (concat "] " (regexp-quote option) "\\(?:$\\| \\)"))
  (goto-char (match-beginning 0))
  (should (eq (key-binding (kbd "RET")) 'org-agent-question-toggle))
  (call-interactively #'org-agent-question-toggle))

(defun org-agent-question-test--sent ()
  "Return the answers that are in the form."
  (org-agent-question-test--decorated)
  (mapcar (lambda (answer) (cons (plist-get answer :name)
                                 (plist-get answer :values)))
          (org-agent-question--read-form (point) (car (org-agent-asks-of :question)))))

(defun org-agent-question-test--journal (text)
  "Return non-nil when TEXT is in a file of the kernel or the home."
  (cl-some (lambda (file)
             (and (file-regular-p file)
                  (with-temp-buffer
                    (set-buffer-multibyte nil)
                    (insert-file-contents-literally file)
                    (search-forward text nil t))))
           (directory-files-recursively org-agent-fake-directory "")))

(ert-deftest org-agent-question-is-a-form ()
  "A form is filled in as text and sent in place."
  (org-agent-question-test--with org-agent-question-test--printing
    (let ((question (org-agent-question-test--asked))
          (kills kill-ring))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
      (org-agent-fake-type "my draft")
      (let ((undo buffer-undo-list))
        (org-agent-question-test--decorated)
        (should (looking-at "\\*\\* TODO Answer: Printing +:agent:$"))
        (should (eq undo buffer-undo-list)))
      (should (equal (plist-get question :subtree)
                     (org-agent-inert (plist-get question :subtree))))
      (font-lock-ensure)
      ;; What asks stays; what answers is free.
      (should-error (insert "x") :type 'text-read-only)
      (org-agent-question-test--at "How many?")
      (should-error (insert "x") :type 'text-read-only)
      (dolist (place '("] las" "] laser" "] index" "- [ ] other:\n2"))
        (org-agent-question-test--at place)
        (should-error (insert "x") :type 'text-read-only)
        (should-error (delete-char -1) :type 'text-read-only))
      (org-agent-question-test--at "2. How")
      (forward-line 0)
      (should-error (insert "x") :type 'text-read-only)
      (should-error (delete-char -1) :type 'text-read-only)
      (org-agent-question-test--at "Anything else? (may be left out)\n   Answer:\n")
      (should-error (delete-char -1) :type 'text-read-only)
      (org-agent-question-test--check "laser")
      (org-agent-question-test--check "ink")
      (org-agent-question-test--check "notes")
      (org-agent-question-test--check "cover")
      (org-agent-question-test--at "Answer: 1")
      (insert "x")
      (delete-char -1)
      (delete-char -1)
      (insert "3")
      (org-agent-question-test--at "Answer:\n")
      (backward-char)
      (insert " two\n   lines: *x* [[elisp:(y)]]")
      (should-error (org-agent-chat-ctrl-c-ctrl-c) :type 'user-error)
      (should (looking-at "- \\[ \\] yes"))
      (org-agent-question-test--check "yes")
      (should (equal (org-agent-question-test--sent)
                     '(("printer" "ink") ("copies" "3")
                       ("along" "cover" "notes") ("both" "yes")
                       ("else" "two\nlines: *x* [[elisp:(y)]]"))))
      ;; The user's undo takes back what they did in the form.
      (undo-boundary)
      (org-agent-question-test--check "no")
      (undo-boundary)
      (let ((last-command nil)) (undo))
      (should (member '("both" "yes") (org-agent-question-test--sent)))
      (org-agent-question-test--at "Anything")
      (cl-letf (((symbol-function 'read-passwd) (lambda (&rest _) "Sesam-42")))
        (call-interactively (key-binding (kbd "C-c C-c"))))
      (org-agent-kernel-test--settle 2)
      (goto-char (point-min))
      (should (re-search-forward "^\\*\\* DONE Answered: Printing " nil t))
      (dolist (line '("- Which printer? :: ink" "- How many? :: 3"
                      "- What along? :: cover, notes" "- Both sides? :: yes"
                      "- The word? :: given, and kept nowhere"))
        (should (search-forward (concat line "\n") nil t)))
      (should-not (search-forward "- [" nil t))
      (should (eq kills kill-ring))
      (should-not (org-agent-asks-of :question))
      (should-not org-agent-question--sent)
      (should (string-suffix-p "\n* my draft" (org-agent-fake-text)))
      (should-not (string-match-p "Sesam" (format "%S" buffer-undo-list)))
      (should-not (org-agent-question-test--journal "Sesam-42"))
      (should-not (text-property-not-all (point-min) (point-max)
                                         'org-agent-asks nil)))))

(ert-deftest org-agent-question-own-answer-and-faults ()
  "An own answer is accepted; a fault is reported, and nothing is sent."
  (org-agent-question-test--with org-agent-question-test--printing
    (org-agent-question-test--asked)
    (org-agent-question-test--check "no")
    (org-agent-question-test--check "laser")
    (org-agent-question-test--check "other:")
    (org-agent-question-test--decorated)
    (should-error (org-agent-chat-ctrl-c-ctrl-c) :type 'user-error)
    (should (looking-back "other:" (line-beginning-position)))
    (insert " the \"old\" one")
    (should (equal (assoc "printer" (org-agent-question-test--sent))
                   '("printer" "the \"old\" one")))
    ;; Org's own key checks a second box: one answer is wanted.
    (org-agent-question-test--at "- [")
    (org-toggle-checkbox)
    (let ((err (should-error (org-agent-chat-ctrl-c-ctrl-c) :type 'user-error)))
      (should (string-match-p "wants one answer" (cadr err))))
    (org-agent-question-test--check "other:")
    (org-agent-question-test--check "other:")
    ;; The kernel refuses what is no number, and the form stays.
    (org-agent-question-test--at "Answer: 1")
    (insert "2")
    (cl-letf (((symbol-function 'read-passwd) (lambda (&rest _) "")))
      (ert-with-message-capture said
        (org-agent-chat-ctrl-c-ctrl-c)
        (org-agent-fake-wait (string-match-p "1 to 9, not 12" said))))
    (should (org-agent-asks-of :question))
    ;; A line that was changed is named, and nothing is sent.
    (let ((inhibit-read-only t))
      (org-agent-question-test--at "Both sides")
      (insert "?"))
    (let ((err (should-error (org-agent-chat-ctrl-c-ctrl-c) :type 'user-error)))
      (should (string-match-p "Both sides\\?\" was changed" (cadr err))))
    ;; The minibuffer answers all the same.
    (let ((strings '("3" "x")) (choices '("ink" "cover" "" "yes")))
      (cl-letf (((symbol-function 'read-string) (lambda (&rest _) (pop strings)))
                ((symbol-function 'completing-read) (lambda (&rest _) (pop choices)))
                ((symbol-function 'read-passwd) (lambda (&rest _) "")))
        (org-agent-question-fill)))
    (org-agent-kernel-test--settle 2)
    (should (string-match-p "- How many\\? :: 3\n- What along\\? :: cover\n"
                            (org-agent-fake-text)))
    (should (string-match-p "- The word\\? :: no answer\n" (org-agent-fake-text)))
    ;; The line that was changed is a person's, and so is all that stood there.
    (should (string-match-p "4\\. Both sides\\?\\?" (org-agent-fake-text)))))

(ert-deftest org-agent-question-is-declined ()
  "In a form, the key that stops a turn declines with a reason."
  (org-agent-question-test--with org-agent-question-test--printing
    (org-agent-question-test--asked)
    (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "not\nyours")))
      (call-interactively (key-binding (kbd "C-c C-k"))))
    (org-agent-kernel-test--settle 2)
    (should (string-match-p "^\\*\\* CANCELLED Declined: Printing +:agent:$"
                            (org-agent-fake-text)))
    (should (string-match-p "Well" (org-agent-fake-text)))
    (org-agent-question-test--asked)
    (goto-char (point-max))
    (call-interactively (key-binding (kbd "C-c C-k")))
    (org-agent-fake-wait (null (org-agent-asks-of :question)))
    (org-agent-fake-wait
     (string-match-p "CANCELLED Not answered: Printing "
                     (org-agent-fake-text)))))

(ert-deftest org-agent-question-survives-everything ()
  "A half-filled form survives the death of the kernel and the buffer."
  (org-agent-question-test--with org-agent-question-test--printing
    (let ((id (plist-get (org-agent-question-test--asked) :id)))
      (org-agent-question-test--check "ink")
      (org-agent-question-test--check "no")
      (org-agent-question-test--at "5. The word")
      (org-agent-question-test--at "Answer:\n")
      (backward-char)
      (insert " half a")
      (org-agent-file-owner-save)
      (signal-process (org-agent-kernel-test--pid) 'SIGKILL)
      (org-agent-fake-wait (not (eq org-agent-chat-attached t)))
      (let (kill-buffer-query-functions)
        (set-buffer-modified-p nil)
        (kill-buffer "*org-agent-chat*"))
      (setq org-agent-asks-open nil)
      (org-agent-chat)
      (with-current-buffer "*org-agent-chat*"
        (org-agent-kernel-test--wait-attached)
        (org-agent-fake-wait (org-agent-asks-known id))
        (org-agent-question-test--decorated)
        (should (= 1 (how-many "^\\*\\* TODO Answer: " (point-min) (point-max))))
        (org-agent-fake-wait (eq 'waiting (org-agent-chat-get :phase)))
        (should (equal (org-agent-question-test--sent)
                       '(("printer" "ink") ("copies" "1") ("both" "no")
                         ("else" "half a"))))
        (org-agent-question-test--at "half a")
        (insert " sentence")
        (cl-letf (((symbol-function 'read-passwd) (lambda (&rest _) "")))
          (org-agent-chat-ctrl-c-ctrl-c))
        (org-agent-kernel-test--settle 2)
        (should (string-match-p "- Anything else\\? :: half a sentence\n"
                                (org-agent-fake-text)))
        (should-not (string-match-p "TODO\\|- \\[" (org-agent-fake-text)))))))

(ert-deftest org-agent-question-in-the-list ()
  "The list of approvals, the mode line and a notification show a question."
  (org-agent-question-test--with org-agent-question-test--printing
    (let* (notified
           (org-agent-notify-function
            (lambda (title text _) (push (list title text) notified))))
      (org-agent-mode-line-mode 1)
      (unwind-protect
          (let ((question (org-agent-question-test--asked)))
            (should (equal notified '(("org-agent" "Asks you: Printing"))))
            (should (string-match-p "Agent waits:1" org-agent-notify--mode-line-string))
            (save-current-buffer (org-agent-approvals))
            (with-current-buffer "*org-agent-approvals*"
              (org-agent-fake-settle)
              (goto-char (point-min))
              (search-forward "Answer: Printing")
              (should (search-forward "Which printer? [laser | ink | other]" nil t))
              (should (eq (key-binding (kbd "RET")) 'org-agent-question-fill))
              (should (eq (key-binding (kbd "d")) 'org-agent-question-decline))
              (should-error (org-agent-allow-once) :type 'user-error)
              (should-error (org-agent-allow-always) :type 'user-error)
              (org-agent-question-decline ""))
            (org-agent-kernel-test--settle 2)
            (should (string-match-p "CANCELLED Declined: Printing +:agent:$"
                                    (org-agent-fake-text)))
            (should-not (org-agent-asks-known (plist-get question :id)))
            (should-not (string-match-p "waits" org-agent-notify--mode-line-string))
            (with-current-buffer "*org-agent-approvals*"
              (should (string-match-p "Nothing waits" (buffer-string)))))
        (org-agent-mode-line-mode -1)))))

(ert-deftest org-agent-question-answered-elsewhere ()
  "A form that was answered elsewhere is closed; the own text stays."
  (org-agent-question-test--with org-agent-question-test--printing
    (let ((id (plist-get (org-agent-question-test--asked) :id)))
      (org-agent-question-test--at "Answer:\n")
      (backward-char)
      (insert " my long thoughts")
      (should (zerop (call-process
                      org-agent-program nil nil nil "--home" home "answer" id
                      "printer=laser" "copies=2" "both=yes")))
      (org-agent-kernel-test--settle 2)
      (should (string-match-p "^You, in a shell, "
                              (org-agent-fake-text)))
      (should (string-match-p
               "- Anything else\\? :: no answer\n- Not sent: Anything else\\? :: my long thoughts\n\\*"
               (org-agent-fake-text)))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
      (should-error (org-agent-question-submit) :type 'user-error))))

(ert-deftest org-agent-question-answered-elsewhere-and-changed ()
  "A changed form that is closed stays as a quotation."
  (org-agent-question-test--with org-agent-question-test--printing
    (let ((id (plist-get (org-agent-question-test--asked) :id))
          (inhibit-read-only t))
      (goto-char (point-min))
      (search-forward "2. How many?")
      (replace-match "How many, I wonder?")
      (search-forward "Answer:")
      (insert " about\n* TODO ten")
      (should (zerop (call-process
                      org-agent-program nil nil nil "--home" home "answer" id
                      "printer=laser" "copies=2" "both=yes")))
      (org-agent-kernel-test--settle 2)
      (goto-char (point-min))
      (should (re-search-forward "^\\*\\* DONE Answered: Printing " nil t))
      (should (search-forward "Not sent, as it was written here:\n#+begin_example\n" nil t))
      (should (search-forward "How many, I wonder?" nil t))
      (should (looking-at-p " (a number 1 to 9)\n   Answer: about\n"))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text))))))

(ert-deftest org-agent-question-hostile ()
  "Any text of a question is inert, and the form stays one."
  (let ((hostile "#+begin_src sh\nrm\n#+end_src\n* TODO Answer: me\n:PROPERTIES:\n[[elisp:(x)][y]] <2026-11-22 Sun> %s \\[org-agent-stop]"))
    (org-agent-question-test--with
        (list :title hostile :questions
              (list (list :question hostile :options (list hostile "2. x" "- [X] y"))
                    (list :question "2. x" :default "#+TBLFM: x")))
      (let ((question (org-agent-question-test--asked)))
        (should (equal (plist-get question :subtree)
                     (org-agent-inert (plist-get question :subtree))))
        (should (= 1 (how-many "^\\*+ TODO " (point-min) (point-max))))
        (org-agent-question-test--check "- [X] y")
        (should (equal (org-agent-question-test--sent)
                       '(("answer-1" "- [X] y") ("answer-2" "#+TBLFM: x"))))
        (org-agent-question-test--at "2. 2. x")
        (org-agent-chat-ctrl-c-ctrl-c)
        (org-agent-kernel-test--settle 2)
        (should (string-match-p "DONE Answered" (org-agent-fake-text)))))))

(provide 'org-agent-question-test)
;;; org-agent-question-test.el ends here
