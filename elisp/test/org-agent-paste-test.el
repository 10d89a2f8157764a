;;; org-agent-paste-test.el --- Tests of turns that are pasted  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-draft)
(require 'org-agent-heading)
(require 'org-agent-branch)

(defconst org-agent-paste-test--other
  (concat "* Whence?  :work:user:\n:PROPERTIES:\n:ID:       elsewhere-1\n:END:\nand why\n"
          "** From there  :agent:\n:PROPERTIES:\n:ID:       elsewhere-2\n:MODEL: m\n:END:\nA text\n")
  "A question and its answer, of another conversation.")

(defun org-agent-paste-test--yank (text)
  "Insert TEXT at point as one command does."
  (undo-boundary)
  (let ((kill-ring (list text)) kill-ring-yank-pointer)
    (yank))
  (run-hooks 'post-command-hook)
  (undo-boundary))

(defun org-agent-paste-test--undo ()
  "Take the last command back."
  (let ((last-command nil)) (undo)))

(ert-deftest org-agent-paste-into-the-draft ()
  "A pasted question with its answer is text of the draft, and sent once."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "first")
            (org-agent-kernel-test--exchange "second"))
    (org-agent-kernel-test--say "One?")
    (org-agent-kernel-test--settle 1)
    (let* ((ids (org-agent-heading-turn-ids))
           (turn (buffer-substring (org-agent-heading-find (car ids))
                                   (org-agent-draft-start)))
           (before (org-agent-fake-text)))
      ;; Behind the stars, at the beginning of a line, and of another conversation.
      (goto-char (point-max))
      (org-agent-paste-test--yank turn)
      (should (looking-back "\\*\\{2\\} first\n" nil))
      (org-agent-paste-test--undo)
      (should (equal before (org-agent-fake-text)))
      (goto-char (point-max))
      (insert "See this:\n")
      (org-agent-paste-test--yank turn)
      (org-agent-paste-test--yank org-agent-paste-test--other)
      (should (equal ids (org-agent-heading-turn-ids)))
      (should (equal (car (org-agent-context-draft))
                     "See this:\n** One?\n*** first\n** Whence? :work:\nand why\n*** From there\nA text"))
      (org-agent-chat-ctrl-c-ctrl-c))
    (org-agent-kernel-test--settle 2)
    (should (= 4 (length (org-agent-heading-turn-ids))))
    (should-not (string-match-p "elsewhere-" (org-agent-fake-file-text)))
    (should (string-match-p "^\\*\\* Whence\\? :work:\nand why\n" (org-agent-fake-file-text)))))

(ert-deftest org-agent-paste-before-it-is-looked-at ()
  "Text that a program inserts and sends at once is text of the draft, too."
  (org-agent-fake-with-chat
    (goto-char (point-max))
    (insert "Look\n" org-agent-paste-test--other)
    (org-agent-send)
    (org-agent-fake-wait (org-agent-fake-requests "event"))
    (should (equal (plist-get (car (org-agent-fake-requests "event")) :text)
                   "Look\n** Whence? :work:\nand why\n*** From there\nA text"))
    (should (= 1 (length (org-agent-heading-turn-ids))))))

(ert-deftest org-agent-paste-moves-turns ()
  "A turn that is cut and yanked stays a turn; a copy loses its ID."
  (org-agent-fake-with-chat
    (goto-char (point-min))
    (insert (replace-regexp-in-string "elsewhere" "one" org-agent-paste-test--other)
            (replace-regexp-in-string "elsewhere" "two" org-agent-paste-test--other))
    (run-hooks 'post-command-hook)
    (should (equal (org-agent-heading-turn-ids) '("one-1" "one-2" "two-1" "two-2")))
    (let* ((beg (org-agent-heading-find "two-1"))
           (end (org-agent-draft-start))
           (turn (buffer-substring beg end)))
      (delete-region beg end)
      (goto-char (point-min))
      (org-agent-paste-test--yank turn)
      (should (equal (org-agent-heading-turn-ids) '("two-1" "two-2" "one-1" "one-2")))
      (org-agent-paste-test--undo)
      ;; Cut at the end and yanked there, before the draft.
      (goto-char (org-agent-draft-start))
      (org-agent-paste-test--yank turn)
      (should (equal (org-agent-heading-turn-ids) '("one-1" "one-2" "two-1" "two-2")))
      (goto-char (org-agent-heading-find "one-2"))
      (org-agent-paste-test--yank turn)
      (should (equal (org-agent-heading-turn-ids) '("one-1" "one-2" "two-1" "two-2")))
      (should (equal (how-many "^\\* Whence\\? :work:$" (point-min)) 1)))))

(ert-deftest org-agent-paste-into-a-branch ()
  "In a branch draft, pasted text is below the old heading and in the draft."
  (org-agent-fake-with-chat
    (goto-char (point-min))
    (insert org-agent-paste-test--other)
    (run-hooks 'post-command-hook)
    (goto-char (point-min))
    (org-agent-branch)
    (org-agent-paste-test--yank "a\nb")
    (should (equal (let ((org-agent-draft-chosen (org-agent-draft-branch-at (point))))
                     (list (car (org-agent-context-draft)) (org-agent-draft-properties)))
                   '("a\nb" (("HISTORY" . "branch")))))
    (org-agent-paste-test--yank (concat "\n" org-agent-paste-test--other))
    (should (equal (let ((org-agent-draft-chosen (org-agent-draft-branch-at (point))))
                     (car (org-agent-context-draft)))
                   "a\nb\n*** Whence? :work:\nand why\n**** From there\nA text"))
    (should (equal (org-agent-heading-turn-ids) '("elsewhere-1" "elsewhere-2")))
    (should (equal (buffer-substring (org-agent-draft-start) (point-max)) "* "))))

(provide 'org-agent-paste-test)
;;; org-agent-paste-test.el ends here
