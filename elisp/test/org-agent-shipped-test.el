;;; org-agent-shipped-test.el --- Shipped notes at work on a home  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The notes morning, weekly-review and gardener do their work on the home in
;; testdata/sample-home, as tasks of a real kernel.  In its files a date is
;; written as @+4@, in four days.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-kernel-test)
(require 'org-agent-edit-test)

(defun org-agent-shipped-test--copy (from to)
  "Copy the files of the sample home that are in FROM into the directory TO."
  (make-directory to t)
  (dolist (file (directory-files
                 (expand-file-name (concat "../testdata/sample-home/" from)
                                   org-agent-directory)
                 t "\\.org\\'"))
    (write-region
     (replace-regexp-in-string
      "@\\([+-][0-9]+\\)@"
      (lambda (date)
        (format-time-string
         "%Y-%m-%d %a"
         (time-add nil (* 86400 (string-to-number (substring date 1 -1))))))
      (org-agent-edit-test--text file))
     nil (expand-file-name (file-name-nondirectory file) to) nil 'silent)))

(defmacro org-agent-shipped-test--with (exchanges &rest body)
  "Run BODY in the main conversation of the sample home; see EXCHANGES.
`org' is the directory of the person's files."
  (declare (indent 1) (debug t))
  `(let* (org
          (org-agent-kernel-test-configure
           (lambda (_)
             (setq org (expand-file-name "org" org-agent-fake-directory))
             (org-agent-shipped-test--copy "org" org)
             (org-agent-shipped-test--copy "" (org-agent-home-directory))
             (write-region (format "* Settings\n:PROPERTIES:\n:NOTES: %s\n:END:\n" org)
                           nil (expand-file-name "config.org" (org-agent-home-directory))
                           nil 'silent))))
     (org-agent-kernel-test--with ,exchanges ,@body)))

(defun org-agent-shipped-test--run (task until)
  "Have TASK done, and wait for the regular expression UNTIL in its result.
Return the conversation's text."
  (org-agent-kernel-call "schedule/run" (list :task task))
  (org-agent-fake-wait (string-match-p until (buffer-string)) until)
  (buffer-substring-no-properties (point-min) (point-max)))

(defun org-agent-shipped-test--decide (decision)
  "Give the action that waits next DECISION; return its description."
  (let ((ask (org-agent-fake-wait
              (car (plist-get (org-agent-kernel-call "ask/list" nil) :asks)))))
    (org-agent-kernel-call "ask/decide" (list :id (plist-get ask :id)
                                              :decision decision))
    (org-agent-fake-wait
     (not (equal (plist-get ask :id)
                 (plist-get (car (plist-get (org-agent-kernel-call "ask/list" nil) :asks))
                            :id))))
    (format "%S" ask)))

(ert-deftest org-agent-shipped-morning ()
  "The day is told from the person's files, with a model's words below."
  (org-agent-shipped-test--with
      (list (org-agent-kernel-test--exchange
             "The dentist comes first."))
    (let ((text (org-agent-shipped-test--run "Morning" "The dentist comes first")))
      (should (string-match-p "At a time (1)\n.*09:30-10:00: Dentist" text))
      (should (string-match-p "Late (1)\n.*deadline 3 d. ago: TODO Pay the rent" text))
      (should (string-match-p "Today (1)\n.*scheduled: TODO Water the roses" text))
      (should-not (string-match-p "Nobody knows\\|Ship the letters" text)))))

(ert-deftest org-agent-shipped-weekly-review ()
  "The week is told from the person's files, also without a model."
  (org-agent-shipped-test--with nil
    (let ((text (org-agent-shipped-test--run "Weekly review" "Review of the week")))
      (should (string-match-p "Done (1)\n.*DONE Paint the door" text))
      (should (string-match-p "Late by its deadline (1)\n.*TODO Pay the rent" text))
      (should (string-match-p "Waiting (1)\n.*WAIT Answer of the bank" text))
      (should (string-match-p "Next week (1)\n.*\n.*TODO Ship the letters" text))
      (should-not (string-match-p "Nobody knows" text)))))

(ert-deftest org-agent-shipped-gardener ()
  "What is broken is told, and the edits are made that the person allows.
One file is open in Emacs and has unsaved changes, the other is not."
  (org-agent-shipped-test--with nil
    (let ((notes (find-file-noselect (expand-file-name "notes.org" org)))
          (plan (expand-file-name "plan.org" org))
          (chat (current-buffer)))
      (unwind-protect
          (progn
            (with-current-buffer notes
              (goto-char (point-max))
              (insert "* New\n"))
            (org-agent-kernel-call "schedule/run" (list :task "Gardener"))
            (should (string-match-p "notes\\.org" (org-agent-shipped-test--decide :allow-once)))
            (should (string-match-p "Decide the next step" (org-agent-shipped-test--decide :allow-once)))
            (should (string-match-p "Buy seeds" (org-agent-shipped-test--decide :deny)))
            (with-current-buffer chat
              (org-agent-fake-wait (string-match-p "What the gardener found" (buffer-string)))
              (let ((text (buffer-substring-no-properties (point-min) (point-max))))
                (should (string-match-p "Broken links (2)" text))
                (should (string-match-p "the file has no such heading: =((\\*Tulips))=" text))
                (should (string-match-p "Stuck projects (1)\n.*House" text))
                (should (string-match-p "Without a next step (1)\n.*Garden.*, whose first task is .*Buy seeds" text))
                (should (string-match-p "the link in Colours: made\n" text))
                (should (string-match-p "a first task below House: made\n" text))
                (should (string-match-p "NEXT for Buy seeds: left out, as you said" text))
                (should-not (string-match-p "Nobody knows\\|secret" text))))
            (with-current-buffer notes
              (should (buffer-modified-p))
              (should (string-match-p "see \\[\\[id:door\\]\\[Paint the door\\]\\]\\.\n" (buffer-string)))
              (should (string-match-p "^\\* New$" (buffer-string))))
            (let ((text (org-agent-edit-test--text plan)))
              (should (string-match-p "^\\*\\* TODO Decide the next step$" text))
              (should (string-match-p "^\\*\\* TODO Buy seeds$" text))))
        (with-current-buffer notes
          (set-buffer-modified-p nil)
          (kill-buffer))))))

(provide 'org-agent-shipped-test)
;;; org-agent-shipped-test.el ends here
