;;; org-agent-command-test.el --- Tests of commands and their input  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-start-test)
(require 'org-agent-kernel-test)
(require 'org-agent-command)
(require 'org-agent-kernel)
(require 'org-agent-send)

(defconst org-agent-command-test--commands
  '((:name "look" :description "Looks at the buffer." :skill "looker" :wants ("buffer"))
    (:name "plan" :description "Plans the day." :skill "planner" :wants ("agenda"))
    (:name "say" :description "Says it." :skill "sayer")))

(defmacro org-agent-command-test--with (&rest body)
  "Run BODY in a conversation whose kernel has commands."
  (declare (indent 0) (debug t))
  `(org-agent-fake-with-chat
     (push (cons "skill/list"
                 (lambda (_) (list :commands org-agent-command-test--commands)))
           org-agent-fake-answers)
     (run-hooks 'org-agent-kernel-ready-hook)
     (org-agent-fake-wait (= 3 (length org-agent-command-list)))
     ,@body))

(defun org-agent-command-test--event ()
  "Return the last event that was sent."
  (org-agent-fake-settle)
  (car (last (org-agent-fake-requests "event"))))

(defmacro org-agent-command-test--in (text &rest body)
  "Run BODY in a buffer \"looked-at\" with TEXT."
  (declare (indent 1) (debug t))
  `(let ((buffer (get-buffer-create "looked-at")))
     (unwind-protect
         (save-window-excursion
           (switch-to-buffer buffer)
           (insert ,text)
           ,@body)
       (with-current-buffer buffer
         (set-buffer-modified-p nil)
         (setq buffer-file-name nil))
       (kill-buffer buffer))))

(ert-deftest org-agent-command-sends-what-is-wanted ()
  "The buffer is sent with a command that requests it, and only then."
  (org-agent-command-test--with
    (goto-char (point-max))
    (insert "a draft")
    (org-agent-command-test--in "secret w\u00f6rds\n\x3fff80!"
      (let ((inhibit-message t)) (org-agent-command "look" " at it "))
      (let ((event (org-agent-command-test--event)))
        (should (equal (plist-get event :sensor) :user-command))
        (should (equal (plist-get event :command) "look"))
        (should (equal (plist-get event :text) "at it"))
        (should (equal (plist-get event :said)
                       "/look at it\nOn the buffer looked-at, 15 characters"))
        (should (equal (plist-get event :buffer)
                       '(:name "looked-at" :mode "fundamental-mode"
                         :text "secret w\u00f6rds\n\ufffd!"))))
      (should (eq (current-buffer) buffer))
      (let ((inhibit-message t)) (org-agent-command "say" ""))
      (let ((event (org-agent-command-test--event)))
        (should (equal (plist-get event :said) "/say"))
        (should-not (plist-member event :buffer))))
    (should-not (string-match-p "secret" (org-agent-fake-text)))
    (should (string-match-p "\\`\\* /look at it +:user:\n:PROPERTIES:\n:ID: +\\S-+\n:END:\nOn the buffer looked-at, 15 characters\n\\* /say +:user:\n\\(.*\n\\)\\{3\\}\\* a draft\\'"
                            (org-agent-fake-text)))))

(ert-deftest org-agent-command-region-and-limits ()
  "The region is sent alone, narrowing is respected, and a cut is reported."
  (org-agent-command-test--with
    (org-agent-command-test--in "one\ntwo\nthree\n"
      (cl-flet ((sent () (let ((inhibit-message t)) (org-agent-command "look"))
                         (org-agent-command-test--event)))
        (setq-local transient-mark-mode t)
        (goto-char 5) (push-mark 8 t t)
        (let ((event (sent)))
          (should (equal (plist-get (plist-get event :buffer) :text) "two"))
          (should (eq (plist-get (plist-get event :buffer) :region) t))
          (should (string-match-p "On lines 2-2 of the buffer" (plist-get event :said))))
        (deactivate-mark)
        (narrow-to-region 9 14)
        (let ((event (sent)))
          (should (equal (plist-get (plist-get event :buffer) :text) "three"))
          (should (string-match-p "as far as it is narrowed to" (plist-get event :said))))
        (widen)
        (erase-buffer)
        (insert (make-string 200001 ?\u4e16))
        (let ((event (sent)))
          (should (= 200000 (length (plist-get (plist-get event :buffer) :text))))
          (should (= 200001 (plist-get (plist-get event :buffer) :cut)))
          (should (string-match-p "the first 200000 of 200001" (plist-get event :said))))
        (erase-buffer)
        (insert "x")
        (setq buffer-file-name "/ssh:far.example:/home/a.org")
        (let ((event (sent)))
          (should (equal (plist-get (plist-get event :buffer) :remote) "far.example"))
          (should (string-match-p "a file of far.example" (plist-get event :said))))
        (setq buffer-file-name (expand-file-name "~/a]b\n[c.org"))
        (should (= 2 (length (split-string (plist-get (sent) :said) "\n"))))))))

(ert-deftest org-agent-command-private ()
  "Private buffers are never sent."
  (org-agent-command-test--with
    (org-agent-command-test--in "password"
      (dolist (name '(" hidden" "*auth-source*" "x.gpg" ".authinfo"))
        (rename-buffer name)
        (should-error (org-agent-command "look") :type 'user-error)
        (rename-buffer "looked-at"))
      (setq buffer-file-name (expand-file-name "~/.ssh/id"))
      (should-error (org-agent-command "look") :type 'user-error)
      (setq buffer-file-name (org-agent-state-file "token"))
      (make-directory (org-agent-state-file "") t)
      (should-error (org-agent-command "look") :type 'user-error)
      (setq buffer-file-name nil)
      (setq major-mode 'authinfo-mode)
      (should-error (org-agent-command "look") :type 'user-error)
      (setq major-mode 'fundamental-mode)
      (set-buffer-multibyte nil)
      (should-error (org-agent-command "look") :type 'user-error)
      (set-buffer-multibyte t))
    (org-agent-fake-settle)
    (should-not (org-agent-fake-requests "event"))
    (should-error (org-agent-command "nothing") :type 'user-error)))

(ert-deftest org-agent-command-in-the-draft ()
  "A draft that begins with a command runs it; a similar draft does not."
  (org-agent-command-test--with
    (save-window-excursion
      (delete-other-windows)
      (switch-to-buffer "*org-agent-chat*")
      (org-agent-fake-say "/LOOK here\nand there")
      (let ((event (org-agent-command-test--event)))
        (should (equal (plist-get event :command) "look"))
        (should (equal (plist-get event :text) "here\nand there"))
        (should (equal (plist-get event :said) "/LOOK here\nand there"))
        (should-not (plist-member event :buffer)))
      (let ((other (get-buffer-create "looked-at")))
        (with-current-buffer other (insert "words"))
        (set-window-buffer (split-window) other)
        (org-agent-fake-say "/look")
        (should (equal (plist-get (plist-get (org-agent-command-test--event) :buffer) :text)
                       "words"))
        (kill-buffer other))
      (should (string-match-p "^On the buffer looked-at, 5 characters$" (org-agent-fake-text)))
      (dolist (text '("/looks" "/home/me" "look" "a /look"))
        (org-agent-fake-say text)
        (let ((event (org-agent-command-test--event)))
          (should (equal (plist-get event :sensor) :chat-message))
          (should (equal (plist-get event :text) text)))))))

(defmacro org-agent-command-test--noting (messages)
  "Return a function for `message' that pushes what is said to MESSAGES."
  `(lambda (&rest arguments)
     (when (car arguments)
       (push (apply #'format-message arguments) ,messages))))

(defmacro org-agent-command-test--not-sent (messages &rest body)
  "Check that BODY, which sends /captrue call Ann, leaves it the draft.
MESSAGES is a variable that gets what is said meanwhile."
  (declare (indent 1) (debug t))
  `(progn
     (cl-letf (((symbol-function 'message) (org-agent-command-test--noting ,messages)))
       ,@body
       (org-agent-fake-wait
        (cl-find-if (lambda (line) (string-search "no command" line)) ,messages)))
     (should (member "org-agent: Not sent; it is still your draft: there is no command /captrue; did you mean /capture? To send it as it is, put a word before the /"
                     ,messages))
     (should (equal (org-agent-fake-text) "* /captrue call Ann"))
     (should-not org-agent-chat-outbox)))

(ert-deftest org-agent-command-mistyped-stays-draft ()
  "A name that is nearly that of a command is not sent, and stays the draft.
What only begins with a slash is a message."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Yes." (cons 'times -1)))
    (let (said)
      (org-agent-fake-wait org-agent-command-list)
      (org-agent-command-test--not-sent said
        (org-agent-kernel-test--say "/captrue call Ann"))
      (dolist (text '("/ is the root" "/etc/hosts has what?" "/nothingofthekind here"))
        (delete-region (+ 2 (org-agent-draft-start)) (point-max))
        (org-agent-kernel-test--say text)
        (org-agent-fake-wait (string-search (concat "* " text " ") (buffer-string))))
      (org-agent-kernel-test--settle 3))))

(defun org-agent-command-test--without-kernel ()
  "Stop the kernel of this conversation, and forget its commands."
  (let ((pid (org-agent-kernel-test--pid)))
    (org-agent-stop)
    (org-agent-fake-wait (org-agent-fake-ended-p pid)))
  (org-agent-fake-wait (not org-agent-chat-attached))
  (setq org-agent-command-list nil))

(ert-deftest org-agent-command-mistyped-before-a-kernel-runs ()
  "What is mistyped while no kernel runs stays the draft as well.
The draft is in the file meanwhile, and a command that there is, is sent."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Yes." (cons 'times -1)))
    (let (said)
      (org-agent-command-test--without-kernel)
      (org-agent-command-test--not-sent said
        (org-agent-kernel-test--say "/captrue call Ann")
        (should (equal (car said) "Your draft is sent when the kernel has started and checked it"))
        (should (equal (org-agent-fake-text) "* /captrue call Ann")))
      (org-agent-kernel-test--settle 0)
      (delete-region (+ 2 (org-agent-draft-start)) (point-max))
      (org-agent-command-test--without-kernel)
      (org-agent-kernel-test--say "/summarise")
      (org-agent-kernel-test--settle 1)
      (should (string-prefix-p "* /summarise  " (org-agent-fake-text)))
      (should (string-search "\nI was given no text." (org-agent-fake-text))))))

(ert-deftest org-agent-command-mistyped-in-a-question ()
  "What is mistyped in a question while no kernel runs is refused, and not asked.
A command that there is, is sent."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Yes." (cons 'times -1)))
    (let (said)
      (org-agent-command-test--without-kernel)
      (cl-letf (((symbol-function 'message) (org-agent-command-test--noting said)))
        (org-agent-ask "/captrue call Ann" "main" 'chat)
        (org-agent-fake-wait
         (cl-some (lambda (line)
                    (string-match-p "there is no command /captrue; did you mean /capture" line))
                  said)))
      (should (equal (org-agent-fake-text) "* "))
      (should-not org-agent-chat-outbox)
      (org-agent-command-test--without-kernel)
      (org-agent-ask "/nothingofthekind here" "main" 'chat)
      (org-agent-kernel-test--settle 1)
      (org-agent-command-test--without-kernel)
      (org-agent-ask "/summarise" "main" 'chat)
      (org-agent-kernel-test--settle 2)
      (should (string-match-p "^\\* /nothingofthekind here  " (org-agent-fake-text)))
      (should (string-match-p "^\\* /summarise  " (org-agent-fake-text)))
      (should (string-search "\nI was given no text." (org-agent-fake-text))))))

(ert-deftest org-agent-command-without-any-kernel ()
  "Where no kernel starts, what may be a command stays the draft, and why is said."
  (org-agent-fake-with-home
    (let ((org-agent-program (org-agent-kernel-start-test--program "exit 1"))
          said)
      (org-agent-chat)
      (with-current-buffer "*org-agent-chat*"
        (org-agent-fake-wait (eq org-agent-kernel-state 'failed))
        (setq org-agent-command-list nil)
        (cl-letf (((symbol-function 'message) (org-agent-command-test--noting said)))
          (dotimes (n 2)
            (if (zerop n) (org-agent-kernel-test--say "/captrue call Ann") (org-agent-send))
            (org-agent-fake-wait
             (= (1+ n) (cl-count-if (lambda (line)
                                      (string-match-p "Not sent; it is still your draft: The kernel did not start" line))
                                    said)))))
        (should (equal (org-agent-fake-text) "* /captrue call Ann"))
        (org-agent-fake-start)
        (org-agent-fake-wait (eq org-agent-chat-attached t))
        (org-agent-fake-settle)
        (should-not (org-agent-fake-requests "event"))
        (should (equal (org-agent-fake-text) "* /captrue call Ann"))))))

(ert-deftest org-agent-command-draft-changed-before-a-kernel-ran ()
  "A draft that was changed while it waited for a kernel is not sent."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Yes." (cons 'times -1)))
    (org-agent-command-test--without-kernel)
    (org-agent-kernel-test--say "/summarise")
    (org-agent-fake-type " of whom?")
    (let (said)
      (cl-letf (((symbol-function 'message) (org-agent-command-test--noting said)))
        (org-agent-fake-wait
         (cl-find "Not sent: the draft has changed meanwhile; C-c C-c sends it now"
                  said :test #'equal)))
      (should (equal (org-agent-fake-text) "* /summarise of whom?")))))

(ert-deftest org-agent-command-sent-again ()
  "A refused command is sent again with the same input."
  (org-agent-command-test--with
    (push (cons "event" (lambda (_) '(:error (:code -32000 :message "full"))))
          org-agent-fake-answers)
    (org-agent-command-test--in "the text"
      (let ((inhibit-message t)) (org-agent-command "look" "at it"))
      (let ((first (org-agent-command-test--event)))
        (should (equal (plist-get first :command) "look"))
        (erase-buffer)
        (with-current-buffer "*org-agent-chat*"
          (goto-char (point-min))
          (org-agent-fake-wait (org-agent-send-unsent-p (point)))
          (setf (alist-get "event" org-agent-fake-answers nil nil #'equal)
                (lambda (params) (list :event (plist-get params :id) :turn "t")))
          (org-agent-chat-ctrl-c-ctrl-c)
          (should (equal (org-agent-command-test--event) first))
          (org-agent-fake-wait (not (org-agent-send-unsent-p (point)))))))
    ;; What another Emacs had sent it with is not known here.
    (org-agent-send-mark (point-min) t)
    (setq org-agent-send--commands nil)
    (goto-char (point-min))
    (should-error (org-agent-chat-ctrl-c-ctrl-c) :type 'user-error)
    (should (= 2 (length (org-agent-fake-requests "event"))))
    ;; One that has all it needs in its words is given as what it is.
    (let ((inhibit-message t)) (org-agent-command "say" "hello"))
    (let ((said (org-agent-command-test--event)))
      (goto-char (point-max))
      (search-backward "* /say")
      (org-agent-send-mark (point) t)
      (org-agent-chat-ctrl-c-ctrl-c)
      (should (equal (org-agent-command-test--event) said)))))

(ert-deftest org-agent-command-completes ()
  "Names are completed after a slash at the beginning of the draft only."
  (org-agent-command-test--with
    (goto-char (point-max))
    (insert "/lo")
    (completion-at-point)
    (should (equal (buffer-substring (line-beginning-position) (point)) "* /look"))
    (should (equal (org-agent-command--annotate "say") "             Says it."))
    (insert " /pl")
    (should-not (org-agent-command-completion))
    (insert "\n* /pl")
    (should-not (org-agent-command-completion))
    (org-agent-fake-notify "skill/changed" :commands '((:name "new" :description "N" :skill "n")))
    (org-agent-fake-settle)
    (should (equal (all-completions "" #'org-agent-command--table) '("new")))))

(ert-deftest org-agent-command-agenda ()
  "Open tasks and dates of the agenda files are sent as data."
  (org-agent-command-test--with
    (let* ((today (format-time-string "%Y-%m-%d"))
           (file (expand-file-name "agenda.org" org-agent-fake-directory))
           (live (expand-file-name "live.org" org-agent-fake-directory))
           (org-agenda-files (list file live "/ssh:far.example:/x.org"
                                   (expand-file-name "missing.org" org-agent-fake-directory)))
           (org-agenda-skip-unavailable-files t))
      (write-region (concat "#+TODO: TODO WAIT | DONE\n* TODO Buy [[https://x.example][milk]] :home:\nSCHEDULED: <2020-01-02 Thu +1w>\n"
                            "* DONE Old\nSCHEDULED: <2020-01-02 Thu>\n* Plain\n* Meeting\n<" today " Sun 10:00>\n"
                            "* WAIT For her\n[2019-05-06 Mon] asked\n"
                            "* COMMENT TODO No\n* Put away :ARCHIVE:\n** TODO No\n")
                    nil file nil 'silent)
      (write-region "* x\n" nil live nil 'silent)
      (with-current-buffer (find-file-noselect live)
        (goto-char (point-max))
        (insert "* TODO Unsaved\nDEADLINE: <2020-02-03 Mon>\n"))
      (unwind-protect
          (let* ((inhibit-message t)
                 (event (progn (org-agent-command "plan") (org-agent-command-test--event)))
                 (agenda (plist-get event :agenda)))
            (should (equal (plist-get agenda :today) today))
            (should (equal (plist-get agenda :entries)
                           `((:heading "Buy milk" :file ,file :line 2 :todo "TODO" :tags ("home")
                                       :scheduled "2020-01-02" :touched "2020-01-02")
                             (:heading "Meeting" :file ,file :line 7 :timestamp ,today :touched ,today)
                             (:heading "For her" :file ,file :line 9 :todo "WAIT" :touched "2019-05-06")
                             (:heading "Unsaved" :file ,live :line 2 :todo "TODO"
                                       :deadline "2020-02-03" :touched "2020-02-03"))))
            (should (string-match-p "On the agenda, 4 entries of 2 files" (plist-get event :said)))
            (should-not (find-buffer-visiting file)))
        (with-current-buffer (find-buffer-visiting live)
          (set-buffer-modified-p nil)
          (kill-buffer))))))

(ert-deftest org-agent-command-real-kernel ()
  "A command of a note that is saved while Emacs runs is known and answered."
  (org-agent-kernel-test--with (list '((echo . t) (times . -1)))
    (let ((notes (expand-file-name "skills" (org-agent-home-directory))))
      (make-directory notes t)
      (write-region
       "#+begin_src lisp
(defskill :looker :commands ((\"peek\" \"Peeks at the buffer.\" :wants (:buffer)))
  :neuro (lambda (c) (let ((p (getf c :payload)))
           (list :type :response :text (format nil \"* Seen~%~a/~a/~a\" (getf p :text) (getf (getf p :buffer) :text) (getf (getf p :buffer) :name))))))
#+end_src\n"
       nil (expand-file-name "looker.org" notes) nil 'silent)
      (org-agent-fake-wait (org-agent-command--named "peek")))
    (org-agent-command-test--in "words"
      (let ((inhibit-message t)) (org-agent-command "peek" "now")))
    (with-current-buffer "*org-agent-chat*"
      (org-agent-kernel-test--settle 1)
      (should (equal (org-agent-kernel-test--shape)
                     '((1 "/peek now") (2 "Seen") (1 ""))))
      (should (string-match-p "^now/words/looked-at$" (buffer-string)))
      (should-not (string-match-p ":unsent:" (buffer-string))))))

(provide 'org-agent-command-test)
;;; org-agent-command-test.el ends here
