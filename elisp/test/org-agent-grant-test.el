;;; org-agent-grant-test.el --- Tests of what skills may reach  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real program: granting on the line that requests, the list of
;; skills, Flymake, and refusals.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'flymake)
(require 'org-agent-fake-kernel)
(require 'org-agent-skill-test)
(require 'org-agent-skills)

(defconst org-agent-grant-test--note
  "#+TITLE: Adder
#+CAPABILITIES: env:LANG exec:ls

#+begin_src lisp
(defskill :adder :trigger (lambda (c) (declare (ignore c)) nil)
  :neuro (lambda (c) (declare (ignore c)) (uiop:getenv \"LANG\")))
#+end_src
"
  "A note that asks for something.")

(defvar org-agent-grant-test--shown nil
  "What was shown when the last question was asked.")

(defmacro org-agent-grant-test--answering (answer &rest body)
  "Run BODY with every question answered ANSWER, and remember what was shown."
  (declare (indent 1) (debug t))
  `(cl-letf* ((ask (lambda (&rest _)
                     (setq org-agent-grant-test--shown
                           (when-let* ((buffer (get-buffer "*org-agent-grant*")))
                             (should (get-buffer-window buffer))
                             (with-current-buffer buffer (buffer-string))))
                     ,answer))
              ((symbol-function 'yes-or-no-p) ask)
              ((symbol-function 'y-or-n-p) ask))
     ,@body))

(defun org-agent-grant-test--go-to-line ()
  "Go into the line that asks."
  (goto-char (point-min))
  (search-forward "env:LANG"))

(defun org-agent-grant-test--warnings ()
  "Return what Flymake warns of, in this note."
  (mapcar (lambda (found) (nth 2 found)) (org-agent-skill-test--diagnostics)))

(defun org-agent-grant-test--wait (count)
  "Wait until Flymake warns COUNT times.
It is started anew each second, as it is for a person who types on."
  (let ((next (1+ (float-time))))
    (org-agent-fake-wait
     (progn
       (when (> (float-time) next)
         (flymake-start)
         (setq next (1+ (float-time))))
       (= count (length (org-agent-grant-test--warnings)))))))

(defun org-agent-grant-test--policy ()
  "Return the text of policy.org, nil if there is none."
  (let ((file (expand-file-name "policy.org" org-agent-home)))
    (when (file-exists-p file)
      (with-temp-buffer (insert-file-contents file) (buffer-string)))))

(defun org-agent-grant-test--granted-p ()
  "Return non-nil when policy.org grants something."
  (string-match-p "| env:" (or (org-agent-grant-test--policy) "")))

(ert-deftest org-agent-grant-on-the-line-that-asks ()
  "The key shows the capabilities and grants them only after a yes."
  (org-agent-skill-test--with org-agent-grant-test--note
    (flymake-start)
    (org-agent-grant-test--wait 2)
    (should (cl-find-if
             (lambda (warning)
               (string-match-p "\\`not granted: env:LANG (never granted); C-c C-c here"
                               warning))
             (org-agent-grant-test--warnings)))
    (should (cl-find-if (lambda (found)
                          (equal "#+CAPABILITIES:" (car found)))
                        (org-agent-skill-test--diagnostics)))
    (org-agent-grant-test--go-to-line)
    (org-agent-grant-test--answering nil (org-ctrl-c-ctrl-c))
    (should-not (org-agent-grant-test--granted-p))
    (should (string-match-p "^  read the environment variable LANG$"
                            org-agent-grant-test--shown))
    (should (string-match-p "exec:ls cannot be granted: no note can run"
                            org-agent-grant-test--shown))
    (should (string-match-p "^[0-9a-f]\\{64\\}\n(never granted)"
                            org-agent-grant-test--shown))
    (should-not (get-buffer "*org-agent-grant*"))
    (org-agent-grant-test--answering t (org-ctrl-c-ctrl-c))
    (should (string-match-p (concat "^| " (regexp-quote (file-truename file))
                                    " | env:LANG +| ")
                            (org-agent-grant-test--policy)))
    (org-agent-grant-test--wait 1)
    ;; There is nothing to ask any more; taking it back asks nothing.
    (setq org-agent-grant-test--shown 'nothing)
    (org-agent-grant-test--answering (ert-fail "asked") (org-ctrl-c-ctrl-c))
    (org-agent-skill-revoke file)
    (should-not (string-match-p "env:LANG" (org-agent-grant-test--policy)))
    (org-agent-grant-test--wait 2)
    (should-not (buffer-modified-p))))

(ert-deftest org-agent-grant-counts-what-is-saved ()
  "A modified note is saved first, or nothing is granted."
  (org-agent-skill-test--with org-agent-grant-test--note
    (goto-char (point-max))
    (insert "\n#+begin_src lisp\n(defun more () 1)\n#+end_src\n")
    (org-agent-grant-test--go-to-line)
    (org-agent-grant-test--answering nil
      (should-error (org-ctrl-c-ctrl-c) :type 'user-error))
    (should (buffer-modified-p))
    (let ((save-silently t))
      (org-agent-grant-test--answering t (org-ctrl-c-ctrl-c)))
    (should-not (buffer-modified-p))
    (should (string-match-p "env:LANG" (org-agent-grant-test--policy)))
    ;; Another text of the buffer is another note: Flymake says so at once.
    (goto-char (point-max))
    (insert "\n#+begin_src lisp\n(defun still-more () 1)\n#+end_src\n")
    (flymake-start)
    (org-agent-fake-wait (cl-find-if (lambda (warning)
                                       (string-match-p "blocks changed since" warning))
                                     (org-agent-grant-test--warnings)))))

(ert-deftest org-agent-grant-of-what-was-shown ()
  "If the note changes while the question is shown, nothing is granted."
  (org-agent-skill-test--with org-agent-grant-test--note
    (org-agent-grant-test--go-to-line)
    (org-agent-grant-test--answering
        (progn (with-temp-file file
                 (insert org-agent-grant-test--note
                         "\n#+begin_src lisp\n(defun evil () 1)\n#+end_src\n"))
               t)
      (should (string-match-p "look at it again"
                              (cadr (should-error (org-ctrl-c-ctrl-c)
                                                  :type 'user-error)))))
    (should-not (org-agent-grant-test--granted-p))))

(ert-deftest org-agent-grant-lines-are-known ()
  "The line is not recognized in a block or in prose."
  (with-temp-buffer
    (org-mode)
    (insert "#+capabilities: env:A\ntext #+CAPABILITIES: x\n"
            "#+begin_example\n#+CAPABILITIES: env:B\n#+end_example\n")
    (should-not (org-agent-skills-grant-line-p))
    (goto-char (point-min))
    (should (org-agent-skills-grant-line-p))
    (forward-line 1)
    (should-not (org-agent-skills-grant-line-p))
    (forward-line 2)
    (should-not (org-agent-skills-grant-line-p))))

(ert-deftest org-agent-grant-shows-in-the-list ()
  "The list shows requests, grants and reasons; a key grants there."
  (org-agent-skill-test--with org-agent-grant-test--note
    (org-agent-skills)
    (with-current-buffer "*org-agent-skills*"
      (cl-flet ((line (regexp)
                  (org-agent-fake-wait
                   (progn (goto-char (point-min))
                          (re-search-forward regexp nil t)))))
        (line "^. adder +live .*env:LANG ex.* adder.org  not granted: never granted$")
        (org-agent-grant-test--answering t
          (call-interactively #'org-agent-skill-grant))
        (org-agent-fake-wait
         (not (string-match-p "not granted" (buffer-string))))
        (line "^. adder +live .*env:LANG")
        (should (eq 'success (get-text-property (match-end 0) 'face)))
        (with-temp-file (expand-file-name "policy.org" org-agent-home)
          (insert "* Grants\n| broken |\n"))
        (line "^. - +void .*policy.org +2: the table of grants begins with")
        (org-agent-skills-visit)
        (should (equal "policy.org" (file-name-nondirectory
                                     (buffer-file-name (window-buffer)))))
        (should (= 2 (with-current-buffer (window-buffer)
                       (line-number-at-pos))))
        (kill-buffer (window-buffer))
        (line "^. adder +live .*not granted: policy.org:2 is faulty")
        (goto-char (point-min))
        (line "^. chat ")
        (should-error (call-interactively #'org-agent-skill-grant)
                      :type 'user-error))
      (kill-buffer))))

(provide 'org-agent-grant-test)
;;; org-agent-grant-test.el ends here
