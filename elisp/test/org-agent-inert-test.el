;;; org-agent-inert-test.el --- Tests that text from outside runs nothing  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; There are three oracles: a table of shapes; Org's own parser, over random
;; hostile texts; and C-c C-c at every position of hostile answers, while
;; all functions that evaluate are watched.

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
(load (expand-file-name "../../testdata/languages/modes.el"
                        (file-name-directory (or load-file-name buffer-file-name)))
      nil t)

(defun org-agent-inert-test--visible (text)
  "Return TEXT with its zero-width spaces as a middle dot."
  (replace-regexp-in-string org-agent-inert-mark "\u00b7" text))

(ert-deftest org-agent-inert-shapes ()
  "Each active construct is made inert, and nothing else changes."
  (pcase-dolist
      (`(,text ,inert)
       '(("#+TBLFM: $1=2" "\u00b7#+TBLFM: $1=2")
         ("  #+begin_export html" "  \u00b7#+begin_export html")
         ("#+CALL: f()" "\u00b7#+CALL: f()")
         ("#+begin_src sh :var x=(f)\nls\n#+end_src"
          "\u00b7#+begin_src sh :var x=(f)\nls\n#+end_src")
         ("#+begin_src sh -n\nls\n#+end_src" "\u00b7#+begin_src sh -n\nls\n#+end_src")
         (":LOGBOOK:\nx\n:END:" "\u00b7:LOGBOOK:\nx\n\u00b7:END:")
         ("SCHEDULED: <2026-01-01>" "\u00b7SCHEDULED: <\u00b72026-01-01>")
         ("CLOCK: [2026-01-01 Thu 10:00]" "\u00b7CLOCK: [2026-01-01 Thu 10:00]")
         ("%%(diary-float t 4 2)" "\u00b7%%(diary-float t 4 2)")
         ("&%%(diary-float t 4 2)" "\u00b7&%%(diary-float t 4 2)")
         ("<%%(diary-float t 4 2)>" "<\u00b7%%(diary-float t 4 2)>")
         ("\\begin{align}" "\u00b7\\begin{align}")
         ("# Local Variables:" "# Local\u00b7 Variables:")
         ("a src_sh{ls} b" "a src\u00b7_sh{ls} b")
         ("call_f(1)" "call\u00b7_f(1)")
         ("{{{m(1)}}}" "{{\u00b7{m(1)}}}")
         ("[[elisp:(f)][x]]" "[\u00b7[elisp\u00b7:(f)][x]]")
         ("elisp:(f) shell:ls" "elisp\u00b7:(f) shell\u00b7:ls")
         ("<elisp:(f)>" "<elisp\u00b7:(f)>")
         ("[[file:/ssh:host:/x]]" "[\u00b7[file\u00b7:/ssh:host:/x]]")
         ("<<target>> <<<radio>>>" "<\u00b7<target>> <<\u00b7<radio>>>")
         ("@@html:<b>@@" "@\u00b7@html:<b>@@")
         ("[cite:@a]" "[\u00b7cite:@a]")
         ("| a | ='(f) | :=2 |" "| a | \u00b7='(f) | \u00b7:=2 |")
         ("** a :user:" "** a :user\u00b7:")
         ("** a :draft:" "** a :draft\u00b7:")
         ("** a :x:agent:\n** b :agent:" "** a :x:agent\u00b7:\n** b :agent\u00b7:")
         ("*a =src_sh{x} b* c=" "*a =src\u00b7_sh{x} b* c=")
         ("=<2026-01-01>=" "=<\u00b72026-01-01>=")
         ("[fn:1] a\n#+begin_src sh\n\n\nsrc_sh[:var x=(f)]{}\n#+end_src"
          "[fn:1] a\n#+begin_src sh\n\n\nsrc\u00b7_sh[:var x=(f)]{}\n#+end_src")
         ("#+begin_src sh\nsrc_sh{ls}" "\u00b7#+begin_src sh\nsrc\u00b7_sh{ls}")
         ("#+begin_src sh\n* h\n#+TBLFM:\n#+end_src"
          "\u00b7#+begin_src sh\n* h\n\u00b7#+TBLFM:\n#+end_src")))
    (ert-info (text)
      (should (equal (org-agent-inert-test--visible (org-agent-inert text))
                     inert)))))

(ert-deftest org-agent-inert-what-stays ()
  "Harmless text is not changed by a byte."
  (dolist (text '("** An answer   :agent:\n:PROPERTIES:\n:ID:       a\n:SKILL:    chat@1\n:MODEL:    m:7b\n:STATE:    failed\n:END:\n*b* /i/ _u_ +s+ =v= ~c~\n"
                  "*** Sub\n- a\n  1. b [3/4] [[https://x.org/a_(b)][c d]]\n- [ ] t :: d\n"
                  "| a | b |\n|---+---|\n| 1 | a=b |\n"
                  "#+begin_src emacs-lisp\n,* x\n,#+y\nsrc_sh{ls} {{{m}}} [[elisp:f]]\n#+end_src\n"
                  "#+begin_src\nx\n#+end_src\n#+BEGIN_EXAMPLE\n:x:\n#+END_EXAMPLE\n"
                  "#+begin_quote\nq\n#+end_quote\n#+begin_verse\nv\n#+end_verse\n"
                  "See [fn:1], [[id:abc][a note]], [[file:x.org::*A][b]], [[./y.txt]].\n\n[fn:1] Text.\n"
                  "https://en.wikipedia.org/wiki/Help:Contents mailto:a@b.c <https://x.y>\n"
                  "[2026-01-01 Thu 10:00] a call me a src of a: b :c d\n"
                  "Use ~{{{x}}}~ and =src_sh{ls}= or ~#+TBLFM:~ and ~elisp:(f)~.\n"
                  "a @ b << c, x | y, E = mc^2, -----\n"
                  ""))
    (ert-info (text)
      (should (equal (org-agent-inert text) text)))))

(ert-deftest org-agent-inert-drawer-of-the-answer ()
  "Only the drawer of the answer is one, with harmless properties only."
  (let ((text (org-agent-inert
               "** A :agent:\n:PROPERTIES:\n:ID: a\n:header-args: :var x=(f)\n:CRON: * * * * *\n:END:\n:PROPERTIES:\n:ID: b\n:END:\n** B\n:PROPERTIES:\n:ID: c\n:END:\n")))
    (with-temp-buffer
      (insert text)
      (let ((properties (org-agent-heading-properties (point-min))))
        (should (equal (mapcar #'car properties)
                       '(t "ID" "X-HEADER-ARGS" "X-CRON"))))
      (should (org-agent-heading-find "a"))
      (should-not (org-agent-heading-find "b"))
      (should-not (org-agent-heading-find "c")))))

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

(defun org-agent-inert-test--active ()
  "Return what Org's parser finds active in the current buffer."
  (let ((allowed '("http" "https" "mailto" "id" "file" "fuzzy" "custom-id"
                   "coderef"))
        found)
    (org-element-map (org-element-parse-buffer)
        '(babel-call inline-babel-call inline-src-block keyword dynamic-block
          export-block export-snippet special-block comment-block macro
          target radio-target planning clock timestamp diary-sexp drawer
          property-drawer latex-environment link src-block citation headline)
      (lambda (element)
        (let ((type (org-element-type element)))
          (when
              (pcase type
                ('timestamp (memq (org-element-property :type element)
                                  '(active active-range diary)))
                ('link
                 (or (not (member (org-element-property :type element) allowed))
                     (string-match-p "\\`/[^/]+:"
                                     (org-element-property :path element))))
                ('src-block
                 (or (org-element-property :parameters element)
                     (org-element-property :switches element)
                     (org-element-property :header element)
                     (org-element-property :name element)))
                ('headline
                 (cl-intersection '("user" "agent" "draft")
                                  (org-element-property :tags element)
                                  :test #'equal))
                (_ t))
            (push (list type (buffer-substring-no-properties
                              (org-element-property :begin element)
                              (org-element-property :end element)))
                  found)))))
    found))

(ert-deftest org-agent-inert-random-texts ()
  "In no text that was made inert does Org find anything active.
Making it inert again changes nothing, and only marks were added."
  (random "inert")
  (with-temp-buffer
    (let ((org-inhibit-startup t)) (org-mode))
    (dotimes (_ 3000)
      (let* ((text (org-agent-inert-test--random-text))
             (inert (org-agent-inert text)))
        (ert-info ((format "%S" text))
          (erase-buffer)
          (insert inert)
          (should-not (org-agent-inert-test--active))
          (should (equal (org-agent-inert inert) inert))
          (should (equal (string-replace org-agent-inert-mark "" inert)
                         (string-replace org-agent-inert-mark "" text))))))))

(ert-deftest org-agent-inert-lines-do-not-depend-on-cuts ()
  "A text in pieces gives the same result as the whole text."
  (random "cuts")
  (dotimes (_ 500)
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
  "The languages are those in the test data of the kernel."
  (should (equal (sort (copy-sequence org-agent-inert-languages) #'string<)
                 (sort (org-agent-modes-lines "listed") #'string<))))

(ert-deftest org-agent-inert-the-modes-are-seen ()
  "Without protection most of the hostile texts call a mode.
Org 9.5 calls one for nearly all, Org 9.7 not for examples."
  (let ((calling (cl-count-if
                  (lambda (line)
                    (cl-letf (((symbol-function 'org-agent-modes-lines)
                               (lambda (_) (list line))))
                      (org-agent-inert-test--highlighted
                       (org-agent-modes-text "recentf"))))
                  (org-agent-modes-lines "hostile"))))
    (should (>= calling (if (fboundp 'org-fold-region) 12 20)))))

(ert-deftest org-agent-inert-no-block-calls-what-is-not-listed ()
  "No language in a block makes Emacs call its function.
This is also so if the text arrives line by line."
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

(ert-deftest org-agent-inert-languages-that-are-held ()
  "The name of a language that is not listed is made inert, not the code."
  (pcase-dolist
      (`(,text ,inert)
       '(("#+begin_src recentf\n<2026-01-01> [[elisp:x]]\n#+end_src"
          "#+begin_src \u00b7recentf\n<2026-01-01> [[elisp:x]]\n#+end_src")
         ("  #+BEGIN_SRC\tPython  \n  #+END_SRC" "  #+BEGIN_SRC\t\u00b7Python  \n  #+END_SRC")
         ("#+begin_src org-agent\n#+end_src" "#+begin_src \u00b7org-agent\n#+end_src")
         ("#+begin_src python\n#+end_src" "#+begin_src python\n#+end_src")
         ("#+begin_example \u200brecentf\nx\n#+end_example" "#+begin_example \u00b7recentf\nx\n#+end_example")
         ("#+begin_example recentf\nx\n#+end_example" "\u00b7#+begin_example recentf\nx\n#+end_example")))
    (ert-info (text)
      (should (equal (org-agent-inert-test--visible (org-agent-inert text)) inert))
      (should (equal (org-agent-inert (org-agent-inert text)) (org-agent-inert text))))))

(ert-deftest org-agent-inert-listed-languages-only-highlight ()
  "The mode of a listed language is a major mode that only highlights."
  (let ((modes (copy-sequence global-minor-modes)) called
        (code "\"a\" 'b' (c) <d> # e\n--- /ssh:nowhere.invalid:/x\n+++ /ssh:nowhere.invalid:/x\n@@ -1 +1 @@\n-x\n+y\n"))
    (dolist (language (org-agent-modes-lines "listed"))
      (ert-info (language)
        (let ((text (format "#+begin_src %s\n%s#+end_src\n" language code))
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
  "An old conversation with such blocks calls nothing when it is opened.
Listed languages are highlighted, and other buffers are not affected."
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
  "Without protection the hostile texts do run something.
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
  "`org-ctrl-c-ctrl-c' runs nothing at any position of a hostile answer.
Neither does TAB, which recalculates tables."
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
  "It runs nothing in a hostile answer that is being written."
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
  "The log reports text that had to be made inert."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (org-agent-fake-act "hostile" question
                          (org-agent-fake-answer-text "hostile" "A" "#+TBLFM: x"))
      (should (string-match-p "made inert"
                              (with-current-buffer "*org-agent-log*"
                                (buffer-string))))
      (should (string-match-p (concat "^" org-agent-inert-mark "#\\+TBLFM")
                              (buffer-string))))))

(ert-deftest org-agent-inert-evaluates-no-local-variables ()
  "Neither opening a conversation nor restarting its mode evaluates them."
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
  "A line of ten thousands of characters is made inert in linear time.
With quadratic work it took hours, and the process would be killed."
  (dolist (unit '("[[" "src_x{" "{{{a" "= [["))
    (let ((text (concat "x " (apply #'concat (make-list 10000 unit)))))
      (should (equal text (string-replace org-agent-inert-mark ""
                                          (org-agent-inert text)))))))

(provide 'org-agent-inert-test)
;;; org-agent-inert-test.el ends here
