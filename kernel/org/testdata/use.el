;;; use.el --- Do with a text what a person may do, and see what leaves a trace  -*- lexical-binding: t; -*-

;; Loaded by the Go tests after parse.el.  A text leaves a trace where it has
;; the function `org-agent-fire' called, or the mode `org-agent-trap-mode', or
;; where a program is started, a URL fetched, a file written elsewhere or
;; opened from elsewhere, a variable set, the settings of a person's file
;; changed by an entry that was refiled there, or RAWTRAP exported as it stands.
;;
;; It is done in plain `org-mode', and no question is answered with yes.
;; Nothing is asked before a block is run, except where C-c C-c is
;; pressed on the block, or C-c C-o, which runs it too.

;;; Code:

(setq comp-enable-subr-trampolines nil) ; what is watched must not be compiled first

(require 'cl-lib)
(require 'org)
(require 'org-agenda)
(require 'org-archive)
(require 'org-attach)
(require 'org-colview)
(require 'org-refile)
(require 'org-table)
(require 'ob-emacs-lisp)
(require 'ob-latex)
(require 'ob-tangle)
(require 'oc-basic)
(require 'ox-ascii)
(require 'ox-beamer)
(require 'ox-html)
(require 'ox-icalendar)
(require 'ox-latex)
(require 'ox-md)
(require 'ox-odt)
(require 'org-agent-inert)

(defvar org-agent-fired nil
  "The uses that left a trace.")

(defvar org-agent-doing nil
  "The use at hand.")

(defvar org-agent-canary nil
  "A variable that texts try to set.")
(put 'org-agent-canary 'safe-local-variable #'always)

(defun org-agent-fire (&rest _)
  "Note that the use at hand left a trace."
  (interactive)
  (push org-agent-doing org-agent-fired)
  nil)

;; What is opened from elsewhere is opened from here.
(push '("\\`/org-agent-remote:" . org-agent-fire) file-name-handler-alist)

(defun org-agent-trap-mode ()
  "Note that a mode is called."
  (org-agent-fire))

(defun org-dblock-write:org-agent-fire (&rest _)
  "Note that a dynamic block is written."
  (org-agent-fire))

(defun org-agent-refuse (&rest _)
  "Answer no question."
  (signal 'quit nil))

(defun org-agent-try (function &rest arguments)
  "Call FUNCTION with ARGUMENTS; errors are of no interest."
  (condition-case nil
      (save-excursion (apply function arguments))
    (error nil)
    (quit nil)))

(defun org-agent-opens (path &optional how &rest _)
  "Note that PATH is opened if a program is to open it or it is elsewhere.
HOW is for a program (16), or `system'."
  (when (or (string-match-p "\\`/[^/:]+:" path) (member how '((16) system)))
    (org-agent-fire)))

(defmacro org-agent-watched (&rest body)
  "Run BODY with every question answered with no, and all that runs code watched."
  `(cl-letf (,@(mapcar (lambda (name) `((symbol-function ',name) #'ignore))
                       '(yes-or-no-p y-or-n-p browse-url org-id-goto org-latex-preview))
             ((symbol-function 'org-open-file) #'org-agent-opens)
             ((symbol-function 'org-cite-basic--parse-bibliography) #'org-agent-fire)
             ,@(mapcar (lambda (name) `((symbol-function ',name) #'org-agent-refuse))
                       '(read-string read-from-minibuffer completing-read read-char
                         read-char-exclusive read-key read-event org-export-dispatch))
             ,@(mapcar (lambda (name) `((symbol-function ',name) #'org-agent-fire))
                       '(shell-command async-shell-command start-process start-file-process
                         process-file start-process-shell-command call-process-shell-command
                         url-retrieve url-retrieve-synchronously url-insert-file-contents
                         url-copy-file)))
     ,@body))

;;;; Uses

(defun org-agent-on-block-p ()
  "Return non-nil when point is on a block of source."
  (eq (org-element-type (org-element-at-point)) 'src-block))

(defun org-agent-each-place (function)
  "Call FUNCTION at the places of the buffer where something may be.
The text is as it was before each."
  (let ((text (buffer-string)) places)
    (goto-char (point-min))
    (while (not (eobp))
      (skip-chars-forward " \t")
      (push (point) places)
      (while (re-search-forward "[[<|(_]\\|\\<[a-z+]+:" (line-end-position) t)
        (push (point) places))
      (forward-line))
    (dolist (place (nreverse (delete-dups places)))
      (goto-char (min place (point-max)))
      (let ((org-confirm-babel-evaluate (lambda (&rest _) (org-agent-on-block-p))))
        (org-agent-try function))
      (unless (equal (buffer-string) text)
        (erase-buffer)
        (insert text)))))

(defun org-agent-open-from-agenda ()
  "Open the links that the agenda finds in the entries, as it opens them."
  (org-map-entries
   (lambda ()
     (let ((end (save-excursion (outline-next-heading) (point))))
       (while (re-search-forward org-link-any-re end t)
         (unless (save-match-data (org-agent-on-block-p))
           (org-agent-try #'org-link-open-from-string (match-string 0))))))))

(defun org-agent-export (backend)
  "Export the buffer by BACKEND and look for what is to be text."
  (let* ((case-fold-search nil)
         (text (replace-regexp-in-string
                "\\\\begin{verbatim}\\(?:.\\|\n\\)*?\\\\end{verbatim}" ""
                (org-export-as backend))))
    (when (string-match-p
           (pcase backend
             ('html "<script>RAWTRAP\\|on[a-z]+=\"RAWTRAP\\|SECRETTRAP")
             ((or 'ascii 'md) "^[ \t]*RAWTRAP\\|SECRETTRAP")
             (_ "\\(?:^\\|[^\\]\\)%RAWTRAP\\|\\\\input{RAWTRAP\\|\\\\begin{filecontents}\\|SECRETTRAP"))
           text)
      (org-agent-fire))
    (when (and (eq backend 'html) (not (string-search "class=\"author\"" text)))
      (org-agent-fire))))

(defun org-agent-settings ()
  "Return the settings of this Org file."
  (org-mode-restart)
  (list org-todo-keywords-1 org-file-tags org-current-tag-alist org-startup-with-inline-images
        org-log-into-drawer org-priority-lowest org-columns-default-format
        org-table-formula-constants-local org-link-abbrev-alist-local org-keyword-properties
        org-archive-location (org-collect-keywords '("MACRO"))))

(defun org-agent-refile (directory)
  "Refile the entries of the buffer into a file of the person's in DIRECTORY.
Its settings are to stay, and so is what a table there evaluates to."
  (let ((file (expand-file-name "person.org" directory)) before)
    (write-region "* Mine\n" nil file nil 'silent)
    (with-current-buffer (find-file-noselect file)
      (setq before (org-agent-settings)))
    (goto-char (point-min))
    (let ((org-refile-targets `((,file :maxlevel . 1))))
      (org-refile nil nil (list "Mine" file nil 1)))
    (with-current-buffer (find-file-noselect file)
      (unless (equal before (org-agent-settings))
        (org-agent-fire))
      (set-buffer-modified-p nil)
      (kill-buffer))
    (delete-file file)))

(defun org-agent-in-entry (function)
  "Call FUNCTION in the last entry of the buffer."
  (goto-char (point-max))
  (org-back-to-heading t)
  (funcall function))

(defconst org-agent-uses
  `(("display" . ,(lambda (_) (font-lock-ensure)))
    ("C-c-C-c" . ,(lambda (_) (org-agent-each-place #'org-ctrl-c-ctrl-c)))
    ("TAB" . ,(lambda (_)
                (org-agent-each-place (lambda ()
                                        (if (org-at-table-p)
                                            (progn (skip-chars-forward " ") (org-table-next-field))
                                          (org-cycle))))))
    ("open" . ,(lambda (_)
                 (org-agent-each-place #'org-open-at-point)
                 (org-agent-each-place (lambda () (forward-char 2) (org-open-at-point)))))
    ("link" . ,(lambda (_) (org-agent-open-from-agenda)))
    ,@(mapcar (lambda (backend)
                (cons (symbol-name backend) (lambda (_) (org-agent-export backend))))
              '(ascii html latex md icalendar beamer odt))
    ("tangle" . ,(lambda (_) (org-babel-tangle)))
    ("agenda" . ,(lambda (_)
                   (let ((org-agenda-files (list (buffer-file-name)))
                         (org-agenda-sticky nil))
                     (save-window-excursion
                       (org-agenda-list nil nil 1)
                       (org-todo-list)
                       (org-tags-view nil "x")))))
    ("columns" . ,(lambda (_) (goto-char (point-min)) (org-columns) (org-columns-quit)))
    ("attach" . ,(lambda (_)
                   (org-agent-in-entry
                    (lambda ()
                      (write-region "x" nil "attachment.txt" nil 'silent)
                      (unwind-protect
                          (let ((org-attach-id-dir (expand-file-name "data" default-directory)))
                            (org-attach-attach "attachment.txt" nil 'cp))
                        (delete-file "attachment.txt"))))))
    ("archive" . ,(lambda (_) (org-agent-in-entry #'org-archive-subtree)))
    ("refile" . ,(lambda (directory) (org-agent-refile directory)))
    ("export-file" . ,(lambda (_)
                        (org-export-output-file-name ".txt")
                        (org-ascii-export-to-ascii)
                        (org-agent-in-entry (lambda () (org-ascii-export-to-ascii nil t))))))
  "What is done with a file, by name.
Each is called with the directory of the file.")

(defun org-agent-outside (directory)
  "Note what was written beside the file, or outside of DIRECTORY."
  (let ((outside (expand-file-name "../outside" directory)))
    (dolist (file (directory-files outside t directory-files-no-dot-files-regexp))
      (unless (string-suffix-p "secret.org" file)
        (org-agent-fire)
        (if (file-directory-p file) (delete-directory file t) (delete-file file))))
    (dolist (name '(".dir-locals.el" "a/skills"))
      (when (file-exists-p (expand-file-name name directory))
        (org-agent-fire)))
    (dolist (file (directory-files directory t directory-files-no-dot-files-regexp))
      (unless (string-suffix-p "/conversation.org" file)
        (if (file-directory-p file) (delete-directory file t) (delete-file file))))
    (ignore-errors (delete-file (expand-file-name ".dir-locals.el" directory)))))

(defun org-agent-use (text uses)
  "Do with a file of TEXT what USES name, nil for all; return what left a trace."
  (setq org-agent-fired nil org-agent-canary nil)
  (let* ((root (file-name-as-directory (make-temp-file "held" t)))
         (directory (file-name-as-directory (expand-file-name "inside" root)))
         (outside (expand-file-name "outside" root))
         (secret (expand-file-name "secret.org" outside))
         (file (expand-file-name "conversation.org" directory))
         (default-directory directory)
         (text (replace-regexp-in-string
                "/@SECRET@" secret (replace-regexp-in-string "/@OUTSIDE@" outside text t t) t t))
         (text (concat "* Top\n" text))
         (coding-system-for-write 'utf-8-unix)
         (inhibit-message t)
         (make-backup-files nil)
         (create-lockfiles nil)
         (org-src-fontify-natively t)
         (org-link-elisp-confirm-function nil)
         (org-link-shell-confirm-function nil)
         (org-confirm-babel-evaluate nil)
         (org-export-allow-bind-keywords t)
         (org-export-with-broken-links t)
         (org-export-with-author t)
         (user-full-name "Somebody")
         (org-icalendar-include-sexps t)
         (org-table-formula-evaluate-inline t)
         (org-id-method 'org)           ; by itself, without a program
         (org-agenda-inhibit-startup nil)
         (org-archive-location "%s_archive::"))
    (make-directory directory t)
    (make-directory outside)
    (write-region "SECRETTRAP\n#+TODO: TRAPPED | X\n" nil secret nil 'silent)
    (unwind-protect
        (org-agent-watched
         (pcase-dolist (`(,name . ,function) org-agent-uses)
           (when (or (null uses) (member name uses) (member "visit" uses))
             (setq org-agent-doing "visit")
             (write-region text nil file nil 'silent)
             ;; As people have it: what is safe is set, what is not is asked about.
             (with-current-buffer (let ((enable-local-variables t)
                                        (enable-local-eval 'maybe))
                                    (find-file-noselect file t))
               (when org-agent-canary
                 (setq org-agent-canary nil)
                 (org-agent-fire))
               (setq org-agent-doing name)
               (goto-char (point-min))
               (unless (equal uses '("visit"))
                 (org-agent-try function directory))
               (org-agent-outside directory)
               (set-buffer-modified-p nil)
               (kill-buffer)))))
      (dolist (buffer (buffer-list))
        (let ((name (buffer-file-name buffer)))
          (when (and name (string-prefix-p root name))
            (with-current-buffer buffer
              (set-buffer-modified-p nil)
              (kill-buffer)))))
      (delete-directory root t)))
  (vconcat (delete-dups org-agent-fired)))

(defun org-agent-use-case (&optional change)
  "Do what the first line of the current buffer names with the rest.
With CHANGE, a function, do it with what that makes of the rest."
  (goto-char (point-min))
  (let ((uses (split-string (buffer-substring (point) (line-end-position)))))
    (forward-line)
    (org-agent-use (funcall (or change #'identity)
                            (buffer-substring (point) (point-max)))
                   uses)))

(defun org-agent-use-checked-case ()
  "Do the same with the rest as the client's own check leaves it."
  (org-agent-use-case #'org-agent-inert))

(defun org-agent-use-text ()
  "Do all there is with the current buffer; return what left a trace."
  (org-agent-use (buffer-string) nil))

(defun org-agent-use-checked-text ()
  "Do the same with the current buffer as the client's own check leaves it."
  (org-agent-use (org-agent-inert (buffer-string)) nil))

;;; use.el ends here
