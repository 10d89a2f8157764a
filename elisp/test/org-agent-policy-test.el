;;; org-agent-policy-test.el --- Tests of opening policy.org  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'org-agent)
(require 'org-agent-approval)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-approval-test)
(require 'org-agent-kernel)
(require 'org-agent-policy)

(ert-deftest org-agent-policy-opens-the-row-that-decided ()
  "From an approval the command goes to its row, elsewhere to the table."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit file :old "two" :new "2")
    (let ((policy (expand-file-name "policy.org" home)))
      (write-region (concat "* Other\n* Rules\n| rule | matches | verdict | why | since |\n"
                            "| reads | /x | allow | | |\n"
                            "| writes | " file " | ask | mine | |\n")
                    nil policy nil 'silent)
      (org-agent-approval-test--waits)
      (with-current-buffer "*org-agent-chat*"
        (should (string-match-p "policy.org:5 says ask, mine"
                                (plist-get (org-agent-approval-at-point) :reason)))
        (save-window-excursion
          (call-interactively #'org-agent-policy)
          (should (file-equal-p buffer-file-name policy))
          (should (looking-at-p "| writes "))
          (should-not (buffer-modified-p))
          (org-agent-policy-edit)
          (should (looking-at-p "| rule "))
          (kill-buffer))))))

(ert-deftest org-agent-policy-lists-what-was-always-allowed ()
  "Always writes a row, the list shows it and its uses, and revokes it."
  (org-agent-approval-test--with
      "(:type :request :target :shell :cmd \"hostid && hostid\")"
    (let ((policy (expand-file-name "policy.org" home)))
      (write-region "* Rules\n| rule | matches | verdict | why | since |\n| runs | ls | refuse | mine | |\n"
                    nil policy nil 'silent)
      (org-agent-approval-test--waits)
      (with-current-buffer (find-file-noselect policy)
        (with-current-buffer "*org-agent-chat*"
          (should (plist-get (org-agent-approval-at-point) :always))
          (org-agent-allow-always))
        ;; The buffer that visits the file has the row without a question.
        (org-agent-fake-wait
         (string-match-p "^| action | [0-9a-f]\\{64\\} | allow +| Run hostid && hostid"
                         (buffer-string)))
        (should-not (buffer-modified-p))
        (kill-buffer))
      (org-agent-policy)
      (with-current-buffer "*org-agent-policy*"
        (org-agent-fake-wait
         (progn (revert-buffer)
                (accept-process-output nil 0.05)
                (string-match-p "^. allow +1 .* Run hostid && hostid" (buffer-string))))
        (should (string-match-p "^. refuse +0 .*runs ls +mine$" (buffer-string)))
        (goto-char (point-min))
        (re-search-forward "Run hostid")
        (save-window-excursion
          (org-agent-policy-visit)
          (should (looking-at-p "| action "))
          (kill-buffer))
        (cl-letf (((symbol-function 'yes-or-no-p) #'always))
          (org-agent-policy-revoke))
        (org-agent-fake-wait
         (not (string-match-p "Run hostid" (buffer-string))))
        (should (equal (with-temp-buffer
                         (insert-file-contents policy)
                         (buffer-string))
                       "* Rules\n| rule | matches | verdict | why | since |\n| runs | ls | refuse | mine | |\n"))
        (kill-buffer)))))

(ert-deftest org-agent-policy-reading-is-offered-once ()
  "The first question about reading in a project offers rules, which r adds."
  (org-agent-approval-test--with
      (format "(:type :request :target :tool :action :call :tool \"read\" :args (:path %S))"
              (expand-file-name "project/text" org-agent-fake-directory))
    (let ((project (expand-file-name "project" directory))
          (policy (expand-file-name "policy.org" home)))
      (make-directory (expand-file-name ".git" project) t)
      (write-region "found\n" nil (expand-file-name "text" project) nil 'silent)
      (let* ((approval (org-agent-approval-test--waits))
             (rows (plist-get (plist-get approval :reading) :rows)))
        (should (> (length rows) 10))
        ;; The conversation lists all of them, and names the key.
        (with-current-buffer "*org-agent-chat*"
          (dolist (row rows)
            (should (string-match-p
                     (regexp-quote (format "%s | %s\n" (plist-get row :rule)
                                           (plist-get row :matches)))
                     (org-agent-fake-text))))
          (goto-char (point-min))
          (search-forward "=r= reading here"))
        ;; So does the list.
        (save-window-excursion
          (org-agent-approvals)
          (with-current-buffer "*org-agent-approvals*"
            (org-agent-fake-wait (string-match-p "cat \\*\\*" (buffer-string)))
            (should (string-match-p "r Reading here" (buffer-string)))))
        (with-current-buffer "*org-agent-chat*"
          (should (eq (key-binding (kbd "r")) 'org-agent-allow-reading))
          (call-interactively (key-binding (kbd "r")))
          (org-agent-kernel-test--settle 2)
          (should (string-match-p "DONE Approved with reading in the project"
                                  (org-agent-fake-text))))
        (with-temp-buffer
          (insert-file-contents policy)
          (should (re-search-forward "^| runs in .*project +| cat \\*\\* +| allow" nil t)))
        ;; Reading there does not ask any more.
        (with-current-buffer "*org-agent-chat*"
          (org-agent-kernel-test--say "do it again")
          (org-agent-kernel-test--settle 3)
          (should-not (org-agent-asks-of :approval)))))))

(ert-deftest org-agent-policy-reading-that-is-not-offered ()
  "Where no rules for reading are offered, r decides nothing."
  (org-agent-approval-test--with
      "(:type :request :target :shell :cmd \"hostid\")"
    (should-not (plist-get (org-agent-approval-test--waits) :reading))
    (with-current-buffer "*org-agent-chat*"
      (should-not (string-match-p "reading here" (org-agent-fake-text)))
      (should-error (org-agent-allow-reading) :type 'user-error)
      (should (org-agent-asks-of :approval)))))

(ert-deftest org-agent-policy-with-unsaved-changes ()
  "While policy.org has unsaved changes always counts for the session, and says why."
  (org-agent-approval-test--with
      "(:type :request :target :shell :cmd \"hostid\")"
    (let ((policy (expand-file-name "policy.org" home))
          (create-lockfiles t) said)
      (org-agent-approval-test--waits)
      (with-current-buffer (find-file-noselect policy)
        (goto-char (point-max))
        (insert "\n")
        (with-current-buffer "*org-agent-chat*"
          (cl-letf (((symbol-function 'message)
                     (lambda (&rest arguments)
                       (when (car arguments)
                         (push (apply #'format-message arguments) said)))))
            (org-agent-allow-always)
            (org-agent-fake-wait
             (cl-some (lambda (text)
                        (string-match-p "in this session only.*policy.org has unsaved changes" text))
                      said))))
        (should (buffer-modified-p))
        (set-buffer-modified-p nil)
        (kill-buffer))
      (should-not (string-match-p "| action "
                                  (with-temp-buffer
                                    (insert-file-contents policy)
                                    (buffer-string)))))))

;;;; Hooks

(defun org-agent-policy-test--hook (body)
  "Write a note with a hook that is asked about edits and does BODY."
  (let ((note (expand-file-name "skills/guard.org" org-agent-home)))
    (make-directory (file-name-directory note) t)
    (write-region
     (concat "#+TITLE: Guard\n\n#+begin_src lisp\n(defhook guard\n"
             "  :on (before-tool emacs-edit)\n  :function (lambda (event)\n"
             "    " body "))\n#+end_src\n")
     nil note nil 'silent)
    note))

(defun org-agent-policy-test--reload ()
  "Have the kernel read all notes, and wait until it has."
  (let (read)
    (org-agent-kernel-ask "skill/reload" nil (lambda (&rest _) (setq read t)))
    (org-agent-fake-wait read)))

(ert-deftest org-agent-policy-opens-the-hook-that-asks ()
  "A hook that requires approval is shown in its note, and listed."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit file :old "two" :new "2")
    (let ((note (org-agent-policy-test--hook
                 "(list :ask (getf event :tool))")))
      (org-agent-policy-test--reload)
      (org-agent-approval-test--waits)
      (with-current-buffer "*org-agent-chat*"
        (let ((approval (org-agent-approval-at-point)))
          (should (string-match-p "the hook guard (guard.org:4) asks: emacs-edit"
                                  (plist-get approval :reason)))
          (should (plist-get approval :once)))
        (save-window-excursion
          (call-interactively #'org-agent-policy)
          (should (file-equal-p buffer-file-name note))
          (should (looking-at-p "(defhook guard"))
          (should-not (buffer-modified-p))
          (kill-buffer)))
      (org-agent-skills)
      (with-current-buffer "*org-agent-skills*"
        (org-agent-fake-wait
         (string-match-p "guard.org  hook guard at before-tool emacs-edit"
                         (buffer-string)))
        (kill-buffer)))))

(ert-deftest org-agent-policy-opens-the-note-that-is-broken ()
  "If a note with hooks is not live, edits need approval, and it is opened."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit file :old "two" :new "2")
    (let ((note (org-agent-policy-test--hook "(frob event)")))
      (org-agent-policy-test--reload)
      (org-agent-approval-test--waits)
      (with-current-buffer "*org-agent-chat*"
        (should (string-match-p "the hooks of guard.org are not in force"
                                (plist-get (org-agent-approval-at-point) :reason)))
        (save-window-excursion
          (call-interactively #'org-agent-policy)
          (should (file-equal-p buffer-file-name note))
          (should (looking-at-p " *(frob event)"))
          (kill-buffer))))))

(ert-deftest org-agent-policy-without-a-file ()
  "If there is no file, none is written."
  (let ((org-agent-home (file-name-as-directory (make-temp-file "policy" t))))
    (unwind-protect
        (progn (should-error (org-agent-policy-edit) :type 'user-error)
               (should-not (directory-files org-agent-home nil "policy")))
      (delete-directory org-agent-home t))))

(provide 'org-agent-policy-test)
;;; org-agent-policy-test.el ends here
