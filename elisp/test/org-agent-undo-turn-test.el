;;; org-agent-undo-turn-test.el --- Tests of undoing a turn  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A real kernel with a skill that makes several changes in one turn.  They
;; are undone, also after restarts, and without touching the person's text.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-approval-test)
(require 'org-agent-undo-turn)
(require 'org-agent-approval)
(require 'org-agent-chat)
(require 'org-agent-edit)
(require 'org-agent-kernel)
(require 'org-agent-rpc)

(defconst org-agent-undo-turn-test--skill
  "#+begin_src lisp
(defparameter *steps* '(%s))
(defskill :steps :priority 95
  :trigger (lambda (context) (equal \"steps\" (getf (getf context :payload) :text)))
  :neuro (lambda (context)
           (or (nth (length (getf context :results)) *steps*)
               '(:type :response :text \"Done\"))))
#+end_src
"
  "A note whose skill proposes one step after the other.")

(defvar org-agent-undo-turn-test--messages nil
  "What was said in the echo area, the last first.")

(defconst org-agent-undo-turn-test--note
  "* Plan\n:PROPERTIES:\n:ID: plan\n:Effort: 1\n:END:\nalpha beta gamma\n* Other\nalpha\nlast line\n")

(defun org-agent-undo-turn-test--edit (old new &optional file)
  "Return an edit that makes NEW of OLD in FILE, or else in the note."
  (list :type :request :target :emacs :action :edit
        :file (or file "~/note.org") :old old :new new))

(defun org-agent-undo-turn-test--set (&rest properties)
  "Return a proposal to set PROPERTIES of the entry."
  (list :type :request :target :emacs :action :set-properties :id "plan"
        :properties properties))

(defmacro org-agent-undo-turn-test--with (steps &rest body)
  "Run BODY in a conversation whose turn \"steps\" has proposed STEPS.
All of them were allowed; `file' and `file2' are the notes."
  (declare (indent 1) (debug t))
  `(org-agent-approval-test--with
       (org-agent-approval-test--action :action :message :text "x")
     (let ((file2 (expand-file-name "two.org" org-agent-fake-directory))
           (org-id-locations (make-hash-table :test #'equal))
           (org-agent-undo-turn-test--messages nil))
       (puthash "plan" file org-id-locations)
       (write-region org-agent-undo-turn-test--note nil file nil 'silent)
       (write-region "two\n" nil file2 nil 'silent)
       (unwind-protect
           (progn
             (org-agent-undo-turn-test--turn ,steps)
             ,@body)
         (when-let* ((buffer (find-buffer-visiting file2)))
           (with-current-buffer buffer (set-buffer-modified-p nil))
           (kill-buffer buffer))
         (when (get-buffer "*org-agent-undo-turn*")
           (kill-buffer "*org-agent-undo-turn*"))))))

(defun org-agent-undo-turn-test--turn (steps)
  "Have a turn make STEPS; allow what waits."
  (write-region (format org-agent-undo-turn-test--skill
                        (mapconcat #'prin1-to-string steps "\n"))
                nil (expand-file-name "skills/steps.org" org-agent-home)
                nil 'silent)
  (let (loaded)
    (org-agent-kernel-request "skill/reload" nil
                              :success (lambda (_) (setq loaded t)))
    (org-agent-fake-wait loaded))
  (org-agent-kernel-test--say "steps")
  (let (decided)
    (org-agent-fake-wait
     (let ((next (car (org-agent-asks-of :approval))))
       (when (and next (not (member (plist-get next :id) decided)))
         (push (plist-get next :id) decided)
         (org-agent-approval-decide next :allow-once))
       (= (length decided) (length steps)))))
  (org-agent-kernel-test--settle 2))

(defun org-agent-undo-turn-test--run (&optional others)
  "Take the turn back, with OTHERS as argument; return what was said."
  (with-current-buffer "*org-agent-chat*"
    (goto-char (point-min))
    (search-forward "steps")
    (let ((said nil))
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest arguments)
                   (when format
                     (push (apply #'format format arguments) said)))))
        (org-agent-undo-turn others)
        (org-agent-fake-wait said)
        (org-agent-fake-settle))
      (car (last said)))))

(ert-deftest org-agent-undo-turn-takes-all-back ()
  "Edits and properties of several files are one undo step in each buffer."
  (org-agent-undo-turn-test--with
      (list (org-agent-undo-turn-test--edit "beta" "BETA and more")
            (org-agent-undo-turn-test--edit "BETA and more gamma" "short")
            (org-agent-undo-turn-test--set :effort "1:00" :note "x")
            (org-agent-undo-turn-test--edit "alpha\nlast line\n" "")
            (org-agent-undo-turn-test--edit "two\n" "2\n" "~/two.org"))
    (let ((made (org-agent-approval-test--text file)))
      (should (equal made "* Plan\n:PROPERTIES:\n:ID: plan\n:EFFORT:   1:00\n:NOTE:     x\n:END:\nalpha short\n* Other\n"))
      (should (string-match-p "Undone: 5 changes in .*note.org.*undo there makes them again"
                              (org-agent-undo-turn-test--run)))
      (should (equal (org-agent-approval-test--text file) org-agent-undo-turn-test--note))
      (should (equal (org-agent-approval-test--text file2) "two\n"))
      ;; The conversation and its file say it, too.
      (with-current-buffer "*org-agent-chat*"
        (org-agent-fake-wait
         (= 5 (how-many "^\\*\\* DONE Approved once, undone: " (point-min) (point-max))))
        (should (equal (org-agent-fake-text) (org-agent-fake-file-text))))
      (should (string-match-p "The turn was undone already, [0-9]"
                              (org-agent-undo-turn-test--run)))
      (with-current-buffer (find-buffer-visiting file)
        (should-not (buffer-modified-p))
        (undo-boundary)
        (let ((last-command nil)) (undo))
        (should (equal (buffer-string) made)))
      ;; What undo made again is undone again.
      (should (string-match-p "Undone: 4 changes in note.org"
                              (org-agent-undo-turn-test--run)))
      (with-current-buffer (find-buffer-visiting file)
        (should (equal (buffer-string) org-agent-undo-turn-test--note))))))

(defun org-agent-undo-turn-test--call (tool &rest arguments)
  "Return a call of TOOL with ARGUMENTS."
  (list :type :request :target :tool :action :call :tool tool :args arguments))

(ert-deftest org-agent-undo-turn-of-tools ()
  "Edits of tools are undone on the disk, and shown in visiting buffers."
  (org-agent-approval-test--with
      (org-agent-approval-test--action :action :message :text "x")
    (let ((new (expand-file-name "made/new.org" org-agent-fake-directory))
          point)
      (write-region org-agent-undo-turn-test--note nil file nil 'silent)
      (with-current-buffer (find-file-noselect file)
        (goto-char (point-min))
        (search-forward "gamma")
        (setq point (point)))
      (org-agent-undo-turn-test--turn
       (list (org-agent-undo-turn-test--call
              "edit" :path file :old "beta" :new "BETA and more")
             (org-agent-undo-turn-test--call
              "write" :path new :content "* Made\nby a tool\n")
             (org-agent-undo-turn-test--call
              "edit" :path new :old "tool" :new "hand")))
      (with-current-buffer (find-buffer-visiting file)
        (org-agent-fake-wait
         (string-match-p "BETA and more gamma" (buffer-string)))
        (should-not (buffer-modified-p))
        (should (looking-back "gamma" (- (point) 5)))
        (should (= (point) (+ point 9))))
      (should (string-match-p "Undone: 3 changes"
                              (org-agent-undo-turn-test--run)))
      (should (equal (org-agent-approval-test--text file)
                     org-agent-undo-turn-test--note))
      (should-not (file-exists-p new))
      (with-current-buffer (find-buffer-visiting new)
        (should-not (buffer-modified-p))
        (let ((last-command nil)) (undo))
        (should (equal (buffer-string) "* Made\nby a hand\n"))
        (set-buffer-modified-p nil)
        (kill-buffer))
      ;; All of it is as it was, and so nothing more is to be done.
      (should (string-match-p "The turn was undone already"
                              (org-agent-undo-turn-test--run)))
      ;; A buffer with a person's own changes is theirs.
      (with-current-buffer (find-buffer-visiting file)
        (insert "mine")
        (write-region "others" nil file nil 'silent)
        (let ((text (buffer-string)))
          (org-agent-act-refresh-files (list :turn "t" :files (list file)))
          (should (equal text (buffer-string))))
        (set-buffer-modified-p nil)))))

(ert-deftest org-agent-undo-turn-after-restarts ()
  "A turn is undone from the journal after a restart, without buffers."
  (org-agent-undo-turn-test--with
      (list (org-agent-undo-turn-test--edit "beta" "BETA")
            (org-agent-undo-turn-test--set :effort "1:00"))
    (with-current-buffer (find-buffer-visiting file) (kill-buffer))
    (signal-process (org-agent-kernel-test--pid) 'SIGKILL)
    (org-agent-fake-wait (not (eq org-agent-chat-attached t)))
    (let (kill-buffer-query-functions)
      (set-buffer-modified-p nil)
      (kill-buffer "*org-agent-chat*"))
    (setq org-agent-edit--receipts nil
          org-id-locations (make-hash-table :test #'equal))
    (org-agent-chat)
    (with-current-buffer "*org-agent-chat*"
      (org-agent-kernel-test--wait-attached))
    (should (string-match-p "Undone: 2 changes" (org-agent-undo-turn-test--run)))
    (should (equal (org-agent-approval-test--text file) org-agent-undo-turn-test--note))))

(ert-deftest org-agent-undo-turn-beside-a-person ()
  "The person's text, point, unsaved work and narrowing stay."
  (org-agent-undo-turn-test--with
      (list (org-agent-undo-turn-test--edit "beta" "BETA")
            (org-agent-undo-turn-test--set :effort "1:00" :note "x"))
    (with-current-buffer (find-buffer-visiting file)
      (goto-char (point-min))
      (search-forward ":NOTE:")
      (forward-line)
      (insert ":MINE: 1\n")
      (search-forward "gamma")
      (insert " mine")
      (goto-char (point-max))
      (insert "* Mine\n")
      (narrow-to-region (- (point-max) 7) (point-max))
      (goto-char (point-max))
      (should (string-match-p "Undone: 2 changes in note.org" (org-agent-undo-turn-test--run)))
      (should (equal (buffer-string) "* Mine\n"))
      (should (eobp))
      (should (buffer-modified-p))
      (widen)
      (should (equal (buffer-string)
                     "* Plan\n:PROPERTIES:\n:ID: plan\n:Effort: 1\n:MINE: 1\n:END:\nalpha beta gamma mine\n* Other\nalpha\nlast line\n* Mine\n")))))

(ert-deftest org-agent-undo-turn-refuses-with-a-diff ()
  "A text that was changed is shown, and nothing changes until asked."
  (org-agent-undo-turn-test--with
      (list (org-agent-undo-turn-test--edit "alpha beta gamma\n" "one\ntwo\nthree\n")
            (org-agent-undo-turn-test--set :effort "1:00")
            (org-agent-undo-turn-test--edit "last line" "very last"))
    (with-current-buffer (find-buffer-visiting file)
      (goto-char (point-min))
      (search-forward "two")
      (replace-match "zwei")
      (goto-char (point-min))
      (search-forward "1:00")
      (replace-match "2:00"))
    (let ((text (with-current-buffer (find-buffer-visiting file) (buffer-string))))
      (should (string-match-p "Nothing was undone" (org-agent-undo-turn-test--run)))
      (with-current-buffer (find-buffer-visiting file)
        (should (equal (buffer-string) text)))
      (with-current-buffer "*org-agent-undo-turn*"
        (should (string-match-p "2 of 3 changes" (buffer-string)))
        (should (string-match-p "\n one\n-two\n\\+zwei\n three\n" (buffer-string)))
        (should (string-match-p "\n-:EFFORT: 1:00\n\\+:EFFORT:   2:00\n" (buffer-string)))
        (let ((said nil))
          (cl-letf (((symbol-function 'message)
                     (lambda (format &rest arguments)
                       (when format (push (apply #'format format arguments) said)))))
            (org-agent-undo-turn-others)
            (org-agent-fake-wait said)
            (should (string-match-p "Undone: 1 change in note.org.*2 changes stay"
                                    (car (last said)))))))
      (with-current-buffer (find-buffer-visiting file)
        (should (equal (buffer-string) (string-replace "very last" "last line" text)))))))

(ert-deftest org-agent-undo-turn-where-nothing-is ()
  "A turn without changes, a missing file and no turn are reported."
  (org-agent-undo-turn-test--with
      (list (org-agent-undo-turn-test--edit "beta" "BETA"))
    (with-current-buffer (find-buffer-visiting file) (kill-buffer))
    (rename-file file (concat file ".moved"))
    (should (string-match-p "Nothing was undone" (org-agent-undo-turn-test--run)))
    (with-current-buffer "*org-agent-undo-turn*"
      (should (string-match-p "not a regular file" (buffer-string))))
    (with-temp-buffer
      (should-error (org-agent-undo-turn) :type 'user-error))
    (org-agent-undo-turn-test--turn nil)
    (with-current-buffer "*org-agent-chat*"
      (goto-char (point-max))
      (let (said)
        (cl-letf (((symbol-function 'message)
                   (lambda (format &rest arguments)
                     (when format (push (apply #'format format arguments) said)))))
          (org-agent-undo-turn)
          (org-agent-fake-wait said))
        (should (equal (car (last said)) "The turn changed no text"))))))

(ert-deftest org-agent-undo-turn-finds-the-place ()
  "The position is the one of the change, or none."
  (pcase-dolist
      (`(,text ,old ,new ,before ,after ,place)
       '(("a x b x c" "y" "x" "a " " b x c" 3)
         ("a y b x c" "y" "x" "a " " b x c" before)
         ("a z b x c" "y" "x" "a " " b x c" nil)
         ("ac" "b" "" "a" "c" 2)
         ("abc" "b" "" "a" "c" before)
         ("a c" "b" "" "a" "c" nil)
         ("" "all" "" "" "" 1)
         ("all" "all" "" "" "" before)
         ("foo bar" "foo bar" "foo" "" "" before)
         ("foo" "foo bar" "foo" "" "" 1)
         ("* Inbox\n** TODO x\n" "* Inbox\n" "* Inbox\n** TODO x\n" "" "" 1)
         ("* Inbox\n" "* Inbox\n" "* Inbox\n** TODO x\n" "" "" before)))
    (with-temp-buffer
      (insert text)
      (should (equal (list text old new (org-agent-undo-turn--find old new before after))
                     (list text old new place))))))

(ert-deftest org-agent-undo-turn-without-what-was-before ()
  "Properties without a complete receipt are not changed."
  (with-temp-buffer
    (insert "* Plan\n:PROPERTIES:\n:ID: plan\n:Effort: 2\n:END:\n")
    (delay-mode-hooks (org-mode))
    (should (equal
             (list -32002 "no receipt has the former properties")
             (cdr (should-error
                   (org-agent-undo-turn--properties
                    '(:entry "plan" :properties ((:name "EFFORT" :value "2"))))
                   :type 'org-agent-rpc-error))))
    (should (org-agent-undo-turn--properties
             '(:entry "plan" :properties ((:name "EFFORT" :value "2"))
               :former ((:name "EFFORT")))))))

(provide 'org-agent-undo-turn-test)
;;; org-agent-undo-turn-test.el ends here
