;;; check.el --- Static checks of the package  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: EMACS -Q --batch -L elisp -l elisp/test/check.el
;;
;; Every file compiles without a warning, in an Emacs that has loaded nothing
;; else.  Checkdoc has no complaint.  Headers, names and `provide' are as
;; package archives want them.  No file calls what a version of Emacs from 28
;; to 31, or of the Org in it, has changed (see `check-changes').  The checks
;; leave no files.
;;
;; Each finding is one line, and the exit code is 1 when there is one.
;; CHECK_FILES in the environment, names separated by blanks, limits the
;; checks to these files.
;;
;; With CHECK_NATIVE=all in the environment each file is compiled to native
;; code.  That warns of the same things and takes many times as long.

;;; Code:

(require 'cl-lib)
(require 'checkdoc)
(require 'bytecomp)

(defvar check-directory
  (expand-file-name ".." (file-name-directory (or load-file-name
                                                  buffer-file-name)))
  "The directory of the package.")

(defvar check-findings nil
  "The findings, newest first.")

;; The package runs on Emacs 28.1 to 31.  These names are defined in all of
;; them or in the first ones, so that compiling on one version does not
;; find them.  What Emacs 28 lacks the compiler of Emacs 28 reports.
;;
;; Other changes are handled where they matter:
;;
;; - 29, lines of more than 10,000 characters: hooks run narrowed to half a
;;   million characters around point.  The hooks of a conversation look at
;;   the draft or at what a command has just inserted.
;; - 29, ERT: a test must not be defined twice, and says where it failed;
;;   see run.el.
;; - 29, `yank-media-handler': called where it is defined.
;; - 30, `derived-mode-p': it takes one list, and 28 takes only single
;;   modes.  Several modes are passed with `apply', which all accept.
;; - 30, `define-globalized-minor-mode': it needs `run-mode-hooks'.  All
;;   modes are defined with `define-derived-mode'.
;; - 30, `write-region-inhibit-fsync': its default has changed, and
;;   conversations bind it.
;; - 31, `text-property-default-nonsticky': it is local where it is set, as
;;   `setq-local' makes it in all versions.
;; - 31, `overlays-in': it looks beyond the narrowing.  Overlays are removed
;;   in widened buffers.
;; - Org 9.6 (Emacs 29): folds have other names in `invisible', which
;;   `org-fold-folded-p' hides, and functions have other names, which
;;   `org-agent-heading-call-org' knows.
;; - Org 9.7 (Emacs 30): nodes of the parser are no plists, and are only
;;   read with `org-element-property'.  The parser and `org-get-tags' change
;;   the match data.  Functions that store links get an argument.
;; - Org 9.8 (Emacs 31): an agenda removes the property `read-only' from
;;   what it copies; see `org-agent-asks-decorate'.
(defconst check-changes
  '(("if-let" "31" "`if-let*'")
    ("when-let" "31" "`when-let*'")
    ("and-let" "31" "`and-let*'")
    ("replace-buffer-contents" "31" "`org-agent-undo-replace-accessible'"
     "org-agent-undo.el")
    ("replace-region-contents" "31, which alone takes a string"
     "`org-agent-undo-replace-accessible'" "org-agent-undo.el")
    ("date-to-time" "31" "`iso8601-parse'")
    ("purecopy" "31" "nothing")
    ("cl-\\(?:declare\\|gensym\\|locally\\|member-if\\)" "31"
     "`defvar', `gensym', `progn', `cl-find-if'")
    ("font-lock-\\(?:builtin\\|comment\\(?:-delimiter\\)?\\|constant\\|doc\\(?:-markup\\)?\\|function-name\\|keyword\\|negation-char\\|preprocessor\\|string\\|type\\|variable-name\\|warning\\)-face"
     "31, as a variable" "the quoted face")
    ("revert-buffer-in-progress-p" "31" "a variable of ours")
    ("easy-mmode-define-\\S-+" "30" "`define-minor-mode'")
    ("inhibit-changing-match-data" "29" "`looking-at-p', `string-match-p'")
    ("org-show-\\(?:all\\|children\\|context\\|entry\\|hidden-entry\\|set-visibility\\|subtree\\)"
     "29, in Org 9.6" "`org-agent-heading-call-org'")
    ("org-\\(?:flag-region\\|hide-drawer-toggle\\|set-startup-visibility\\|hide-entry\\|hide-block-all\\)"
     "29, in Org 9.6" "`org-agent-heading-call-org'"))
  "Names whose meaning changed, or that became obsolete, after Emacs 28.
An element is (REGEXP VERSION REPLACEMENT FILE...).  The name may not be
called, nor used as a variable, but in FILEs.")

(defun check-note (file format-string &rest arguments)
  "Note a finding in FILE; FORMAT-STRING and ARGUMENTS are as for `format'."
  (push (format "%s: %s" (file-relative-name file check-directory)
                (apply #'format format-string arguments))
        check-findings))

(defun check-files (&optional tests)
  "Return the files of the package that are to be checked, or its TESTS.
Generated files are not checked."
  (let ((all (cl-remove-if
              (lambda (file) (string-suffix-p "-autoloads.el" file))
              (directory-files (if tests
                                   (expand-file-name "test" check-directory)
                                 check-directory)
                               t "\\`[^.#].*\\.el\\'")))
        (some (getenv "CHECK_FILES")))
    (if some
        (seq-intersection all (mapcar #'expand-file-name (split-string some)))
      all)))

(defun check-compiles (file output)
  "Compile FILE to bytes, into the directory OUTPUT, with warnings as errors."
  (let ((byte-compile-error-on-warn t)
        (byte-compile-dest-file-function
         (lambda (name)
           (expand-file-name (concat (file-name-nondirectory name) "c")
                             output))))
    (unless (eq t (byte-compile-file file))
      (check-note file "does not compile without warnings"))))

;; Emacs compiles a file that it has loaded to native code in an Emacs of
;; its own, and shows the warnings to the person.  That Emacs knows only what
;; the file requires, and so must the check.
(defun check-compiles-alone (file output)
  "Compile FILE without warnings in an Emacs that has loaded nothing else.
The compiled file goes into OUTPUT."
  (with-temp-buffer
    (let* ((native (equal (getenv "CHECK_NATIVE") "all"))
           (target (expand-file-name (concat (file-name-base file)
                                             (if native ".eln" ".alone"))
                                     output))
           (form (if native
                     `(progn (require 'comp)
                             (setq native-comp-verbose 0)
                             (native-compile ,file ,target))
                   `(progn (setq byte-compile-dest-file-function (lambda (_) ,target))
                           (byte-compile-file ,file)))))
      (unless (eql 0 (call-process
                      (expand-file-name invocation-name invocation-directory) nil t nil
                      "-Q" "--batch" "-L" check-directory
                      ;; The other files are loaded compiled where they are.
                      "--eval" "(setq byte-compile-error-on-warn t load-prefer-newer t)"
                      "--eval" (prin1-to-string
                                `(unless (condition-case err ,form
                                           (error (princ (error-message-string err)) nil))
                                   (kill-emacs 1)))))
        (check-note file "does not compile alone: %s"
                    (string-trim (buffer-string)))))))

(defun check-documentation (file)
  "Run checkdoc on FILE."
  (let ((checkdoc-arguments-in-order-flag nil)
        (checkdoc-verb-check-experimental-flag nil) ; it guesses
        (checkdoc-create-error-function
         (lambda (text start _end &optional _unfixable)
           (check-note file "%d: %s"
                       (if start (count-lines (point-min) start) 1) text)
           nil)))
    (with-current-buffer (find-file-noselect file)
      (checkdoc-current-buffer t)
      (kill-buffer))))

(defun check-conventions (file)
  "Look whether FILE is as package archives want it."
  (with-temp-buffer
    (insert-file-contents file)
    (emacs-lisp-mode)
    (let ((name (file-name-base file)))
      (dolist (regexp
               (list (format "\\`;;; %s\\.el --- [A-Z].*[^.]  -\\*- lexical-binding: t; -\\*-$" name)
                     "^;; SPDX-License-Identifier: GPL-3.0-or-later$"
                     "^;;; Commentary:$"
                     "^;;; Code:$"
                     (format "^(provide '%s)\n;;; %s\\.el ends here\n\\'" name name)))
        (goto-char (point-min))
        (unless (let ((case-fold-search nil)) (re-search-forward regexp nil t))
          (check-note file "has nothing like %s" regexp)))
      (check-names file)
      (check-versions file)
      (goto-char (point-min))
      (while (re-search-forward "[ \t]+$\\|\t" nil t)
        (check-note file "%d: a tab, or blanks at the end"
                    (line-number-at-pos)))
      (when (> (count-lines (point-min) (point-max)) 600)
        (check-note file "is longer than 600 lines")))))

(defun check-names (file)
  "Look whether what FILE defines has the package's prefix."
  (goto-char (point-min))
  (while (re-search-forward
          "^(\\(?:cl-\\)?\\(def\\(?:un\\|macro\\|var\\|var-local\\|const\\|custom\\|face\\|group\\|subst\\|struct\\|generic\\)\\|define-\\(?:derived-mode\\|error\\)\\) (?'?\\([^][() \n]+\\)"
          nil t)
    (let ((name (match-string 2)))
      (unless (or (string-match-p "\\`org-agent\\(?:-\\|\\'\\)" name)
                  ;; What Babel looks for is named as it looks for it.
                  (string-match-p "\\`org-babel-[a-z-]+:org-agent\\(?:-chat\\)?\\'" name)
                  (save-excursion       ; a declaration of Emacs's own variable
                    (goto-char (match-beginning 0))
                    (looking-at "(defvar [^ ]+)$")))
        (check-note file "%d: %s lacks the prefix" (line-number-at-pos) name)))))

(defun check-versions (file)
  "Look whether FILE uses a name of `check-changes'.
A name that is quoted, in a string or in a comment is not used."
  (pcase-dolist (`(,regexp ,version ,replacement . ,files) check-changes)
    (goto-char (point-min))
    (while (re-search-forward (format "\\_<\\(%s\\)\\_>" regexp) nil t)
      (let ((beg (match-beginning 0)) (name (match-string 0)))
        (unless (or (member (file-name-nondirectory file) files)
                    (memq (char-before beg) '(?' ?`))
                    (save-excursion (nth 8 (syntax-ppss beg))))
          (check-note file "%d: %s changed in Emacs %s; use %s"
                      (line-number-at-pos beg) name version replacement))))))

(defun check-all ()
  "Check everything and end this Emacs."
  (let ((output (make-temp-file "org-agent-check" t))
        ;; With Emacs's own number half of the time is for garbage.
        (gc-cons-threshold (* 64 1024 1024)))
    (unwind-protect
        (progn
          (dolist (file (check-files))
            (check-compiles-alone file output)
            (check-documentation file)
            (check-conventions file))
          (push (expand-file-name "test" check-directory) load-path)
          (dolist (file (check-files t))
            (check-compiles file output)
            (check-documentation file)
            (with-temp-buffer
              (insert-file-contents file)
              (emacs-lisp-mode)
              (check-versions file))))
      (delete-directory output t)))
  (dolist (finding (reverse check-findings))
    (message "%s" finding))
  (message "%d findings" (length check-findings))
  (kill-emacs (if check-findings 1 0)))

(when noninteractive (check-all))

(provide 'check)
;;; check.el ends here
