;;; org-agent-markup-test.el --- Tests of answers that are not Org  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Answers are converted for other modes, and inserted there.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-markup)
(require 'org-agent-ask-test)
(require 'org-agent-ask)

(define-derived-mode markdown-mode text-mode "Markdown"
  "What is asked of the mode of that name is its name.")

(defun org-agent-markup-test--in (mode org &optional raw)
  "Return what ORG, written as RAW, becomes in MODE."
  (with-temp-buffer
    (delay-mode-hooks (funcall mode))
    (org-agent-markup-for-mode org (or raw org))))

(ert-deftest org-agent-markup-goes-and-words-stay ()
  "In plain text and mail no markup of Org is left."
  (dolist (row '(("* Title\nOne *bold /both/* word, =code= and ~x_y~."
                  . "Title\nOne bold both word, code and x_y.")
                 ("See [[https://a.org/b][the *page*]] or [[https://c.org]]."
                  . "See the page <https://a.org/b> or https://c.org.")
                 ("#+begin_src sh\nls -l\n,* not a heading\n#+end_src\nend"
                  . "ls -l\n* not a heading\nend")
                 ("#+begin_quote\nOne\ntwo\n#+end_quote" . "> One\n> two")
                 ("Well[fn:1].\n\n[fn:1] A note" . "Well[1].\n\n[1] A note")
                 ("2*3*4 a_b/c/d" . "2*3*4 a_b/c/d")
                 ("\u200b#+TBLFM: x" . "#+TBLFM: x")
                 ("" . "")))
    (dolist (mode '(text-mode fundamental-mode message-mode))
      (should (equal (org-agent-markup-test--in mode (car row)) (cdr row))))))

(ert-deftest org-agent-markup-of-markdown ()
  "In Markdown an answer in Markdown is not changed, one in Org is translated."
  (should (equal (org-agent-markup-test--in
                  'markdown-mode "*a* =b=" "\n**a** `b`\n")
                 "**a** `b`"))
  (should (equal (org-agent-markup-test--in
                  'markdown-mode "* A\n*b* /c/ +d+ =e= [[https://f.org][g]] [[file:h.png]]\n- i\n  #+begin_src sh\n  ```\n  #+end_src\n")
                 "# A\n**b** *c* ~~d~~ `e` [g](https://f.org) ![](file:h.png)\n- i\n  ````sh\n  ```\n  ````"))
  ;; The name of a language that is held comes back.
  (should (equal (org-agent-markup-test--in
                  'markdown-mode "* A\n#+BEGIN_EXAMPLE \u200brecentf\n<\u200b2026-01-01>\n#+END_EXAMPLE\n")
                 "# A\n```recentf\n<2026-01-01>\n```")))

(ert-deftest org-agent-markup-in-code ()
  "In code, blocks are exact, and other text is comments."
  (let ((org "Here it is:\n\n#+begin_src python\ndef f(x):\n    return x * 2 * 3  # =a=\n\n,#+not a keyword\n#+end_src\n\nIt *doubles*.\nTwice."))
    (should (equal (org-agent-markup-test--in 'python-mode org)
                   "# Here it is:\ndef f(x):\n    return x * 2 * 3  # =a=\n\n#+not a keyword\n# It doubles.\n# Twice."))
    (should (string-prefix-p ";; Here it is:\ndef"
                             (org-agent-markup-test--in 'emacs-lisp-mode org)))
    (should (string-suffix-p "/* Twice. */"
                             (org-agent-markup-test--in 'c-mode org))))
  ;; Also those of a language that is held.
  (should (equal (org-agent-markup-test--in
                  'python-mode "#+begin_example \u200brecentf\nx[<\u200b2026-1]\n#+end_example\n")
                 "x[<2026-1]"))
  ;; Words cannot end the comment that they are in.
  (should (equal (org-agent-markup-test--in
                  'c-mode "Mind a*/ system(0);\n#+begin_src c\nx;\n#+end_src")
                 "/* Mind a* / system(0); */\nx;"))
  ;; Without a block it is what the model wrote.
  (should (equal (org-agent-markup-test--in 'python-mode "x = a =b= c" "x = a `b` __c__\n")
                 "x = a `b` __c__"))
  (should (equal (org-agent-markup-test--in 'conf-mode "* T\n=x= is it" "* T\n=x= is it")
                 "T\nx is it")))

(ert-deftest org-agent-markup-comes-in-at-point ()
  "An answer at point is converted for the mode, as one undo step."
  (org-agent-kernel-test--beside
      (org-agent-ask-test--reply "* Doubling\nSo:\n\n```elisp\n(* 2 `x')\n,@a\n```\n\nThat *is* it.")
      "(a)\n\n(b)"
    (delay-mode-hooks (emacs-lisp-mode))
    (goto-char 5)
    (org-agent-ask "Well?" nil 'insert)
    (org-agent-ask-test--settle 1)
    (org-agent-fake-wait (> (buffer-size) 10))
    (should (equal (buffer-string)
                   "(a)\n;; So:\n(* 2 `x')\n,@a\n;; That is it.\n(b)"))
    (org-agent-ask-test--undo)
    (should (equal (buffer-string) "(a)\n\n(b)"))
    (with-temp-buffer
      (delay-mode-hooks (text-mode))
      (org-agent-ask-insert-latest)
      (should (equal (buffer-string) "So:\n\n(* 2 `x')\n,@a\n\nThat is it.")))))

(provide 'org-agent-markup-test)
;;; org-agent-markup-test.el ends here
