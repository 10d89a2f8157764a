;;; org-agent-reload-test.el --- Tests of restored conversations  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Twenty conversations are held and closed, and their files are deleted.
;; The kernel restores them from its journal, byte for byte.

;;; Code:

(require 'org-agent-kernel-test)
(require 'org-agent-chat)

(defconst org-agent-reload-test--conversations
  '(("plain words" "Just words.")
    ("" "An empty heading above this.")
    ("* a star\nand a body" "* Heading\nBody")
    ("unicode \u4e16\u754c \U0001F600 e\u0301" "Gr\u00fc\u00dfe \u4e16\u754c \u200f\u05e9\u05dc\u05d5\u05dd \U0001F469\u200D\U0001F467")
    ("code" "```go\nfunc main() {}\n* star\n#+end_src\n```\nand more")
    ("table" "| a | b |\n|---+---|\n| 1 | 2 |")
    ("list" "- one\n  - two\n1. three\n\n\n\nfour")
    ("headings" "* One\n** Two\n*** Three\n* Four\n** Five")
    ("drawer" ":PROPERTIES:\n:ID: stolen\n:END:\ntext\n:LOGBOOK:\n:END:")
    ("hostile" "#+TBLFM: $1=1\n# Local Variables:\nsrc_sh{x} {{{m}}} <2026-11-22 Sun>\nDEADLINE: <2026-11-22 Sun>")
    ("tags" "* Heading :user:agent:\nBody :user:")
    ("blanks" "  \n\n   indented\n\ttab\t\n trailing   \n\n")
    ("crlf" "one\r\ntwo\rthree")
    ("long line" "LONG")
    ("thinking" "<think>first this\n* then that</think>The answer")
    ("TODO with a word :tag:\n:NOTE:\nmine\n:END:\n#+begin_quote\nq\n#+end_quote" "Yes")
    ("# not a heading\n** demoted\n*** deeper" "# Markdown\n\n> quoted\n\n[text](https://example.org) ~~gone~~")
    ("quote\"s \\ and (:type :request)" "Say (:type :request) \"so\" \\n")
    ("zero" "a\u200bb\ufeffc\u202ed\x00e\x1bf")
    ("two" "First" "second" "* Second\nwith a body"))
  "Conversations: what is said and what is answered, in turn.")

(defun org-agent-reload-test--name (n)
  "Return the name of conversation N."
  (format "recorded %d" n))

(defun org-agent-reload-test--texts (conversation)
  "Return pairs of a question and its answer of CONVERSATION."
  (let (pairs)
    (while conversation
      (push (cons (pop conversation) (pop conversation)) pairs))
    (nreverse pairs)))

(defun org-agent-reload-test--exchanges ()
  "Return what the model says, in the order in which it is asked."
  (mapcan (lambda (conversation)
            (mapcar (lambda (pair)
                      (let ((text (if (equal (cdr pair) "LONG")
                                      (make-string 3000 ?x)
                                    (cdr pair))))
                        (org-agent-kernel-test--exchange
                         (if (string-prefix-p "*" text)
                             (org-agent-kernel-test--envelope text)
                           text))))
                    (org-agent-reload-test--texts conversation)))
          org-agent-reload-test--conversations))

(defun org-agent-reload-test--hold (conversation)
  "Hold CONVERSATION in the current buffer and return what then stands there."
  (let ((answers 0))
    (dolist (pair (org-agent-reload-test--texts conversation))
      (goto-char (point-max))
      (insert (if (equal (car pair) "") "\n\nBelow nothing" (car pair)))
      (org-agent-send)
      (setq answers (1+ answers))
      (org-agent-fake-wait
       (and (= answers (how-many "^\\*+ .*:agent:$" (point-min) (point-max)))
            (org-agent-kernel-test--idle-p))
       (buffer-string))))
  (buffer-substring-no-properties (point-min) (point-max)))

(ert-deftest org-agent-reload-is-byte-for-byte ()
  "Twenty conversations without files are restored byte for byte."
  (should (= 20 (length org-agent-reload-test--conversations)))
  (org-agent-kernel-test--with (org-agent-reload-test--exchanges)
    (let ((n 0) recorded)
      (dolist (conversation org-agent-reload-test--conversations)
        (let ((name (org-agent-reload-test--name (setq n (1+ n)))))
          (org-agent-chat name)
          (org-agent-fake-wait (eq org-agent-chat-attached t))
          (push (cons name (org-agent-reload-test--hold conversation)) recorded)
          (should (equal (cdar recorded) (org-agent-fake-file-text name)))))
      (org-agent-kernel-test--end-kernel)
      (org-agent-fake-reset)
      (dolist (conversation recorded)
        (delete-file (org-agent-fake-file (car conversation))))
      (dolist (conversation (nreverse recorded))
        (org-agent-chat (car conversation))
        (org-agent-fake-wait (eq org-agent-chat-attached t))
        (org-agent-fake-wait
         (equal (buffer-substring-no-properties (point-min) (point-max))
                (cdr conversation))
         (list (car conversation) (cdr conversation) (buffer-string)))
        (should (equal (org-agent-fake-file-text (car conversation))
                       (cdr conversation)))))))

(provide 'org-agent-reload-test)
;;; org-agent-reload-test.el ends here
