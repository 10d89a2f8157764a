;;; modes.el --- Which modes highlighting a text calls  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Loaded by the tests of both implementations.  `listed' has the languages
;; whose blocks stay source.  Each line of `hostile' is a text, whose lines
;; are apart by ¶, that calls a mode where Org highlights it as it stands,
;; or tries to.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-src)

(defconst org-agent-modes-directory
  (file-name-directory (or load-file-name buffer-file-name))
  "Where the languages and the hostile texts are.")

(defvar org-agent-modes--called nil
  "What was called, (LANGUAGE . MODE), latest first.")

(defvar org-agent-modes--next nil
  "What the next call is of.")

(defun org-agent-modes-lines (name)
  "Return the lines of the file NAME."
  (with-temp-buffer
    (let ((coding-system-for-read 'utf-8-unix))
      (insert-file-contents (expand-file-name name org-agent-modes-directory)))
    (split-string (buffer-string) "\n" t)))

(defun org-agent-modes-languages ()
  "Return every X of which a function X-mode exists, autoloads included."
  (let (names)
    (mapatoms (lambda (symbol)
                (let ((name (symbol-name symbol)))
                  (and (fboundp symbol)
                       (string-match "\\`\\([^ \t\n]+\\)-mode\\'" name)
                       (push (match-string 1 name) names)))))
    (sort names #'string<)))

(defun org-agent-modes-text (language)
  "Return the hostile texts with LANGUAGE, each with an end for its blocks."
  (mapconcat
   (lambda (line)
     (let ((text (string-replace "recentf" language (string-replace "¶" "\n" line)))
           (ends ""))
       (with-temp-buffer
         (insert text)
         (let ((case-fold-search t))
           (while (re-search-backward "^\\([-> \t]*\\)#\\+begin_\\([a-z]+\\)" nil t)
             (setq ends (concat ends (string-replace "-" " " (match-string 1))
                                "#+end_" (match-string 2) "\n")))))
       (concat text "\n(x)\n" ends)))
   (org-agent-modes-lines "hostile") "\n\n\n* Next\n"))

(defun org-agent-modes-canary ()
  "Stand for a mode that is called."
  (push org-agent-modes--next org-agent-modes--called)
  (fundamental-mode))

(defun org-agent-modes-called ()
  "Highlight the current buffer; return the languages whose mode that calls.
None is: each time another function is called in its place."
  (let ((org-src-fontify-natively t)
        (lookup (symbol-function 'org-src-get-lang-mode))
        (org-agent-modes--called nil))
    (cl-letf (((symbol-function 'org-src-get-lang-mode)
               (lambda (language)
                 (let ((mode (funcall lookup language)))
                   (if (not (fboundp mode)) mode
                     (setq org-agent-modes--next language)
                     'org-agent-modes-canary)))))
      (font-lock-flush)
      (font-lock-ensure))
    (cl-sort (delete-dups org-agent-modes--called) #'string<)))

(provide 'modes)
;;; modes.el ends here
