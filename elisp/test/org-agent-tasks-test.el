;;; org-agent-tasks-test.el --- Tests of the list of tasks  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The list is that of a real kernel, from a file tasks.org in its home.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agenda)
(require 'org-agent-asks)
(require 'org-agent-tasks)
(require 'org-agent-kernel-test)

(defun org-agent-tasks-test--list ()
  "Show the list of tasks as it is now, and not that of another test."
  (when (get-buffer "*org-agent-tasks*")
    (kill-buffer "*org-agent-tasks*"))
  (org-agent-tasks))

(ert-deftest org-agent-tasks-listed-and-begun ()
  "Tasks are listed, visited and done, and their list fits a terminal."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "It is done"))
    (let ((file (expand-file-name "tasks.org" (org-agent-home-directory))))
      (with-temp-file file
        (insert "* Other text\n* TODO Water report\n"
                "SCHEDULED: <2031-03-01 Sat 09:00 ++1w>\n"))
      (org-agent-tasks-test--list)
      (with-current-buffer "*org-agent-tasks*"
        (org-agent-fake-wait (string-search "Water report" (buffer-string)))
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
      (org-agent-tasks-test--list)
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
          (revert-buffer)
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
        (org-agent-tasks-test--list)
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

(ert-deftest org-agent-tasks-in-the-agenda ()
  "A block of the person's agenda has what waits and what is planned."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange
             (concat "(:type :request :target :tool :action :call :tool"
                     " \"schedule_create\" :args (:title \"Roses\""
                     " :when \"+1d 09:00\"))")))
    (let ((file (expand-file-name "tasks.org" (org-agent-home-directory)))
          (org-agenda-files nil)
          (org-agenda-custom-commands
           '(("g" "Both" ((agenda "") (org-agent-tasks-agenda "")))))
          (org-agenda-window-setup 'current-window))
      (with-temp-file file
        (insert "* Water report\n:PROPERTIES:\n:CRON:     @hourly\n:END:\n"
                "* TODO Far away\nSCHEDULED: <2031-03-01 Sat 09:00>\n"))
      (org-agent-kernel-test--say "Remind me of the roses")
      (org-agent-fake-wait (org-agent-asks-of :approval))
      (save-window-excursion
        (delete-other-windows)
        (switch-to-buffer (get-buffer-create "*Org Agenda*"))
        (org-agenda nil "g")
        (with-current-buffer "*Org Agenda*"
          (dolist (part '("^The agent:$"
                          "^  Waits for you: +Plan the task Roses (main)$"
                          "^  [A-Z][a-z]+ +[0-9]+ .*:00 +Water report$"))
            (goto-char (point-min))
            (should (re-search-forward part nil t)))
          (should-not (string-match-p "Far away" (buffer-string)))
          (goto-char (point-min))
          (search-forward "Plan the task")
          (call-interactively (key-binding (kbd "RET"))))
        (should (equal "*org-agent-chat*" (buffer-name (window-buffer))))
        (switch-to-buffer "*Org Agenda*")
        (with-current-buffer "*Org Agenda*"
          (goto-char (point-min))
          (search-forward "Water report")
          (call-interactively (key-binding (kbd "RET"))))
        (should (equal file (buffer-file-name (window-buffer))))
        (kill-buffer (window-buffer))
        (kill-buffer "*Org Agenda*")))))

(ert-deftest org-agent-tasks-of-the-agenda-are-answered ()
  "An armed task of the agenda is answered in the chat buffer at its times.
Each time is answered once, and its heading says so in its buffer, beside
what the person has not saved."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "I am here" '(match . "Are you there"))
            (org-agent-kernel-test--exchange
             "It rained" '(match . "^Water report") '(times . -1)))
    (let* ((file (expand-file-name "agenda.org" org-agent-fake-directory))
           (org-agenda-files (list file))
           (org-agent-tasks-agenda-tag "agenttask")
           (count (lambda (regexp)
                    (save-excursion
                      (goto-char (point-min))
                      (how-many regexp)))))
      (org-agent-kernel-test--say "Are you there?")
      (org-agent-kernel-test--settle 1)
      (with-temp-file file
        (insert "* TODO Plans\n* TODO Water report :agenttask:\n:PROPERTIES:\n"
                ":CRON:     */2 * * * * *\n:MAX_RUNS: 2\n:END:\n"))
      (with-current-buffer (find-file-noselect file)
        (goto-char (point-min))
        (end-of-line)
        (insert " that are not saved"))
      (org-agent-tasks-test--list)
      (with-current-buffer "*org-agent-tasks*"
        (org-agent-fake-wait tabulated-list-entries)
        (goto-char (point-min))
        (search-forward "Water report")
        (save-window-excursion
          (org-agent-tasks-arm)
          (call-interactively #'org-agent-tasks-arm-this)))
      (with-current-buffer "*org-agent-chat*"
        (org-agent-fake-wait (= 2 (funcall count "^It rained$")))
        (org-agent-fake-wait
         (with-current-buffer (find-buffer-visiting file)
           (= 1 (funcall count "^\\* DONE Water report"))))
        (should (= 2 (funcall count "Water report")))
        (should (= 2 (funcall count "^It rained$"))))
      (with-current-buffer (find-buffer-visiting file)
        (should (= 1 (funcall count "^\\* TODO Plans that are not saved$")))
        (let (times)
          (goto-char (point-min))
          (while (re-search-forward "Done, planned for \\([-0-9]+ [0-9:]+\\)" nil t)
            (push (match-string 1) times))
          (should (= 2 (length (delete-dups times)))))
        (set-buffer-modified-p nil)
        (kill-buffer)))))

(ert-deftest org-agent-tasks-of-files-that-come ()
  "A file that becomes one of the agenda is looked at when tasks are shown."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "It is done"))
    (let* ((files (mapcar (lambda (name)
                            (expand-file-name name org-agent-fake-directory))
                          '("one.org" "two.org")))
           (org-agenda-files nil)
           (org-agenda-custom-commands
            '(("g" "Both" ((agenda "") (org-agent-tasks-agenda "")))))
           (org-agenda-window-setup 'current-window)
           (org-agent-tasks-agenda-tag "robot"))
      (dolist (file files)
        (with-temp-file file
          (insert "* Of " (file-name-base file) " :robot:\n:PROPERTIES:\n"
                  ":CRON:     @hourly\n:END:\n")))
      (org-agent-tasks-test--list)
      (with-current-buffer "*org-agent-tasks*"
        (org-agent-fake-wait (string-search "no tasks" (buffer-string)))
        (setq org-agenda-files (list (car files)))
        (revert-buffer)
        (org-agent-fake-wait tabulated-list-entries)
        (should (string-search "Of one" (buffer-string))))
      (setq org-agenda-files files)
      (save-window-excursion
        (delete-other-windows)
        (switch-to-buffer (get-buffer-create "*Org Agenda*"))
        (org-agenda nil "g")
        (with-current-buffer "*Org Agenda*"
          (should (string-match-p ":00 +Of one (not armed)$" (buffer-string)))
          (should (string-match-p ":00 +Of two (not armed)$" (buffer-string)))
          ;; What the kernel refuses leaves the agenda as it is.
          (setq org-agent-tasks-agenda-tag "two words")
          (org-agenda-redo)
          (should (string-match-p ":00 +Of two (not armed)$" (buffer-string))))
        (kill-buffer "*Org Agenda*")))))

(ert-deftest org-agent-tasks-own-tag-is-held ()
  "The person's own tag for tasks is held in answers, by the kernel and by Emacs.
One that the kernel was not told is held by Emacs.  What is no tag is
refused with the reason."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange
             (org-agent-kernel-test--envelope
              "* Plan :robot:\n** TODO Tidy :x:Robot:\n** TODO Dust :later:\n** Rest :y:")
             '(times . -1)))
    (let* ((file (expand-file-name "agenda.org" org-agent-fake-directory))
           (org-agenda-files (list file))
           (org-agent-tasks-agenda-tag "robot")
           (tags (lambda ()
                   (goto-char (point-min))
                   (cl-loop while (re-search-forward "^\\*\\*+ \\(?:Plan\\|TODO\\|Rest\\)" nil t)
                            collect (org-get-tags nil t))))
           (repaired (lambda ()
                       (with-current-buffer (get-buffer-create "*org-agent-log*")
                         (how-many "made inert" (point-min) (point-max)))))
           said)
      (with-temp-file file
        (insert "* TODO Water report :robot:\nSCHEDULED: <2031-03-01 Sat 09:00>\n"))
      (org-agent-tasks-test--list)
      (with-current-buffer "*org-agent-tasks*"
        (org-agent-fake-wait tabulated-list-entries))
      (org-agent-kernel-test--say "A plan?")
      (org-agent-kernel-test--settle 1)
      (should (equal (funcall tags) '(("agent") nil ("later") ("y"))))
      (should (= 0 (funcall repaired)))
      (setq org-agent-tasks-agenda-tag "later")
      (org-agent-kernel-test--say "Another?")
      (org-agent-kernel-test--settle 2)
      (should (equal (nthcdr 4 (funcall tags)) '(("agent") nil nil ("y"))))
      (should (= 1 (funcall repaired)))
      (should (equal (buffer-substring-no-properties (point-min) (point-max))
                     (let ((conversation buffer-file-name))
                       (with-temp-buffer
                         (insert-file-contents conversation)
                         (buffer-string)))))
      (setq org-agent-tasks-agenda-tag "two words")
      (cl-letf (((symbol-function 'org-agent-say)
                 (lambda (format &rest arguments)
                   (push (apply #'format format arguments) said))))
        (org-agent-tasks-announce)
        (org-agent-fake-wait said))
      (should (equal said '("Tasks of the agenda: \"two words\" is no tag: letters, digits, _, @, # and % make one"))))))

(provide 'org-agent-tasks-test)
;;; org-agent-tasks-test.el ends here
