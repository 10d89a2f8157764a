;;; org-agent-inert-arguments.el --- Header arguments that are held  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Org evaluates some header arguments before it asks whether to run a
;; block, and others have an export or a tangle run it, or reach outside of
;; it.  This says which arguments of a line those are.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-inert-list)

(defun org-agent-inert-arguments (from)
  "Return the header arguments of the line at point, from FROM on, that are held.
Each is (POSITION WHAT), the last one first."
  (let ((end (copy-marker (line-end-position) t)) places)
    (save-excursion
      (goto-char from)
      (let ((argument-p nil))
        (while (< (point) end)
          (cond
           ((and (eq (char-after) ?\") (not (eq (char-before) ?\\))
                 (re-search-forward "\"\\(?:[^\n]*?[^\\\n]\\)??\"" end t)))
           ((and (eq (char-after) ?:)
                 (or (= (point) from) (memq (char-before) '(?\s ?\t)))
                 (looking-at ":\\([^ \t\n]*\\)[ \t]*"))
            (setq argument-p t)
            (let* ((key (downcase (match-string 1)))
                   (name-place (1+ (point)))
                   (value-place (match-end 0))
                   (behind (match-end 1))
                   (value (org-agent-inert-arguments--value value-place end)))
              (when (org-agent-inert-arguments-held-p key value)
                (push (list name-place (concat "the header argument :" key)) places))
              (when (org-agent-inert-arguments--evaluated-p value)
                (push (list value-place "a value that Emacs would evaluate") places))
              (goto-char behind)))
           ((and (not argument-p)
                 (or (= (point) from) (memq (char-before) '(?\s ?\t)))
                 (looking-at "[('`[]\\|\\*this\\*"))
            (push (list (point) "a value that Emacs would evaluate") places)
            (forward-char))
           (t (forward-char))))))
    (set-marker end nil)
    places))

(defun org-agent-inert-arguments--value (place end)
  "Return the value at PLACE of a header argument; the line ends at END.
The next argument, behind a blank and outside of strings, ends it."
  (save-excursion
    (goto-char place)
    (let ((stop nil))
      (while (and (not stop) (< (point) end))
        (cond
         ((and (eq (char-after) ?\") (not (eq (char-before) ?\\))
               (re-search-forward "\"\\(?:[^\n]*?[^\\\n]\\)??\"" end t)))
         ((and (eq (char-after) ?:) (memq (char-before) '(?\s ?\t)))
          (setq stop t))
         (t (forward-char)))))
    (string-trim (buffer-substring-no-properties place (point)) "[ \t]+" "[ \t]+")))

(defun org-agent-inert-arguments--evaluated-p (value)
  "Return non-nil when Org evaluates VALUE."
  (or (string-match-p "\\`[('`[]" value) (equal value "*this*")))

(defun org-agent-inert-arguments-held-p (key value)
  "Return non-nil when the header argument KEY with VALUE is held."
  (let ((plain (if (string-match "\\`\"\\(.*?\\)\"?\\'" value) (match-string 1 value) value))
        (case-fold-search nil))
    (pcase key
      ("var"
       (not (string-match-p
             "\\`\\(?:[^][ \t\n=,\"()]+[ \t]*=[ \t]*\\(?:-?[0-9]+\\(?:\\.[0-9]+\\)?\\|\"\\(?:[^\"\\]\\|\\\\.\\)*\"\\)\\(?:[ \t]*,?[ \t]+\\|,\\|\\'\\)\\)+\\'"
             value)))
      ("eval" (not (member plain '("" "no" "never" "query" "no-export" "never-export"
                                   "query-export" "strip-export"))))
      ("exports" (cl-intersection '("results" "both") (split-string plain) :test #'equal))
      ("noweb" (not (member plain '("" "no"))))
      ("tangle" (not (or (member plain '("" "yes" "no"))
                         (org-agent-inert-arguments--inside-p plain))))
      ((or "file" "output-dir") (not (or (equal plain "") (org-agent-inert-arguments--inside-p plain))))
      (_ (member key org-agent-inert-list-arguments)))))

(defun org-agent-inert-arguments--inside-p (name)
  "Return non-nil when the file NAME is one within the directory.
It neither is hidden nor decides what a program or the agent does."
  (let ((parts (split-string name "/")))
    (and (not (string-match-p "[\\:$\"`|;<>*?]\\|\\`[/~]" name))
         (not (member-ignore-case (car (last parts)) org-agent-inert-list-file-names))
         (cl-every (lambda (part) (not (string-prefix-p "." part)))
                   (if (equal (car parts) ".") (cdr parts) parts))
         (not (cl-intersection (mapcar #'downcase (butlast parts))
                               org-agent-inert-list-directories :test #'equal)))))

(provide 'org-agent-inert-arguments)
;;; org-agent-inert-arguments.el ends here
