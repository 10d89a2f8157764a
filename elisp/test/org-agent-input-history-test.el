;;; org-agent-input-history-test.el --- Tests of earlier questions in the draft  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The history works as that of a shell, and no text of the person is lost.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'repeat)
(require 'org-agent-kernel-test)
(require 'org-agent-ask)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-input-history)
(require 'org-agent-kernel)

(defun org-agent-input-history-test--ask (&rest questions)
  "Put QUESTIONS into the conversation, as if they had been sent."
  (dolist (question questions)
    (goto-char (point-max))
    (insert question)
    (org-agent-draft-to-question (format "q-%s" (random 1000000)) question)
    (goto-char (point-max))))

(defun org-agent-input-history-test--draft ()
  "Return the draft, with a bar where point is."
  (let ((beginning (org-agent-input-history--beginning)))
    (concat (buffer-substring-no-properties beginning (point)) "|"
            (buffer-substring-no-properties (point) (point-max)))))

(defun org-agent-input-history-test--step (command)
  "Give COMMAND as a person does, and return the draft."
  (setq this-command command)
  (call-interactively command)
  (undo-boundary)
  (setq last-command command)
  (org-agent-input-history-test--draft))

(defmacro org-agent-input-history-test--with (questions &rest body)
  "Run BODY at the draft of a conversation in which QUESTIONS were asked."
  (declare (indent 1) (debug t))
  `(org-agent-fake-with-chat
     (setq org-agent-input-history--elsewhere nil)
     (apply #'org-agent-input-history-test--ask ,questions)
     (let ((kill-ring '("mine")))
       ,@body
       (should (equal kill-ring '("mine"))))))

(ert-deftest org-agent-input-history-goes-through-questions ()
  "Earlier questions come in order, and the own text is the last entry."
  (org-agent-input-history-test--with '("one" "two\nlines\n** and a heading" "two" "two")
    (insert "mine so far")
    (backward-char 3)
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-question) "two|"))
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-question)
                   "two\nlines\n** and a heading|"))
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-question) "one|"))
    (should-error (org-agent-previous-question) :type 'user-error)
    (should (equal (org-agent-input-history-test--draft) "one|"))
    (org-agent-input-history-test--step 'org-agent-next-question)
    (should (equal (org-agent-input-history-test--step 'org-agent-next-question) "two|"))
    (should (equal (org-agent-input-history-test--step 'org-agent-next-question) "mine so |far"))
    (should-error (org-agent-next-question) :type 'user-error)
    (should (equal (org-agent-input-history-test--draft) "mine so |far"))
    (goto-char (point-min))
    (let ((current-prefix-arg 3))
      (should (equal (org-agent-input-history-test--step 'org-agent-previous-question) "one|")))))

(ert-deftest org-agent-input-history-undoes-step-by-step ()
  "Each step is one of undo, which also restores the own text."
  (org-agent-input-history-test--with '("one" "two")
    (setq buffer-undo-list nil)
    (insert "mine")
    (undo-boundary)
    (org-agent-input-history-test--step 'org-agent-previous-question)
    (org-agent-input-history-test--step 'org-agent-previous-question)
    (let ((text (lambda () (car (org-agent-input-history--written (org-agent-input-history--beginning))))))
      (should (equal (funcall text) "one"))
      (let ((last-command 'ignore)) (undo))
      (should (equal (funcall text) "two"))
      (let ((last-command 'undo)) (undo-more 1))
      (should (equal (funcall text) "mine")))))

(ert-deftest org-agent-input-history-keeps-what-was-changed ()
  "A changed question is an entry of its own."
  (org-agent-input-history-test--with '("one" "two" "three")
    (insert "mine")
    (org-agent-input-history-test--step 'org-agent-previous-question)
    (org-agent-input-history-test--step 'org-agent-previous-question)
    (insert " and a half")
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-question) "one|"))
    (org-agent-input-history-test--step 'org-agent-next-question)
    (should (equal (org-agent-input-history-test--step 'org-agent-next-question) "three|"))
    (should (equal (org-agent-input-history-test--step 'org-agent-next-question)
                   "two and a half|"))
    (should (equal (org-agent-input-history-test--step 'org-agent-next-question) "mine|"))
    (should-error (org-agent-next-question) :type 'user-error)
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-question)
                   "two and a half|"))
    ;; Sent, it is a question like the others, and the other is still there.
    (org-agent-draft-to-question "q-sent" (car (org-agent-context-draft)))
    (goto-char (point-max))
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-question)
                   "two and a half|"))
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-question) "three|"))
    (dotimes (_ 2) (org-agent-input-history-test--step 'org-agent-next-question))
    (should (equal (org-agent-input-history-test--draft) "|"))
    (should (equal (org-agent-input-history-test--step 'org-agent-next-question) "mine|"))
    (should-error (org-agent-next-question) :type 'user-error)))

(ert-deftest org-agent-input-history-sees-what-was-asked-since ()
  "A question that was sent meanwhile is the first to come."
  (org-agent-input-history-test--with '("one")
    (org-agent-input-history-test--step 'org-agent-previous-question)
    (should (equal (org-agent-input-history-test--step 'org-agent-next-question) "|"))
    (org-agent-input-history-test--ask "two")
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-question) "two|"))))

(ert-deftest org-agent-input-history-finds-by-the-beginning ()
  "Questions match by the text before point, which stays; case is ignored."
  (org-agent-input-history-test--with '("Explain a" "list b" "explain c" "(a) [b")
    (insert "ex")
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-matching-question)
                   "ex|plain c"))
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-matching-question)
                   "Ex|plain a"))
    (should-error (org-agent-previous-matching-question) :type 'user-error)
    (should (equal (org-agent-input-history-test--step 'org-agent-next-matching-question)
                   "ex|plain c"))
    (should (equal (org-agent-input-history-test--step 'org-agent-next-matching-question) "ex|"))
    (should-error (org-agent-next-matching-question) :type 'user-error)
    (delete-char -2)
    (insert "(a) [")
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-matching-question)
                   "(a) [|b"))
    ;; Once point was moved, what stands before it then counts.
    (goto-char (org-agent-input-history--beginning))
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-matching-question)
                   "|explain c"))))

(ert-deftest org-agent-input-history-without-a-kernel ()
  "The buffer is enough, and the input of a command is left out."
  (org-agent-input-history-test--with
      '("one" "/rewrite shorter\nand\nOn lines 3-9 of [[file:~/a.txt][a.txt]], 80 characters\nOn the agenda, 3 entries of 2 files")
    (org-agent-fake-stop)
    (org-agent-fake-wait (not (org-agent-kernel-ready-p)))
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-question)
                   "/rewrite shorter\nand|"))
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-question) "one|"))))

(ert-deftest org-agent-input-history-where-there-is-no-draft ()
  "Without a draft there is an error, and nothing changes."
  (with-temp-buffer
    (should-error (org-agent-previous-question) :type 'user-error))
  (org-agent-input-history-test--with '("one")
    (insert "mine")
    (narrow-to-region (point-min) 5)
    (should-error (org-agent-previous-question) :type 'user-error)
    (widen)
    (should (string-suffix-p "mine" (org-agent-fake-text)))
    ;; The blank that made it a heading may have been taken away.
    (delete-region (- (point-max) 5) (point-max))
    (should (equal (org-agent-input-history-test--step 'org-agent-previous-question) "one|"))
    (should (string-suffix-p "\n* one" (org-agent-fake-text)))))

(ert-deftest org-agent-input-history-chooses ()
  "Completion offers lines; those of other conversations name them."
  (org-agent-input-history-test--with '("one" "two\n\n  lines" "two")
    (setq org-agent-input-history--elsewhere
          '((:session "main" :id "a" :time "2026-11-22T10:00:00Z" :text "of this one")
            (:session "Silk road" :id "b" :time "2026-11-22T10:00:00Z" :text "of another")
            (:session "Silk road" :id "c" :time "2026-11-22T10:00:00Z" :text "two")))
    (insert "mine")
    (let (lines notes)
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (_prompt table &rest _)
                   (setq lines (all-completions "" table)
                         notes (mapcar (completion-metadata-get
                                        (completion-metadata "" table nil)
                                        'annotation-function)
                                       lines))
                   (nth 1 lines))))
        (should (equal (org-agent-input-history-test--step 'org-agent-insert-question)
                       "two\n  lines|")))
      (should (= (length lines) 4))
      (should (string-match-p "\\`two . lines\\'" (nth 1 lines)))
      (should (equal (last lines) '("of another")))
      (should (equal (last notes) '("  Silk road, 2026-11-22"))))
    (should (equal (progn (org-agent-input-history-test--step 'org-agent-next-question)
                          (org-agent-input-history-test--step 'org-agent-next-question))
                   "mine|"))))

(ert-deftest org-agent-input-history-from-the-kernel ()
  "A new conversation offers the questions of others, also by search.
The minibuffer of `org-agent-ask' has them in its history."
  (org-agent-kernel-test--with
      (list (append (org-agent-kernel-test--exchange "An answer") '((times . -1))))
    (setq org-agent-input-history--elsewhere nil)
    (let (org-agent-ask-history)
      (org-agent-fake-type "Which notes\nmention Samarkand?")
      (let ((inhibit-message t)) (org-agent-send))
      (org-agent-fake-wait (null (org-agent-chat-get :turn)))
      (org-agent-input-history-refresh)
      (org-agent-fake-wait org-agent-input-history--elsewhere)
      (with-current-buffer (org-agent-chat-open "another")
        (org-agent-fake-wait (eq org-agent-chat-attached t))
        (should (equal (org-agent-input-history-test--step 'org-agent-previous-question)
                       "Which notes\nmention Samarkand?|"))
        (should (equal (org-agent-input-history-test--step 'org-agent-next-question) "|"))
        (setq org-agent-input-history--elsewhere nil)
        (let ((table (org-agent-input-history--table (list 'known) "another")))
          (should-not (all-completions "Samark" table))
          (should (org-agent-fake-wait (all-completions "" table)))))
      (org-agent-input-history-refresh)
      (org-agent-fake-wait org-agent-input-history--elsewhere)
      (setq org-agent-ask-history '("mine"))
      (cl-letf (((symbol-function 'read-string)
                 (lambda (_prompt _initial history &rest _)
                   (should (equal (symbol-value history)
                                  '("mine" "Which notes\nmention Samarkand?")))
                   "asked")))
        (should (equal (org-agent-ask--read "main" nil) "asked"))
        (should (equal (org-agent-ask--read "main" nil) "asked"))))))

;;;; Keys

(defun org-agent-input-history-test--type (keys)
  "Type KEYS, a vector of events, in this buffer, and return the draft."
  (save-window-excursion
    (switch-to-buffer (current-buffer))
    (execute-kbd-macro keys)
    (org-agent-input-history-test--draft)))

(ert-deftest org-agent-input-history-keys-repeat ()
  "In `repeat-mode' the keys work however the first step was called."
  (org-agent-input-history-test--with '("one" "two" "three")
    (let ((repeat repeat-mode)
          (minor-mode-map-alist
           `((t . ,(let ((map (make-sparse-keymap)))
                     (define-key map (kbd "C-c M-p") #'org-agent-previous-question)
                     (define-key map (kbd "<f7>") #'org-agent-previous-question)
                     map))
             . ,minor-mode-map-alist)))
      (unwind-protect
          (progn
            (repeat-mode 1)
            ;; A window system sends one event for M-p.
            (should (equal (org-agent-input-history-test--type (kbd "C-c M-p M-p M-p M-n"))
                           "two|"))
            ;; A terminal sends two.
            (goto-char (point-max))
            (should (equal (org-agent-input-history-test--type
                            (vconcat (kbd "C-c") [27 ?p 27 ?n 27 ?n]))
                           "three|"))
            ;; Nobody has to bind a key that is in the map.
            (should (equal (org-agent-input-history-test--type (kbd "<f7> M-p")) "one|"))
            (should (equal (org-agent-input-history-test--type
                            (kbd "M-x org-agent-next-question RET M-n"))
                           "three|"))
            ;; What is written ends it: M-n is whatever it was.
            (should (equal (org-agent-input-history-test--type (kbd "<f7> ! ?"))
                           "two!?|"))
            (should-not (eq (lookup-key (current-active-maps) (kbd "M-n") t)
                            'org-agent-next-question)))
        (repeat-mode (if repeat 1 -1))))))

(provide 'org-agent-input-history-test)
;;; org-agent-input-history-test.el ends here
