;;; org-agent-approval-tools-test.el --- Tests of approvals of tools  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real kernel, and a skill that proposes what the model says.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-approval-test)
(require 'org-agent-page-test)
(require 'org-agent-approval)

(defun org-agent-approval-tools-test--project ()
  "Make a directory beside the home and return its name."
  (let ((project (expand-file-name "project" org-agent-fake-directory)))
    (make-directory project t)
    project))

(defun org-agent-approval-tools-test--call (tool &rest args)
  "Return a reply that calls TOOL with ARGS."
  (prin1-to-string
   (list :type :request :target :tool :action :call :tool tool :args args)))

(defun org-agent-approval-tools-test--see (line)
  "Fail unless the page shows the calls of the answer as LINE."
  (font-lock-ensure)
  (should (string-search line (org-agent-page-test--seen))))

(ert-deftest org-agent-approval-of-a-command ()
  "A command is shown in full with its effects, and runs once when allowed."
  (org-agent-approval-test--with
      (org-agent-approval-tools-test--call
       "exec" :command "echo one\necho two >> ran; cat ran"
       :cwd (org-agent-approval-tools-test--project) :writes t)
    (let ((approval (org-agent-approval-test--waits))
          (kills kill-ring)
          (ran (expand-file-name "project/ran" directory)))
      (should (looking-at "\\*\\* TODO May I run echo one …\\? +:agent:$"))
      (let ((shown (buffer-substring-no-properties (point) (point-max))))
        (should (string-match-p "\necho one\necho two >> ran; cat ran\n#\\+end_src" shown))
        (should (string-match-p "can change everything there" shown)))
      (should-not (file-exists-p ran))
      (call-interactively (key-binding (kbd "C-c C-c")))
      (org-agent-kernel-test--settle 2)
      (should (eq kills kill-ring))
      (should (equal "two\n" (org-agent-approval-test--text ran)))
      (should-not (org-agent-asks-known (plist-get approval :id)))
      (goto-char (point-min))
      (should (re-search-forward "^\\*\\* DONE Approved once: Run echo one" nil t))
      ;; What it wrote is there, folded away.
      (should (re-search-forward "^:   one$" nil t))
      (font-lock-ensure)
      (should (invisible-p (1- (point))))
      (org-agent-approval-tools-test--see "called exec\n"))))

(ert-deftest org-agent-approval-of-a-command-refused ()
  "A refused command does not run, and the agent gets the reason."
  (org-agent-approval-test--with
      (org-agent-approval-tools-test--call
       "exec" :command "touch ran"
       :cwd (org-agent-approval-tools-test--project) :writes t)
    (org-agent-approval-test--waits)
    (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "not that")))
      (call-interactively (key-binding (kbd "C-c C-k"))))
    (org-agent-kernel-test--settle 2)
    (goto-char (point-min))
    (should (re-search-forward "^\\*\\* CANCELLED Refused: Run touch ran" nil t))
    (should (re-search-forward "not that$" nil t))
    (org-agent-approval-tools-test--see "called exec (denied)\n")
    (should-not (file-exists-p (expand-file-name "project/ran" directory)))))

(ert-deftest org-agent-approval-of-a-page ()
  "The approval of a web page shows its full address; it can be for the turn."
  (org-agent-approval-test--with
      (org-agent-approval-tools-test--call
       "web_fetch" :url "https://example.org/a?q=1#part")
    (org-agent-approval-test--waits)
    (should (looking-at "\\*\\* TODO May I fetch https://example.org/a\\?q=1\\? +:agent:$"))
    (should (save-excursion (re-search-forward "^https://example.org/a\\?q=1$" nil t)))
    (org-agent-approval-test--keys)
    (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "no")))
      (call-interactively (key-binding (kbd "C-c C-k"))))
    (org-agent-kernel-test--settle 2)
    (goto-char (point-min))
    (should (re-search-forward "^\\*\\* CANCELLED Refused: Fetch https://example.org" nil t))))

(ert-deftest org-agent-approval-of-a-file ()
  "A file to be written is shown as a diff, and is refused or written whole."
  (org-agent-approval-test--with
      (org-agent-approval-tools-test--call
       "write" :path (concat file ".new") :content "* one\ntwo")
    (org-agent-approval-test--waits)
    (should (looking-at "\\*\\* TODO May I write the new file "))
    (should (save-excursion (search-forward "\n+* one\n+two\n" nil t)))
    (org-agent-approval-test--keys)
    (call-interactively (key-binding (kbd "C-c C-c")))
    (org-agent-kernel-test--settle 2)
    (should (equal "* one\ntwo" (org-agent-approval-test--text (concat file ".new"))))))

(ert-deftest org-agent-approval-of-a-file-that-changed ()
  "What would be allowed in vain says so where it is decided and in the list.
A yes is not taken; that is shown, and what waits can be refused."
  (org-agent-approval-test--with
      (org-agent-approval-tools-test--call
       "write" :path file :content "* one\n" :hash "0123456789abcdef")
    (org-agent-approval-test--waits)
    (org-agent-fake-wait
     (cl-some (lambda (overlay) (overlay-get overlay 'org-agent-asks-note))
              (overlays-in (point-min) (point-max))))
    (let ((mark (cl-find-if (lambda (overlay) (overlay-get overlay 'org-agent-asks-note))
                            (overlays-in (point-min) (point-max))))
          (said "note.org is not the text that this was proposed for"))
      (should (string-search said (overlay-get mark 'before-string)))
      (should (equal (overlay-start mark)
                     (save-excursion (goto-char (overlay-start mark))
                                     (line-beginning-position))))
      (should-not (string-search said (org-agent-fake-text)))
      (save-window-excursion
        (org-agent-approvals)
        (org-agent-fake-wait (string-search "cannot be done now: " (buffer-string)))
        (should (string-search said (buffer-string))))
      (org-agent-approval-test--keys)
      (save-window-excursion
        (call-interactively (key-binding (kbd "C-c C-c")))
        (org-agent-fake-wait (get-buffer "*org-agent-action*"))
        (with-current-buffer "*org-agent-action*"
          (should (string-search said (buffer-string)))))
      (should (org-agent-asks-of :approval))
      (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "no")))
        (call-interactively (key-binding (kbd "C-c C-k"))))
      (org-agent-kernel-test--settle 2)
      (should-not (org-agent-asks-of :approval))
      (should-not (overlay-buffer mark)))))

(provide 'org-agent-approval-tools-test)
;;; org-agent-approval-tools-test.el ends here
