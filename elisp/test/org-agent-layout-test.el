;;; org-agent-layout-test.el --- Tests of tables, blocks and quotes on a page  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A test has a part of an answer and what one sees of it.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-chat)
(require 'org-agent-layout)
(require 'org-agent-page)
(require 'ert-x)
(require 'org-agent-header)

(defun org-agent-layout-test--seen ()
  "Return what one sees of the buffer, with what stands before its lines."
  (let ((position (point-min)) (seen "") (fresh t))
    (while (< position (point-max))
      (let* ((display (get-text-property position 'display))
             (next (if display
                       (next-single-property-change position 'display nil (point-max))
                     (1+ position)))
             ;; Emacs looks at `display' before `invisible'.
             (text (cond ((stringp display) display)
                         (display "----")
                         ((invisible-p position) nil)
                         (t (buffer-substring position next)))))
        (when text
          (when fresh
            (setq seen (concat seen (get-text-property position 'line-prefix))))
          (setq seen (concat seen text)
                fresh (string-suffix-p "\n" text)))
        (setq position next)))
    (substring-no-properties seen)))

(defmacro org-agent-layout-test--with (text room &rest body)
  "Evaluate BODY where TEXT is shown in a window that has ROOM for as many columns.
There is nothing but ASCII."
  (declare (indent 2) (debug t))
  `(let ((room ,room))
     (cl-letf (((symbol-function 'char-displayable-p) (lambda (char) (< char 128)))
               ((symbol-function 'window-max-chars-per-line) (lambda (&rest _) room)))
       (save-window-excursion
         (with-temp-buffer
           (switch-to-buffer (current-buffer))
           (insert ,text)
           (org-agent-chat-mode)
           (font-lock-ensure)
           ,@body)))))

(defconst org-agent-layout-test--table "\
| name   | what it is                     | also           |
|--------+--------------------------------+----------------|
| ~a.el~ | the *first* of all these files | [[https://a.b/c][a link]] here    |
| b      | short                          | more of b here |
"
  "A table that is aligned, as the kernel writes it.")

(defun org-agent-layout-test--widths (text)
  "Return the widths of the lines of TEXT, without duplicates."
  (delete-dups (mapcar #'string-width (split-string text "\n" t))))

(ert-deftest org-agent-layout-calls-are-counted ()
  "What a drawer has is summed up also when a font is looked for meanwhile."
  (cl-letf (((symbol-function 'char-displayable-p)
             (lambda (_) (string-match "x" "x"))))
    (with-temp-buffer
      (insert "* Q :user:\n** A :agent:\n:CALLS:\n: read (:path \"a\")\n:   performed in 0.01 s\n:END:\nText.\n")
      (org-agent-chat-mode)
      (font-lock-ensure)
      (should (string-search "called read\nText." (org-agent-layout-test--seen))))))

(ert-deftest org-agent-layout-narrow-table ()
  "In a table with room only the markers of emphasis and of links are not seen."
  (org-agent-layout-test--with org-agent-layout-test--table 80
    (should (equal (org-agent-layout-test--seen) "\
| name   | what it is                     | also           |
|--------+--------------------------------+----------------|
| a.el   | the first of all these files   | a link here    |
| b      | short                          | more of b here |
"))
    (goto-char (point-min))
    (should (memq 'org-agent-layout-table-title
                  (get-text-property (+ 2 (point)) 'face)))
    (forward-line 3)
    (should-not (memq 'org-agent-layout-table-title
                      (ensure-list (get-text-property (+ 2 (point)) 'face))))))

(ert-deftest org-agent-layout-wide-table ()
  "Cells that have no room are wrapped between words, and columns stay columns."
  (org-agent-layout-test--with org-agent-layout-test--table 42
    (let ((seen (org-agent-layout-test--seen)))
      (should (equal seen "\
| name   | what it is    | also          |
|--------+---------------+---------------|
| a.el   | the first of  | a link here   |
|        | all these     |               |
|        | files         |               |
|        |               |               |
| b      | short         | more of b     |
|        |               | here          |
"))
      (should (equal (org-agent-layout-test--widths seen) '(42)))
      (should (equal (buffer-string) org-agent-layout-test--table)))
    ;; One can go through the lines of a row: each has a place of its own.
    (goto-char (point-min))
    (forward-line 2)
    (let ((places 0) (end (line-end-position)))
      (while (< (point) end)
        (cl-incf places)
        (goto-char (next-single-property-change (point) 'display nil end)))
      (should (= places 4)))))

(ert-deftest org-agent-layout-fits-every-window ()
  "No line is wider than the window, and a window of another width changes them."
  (org-agent-layout-test--with org-agent-layout-test--table 80
    (dolist (columns '(30 35 47 60 61 80))
      (setq room columns)
      (run-hooks 'window-configuration-change-hook)
      (font-lock-ensure)
      (let ((widths (org-agent-layout-test--widths (org-agent-layout-test--seen))))
        (should (= (length widths) 1))
        (should (<= (car widths) columns))
        (should (or (< columns 60) (= (car widths) 60)))))))

(ert-deftest org-agent-layout-many-columns ()
  "A table with more columns than can be read is cut at the edge."
  (org-agent-layout-test--with
      (concat "|" (mapconcat (lambda (n) (format " column %02d |" n)) (number-sequence 1 9) "")
              "\n|" (string-join (make-list 9 "-----------") "+") "|\n")
      40
    (should (equal (org-agent-layout-test--seen) "\
| column 01 | column 02 | column 03 | c$
|-----------+-----------+-----------+--$
"))))

(ert-deftest org-agent-layout-numbers-stay-right ()
  "A column of numbers is aligned at its right, and what says so is not seen."
  (let ((table "\
| <r>   |                              |
|    *n* | a text that has to be wrapped |
|-------+------------------------------|
|     1 | one                          |
"))
    (org-agent-layout-test--with table 80
      (should (string-prefix-p "|      n | a" (org-agent-layout-test--seen))))
    (org-agent-layout-test--with table 30
      (should (string-search "\n|     1 | one " (org-agent-layout-test--seen))))))

(ert-deftest org-agent-layout-words-that-are-too-long ()
  "A word that is wider than its column is broken, a character at the least."
  (should (equal (org-agent-layout--wrapped "abcdefgh ij" 3) '("abc" "def" "gh" "ij")))
  (should (equal (org-agent-layout--wrapped "漢字 x" 1) '("漢" "字" "x")))
  (should (equal (org-agent-layout--wrapped "" 5) '(""))))

(ert-deftest org-agent-layout-code ()
  "Code has the name of its language above it and nothing else."
  (org-agent-layout-test--with
      "Text.\n#+begin_src sh :results output\nls\n\n| a |\n#+end_src\n#+begin_example\n| *b* |\n#+end_example\nEnd.\n"
      80
    (should (equal (org-agent-layout-test--seen)
                   "Text.\n sh :results output\n ls\n \n | a |\n | *b* |\nEnd.\n"))
    (dolist (text '("sh :results" "ls" "| *b*"))
      (goto-char (point-min))
      (search-forward text)
      (should (string-match-p "org-block\\|org-agent-layout-language"
                              (prin1-to-string
                               (get-text-property (match-beginning 0) 'face)))))))

(ert-deftest org-agent-layout-escapes ()
  "The commas with which Org escapes lines of code are not seen, others are."
  (org-agent-layout-test--with
      "#+begin_example\n,* A\n ,#+b\n,,* C\n, d\n#+end_example\n,* A\n" 80
    (should (equal (org-agent-layout-test--seen)
                   " * A\n  #+b\n ,* C\n , d\n,* A\n"))))

(ert-deftest org-agent-layout-code-that-is-being-written ()
  "Code looks like code before its end is there."
  (org-agent-layout-test--with "Text.\n#+begin_src sh\nls\necho 1" 80
    (org-agent-page-sketch 1 7 7 (point-max))
    (should (equal (org-agent-layout-test--seen) "Text.\n sh\n ls\n echo 1"))
    (dolist (text '("ls" "echo"))
      (goto-char (point-min))
      (search-forward text)
      (should (eq 'org-block (get-text-property (match-beginning 0) 'face))))
    (goto-char (point-max))
    (insert "\n#+end_src\nEnd.\n")
    (font-lock-ensure)
    (should (equal (org-agent-layout-test--seen) "Text.\n sh\n ls\n echo 1\nEnd.\n")))
  (org-agent-layout-test--with "Text.\n" 80
    (org-agent-page-sketch 1 1 1 (point-max))
    (should (equal (org-agent-layout-test--seen) "Text.\n"))))

(ert-deftest org-agent-layout-code-in-a-list ()
  "Code that a list has in it stands below the text of the item."
  (org-agent-layout-test--with
      "- one\n  #+begin_src sh\nls\n  #+end_src\n- two\n  #+begin_src sh\n  ls\n  #+end_src\n" 80
    (should (equal (org-agent-layout-test--seen)
                   "- one\n   sh\n   ls\n- two\n sh\n   ls\n"))))

(ert-deftest org-agent-layout-quotations ()
  "A quotation has a bar before its lines."
  (org-agent-layout-test--with "#+begin_quote\nOne.\n\nTwo.\n#+end_quote\nEnd.\n" 80
    (should (equal (org-agent-layout-test--seen) "| One.\n| \n| Two.\nEnd.\n"))
    (should (equal (get-text-property 20 'wrap-prefix) "| "))))

(ert-deftest org-agent-layout-leaves-other-blocks ()
  "Blocks without an end, within others or of other kinds are shown as they are."
  (dolist (text '("#+begin_src sh\nls\n" "#+end_src\nls\n" "#+begin_center\nx\n#+end_center\n"
                  "#+begin_details\nx\n#+end_details\n"))
    (org-agent-layout-test--with text 80
      (should (equal (org-agent-layout-test--seen) text)))))

(ert-deftest org-agent-layout-rule-across ()
  "A rule is drawn as a line; dashes in code are dashes."
  (org-agent-layout-test--with "a\n-----\n#+begin_example\n-----\n#+end_example\n" 80
    (should (equal (org-agent-layout-test--seen) "a\n----\n -----\n"))
    (should (equal (get-text-property 3 'display) '(space :align-to right)))))

(ert-deftest org-agent-layout-page-has-a-width ()
  "A page is no wider than is wanted, and its window can be split and left."
  (org-agent-fake-with-chat
    (save-window-excursion
      (delete-other-windows)
      (let ((all (window-body-width)) (org-agent-layout-width 40))
        (switch-to-buffer (current-buffer))
        (org-agent-page-toggle)
        (org-agent-page-toggle)
        (should (= 40 (window-body-width)))
        (should (= (- all 40) (cdr (window-margins))))
        (let ((window (split-window-right)))
          (run-hook-with-args 'window-size-change-functions (selected-window))
          (should (<= (window-body-width) 40))
          (delete-window window))
        (run-hook-with-args 'window-size-change-functions (selected-window))
        (should (= 40 (window-body-width)))
        ;; The file as it is has the whole window, and so has another buffer.
        (org-agent-page-toggle)
        (should (= all (window-body-width)))
        (org-agent-page-toggle)
        (with-temp-buffer
          (let ((chat (window-buffer)))
            (set-window-buffer nil (current-buffer))
            (should (= all (window-body-width)))
            (set-window-buffer nil chat)))
        (let ((org-agent-layout-width nil))
          (run-hook-with-args 'window-buffer-change-functions (selected-window))
          (should (= all (window-body-width))))))))

(provide 'org-agent-layout-test)
;;; org-agent-layout-test.el ends here
