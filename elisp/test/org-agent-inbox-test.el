;;; org-agent-inbox-test.el --- Tests of the inbox  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The items are those of a real kernel: the results of tasks of a person who
;; has written nowhere, one of which fails.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-inbox)
(require 'org-agent-header)
(require 'org-agent-kernel-test)

(defun org-agent-inbox-test--rows ()
  "Return the titles of the listed items."
  (with-current-buffer "*org-agent-inbox*"
    (mapcar (lambda (section)
              (plist-get (org-agent-section-data section) :title))
            (org-agent-section-all 'inbox))))

(ert-deftest org-agent-inbox-listed-read-and-opened ()
  "What is kept is listed, unread first, unfolded, opened and marked."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Dry, [[shell:rm][look]]."))
    (let ((file (expand-file-name "tasks.org" (org-agent-home-directory))))
      (with-temp-file file
        (insert "* TODO Water report\nSCHEDULED: <2026-01-02 Fri 10:00>\n"
                ":PROPERTIES:\n:SESSION:  water\n:ROUTE: ../none\n:END:\n"
                "* TODO Nobody does this\nSCHEDULED: <2026-01-02 Fri 10:00>\n"
                ":PROPERTIES:\n:SKILL: nobody-has-this\n:RETRY: 0\n:END:\n"))
      (org-agent-fake-wait (= 2 (org-agent-inbox-unread)))
      (org-agent-inbox)
      (org-agent-fake-wait (= 2 (length (org-agent-inbox-test--rows))))
      (with-temp-buffer
        (should (string-match-p "2 in the inbox" (org-agent-header--inbox))))
      (with-current-buffer "*org-agent-inbox*"
        (goto-char (point-min))
        (search-forward "Nobody does this: failed")
        (beginning-of-line)
        (should (looking-at ".*20[-0-9]+ [0-9:]+ failed "))
        (org-agent-inbox-toggle-read)
        (org-agent-fake-wait (= 1 (org-agent-inbox-unread)))
        (org-agent-fake-wait
         (equal '("Water report" "Nobody does this: failed")
                (org-agent-inbox-test--rows)))
        (goto-char (point-min))
        (search-forward "Water report")
        (org-agent-section-toggle)
        (should (search-forward "Dry" nil t))
        (save-window-excursion
          (org-agent-inbox-visit)
          (should (equal "water" org-agent-chat-session)))
        (org-agent-fake-wait (= 0 (org-agent-inbox-unread)))
        (should-not (org-agent-header--inbox))))))

(provide 'org-agent-inbox-test)
;;; org-agent-inbox-test.el ends here
