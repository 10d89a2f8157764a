;;; org-agent-approval-test.el --- Tests of approvals  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real kernel, and a skill that proposes what the model says.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-agenda)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-approval)
(require 'org-agent-chat)
(require 'org-agent-file-owner)
(require 'org-agent-kernel)
(require 'org-agent-question)

(defconst org-agent-approval-test--skill
  "#+TITLE: Do as the model says
#+begin_src lisp
(defskill :do :priority 90
  :trigger (lambda (context) (uiop:string-prefix-p \"do \" (getf (getf context :payload) :text)))
  :neuro (lambda (context) (ask-neuro (getf (getf context :payload) :text))))
#+end_src
"
  "A note whose skill proposes whatever the model replies.")

(defun org-agent-approval-test--action (&rest payload)
  "Return a reply with an action of Emacs with PAYLOAD."
  (prin1-to-string (append '(:type :request :target :emacs) payload)))

(defun org-agent-approval-test--file ()
  "Return the name of the note beside the home."
  (expand-file-name "note.org" org-agent-fake-directory))

(defmacro org-agent-approval-test--with (action &rest body)
  "Run BODY in a conversation in which \"do it\" makes the model propose ACTION.
`file' is a note beside the home, `id' what waits."
  (declare (indent 1) (debug t))
  `(let ((org-agent-kernel-test-configure
          #'org-agent-approval-test--write-notes))
     (org-agent-kernel-test--with
         (list (org-agent-kernel-test--exchange
                (let ((file (org-agent-approval-test--file)))
                  (ignore file)
                  ,action)
                '(match . "^do ") '(times . -1))
               (org-agent-kernel-test--exchange
                (org-agent-approval-test--action
                 :action :insert-at-end :text "Well")
                '(times . -1)))
       (let ((file (org-agent-approval-test--file))
             (home org-agent-home) (directory org-agent-fake-directory))
         (ignore home directory)
         (unwind-protect
             (progn ,@body)
           (dolist (name '("*org-agent-approvals*" "*org-agent-review*"
                           "*org-agent-action*"))
             (when (get-buffer name) (kill-buffer name)))
           (when-let* ((buffer (find-buffer-visiting file)))
             (with-current-buffer buffer (set-buffer-modified-p nil))
             (kill-buffer buffer)))))))

(defun org-agent-approval-test--write-notes (&rest _)
  "Write the skill that does what it is told, and the note beside the home."
  (let ((skills (expand-file-name "skills" org-agent-home)))
    (make-directory skills t)
    (write-region org-agent-approval-test--skill nil
                  (expand-file-name "do.org" skills) nil 'silent)
    (write-region "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"
                  nil (org-agent-approval-test--file) nil 'silent)))

(defun org-agent-approval-test--waits ()
  "Say \"do it\", wait until something waits, and return it."
  (org-agent-kernel-test--say "do it")
  (org-agent-fake-wait (org-agent-asks-of :approval))
  (org-agent-approval-test--decorated)
  (car (org-agent-asks-of :approval)))

(defun org-agent-approval-test--decorated ()
  "Wait until what waits can be decided in the conversation; go there."
  (with-current-buffer "*org-agent-chat*"
    (org-agent-fake-wait
     (text-property-not-all (point-min) (point-max) 'org-agent-asks nil))
    (goto-char (text-property-not-all (point-min) (point-max)
                                      'org-agent-asks nil))))

(defun org-agent-approval-test--edit (file &rest change)
  "Return a reply that edits FILE by CHANGE, :old and :new."
  (apply #'org-agent-approval-test--action :action :edit :file file change))

(defun org-agent-approval-test--text (file)
  "Return what FILE holds."
  (with-temp-buffer (insert-file-contents file) (buffer-string)))

(defun org-agent-approval-test--keys ()
  "Check which keys what waits at point has: letters on its last line only."
  (save-excursion
    (let* ((beg (point))
           (end (next-single-property-change beg 'org-agent-asks))
           (last (progn (goto-char end) (forward-line -1) (point))))
      (should (looking-at "=C-c C-c= yes, once    =C-c C-k= no    =v= look closely    =m= more choices$"))
      (goto-char beg)
      (while (< (point) end)
        (should (eq (key-binding (kbd "C-c C-c")) 'org-agent-allow-once))
        (dolist (key '("o" "t" "s" "A" "r" "d" "e" "v" "m"))
          (if (>= (point) last)
              (should (string-prefix-p
                       "org-agent-" (symbol-name (key-binding (kbd key)))))
            (should (eq (key-binding (kbd key)) 'org-self-insert-command))))
        (forward-char))
      ;; Behind it the person types.
      (should (eq (key-binding (kbd "o")) 'org-self-insert-command)))))

(defun org-agent-approval-test--in-the-agenda ()
  "Check that what waits is one line of the agenda, which can be made."
  (let ((org-agenda-files (list (org-agent-fake-file "main")))
        (text (org-agent-fake-text))
        kill-ring kill-ring-yank-pointer)
    (save-window-excursion
      (save-current-buffer
        (org-todo-list)
        (should (= 1 (how-many "May I change ~/note.org" (point-min) (point-max))))
        (should-not (string-match-p "two" (buffer-string)))
        ;; Nothing of it is decided, or looks so, by what can be done there.
        (goto-char (point-min))
        (search-forward "May I ")
        (dolist (change (list #'org-agenda-todo
                              (lambda () (org-agenda-todo 'done))
                              #'org-agenda-priority-up
                              (lambda () (org-agenda-set-tags "x" 'on))
                              (lambda () (org-agenda-schedule nil "2026-11-23"))
                              (lambda ()
                                (cl-letf (((symbol-function 'org-read-property-name)
                                           (lambda () "A"))
                                          ((symbol-function 'org-read-property-value)
                                           (lambda (&rest _) "b")))
                                  (org-agenda-set-property)))
                              (lambda () (let ((org-agenda-confirm-kill nil))
                                           (org-agenda-kill)))))
          (save-current-buffer
            (should-error (funcall change))))
        (kill-buffer)))
    (with-current-buffer "*org-agent-chat*"
      (dolist (change (list #'org-cut-subtree #'org-todo #'org-demote-subtree
                            (lambda () (org-schedule nil "2026-11-23"))
                            #'org-toggle-comment #'org-priority-up))
        (should-error (funcall change) :type 'text-read-only)))
    (should (equal text (org-agent-fake-text)))))

(ert-deftest org-agent-approval-is-a-letter-in-the-list ()
  "The list gives reasons and changes as the conversation does."
  (let ((text (org-agent-approval--body
               '(:id "a" :language :diff :reason "it changes ~/x."
                     :effects ("it changes ~/x in Emacs" "it runs nothing")
                     :text "--- ~/x\n+++ ~/x\n@@ -1 +1 @@\n-a\n+b\n"))))
    (should (string-prefix-p "- it changes ~/x in Emacs
- it runs nothing
- you are asked because no rule of yours allows it

~/x  @@ -1 +1 @@
-a
+b
" text)))
  (should (equal "- it runs\n- you are asked because a row asks\n"
                 (org-agent-asks-letter '(:reason "a row asks" :effects ("it runs")))))
  (should (equal "" (org-agent-asks-letter nil)))
  ;; Two names are two rows: something is moved.
  (should (equal "--- x\n+++ y\n@@ -1 +1 @@\n-a"
                 (substring-no-properties
                  (org-agent-diff-page "--- x\n+++ y\n@@ -1 +1 @@\n-a")))))

(ert-deftest org-agent-approval-more-choices ()
  "The choices that a letter does not name are told by one that it names."
  (dolist (case '((?t . org-agent-allow-turn) (?s . org-agent-allow-session)
                  (?A . org-agent-allow-always) (?e . org-agent-approval-edit)))
    (let (called offered)
      (cl-letf (((symbol-function 'org-agent-approval-at-point)
                 (lambda () '(:id "a" :always t)))
                ((symbol-function 'call-interactively)
                 (lambda (command &rest _) (setq called command)))
                ((symbol-function 'read-multiple-choice)
                 (lambda (_prompt choices)
                   (setq offered choices)
                   (assq (car case) choices))))
        (org-agent-approval-more)
        (should (eq called (cdr case)))
        (should (= (length offered) 4)))
      ;; What does not come again is not offered always, and what can be
      ;; allowed once only is not offered for longer.
      (cl-letf (((symbol-function 'org-agent-approval-at-point)
                 (lambda () '(:id "a")))
                ((symbol-function 'call-interactively) #'ignore)
                ((symbol-function 'read-multiple-choice)
                 (lambda (_prompt choices) (setq offered choices) (car choices))))
        (org-agent-approval-more)
        (should (equal (mapcar #'car offered) '(?t ?s ?e))))
      (cl-letf (((symbol-function 'org-agent-approval-at-point)
                 (lambda () '(:id "a" :once t)))
                ((symbol-function 'call-interactively) #'ignore)
                ((symbol-function 'read-multiple-choice)
                 (lambda (_prompt choices) (setq offered choices) (car choices))))
        (org-agent-approval-more)
        (should (equal (mapcar #'car offered) '(?e)))))))

(ert-deftest org-agent-approval-in-the-conversation ()
  "An approval is read-only below its question, and can be allowed there."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit file :old "two\n" :new "2\n")
    (let ((approval (org-agent-approval-test--waits)))
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text)))
      (goto-char (point-max))
      (should (string-match-p "what waits for you is answered where it stands"
                              (cadr (should-error (org-agent-send)))))
      (undo-boundary)
      (org-agent-fake-type "my draft")
      (let ((undo buffer-undo-list)
            (kills kill-ring))
        (org-agent-approval-test--decorated)
        (should (looking-at "\\*\\* TODO May I change ~/note.org\\? +:agent:$"))
        (should (save-excursion (search-forward "#+begin_src diff\n" nil t)))
        (should (save-excursion (search-forward "\n-two\n+2\n" nil t)))
        (should (eq (key-binding (kbd "C-c C-c")) 'org-agent-allow-once))
        (org-agent-approval-test--keys)
        (should-error (insert "x") :type 'text-read-only)
        (should-error (org-todo 'done) :type 'text-read-only)
        (org-agent-approval-test--in-the-agenda)
        (should (plist-get approval :effects))
        ;; Org's own fontification leaves the keys alone.
        (font-lock-ensure)
        (should (eq (key-binding (kbd "C-c C-k")) 'org-agent-deny))
        (goto-char (point-max))
        (should (eq (key-binding (kbd "o")) 'org-self-insert-command))
        (should (eq undo buffer-undo-list))
        (org-agent-approval-test--decorated)
        (call-interactively (key-binding (kbd "C-c C-c")))
        (org-agent-kernel-test--settle 2)
        (should (eq kills kill-ring))
        ;; What is typed next goes into the draft.
        (should (= (point) (point-max)))
        (goto-char (point-min))
        (should (re-search-forward "^\\*\\* DONE Approved once: Change ~/note.org +:agent:$" nil t))
        (should-not (text-property-not-all (point-min) (point-max) 'org-agent-asks nil))
        (should (string-suffix-p "\n* my draft" (org-agent-fake-text)))
        (should (string-prefix-p "one\n2\nthree\n" (org-agent-approval-test--text file)))
        ;; The user's undo takes back what they typed meanwhile, then the turn.
        (goto-char (point-max))
        (let ((last-command nil)) (undo))
        (should (string-suffix-p "\n* " (org-agent-fake-text)))
        (should (string-match-p "Well" (org-agent-fake-text)))
        (setq last-command 'undo)
        (undo-more 1)
        (should-not (string-match-p "Well\\|DONE Approved" (org-agent-fake-text)))
        (should (string-suffix-p "\n* " (org-agent-fake-text)))
        (should (string-match-p "^\\* .*:user:" (org-agent-fake-text)))))))

(ert-deftest org-agent-approval-is-refused-with-a-reason ()
  "An approval is refused in the conversation, and the agent gets the reason."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit file :old "two\n" :new "2\n")
    (let ((id (plist-get (org-agent-approval-test--waits) :id)))
      ;; Who looked at the list before decides here all the same.
      (save-current-buffer
        (save-window-excursion
          (let ((told org-agent-asks-open))
            (org-agent-approvals)
            (org-agent-fake-wait (not (eq told org-agent-asks-open))))))
      (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "not\nnow")))
        (call-interactively (key-binding (kbd "C-c C-k"))))
      (org-agent-kernel-test--settle 2)
      (goto-char (point-min))
      (should (re-search-forward "^\\*\\* CANCELLED Refused: Change ~/note.org +:agent:$" nil t))
      (should (string-match-p "\ntwo\n" (org-agent-approval-test--text file)))
      (should-not (org-agent-asks-known id)))))

(ert-deftest org-agent-approvals-open-at-the-first ()
  "The list shows the title of what is asked, however it was left."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit file :old "two\n" :new "2\n")
    (cl-flet ((check ()
                (with-current-buffer "*org-agent-approvals*"
                  (org-agent-fake-wait (save-excursion (goto-char (point-min))
                                                       (search-forward "Approve: " nil t)))
                  (let ((window (get-buffer-window)))
                    (should window)
                    (should (= (window-start window) (point-min)))
                    (goto-char (window-point window))
                    (should (looking-at-p ".*Approve: "))))))
      (save-window-excursion
        ;; Somebody watches the list while nothing waits.
        (save-current-buffer
          (org-agent-approvals)
          (goto-char (point-max))
          (set-window-start nil (point-max)))
        (with-current-buffer "*org-agent-chat*"
          (org-agent-approval-test--waits))
        (check)
        ;; It was left at its end.
        (with-current-buffer "*org-agent-approvals*"
          (set-window-point (get-buffer-window) (point-max))
          (set-window-start (get-buffer-window) (point-max))
          (goto-char (point-max)))
        (delete-windows-on "*org-agent-approvals*")
        (save-current-buffer (org-agent-approvals))
        (check)))))

(ert-deftest org-agent-approval-survives-everything ()
  "The kernel dies, the file is edited, and the buffer is opened again."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit file :old "two\n" :new "2\n")
    (let ((id (plist-get (org-agent-approval-test--waits) :id)))
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
        (org-agent-approval-test--decorated)
        ;; Somebody edits the file: what stands there now decides nothing.
        (let ((text (org-agent-fake-file-text)))
          (write-region (string-replace "+2\n" "+3\n" text) nil
                        (org-agent-fake-file "main") nil 'silent)
          (set-file-times (org-agent-fake-file "main") (time-add nil 10)))
        (org-agent-file-owner-look)
        (goto-char (point-min))
        (search-forward "+3")
        (should-error (org-agent-allow-once) :type 'user-error)
        (should-not (eq (key-binding (kbd "o")) 'org-agent-allow-once))
        (should-error (org-agent-chat-ctrl-c-ctrl-c) :type 'user-error)
        (should (org-agent-asks-known id))
        ;; The list has it, as the kernel does.
        (save-current-buffer (org-agent-approvals))
        (with-current-buffer "*org-agent-approvals*"
          (org-agent-fake-settle)
          (goto-char (point-min))
          (search-forward "+2")
          (org-agent-deny ""))
        (org-agent-kernel-test--settle 2)
        (should (string-match-p "CANCELLED Refused" (org-agent-fake-text)))
        (should (string-match-p "\\+3" (org-agent-fake-text)))))))

(defun org-agent-approval-test--shipped-chat ()
  "Have the shipped chat answer what \"do it\" says."
  (delete-file (expand-file-name "skills/do.org" org-agent-home))
  (let (loaded)
    (org-agent-kernel-request "skill/reload" nil
                              :success (lambda (_) (setq loaded t)))
    (org-agent-fake-wait loaded)))

(ert-deftest org-agent-approval-in-the-shipped-chat ()
  "A change that the model proposes needs an approval, and is made after it."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit "~/note.org" :old "two\n" :new "2\n")
    (org-agent-approval-test--shipped-chat)
    (org-agent-approval-test--waits)
    (call-interactively (key-binding (kbd "C-c C-c")))
    (org-agent-kernel-test--settle 2)
    (should (string-match-p "DONE Approved once: Change ~/note.org" (org-agent-fake-text)))
    (should (string-match-p "Well" (org-agent-fake-text)))
    (should (string-prefix-p "one\n2\nthree\n" (org-agent-approval-test--text file)))))

(ert-deftest org-agent-approval-of-what-cannot-be-done ()
  "If a change cannot be made, the model is told at once, and nobody is asked.
That is for a file that may be read: what it lacks tells what is in it."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit "~/note.org" :old "one\ntoo\nthree\n" :new "2\n")
    (org-agent-approval-test--shipped-chat)
    (with-temp-file (expand-file-name "policy.org" org-agent-home)
      (insert "* Rules\n\n| rule  | matches    | verdict | why | since |\n|-------+------------+---------+-----+-------|\n"
              "| reads | ~/note.org | allow   |     |       |\n"))
    (org-agent-kernel-test--say "do it")
    (org-agent-kernel-test--settle 1)
    (should-not (org-agent-asks-of :approval))
    (should-not (string-match-p "Approve" (org-agent-fake-text)))
    (should (string-match-p "Well" (org-agent-fake-text)))
    (should (string-match-p "refused .*:\n.*\n\\(?:: .*\n\\)*:   -too\n:   \\+two\n" (org-agent-fake-text)))))

(ert-deftest org-agent-approval-list-keeps-every-window ()
  "A redraw keeps point and the position of every window."
  (org-agent-fake-with-chat
    (dotimes (n 5)
      (org-agent-fake-notify
       "ask/opened" :sort :approval :id (format "a%d" n) :session "s" :turn "t" :event "e"
       :action "(:a)" :hash "h" :reason "because" :asked "2026-11-22T10:00:00Z"
       :summary (format "Number %d" n) :text "one\ntwo\nthree\n" :language :text))
    (org-agent-fake-wait (= 5 (length (org-agent-asks-of :approval))))
    (save-window-excursion
      (delete-other-windows)
      (with-current-buffer (get-buffer-create "*org-agent-approvals*")
        (org-agent-approval-mode)
        (org-agent-approval-draw)
        (let ((window (split-window)))
          (set-window-buffer window (current-buffer))
          (goto-char (point-min))
          (search-forward "Number 3")
          (forward-line 3)
          (set-window-point window (point))
          (goto-char (point-min))
          (search-forward "Number 1")
          (org-agent-fake-notify "ask/closed" :sort :approval :id "a0" :session "s")
          (org-agent-fake-wait (= 4 (length (org-agent-asks-of :approval))))
          (should (looking-back "Number 1" (line-beginning-position)))
          (goto-char (window-point window))
          (should (looking-at "    one"))
          (forward-line -3)
          (should (looking-at ". Approve: Number 3  (s, 2026-[-0-9: ]+)$")))))
    (kill-buffer "*org-agent-approvals*")))

(ert-deftest org-agent-approval-list-is-read-undisturbed ()
  "New and closed approvals fold nothing and move nothing.
The chosen one stays under point, and a button acts on its own approval."
  (org-agent-fake-with-chat
    (let ((notify (lambda (id &rest more)
                    (apply #'org-agent-fake-notify "ask/opened" :sort :approval :id id
                           :session "s" :turn "t" :event "e" :action "(:a)"
                           :hash "h" :asked "2026-11-22T10:00:00Z"
                           :summary (concat "Number " id)
                           (or more '(:text "-one\n+two\n" :language :diff)))))
          (closed (lambda (id)
                    (org-agent-fake-notify "ask/closed" :sort :approval :id id :session "s")
                    (org-agent-fake-wait (not (org-agent-asks-known id))))))
      (dolist (id '("a" "b" "c"))
        (funcall notify id))
      (org-agent-fake-wait (= 3 (length (org-agent-asks-of :approval))))
      (save-window-excursion
        (with-current-buffer (pop-to-buffer "*org-agent-approvals*")
          (org-agent-approval-mode)
          (org-agent-approval-draw)
          (should (eq (key-binding (kbd "o")) 'org-agent-allow-once))
          (org-agent-section-toggle)
          (search-forward "Number b")
          (search-forward "+two")
          (should (eq 'diff-added (get-text-property (1- (point)) 'face)))
          (set-window-start nil (line-beginning-position))
          (funcall notify "d" :once t :text "x\n" :language :text)
          (org-agent-fake-wait (org-agent-asks-known "d"))
          (funcall closed "c")
          (should (looking-back "^    \\+two" (line-beginning-position)))
          (should (= (window-start) (line-beginning-position)))
          (should (save-excursion
                    (goto-char (point-min))
                    (looking-at "▸ Approve: Number a .*\n▾ Approve: Number b ")))
          (funcall closed "a")
          (should (looking-back "^    \\+two" (line-beginning-position)))
          (should (= (window-start) (line-beginning-position)))
          ;; What can be allowed once only offers nothing else.
          (search-forward "Number d")
          (should-not (search-forward "Always" nil t))
          (search-forward "Refuse")
          (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "no")))
            (push-button (1- (point))))
          (org-agent-fake-wait (org-agent-fake-requests "ask/decide"))
          (should (equal (plist-get (car (org-agent-fake-requests "ask/decide")) :id)
                         "d"))))
      (kill-buffer "*org-agent-approvals*"))))

(ert-deftest org-agent-approval-list-guards-what-came-under-point ()
  "A key for an approval that was closed does not allow the next one."
  (org-agent-fake-with-chat
    (dolist (id '("a" "b" "c"))
      (org-agent-approval-test--ask :approval id "s"))
    (org-agent-fake-wait (= 3 (length (org-agent-asks-of :approval))))
    (save-window-excursion
      (with-current-buffer (pop-to-buffer "*org-agent-approvals*")
        (org-agent-approval-mode)
        (org-agent-approval-draw)
        (org-agent-fake-notify "ask/closed" :sort :approval :id "a" :session "s")
        (org-agent-fake-wait (not (org-agent-asks-known "a")))
        (should (equal "b" (plist-get (org-agent-approval-at-point) :id)))
        (should-error (org-agent-allow-once) :type 'user-error)
        (should-not (org-agent-fake-requests "ask/decide"))
        (setq org-agent-approval--moved 0)
        (org-agent-allow-once)
        ;; What was decided here leaves its place to the next at once.
        (org-agent-fake-wait (not (org-agent-asks-known "b")))
        (org-agent-allow-once)
        (org-agent-fake-wait (not (org-agent-asks-of :approval)))
        (should (equal '("b" "c")
                       (mapcar (lambda (params) (plist-get params :id))
                               (org-agent-fake-requests "ask/decide"))))))
    (kill-buffer "*org-agent-approvals*")))

(defun org-agent-approval-test--ask (kind id session)
  "Have the kernel ask ID in SESSION: KIND is :approval or :question."
  (org-agent-fake-notify
   "ask/opened" :sort kind :id id :session session :turn "t" :event "e"
   :action "(:a)" :hash "h" :reason "because" :asked "2026-11-22T10:00:00Z"
   :summary id :text "one\n" :language :text :form (list :title id)))

(ert-deftest org-agent-approval-last-one-goes-on ()
  "The header line shows that approvals wait until the last one is decided.
This is so after a rename, too."
  (org-agent-fake-with-chat
    (unwind-protect
        (let ((phase (lambda () (org-agent-fake-settle) (org-agent-chat-get :phase))))
          (org-agent-approval-test--ask :approval "a1" "main")
          (org-agent-approval-test--ask :question "q1" "main")
          (org-agent-approval-test--ask :question "q2" "main")
          (org-agent-fake-wait (= 2 (length (org-agent-asks-of :question))))
          (org-agent-fake-notify "ask/closed" :sort :question :id "q1" :session "main")
          (org-agent-fake-wait (not (org-agent-asks-known "q1")))
          (should (eq (funcall phase) 'waiting))
          (org-agent-fake-notify "ask/closed" :sort :approval :id "a1" :session "main")
          (org-agent-fake-wait (not (org-agent-asks-of :approval)))
          (should (eq (funcall phase) 'waiting))
          (org-agent-fake-notify "session/renamed" :session "main" :to "other"
                                 :file (org-agent-fake-file "other"))
          (org-agent-fake-wait (equal org-agent-chat-session "other"))
          (should (equal (plist-get (car (org-agent-asks-of :question)) :session)
                         "other"))
          (org-agent-approval-test--ask :approval "a2" "other")
          (org-agent-fake-wait (org-agent-asks-of :approval))
          (org-agent-fake-notify "ask/closed" :sort :approval :id "a2" :session "other")
          (org-agent-fake-wait (not (org-agent-asks-of :approval)))
          (should (eq (funcall phase) 'waiting))
          (org-agent-fake-notify "ask/closed" :sort :question :id "q2" :session "other")
          (org-agent-fake-wait (not (org-agent-asks-of :question)))
          (should (eq (funcall phase) 'thinking)))
      (setq org-agent-asks-open nil))))

(ert-deftest org-agent-approval-closed-while-folded ()
  "A folded approval stays folded when it is decided, and its heading is shown."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit file :old "two\n" :new "2\n")
    (let ((id (plist-get (org-agent-approval-test--waits) :id)))
      (outline-hide-subtree)
      (should (zerop (call-process org-agent-program nil nil nil "--home" home
                                   "approve" id "--deny" "no")))
      (org-agent-kernel-test--settle 2)
      (org-agent-fake-wait
       (progn (goto-char (point-min))
              (re-search-forward "^\\(\\*\\* \\)CANCELLED Refused: .*:agent:$" nil t)))
      (dolist (seen (list (match-beginning 0) (match-end 1) (1- (point))))
        (should-not (invisible-p seen)))
      (search-forward "You, in a shell")
      (should (invisible-p (point)))
      (should (re-search-forward "^\\*\\* Well" nil t))
      (should-not (get-char-property (point) 'invisible)))))

(ert-deftest org-agent-approval-words-decide-nothing ()
  "Who says yes in words is told how to decide, and the message waits."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit file :old "two\n" :new "2\n")
    (let ((approval (org-agent-approval-test--waits)))
      (ert-with-message-capture messages
        (org-agent-kernel-test--say "yes")
        (org-agent-fake-wait
         (string-search "words decide nothing (M-x org-agent-approvals)" messages)))
      (should (org-agent-asks-known (plist-get approval :id)))
      (should (string-search "\ntwo\n" (org-agent-approval-test--text file))))))

(ert-deftest org-agent-approval-decided-twice ()
  "A second decision at the same time reports the first one, and no failure."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit file :old "two\n" :new "2\n")
    (org-agent-approval-test--waits)
    (ert-with-message-capture messages
      (org-agent-allow-once)
      (should-error (org-agent-allow-once) :type 'user-error)
      (org-agent-kernel-test--settle 2)
      (should-not (string-match-p "Not decided" messages)))
    (should-not org-agent-approval--sent)))

(provide 'org-agent-approval-test)
;;; org-agent-approval-test.el ends here
