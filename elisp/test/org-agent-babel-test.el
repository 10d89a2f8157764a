;;; org-agent-babel-test.el --- Tests of prompts in blocks  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real kernel and scripted models: blocks of the language
;; `org-agent-chat', whose answers come into their results.

;;; Code:

(require 'ert)
(require 'org)
(require 'ox-ascii)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'ob-org-agent)

(defconst org-agent-babel-test--text
  "* Garden
#+begin_src org-agent-chat
What grows here?
#+end_src

* After
"
  "A note with a prompt.")

(defmacro org-agent-babel-test--with (exchanges text &rest body)
  "Run BODY in an Org buffer with TEXT and a kernel whose model says EXCHANGES."
  (declare (indent 2) (debug t))
  `(org-agent-kernel-test--beside ,exchanges ,text
     (let ((org-confirm-babel-evaluate nil) (inhibit-message t))
       (delay-mode-hooks (org-mode))
       (setq buffer-undo-list nil)
       (unwind-protect (progn ,@body)
         (mapc #'org-agent-babel--forget (copy-sequence org-agent-babel--answers))))))

(defun org-agent-babel-test--run (&optional nth)
  "Evaluate the NTH block, by default the first."
  (goto-char (point-min))
  (dotimes (_ (or nth 1)) (re-search-forward "^#\\+begin_src"))
  (org-babel-execute-src-block)
  (accept-process-output nil 0.01))

(defun org-agent-babel-test--asked (session)
  "Return the text of the conversation SESSION."
  (with-current-buffer (org-agent-chat-open session)
    (buffer-substring-no-properties (point-min) (point-max))))

(ert-deftest org-agent-babel-answer-comes-into-the-results ()
  "An answer streams into the results, and is one step of undo.
One sees where it will come.  Evaluated again, the block has the new one."
  (org-agent-babel-test--with
      (list (org-agent-kernel-test--held "Kale and more\n\n## Beans\n\n:END:\nand peas, they say, since it rains so much this year." 3)
            (org-agent-kernel-test--exchange "Nothing."))
      org-agent-babel-test--text
    (org-agent-babel-test--run)
    (should (string-search "#+RESULTS:\n:results:\n:end:\n\n* After" (buffer-string)))
    (should org-agent-pending--overlays)
    (org-agent-fake-wait (string-search ":results:\nKale and more" (buffer-string)))
    (goto-char (point-max))
    (insert "typed meanwhile\n")
    (org-agent-kernel-test--let-go)
    (org-agent-fake-wait (null org-agent-babel--answers))
    (should-not org-agent-pending--overlays)
    (should (string-search ":results:\nKale and more\n\n*Beans*\n\n\u200b:END:\nand peas, they say, since it rains so much this year.\n:end:\n\n* After\ntyped meanwhile\n" (buffer-string)))
    (should-not (memq #'org-agent-babel--notified org-agent-kernel-notified-functions))
    (let ((whole (buffer-string)))
      (undo-boundary)
      (setq last-command nil)
      (undo)
      (should-not (string-search "typed" (buffer-string)))
      (setq last-command 'undo)
      (undo-more 1)
      (should (string-search ":results:\n:end:\n\n* After\n" (buffer-string)))
      (should (string-search "Kale" whole)))
    (org-agent-babel-test--run)
    (org-agent-fake-wait (null org-agent-babel--answers))
    (should (string-search "#+RESULTS:\n:results:\nNothing.\n:end:\n\n* After" (buffer-string)))))

(ert-deftest org-agent-babel-sessions-and-settings ()
  "A session has its context, a block without one is alone.
Settings are those of the question, and variables stand before the prompt."
  (org-agent-babel-test--with
      (list (org-agent-kernel-test--exchange "One.") (org-agent-kernel-test--exchange "Two.")
            (org-agent-kernel-test--exchange "Three."))
      "#+name: plants
| kale | 3 |
| peas | 5 |

#+begin_src org-agent-chat :session garden
First?
#+end_src

#+begin_src org-agent-chat :session garden :skill chat :var rows=plants
Second?
#+end_src

#+begin_src org-agent-chat
Third?
#+end_src
"
    (dotimes (n 3)
      (org-agent-babel-test--run (1+ n))
      (org-agent-fake-wait (null org-agent-babel--answers)))
    (should (equal (cl-loop with start = 0
                            while (string-match ":results:\n\\(.*\\)\n:end:" (buffer-string) start)
                            collect (match-string 1 (buffer-string))
                            do (setq start (match-end 0)))
                   '("One." "Two." "Three.")))
    (let ((garden (org-agent-babel-test--asked "garden"))
          (blocks (org-agent-babel-test--asked "blocks")))
      (should (string-match-p "First\\?.*\n\\(?:.*\n\\)*.*One\\." garden))
      (should (string-match-p ":SKILL: +chat" garden))
      (should (string-search "| kale | 3 |\n| peas | 5 |\n\nSecond?" garden))
      (should-not (string-search "Third?" garden))
      (should (string-match-p "Third\\?" blocks))
      (should (string-match-p ":HISTORY: +none" blocks)))))

(ert-deftest org-agent-babel-is-stopped-and-left ()
  "What is stopped stays as far as it came.
A block that is evaluated again stops what was to come."
  (org-agent-babel-test--with
      (list (org-agent-kernel-test--held "One two\n\nthree four five six seven eight nine ten." 2)
            (org-agent-kernel-test--exchange "Nine.")
            (org-agent-kernel-test--held "Ten." -1))
      org-agent-babel-test--text
    (org-agent-babel-test--run)
    (org-agent-fake-wait (string-search ":results:\nOne two" (buffer-string)))
    (org-agent-babel-test--run)
    (should-not (cdr org-agent-babel--answers))
    (org-agent-fake-wait (null org-agent-babel--answers))
    (should (string-search ":results:\nNine.\n:end:" (buffer-string)))
    (org-agent-babel-test--run)
    (goto-char (overlay-start (car org-agent-pending--overlays)))
    (org-agent-stop-here)
    (should-not org-agent-babel--answers)
    (should-not org-agent-pending--overlays)
    (should (string-search ":results:\n:end:" (buffer-string)))))

(ert-deftest org-agent-babel-results-have-an-end ()
  "Results of another form get the drawer in which an answer can end."
  (org-agent-babel-test--with
      (list (org-agent-kernel-test--exchange "Kale.") (org-agent-kernel-test--exchange "Beans."))
      (replace-regexp-in-string "org-agent-chat\n" "org-agent-chat :results raw\n"
                                org-agent-babel-test--text)
    (dolist (answer '("Kale." "Beans."))
      (org-agent-babel-test--run)
      (org-agent-fake-wait (null org-agent-babel--answers))
      (should (string-search answer (buffer-string)))
      (should (string-search ":end:\n\n* After" (buffer-string))))))

;; Babel reads the header arguments before it calls what would load the file.
(ert-deftest org-agent-babel-is-there-unloaded ()
  "Without the file loaded, a block has its drawer and the mode of text."
  (with-temp-buffer
    (let ((directory (file-name-directory (locate-library "ob-org-agent"))))
      (call-process (expand-file-name invocation-name invocation-directory) nil t nil
                    "-Q" "--batch" "-L" directory "-l" "org-agent-autoloads" "--eval"
                    (format "%S" '(progn (require 'org)
                                         (message "%S %S" (org-src-get-lang-mode "org-agent-chat")
                                                  org-babel-default-header-args:org-agent-chat)))))
    (should (string-search "text-mode ((:results . \"drawer\")" (buffer-string)))))

(ert-deftest org-agent-babel-place-is-gone ()
  "An answer whose results are gone changes nothing, nor does one whose buffer is."
  (org-agent-babel-test--with
      (list (org-agent-kernel-test--held "One." -1))
      org-agent-babel-test--text
    (org-agent-babel-test--run)
    (delete-region (point-min) (point-max))
    (insert "Mine.")
    (org-agent-kernel-test--let-go)
    (org-agent-fake-wait (null org-agent-babel--answers))
    (should (equal (buffer-string) "Mine."))))

(ert-deftest org-agent-babel-drawer-is-gone ()
  "Results that a person removed while the answer came stay removed."
  (org-agent-babel-test--with
      (list (org-agent-kernel-test--held "One two\n\nthree four five six seven eight nine ten." 2))
      org-agent-babel-test--text
    (org-agent-babel-test--run)
    (org-agent-fake-wait (string-search ":results:\nOne two" (buffer-string)))
    (goto-char (point-min))
    (search-forward ":results:")
    (delete-region (line-beginning-position) (progn (search-forward ":end:\n") (point)))
    (let ((text (buffer-string)))
      (org-agent-kernel-test--let-go)
      (org-agent-fake-wait (null org-agent-babel--answers))
      (should (equal (buffer-string) text)))))

(ert-deftest org-agent-babel-waits-where-one-must ()
  "An export has the answer, and so has a block that says so."
  (org-agent-babel-test--with
      (list (org-agent-kernel-test--exchange "Kale.") (org-agent-kernel-test--exchange "Beans."))
      (replace-regexp-in-string "org-agent-chat\n" "org-agent-chat :async no\n" org-agent-babel-test--text)
    (org-agent-babel-test--run)
    (should (string-search ":results:\nKale.\n:end:" (buffer-string)))
    (should (string-search "Beans." (org-export-as 'ascii)))))

;; Org would call the mode of conversations, which has the same name.
(ert-deftest org-agent-babel-language-is-text ()
  "A block is highlighted and edited as text, and an empty one is not asked."
  (org-agent-babel-test--with nil org-agent-babel-test--text
    (cl-letf (((symbol-function 'org-agent-chat-mode) (lambda () (error "Called"))))
      (should (eq (org-src-get-lang-mode "org-agent-chat") 'text-mode)))
    (goto-char (point-min))
    (re-search-forward "What grows here\\?")
    (replace-match " ")
    (should-error (org-babel-execute-src-block) :type 'user-error)))

(provide 'org-agent-babel-test)
;;; org-agent-babel-test.el ends here
