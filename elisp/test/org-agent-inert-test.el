;;; org-agent-inert-test.el --- Tests that text from outside runs nothing  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Three oracles: the cases that the kernel is tested with too; Org's own
;; parser, over random hostile texts; and C-c C-c itself, pressed at every position of hostile answers
;; while everything that evaluates is watched.

;;; Code:

(require 'ert)
(require 'smime)   ; runs openssl when it is first loaded, which is no text's doing
(require 'cl-lib)
(require 'org)
(require 'org-element)
(require 'ob)
(require 'diff)
(require 'org-agent-fake-kernel)
(require 'org-agent-answer)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-heading)
(require 'org-agent-inert)
(require 'org-agent)
(load (expand-file-name "../../testdata/languages/modes.el"
                        (file-name-directory (or load-file-name buffer-file-name)))
      nil t)

(declare-function org-agent-modes-called "modes")
(declare-function org-agent-modes-languages "modes")
(declare-function org-agent-modes-lines "modes")
(declare-function org-agent-modes-text "modes")

(defconst org-agent-inert-test--cases-file
  (expand-file-name "../../testdata/held/cases"
                    (file-name-directory (or load-file-name buffer-file-name)))
  "What is held and what stays, which the kernel's tests read too.")

(defun org-agent-inert-test--visible (text)
  "Return TEXT with its zero-width spaces as they stand in the cases."
  (string-replace org-agent-inert-mark "\u2039\u203a" text))

(defconst org-agent-inert-test--rules
  '(language argument keyword formula inline property)
  "The rules in the order of their numbers, from 1.")

(defun org-agent-inert-test--cases ()
  "Return the cases of testdata/held: (NAME RULES TAG TEXT WANTED).
TAG is the person's own, or nil."
  (with-temp-buffer
    (let ((coding-system-for-read 'utf-8-unix) cases)
      (insert-file-contents org-agent-inert-test--cases-file)
      (while (re-search-forward "<U\\+\\([0-9A-F]\\{4\\}\\)>" nil t)
        (replace-match (string (string-to-number (match-string 1) 16)) t t))
      (goto-char (point-min))
      (flush-lines "^########")
      (goto-char (point-min))
      (while (re-search-forward "^== \\([0-9 ]+\\) \\(?::\\([^ \n]+\\): \\)?\\(.*\\)\n" nil t)
        (let* ((name (match-string 3))
               (tag (match-string 2))
               (rules (mapcar #'string-to-number (split-string (match-string 1))))
               (beg (point))
               (end (if (re-search-forward "^== " nil t) (match-beginning 0) (point-max)))
               (body (string-replace
                      "\u2039\u203a" org-agent-inert-mark
                      (concat (string-trim-right (buffer-substring beg end) "\n+") "\n")))
               (parts (split-string body "^--\n")))
          (goto-char end)
          (push (list name rules tag (car parts) (or (cadr parts) (car parts))) cases)))
      (nreverse cases))))

(ert-deftest org-agent-inert-cases ()
  "Each case is held as the file says, by the rules that it says.
What was held is inert, and what comes line by line is held alike."
  (let ((cases (org-agent-inert-test--cases)))
    (should (> (length cases) 60))
    (pcase-dolist (`(,name ,rules ,tag ,text ,wanted) cases)
      (ert-info (name)
        (let* ((org-agent-tasks-agenda-tag tag)
               (held nil)
               (inert (org-agent-inert text nil (lambda (_ rule _) (push rule held)))))
          (should (equal (org-agent-inert-test--visible inert)
                         (org-agent-inert-test--visible wanted)))
          (should (equal (sort (delete-dups
                                (mapcar (lambda (rule)
                                          (1+ (cl-position rule org-agent-inert-test--rules)))
                                        held))
                               #'<)
                         (sort (remove 0 (delete-dups rules)) #'<)))
          (should (equal (org-agent-inert inert) inert)))))))

(ert-deftest org-agent-inert-benign-stays ()
  "Org that does nothing of the list stays as it was written."
  (let* ((text (with-temp-buffer
                 (let ((coding-system-for-read 'utf-8-unix))
                   (insert-file-contents
                    (expand-file-name "benign.org" (file-name-directory
                                                    org-agent-inert-test--cases-file))))
                 (buffer-string)))
         (held nil)
         (inert (org-agent-inert text nil (lambda (_ _ what) (push what held)))))
    (should-not held)
    (should (equal inert text))))

(ert-deftest org-agent-inert-shows-controls ()
  "Controls of both sets and direction marks become visible."
  (pcase-dolist (`(,text ,shown)
                 '(("a\u0007b" "a\u2407b")
                   ("a\u007fb" "a\u2421b")
                   ("a\u0080b\u0085c\u009f" "a\ufffdb\ufffdc\ufffd")
                   ("a\u202eb\u2066c" "a\ufffdb\ufffdc")
                   ("a\rb\fc\vd" "a b c d")
                   ("one\r\ntwo\r\n" "one\ntwo\n")
                   ("é\u00a0\tü" "é\u00a0\tü")))
    (should (equal (org-agent-inert text) shown))))

(ert-deftest org-agent-inert-drawer-of-the-answer ()
  "Only an answer's own drawer may have an ID."
  (let ((text (org-agent-inert
               "** A :work:agent:\n:PROPERTIES:\n:ID: a\n:header-args: :var x=(f)\n:SKILL: s\n:END:\n:PROPERTIES:\n:ID: b\n:END:\n** B :agent:\n:PROPERTIES:\n:ID: c\n:END:\n")))
    (with-temp-buffer
      (insert text)
      (should (equal (mapcar #'car (org-agent-heading-properties (point-min)))
                     '(t "ID" "HELD_HEADER-ARGS" "SKILL")))
      (should (org-agent-heading-find "a"))
      (should-not (org-agent-heading-find "b"))
      (should-not (org-agent-heading-find "c"))
      (should (string-match-p "^\\*\\* B :agent\u200b:$" text)))))

(ert-deftest org-agent-inert-names-of-the-file ()
  "A name that the file has, or that a block of the person's asks for, is held."
  (with-temp-buffer
    (insert "#+NAME: data\n| 1 |\n#+begin_src sh :var x=table :noweb yes\n<<setup>>\n#+end_src\n#+CALL: run(1)\ncall_go(2)\n$1=remote(far,@1)\n#+NAME: gone\n")
    (let ((names (org-agent-inert-names (cons (- (point-max) 13) (point-max)))))
      (dolist (name '("Data" "setup" "table" "run" "go" "far"))
        (should (equal (org-agent-inert (format "#+NAME: %s\n#+RESULTS: %s\n" name name) names)
                       (format "#\u200b+NAME: %s\n#\u200b+RESULTS: %s\n" name name))))
      (dolist (name '("new" "gone"))
        (let ((text (format "#+NAME: %s\n#+RESULTS: %s\n" name name)))
          (should (equal (org-agent-inert text names) text)))))))

(ert-deftest org-agent-inert-reads-no-file ()
  "To find what is verbatim, nothing that the text names is read."
  (cl-letf (((symbol-function 'org-file-contents)
             (lambda (file &rest _) (error "Read %s" file))))
    (should (equal (org-agent-inert "Use =src_sh{ls}=.\n#+SETUPFILE: http://127.0.0.1:1/x\n")
                   "Use =src_sh{ls}=.\n#\u200b+SETUPFILE: http://127.0.0.1:1/x\n"))))

;;;; Org's parser as the judge

(defconst org-agent-inert-test--pieces
  '("#+TBLFM: $1='(f)" "#+begin_src sh" "#+begin_src sh :var x=(f)"
    "#+end_src" "#+begin_example" "#+end_example" "#+begin_quote"
    "#+end_quote" "#+begin_export html" "#+BEGIN: clocktable" "#+END:"
    ":PROPERTIES:" ":ID: x" ":END:" ":LOGBOOK:" "SCHEDULED: <2026-01-01>"
    "CLOCK: [2026-01-01 Thu 10:00]" "%%(f)" "[fn:1]" "" "" "* h" "** h :user:"
    "| a | ='(f) |" "- a" "- b ::" "\\begin{x}" "\\end{x}" "# c" "#+x: y"
    "src_sh[:var x=(f)]{ls}" "src_sh{ls}" "call_f(1)" "{{{m(1)}}}" "=" "~" "*"
    "/" "_" "+" "[[elisp:(f)]]" "[[https://a.b][c]]" "[[https://a" "]]" "]["
    "<2026-01-01>" "<<t>>" "<<<r>>>" "@@html:b@@" "[cite:@a]" "elisp:(f)"
    "<elisp:f>" "{" "}" "_{" "^{" "$" "\\(" "\\)" "a" "b" "," "." " " " " " "
    "<%%(f)>" "file:/ssh:x:y" "[[file:/ssh:x:y]]" "|" "\t" "\u200b")
  "What hostile texts are made of.")

(defun org-agent-inert-test--random-text ()
  "Return a random hostile text."
  (mapconcat
   (lambda (_)
     (mapconcat (lambda (_) (seq-random-elt org-agent-inert-test--pieces))
                (make-list (1+ (random 6)) nil)
                (if (zerop (random 3)) " " "")))
   (make-list (1+ (random 9)) nil) "\n"))

(defconst org-agent-inert-test--whole-file
  '("STARTUP" "SETUPFILE" "INCLUDE" "BIND" "MACRO" "TODO" "FILETAGS" "PROPERTY"
    "OPTIONS" "CALL" "HTML" "LATEX" "HTML_HEAD" "EXPORT_FILE_NAME")
  "Some keywords that are held.")

(defun org-agent-inert-test--active-p (element)
  "Return non-nil when ELEMENT, as Org's parser has it, is in the list."
  (let ((get (lambda (property) (org-element-property property element)))
        (case-fold-search t))
    (pcase (org-element-type element)
      ((or 'babel-call 'inline-babel-call 'inline-src-block 'dynamic-block
           'macro 'export-snippet 'citation 'diary-sexp)
       t)
      ('export-block (funcall get :type))
      ('keyword (member (funcall get :key) org-agent-inert-test--whole-file))
      ('timestamp (eq (funcall get :type) 'diary))
      ('link (or (not (member (funcall get :type)
                              '("http" "https" "mailto" "id" "file" "fuzzy"
                                "custom-id" "coderef" "radio")))
                 (and (equal (funcall get :type) "file")
                      (string-match-p "\\`/+[^/]+:" (funcall get :path)))))
      ('src-block
       (or (and (funcall get :language)
                (not (string-match-p "\\`[-+:\"\u200b]" (funcall get :language)))
                (not (member (funcall get :language) org-agent-inert-list-languages)))
           (cl-some (lambda (arguments)
                      (cl-some (lambda (argument)
                                 (and (stringp (cdr argument))
                                      (string-match-p (if (eq (car argument) :var)
                                                          "\\`[('`[]\\|=[('`[]"
                                                        "\\`[('`[]")
                                                      (cdr argument))))
                               (org-babel-parse-header-arguments arguments 'no-eval)))
                    (cons (funcall get :parameters) (funcall get :header)))))
      ('table-cell
       (string-match-p "\\`[ \t]*:?=[ \t]*'"
                       (buffer-substring-no-properties (funcall get :begin)
                                                       (funcall get :end))))
      ('table (cl-some (lambda (line) (string-match-p "'(" line)) (funcall get :tblfm)))
      ('node-property
       (string-match-p "\\`\\(?:id\\|cron\\|header-args.*\\|dir\\)\\+?\\'" (funcall get :key)))
      ((or 'latex-fragment 'latex-environment)
       (string-match-p "\\\\\\(?:input\\|write\\|csname\\)\\_>" (funcall get :value)))
      ('headline
       (cl-intersection '("user" "agent" "draft") (funcall get :tags) :test #'equal)))))

(defun org-agent-inert-test--active ()
  "Return what Org's parser finds active in the current buffer."
  (let (found)
    (org-element-map (org-element-parse-buffer)
        (append org-element-all-elements org-element-all-objects)
      (lambda (element)
        (when (org-agent-inert-test--active-p element)
          (push (list (org-element-type element)
                      (buffer-substring-no-properties
                       (org-element-property :begin element)
                       (org-element-property :end element)))
                found)))
      nil nil nil t)
    found))

(defun org-agent-inert-test--bare (text)
  "Return TEXT without what holding adds to it or changes in it."
  (let ((case-fold-search t))
    (setq text (replace-regexp-in-string "[\u200b\u200c]" "" text))
    (setq text (replace-regexp-in-string "^\\([ \t]*\\),\\(\\*\\|#\\+\\)" "\\1\\2" text))
    (setq text (replace-regexp-in-string "#\\+\\(begin\\|end\\)_\\(src\\|example\\)" "#+\\1_x" text))
    (setq text (replace-regexp-in-string "\\(?:\n+#\\+end_\\(?:x\\|export\\|comment\\)\\)?\n*\\'" "" text))
    (string-replace "HELD_" "" text)))

(ert-deftest org-agent-inert-random-texts ()
  "In no text that was made inert does Org find anything of the list.
Making it inert again changes nothing, and only places were held."
  (random "inert")
  (let ((active 0))
    (with-temp-buffer
      (let ((org-inhibit-startup t)) (org-mode))
      (dotimes (_ 1500)
        (let* ((text (org-agent-inert-test--random-text))
               (inert (org-agent-inert text)))
          (ert-info ((format "%S" text))
            (erase-buffer)
            (insert inert)
            (should-not (org-agent-inert-test--active))
            (should (equal (org-agent-inert inert) inert))
            (should (equal (org-agent-inert-test--bare inert)
                           (org-agent-inert-test--bare text)))
            (erase-buffer)
            (insert text)
            (when (org-agent-inert-test--active) (cl-incf active))))))
    ;; As they came most of the texts do have something of the list.
    (should (> active 500))))

(ert-deftest org-agent-inert-lines-do-not-depend-on-cuts ()
  "A text that comes in pieces ends up as one that came at once."
  (random "cuts")
  (dotimes (_ 200)
    (let* ((text (org-agent-inert-test--random-text))
           (whole (car (org-agent-inert-lines
                        text (make-org-agent-inert-state))))
           (state (make-org-agent-inert-state))
           (shown "") (tail "") (rest text))
      (while (not (string-empty-p rest))
        (let* ((n (1+ (random (min 7 (length rest)))))
               (all (concat tail (substring rest 0 n)))
               (checked (org-agent-inert-lines all state)))
          (setq rest (substring rest n)
                tail (substring all (nth 1 checked))
                state (nthcdr 2 checked))
          (if (string-empty-p rest)
              (setq shown (concat shown (car checked)))
            (let ((inert (car checked)))
              (string-match "[^\n]*\\'" inert)
              (setq shown (concat shown (substring inert 0 (match-beginning 0))))))))
      (ert-info ((format "%S" text))
        (should (equal shown whole))))))

;;;; What is watched

(defvar org-agent-inert-test--ran nil
  "What was evaluated.")

(defun org-agent-inert-test--watch (name)
  "Return a function that notes that NAME ran and does nothing."
  (lambda (&rest arguments)
    (push (cons name arguments) org-agent-inert-test--ran)
    nil))

(defmacro org-agent-inert-test--watching (&rest body)
  "Run BODY while all that evaluates is watched and nothing can ask.
To ask is to be refused."
  (declare (indent 0) (debug t))
  `(let ((org-agent-inert-test--ran nil)
         (asked (lambda (&rest _) (user-error "Asked"))))
     (cl-letf (((symbol-function 'call-process)
                (org-agent-inert-test--watch 'call-process))
               ((symbol-function 'call-process-region)
                (org-agent-inert-test--watch 'call-process-region))
               ((symbol-function 'shell-command)
                (org-agent-inert-test--watch 'shell-command))
               ((symbol-function 'start-process)
                (org-agent-inert-test--watch 'start-process))
               ((symbol-function 'make-process)
                (org-agent-inert-test--watch 'make-process))
               ((symbol-function 'org-babel-execute:emacs-lisp)
                (org-agent-inert-test--watch 'execute))
               ((symbol-function 'org-babel-execute:sh)
                (org-agent-inert-test--watch 'execute))
               ((symbol-function 'url-retrieve-synchronously)
                (org-agent-inert-test--watch 'url))
               ((symbol-function 'org-agent-inert-test-danger)
                (org-agent-inert-test--watch 'danger))
               ((symbol-function 'yes-or-no-p) asked)
               ((symbol-function 'y-or-n-p) asked)
               ((symbol-function 'read-from-minibuffer) asked)
               ((symbol-function 'read-string) asked)
               ((symbol-function 'completing-read) asked)
               ((symbol-function 'read-char-exclusive) asked)
               ((symbol-function 'read-event) asked)
               ((symbol-function 'read-key) asked)
               ((symbol-function 'read-char) asked))
       ,@body)))

;;;; Highlighting as the judge

(defun org-agent-inert-test--highlighted (text)
  "Return the languages whose modes Org calls to highlight TEXT."
  (with-temp-buffer
    (let ((org-inhibit-startup t)) (delay-mode-hooks (org-mode)))
    (insert text)
    (org-agent-modes-called)))

(defun org-agent-inert-test--unlisted (text)
  "Return those of `org-agent-inert-test--highlighted' TEXT that are not listed."
  (cl-set-difference (org-agent-inert-test--highlighted text)
                     (org-agent-modes-lines "listed") :test #'equal))

(ert-deftest org-agent-inert-languages-are-those-of-the-kernel ()
  "The languages are those that the kernel's tests read."
  (should (equal (sort (copy-sequence org-agent-inert-list-languages) #'string<)
                 (sort (org-agent-modes-lines "listed") #'string<))))

(ert-deftest org-agent-inert-the-modes-are-seen ()
  "As they stand most of the hostile texts do call a mode.
Org 9.5 calls one for all but a few, Org 9.7 no longer for examples."
  (let ((calling (cl-count-if
                  (lambda (line)
                    (cl-letf (((symbol-function 'org-agent-modes-lines)
                               (lambda (_) (list line))))
                      (org-agent-inert-test--highlighted
                       (org-agent-modes-text "recentf"))))
                  (org-agent-modes-lines "hostile"))))
    (should (>= calling (if (fboundp 'org-fold-region) 12 20)))))

(ert-deftest org-agent-inert-no-block-calls-what-is-not-listed ()
  "Whatever language a block names, no function of Emacs is called for it.
Neither is when the text comes line by line."
  (let ((languages (org-agent-modes-languages)) (highlighted 0))
    (should (> (length languages) 300))
    (dolist (language '("recentf" "org-agent" "org-agent-chat" "org" "ditaa"))
      (let ((text (org-agent-modes-text language)))
        (should-not (org-agent-inert-test--unlisted (org-agent-inert text)))))
    (while languages
      (let ((text (mapconcat
                   (lambda (language)
                     (format "#+begin_src %s\nx\n#+end_src\n- a\n  #+begin_export %s\n  #+end_export\n#+begin_example %s\n#+end_example\n"
                             language language language))
                   (seq-take languages 100) "")))
        (setq languages (seq-drop languages 100))
        (cl-incf highlighted (length (org-agent-inert-test--highlighted text)))
        (should-not (org-agent-inert-test--unlisted (org-agent-inert text)))
        (should-not (org-agent-inert-test--unlisted
                     (car (org-agent-inert-lines
                           text (make-org-agent-inert-state)))))))
    ;; As it came, the text does call functions of Emacs.
    (should (> highlighted 40))))

(ert-deftest org-agent-inert-listed-languages-only-highlight ()
  "A listed language stays, and what it calls is a major mode that only highlights."
  (let ((modes (copy-sequence global-minor-modes)) called
        (code "\"a\" 'b' (c) <d> # e\n--- /ssh:nowhere.invalid:/x\n+++ /ssh:nowhere.invalid:/x\n@@ -1 +1 @@\n-x\n+y\n"))
    (dolist (language (org-agent-modes-lines "listed"))
      (ert-info (language)
        (let ((text (format "#+begin_src %s :exports code\n%s#+end_src\n" language code))
              (mode (org-src-get-lang-mode language)))
          (should (equal (org-agent-inert text) text))
          (should (equal (org-agent-inert-test--highlighted text)
                         (and (fboundp mode) (list language))))
          (when (fboundp mode)
            (push mode called)
            (org-agent-inert-test--watching
              (let ((org-src-fontify-natively t) (inhibit-message t))
                (with-temp-buffer
                  (let ((org-inhibit-startup t)) (org-mode))
                  (insert text)
                  (font-lock-ensure)))
              ;; `diff-mode' has the two sides of a hunk compared, in files that
              ;; it writes itself.  Whatever the hunk names is left alone.
              (pcase-dolist (`(,name ,program . ,_) org-agent-inert-test--ran)
                (should (equal (list mode name program)
                               (list 'diff-mode 'call-process diff-command)))))
            (with-current-buffer (format " *org-src-fontification:%s*" mode)
              (should (or (eq mode 'fundamental-mode)
                          (not (eq major-mode 'fundamental-mode))))
              (should-not buffer-file-name)
              (should-not (derived-mode-p 'special-mode 'comint-mode 'org-mode)))
            (should (equal global-minor-modes modes))))))
    (should (> (length (delete-dups called)) 30))))

(ert-deftest org-agent-inert-conversations-of-the-past ()
  "A conversation that was saved with such blocks calls nothing when it is opened.
What is listed is highlighted there, and other buffers are left alone."
  (org-agent-fake-with-home
    (make-directory (file-name-directory (org-agent-fake-file "main")) t)
    (with-temp-file (org-agent-fake-file "main")
      (insert "* Q :user:\n** A :agent:\n" (org-agent-modes-text "recentf")
              "\n" (org-agent-modes-text "python") "\n* \n"))
    (org-agent-fake-start)
    (org-agent-chat)
    (with-current-buffer "*org-agent-chat*"
      (should (string-match-p "^#\\+begin_src recentf" (buffer-string)))
      (should (equal (org-agent-modes-called) '("python")))
      (org-mode-restart)
      (should (equal (org-agent-modes-called) '("python"))))
    (should-not (assoc "recentf" (default-value 'org-src-lang-modes)))
    (should (member "recentf" (org-agent-inert-test--highlighted
                               (org-agent-modes-text "recentf"))))))

;;;; C-c C-c as the judge

(defconst org-agent-inert-test--hostile
  '("| a | b |\n| 1 |   |\n#+TBLFM: $2='(org-agent-inert-test-danger)"
    "| a | :='(org-agent-inert-test-danger) | ='(org-agent-inert-test-danger) |\n| b | c | d |"
    "#+begin_src emacs-lisp :var x=(org-agent-inert-test-danger)\n1\n#+end_src"
    "#+header: :var x=(org-agent-inert-test-danger)\n#+begin_src emacs-lisp\n1\n#+end_src"
    "#+name: x\n#+begin_src emacs-lisp\n(org-agent-inert-test-danger)\n#+end_src\n#+call: x()"
    "src_emacs-lisp[:var x=(org-agent-inert-test-danger)]{1} call_x(y=(org-agent-inert-test-danger))"
    "#+BEGIN: org-agent-inert-test-danger\n#+END:"
    "#+PROPERTY: header-args :var x=(org-agent-inert-test-danger)\n#+begin_src emacs-lisp\n1\n#+end_src"
    "#+MACRO: m (eval (org-agent-inert-test-danger))\n{{{m}}}"
    ":PROPERTIES:\n:header-args: :var x=(org-agent-inert-test-danger)\n:END:\n#+begin_src emacs-lisp\n1\n#+end_src"
    "[[elisp:(org-agent-inert-test-danger)][click]] <elisp:(org-agent-inert-test-danger)> shell:date"
    "# Local Variables:\n# eval: (org-agent-inert-test-danger)\n# End:"
    "#+SETUPFILE: http://127.0.0.1:1/x\n#+STARTUP: overview"
    "*** sub\n:PROPERTIES:\n:header-args:emacs-lisp: :var x=(org-agent-inert-test-danger)\n:END:\n#+begin_src emacs-lisp\n1\n#+end_src"
    "<%%(org-agent-inert-test-danger)> <2026-01-01 +1d> %%(org-agent-inert-test-danger)\n%%(org-agent-inert-test-danger)"
    "[fn:1] x\n#+begin_src emacs-lisp\n\n\nsrc_emacs-lisp[:var x=(org-agent-inert-test-danger)]{}\n#+end_src"
    "#+begin_src emacs-lisp\nsrc_emacs-lisp[:var x=(org-agent-inert-test-danger)]{}\n** cut\nx")
  "Answers that try to run `org-agent-inert-test-danger'.")

(defun org-agent-inert-test--press-everywhere (command)
  "Call COMMAND at every position from the first answer to the draft.
The buffer is as it was before each."
  (let* ((text (buffer-string))
         (end (org-agent-draft-start))
         (beg (or (string-match "^\\*\\* " text) 0)))
    (dotimes (offset (- end (point-min) beg))
      (goto-char (+ (point-min) beg offset))
      (condition-case nil
          (call-interactively command)
        ((error quit) nil))
      (unless (equal (buffer-substring-no-properties (point-min) (point-max))
                     (substring-no-properties text))
        (let ((inhibit-read-only t)
              (org-agent-answer-writing t))
          (erase-buffer)
          (insert text))))))

(ert-deftest org-agent-inert-the-watch-sees ()
  "The hostile texts do run something where nothing protects from them.
Otherwise the next test could not fail."
  (let (harmless (inhibit-message t))
    (dolist (text org-agent-inert-test--hostile)
      (with-temp-buffer
        (let ((org-inhibit-startup t)) (org-mode))
        (insert text "\n* ")
        (org-agent-inert-test--watching
          (let ((org-confirm-babel-evaluate t))
            (cl-letf (((symbol-function 'org-agent-draft-start) #'point-max))
              (org-agent-inert-test--press-everywhere #'org-ctrl-c-ctrl-c)))
          (unless org-agent-inert-test--ran
            (push text harmless)))))
    (should (< (length harmless) 10))))

(ert-deftest org-agent-inert-ctrl-c-ctrl-c-everywhere ()
  "In no hostile answer does `org-ctrl-c-ctrl-c', anywhere, run anything.
The same goes for TAB, which recalculates tables."
  (dolist (body org-agent-inert-test--hostile)
    (ert-info (body)
      (org-agent-fake-with-chat
        (let ((question (org-agent-fake-say "Hello")))
          (org-agent-fake-act "hostile" question
                              (org-agent-fake-answer-text "hostile" "A" body))
          (org-agent-inert-test--watching
            (org-agent-inert-test--press-everywhere
             #'org-agent-chat-ctrl-c-ctrl-c)
            (org-agent-inert-test--press-everywhere #'org-ctrl-c-ctrl-c)
            (org-agent-inert-test--press-everywhere #'org-cycle)
            (should-not org-agent-inert-test--ran)))))))

(ert-deftest org-agent-inert-ctrl-c-ctrl-c-while-written ()
  "Nor does it in a hostile answer that is being written."
  (dolist (body org-agent-inert-test--hostile)
    (ert-info (body)
      (org-agent-fake-with-chat
        (let ((question (org-agent-fake-say "Hello"))
              (text (org-agent-fake-answer-text "hostile" "A" body)))
          (org-agent-fake-delta question "hostile" 0 text)
          (org-agent-fake-settle)
          (should (string-match-p "agent:" (buffer-string)))
          (org-agent-inert-test--watching
            (org-agent-inert-test--press-everywhere
             #'org-agent-chat-ctrl-c-ctrl-c)
            (org-agent-inert-test--press-everywhere #'org-cycle)
            (should-not org-agent-inert-test--ran)))))))

(ert-deftest org-agent-inert-is-logged ()
  "What had to be made inert is logged."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (org-agent-fake-act "hostile" question
                          (org-agent-fake-answer-text "hostile" "A" "#+CALL: x()"))
      (should (string-match-p "made inert"
                              (with-current-buffer "*org-agent-log*"
                                (buffer-string))))
      (should (string-match-p (concat "^#" org-agent-inert-mark "\\+CALL")
                              (buffer-string))))))

(ert-deftest org-agent-inert-evaluates-no-local-variables ()
  "Neither opening a conversation nor restarting its mode evaluates any."
  (org-agent-fake-with-home
    (make-directory (file-name-directory (org-agent-fake-file "main")) t)
    (with-temp-file (org-agent-fake-file "main")
      (insert "# -*- eval: (org-agent-inert-test-danger) -*-\n* \n"
              "# Local\sVariables:\n# eval: (org-agent-inert-test-danger)\n"
              "# org-confirm-babel-evaluate: nil\n# End:\n"))
    (org-agent-fake-start)
    (org-agent-inert-test--watching
      (let ((enable-local-variables :all) (enable-local-eval t))
        (org-agent-chat)
        (with-current-buffer "*org-agent-chat*"
          (org-mode-restart)
          (should (eq major-mode 'org-agent-chat-mode))
          (should (eq org-confirm-babel-evaluate t))
          (should-not org-agent-inert-test--ran))))))

(ert-deftest org-agent-inert-long-lines ()
  "A line of ten thousands of characters is made inert, and only marked.
With the work of each place as long as the line it took hours, and
the process that runs the tests would be ended."
  (dolist (unit '("[[" "src_x{" "{{{a" "= [["))
    (let ((text (concat "x " (apply #'concat (make-list 10000 unit)))))
      (should (equal text (string-replace org-agent-inert-mark ""
                                          (org-agent-inert text)))))))

(provide 'org-agent-inert-test)
;;; org-agent-inert-test.el ends here
