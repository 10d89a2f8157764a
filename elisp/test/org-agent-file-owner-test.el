;;; org-agent-file-owner-test.el --- Tests of the conversation's file  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The file of a conversation, its buffer, and all programs that write to
;; either.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-heading)

(load "userlock" nil t)                 ; else its functions come unwatched

(defun org-agent-file-owner-test--write (text &optional session)
  "Write TEXT to the file of SESSION as another program would."
  (let ((file (org-agent-fake-file (or session "main")))
        (new (expand-file-name "new" org-agent-fake-directory))
        (coding-system-for-write 'utf-8-unix))
    (make-directory (file-name-directory file) t)
    (write-region text nil new nil 'silent)
    (rename-file new file t)
    ;; A file's time may be no finer than a clock tick.
    (set-file-times file (time-add nil 10))))

(defun org-agent-file-owner-test--another-owns (params)
  "Answer `session/load' with PARAMS: another Emacs keeps the file."
  (list :session (plist-get params :session)
        :file (org-agent-fake-file (plist-get params :session))))

(defmacro org-agent-file-owner-test--elsewhere (&rest body)
  "Open a conversation whose file another Emacs keeps, and run BODY in it."
  (declare (indent 0) (debug t))
  `(progn
     (push (cons "session/load" #'org-agent-file-owner-test--another-owns)
           org-agent-fake-answers)
     (org-agent-fake-start)
     (org-agent-chat)
     (with-current-buffer "*org-agent-chat*"
       (org-agent-fake-wait (eq org-agent-chat-attached t))
       ,@body)))

(defmacro org-agent-file-owner-test--asking-fails (&rest body)
  "Run BODY; whatever asks a person makes the test fail."
  (declare (indent 0) (debug t))
  `(let ((asked (lambda (&rest arguments)
                  (ert-fail (list "asked" arguments)))))
     (cl-letf (((symbol-function 'ask-user-about-supersession-threat) asked)
               ((symbol-function 'ask-user-about-lock) asked)
               ((symbol-function 'yes-or-no-p) asked)
               ((symbol-function 'y-or-n-p) asked)
               ((symbol-function 'read-char-choice) asked))
       ,@body)))

(ert-deftest org-agent-file-owner-visits-the-file ()
  "The buffer keeps its name, and finding the file finds the buffer."
  (org-agent-fake-with-chat
    (should (equal buffer-file-name (org-agent-fake-file "main")))
    (should (equal (buffer-name) "*org-agent-chat*"))
    (should (eq (find-file-noselect (org-agent-fake-file "main"))
                (current-buffer)))
    (org-agent-fake-say "Hello")
    (should-not (directory-files (file-name-directory buffer-file-name)
                                 nil "\\`\\.#\\|\\.org-agent"))))

(ert-deftest org-agent-file-owner-new-file-is-private ()
  "Nobody else can read a new conversation; a mode that it was given stays."
  (org-agent-fake-with-chat
    (org-agent-fake-say "Hello")
    (should (= (file-modes buffer-file-name) #o600))
    (set-file-modes buffer-file-name #o640)
    (org-agent-fake-say "More")
    (should (= (file-modes buffer-file-name) #o640))))

(ert-deftest org-agent-file-owner-survives-what-saving-does ()
  "Hooks that clean up on save break neither the draft nor the identity."
  (org-agent-fake-with-chat
    (let ((require-final-newline t)
          (mode-require-final-newline t)
          (before-save-hook '(delete-trailing-whitespace))
          (question (org-agent-fake-say "Hello")))
      (org-agent-fake-act "a1" question (org-agent-fake-answer-text "a1" "Hi" "Body  "))
      (goto-char (point-max))
      (set-buffer-modified-p t)
      (save-buffer)
      (should (string-match-p "^\\* \n?\\'" (buffer-string)))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
      (should-not (buffer-modified-p))
      (goto-char (point-max))
      (should (org-agent-draft-p (point)))
      (should (equal (org-agent-heading-turn-ids) (list question "a1")))
      (org-agent-fake-say "And again")
      (should (equal (plist-get (nth 1 (org-agent-fake-requests "event")) :text)
                     "And again"))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text))))))

(ert-deftest org-agent-file-owner-never-saves-a-part-of-an-answer ()
  "A save while an answer is written has nothing of it."
  (org-agent-fake-with-chat
    (let* ((question (org-agent-fake-say "Hello"))
           (saved (org-agent-fake-file-text)))
      (org-agent-fake-delta question "a1" 0 "** Half\nan ans")
      (org-agent-fake-settle)
      (org-agent-fake-type "draft")
      (save-buffer)
      (should (equal (org-agent-fake-file-text) (concat saved "draft")))
      (should (buffer-modified-p))
      (let ((second (org-agent-fake-say " more")))
        (should-not (string-match-p "Half" (org-agent-fake-file-text)))
        (org-agent-fake-act "a1" question "** Half\nan answer\n")
        (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
        (should (equal (org-agent-heading-turn-ids) (list question second)))))))

(ert-deftest org-agent-file-owner-opening-reads-once ()
  "A file that has not changed since it was opened is read and searched once.
That is so with the draft of an Emacs in it, and as the kernel wrote it."
  (dolist (draft '("" "* \n" "* some words"))
    (org-agent-fake-with-home
      (org-agent-file-owner-test--write
       (concat (org-agent-heading-question 1 "q1" "Hello" nil)
               (org-agent-fake-answer-text "a1" "Hi" "Body") draft))
      (org-agent-fake-start)
      (let ((reads 0) (searches 0))
        (cl-letf* ((read (symbol-function 'org-agent-disk-copy-insert-file))
                   ((symbol-function 'org-agent-disk-copy-insert-file)
                    (lambda (file) (cl-incf reads) (funcall read file)))
                   (search (symbol-function 'org-agent-heading-turn-ids))
                   ((symbol-function 'org-agent-heading-turn-ids)
                    (lambda () (cl-incf searches) (funcall search))))
          (org-agent-chat)
          (with-current-buffer "*org-agent-chat*"
            (org-agent-fake-wait (eq org-agent-chat-attached t))
            (should org-agent-file-owner-p)
            (should (equal (org-agent-heading-title (org-agent-draft-start))
                           (string-trim draft "\\*? *")))
            (should (org-agent-heading-find "a1"))))
        (should (equal (list reads searches) '(1 1)))))))

(ert-deftest org-agent-file-owner-takes-what-others-wrote ()
  "A changed file is read before the next turn is inserted."
  (org-agent-file-owner-test--asking-fails
    (org-agent-fake-with-chat
      (let ((question (org-agent-fake-say "Hello")))
        (org-agent-fake-type "my draft")
        (org-agent-file-owner-test--write
         (concat "# A remark\n" (org-agent-fake-file-text)))
        (org-agent-fake-act "a1" question (org-agent-fake-answer-text "a1" "Hi"))
        (should (equal (org-agent-fake-text)
                       (concat "# A remark\n"
                               (org-agent-heading-question 1 question "Hello" nil)
                               (org-agent-fake-answer-text "a1" "Hi")
                               "* my draft")))
        (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))))))

(ert-deftest org-agent-file-owner-overwrites-nobody ()
  "If file and buffer both changed, neither is overwritten, with a message."
  (org-agent-file-owner-test--asking-fails
    (org-agent-fake-with-chat
      (let ((question (org-agent-fake-say "Hello")))
        (goto-char (point-min))
        (search-forward "Hello")
        (insert " (edited)")
        (let ((theirs (concat (org-agent-fake-file-text) "theirs")))
          (org-agent-file-owner-test--write theirs)
          (goto-char (point-min))
          (insert "# mine\n")
          (org-agent-file-owner-test--write (concat "# theirs\n" theirs))
          (let ((receipt (org-agent-fake-act
                          "a1" question (org-agent-fake-answer-text "a1" "Hi"))))
            (should-not (plist-get (plist-get receipt :result) :saved)))
          (should (equal (org-agent-fake-file-text) (concat "# theirs\n" theirs)))
          (should (string-match-p "# mine\n.*(edited)" (buffer-string)))
          (should (string-match-p "\\*\\* Hi" (buffer-string)))
          (should (string-match-p "changed on disk" (org-agent-header-line)))
          (revert-buffer t t)
          (should (equal (org-agent-fake-text) (concat "# theirs\n" theirs)))
          (should-not (string-match-p "changed on disk"
                                      (org-agent-header-line))))))))

(ert-deftest org-agent-file-owner-streams-into-a-changed-file ()
  "Deltas into an unmodified buffer with a changed file ask nothing."
  (org-agent-file-owner-test--asking-fails
    (org-agent-fake-with-chat
      (let ((question (org-agent-fake-say "Hello")))
        (should-not (buffer-modified-p))
        (org-agent-file-owner-test--write (concat (org-agent-fake-file-text) "x"))
        (org-agent-fake-delta question "a1" 0 "** Hi\n")
        (org-agent-fake-delta question "a1" 6 "there\n")
        (org-agent-fake-act "a1" question "** Hi\nthere\n")
        (org-agent-fake-notify "turn/finished" :session "main" :turn "turn-1"
                               :event question :state :answered)
        (org-agent-fake-settle)
        (should (string-match-p "^\\* x\\'" (buffer-string)))
        (should (string-match-p "there" (buffer-string)))
        (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))))))

(ert-deftest org-agent-file-owner-is-somebody-else ()
  "An Emacs that does not own the file neither visits nor writes it."
  (org-agent-fake-with-home
    (let ((text (concat (org-agent-heading-question 1 "q1" "Hello" nil)
                        "* their draft")))
      (org-agent-file-owner-test--write text)
      (org-agent-file-owner-test--elsewhere
        (should-not buffer-file-name)
        (should (equal (org-agent-fake-text)
                       (concat (org-agent-heading-question 1 "q1" "Hello" nil)
                               "* ")))
        (let* ((mine (org-agent-fake-say "Mine"))
               (receipt (org-agent-fake-act
                         "a1" mine (org-agent-fake-answer-text "a1" "Hi"))))
          (should-not (plist-get (plist-get receipt :result) :saved))
          (should (equal (org-agent-fake-file-text) text))
          ;; Then the other Emacs goes, having saved; so did the kernel.
          (org-agent-file-owner-test--write
           (concat (org-agent-heading-question 1 "q1" "Hello (mended)" nil)
                   (org-agent-heading-question 1 mine "Mine" nil)
                   (org-agent-fake-answer-text "a1" "Hi")
                   "* their draft"))
          (org-agent-fake-type "and mine")
          (org-agent-fake-notify "session/keeper" :session "main"
                                 :file (org-agent-fake-file "main") :keeper t)
          (org-agent-fake-settle)
          (should (equal buffer-file-name (org-agent-fake-file "main")))
          (should (equal (org-agent-fake-text)
                         (concat (org-agent-heading-question
                                  1 "q1" "Hello (mended)" nil)
                                 (org-agent-heading-question 1 mine "Mine" nil)
                                 (org-agent-fake-answer-text "a1" "Hi")
                                 "* their draft\n* and mine")))
          (should (equal (org-agent-fake-text) (org-agent-fake-file-text))))))))

(ert-deftest org-agent-file-owner-becomes-it-while-an-answer-is-written ()
  "The file is taken over when the answer is complete."
  (org-agent-fake-with-home
    (org-agent-file-owner-test--elsewhere
      (let ((question (org-agent-fake-say "Hello"))
            (text (org-agent-fake-answer-text "a1" "Hi" "Body")))
        (org-agent-file-owner-test--write
         (concat (org-agent-heading-question 1 question "Hello" nil) "* "))
        (org-agent-fake-delta question "a1" 0 (substring text 0 40))
        (org-agent-fake-notify "session/keeper" :session "main"
                               :file (org-agent-fake-file "main") :keeper t)
        (org-agent-fake-settle)
        (should (string-match-p "\\*\\* Hi" (buffer-string)))
        (push (cons "session/load"
                    (lambda (params)
                      (unless (member "a1" (plist-get params :ids))
                        (org-agent-fake-notify
                         "turn/kept" :session "main" :turn "turn-1"
                         :event question :id "a1" :answer text :state :answered))
                      (list :session "main" :keeper t
                            :file (org-agent-fake-file "main"))))
              org-agent-fake-answers)
        (org-agent-fake-act "a1" question text)
        (org-agent-fake-notify "turn/finished" :session "main" :turn "turn-1"
                               :event question :state :answered)
        (org-agent-fake-settle)
        (should (equal (org-agent-fake-text)
                       (concat (org-agent-heading-question 1 question "Hello" nil)
                               text "* ")))
        (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))))))

(ert-deftest org-agent-file-owner-cannot-save ()
  "If the file cannot be saved, that is reported, and the text stays."
  (org-agent-fake-with-chat
    (let* ((question (org-agent-fake-say "Hello"))
           (directory (directory-file-name
                       (file-name-directory (org-agent-fake-file "main")))))
      (delete-directory directory t)
      (write-region "in the way" nil directory nil 'silent)
      (let ((receipt (org-agent-fake-act
                      "a1" question (org-agent-fake-answer-text "a1" "Hi"))))
        (should (plist-get receipt :result))
        (should-not (plist-get (plist-get receipt :result) :saved)))
      (should (buffer-modified-p))
      (should (string-match-p "not saved" (org-agent-header-line)))
      (delete-file directory)
      (make-directory directory)
      (org-agent-fake-say "Now?")
      (should-not (string-match-p "not saved" (org-agent-header-line)))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text))))))

(ert-deftest org-agent-file-owner-follows-links ()
  "A symbolic link stays a link."
  (org-agent-fake-with-home
    (let ((file (org-agent-fake-file "main"))
          (real (expand-file-name "elsewhere.org" org-agent-fake-directory)))
      (make-directory (file-name-directory file) t)
      (write-region "* " nil real nil 'silent)
      (set-file-modes real #o600)
      (make-symbolic-link real file)
      (org-agent-fake-start)
      (org-agent-chat)
      (with-current-buffer "*org-agent-chat*"
        (org-agent-fake-wait (eq org-agent-chat-attached t))
        (org-agent-fake-say "Hello")
        (should (file-symlink-p file))
        (should (= (file-modes real) #o600))
        (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))))))

(ert-deftest org-agent-file-owner-kills-without-asking ()
  "Killing the buffer saves the draft and tells the kernel."
  (org-agent-file-owner-test--asking-fails
    (org-agent-fake-with-chat
      (org-agent-fake-type "half a thought")
      (kill-buffer)
      (org-agent-fake-wait (org-agent-fake-requests "session/leave"))
      (should (equal (org-agent-fake-file-text) "* half a thought"))
      (org-agent-chat)
      (should (equal (org-agent-fake-text) "* half a thought")))))

(ert-deftest org-agent-file-owner-any-text ()
  "Every character survives saving and reading."
  (org-agent-fake-with-chat
    (let ((text "caf\u00e9 \u4e16\u754c \U0001f600 \u200b \ufeff x\ty \u00a0 \u2028 end"))
      (org-agent-fake-say text)
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
      (kill-buffer)
      (org-agent-chat)
      (should (equal (org-agent-heading-question-text (point-min)) text)))))

(provide 'org-agent-file-owner-test)
;;; org-agent-file-owner-test.el ends here
