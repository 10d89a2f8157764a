;;; org-agent-draft-kept-test.el --- Tests of restored drafts  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-branch)
(require 'org-agent-heading)
(require 'org-agent-send)
(require 'org-agent-file-owner)

(defmacro org-agent-draft-kept-test--with (&rest body)
  "Run BODY in a conversation whose file another Emacs keeps."
  (declare (indent 0) (debug t))
  `(org-agent-fake-with-home
     (org-agent-fake-start)
     (push (cons "session/load"
                 (lambda (params)
                   (list :session (plist-get params :session)
                         :file (org-agent-fake-file "main"))))
           org-agent-fake-answers)
     (org-agent-draft-kept-test--open)
     (with-current-buffer "*org-agent-chat*" ,@body)))

(defun org-agent-draft-kept-test--open ()
  "Open the conversation and wait until it is attached."
  (org-agent-chat)
  (org-agent-fake-wait
   (eq t (buffer-local-value 'org-agent-chat-attached
                             (get-buffer "*org-agent-chat*")))))

(defun org-agent-draft-kept-test--files ()
  "Return the drafts that are kept."
  (let ((directory (org-agent-state-file "drafts")))
    (and (file-directory-p directory)
         (directory-files directory t "\\.org\\'"))))

(ert-deftest org-agent-draft-takes-what-is-typed-before-stars ()
  "What is typed where a prompt is seen takes no heading away.
The stars are hidden, so nobody means to write before them."
  (org-agent-fake-with-chat
    (let* ((question (org-agent-fake-say "Hello"))
           (answer (progn (org-agent-fake-act
                           "a1" question
                           "** Title  :agent:\n:PROPERTIES:\n:ID:       a1\n:END:\nText.\n")
                          (org-agent-fake-settle)
                          "a1"))
           (kill-ring '("pasted"))
           (before (substring (org-agent-fake-text) 0 -2)))
      (dolist (heading (list question answer))
        (dolist (keys (list "x" (kbd "C-y")))
          (font-lock-ensure)
          (goto-char (org-agent-heading-find heading))
          (let ((last-command nil))
            (execute-kbd-macro keys))
          (should (string-prefix-p before (org-agent-fake-text)))
          (should (= (point) (point-max)))))
      (should (string-suffix-p "\n* xpastedxpasted" (org-agent-fake-text)))
      ;; In the draft itself it comes before the words.
      (font-lock-ensure)
      (goto-char (org-agent-draft-start))
      (execute-kbd-macro "y")
      (should (string-suffix-p "\n* yxpastedxpasted" (org-agent-fake-text)))
      ;; The file as it is has stars that one sees.
      (org-agent-page-toggle)
      (font-lock-ensure)
      (goto-char (org-agent-heading-find question))
      (execute-kbd-macro "z")
      (should (looking-back "^z" 1)))))

(ert-deftest org-agent-draft-kept-over-the-buffer ()
  "A draft beside another owner of the file is restored until it is sent."
  (org-agent-draft-kept-test--with
    (should-not org-agent-file-owner-p)
    (org-agent-fake-type "half a\n** \u4e16\u754c")
    (kill-buffer)
    (should (= 1 (length (org-agent-draft-kept-test--files))))
    (should (equal #o600 (file-modes (car (org-agent-draft-kept-test--files)))))
    (org-agent-draft-kept-test--open)
    (with-current-buffer "*org-agent-chat*"
      (should (equal (org-agent-fake-text) "* half a\n** \u4e16\u754c"))
      (should (= (point) (point-max)))
      ;; A new connection does not bring it twice.
      (run-hooks 'org-agent-chat-loaded-hook)
      (should (equal (car (org-agent-context-draft)) "half a\n** \u4e16\u754c"))
      (org-agent-send)
      (should-not (org-agent-draft-kept-test--files))
      (kill-buffer))
    (should-not (org-agent-draft-kept-test--files))))

(ert-deftest org-agent-draft-kept-over-emacs ()
  "The auto-saved draft of a killed Emacs is restored, not that of a live one."
  (org-agent-draft-kept-test--with
    (org-agent-fake-type "mine")
    (run-hooks 'auto-save-hook)
    (let ((mine (car (org-agent-draft-kept-test--files)))
          (dead (org-agent-file-owner--backup-name "main" 999999999))
          (alive (org-agent-file-owner--backup-name "main" 1))
          (other (org-agent-file-owner--backup-name "main two" 999999999)))
      (should (file-exists-p mine))
      (dolist (file (list dead alive other))
        (write-region "* of another\n" nil file nil 'silent))
      (org-agent-file-owner-restore-draft)
      (should (equal (org-agent-fake-text) "* mine\n* of another\n"))
      (should (equal (mapcar #'file-exists-p (list mine dead alive other))
                     '(t nil t t)))
      ;; Whoever comes to own the file has it in the conversation's file.
      (org-agent-fake-notify "session/keeper" :session "main" :keeper t
                             :file (org-agent-fake-file "main"))
      (org-agent-fake-wait org-agent-file-owner-p)
      (run-hooks 'auto-save-hook)
      (should-not (file-exists-p mine))
      (should (equal (org-agent-fake-file-text) "* mine\n* of another\n")))))

(ert-deftest org-agent-draft-kept-by-the-file-owner ()
  "An unsaved draft of the owner is restored, and nothing is duplicated."
  (org-agent-fake-with-chat
    (org-agent-fake-type "half")
    (org-agent-file-owner-save)
    (org-agent-fake-type " a word")
    (run-hooks 'auto-save-hook)
    (let* ((mine (car (org-agent-draft-kept-test--files)))
           (dead (org-agent-file-owner--backup-name "main" 999999999)))
      (should (equal (org-agent-fake-file-text) "* half"))
      (rename-file mine dead)
      (setq org-agent-file-owner--backup-file nil)
      ;; Emacs dies, and another one opens the conversation.
      (setq org-agent-file-owner-p nil)
      (set-buffer-modified-p nil)
      (let (kill-buffer-hook kill-buffer-query-functions) (kill-buffer))
      (org-agent-draft-kept-test--open)
      (with-current-buffer "*org-agent-chat*"
        (should (equal (org-agent-fake-text) "* half a word"))
        (should (equal (org-agent-fake-file-text) "* half a word"))
        (should-not (org-agent-draft-kept-test--files))))))

(ert-deftest org-agent-draft-kept-copy-elsewhere ()
  "A conversation that is written to another file becomes a plain copy."
  (org-agent-fake-with-chat
    (let ((copy (expand-file-name "copy.org" org-agent-fake-directory))
          (buffer (current-buffer)))
      (org-agent-fake-say "One?")
      (let ((text (org-agent-fake-text)))
        (write-file copy)
        (unwind-protect
            (progn
              (should-not org-agent-chat-session)
              (should (eq major-mode 'org-mode))
              (should (string-prefix-p text (with-temp-buffer
                                              (insert-file-contents copy)
                                              (buffer-string))))
              (org-agent-fake-wait (org-agent-fake-requests "session/leave"))
              (org-agent-draft-kept-test--open)
              (with-current-buffer "*org-agent-chat*"
                (should (equal text (org-agent-fake-text)))
                (should org-agent-file-owner-p)
                (should (equal buffer-file-name (org-agent-fake-file "main")))))
          (with-current-buffer buffer
            (set-buffer-modified-p nil)
            (kill-buffer buffer)))))))

(ert-deftest org-agent-draft-cannot-be-lost ()
  "Whoever deletes the heading of the draft has another; undo takes back both."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (org-agent-fake-act "a1" question "** Title\nWords\n")
      (org-agent-fake-settle))
    (let ((before (buffer-string)))
      (dolist (delete (list (lambda () (forward-line 0) (kill-line))
                            (lambda () (delete-char -2))
                            (lambda () (delete-region (1- (line-beginning-position)) (point)))))
        (goto-char (point-max))
        (undo-boundary)
        (funcall delete)
        (run-hooks 'post-command-hook)
        (should (equal (buffer-string) before))
        (should (= (point) (point-max)))
        (insert "new words")
        (should (org-agent-draft-p (point)))
        (should (equal (string-trim (substring-no-properties (org-agent-draft-raw))) "new words"))
        (delete-char -9)
        (undo-boundary)
        (let ((last-command nil)) (undo 1))
        (should (equal (buffer-string) before))))))

(ert-deftest org-agent-draft-commands-mean-the-last-turn ()
  "From the draft, commands about a question or an answer act on the last one."
  (org-agent-fake-with-chat
    (let* ((drawer ":PROPERTIES:\n:ID: %s\n:MODEL: m\n:END:\n")
           (first (org-agent-fake-say "First"))
           (second (org-agent-fake-say "Second"))
           (asked nil))
      (should (equal (org-agent-heading-property (org-agent-draft-turn-meant) "ID")
                     second))
      (org-agent-fake-act "a1" first (concat "** One :agent:\n" (format drawer "a1")))
      (org-agent-fake-act "a2" second (concat "** Two :agent:\n" (format drawer "a2")))
      (org-agent-fake-act "a3" second (concat "** Three :agent:\n" (format drawer "a3")))
      (org-agent-fake-settle)
      (goto-char (point-max))
      (insert "a draft\n** with a part\n")
      (dolist (place (list (point-max) (org-agent-draft-start)))
        (goto-char place)
        (should (equal (org-agent-heading-property (org-agent-draft-turn-meant) "ID") "a3"))
        (should (equal (org-agent-heading-property (org-agent-send-question-here) "ID")
                       second))
        (cl-letf (((symbol-function 'org-agent-kernel-request)
                   (lambda (method params &rest _) (setq asked (cons method params))))
                  ((symbol-function 'org-agent-kernel-request-here)
                   (lambda (method params &rest _) (setq asked (cons method params)))))
          (org-agent-retry)
          (should (equal (plist-get (cdr asked) :event) second))
          (org-agent-prefer-answer)
          (should (equal asked '("turn/prefer" :id "a3")))))
      (cl-letf (((symbol-function 'ediff-buffers)
                 (lambda (a b &rest _)
                   (setq asked (mapcar (lambda (buffer)
                                         (with-current-buffer buffer (buffer-string)))
                                       (list a b)))
                   (mapc #'kill-buffer (list a b)))))
        (org-agent-compare-answers)
        (should (string-match-p "Two" (car asked)))
        (should (string-match-p "Three" (cadr asked))))
      ;; Where point is on a turn, that one is meant.
      (goto-char (org-agent-heading-find "a1"))
      (should (equal (org-agent-heading-property (org-agent-send-question-here) "ID") first)))))

(ert-deftest org-agent-draft-tab-completes ()
  "TAB completes a command and a mention in the draft, and is Org's elsewhere."
  (org-agent-fake-with-chat
    (let (completed)
      (cl-letf (((symbol-function 'completion-at-point)
                 (lambda () (interactive) (push (substring-no-properties (org-agent-draft-raw)) completed))))
        (dolist (draft '("/he" "see @no" "see @"))
          (delete-region (org-agent-draft-start) (point-max))
          (insert "* " draft)
          (let ((this-command 'org-cycle)) (org-cycle))
          (should (equal (string-trim (car completed)) draft)))
        (setq completed nil)
        (delete-region (org-agent-draft-start) (point-max))
        (insert "* a mail to ann@example.org and 1/2\n| a | b |")
        (let ((this-command 'org-cycle)) (org-cycle))
        (should-not completed)))))

(provide 'org-agent-draft-kept-test)
;;; org-agent-draft-kept-test.el ends here
