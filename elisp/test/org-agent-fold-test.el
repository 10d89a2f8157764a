;;; org-agent-fold-test.el --- Tests of what a page shows folded  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Drawers, subagents and long changes are a line each until TAB unfolds
;; them.  A test has a file and the page that one sees of it.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-page-test)
(require 'org-agent-chat)
(require 'org-agent-fold)
(require 'org-agent-page)

(ert-deftest org-agent-fold-tab-unfolds ()
  "TAB on the line of thoughts or calls shows them, and hides them again."
  (org-agent-page-test--with org-agent-page-test--turn
    (let ((page (org-agent-page-test--seen)))
      (goto-char (point-min))
      (search-forward ":CALLS:")
      (let ((last-command nil) (this-command 'org-cycle))
        (org-cycle))
      (should (string-search "- called read ×2, shell (denied)
: read (:path \"a.org\")
:   performed in 0.01 s:
:   forty lines
:
: read (:path \"b.org\")" (org-agent-page-test--seen)))
      (org-cycle)
      (should (equal (org-agent-page-test--seen) page)))
    (let ((org-agent-page-show-thoughts t))
      (font-lock-flush)
      (font-lock-ensure)
      (should (string-search "- thought, 9 words\n: The person" (org-agent-page-test--seen))))))

;; In a small window one would see that there is something, and not what.
(ert-deftest org-agent-fold-unfolded-drawer-is-in-view ()
  "What is unfolded beyond the end of the window is scrolled to, and nothing else."
  (org-agent-page-test--with
      "** Words :agent:\n:PROPERTIES:\n:ID: x\n:END:\n:CALLS:\n: read\n:   line 1\n:END:\nbody\n"
    (set-window-buffer nil (current-buffer))
    (dolist (seen '(nil t))
      (let (scrolled)
        (goto-char (point-min))
        (search-forward ":CALLS:")
        (cl-letf (((symbol-function 'pos-visible-in-window-p)
                   (lambda (position &rest _)
                     (should (looking-at-p ":CALLS:"))
                     (should (equal (buffer-substring (- position 6) position) "\n:END:"))
                     seen))
                  ((symbol-function 'recenter) (lambda (line) (push line scrolled))))
          (should (org-agent-page-toggle-drawer))
          (should (org-agent-page-toggle-drawer)))
        (should (equal scrolled (and (not seen) '(1))))))))

(ert-deftest org-agent-fold-has-subagents ()
  "Each subagent that a turn started has a line below that of the calls."
  (org-agent-page-test--with
      "* Q :user:\n:PROPERTIES:\n:ID: q\n:END:\n** Done :agent:\n:PROPERTIES:\n:ID: a\n:END:
:CALLS:
: read (:path \"a.org\")
:   performed in 0.01 s:
:   : start_subagent (:task \"no\")
:
: start_subagent (:task \"say \\\"x :label y\\\"\" :label \"the reader\")
:   performed in 3.03 s:
:   [the reader is done, 2317 tokens]
:
: start_subagent (:task \"look at\\nall the \\\"files\\\" and say what is in them\")
:   failed in 1.00 s:
:   the subagent ended without an answer
:
: start_subagent (:task \"third\" :label \"the reader\")
:   performed in 1.00 s
:
: start_subagent (:task \"fourth\")
:   denied in 1.00 s
:END:
Text.
* "
    (should (equal (org-agent-page-test--seen)
                   "> Q
Done
+ called read, start_subagent ×2, start_subagent (failed), start_subagent (denied)
  > the reader
  > look at all the \"files\" and say what is… (failed)
  > the reader
Text.

> "))
    ;; A key shows what it did, wherever on its line point is.
    (let (opened)
      (cl-letf (((symbol-function 'org-agent-status-open-called)
                 (lambda (&rest arguments) (push arguments opened))))
        (goto-char (point-min))
        (search-forward "\"third")
        (forward-line 0)
        (should (org-agent-page-toggle-drawer))
        (search-forward "performed in 1.00 s")
        (should (org-agent-page-toggle-drawer))
        (goto-char (point-min))
        (search-forward "look at")
        (should (run-hook-with-args-until-success 'org-open-at-point-functions)))
      (should (equal opened
                     '(("q" "look at all the \"files\" and say what is…" 0)
                       ("q" "the reader" 1) ("q" "the reader" 1)))))))

;;;; What waits for approval

(defun org-agent-fold-test--letter (keyword lines &optional rules)
  "Return a letter in the state KEYWORD about a change of so many LINES.
With it so many RULES are offered, 12 by default."
  (concat "* Q :user:\n:PROPERTIES:\n:ID: q\n:END:\n** " keyword
          " May I write x?  :agent:\n:PROPERTIES:\n:ID: a\n:ASKS: approval\n:END:
- it writes\n\n#+begin_src diff\n"
          (apply #'concat (cl-loop for n from 1 to lines
                                   collect (format "+line %d\n" n)))
          "#+end_src\n\nMore:\n\n#+begin_src text\n"
          (apply #'concat (cl-loop for n from 1 to (or rules 12)
                                   collect (format "rule %d\n" n)))
          "#+end_src\n\n=C-c C-c= yes\n* "))

(ert-deftest org-agent-fold-letter-is-short ()
  "Of a long change that waits one sees the beginning, and the choices.
A line between them says how many lines there are more; TAB shows them.
So it is with what is offered with it."
  (org-agent-page-test--with (org-agent-fold-test--letter "TODO" 40)
    (let ((page (org-agent-page-test--seen))
          (seen (concat "> Q\n? May I write x?\n- it writes\n\ndiff\n"
                        "+line 1\n+line 2\n+line 3\n+line 4\n+line 5\n+line 6\n+line 7\n"
                        "+ 33 more lines; TAB shows them\n\nMore:\n\ntext\n"
                        "rule 1\n+ 11 more lines; TAB shows them\n\nC-c C-c yes\n\n> ")))
      (should (equal page seen))
      ;; The question is above the window.  A message takes two lines of it.
      (should (= (length (split-string page "\n")) (+ 1 24 -2)))
      (org-agent-page-test--stays 100)
      (goto-char (point-min))
      (search-forward "?")
      (should-not (org-agent-page-toggle-drawer))
      (search-forward "it writes")
      (should (org-agent-page-toggle-drawer))
      (should-not (org-agent-page-toggle-drawer))
      (dotimes (_ 2)
        (should (string-match-p "\\+line 39\n\\+line 40\n\nMore:\n\ntext\nrule 1\n\\(?:rule [0-9]+\n\\)\\{10\\}rule 12\n\nC-c"
                                (org-agent-page-test--seen)))
        (font-lock-flush)
        (font-lock-ensure))))
  ;; What changes first is seen, also behind lines that stay.
  (org-agent-page-test--with
      (replace-regexp-in-string "^\\+\\(line [1-9]\\)$" " \\1"
                                (org-agent-fold-test--letter "TODO" 40))
    (should (string-match-p "^ line 9\n\\+line 10\n\\+line 11\n\\+line 12\n\\+ 28 more lines; TAB shows them\n"
                            (org-agent-page-test--seen))))
  ;; Where there is room what is offered is whole, and the change as far as it can be.
  (org-agent-page-test--with (org-agent-fold-test--letter "TODO" 2 8)
    (should-not (string-match-p "more lines" (org-agent-page-test--seen))))
  ;; A long line takes the room of several.
  (org-agent-page-test--with
      (string-replace "- it writes\n" (concat "- it writes " (make-string 160 ?x) "\n")
                      (org-agent-fold-test--letter "TODO" 12 1))
    (should (string-match-p "\\+line 6\n\\+ 6 more lines; TAB shows them\n"
                            (org-agent-page-test--seen))))
  (org-agent-page-test--with (org-agent-fold-test--letter "TODO" 12 1)
    (should (string-match-p "\\+line 8\n\\+ 4 more lines; TAB shows them\n"
                            (org-agent-page-test--seen))))
  ;; One line more is shown rather than counted, and what is decided is a record.
  (pcase-dolist (`(,keyword . ,lines) '(("TODO" . 7) ("DONE" . 40)))
    (org-agent-page-test--with (org-agent-fold-test--letter keyword lines 1)
      (should-not (string-match-p "more lines" (org-agent-page-test--seen))))))

(defun org-agent-fold-test--difference (lines &optional new)
  "Return the letter of a file x, or NEW, that gets so many LINES."
  (string-replace "#+begin_src diff\n"
                  (format "#+begin_src diff\n--- ~/x\n+++ %s\n@@ -1,0 +1,%d @@\n"
                          (or new "~/x") lines)
                  (org-agent-fold-test--letter "TODO" lines 1)))

(ert-deftest org-agent-fold-letter-names-its-file-once ()
  "The name of the file stands in one line with the first place that changes.
So there is more room for what changes.  Two names are both seen."
  (org-agent-page-test--with (org-agent-fold-test--difference 9)
    (should (string-match-p "\n\n~/x  @@ -1,0 \\+1,9 @@\n\\+line 1\n\\(?:\\+line [2-9]\n\\)+\nMore:"
                            (org-agent-page-test--seen)))
    (should (memq 'org-agent-layout-language (org-agent-page-test--faces "~/x\n@@")))
    (should (memq 'diff-hunk-header (org-agent-page-test--faces "@@ -1,0")))
    (org-agent-page-test--stays 100))
  (org-agent-page-test--with (org-agent-fold-test--difference 40)
    (let ((page (org-agent-page-test--seen)))
      (should (string-match-p "@@\n\\+line 1\n\\(?:\\+line [2-8]\n\\)\\{7\\}\\+ 32 more lines; TAB shows them\n"
                              page))
      (should (= (length (split-string page "\n")) (+ 1 24 -2)))
      (org-agent-page-test--stays 100)
      (goto-char (point-min))
      (search-forward "it writes")
      (should (org-agent-page-toggle-drawer))
      (should (string-match-p "\\+line 39\n\\+line 40\n\nMore:" (org-agent-page-test--seen)))))
  (org-agent-page-test--with (org-agent-fold-test--difference 2 "~/y")
    (should (string-match-p "\ndiff\n--- ~/x\n\\+\\+\\+ ~/y\n@@ " (org-agent-page-test--seen))))
  ;; Lines that change are no names.
  (org-agent-page-test--with
      (string-replace "+line 1\n" "--- x\n+++ x\n@@ x\n" (org-agent-fold-test--difference 3))
    (should (string-match-p "@@\n--- x\n\\+\\+\\+ x\n@@ x\n\\+line 2\n" (org-agent-page-test--seen)))))

(ert-deftest org-agent-fold-letter-says-what-tab-does ()
  "The line says so with the glyph of what is folded, and is clicked on as well."
  (cl-letf (((symbol-function 'char-displayable-p) #'always))
    (with-temp-buffer
      (insert (org-agent-fold-test--letter "TODO" 40))
      (org-agent-chat-mode)
      (font-lock-ensure)
      (goto-char (point-min))
      (search-forward "line 8\n")
      (let ((line (get-text-property (1- (line-beginning-position 0)) 'display)))
        (should-not line))
      (let ((line (get-text-property (line-beginning-position 0) 'display)))
        (should (equal (substring-no-properties line) "▸ 33 more lines; TAB shows them"))
        (should (eq (lookup-key (get-text-property 0 'keymap line) [mouse-1])
                    'org-agent-fold-more-at-mouse))))))

(ert-deftest org-agent-fold-letter-unfolds-from-the-draft ()
  "TAB in the first line of the draft shows the rest of a letter.
Where all is seen it does what it did, and it completes before all that."
  (org-agent-page-test--with (org-agent-fold-test--letter "TODO" 40)
    (setq org-agent-chat-session "main")
    (goto-char (point-max))
    (cl-flet ((tab () (let ((this-command 'org-cycle) last-command)
                        (call-interactively #'org-cycle))))
      (tab)
      (should (= (point) (point-max)))
      (should (string-match-p "\\+line 40\n\nMore:\n\ntext\nrule 1\n" (org-agent-page-test--seen)))
      (let ((text (buffer-string)))
        (tab)
        (should (equal text (buffer-string))))))
  (org-agent-page-test--with (org-agent-fold-test--letter "TODO" 40)
    (setq org-agent-chat-session "main")
    (goto-char (point-max))
    (insert "/xy")
    (let ((completed nil))
      (cl-letf (((symbol-function 'org-agent-command-completion) (lambda () t))
                ((symbol-function 'completion-at-point) (lambda () (setq completed t))))
        (run-hook-with-args-until-success 'org-tab-first-hook))
      (should completed)
      (should (string-match-p "33 more lines" (org-agent-page-test--seen))))
    ;; In a later line TAB is Org's.
    (insert "\nmore")
    (should-not (org-agent-page-show-rest))
    (forward-line -1)
    (should (org-agent-page-show-rest))))

(provide 'org-agent-fold-test)
;;; org-agent-fold-test.el ends here
