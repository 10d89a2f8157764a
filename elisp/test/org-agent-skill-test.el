;;; org-agent-skill-test.el --- Tests of writing skills  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real program: diagnostics of a note, documentation of names,
;; evaluation, tests, and the list.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'flymake)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent)
(require 'ob-org-agent)
(require 'org-agent-log)
(require 'org-agent-skill)
(require 'org-agent-skills)

(defconst org-agent-skill-test--note
  "* Success Criteria
** TODO It adds
** DONE It fails
:PROPERTIES:
:CUSTOM_ID: fails
:END:
** DONE Nobody looks
* Build
#+begin_src lisp
(defvar *step* 1 \"How far.\")
(defun add (x &optional (y 2))
  \"Add X and Y.\"
  (+ *step* x y))
(defskill :adder :trigger (lambda (c) nil))
#+end_src
#+name: evaluated
#+begin_src lisp
(add 1)
#+end_src

#+name: It adds
#+begin_src lisp :test yes
(deftest adds (is (= 4 (add 1))))
#+end_src
#+name: It fails
#+begin_src lisp :test yes
(deftest fails (is (= 5 (add 1))))
#+end_src
"
  "A note that is a skill.")

(defmacro org-agent-skill-test--with (text &rest body)
  "Run BODY in a note with TEXT in the home of a real kernel."
  (declare (indent 1) (debug t))
  `(org-agent-kernel-test--with nil
     (let ((file (expand-file-name "skills/adder.org" org-agent-home))
           (org-id-track-globally nil))
       (make-directory (file-name-directory file) t)
       (with-temp-file file (insert ,text))
       (let ((note (find-file-noselect file)))
         (unwind-protect
             (with-current-buffer note ,@body)
           (with-current-buffer note (set-buffer-modified-p nil))
           (kill-buffer note))))))

(defun org-agent-skill-test--diagnostics ()
  "Return what Flymake shows: lists (TEXT TYPE MESSAGE)."
  (mapcar (lambda (diagnostic)
            (list (buffer-substring-no-properties
                   (flymake-diagnostic-beg diagnostic)
                   (flymake-diagnostic-end diagnostic))
                  (flymake-diagnostic-type diagnostic)
                  (flymake-diagnostic-text diagnostic)))
          (flymake-diagnostics)))

(ert-deftest org-agent-skill-mode-is-on-in-notes ()
  "The mode is on in a note of the home, and off in other Org files."
  (org-agent-skill-test--with org-agent-skill-test--note
    (should org-agent-skill-mode)
    (should (memq 'org-agent-skill-ctrl-c-ctrl-c org-ctrl-c-ctrl-c-hook))
    (let ((elsewhere (find-file-noselect
                      (expand-file-name "else.org" org-agent-fake-directory))))
      (with-current-buffer elsewhere
        (should-not org-agent-skill-mode)
        (should-not (local-variable-p 'org-ctrl-c-ctrl-c-hook)))
      (kill-buffer elsewhere))
    (org-agent-skill-mode -1)
    (should-not (memq 'org-agent-skill-ctrl-c-ctrl-c org-ctrl-c-ctrl-c-hook))))

(ert-deftest org-agent-skill-faults-are-where-they-are ()
  "Errors are marked at their characters while the person types."
  (org-agent-skill-test--with org-agent-skill-test--note
    (goto-char (point-min))
    (search-forward "(+ *step* x y)")
    (replace-match "(list \"äö世\" (no-such x))")
    (flymake-start)
    (org-agent-fake-wait (org-agent-skill-test--diagnostics))
    (pcase (org-agent-skill-test--diagnostics)
      (`((,text ,type ,message))
       (should (equal text "(no-such x)"))
       (should (eq type :error))
       (should (string-match-p "NO-SUCH is undefined" message)))
      (other (ert-fail other)))
    (search-backward "(no-such x)")
    (replace-match "x")
    (flymake-start)
    (org-agent-fake-wait (not (org-agent-skill-test--diagnostics)))))

(ert-deftest org-agent-skill-names-are-known ()
  "Names of the note and of the language are documented and completed."
  (org-agent-skill-test--with org-agent-skill-test--note
    (org-agent-fake-wait (and (org-agent-skill--symbols)
                              (gethash "mapcar" (org-agent-skill--symbols))))
    (let (told)
      (goto-char (point-min))
      (search-forward "(add 1")
      (org-agent-skill-eldoc (lambda (text) (setq told text)))
      (should (equal (substring-no-properties told)
                     "add (x &optional (y 2)): Add X and Y."))
      (search-backward "defvar")
      (org-agent-skill-eldoc (lambda (text) (setq told text)))
      (should (string-match-p "\\`defvar " told))
      (setq told nil)
      (goto-char (point-min))
      (org-agent-skill-eldoc (lambda (text) (setq told text)))
      (should-not told))
    (search-forward "(add 1)")
    (insert "\n(remove-if-n")
    (pcase (org-agent-skill-complete)
      (`(,beg ,end ,table . ,_)
       (should (equal (all-completions (buffer-substring beg end) table)
                      '("remove-if-not")))
       (should (all-completions "*st" table))
       (should (member "ask-neuro" (all-completions "ask" table))))
      (other (ert-fail other)))))

(ert-deftest org-agent-skill-blocks-are-evaluated ()
  "The key evaluates the block of the buffer, and reports errors."
  (org-agent-skill-test--with org-agent-skill-test--note
    (goto-char (point-min))
    (search-forward "*step* 1")
    (replace-match "*step* 40")
    (search-forward "(add 1)")
    (org-ctrl-c-ctrl-c)
    (org-agent-fake-wait (save-excursion
                           (goto-char (point-min))
                           (re-search-forward "^#\\+RESULTS: evaluated\n: 43$" nil t)))
    (goto-char (point-min))
    (search-forward "(add 1)")
    (insert "\n(format t \"words~%\")\n:last")
    (org-ctrl-c-ctrl-c)
    (org-agent-fake-wait (save-excursion
                           (goto-char (point-min))
                           (re-search-forward "^#\\+RESULTS: evaluated\n: words\n: :LAST$" nil t)))
    (goto-char (point-min))
    (search-forward "(add 1)")
    (insert "\n(car 5)")
    (let (said)
      (cl-letf (((symbol-function 'message)
                 (lambda (format-string &rest arguments)
                   (when format-string
                     (setq said (apply #'format format-string arguments))))))
        (org-ctrl-c-ctrl-c)
        (org-agent-fake-wait (and said (string-match-p "5 is not of type LIST" said)))
        (should (string-prefix-p (format "%d:" (line-number-at-pos)) said))))))

(ert-deftest org-agent-skill-criteria-are-set-to-what-was-proven ()
  "On a criterion the key runs the tests and sets TODO or DONE."
  (org-agent-skill-test--with org-agent-skill-test--note
    (goto-char (point-min))
    (search-forward "It adds")
    (org-ctrl-c-ctrl-c)
    (org-agent-fake-wait (string-match-p "PROVEN" (buffer-string)))
    (goto-char (point-min))
    (should (looking-at (concat "\\* Success Criteria\n\\*\\* DONE It adds\n:PROPERTIES:\n"
                                ":PROVEN: +PASS sha256:[0-9a-f]\\{12\\}\n:END:\n"
                                "\\*\\* TODO It fails\n:PROPERTIES:\n:CUSTOM_ID: fails\n"
                                ":PROVEN: +FAIL sha256:[0-9a-f]\\{12\\}\n:END:\n"
                                "\\*\\* TODO Nobody looks\n\\* Build\n")))
    (should (buffer-modified-p))
    (with-current-buffer "*org-agent-skill-test*"
      (goto-char (point-min))
      (forward-line)
      (should (looking-at (concat (regexp-quote file) ":[0-9]+:[0-9]+: the test fails failed"))))
    ;; The note tells of the failure where it is, and at its criterion.
    (cl-flet ((told (type)
                (mapcar (lambda (diagnostic)
                          (goto-char (flymake-diagnostic-beg diagnostic))
                          (buffer-substring-no-properties (line-beginning-position)
                                                          (line-end-position)))
                        (cl-remove-if-not
                         (lambda (diagnostic)
                           (and (eq (flymake-diagnostic-type diagnostic) type)
                                (string-match-p "the test fails failed"
                                                (flymake-diagnostic-text diagnostic))))
                         (flymake-diagnostics)))))
      (org-agent-fake-wait (told :error))
      (should (equal (told :error) '("(deftest fails (is (= 5 (add 1))))")))
      (should (equal (told :warning) '("** TODO It fails")))
      (let ((line (progn (told :error) (line-number-at-pos))))
        (with-current-buffer "*org-agent-skill-test*"
          (should (looking-at (format "%s:%d:" (regexp-quote file) line)))))
      ;; A changed note has not failed yet.
      (goto-char (point-max))
      (insert "\n")
      (flymake-start)
      (org-agent-fake-wait (not (told :error)))
      (should-not (told :warning)))
    (org-agent-skill-test)
    (org-agent-fake-settle)
    ;; A second time changes nothing in the note, from a test's block as well.
    (let ((text (buffer-string)))
      (goto-char (point-min))
      (search-forward "(deftest adds")
      (org-ctrl-c-ctrl-c)
      (org-agent-fake-settle)
      (should (equal text (buffer-string))))
    ;; The faults have their lines of the marked note now: they stay too.
    (let* ((faults (get-buffer "*org-agent-skill-test*"))
           (tick (buffer-chars-modified-tick faults))
           (point (with-current-buffer faults (forward-char 3) (point))))
      (ert-with-message-capture messages
        (org-ctrl-c-ctrl-c)
        (org-agent-fake-wait (string-match-p "1 failed" messages)))
      (should (= tick (buffer-chars-modified-tick faults)))
      (should (= point (with-current-buffer faults (point)))))))

(ert-deftest org-agent-skill-next-failure-is-the-first ()
  "The key that the list of failures names goes to each, from the first on."
  (dolist (more '("" "#+begin_src lisp :test yes\n(deftest more (is nil))\n#+end_src\n"))
    (org-agent-skill-test--with (concat org-agent-skill-test--note more)
      (save-window-excursion
        (switch-to-buffer note)
        (goto-char (point-min))
        (org-ctrl-c-ctrl-c)
        (org-agent-fake-wait (string-match-p "PROVEN" (buffer-string)))
        (should (get-buffer "*org-agent-skill-test*"))
        (call-interactively #'next-error)
        (should (eq (window-buffer) note))
        (should (looking-at-p ".*(deftest fails\\|(is (= 5"))
        (if (equal more "")
            (should-error (next-error) :type 'user-error)
          (next-error)
          (should (looking-at-p ".*(deftest more\\|(is nil")))))))

(ert-deftest org-agent-skill-failed-test-is-marked-on-save ()
  "Whoever saves a note, or opens it again, sees which test failed, and where."
  (org-agent-skill-test--with (string-replace "(= 5 (add" "(= 4 (add"
                                              org-agent-skill-test--note)
    (cl-flet ((failed ()
                (cl-remove-if-not
                 (lambda (diagnostic)
                   (string-match-p "the test fails failed" (nth 2 diagnostic)))
                 (org-agent-skill-test--diagnostics))))
      (should-not (failed))
      (goto-char (point-min))
      (search-forward "(= 4 (add 1))))\n#+end_src\n#+name: It fails")
      (search-forward "(= 4")
      (replace-match "(= 5")
      (save-buffer)
      (org-agent-fake-wait (failed))
      (should (equal (mapcar #'butlast (failed))
                     '(("(is (= 5 (add 1)))" :error))))
      ;; With what C-c C-c finds, it is said once.
      (search-backward "#+name: It fails")
      (forward-line 2)
      (org-ctrl-c-ctrl-c)
      (org-agent-fake-wait (string-match-p "PROVEN" (buffer-string)))
      (save-buffer)
      (org-agent-fake-settle)
      (org-agent-fake-wait (= 1 (cl-count :error (failed) :key #'cadr)))
      (kill-buffer note)
      (setq note (find-file-noselect file))
      (with-current-buffer note
        (flymake-start)                 ; as when it is displayed
        (org-agent-fake-wait (failed))
        (goto-char (point-min))
        (search-forward "(= 5")
        (replace-match "(= 4")
        (save-buffer)
        (org-agent-fake-wait (not (failed)))))))

(ert-deftest org-agent-skills-are-listed ()
  "The list has the notes and is updated on save; RET goes to the error."
  (org-agent-skill-test--with org-agent-skill-test--note
    (org-agent-skills)
    (with-current-buffer "*org-agent-skills*"
      (org-agent-fake-wait (string-match-p "adder.*failed" (buffer-string)))
      (should (string-match-p "^. chat .*live .*shipped" (buffer-string)))
      (goto-char (point-min))
      (search-forward "failed")
      (org-agent-skills-visit))
    (should (eq (window-buffer) note))
    (should (looking-at-p "(is\\|(deftest fails"))
    (goto-char (point-min))
    (search-forward "(= 5")
    (replace-match "(= 4")
    (let ((save-silently t)) (save-buffer))
    (with-current-buffer "*org-agent-skills*"
      (org-agent-fake-wait (string-match-p "^. adder +live" (buffer-string)))
      (kill-buffer))))

(ert-deftest org-agent-skills-list-has-actions ()
  "The list shows the actions that a note defines."
  (org-agent-skill-test--with
      "#+begin_src lisp
(defaction :door :knock :does \"to knock\" :perform (lambda (fields) fields))
#+end_src
"
    (org-agent-skills)
    (with-current-buffer "*org-agent-skills*"
      (org-agent-fake-wait
       (string-match-p "live .*action :door :knock, to knock" (buffer-string)))
      (kill-buffer))))

(ert-deftest org-agent-skills-list-has-prompt-skills ()
  "Directories with a SKILL.md are listed, with the reason if one is ignored."
  (org-agent-kernel-test--with nil
    (let ((file (expand-file-name "skills/garden/SKILL.md" org-agent-home)))
      (make-directory (file-name-directory file) t)
      (with-temp-file file
        (insert "---\nname: garden\ndescription: Waters it.\n"
                "metadata: {requires: {bins: [no-such-program]}}\n---\nText.\n"))
      (org-agent-skills)
      (with-current-buffer "*org-agent-skills*"
        (org-agent-fake-wait
         (string-match-p "^. garden +ineligible .*no program no-such-program"
                         (buffer-string)))
        (goto-char (point-min))
        (re-search-forward "^. garden ")
        (should-error (org-agent-skills-test) :type 'user-error)
        (org-agent-skills-visit))
      (let ((visited (window-buffer)))
        (with-current-buffer visited
          (should (equal (file-truename buffer-file-name) (file-truename file)))
          (should-not org-agent-skill-mode)
          (goto-char (point-min))
          (search-forward "no-such-program")
          (replace-match "sh")
          (let ((save-silently t)) (save-buffer))
          (kill-buffer)))
      (with-current-buffer "*org-agent-skills*"
        (org-agent-fake-wait
         (string-match-p "^. garden +effective" (buffer-string)))
        (kill-buffer)))))

(ert-deftest org-agent-skill-new-begins-one ()
  "A new skill is live and its tests pass; a bad name is reported."
  (org-agent-kernel-test--with nil
    (save-window-excursion
      (ert-with-message-capture messages
        (org-agent-skill-new "garden")
        ;; What one does next is what the tutorial does.
        (should (string-match-p "\"garden: hello\"" messages))
        (should (string-match-p "M-x org-agent-chat" messages)))
      (let ((note (current-buffer)))
        (unwind-protect
            (progn
              (should org-agent-skill-mode)
              (goto-char (point-min))
              (re-search-forward "^\\*\\* TODO ")
              (org-ctrl-c-ctrl-c)
              (org-agent-fake-wait (= 3 (how-many "^\\*\\* DONE " (point-min) (point-max))))
              (should-error (org-agent-skill-new "No Name") :type 'user-error))
          (set-buffer-modified-p nil)
          (kill-buffer note))))))

(ert-deftest org-agent-skill-babel-evaluates-anywhere ()
  "A block in the language org-agent is evaluated with a note or without."
  (org-agent-skill-test--with org-agent-skill-test--note
    (with-temp-buffer
      (org-mode)
      (let ((org-confirm-babel-evaluate nil))
        (insert "#+begin_src org-agent\n(mapcar #'1+ '(1 2))\n#+end_src\n")
        (goto-char (point-min))
        (org-babel-execute-src-block)
        (should (string-match-p "^: (2 3)$" (buffer-string)))
        (erase-buffer)
        (insert (format "#+begin_src org-agent :note %s\n(add 1)\n#+end_src\n" file))
        (goto-char (point-min))
        (org-babel-execute-src-block)
        (should (string-match-p "^: 4$" (buffer-string)))
        (erase-buffer)
        (insert "#+begin_src org-agent\n(car 1)\n#+end_src\n")
        (goto-char (point-min))
        (should-error (org-babel-execute-src-block))))))

(ert-deftest org-agent-log-goes-to-the-note ()
  "RET on a line of the log goes to the position in the note."
  (org-agent-skill-test--with org-agent-skill-test--note
    (save-window-excursion
      (with-temp-buffer
        (org-agent-log-mode)
        (let ((inhibit-read-only t))
          (insert "12:00:00 warn  a note is not live  faults=" file ":11:3: error: x\n"
                  "12:00:01 info  nothing here\n"))
        (goto-char (point-min))
        (org-agent-log-visit)
        (should (eq (window-buffer) note))
        (with-current-buffer note
          (should (= 11 (line-number-at-pos)))))
      (with-temp-buffer
        (org-agent-log-mode)
        (should-error (org-agent-log-visit) :type 'user-error)))))

(ert-deftest org-agent-skills-changed-tells-of-a-mended-note ()
  "Whoever mends a note is told when it is live, and of the same fault again."
  (org-agent-fake-with-home
    (let* ((file (expand-file-name "skills/mended.org" org-agent-home))
           (failed (list :file file :state :failed :last-good t
                         :diagnostics '((:line 3 :message "no such function"))))
           (live (list :file file :state :live)))
      (dotimes (_ 2)
        (ert-with-message-capture messages
          (org-agent-skills-changed (list :skills (list failed)))
          (should (string-match-p "mended\\.org:3: no such function" messages)))
        (ert-with-message-capture messages
          (org-agent-skills-changed (list :skills (list live)))
          (org-agent-skills-changed (list :skills (list live)))
          (should (string-match-p "\\`org-agent: .*mended\\.org is live\n\\'" messages)))))))

(provide 'org-agent-skill-test)
;;; org-agent-skill-test.el ends here
