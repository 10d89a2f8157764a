;;; use.el --- Do with a text what a person may do, and see whether it runs code  -*- lexical-binding: t; -*-

;; Loaded by the Go tests after parse.el.  Code that runs shows in four ways: the function
;; `org-agent-fire' was called, a process was started, a URL was fetched, or a variable, a
;; file or the directory of the text is another than before.

;;; Code:

(setq comp-enable-subr-trampolines nil) ; what is watched must not be compiled first

(require 'cl-lib)
(require 'org)
(require 'org-agenda)
(require 'org-capture)
(require 'org-clock)
(require 'org-lint)
(require 'org-table)
(require 'ob-tangle)
(require 'ob-lob)
(require 'ox-ascii)
(require 'ox-html)
(require 'ox-latex)
(require 'ox-md)
(require 'org-agent-inert)

(defvar org-agent-fired nil
  "Where code from a text ran, latest first.")

(defvar org-agent-doing nil
  "What is being done.")

(defvar org-agent-canary nil
  "A variable that texts try to set.")
(put 'org-agent-canary 'safe-local-variable #'always)

(defun org-agent-fire (&rest _)
  "Note that code from a text runs."
  (push org-agent-doing org-agent-fired)
  nil)

(defun org-agent-refuse (&rest _)
  "Answer no question."
  (signal 'quit nil))

(defun org-agent-try (doing function)
  "Call FUNCTION, of which DOING is the name; errors are of no interest."
  (setq org-agent-doing doing)
  (condition-case nil
      (save-excursion (funcall function))
    (error nil)
    (quit nil)))

(defmacro org-agent-watched (&rest body)
  "Run BODY with every question answered with no, and all that runs code watched."
  `(cl-letf (,@(mapcar (lambda (name) `((symbol-function ',name) #'ignore))
                       '(yes-or-no-p y-or-n-p browse-url org-open-file org-id-goto
                         org-offer-links-in-entry))
             ,@(mapcar (lambda (name) `((symbol-function ',name) #'org-agent-refuse))
                       '(read-string read-from-minibuffer completing-read read-char
                         read-char-exclusive read-key read-event org-export-dispatch))
             ,@(mapcar (lambda (name) `((symbol-function ',name) #'org-agent-fire))
                       '(shell-command async-shell-command start-process start-file-process
                         process-file start-process-shell-command call-process-shell-command
                         url-retrieve url-retrieve-synchronously url-insert-file-contents
                         url-copy-file)))
     ,@body))

(defun org-agent-use-line ()
  "Do at the line of point what keys do."
  (org-agent-try "C-c C-c" #'org-ctrl-c-ctrl-c)
  (org-agent-try "C-c C-c" (lambda () (skip-chars-forward " \t|") (org-ctrl-c-ctrl-c)))
  (org-agent-try "entry-get"
                 (lambda ()
                   (org-entry-get nil "header-args" t)
                   (org-babel-params-from-properties "emacs-lisp")))
  (when (org-at-table-p)
    (org-agent-try "TAB" (lambda () (skip-chars-forward " \t|") (org-table-next-field)))
    (org-agent-try "recalculate" (lambda () (org-table-recalculate 'all t))))
  ;; What is done may change the line: its links are counted first.
  (let ((end (line-end-position)) places)
    (save-excursion
      (while (re-search-forward "[[<]\\|\\<[a-z+]+:" end t)
        (push (point) places)))
    (dolist (place (nreverse places))
      (goto-char (min place (point-max)))
      (org-agent-try "C-c C-o" #'org-open-at-point)
      (org-agent-try "C-c C-o" (lambda () (forward-char 2) (org-open-at-point)))
      (org-agent-try "C-c C-c" #'org-ctrl-c-ctrl-c)))
  (org-agent-try "C-c *" #'org-ctrl-c-star))

(defconst org-agent-uses-of-buffer
  '(("execute-buffer" . org-babel-execute-buffer)
    ("tangle" . org-babel-tangle)
    ("ingest" . (lambda () (org-babel-lob-ingest (buffer-file-name))))
    ("dblocks" . org-update-all-dblocks)
    ("tables" . org-table-recalculate-buffer-tables)
    ("iterate" . org-table-iterate-buffer-tables)
    ("lint" . org-lint)
    ("map-entries" . (lambda () (org-map-entries #'ignore)))
    ("clock" . (lambda () (org-clock-sum) (org-resolve-clocks)))
    ("restart" . org-mode-restart)
    ("update-radio" . org-update-radio-target-regexp)
    ("ascii" . (lambda () (org-export-as 'ascii nil nil t)))
    ("html" . (lambda () (org-export-as 'html nil nil t '(:with-latex verbatim))))
    ("latex" . (lambda () (org-export-as 'latex nil nil t)))
    ("md" . (lambda () (org-export-as 'md nil nil t)))
    ("font-lock" . (lambda () (font-lock-ensure)))
    ("cycle" . (lambda () (org-cycle-internal-global) (org-set-startup-visibility)))
    ("images" . (lambda () (org-display-inline-images t t)))
    ("agenda" . (lambda ()
                  (let ((org-agenda-files (list (buffer-file-name))))
                    (org-agenda-list nil nil 1)
                    (org-todo-list)
                    (org-tags-view nil "x"))))
    ("capture" . (lambda ()
                   (let ((org-capture-templates
                          `(("x" "x" entry (file ,(buffer-file-name)) "* %i" :immediate-finish t)))
                         (org-capture-initial (buffer-string)))
                     (org-capture-string (buffer-string) "x")))))
  "What is done with a whole buffer, by name.")

(defun org-agent-use-text ()
  "Do with the current buffer what a person may do; return what ran code from it."
  (setq org-agent-fired nil org-agent-canary nil)
  (let* ((directory (file-name-as-directory (make-temp-file "conversation" t)))
         (file (expand-file-name "conversation.org" directory))
         (text (buffer-string))
         (coding-system-for-write 'utf-8-unix)
         (inhibit-message t)
         (make-backup-files nil)
         (create-lockfiles nil)
         (org-link-elisp-confirm-function nil)
         (org-link-shell-confirm-function (lambda (&rest _) (org-agent-fire) nil))
         (org-confirm-babel-evaluate t)
         (org-export-use-babel t)
         (org-export-allow-bind-keywords t)
         (org-table-formula-evaluate-inline t))
    (org-agent-watched
     (goto-char (point-min))
     (while (not (eobp))
       (let ((line (line-number-at-pos)))
         (org-agent-use-line)
         ;; What was done may have changed the text.
         (erase-buffer)
         (insert text)
         (goto-char (point-min))
         (forward-line line)))
     (write-region (concat "* Top\n" text) nil file nil 'silent)
     (setq org-agent-doing "opening")
     ;; As people have it: what is safe is set, what is not is asked about.
     (with-current-buffer (let ((enable-local-variables t)
                                (enable-local-eval 'maybe))
                            (find-file-noselect file))
       (when org-agent-canary
         (setq org-agent-canary nil)
         (org-agent-fire))
       (pcase-dolist (`(,name . ,use) org-agent-uses-of-buffer)
         (goto-char (point-min))
         (org-agent-try name use)
         (when org-agent-canary
           (setq org-agent-canary nil)
           (org-agent-fire))
         (dolist (other (directory-files directory t directory-files-no-dot-files-regexp))
           (unless (equal other file)
             (setq org-agent-doing (concat name " wrote " (file-name-nondirectory other)))
             (org-agent-fire)
             (delete-file other)))
         (when (buffer-modified-p)
           (erase-buffer)
           (insert "* Top\n" text)
           (set-buffer-modified-p nil)))
       (set-buffer-modified-p nil)
       (kill-buffer)))
    (delete-directory directory t))
  (vconcat (delete-dups org-agent-fired)))

(defun org-agent-use-checked-text ()
  "Do the same with the current buffer as the client's own check leaves it."
  (let ((text (buffer-string)))
    (erase-buffer)
    (insert (org-agent-inert text)))
  (org-agent-use-text))

;;; use.el ends here
