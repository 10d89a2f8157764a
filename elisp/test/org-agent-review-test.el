;;; org-agent-review-test.el --- Tests of reviews of actions  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real kernel, and the skill of the tests of approvals, which
;; proposes what the model says.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'smerge-mode)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-approval-test)
(require 'org-agent-asks)
(require 'org-agent-diff)
(require 'org-agent-review)
(require 'org-agent-section)

(defun org-agent-review-test--open ()
  "Wait for the edit, look at it, and return the buffer of its review."
  (org-agent-approval-test--waits)
  (org-agent-approval-view)
  (org-agent-fake-wait (get-buffer "*org-agent-review*")))

(ert-deftest org-agent-review-change-by-change ()
  "Only the marked changes of an edit are made."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit
       file :old "wo\nthree\nfour\nfive\nsix\nseven\neight\nn"
       :new "WO\nthree\nfour\nfive\nsix\nseven\neight and a half\nN")
    (with-current-buffer (org-agent-review-test--open)
      (should (looking-at "\\[X\\] @@ -1,5 \\+1,5 @@\n one\n-two\n"))
      (should (string-match-p "2 of 2 changes marked" (buffer-string)))
      (org-agent-review-next)
      (org-agent-review-toggle)
      (should (looking-at "\\[ \\] @@"))
      (org-agent-review-accept))
    (with-current-buffer "*org-agent-chat*"
      (org-agent-kernel-test--settle 2)
      (should (string-match-p "DONE Approved once, edited" (org-agent-fake-text))))
    (should (equal (org-agent-approval-test--text file)
                   "one\ntWO\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"))))

(ert-deftest org-agent-review-of-a-tool ()
  "An edit by the tool of that name is looked at with the same keys.
What is marked of it is made."
  (org-agent-approval-test--with
      (prin1-to-string
       (list :type :request :target :tool :action :call :tool "edit"
             :args (list :path file :old "wo\nthree\nfour\nfive\nsix\nseven\neight\nn"
                         :new "WO\nthree\nfour\nfive\nsix\nseven\neight and a half\nN")))
    (with-current-buffer (org-agent-review-test--open)
      (should (looking-at "\\[X\\] @@ -1,5 \\+1,5 @@\n one\n-two\n"))
      (should (string-match-p "2 of 2 changes marked" (buffer-string)))
      (org-agent-review-next)
      (org-agent-review-toggle)
      (org-agent-review-accept))
    (with-current-buffer "*org-agent-chat*"
      (org-agent-kernel-test--settle 2)
      (should (string-match-p "DONE Approved once, edited" (org-agent-fake-text))))
    (should (equal (org-agent-approval-test--text file)
                   "one\ntWO\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n")))
  ;; What cannot be shown so is shown as text.
  (dolist (action '((:tool "edit" :args (:path "/nothing" :old "a" :new "b"))
                    (:tool "edit" :args (:path "~/" :old "a" :new "b"))
                    (:tool "write" :args (:path "~/" :content "b"))))
    (should-not (org-agent-review--of-tool
                 (list :type :request :target :tool :payload action)))))

(ert-deftest org-agent-review-hunk-by-hunk ()
  "A hunk is marked, is looked at closely, and its place is visited, by keys."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit
       file :old "two\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
       :new "two or so\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n")
    (cl-flet ((press (key) (call-interactively (key-binding (kbd key)))))
      (with-current-buffer (org-agent-review-test--open)
        (should (looking-at "\\[X\\] @@ -1,5 "))
        (press "=")
        (should (looking-at "\\[X\\] @@ -1,10 \\+1,10 @@\n one\n-two\n\\+two or so\n three\n"))
        (save-excursion
          (search-forward "+two or")
          (should (memq 'diff-refine-added (get-text-property (1- (point)) 'face)))
          (search-backward "+two")
          (should-not (memq 'diff-refine-added
                            (ensure-list (get-text-property (1+ (point)) 'face)))))
        (press "=")
        (should (looking-at "\\[X\\] @@ -1,5 "))
        (save-window-excursion
          (press "RET")
          (with-current-buffer (window-buffer (selected-window))
            (should (equal buffer-file-name file))
            (should (looking-at "two$"))))
        (press "m")
        (should (looking-at "\\[X\\] @@ -6"))
        (should (string-match-p "1 of 2 changes marked" (buffer-string)))
        (press "m")
        (should-error (press "C-c C-c") :type 'user-error)
        (press "m")
        (press "C-c C-c")))
    (with-current-buffer "*org-agent-chat*" (org-agent-kernel-test--settle 2))
    (should (equal (org-agent-approval-test--text file)
                   "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\nten\n"))))

(ert-deftest org-agent-review-merged ()
  "The result of Ediff and Smerge is what is executed."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit
       file :old "two\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
       :new "TWO\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n")
    (with-current-buffer (org-agent-review-test--open)
      (let (proposed)
        (cl-letf (((symbol-function 'ediff-buffers)
                   (lambda (_ b hooks)
                     (setq proposed b)
                     (mapc #'funcall hooks))))
          (org-agent-review-ediff))
        (with-current-buffer proposed
          (goto-char (point-min))
          (search-forward "NINE")
          (insert " lives"))
        (save-current-buffer (run-hooks 'ediff-quit-hook)))
      (should (string-match-p "^\\+NINE lives$" (buffer-string)))
      (save-window-excursion
        (org-agent-review-smerge)
        (with-current-buffer (window-buffer (selected-window))
          (should smerge-mode)
          (should-error (org-agent-smerge-accept) :type 'user-error)
          (should (looking-at "<<<<<<< as it is\ntwo\n=======\nTWO\n>>>>>>>"))
          (smerge-keep-upper)
          (smerge-next)
          (smerge-keep-lower)
          (org-agent-smerge-accept)))
      (should (string-match-p "1 of 1 changes marked" (buffer-string)))
      (org-agent-review-accept))
    (with-current-buffer "*org-agent-chat*" (org-agent-kernel-test--settle 2))
    (should (equal (org-agent-approval-test--text file)
                   "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE lives\nten\n"))))

(ert-deftest org-agent-review-of-properties ()
  "Properties are shown before and after, and marked one by one."
  (org-agent-approval-test--with
      (org-agent-approval-test--action
       :action :set-properties :id "p1" :properties '(:note "x" :effort "2:00"))
    (write-region "* A\n  :PROPERTIES:\n  :ID: p1\n  :Effort: 1\n  :END:\n" nil file nil 'silent)
    (let ((org-id-locations (make-hash-table :test #'equal)))
      (puthash "p1" file org-id-locations)
      (with-current-buffer (org-agent-review-test--open)
        (should (string-match-p "^-  :Effort: 1\n\\+  :EFFORT:   2:00$" (buffer-string)))
        (should (string-match-p "^\\+  :NOTE:     x$" (buffer-string)))
        (should-error (org-agent-review-ediff) :type 'user-error)
        (org-agent-review-toggle)
        (org-agent-review-accept))
      (with-current-buffer "*org-agent-chat*" (org-agent-kernel-test--settle 2))
      (should (equal (org-agent-approval-test--text file)
                     "* A\n  :PROPERTIES:\n  :ID: p1\n  :Effort: 1\n  :NOTE:     x\n  :END:\n")))))

(ert-deftest org-agent-review-edited-whole ()
  "An action can be edited; an invalid one is refused and still waits."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit file :old "two\n" :new "2\n")
    (let ((id (plist-get (org-agent-approval-test--waits) :id)))
      (org-agent-approval-edit)
      (with-current-buffer (window-buffer (selected-window))
        (should (derived-mode-p 'org-agent-approval-action-mode))
        (goto-char (point-min))
        (search-forward ":new \"2")
        (insert " (two)")
        (save-excursion
          (goto-char (point-min))
          (delete-char 1)
          (org-agent-approval-send)
          (org-agent-fake-settle)
          (should (org-agent-asks-known id))
          (insert "("))
        (org-agent-approval-send))
      (org-agent-fake-wait (not (org-agent-asks-known id)))
      (with-current-buffer "*org-agent-chat*" (org-agent-kernel-test--settle 2))
      ;; One goes on in the draft, not in the record of the decision.
      (org-agent-fake-wait (equal (buffer-name (window-buffer)) "*org-agent-chat*"))
      (with-current-buffer "*org-agent-chat*"
        (should (org-agent-draft-p (window-point))))
      (should (string-prefix-p "one\n2 (two)\nthree" (org-agent-approval-test--text file))))))

(ert-deftest org-agent-review-of-a-stale-edit ()
  "The person sees the current text, and can refuse with it."
  (org-agent-approval-test--with
      (org-agent-approval-test--edit file :old "one\ntwo\nthree\n" :new "2\n")
    (let ((id (plist-get (org-agent-approval-test--waits) :id))
          (asked nil))
      (with-current-buffer (find-file-noselect file)
        (goto-char (point-min))
        (search-forward "two")
        (insert " and a half"))
      (call-interactively (key-binding (kbd "C-c C-c")))
      (org-agent-fake-wait (get-buffer "*org-agent-action*"))
      (should (org-agent-asks-known id))
      (with-current-buffer "*org-agent-action*"
        (goto-char (point-min))
        (should (re-search-forward
                 "\n +one\n +-two\n +\\+two and a half\n +three\n" nil t))
        (should (search-forward "C-c C-k refuses it" nil t))
        (should (search-forward "Change ~/note.org" nil t))
        ;; Looked at again, what was folded is so, and point stays.
        (org-agent-section-toggle)
        (set-window-point (get-buffer-window) (point))
        (let ((text (buffer-string)) (point (point)) (shown 0))
          (should-not (string-match-p "asked because" text))
          (cl-letf* ((show (symbol-function 'org-agent-section-show))
                     ((symbol-function 'org-agent-section-show)
                      (lambda (sections)
                        (cl-incf shown)
                        (funcall show sections))))
            (revert-buffer)
            (org-agent-fake-wait (= shown 1)))
          (should (equal text (buffer-string)))
          (should (= point (point))))
        (cl-letf (((symbol-function 'read-string)
                   (lambda (_prompt &optional _initial _history default)
                     (setq asked default))))
          (call-interactively #'org-agent-review-refuse)))
      (should (string-match-p "\\+two and a half" asked))
      (with-current-buffer "*org-agent-chat*"
        (org-agent-kernel-test--settle 2)
        (should (string-match-p "CANCELLED Refused: Change ~/note.org" (org-agent-fake-text))))
      (should (string-prefix-p "one\ntwo\n" (org-agent-approval-test--text file))))))

(provide 'org-agent-review-test)
;;; org-agent-review-test.el ends here
