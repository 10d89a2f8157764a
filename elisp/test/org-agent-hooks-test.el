;;; org-agent-hooks-test.el --- Skills react to Org files  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What happens in an Org file is done as a person does it, and looked for in
;; what the kernel gets.  The last tests are with a real kernel and a skill.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-capture)
(require 'org-clock)
(require 'org-agenda)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-edit-test)
(require 'org-agent-hooks)

(defmacro org-agent-hooks-test--with (text files &rest body)
  "Run BODY in a buffer of `file', which has TEXT, with the mode on.
FILES is the value of `org-agent-hooks-files', in which t is that file."
  (declare (indent 2) (debug t))
  `(org-agent-fake-with-chat
     (let* ((file (org-agent-edit-test--file ,text))
            (org-agent-hooks-files (cl-substitute file t ,files))
            (org-agent-hooks-delay 60)
            (org-clock-persist nil)
            (org-log-done nil))
       (unwind-protect
           (with-current-buffer (find-file-noselect file)
             (org-agent-hooks-mode 1)
             ,@body)
         (org-agent-hooks-mode -1)
         (when-let* ((buffer (find-buffer-visiting file)))
           (with-current-buffer buffer
             (set-buffer-modified-p nil)
             (kill-buffer)))))))

(defun org-agent-hooks-test--events ()
  "Return the events that the kernel got, after those that wait are sent."
  (when org-agent-hooks--waiting
    (org-agent-hooks--report))
  (org-agent-fake-settle)
  (cl-remove-if (lambda (event) (eq (plist-get event :sensor) :chat-message))
                (org-agent-fake-requests "event")))

(defun org-agent-hooks-test--headings (event &rest keys)
  "Return the values of KEYS in each heading of EVENT."
  (mapcar (lambda (heading) (mapcar (lambda (key) (plist-get heading key)) keys))
          (plist-get event :headings)))

(defun org-agent-hooks-test--type (after text)
  "Insert TEXT behind AFTER, and save."
  (goto-char (point-min))
  (search-forward after)
  (insert text)
  (save-buffer))

(ert-deftest org-agent-hooks-save ()
  "A save reports which headings are new, changed and gone, and no text."
  (org-agent-hooks-test--with
      (concat "#+TITLE: Secret\n* Secret one\n:PROPERTIES:\n:ID: one\n:END:\n"
              "* Same\n* Same\n* Secret gone\n* Hidden :noagent:\nSecret\n")
      '(t)
    (org-agent-hooks-test--type ":ID: one\n:END:\n" "Secret more\n")
    (save-buffer)
    (org-agent-hooks-test--type "* Same\n" "* Same\n")
    (goto-char (point-min))
    (re-search-forward "^\\* Secret gone\n")
    (replace-match "")
    (org-agent-hooks-test--type "* Hidden :noagent:\n" "Secret word\n")
    (let* ((events (org-agent-hooks-test--events))
           (event (car events)))
      (should (= 1 (length events)))
      (should (eq :org-save (plist-get event :sensor)))
      (should (equal (file-truename file) (plist-get event :file)))
      (should (equal (org-agent-hooks-test--headings event :change :id :line :level :by)
                     '((:removed nil nil 1 nil) (:changed "one" 2 1 nil)
                       (:added nil 9 1 nil))))
      (should-not (string-match-p "Secret\\|Same\\|Hidden" (format "%S" event)))
      (dolist (heading (plist-get event :headings))
        (should (string-match-p "\\`[0-9a-f]\\{16\\}\\'" (plist-get heading :hash)))))
    (set-buffer-modified-p t)
    (save-buffer)
    (should (= 1 (length (org-agent-hooks-test--events))))))

(ert-deftest org-agent-hooks-new-file ()
  "The first save of a file that is named and was not there is reported."
  (org-agent-hooks-test--with "" nil
    (let* ((new (concat file ".new.org"))
           (org-agent-hooks-files (list new)))
      (with-current-buffer (find-file-noselect new)
        (insert "* One\n")
        (save-buffer)
        (should (equal (org-agent-hooks-test--headings
                        (car (org-agent-hooks-test--events)) :line :change)
                       '((1 :added))))
        (kill-buffer)))))

(ert-deftest org-agent-hooks-debounced ()
  "Saves that follow one another are one report."
  (org-agent-hooks-test--with "* One\n" '(t)
    (let ((org-agent-hooks-delay 0.2))
      (dotimes (n 5)
        (org-agent-hooks-test--type "* One\n" (format "%d\n" n))
        (sit-for 0.05))
      (should-not (cl-find :org-save (org-agent-fake-requests "event")
                           :key (lambda (event) (plist-get event :sensor))))
      (org-agent-fake-wait
       (cl-find :org-save (org-agent-fake-requests "event")
                :key (lambda (event) (plist-get event :sensor))))
      (should (= 1 (length (org-agent-hooks-test--events)))))))

(ert-deftest org-agent-hooks-typing ()
  "A report gives way to the person who types, and is made later."
  (org-agent-hooks-test--with "* One\n" '(t)
    (org-agent-hooks-test--type "* One\n" "text\n")
    (cl-letf (((symbol-function 'org-agent-hooks--changes)
               (lambda () (throw throw-on-input t)))) ; as a key does
      (org-agent-hooks--report))
    (org-agent-fake-settle)
    (should-not (cl-find :org-save (org-agent-fake-requests "event")
                         :key (lambda (event) (plist-get event :sensor))))
    (should org-agent-hooks--waiting)
    (should org-agent-hooks--timer)
    (should (= 1 (length (org-agent-hooks-test--events))))))

(ert-deftest org-agent-hooks-todo-twice ()
  "Two changes of states are one report with both headings."
  (org-agent-hooks-test--with "* TODO One\n* TODO Two\n" '(t)
    (goto-char (point-min))
    (org-todo "DONE")
    (forward-line)
    (org-todo "DONE")
    (let ((events (org-agent-hooks-test--events)))
      (should (equal '((1) (2)) (org-agent-hooks-test--headings (car events) :line)))
      (should-not (cdr events)))))

(ert-deftest org-agent-hooks-opted-in ()
  "Nothing is on a hook where nothing is reported, nor when the mode is off."
  (let ((hooks (cl-loop for kind in org-agent-hooks-kinds
                        append (nth 3 kind))))
    (cl-flet ((ours (local)
                (cl-loop for hook in hooks
                         append (cl-remove-if-not
                                 (lambda (f) (string-prefix-p "org-agent-hooks"
                                                              (format "%s" f)))
                                 (if local
                                     (and (local-variable-p hook)
                                          (symbol-value hook))
                                   (default-value hook))))))
      (org-agent-hooks-test--with "* One\n* Two\n** Three\n" nil
        (should (equal (ours t) '(org-agent-hooks--begin-tagged)))
        (should-not (ours nil))
        (org-agent-hooks-test--type "* One\n" "text\n")
        (should-not (org-agent-hooks-test--events))
        (org-agent-hooks-test--type "* Two" " :agenthook:")
        (should (= 5 (length (ours t))))
        (should-not (ours nil))
        (org-agent-hooks-test--type "* One\n" "text\n")
        (should-not (org-agent-hooks-test--events))
        (org-agent-hooks-test--type "** Three\n" "text\n")
        (should (equal (org-agent-hooks-test--headings
                        (car (org-agent-hooks-test--events)) :line :change)
                       '((5 :changed))))
        (with-temp-buffer
          (org-mode)
          (should-not (ours t)))
        (with-current-buffer "*org-agent-chat*"
          (should-not (org-agent-hooks--reported-p)))
        (org-agent-hooks-mode -1)
        (should-not (ours t))
        (should-not (memq 'org-agent-hooks--begin org-mode-hook))
        (org-agent-hooks-mode 1)
        (org-agent-private-mode 1)
        (org-agent-hooks-test--type "** Three\n" "text\n")
        (should (= 1 (length (org-agent-hooks-test--events))))))))

(ert-deftest org-agent-hooks-kinds-all ()
  "Every kind is reported when it happens, once."
  (org-agent-hooks-test--with
      (format-time-string
       "* TODO One\n:PROPERTIES:\n:ID: one\n:END:\n* TODO Two\nSCHEDULED: <%Y-%m-%d %a>\n")
      '(t)
    (goto-char (point-min))
    (org-todo "DONE")
    (search-forward "* TODO Two")
    (org-clock-in)
    (should (equal (mapcar (lambda (event)
                             (list (plist-get event :sensor) (plist-get event :from)
                                   (plist-get event :to) (plist-get event :clock)
                                   (org-agent-hooks-test--headings event :id :line)))
                           (org-agent-hooks-test--events))
                   '((:org-todo "TODO" "DONE" nil (("one" 1)))
                     (:org-clock nil nil :in ((nil 5))))))
    (org-clock-out)
    (let ((org-capture-templates
           `(("t" "Task" entry (file ,file) "* TODO Captured")))
          (org-capture-mode-hook nil))
      (org-capture nil "t")
      (org-capture-kill)
      (org-capture nil "t")
      (org-capture-finalize))
    (let ((org-agenda-files (list file))
          (org-agenda-sticky nil))
      (save-window-excursion
        (org-agenda-list nil nil 'day)
        (org-agenda-redo)
        (kill-buffer "*Org Agenda*")))
    (let ((events (nthcdr 2 (org-agent-hooks-test--events))))
      (should (equal (sort (mapcar (lambda (event) (plist-get event :sensor)) events)
                           #'string<)
                     '(:org-agenda :org-capture :org-clock :org-save)))
      (cl-flet ((of (sensor) (cl-find sensor events :key (lambda (event)
                                                           (plist-get event :sensor)))))
        (should (eq :out (plist-get (of :org-clock) :clock)))
        (should (equal "t" (plist-get (of :org-capture) :template)))
        (should (equal '((nil 1)) (org-agent-hooks-test--headings
                                   (of :org-capture) :id :level)))
        (should-not (plist-get (of :org-agenda) :file))
        (should (equal (list (list (file-truename file) 5))
                       (org-agent-hooks-test--headings (of :org-agenda)
                                                       :file :line)))))))

(ert-deftest org-agent-hooks-agent ()
  "What the agent changed is told with its turn, what the person did without."
  (org-agent-hooks-test--with "* One\n* Two\n* Three\n** Four\n" '(t)
    (let ((org-agent-edit-test--about nil))
      (should (plist-get (org-agent-edit-test--send
                          nil :file file :old "* One\n" :new "* One\nagent\n* New\n")
                         :result))
      (should (plist-get (org-agent-edit-test--send
                          nil :file file :old "* Three\n** Four\n" :new "* Three\n")
                         :result)))
    (org-agent-hooks-test--type "* Two\n" "person\n")
    (should (equal (org-agent-hooks-test--headings
                    (car (org-agent-hooks-test--events)) :change :line :by)
                   '((:removed nil "t") (:changed 1 "t") (:added 3 "t")
                     (:changed 4 nil))))
    (org-agent-edit-test--send nil :file file :old "agent\n" :new "again\n")
    (org-agent-hooks-test--type "again\n" "and the person\n")
    (should (equal (org-agent-hooks-test--headings
                    (cadr (org-agent-hooks-test--events)) :change :line :by)
                   '((:changed 1 nil))))
    (write-region "* One\n* Other\n" nil file nil 'silent)
    (revert-buffer t t t)
    (org-agent-hooks-test--type "* Other\n" "x\n")
    (should (equal (org-agent-hooks-test--headings
                    (nth 2 (org-agent-hooks-test--events)) :change :line)
                   '((:changed 2))))))

(ert-deftest org-agent-hooks-stopped ()
  "A kernel that the person stopped is not started by a save."
  (org-agent-hooks-test--with "* One\n" '(t)
    (org-agent-hooks-test--type "* One\n" "text\n")
    (let ((org-agent-kernel-state 'stopped))
      (cl-letf (((symbol-function 'org-agent-kernel-ensure)
                 (lambda () (ert-fail "it is started"))))
        (org-agent-hooks--report)
        (should-not org-agent-hooks--unsent)))))

(ert-deftest org-agent-hooks-faults ()
  "A fault in what is reported does not reach the person's command."
  (org-agent-hooks-test--with "* One\n" '(t)
    (cl-letf (((symbol-function 'org-agent-hooks--record)
               (lambda (&rest _) (error "Broken")))
              (inhibit-message t)
              (debug-on-error nil))
      (org-todo "TODO")
      (save-buffer)
      (org-agent-hooks--report)
      (should-not (buffer-modified-p)))
    (should-not (org-agent-hooks-test--events))))

;;;; With a kernel

(defconst org-agent-hooks-test--skill "#+TITLE: Mark
#+begin_src lisp
(defun saved (context)
  (eq (getf (getf context :payload) :sensor) :org-save))
(defun mark (context)
  (let ((payload (getf context :payload)))
    (list :type :request :target :emacs :action :edit
          :file (getf payload :file) :old \"* One\" :new \"* Marked One\")))
(defskill :mark :priority 60 :trigger #'saved :neuro #'mark)
#+end_src
" "A skill that changes a file when it is saved.")

(defmacro org-agent-hooks-test--with-skill (&rest body)
  "Run BODY in a buffer of `file' with a kernel that has a skill."
  (declare (indent 0) (debug t))
  `(org-agent-kernel-test--with nil
     (let* ((file (expand-file-name "mine.org" org-agent-fake-directory))
            (skills (expand-file-name "skills" (org-agent-home-directory)))
            (org-agent-hooks-files (list file))
            (org-agent-hooks-delay 0.05))
       (make-directory skills t)
       (write-region "* One\n* Two\n" nil file nil 'silent)
       (write-region org-agent-hooks-test--skill nil
                     (expand-file-name "mark.org" skills) nil 'silent)
       (org-agent-fake-wait
        (cl-find "mark" (plist-get (org-agent-kernel-call "skill/list" nil) :skills)
                 :key (lambda (note) (plist-get note :skill)) :test #'equal))
       (unwind-protect
           (with-current-buffer (find-file-noselect file)
             (org-agent-hooks-mode 1)
             ,@body)
         (org-agent-hooks-mode -1)
         (with-current-buffer (find-buffer-visiting file)
           (set-buffer-modified-p nil)
           (kill-buffer))))))

(ert-deftest org-agent-hooks-reaction ()
  "A skill changes the file that was saved, once, when the person allows it."
  (org-agent-hooks-test--with-skill
    (org-agent-hooks-test--type "* Two\n" "text\n")
    (let ((ask (org-agent-fake-wait
                (car (plist-get (org-agent-kernel-call "ask/list" nil) :asks)))))
      (should (equal "reactions-of-mark" (plist-get ask :session)))
      (org-agent-kernel-call "ask/decide" (list :id (plist-get ask :id)
                                                :decision :allow-once)))
    (org-agent-fake-wait (string-match-p "^\\* Marked One$" (buffer-string)))
    (org-agent-fake-wait (not (buffer-modified-p)))
    (org-agent-fake-wait (not (or org-agent-hooks--waiting org-agent-hooks--timer)))
    (accept-process-output nil 0.5)
    (should-not (plist-get (org-agent-kernel-call "ask/list" nil) :asks))
    (should (string-match-p "\\`\\* Marked One\n" (buffer-string)))))

(ert-deftest org-agent-hooks-dry-run-shows ()
  "A dry run shows what would be sent and which skills would run; none runs."
  (org-agent-hooks-test--with-skill
    (goto-char (point-max))
    (insert "more\n")
    (save-window-excursion
      (org-agent-hooks-dry-run)
      (with-current-buffer "*org-agent-hooks*"
        (org-agent-fake-wait
         (string-match-p "mark would run, in the conversation reactions-of-mark"
                         (buffer-string)))
        (should (string-match-p ":org-save, when a file is saved: 1 skill"
                                (buffer-string)))
        (should (string-match-p ":line 2 :level 1 :change :changed" (buffer-string)))
        (org-agent-fake-wait
         (string-match-p "No skill has a trigger that is true for it"
                         (buffer-string)))
        (should-not (string-match-p ":org-agenda" (buffer-string)))))
    (should-not (plist-get (org-agent-kernel-call "ask/list" nil) :asks))
    (org-agent-hooks-mode -1)
    (let ((org-agent-hooks-files nil))
      (should-error (org-agent-hooks-dry-run) :type 'user-error))))

(ert-deftest org-agent-hooks-manual ()
  "The note of the manual is live, and its model is asked about what is new."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange
             "It has one." '(match . "these lines are headings that I have changed: 2\\. Read them, and give")))
    (let* ((directory (expand-file-name "org" org-agent-fake-directory))
           (file (expand-file-name "reading.org" directory))
           (skills (expand-file-name "skills" (org-agent-home-directory)))
           (org-agent-hooks-files (list directory))
           (org-agent-hooks-delay 0.05)
           (note (with-temp-buffer
                   (insert-file-contents (expand-file-name "org-agent.org" org-agent-directory))
                   (search-forward "#+TITLE: Reading list")
                   (beginning-of-line)
                   (let ((beg (point)))
                     (re-search-forward "^   #\\+end_src$")
                     (replace-regexp-in-string
                      "^,#" "#" (replace-regexp-in-string
                                 "^   " "" (buffer-substring beg (match-beginning 0))))))))
      (make-directory directory)
      (make-directory skills t)
      (write-region "* Emma :book:\n" nil file nil 'silent)
      (write-region note nil (expand-file-name "reading.org" skills) nil 'silent)
      (org-agent-fake-wait
       (cl-find "reading-list" (plist-get (org-agent-kernel-call "skill/list" nil) :skills)
                :key (lambda (one) (plist-get one :skill)) :test #'equal))
      (unwind-protect
          (with-current-buffer (find-file-noselect file)
            (org-agent-hooks-mode 1)
            (org-agent-hooks-test--type ":book:\n" "* The Third Man\n")
            (let ((answers (expand-file-name "sessions/reactions-of-reading-list.org"
                                             (org-agent-home-directory))))
              (org-agent-fake-wait
               (and (file-exists-p answers)
                    (string-match-p "It has one" (org-agent-edit-test--text answers)))))
            (let ((item (org-agent-fake-wait
                         (car (plist-get (org-agent-kernel-call "inbox/list" nil) :items)))))
              (should (equal '("Reaction of reading-list" "reactions-of-reading-list")
                             (list (plist-get item :title) (plist-get item :session))))))
        (org-agent-hooks-mode -1)
        (kill-buffer (find-buffer-visiting file))))))

(provide 'org-agent-hooks-test)
;;; org-agent-hooks-test.el ends here
