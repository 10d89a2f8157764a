;;; org-agent-completion-context-test.el --- Tests of the text that completion sends  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; These tests need no kernel: they check where nothing is sent, what is sent
;; elsewhere, and which part of a proposal may be inserted.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org)
(require 'org-agent-complete)
(require 'org-agent-completion-context)
(require 'org-agent-inert)
(require 'org-agent-private)

;;;; Where nothing is sent

(defmacro org-agent-completion-context-test--refused (regexp &rest body)
  "Run BODY in a buffer; completing there is refused with REGEXP."
  (declare (indent 1) (debug t))
  `(with-temp-buffer
     (rename-buffer "plain" t)
     ,@body
     (let ((reason (org-agent-completion-context-refusal)))
       (should (stringp reason))
       (should (string-match-p ,regexp reason)))
     (should (eq 'user-error (car (should-error (org-agent-complete)
                                                :type 'error))))))

(ert-deftest org-agent-completion-context-sends-no-secrets ()
  "Nothing is sent from buffers that may contain secrets."
  (with-temp-buffer
    (rename-buffer "plain" t)
    (insert "x ")
    (should-not (org-agent-completion-context-refusal)))
  (org-agent-completion-context-test--refused "for secrets" (rename-buffer "*auth-source*" t))
  (org-agent-completion-context-test--refused "for secrets" (setq buffer-file-name "/home/me/.authinfo"))
  (org-agent-completion-context-test--refused "for secrets" (setq buffer-file-name "/home/me/app/.env.local"))
  (org-agent-completion-context-test--refused "for secrets" (setq buffer-file-name "/home/me/notes.org.gpg"))
  (org-agent-completion-context-test--refused "mode" (setq major-mode 'authinfo-mode))
  (org-agent-completion-context-test--refused "another machine" (setq buffer-file-name "/ssh:host:/tmp/a.txt"))
  (org-agent-completion-context-test--refused "another machine" (setq default-directory "/ssh:host:/tmp/"))
  (org-agent-completion-context-test--refused "no text" (set-buffer-multibyte nil))
  (org-agent-completion-context-test--refused "too large"
    (setq-local org-agent-complete-buffer-limit 3)
    (insert "four"))
  (with-temp-buffer
    (insert "a")
    (setq buffer-read-only t)
    (should (org-agent-completion-context-refusal)))
  (with-temp-buffer
    (insert (propertize "abc" 'read-only t))
    (goto-char 2)
    (should (org-agent-completion-context-refusal)))
  (with-temp-buffer
    (insert "x\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n")
    (should-not (org-agent-completion-context)))
  (org-agent-completion-context-test--refused "no model sees" (org-agent-private-mode 1))
  (org-agent-completion-context-test--refused "no model sees"
    (setq buffer-file-name "/home/me/.aws/config"))
  ;; A part of a private buffer is private.
  (with-temp-buffer
    (rename-buffer "*auth-source*" t)
    (insert "x")
    (let ((part (make-indirect-buffer (current-buffer) "part")))
      (with-current-buffer part
        (should (string-match-p "no model" (org-agent-completion-context-refusal))))
      (kill-buffer part))))

(defconst org-agent-completion-context-test--private "#+TITLE: x
before all
* Open
open text
** Kept :home:noagent:
kept one
*** Deeper
kept two
* Middle
middle text HERE and on
* Mine :@Private:
mine one
* Sealed :crypt:
sealed one
* After
after text
" "Org with parts that are for nobody else.")

(ert-deftest org-agent-completion-context-sends-nothing-private-of-org ()
  "Private text is not sent, neither at point nor near it."
  (dolist (mode (list #'org-mode #'fundamental-mode))
    (with-temp-buffer
      (rename-buffer "plain" t)
      (insert org-agent-completion-context-test--private)
      (funcall mode)
      (setq buffer-file-name (and (eq mode #'fundamental-mode) "/tmp/a.org"))
      (set-buffer-modified-p nil)
      (dolist (private '("kept one" "kept two" "Deeper" "mine one" "sealed one"))
        (goto-char (point-min))
        (search-forward private)
        (should (string-match-p "private" (org-agent-completion-context-refusal))))
      (goto-char (point-min))
      (search-forward "HERE")
      (should-not (org-agent-completion-context-refusal))
      (should (equal (org-agent-completion-context)
                     '("* Middle\nmiddle text HERE" . " and on\n")))
      (goto-char (point-min))
      (search-forward "open te")
      (should (equal (org-agent-completion-context)
                     '("#+TITLE: x\nbefore all\n* Open\nopen te" . "xt\n")))
      (let ((org-agent-complete-before 10) (org-agent-complete-after 4))
        (should (equal (org-agent-completion-context) '("open te" . "xt\n"))))
      (goto-char (point-min))
      (insert "#+FILETAGS: :home:noagent:\n")
      (goto-char (point-max))
      (should (string-match-p "private" (org-agent-completion-context-refusal)))
      (setq buffer-file-name nil))))

(ert-deftest org-agent-completion-context-source-blocks-are-of-their-buffer ()
  "A block in an edit buffer is as private as its entry."
  (with-temp-buffer
    (rename-buffer "plain" t)
    (insert "* Mine :@private:\n#+begin_src emacs-lisp\n(one)\n#+end_src\n"
            "* Open\n#+begin_src emacs-lisp\n(two)\n#+end_src\n")
    (org-mode)
    (dolist (case '(("(one)" . t) ("(two)" . nil)))
      (goto-char (point-min))
      (search-forward (car case))
      (save-window-excursion
        (let ((inhibit-message t)) (org-edit-src-code))
        (should (eq (and (org-agent-completion-context-refusal) t) (cdr case)))
        (org-edit-src-abort)))))

;;;; What comes in

(ert-deftest org-agent-completion-context-is-inert-in-org ()
  "Accepted text is inert in Org; code is exact and stays in its block."
  (cl-flet ((comes-to (text proposed)
              (with-temp-buffer
                (insert text)
                (org-mode)
                (goto-char (point-max))
                (search-backward "|")
                (delete-char 1)
                (and (not (org-agent-completion-context-inert-refusal))
                     (org-agent-completion-context-inert proposed)))))
    (let ((mark org-agent-inert-mark))
      (should (equal (comes-to "one |" "two *three*\n- four") "two *three*\n- four"))
      (should (equal (comes-to "one|" "\n#+TBLFM: $1='(shell-command \"x\")")
                     (concat "\n#" mark "+TBLFM: $1='(shell-command \"x\")")))
      (should (equal (comes-to "one src|" "_sh{rm}") (concat mark "_sh{rm}")))
      (should (equal (comes-to "one |" "<<x>> and [[elisp:(x)][y]]")
                     (concat "<<x>> and [[elisp" mark ":(x)][y]]")))
      (should (equal (comes-to "|" "* Answer :agent:\n:PROPERTIES:\n:ID: forged\n:END:\n")
                     (concat "* Answer :agent" mark ":\n:PROPERTIES:\n:HELD_ID: forged\n:END:\n")))
      ;; Together with what stands there it would be something: then nothing.
      (pcase-dolist (`(,text . ,proposed)
                     '(("#+TBL|" . "FM: $1='(x)")
                       ("one [[elisp:|]]" . "(x)") ("#+begin_src sh |" . ":var x=(y)")
                       ("  DEADLINE: |" . "x") ("| =|" . "'(x) |")))
        (should-not (comes-to text proposed)))
      (should (equal (comes-to ":PROPERTIES|" ":\n:ID: x\n:END:") ":\n:HELD_ID: x\n:END:"))
      (should (equal (comes-to "one <2026-11-22 Sun> |" "x") "x"))
      (should (equal (comes-to "#|" "+TBLFM: $1='(x)") (concat mark "+TBLFM: $1='(x)")))
      (should (equal (comes-to "one [|" "[elisp:(x)]]")
                     (concat "[elisp" mark ":(x)]]")))
      (should (equal (comes-to "#+begin_src elisp\n(a|\n#+end_src\n" " b\n  call_x())")
                     " b\n  call_x())"))
      (should (equal (comes-to "#+begin_src elisp\n(a|\n#+end_src\n"
                               " b)\n#+end_src\n#+call: x()")
                     " b)"))
      (should-not (comes-to "#+begin_src elisp\n|\n#+end_src\n" "#+end_src"))
      (should (equal (comes-to "#+begin_quote\none |\n#+end_quote\n" "src_sh{x}")
                     (concat "src" mark "_sh{x}"))))))

(provide 'org-agent-completion-context-test)
;;; org-agent-completion-context-test.el ends here
