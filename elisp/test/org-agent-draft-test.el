;;; org-agent-draft-test.el --- Tests of drafts and questions  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Tests of pure text: where the draft is, what is sent, and which bytes it
;; leaves.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-heading)
(require 'org-agent-draft)

(defconst org-agent-draft-test--turn
  (concat "* Question" (make-string 61 ?\s) ":user:\n"
          ":PROPERTIES:\n:ID:       q1\n:END:\n"
          "** Answer" (make-string 61 ?\s) ":agent:\n"
          ":PROPERTIES:\n:ID:       a1\n:END:\n"
          "Text\n*** Detail\nMore\n")
  "A question and its answer.")

(defmacro org-agent-draft-test--in (text &rest body)
  "Run BODY in a buffer with TEXT."
  (declare (indent 1) (debug t))
  `(with-temp-buffer
     (buffer-enable-undo)
     (insert ,text)
     (goto-char (point-max))
     ,@body))

(ert-deftest org-agent-draft-what-is-sent ()
  "A draft is sent as raw text, without its stars."
  (pcase-dolist
      (`(,draft ,text)
       '(("* Hello" "Hello")
         ("* Hello\n" "Hello")
         ("*   Hello  \n\n  \n" "Hello")
         ("* \nHello\nthere" "Hello\nthere")
         ("* \n\n\n  Hello\nthere" "Hello\nthere")
         ("* TODO [#A] COMMENT x :tag:ARCHIVE:" "TODO [#A] COMMENT x :tag:ARCHIVE:")
         ("* a\n\n\nb\n\nc\n" "a\nb\n\nc")
         ("* a\nSCHEDULED: <2026-01-01>\n:PROPERTIES:\n:X: 1\n:END:"
          "a\nSCHEDULED: <2026-01-01>")
         ("* a\n* b\n** c" "a\n** b\n*** c")
         ("** a\n* b\n*** c" "a\n*** b\n***** c")
         ("* a\n*** b" "a\n*** b")
         ("* a\n| x | y |\n#+begin_src sh\nls\n#+end_src"
          "a\n| x | y |\n#+begin_src sh\nls\n#+end_src")
         ("* a\r\nb\r\n" "a\nb")
         ("* \u4e16\u754c \U0001f600" "\u4e16\u754c \U0001f600")
         ("* " nil) ("* \n\n \t\n" nil) ("** " nil)))
    (dolist (before (list "" org-agent-draft-test--turn
                          "#+TITLE: T\n\nPreface\n"))
      (ert-info ((format "%S" draft))
        (org-agent-draft-test--in (concat before draft)
          (should (equal (car (org-agent-context-draft)) text)))))))

(ert-deftest org-agent-draft-where-it-is ()
  "The draft begins at the first heading without an ID after the last turn."
  (pcase-dolist
      (`(,behind ,start)
       '(("* draft" "* draft")
         ("** follow-up" "** follow-up")
         ("* Note\n:PROPERTIES:\n:ID: n\n:END:\n* draft\n* more" "* draft\n* more")
         ("* draft\n* Note\n:PROPERTIES:\n:ID: n\n:END:\n"
          "* draft\n* Note\n:PROPERTIES:\n:ID: n\n:END:\n")
         ("*** mine, in the answer\n* draft" "* draft")
         ("plain text of the answer" nil)
         ("" nil)))
    (ert-info (behind)
      (org-agent-draft-test--in (concat "* Old notes\n" org-agent-draft-test--turn
                                        behind)
        (let ((found (org-agent-draft-start)))
          (should (equal (and found (buffer-substring found (point-max)))
                         start)))))))

(ert-deftest org-agent-draft-missing-is-known ()
  "Each way in which a buffer can lack a draft is recognized."
  (pcase-dolist
      (`(,text ,whole)
       `(("" "* ")
         (,org-agent-draft-test--turn ,(concat org-agent-draft-test--turn "* "))
         (,(string-trim-right org-agent-draft-test--turn)
          ,(concat org-agent-draft-test--turn "* "))
         (,(concat org-agent-draft-test--turn "*")
          ,(concat org-agent-draft-test--turn "* "))
         (,(concat org-agent-draft-test--turn "*\n")
          ,(concat org-agent-draft-test--turn "* \n"))
         ("*\n\n" "* \n\n")
         (,(concat org-agent-draft-test--turn "* ") nil)
         ("* draft" nil)))
    (ert-info ((format "%S" text))
      (org-agent-draft-test--in text
        (let ((missing (org-agent-draft-missing)))
          (should (eq (null missing) (null whole)))
          (when whole
            (goto-char (car missing))
            (insert (cdr missing))
            (should (equal (buffer-string) whole))
            (should-not (org-agent-draft-missing))))))))

(ert-deftest org-agent-draft-is-mended ()
  "Words between the star and its blank belong to the draft."
  (pcase-dolist
      (`(,behind ,sent)
       '(("*Hello there " "Hello there")
         ("*Hello\nand *more*\n" "Hello\nand *more*")
         ("\n\n**Hello" "Hello")
         ("*bold* words" nil)
         ("* Note\n*this* and* that" "Note\n*this* and* that")
         ("#+begin_src c\n*p++;\n" nil)
         ("#+begin_src c\n*p++;\n#+end_src\n*Now this" "Now this")
         ("" nil)))
    (dolist (before (list "" "Preface\n" org-agent-draft-test--turn))
      (ert-info (behind)
        (org-agent-draft-test--in (concat before behind)
          (org-agent-draft-mend (point-max))
          (should (equal (car (org-agent-context-draft)) sent))))))
  ;; Nothing before point is meant, and nothing that is part of a turn's heading.
  (org-agent-draft-test--in "b\n*a\n"
    (should-not (org-agent-draft-mend 1))
    (should (org-agent-draft-mend 3)))
  (org-agent-draft-test--in (concat "*x\n" org-agent-draft-test--turn)
    (should-not (org-agent-draft-mend (point-max)))))

(ert-deftest org-agent-draft-becomes-a-question ()
  "Sending makes the draft a heading with its tags and its drawer."
  (org-agent-draft-test--in (concat org-agent-draft-test--turn
                                    "* What\nis this?\n* Sub")
    (should (equal (car (org-agent-draft-to-question
                         "id-1" (car (org-agent-context-draft))))
                   1))
    (should (equal (buffer-string)
                   (concat org-agent-draft-test--turn
                           "* What" (make-string 58 ?\s) ":user:unsent:\n"
                           ":PROPERTIES:\n:ID:       id-1\n:END:\n"
                           "is this?\n** Sub\n* ")))
    (should (equal (org-agent-heading-question-text (org-agent-heading-find "id-1"))
                   "What\nis this?\n** Sub"))))

(ert-deftest org-agent-draft-tags-end-at-column-77 ()
  "Tags end at display column 77, after at least one blank."
  (should (equal (org-agent-heading-line 1 "\u6f22\u5b57" '("user"))
                 (concat "* \u6f22\u5b57" (make-string 65 ?\s) ":user:\n")))
  (should (equal (org-agent-heading-line 2 (make-string 67 ?x) '("user"))
                 (concat "** " (make-string 67 ?x) " :user:\n")))
  (should (equal (org-agent-heading-line 2 (make-string 90 ?x) '("user"))
                 (concat "** " (make-string 90 ?x) " :user:\n"))))

(ert-deftest org-agent-draft-turns-are-found ()
  "Turns are headings with an ID and one of the two tags."
  (org-agent-draft-test--in
      (concat org-agent-draft-test--turn
              "* Not :user:\n* Nor this\n:PROPERTIES:\n:ID: n1\n:END:\n"
              "* Yes :x:user:\n:PROPERTIES:\n:CUSTOM: 1\n:id: y1\n:END:\n"
              "* No\n:ID: z\n#+begin_example\n:ID: a1\n#+end_example\n")
    (should (equal (org-agent-heading-turn-ids) '("q1" "a1" "y1")))
    (should (equal (org-agent-heading-title (org-agent-heading-find "a1"))
                   "Answer"))
    (should (equal (org-agent-heading-title (org-agent-heading-find "n1"))
                   "Nor this"))
    (should-not (org-agent-heading-find "z"))
    (should-not (org-agent-heading-find "a"))
    (let ((end (org-agent-heading-subtree-end (org-agent-heading-find "q1"))))
      (should (equal (buffer-substring end (+ end 5)) "* Not")))))

(ert-deftest org-agent-draft-turns-are-found-in-any-form ()
  "The IDs are those of the turns, however a person wrote their headings."
  (dolist (tags '(":user:" ":agent:" ":x:user:" ":user:x:" ":user:  " ":User:" ":users:" "user:"))
    (dolist (above '("" "CLOSED: [2026-01-01 Thu]\n" "text\n"))
      (dolist (drawer '(":PROPERTIES:\n:ID: t1\n:END:\n" ":properties:\n:id:   t1  \n:end:\n"
                        "  :PROPERTIES:\n  :ID: t1\n  :END:\n" ":PROPERTIES:\n:ID:\n:END:\n"
                        ":PROPERTIES: no\n:ID: t1\n:END:\n" ":PROPERTIES:\n:ID: t1 t2\n:END:\n"
                        ":PROPERTIES:\n:A: 1\n:ID: t1\n:END:\n" ":PROPERTIES:\n:ID: t1\n"))
        (org-agent-draft-test--in
            (concat drawer "* A title " tags "\n" above drawer "text " tags "\n" drawer
                    org-agent-draft-test--turn)
          (let (turns)
            (org-agent-heading-map-turns
             (lambda (heading) (push (org-agent-heading-property heading "ID") turns)))
            (ert-info ((buffer-string))
              (should (equal (org-agent-heading-turn-ids) (nreverse turns))))))))))

(ert-deftest org-agent-draft-of-one-long-line ()
  "A megabyte on one line is a draft like any other."
  (let ((line (apply #'concat (make-list 200000 "a :b "))))
    (org-agent-draft-test--in (concat org-agent-draft-test--turn "* " line)
      (should (equal (org-agent-heading-turn-ids) '("q1" "a1")))
      (should (equal (car (org-agent-context-draft)) (string-trim line))))))

(ert-deftest org-agent-draft-keeps-point-and-narrowing ()
  "Reading the draft moves nothing."
  (org-agent-draft-test--in (concat org-agent-draft-test--turn "* draft")
    (goto-char 5)
    (narrow-to-region 2 20)
    (should (org-agent-draft-start))
    (should (org-agent-heading-find "a1"))
    (should (equal (car (org-agent-context-draft)) "draft"))
    (should (equal (list (point) (point-min) (point-max)) '(5 2 20)))))

(provide 'org-agent-draft-test)
;;; org-agent-draft-test.el ends here
