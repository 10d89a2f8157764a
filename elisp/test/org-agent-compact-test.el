;;; org-agent-compact-test.el --- Tests of summaries of conversations  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real kernel and a scripted model.

;;; Code:

(require 'org-agent-kernel-test)
(require 'org-agent-header)
(require 'org-agent-chat)
(require 'org-agent-sessions)

(defun org-agent-compact-test--prompt ()
  "Return what would be sent for the draft, as its buffer shows it."
  (org-agent-prompt)
  (org-agent-fake-wait
   (when-let* ((buffer (get-buffer "*org-agent-prompt*")))
     (with-current-buffer buffer
       (let ((text (buffer-string)))
         (and (> (length text) 0)
              (progn (kill-buffer) text)))))))

(ert-deftest org-agent-compact-and-back ()
  "A conversation is summarized, and that is undone; the buffer does not change."
  (org-agent-kernel-test--with
      (list (list '(match . "Now write the notes") '(times . -1)
                  '(reply . "* Facts\n- the key is blue"))
            (org-agent-kernel-test--exchange nil '(echo . t) '(times . -1)))
    (dotimes (i 7)
      (org-agent-kernel-test--say (format "question %d" i))
      (org-agent-kernel-test--settle (1+ i)))
    (should (string-match-p "[0-9]+%% full" (org-agent-header-line)))
    (goto-char (point-max))
    (insert "a draft")
    (undo-boundary)                     ; else Emacs's timer adds one meanwhile
    (let* ((text (buffer-string)) (undo buffer-undo-list) (point (point))
           (kill-ring '("kept")) said
           (wait (lambda (words)
                   (org-agent-fake-wait
                    (seq-some (lambda (line) (string-match-p words line)) said)
                    (list words said)))))
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest arguments)
                   (when format
                     (push (apply #'format format arguments) said)))))
        (org-agent-compact)
        (funcall wait "the first 2 turns are shown to the model as notes")
        (let ((prompt (org-agent-compact-test--prompt)))
          (should (string-match-p "- the key is blue" prompt))
          (should (string-match-p "5 turns as said, notes of the first 2" prompt))
          (should-not (string-match-p "question 1" prompt)))
        (org-agent-compact-undo)
        (funcall wait "taken back")
        (org-agent-compact-undo)
        (funcall wait "there is no summary to take back")
        (should (string-match-p "question 1" (org-agent-compact-test--prompt))))
      (should (equal text (buffer-string)))
      (should (eq undo buffer-undo-list))
      (should (= point (point)))
      (should (equal kill-ring '("kept"))))))

(ert-deftest org-agent-compact-elsewhere ()
  "Outside of a conversation there is nothing to summarize."
  (with-temp-buffer
    (should-error (org-agent-compact) :type 'user-error)
    (should-error (org-agent-compact-stop) :type 'user-error)
    (should-error (org-agent-compact-undo) :type 'user-error)))

(ert-deftest org-agent-compact-stopped ()
  "A summary in progress can be stopped, and nothing changes."
  (org-agent-kernel-test--with
      (list (list '(match . "Now write the notes") '(times . -1)
                  '(reply . "* Facts\n- half") '(hang_after . -1))
            (org-agent-kernel-test--exchange nil '(echo . t) '(times . -1)))
    (dotimes (i 7)
      (org-agent-kernel-test--say (format "question %d" i))
      (org-agent-kernel-test--settle (1+ i)))
    (goto-char (point-max))
    (insert "a draft")
    (undo-boundary)                     ; else Emacs's timer adds one meanwhile
    (let ((text (buffer-string)) (undo buffer-undo-list) (point (point)) said)
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest arguments)
                   (when format
                     (push (apply #'format format arguments) said)))))
        (org-agent-compact)
        (org-agent-fake-wait (org-agent-chat-get :compacting))
        (org-agent-compact-stop)
        (org-agent-fake-wait (not (org-agent-chat-get :compacting)))
        (org-agent-fake-wait
         (seq-some (lambda (line) (string-match-p "was stopped: nothing" line))
                   said)
         said))
      (let ((prompt (org-agent-compact-test--prompt)))
        (should (string-match-p "question 0" prompt))
        (should-not (string-match-p "half" prompt)))
      (should (equal text (buffer-string)))
      (should (eq undo buffer-undo-list))
      (should (= point (point))))))

(provide 'org-agent-compact-test)
;;; org-agent-compact-test.el ends here
