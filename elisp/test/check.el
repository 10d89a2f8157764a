;;; check.el --- Static checks of the package  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: EMACS -Q --batch -L elisp -l elisp/test/check.el
;;
;; Every file compiles to bytes and, where this Emacs can, to native code
;; without a warning; checkdoc has nothing to say; headers, names and
;; `provide' are as package archives want them.  Nothing is left behind.
;; The exit code is 1 when there is a finding, and each is one line.
;; CHECK_FILES in the environment, names separated by blanks, has only
;; these looked at.
;;
;; Of native compilation only Emacs's own part is done, without
;; optimizing: it is what can warn, and a fifth of the work.  With
;; CHECK_NATIVE=all in the environment all of it is.

;;; Code:

(require 'cl-lib)
(require 'checkdoc)
(require 'bytecomp)
(require 'comp nil t)

(defvar check-directory
  (expand-file-name ".." (file-name-directory (or load-file-name
                                                  buffer-file-name)))
  "The directory of the package.")

(defvar check-findings nil
  "What was found, newest first.")

(defun check-note (file format-string &rest arguments)
  "Note a finding in FILE; FORMAT-STRING and ARGUMENTS are as for `format'."
  (push (format "%s: %s" (file-relative-name file check-directory)
                (apply #'format format-string arguments))
        check-findings))

(defun check-files (&optional tests)
  "Return the files of the package that are to be checked, or its TESTS.
What is made of them is none."
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

(defun check-compiles-natively (file output)
  "Compile FILE to native code, into the directory OUTPUT, without warnings."
  (when (and (fboundp 'native-comp-available-p) (native-comp-available-p))
    (let* ((byte-compile-error-on-warn t)
           (native-comp-verbose 0)
           (all (equal (getenv "CHECK_NATIVE") "all"))
           (native-comp-speed (if all native-comp-speed 0))
           (comp-dry-run (not all)))
      (condition-case err
          (with-no-warnings
            (native-compile file (expand-file-name
                                  (concat (file-name-base file) ".eln")
                                  output)))
        (error (check-note file "does not compile natively: %s"
                           (error-message-string err)))))))

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
                  (string-match-p "\\`org-babel-[a-z-]+:org-agent\\'" name)
                  (save-excursion       ; a declaration of Emacs's own variable
                    (goto-char (match-beginning 0))
                    (looking-at "(defvar [^ ]+)$")))
        (check-note file "%d: %s lacks the prefix" (line-number-at-pos) name)))))

(defun check-all ()
  "Check everything and end this Emacs."
  (let ((output (make-temp-file "org-agent-check" t))
        ;; With Emacs's own number half of the time is for garbage.
        (gc-cons-threshold (* 64 1024 1024)))
    (unwind-protect
        (progn
          (dolist (file (check-files))
            (check-compiles file output)
            (check-compiles-natively file output)
            (check-documentation file)
            (check-conventions file))
          (push (expand-file-name "test" check-directory) load-path)
          (dolist (file (check-files t))
            (check-compiles file output)
            (check-documentation file)))
      (delete-directory output t)))
  (dolist (finding (reverse check-findings))
    (message "%s" finding))
  (message "%d findings" (length check-findings))
  (kill-emacs (if check-findings 1 0)))

(when noninteractive (check-all))

(provide 'check)
;;; check.el ends here
