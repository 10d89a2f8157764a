;;; org-agent-ask-test.el --- Tests of asking from any buffer  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Questions from buffers that are no conversations, with the real kernel.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-agent-kernel-test)
(require 'org-agent-approval-test)
(require 'org-agent-question-test)
(require 'org-agent-answer)
(require 'org-agent-approval)
(require 'org-agent-ask)
(require 'org-agent-chat)
(require 'org-agent-question)
(require 'org-agent-turn)

(defun org-agent-ask-test--reply (text)
  "Return exchanges with one reply that inserts TEXT."
  (list (org-agent-kernel-test--exchange (org-agent-kernel-test--envelope text))))

(defun org-agent-ask-test--settle (answers)
  "Wait for ANSWERS in the main conversation, and that nothing is waited for."
  (with-current-buffer "*org-agent-chat*"
    (org-agent-kernel-test--settle answers))
  (org-agent-fake-wait (null org-agent-turn--awaited) "the end of a turn"))

(defun org-agent-ask-test--undo ()
  "Undo one step."
  (let ((last-command 'ignore)) (undo-boundary) (undo)))

(ert-deftest org-agent-ask-in-the-chat ()
  "A question is inserted before the draft; draft and buffer do not change."
  (org-agent-kernel-test--beside (org-agent-ask-test--reply "* Paris\nIt is.") "text"
    (org-agent-fake-type "my draft")
    (let ((tick (buffer-modified-tick)) (kill-ring nil))
      (org-agent-ask "What is the capital?")
      (org-agent-ask-test--settle 1)
      (should (= tick (buffer-modified-tick)))
      (should-not kill-ring))
    (with-current-buffer "*org-agent-chat*"
      (should (equal (org-agent-kernel-test--shape)
                     '((1 "What is the capital?") (2 "Paris") (1 "my draft")))))))

(ert-deftest org-agent-ask-shows-where-the-answer-comes ()
  "The conversation is beside what one works on, with room below the question."
  (org-agent-kernel-test--beside (org-agent-ask-test--reply "* Paris\nIt is.") "text"
    (save-window-excursion
      (delete-other-windows)
      (switch-to-buffer "*scratch*")
      (let* ((chat (get-buffer "*org-agent-chat*"))
             (window (display-buffer chat '((display-buffer-pop-up-window)
                                            (inhibit-same-window . t)))))
        (with-current-buffer chat
          (org-agent-heading-widely
            (goto-char (point-min))
            (let ((inhibit-read-only t))
              (insert (mapconcat #'number-to-string (number-sequence 1 50) "\n")
                      "\n"))))
        (set-window-start window 1)
        (org-agent-ask "What is the capital?")
        (with-current-buffer chat
          (let ((heading (org-agent-heading-find
                          (org-agent-heading-property
                           (save-excursion
                             (goto-char (point-min))
                             (search-forward "What is the capital?")
                             (line-beginning-position))
                           "ID"))))
            (should (= heading (window-point window)))
            (should (<= (count-lines (window-start window) heading)
                        (/ (window-body-height window) 3)))))
        (org-agent-ask-test--settle 1)))))

(ert-deftest org-agent-ask-in-the-conversation-in-use ()
  "A question goes to the conversation that was seen last."
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
  "The region is attached; the conversation names it and does not show it."
  (org-agent-kernel-test--beside
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
  "An attachment that is impossible is reported before the question is read."
  (org-agent-kernel-test--beside nil (make-string 3000000 ?x)
    (let ((transient-mark-mode t))
      (goto-char (point-min))
      (push-mark (point-max) t t)
      (should-error (org-agent-ask--arguments nil) :type 'user-error)
      (should (zerop (org-agent-kernel-test--answers))))))

(ert-deftest org-agent-ask-at-point ()
  "The answer is inserted at the old point, as one undo step."
  (org-agent-kernel-test--beside (org-agent-ask-test--reply "* Heading\nOne\n\nTwo") "before after"
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
  "In Org the headings of the answer are below the heading at point."
  (org-agent-kernel-test--beside (org-agent-ask-test--reply "* Top\nText\n** Sub\nMore\n*** Deep") "* A\n** B\n\n"
    (delay-mode-hooks (org-mode))
    (goto-char (point-max))
    (org-agent-ask "Well?" nil 'insert)
    (org-agent-ask-test--settle 1)
    (should (equal (buffer-string) "* A\n** B\n\nText\n*** Sub\nMore\n**** Deep"))))

(ert-deftest org-agent-ask-when-the-place-is-gone ()
  "If the position is gone, changed or read-only, the answer is only shown."
  (dolist (change (list (lambda () (kill-buffer))
                        (lambda () (erase-buffer) (insert "all other text"))
                        (lambda () (setq buffer-read-only t))
                        (lambda () (add-text-properties 1 (point-max) '(read-only t front-sticky t)))))
    (org-agent-kernel-test--beside (org-agent-ask-test--reply "* H\nThe answer") "some text"
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
  "A failed turn inserts nothing and reports the reason."
  (org-agent-kernel-test--beside (list '((status . 400))) "text"
    (org-agent-ask "Well?" nil 'insert)
    (ert-with-message-capture messages
      (org-agent-fake-wait (null org-agent-turn--awaited))
      (should (string-match-p "nothing was inserted" messages)))
    (should (equal (buffer-string) "text"))))

(ert-deftest org-agent-ask-over-a-kernel-that-dies ()
  "An answer still arrives after the kernel was killed and restarted."
  (org-agent-kernel-test--beside
      (list (org-agent-kernel-test--held
             (org-agent-kernel-test--envelope (org-agent-kernel-test--long 400))))
      "text"
    (org-agent-ask "Well?" nil 'insert)
    (org-agent-fake-wait (with-current-buffer "*org-agent-chat*"
                           org-agent-answer-previews))
    (signal-process (org-agent-kernel-test--pid) 'SIGKILL)
    (org-agent-kernel-test--let-go)
    (ert-with-message-capture messages
      (org-agent-fake-wait (null org-agent-turn--awaited))
      (should (string-match-p "nothing was inserted\\|came in" messages)))))

(ert-deftest org-agent-ask-where-the-conversation-is-killed ()
  "An answer is inserted even if no buffer shows its conversation any more."
  (org-agent-kernel-test--beside
      (list (org-agent-kernel-test--held
             (org-agent-kernel-test--envelope (org-agent-kernel-test--long 40))))
      "text "
    (goto-char (point-max))
    (org-agent-ask "Well?" nil 'insert)
    (org-agent-fake-wait (with-current-buffer "*org-agent-chat*"
                           org-agent-answer-previews))
    (kill-buffer "*org-agent-chat*")
    (org-agent-kernel-test--let-go)
    (org-agent-fake-wait (null org-agent-turn--awaited))
    (org-agent-fake-wait (string-match-p "word40" (buffer-string)))))

(ert-deftest org-agent-ask-here-shows-that-it-waits ()
  "Until the answer comes one sees where it will, and the mode line says so.
A command stops that, and then nothing is inserted."
  (org-agent-kernel-test--beside
      (list (org-agent-kernel-test--held (org-agent-kernel-test--envelope "It is Samarkand."))
            (org-agent-kernel-test--held (org-agent-kernel-test--envelope "It is Bukhara.")))
      "text  text"
    (cl-flet ((shown () (mapcar (lambda (overlay) (overlay-get overlay 'after-string))
                                (overlays-in (point-min) (point-max)))))
      (goto-char 6)
      (org-agent-ask-here "Where?")
      (should (string-match-p "the answer comes in here" (car (shown))))
      (should (format-mode-line minor-mode-alist))
      (should org-agent-pending--overlays)
      (org-agent-kernel-test--let-go)
      (org-agent-fake-wait (null org-agent-turn--awaited))
      (org-agent-fake-wait (equal (buffer-string) "text It is Samarkand. text"))
      (should-not (shown))
      (goto-char 6)
      (org-agent-ask-here "And where?")
      (should (shown))
      (org-agent-stop-here)
      (should-not (shown))
      (should-not org-agent-turn--awaited)
      (should (equal (buffer-string) "text It is Samarkand. text")))))

(ert-deftest org-agent-ask-inserts-on-lines-of-their-own ()
  "An answer does not run into the last word of a line, and goes on behind a blank."
  (pcase-dolist (`(,before ,answer ,after ,want)
                 '(("" "It is." "" "It is.")
                   ("Timur built it." "It is." "" "Timur built it.\nIt is.")
                   ("Timur built it." "It is." "\nMore" "Timur built it.\nIt is.\nMore")
                   ("It was built by " "Timur" "" "It was built by Timur")
                   ("It was (" "1370" ")" "It was (1370)")
                   ("Timur." "a\nb" "" "Timur.\na\nb")
                   ("* T\n" "a\nb" "c" "* T\na\nb\nc")))
    (with-temp-buffer
      (org-mode)
      (insert before)
      (setq org-agent-ask-latest (cons answer nil))
      (save-excursion (insert after))
      (org-agent-ask-insert-latest)
      (should (equal (buffer-string) want)))))

(ert-deftest org-agent-ask-window-shows-no-markup ()
  "In the small window an answer looks as on the page: marks are not seen."
  (org-agent-kernel-test--beside
      (org-agent-ask-test--reply "* The *best*\nIt is *Samarkand*, see [[https://x.org][there]].\n- =so= it is\n")
      "text"
    (org-agent-ask "Well?" nil 'window)
    (org-agent-fake-wait (null (org-agent-chat-get :turn)))
    (with-current-buffer org-agent-ask-buffer
      (org-agent-fake-wait (string-search "so= it is" (buffer-string)))
      (let ((seen (apply #'string
                         (cl-loop for position from (point-min) below (point-max)
                                  unless (invisible-p position)
                                  collect (char-after position)))))
        (should (string-suffix-p "The best\nIt is Samarkand, see there.\n- so it is" (string-trim seen))))
      (goto-char (point-min))
      (search-forward "Samarkand")
      (should (memq 'bold (ensure-list (get-text-property (1- (point)) 'face)))))))

(ert-deftest org-agent-ask-in-a-window ()
  "The small window shows the answer as it streams in, without drawers."
  (org-agent-kernel-test--beside
      (list (org-agent-kernel-test--held
             (org-agent-kernel-test--envelope (org-agent-kernel-test--long 200)) 40))
      "text"
    (org-agent-ask "Well?" nil 'window)
    (org-agent-fake-wait (with-current-buffer org-agent-ask-buffer
                           (string-match-p "word20" (buffer-string))))
    (should (with-current-buffer "*org-agent-chat*" org-agent-answer-previews))
    (org-agent-kernel-test--let-go)
    (org-agent-ask-test--settle 1)
    (org-agent-fake-wait (with-current-buffer org-agent-ask-buffer
                           (string-match-p "word200$" (buffer-string))))
    (with-current-buffer org-agent-ask-buffer
      (should (string-match-p "\\`\\* Well\\?\n\\*\\* Long answer\n" (buffer-string)))
      (should-not (string-match-p ":ID:\\|:agent:" (buffer-string))))
    ;; Its ways are its own: every other buffer reverts as before.
    (should (eq (default-value 'revert-buffer-function)
                #'revert-buffer--default))
    ;; What is asked in another conversation is shown there, and not below what was said here.
    (should (get-buffer-window org-agent-ask-buffer))
    (org-agent-ask "And now?" "other" 'chat)
    (should-not (get-buffer org-agent-ask-buffer))
    (org-agent-fake-wait (get-buffer-window "*org-agent-chat: other*"))))

(defun org-agent-ask-test--shown (regexp)
  "Wait until the small window shows REGEXP; go there, in its buffer."
  (org-agent-fake-wait
   (with-current-buffer org-agent-ask-buffer
     (goto-char (point-min))
     (re-search-forward regexp nil t))
   (with-current-buffer org-agent-ask-buffer (buffer-string)))
  (set-buffer org-agent-ask-buffer)
  (forward-line 0))

(ert-deftest org-agent-ask-window-decides ()
  "The small window shows the approvals of its turn, and they are decided there."
  (dolist (decision (list (cons #'org-agent-allow-once "DONE Approved once")
                          (cons (lambda () (org-agent-deny "no")) "CANCELLED Refused")))
    (org-agent-approval-test--with
        (org-agent-approval-test--action :action :insert-at-end
                                         :buffer "*org-agent-chat: other*"
                                         :text "All of it\nhere")
      (unwind-protect
          (with-temp-buffer
            (org-agent-ask "do it" nil 'window)
            (org-agent-ask-test--shown "    All of it\n    here")
            (should-not (string-match-p "TODO" (buffer-string)))
            (goto-char (point-min))
            (should (looking-at-p "It waits for you: C-c C-c"))
            (should (eq (key-binding (kbd "C-c C-c")) 'org-agent-allow-once))
            (should (eq (key-binding (kbd "o")) 'org-agent-allow-once))
            (should (eq (key-binding (kbd "C-c C-k")) 'org-agent-deny))
            (funcall (car decision))
            (org-agent-ask-test--shown (cdr decision))
            (should-not (text-property-not-all (point-min) (point-max)
                                               'org-agent-section nil))
            (org-agent-ask-test--shown "^\\*\\* Well")
            (should-not (string-match-p ":CALLS:\\|:END:" (buffer-string))))
        (kill-buffer org-agent-ask-buffer)))))

(ert-deftest org-agent-ask-window-answers ()
  "The small window shows questions of its turn, which are answered there."
  (org-agent-question-test--with
      '(:title "Printing" :questions ((:question "Which printer?" :options ("laser" "ink") :name "printer")))
    (unwind-protect
        (with-temp-buffer
          (org-agent-ask "do it" nil 'window)
          (org-agent-ask-test--shown "Which printer\\? \\[laser | ink\\]")
          (should (eq (key-binding (kbd "RET")) 'org-agent-question-fill))
          (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "ink")))
            (call-interactively #'org-agent-question-fill))
          (org-agent-ask-test--shown "DONE Answered: Printing"))
      (kill-buffer org-agent-ask-buffer))))

(provide 'org-agent-ask-test)
;;; org-agent-ask-test.el ends here
