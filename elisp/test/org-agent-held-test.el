;;; org-agent-held-test.el --- Tests of held places  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org)
(require 'org-agent-fake-kernel)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-held)
(require 'org-agent-inert)

(defmacro org-agent-held-test--in (text &rest body)
  "Run BODY in a buffer of Org with TEXT, in which ‹› is the mark."
  (declare (indent 1) (debug t))
  `(with-temp-buffer
     (insert (string-replace "‹›" org-agent-inert-mark ,text))
     (let ((org-inhibit-startup t)) (org-mode))
     (goto-char (point-min))
     ,@body))

(defun org-agent-held-test--text ()
  "Return the text of the buffer with visible marks."
  (string-replace org-agent-inert-mark "‹›"
                  (buffer-substring-no-properties (point-min) (point-max))))

(defconst org-agent-held-test--answer
  "** A :agent:
:PROPERTIES:
:ID: x
:END:
#‹›+INCLUDE: \"/etc/passwd\"
#+begin_example ‹›recentf :‹›dir /x
x
#+end_example
A word src‹›_sh{ls} and [[elisp‹›:(f)][text]], plain‹› text, ‹›*not* held.
*** Part :user‹›:
:PROPERTIES:
:HELD_CRON: * * * * *
:Effort: 1h
:END:
| ‹›='(f) | 1 |
* TODO Mine
#+STARTUP: overview
"
  "An answer with nine held places, and text of a person's.")

(ert-deftest org-agent-held-places-are-known-by-the-list ()
  "Held is what would be held without its mark, and nothing else."
  (org-agent-held-test--in org-agent-held-test--answer
    (let ((places (org-agent-held-all)))
      (should (equal (mapcar (lambda (place) (nth 1 place)) places)
                     '(keyword language argument inline inline property property formula)))
      (should (equal (mapcar (lambda (place) (line-number-at-pos (car place))) places)
                     '(5 6 6 9 9 10 12 15)))
      (dolist (place places)
        (goto-char (car place))
        (should (or (looking-at-p org-agent-inert-mark) (looking-at-p "HELD_")))
        (should (equal (car (org-agent-held-at (point))) (car place))))))
  (org-agent-held-test--in "* A\nnothing\n" (should-not (org-agent-held-all)))
  ;; With more of it made real, the rest is found all the same.
  (org-agent-held-test--in (string-replace "src‹›_" "src_"
                                           (string-replace "#‹›+INC" "#+INC" org-agent-held-test--answer))
    (should (= 6 (length (org-agent-held-all))))))

(ert-deftest org-agent-held-is-made-real-by-a-person ()
  "A person is asked; with no nothing changes, with yes one place does, until undo."
  (pcase-dolist
      (`(,goto ,from ,to)
       '(("INCLUDE" "#‹›+INCLUDE" "#+INCLUDE")
         ("recentf" "#+begin_example ‹›recentf :‹›dir /x\nx\n#+end_example" "#+begin_src recentf :‹›dir /x\nx\n#+end_src")
         ("dir /x" ":‹›dir" ":dir")
         ("_sh" "src‹›_sh" "src_sh")
         ("text\\]\\]" "elisp‹›:" "elisp:")
         ("HELD_CRON" ":HELD_CRON:" ":CRON:")
         ("Part" nil nil)
         (":user" ":user‹›:" ":user:")
         ("='(f)" "‹›='(f)" "='(f)")))
    (org-agent-held-test--in org-agent-held-test--answer
      (buffer-enable-undo)
      (org-agent-held-mode)
      (re-search-forward goto)
      (goto-char (match-beginning 0))
      (let (asked (answer nil) (inhibit-message t))
        (cl-letf (((symbol-function 'yes-or-no-p)
                   (lambda (_)
                     (setq asked (with-current-buffer "*org-agent-held-place*" (buffer-string)))
                     answer)))
          (if (null from)
              (should-not (org-agent-held-ctrl-c-ctrl-c))
            (should (org-agent-held-ctrl-c-ctrl-c))
            (should (string-search (string-replace "‹›" org-agent-inert-mark
                                                   (car (split-string to "\n")))
                                   asked))
            (should (equal (org-agent-held-test--text) org-agent-held-test--answer))
            (setq answer t)
            (org-ctrl-c-ctrl-c)
            (should (equal (org-agent-held-test--text)
                           (string-replace from to org-agent-held-test--answer)))
            (undo)
            (should (equal (org-agent-held-test--text) org-agent-held-test--answer))))))))

(ert-deftest org-agent-held-has-a-face-and-says-why ()
  "A held place has a face and a text under the mouse, other text has none."
  (org-agent-held-test--in org-agent-held-test--answer
    (org-agent-held-mode)
    (font-lock-ensure)
    (let ((held (lambda (text)
                  (goto-char (point-min))
                  (re-search-forward text)
                  (let ((face (get-text-property (match-beginning 0) 'face)))
                    (list (and (memq 'org-agent-held (if (listp face) face (list face))) t)
                          (stringp (get-text-property (match-beginning 0) 'help-echo)))))))
      (dolist (text '("INCLUDE" "recentf" "_sh" "HELD_CRON" "='(f)"))
        (should (equal (funcall held text) '(t t))))
      (dolist (text '("A word" "not. held" "Effort" "STARTUP" "TODO"))
        (should (equal (car (funcall held text)) nil)))
      (goto-char (point-min))
      (search-forward "INCLUDE")
      (should (string-match-p "Held: #\\+INCLUDE.*whole file"
                              (get-text-property (point) 'help-echo))))))

(ert-deftest org-agent-held-list ()
  "The list has a row for each place, visits it, and can make it real."
  (org-agent-held-test--in org-agent-held-test--answer
    (rename-buffer "held-test" t)
    (save-window-excursion
      (unwind-protect
          (progn
            (org-agent-held)
            (should (equal (buffer-name) "*org-agent-held*"))
            (should (= 8 (length tabulated-list-entries)))
            (goto-char (point-min))
            (search-forward "#+INCLUDE")
            (cl-letf (((symbol-function 'yes-or-no-p) #'always))
              (let ((inhibit-message t)) (org-agent-held-list-make-real)))
            (should (= 7 (length (buffer-local-value 'tabulated-list-entries
                                                     (get-buffer "*org-agent-held*"))))))
        (kill-buffer "*org-agent-held*")))
    (should (string-search "\n#+INCLUDE" (buffer-string)))))

(ert-deftest org-agent-held-is-copied-as-it-is ()
  "What is copied stays held, and that is said."
  (org-agent-held-test--in org-agent-held-test--answer
    (org-agent-held-mode)
    (let (said (text (buffer-string)))
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest arguments) (setq said (apply #'format format arguments)))))
        (copy-region-as-kill (point-min) (point-max))
        (run-hooks 'post-command-hook)
        (should (equal (substring-no-properties (current-kill 0)) (substring-no-properties text)))
        (should (string-match-p "\\`8 places in it stay held" said))
        (setq said nil)
        (copy-region-as-kill (- (point-max) 20) (point-max))
        (run-hooks 'post-command-hook)
        (should-not said)))))

(ert-deftest org-agent-held-in-a-conversation ()
  "In a conversation held places are shown, and its key asks about the one at point."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")) (asked 0))
      (org-agent-fake-act "a1" question
                          (org-agent-fake-answer-text "a1" "A" "#+CALL: x()" "src_sh{ls}"))
      (font-lock-ensure)
      (goto-char (point-min))
      (search-forward "+CALL")
      (should (stringp (get-text-property (1- (point)) 'help-echo)))
      (cl-letf (((symbol-function 'yes-or-no-p) (lambda (_) (cl-incf asked) t)))
        (let ((inhibit-message t)) (org-agent-chat-ctrl-c-ctrl-c)))
      (should (= asked 1))
      (should (string-search "\n#+CALL" (buffer-string)))
      (should (string-search (concat "src" org-agent-inert-mark "_sh") (buffer-string))))))

(provide 'org-agent-held-test)
;;; org-agent-held-test.el ends here
