;;; org-agent-rewrite-test.el --- Tests of rewriting a region  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The real kernel and the shipped note.  The model repeats the request with
;; replacements, so that the lines around the text stay.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-agent-kernel-test)
(require 'org-agent-ask)
(require 'org-agent-rewrite)
(require 'org-agent-turn)

(defun org-agent-rewrite-test--says (&rest replacements)
  "Return an exchange that says the question again with REPLACEMENTS."
  (list '(echo . t) (cons 'replace (vconcat replacements))))

(defun org-agent-rewrite-test--rewrite (wish &optional beg end)
  "Have the text from BEG to END, or all, rewritten as WISH and wait for it.
Return the buffer with the diff, or nil."
  (org-agent-rewrite wish (or beg (point-min)) (or end (point-max)))
  (org-agent-rewrite-test--wait))

(defun org-agent-rewrite-test--wait ()
  "Wait for the new text; return the buffer with the diff, or nil."
  (org-agent-fake-wait (null org-agent-turn--awaited) "a new text")
  (org-agent-rewrite-test--diff))

(defun org-agent-rewrite-test--diff ()
  "Return the buffer that shows a diff, or nil."
  (cl-find-if (lambda (buffer)
                (buffer-local-value 'org-agent-rewrite--this buffer))
              (buffer-list)))

(defun org-agent-rewrite-test--undo ()
  "Undo one step."
  (let ((last-command 'ignore)) (undo-boundary) (undo)))

(ert-deftest org-agent-rewrite-shows-and-applies ()
  "The new text is shown first, and then applied as one undo step."
  (org-agent-kernel-test--beside
      (list (org-agent-rewrite-test--says "two" "zwei" "four" "vier"))
      "one\ntwo\nthree\nfour\nfive\n"
    (goto-char 12)
    (set-mark 3)
    (let* ((before (buffer-string))
           (diff (org-agent-rewrite-test--rewrite "in German")))
      (should (equal (buffer-string) before))
      (with-current-buffer diff
        (should (derived-mode-p 'diff-mode))
        (should (string-match-p "^-two\n\\+zwei\n three\n-four\n\\+vier\n five$"
                                (buffer-string)))
        (should (eq (key-binding (kbd "C-c C-c")) 'org-agent-rewrite-accept))
        (should (eq (key-binding (kbd "C-c C-k")) 'org-agent-rewrite-reject))
        (should (eq (key-binding "e") 'org-agent-rewrite-ediff))
        (should (eq (key-binding "r") 'org-agent-rewrite-again))
        (call-interactively #'org-agent-rewrite-accept))
      (should-not (buffer-live-p diff))
      (should (equal (buffer-string) "one\nzwei\nthree\nvier\nfive\n"))
      (should (= (point) 13))
      (should (looking-at "ee$"))
      (should (= (mark t) 3))
      (org-agent-rewrite-test--undo)
      (should (equal (buffer-string) before)))))

(defun org-agent-rewrite-test--pending ()
  "Return what stands behind the text at point while it is being rewritten."
  (when org-agent-pending--overlays
    (cl-loop for overlay in (overlays-in (point) (1+ (point)))
             thereis (overlay-get overlay 'after-string))))

(ert-deftest org-agent-rewrite-shows-that-it-waits ()
  "Until the new text comes one sees at the old one that it will.
A key in that stops it, and the text stays."
  (org-agent-kernel-test--beside
      (list (append '((first_delay . "400ms")) (org-agent-rewrite-test--says "two" "zwei"))
            (append '((first_delay . "1h")) (org-agent-rewrite-test--says "two" "zwei")))
      "one\ntwo\nthree\n"
    (goto-char 5)
    (let ((tick (buffer-modified-tick)))
      (org-agent-rewrite "in German" 5 8)
      (should (string-match-p "being rewritten; C-c C-k in it stops that"
                              (org-agent-rewrite-test--pending)))
      (should (equal (overlays-at 1) nil))
      (with-current-buffer (org-agent-rewrite-test--wait)
        (should (string-search "+zwei" (buffer-string)))
        (org-agent-rewrite-reject))
      (should-not (org-agent-rewrite-test--pending))
      (should-not (overlays-in (point-min) (point-max)))
      (org-agent-rewrite "in German" 5 8)
      (should (eq (key-binding (kbd "C-c C-k")) 'org-agent-stop-here))
      (call-interactively #'org-agent-stop-here)
      (should-not (org-agent-rewrite-test--pending))
      (should-not (overlays-in (point-min) (point-max)))
      (should-not org-agent-turn--awaited)
      (should-error (org-agent-stop-here) :type 'user-error)
      (should-not (org-agent-rewrite-test--diff))
      (should (= tick (buffer-modified-tick)))
      (org-agent-fake-wait
       (with-current-buffer (org-agent-chat-open "rewrite")
         (string-search ":STATE:    cancelled" (buffer-string)))))))

(ert-deftest org-agent-rewrite-can-be-rejected ()
  "Rejecting does not change text, undo list and kill ring."
  (org-agent-kernel-test--beside
      (list (org-agent-rewrite-test--says "one" "two")) "one\n"
    (let ((tick (buffer-modified-tick)) (kill-ring '("mine")))
      (with-current-buffer (org-agent-rewrite-test--rewrite "more")
        (call-interactively #'org-agent-rewrite-reject))
      (should-not (org-agent-rewrite-test--diff))
      (should (= tick (buffer-modified-tick)))
      (should (equal kill-ring '("mine"))))))

(ert-deftest org-agent-rewrite-when-the-text-changed ()
  "A text that has changed is shown before it is overwritten."
  (org-agent-kernel-test--beside
      (list (org-agent-rewrite-test--says "one" "two")) "one\nmore\n"
    (let ((diff (org-agent-rewrite-test--rewrite "well")))
      (goto-char 6)
      (insert "MINE")
      (should-error (with-current-buffer diff (org-agent-rewrite-accept))
                    :type 'user-error)
      (should (equal (buffer-string) "one\nmMINEore\n"))
      (with-current-buffer diff
        (should (string-match-p "^-mMINEore$" (buffer-string)))
        (should (string-match-p "has changed" header-line-format))
        (org-agent-rewrite-accept))
      (should (equal (buffer-string) "two\nmore\n")))))

(ert-deftest org-agent-rewrite-changed-before-it-came ()
  "The diff contains edits that were made before the new text arrived."
  (org-agent-kernel-test--beside
      (list (append (org-agent-rewrite-test--says "one" "two")
                    '((first_delay . "500ms"))))
      "one\nmore\n"
    (org-agent-rewrite "well" 1 (point-max))
    (goto-char 5)
    (insert "MINE ")
    (with-current-buffer (org-agent-rewrite-test--wait)
      (should (string-match-p "^-MINE more$" (buffer-string)))
      (should (string-match-p "has changed" header-line-format)))))

(ert-deftest org-agent-rewrite-when-the-buffer-is-gone ()
  "If the buffer is gone, the new text can only be copied."
  (org-agent-kernel-test--beside
      (list (org-agent-rewrite-test--says "one" "two")) "one\n"
    (let ((other (generate-new-buffer "other")) (kill-ring nil)
          (interprogram-cut-function nil))
      (with-current-buffer other
        (insert "one")
        (org-agent-rewrite "well" 1 4))
      (kill-buffer other)
      (with-current-buffer (org-agent-rewrite-test--wait)
        (should-error (org-agent-rewrite-accept) :type 'user-error)
        (should-error (org-agent-rewrite-again "x") :type 'user-error)
        (org-agent-rewrite-copy)
        (should (equal (car kill-ring) "two"))))))

(ert-deftest org-agent-rewrite-in-a-read-only-buffer ()
  "In a read-only buffer nothing is written, and the new text stays."
  (org-agent-kernel-test--beside
      (list (org-agent-rewrite-test--says "one" "two")) "one and one\n"
    (let ((diff (org-agent-rewrite-test--rewrite "well")))
      (add-text-properties 5 8 '(read-only t))
      (should-error (with-current-buffer diff (org-agent-rewrite-accept))
                    :type 'text-read-only)
      (should (equal (buffer-substring-no-properties 1 12) "one and one"))
      (let ((inhibit-read-only t)) (remove-text-properties 1 12 '(read-only nil)))
      (setq buffer-read-only t)
      (should-error (with-current-buffer diff (org-agent-rewrite-accept))
                    :type 'buffer-read-only)
      (setq buffer-read-only nil)
      (with-current-buffer diff (org-agent-rewrite-accept))
      (should (equal (buffer-string) "two and two\n")))))

(ert-deftest org-agent-rewrite-again-otherwise ()
  "A text can be rewritten again; the diff is that of the latest."
  (org-agent-kernel-test--beside
      (list (org-agent-rewrite-test--says "one" "two")
            (org-agent-rewrite-test--says "one" "three"))
      "one\n"
    (let ((diff (org-agent-rewrite-test--rewrite "well")))
      (with-current-buffer diff (org-agent-rewrite-again "better"))
      (should (eq diff (org-agent-rewrite-test--wait)))
      (with-current-buffer diff
        (should (string-match-p "^\\+three$" (buffer-string)))
        (org-agent-rewrite-accept))
      (should (equal (buffer-string) "three\n")))))

(ert-deftest org-agent-rewrite-keeps-indentation ()
  "Common indentation is not sent, and is restored."
  (dolist (case '(("    a\n\n        b\n    \n    c\n" 1 nil)
                  ("\t\ta\n\t\t  b\n" 1 nil)
                  ("    a\n  b\n" 1 nil)
                  ("    a\n        b\n" 3 nil)
                  ("    if a:\n        b\n    c" 8 nil)
                  ("\n\n  a\n\n" 1 nil)
                  ("a" 1 nil)
                  ("  * a\n#+end_src\n```\n````\n" 1 nil)))
    (pcase-let ((`(,text ,beg ,end) case))
      (org-agent-kernel-test--beside
          (list (org-agent-rewrite-test--says)) text
        (ert-with-message-capture messages
          (should-not (org-agent-rewrite-test--rewrite "x" beg end))
          (should (string-match-p "as it is" messages)))
        (should (equal (buffer-string) text))))))

(ert-deftest org-agent-rewrite-indents-what-is-new ()
  "New lines get the indentation that the text had."
  (org-agent-kernel-test--beside
      (list (org-agent-rewrite-test--says "return" "x = 1\nreturn"))
      "def f():\n    if a:\n        return\n    b\n"
    (with-current-buffer (org-agent-rewrite-test--rewrite "x" 10 40)
      (org-agent-rewrite-accept))
    ;; The model knew four blanks less: its line begins at the text's edge.
    (should (equal (buffer-string)
                   "def f():\n    if a:\n        x = 1\n    return\n    b\n"))))

(ert-deftest org-agent-rewrite-is-data ()
  "Nothing in a new text is evaluated or read by another mode."
  (org-agent-kernel-test--beside
      (list (org-agent-rewrite-test--says
             "one" "-*- eval: (setq org-agent-test-ran t) -*-\n(:type :request :target :shell :cmd \"true\")\n#+SETUPFILE: /etc/passwd\n* x\n@@ -1 +1 @@\n-- \n+++ /etc/passwd\n;; Local Variables:\n;; eval: (setq org-agent-test-ran t)\n;; End:"))
      "one\n"
    (delay-mode-hooks (org-mode))
    (let ((diff (org-agent-rewrite-test--rewrite "well"))
          (enable-local-eval t) (enable-local-variables :all))
      (with-current-buffer diff
        (font-lock-ensure)
        (should-not diff-font-lock-syntax)
        (org-agent-rewrite-accept))
      (should-not (boundp 'org-agent-test-ran))
      (should (string-match-p "^(:type :request :target :shell :cmd \"true\")$"
                              (buffer-string)))
      (should (string-match-p "^\\* x\n@@ -1 \\+1 @@$" (buffer-string))))))

(ert-deftest org-agent-rewrite-that-is-none ()
  "Prose, a partial text and a failure change nothing and are shown."
  (dolist (exchange (list '((reply . "I cannot do that."))
                          '((echo . t) (replace . ["-----END TEXT" "-----"]))
                          '((status . 400))))
    (org-agent-kernel-test--beside (list exchange) "one\n"
      (ert-with-message-capture messages
        (should-not (org-agent-rewrite-test--rewrite "well"))
        (should (string-match-p "Not rewritten: " messages)))
      (should (equal (buffer-string) "one\n"))
      (should (get-buffer org-agent-ask-buffer)))))

(ert-deftest org-agent-rewrite-closes-words-of-before ()
  "What was said in place of a text is not shown beside the next rewriting.
An answer to a question is left where it is."
  (org-agent-kernel-test--beside
      (list (org-agent-kernel-test--exchange "I cannot do that.")
            (org-agent-rewrite-test--says "one" "two")
            (org-agent-kernel-test--exchange "I cannot do that either.")
            (org-agent-kernel-test--exchange "It is Samarkand.")
            (org-agent-rewrite-test--says "two" "three"))
      "one\n"
    (switch-to-buffer (current-buffer))
    (org-agent-rewrite-test--rewrite "well")
    (should (get-buffer-window org-agent-ask-buffer))
    (org-agent-rewrite "better" (point-min) (point-max))
    (should-not (get-buffer org-agent-ask-buffer))
    (with-current-buffer (org-agent-rewrite-test--wait)
      (org-agent-rewrite-again "once more")
      (org-agent-rewrite-test--wait)
      (should (get-buffer org-agent-ask-buffer))
      (org-agent-rewrite-accept))
    (should-not (get-buffer org-agent-ask-buffer))
    (should (equal (buffer-string) "two\n"))
    (org-agent-ask "Where is it?" nil 'window)
    (org-agent-fake-wait
     (with-current-buffer org-agent-ask-buffer
       (string-search "Samarkand" (buffer-string))))
    (org-agent-rewrite-test--rewrite "better")
    (with-current-buffer org-agent-ask-buffer
      (should (string-search "Samarkand" (buffer-string))))))

(ert-deftest org-agent-rewrite-again-tells-old-from-new ()
  "While a text is rewritten again, the diff of before says that it is that.
Where the next is none, the diff of before stays, and where nothing
would change it is closed."
  (org-agent-kernel-test--beside
      (list (org-agent-rewrite-test--says "one" "two")
            (org-agent-kernel-test--exchange "I cannot do that.")
            (org-agent-rewrite-test--says "one" "one"))
      "one\n"
    (let ((diff (org-agent-rewrite-test--rewrite "well")))
      (with-current-buffer diff
        (should-not (string-search "came before" header-line-format))
        (org-agent-rewrite-again "better")
        (should (string-search "Being rewritten again; this came before" header-line-format))
        (org-agent-rewrite-test--wait)
        (should-not (string-search "came before" header-line-format))
        (should (string-match-p "^\\+two$" (buffer-string)))
        (org-agent-rewrite-again "not at all"))
      (org-agent-rewrite-test--wait)
      (should-not (buffer-live-p diff))
      (should (equal (buffer-string) "one\n")))))

(ert-deftest org-agent-rewrite-says-words-on-one-line ()
  "Prose in place of a text is shown on one line, in any mode."
  (org-agent-kernel-test--beside
      (list (org-agent-kernel-test--exchange "I cannot.\nIt is\nnot mine.")) "one\n"
    (emacs-lisp-mode)
    (ert-with-message-capture messages
      (org-agent-rewrite-test--rewrite "well")
      (should (string-match-p "^Not rewritten: I cannot. It is not mine.$" messages)))))

(ert-deftest org-agent-rewrite-says-plain-words ()
  "What is said in place of a text has no markup of Org."
  (org-agent-kernel-test--beside
      (list (org-agent-kernel-test--exchange
             "* Not read\nI /cannot/ read it. Ask =how= first.\n** Why?\nIt is long."))
      "one\n"
    (ert-with-message-capture messages
      (org-agent-rewrite-test--rewrite "well")
      (should (string-match-p
               "^Not rewritten: Not read. I cannot read it. Ask how first. Why\\? It is long.$"
               messages)))
    (with-current-buffer org-agent-ask-buffer
      (goto-char (point-min))
      (while (re-search-forward "^\\*+ " nil t)
        (should (invisible-p (match-beginning 0)))
        (should-not (invisible-p (match-end 0)))))))

(ert-deftest org-agent-rewrite-refuses ()
  "A text that must not be sent is refused before anything is asked."
  (org-agent-kernel-test--beside nil "  \n "
    (should-error (org-agent-rewrite "x" (point-min) (point-max)) :type 'user-error)
    (insert "text" (unibyte-char-to-multibyte 200))
    (should-error (org-agent-rewrite "x" (point-min) (point-max)) :type 'user-error)
    (erase-buffer)
    (insert (make-string (1+ org-agent-rewrite-limit) ?x))
    (should-error (org-agent-rewrite "x" (point-min) (point-max)) :type 'user-error)
    (rename-buffer "authinfo" t)
    (should-error (org-agent-rewrite "x" 1 5) :type 'user-error)
    (with-current-buffer "*org-agent-chat*"
      (should-error (org-agent-rewrite "x" (point-min) (point-max)) :type 'user-error))
    (should-not org-agent-turn--awaited)))

(ert-deftest org-agent-rewrite-of-five-thousand-lines ()
  "A long text is rewritten within seconds, and undone in one step."
  (let ((lines (mapconcat (lambda (n) (format "    line %d of them, with words" n))
                          (number-sequence 1 5000) "\n")))
    (org-agent-kernel-test--beside
        (list (append (org-agent-rewrite-test--says "line 17 " "LINE 17 "
                                                    "line 4900 " "LINE 4900\n    ")
                      '((chunk . 4000))))
        (concat lines "\n")
      (goto-char (point-min))
      (forward-line 4949)
      (with-current-buffer (org-agent-rewrite-test--rewrite "x")
        (should (< (buffer-size) 2000))
        (let ((start (float-time)))
          (org-agent-rewrite-accept)
          (message "5000 lines applied in %.2f s" (- (float-time) start))))
      (should (looking-at "    line 4950 "))
      (should (= 5001 (count-lines (point-min) (point-max))))
      (org-agent-rewrite-test--undo)
      (should (equal (buffer-string) (concat lines "\n"))))))

(ert-deftest org-agent-rewrite-taken-from-ediff ()
  "The text that was edited in Ediff is applied."
  (org-agent-kernel-test--beside
      (list (org-agent-rewrite-test--says "one" "two")) "one\n"
    (let* ((diff (org-agent-rewrite-test--rewrite "well"))
           old new)
      (with-current-buffer diff
        ;; Batch has no frame for Ediff: its beginning and its end are played.
        (cl-letf (((symbol-function 'ediff-buffers)
                   (lambda (a b hooks)
                     (setq old a new b)
                     (mapc #'funcall hooks))))
          (org-agent-rewrite-ediff))
        (with-current-buffer new (erase-buffer) (insert "three"))
        (save-current-buffer (run-hooks 'ediff-quit-hook)))
      (should-not (or (buffer-live-p old) (buffer-live-p new)))
      (with-current-buffer diff
        (should (string-match-p "^\\+three$" (buffer-string)))
        (org-agent-rewrite-accept))
      (should (equal (buffer-string) "three\n")))))

(provide 'org-agent-rewrite-test)
;;; org-agent-rewrite-test.el ends here
