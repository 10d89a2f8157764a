;;; org-agent-tasks-test.el --- Tests of the list of tasks  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The list is that of a real kernel, from a file tasks.org in its home.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-tasks)
(require 'org-agent-kernel-test)

(ert-deftest org-agent-tasks-listed-and-begun ()
  "Tasks are listed, visited and done, and their list fits a terminal."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "It is done"))
    (let ((file (expand-file-name "tasks.org" (org-agent-home-directory))))
      (with-temp-file file
        (insert "* Other text\n* TODO Water report\n"
                "SCHEDULED: <2031-03-01 Sat 09:00 ++1w>\n"))
      (org-agent-tasks)
      (with-current-buffer "*org-agent-tasks*"
        (org-agent-fake-wait tabulated-list-entries)
        (should (string-match-p
                 "^  2031-03-01 Sat 09:00 +Water report +<2031-03-01 Sat.* +planned"
                 (buffer-string)))
        (should (<= (cl-loop for column across tabulated-list-format
                             sum (1+ (cadr column)))
                    78))
        (goto-char (point-min))
        (while (not (tabulated-list-get-id)) (forward-line))
        (org-agent-tasks-run))
      (org-agent-fake-wait
       (with-temp-buffer
         (insert-file-contents file)
         (string-match-p "Done, planned for" (buffer-string))))
      (with-current-buffer "*org-agent-tasks*"
        (revert-buffer)
        (org-agent-fake-wait
         (equal "planned" (plist-get (caar tabulated-list-entries) :state)))
        (goto-char (point-min))
        (while (not (tabulated-list-get-id)) (forward-line))
        (save-window-excursion
          (org-agent-tasks-visit)
          (should (looking-at "\\* TODO Water report"))
          (kill-buffer))))))

(provide 'org-agent-tasks-test)
;;; org-agent-tasks-test.el ends here
