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

(ert-deftest org-agent-tasks-armed ()
  "A heading of the agenda is listed, shown whole, armed, done and disarmed."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "It is done" '(times . -1)))
    (let* ((file (expand-file-name "agenda.org" org-agent-fake-directory))
           (org-agenda-files (list file))
           (org-agent-tasks-agenda-tag "agenttask")
           (state (lambda ()
                    (plist-get (caar tabulated-list-entries) :state))))
      (with-temp-file file
        (insert "* TODO Plans\nSCHEDULED: <2031-03-01 Sat 09:00 +1d>\n"
                "* TODO Water report :agenttask:\n"
                "SCHEDULED: <2031-03-01 Sat 09:00 ++1w>\nsince yesterday\n"))
      (org-agent-tasks)
      (with-current-buffer "*org-agent-tasks*"
        (org-agent-fake-wait tabulated-list-entries)
        (should (= 1 (length tabulated-list-entries)))
        (should (string-match-p
                 "^  2031-03-01 Sat 09:00 +Water report +<2031-.* +not armed"
                 (buffer-string)))
        (goto-char (point-min))
        (while (not (tabulated-list-get-id)) (forward-line))
        (save-window-excursion
          (org-agent-tasks-arm)
          (should (equal "*org-agent-task*" (buffer-name)))
          (dolist (part '("agenda.org, line 3" "Saturday 1 March 2031 09:00"
                          "\nWater report\nsince yesterday\n"))
            (should (string-match-p (regexp-quote part) (buffer-string))))
          (should (equal "not armed" (with-current-buffer "*org-agent-tasks*"
                                       (funcall state))))
          (call-interactively #'org-agent-tasks-arm-this))
        (org-agent-fake-wait (equal "planned" (funcall state)))
        (goto-char (point-min))
        (while (not (tabulated-list-get-id)) (forward-line))
        (org-agent-tasks-run))
      (org-agent-fake-wait
       (with-temp-buffer
         (insert-file-contents file)
         (string-match-p "Done, planned for" (buffer-string))))
      (with-current-buffer "*org-agent-tasks*"
        (revert-buffer)
        (org-agent-fake-wait (equal "planned" (funcall state)))
        (goto-char (point-min))
        (while (not (tabulated-list-get-id)) (forward-line))
        (org-agent-tasks-disarm)
        (org-agent-fake-wait (equal "not armed" (funcall state)))
        (setq org-agent-tasks-agenda-tag nil)
        (org-agent-tasks-announce)
        (org-agent-fake-wait
         (progn (revert-buffer)
                (accept-process-output nil 0.1)
                (null tabulated-list-entries)))))))

(ert-deftest org-agent-tasks-heartbeat-listed-and-run ()
  "The heartbeat is among the tasks, with what became of the last one."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "HEARTBEAT_OK"))
    (with-temp-file (expand-file-name "HEARTBEAT.org" (org-agent-home-directory))
      (insert "#+TITLE: Heartbeat\n- [ ] Is mail waiting?\n"))
    (let (said)
      (cl-letf (((symbol-function 'org-agent-say)
                 (lambda (format &rest arguments)
                   (push (apply #'format format arguments) said))))
        (org-agent-tasks)
        (with-current-buffer "*org-agent-tasks*"
          (org-agent-fake-wait tabulated-list-entries)
          (should (string-match-p
                   "^  20[-0-9]+ [A-Z][a-z][a-z] [0-9:]+ +Heartbeat +every 30m .* planned"
                   (buffer-string)))
          (should (member "Heartbeat: it has not beaten since the kernel started"
                          said))
          (goto-char (point-min))
          (while (not (tabulated-list-get-id)) (forward-line))
          (org-agent-tasks-run)
          (org-agent-fake-wait
           (progn
             (revert-buffer)
             (cl-some (lambda (text)
                        (string-suffix-p
                         "asked about 1 checklist item: nothing needs you" text))
                      said)))
          (goto-char (point-min))
          (while (not (tabulated-list-get-id)) (forward-line))
          (save-window-excursion
            (org-agent-tasks-visit)
            (should (equal "HEARTBEAT.org"
                           (file-name-nondirectory buffer-file-name)))
            (kill-buffer)))))))

(provide 'org-agent-tasks-test)
;;; org-agent-tasks-test.el ends here
