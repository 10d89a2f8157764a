;;; org-agent-conventions-test.el --- Tests of Emacs's conventions in every file  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The compiler and checkdoc do not check these conventions: options have
;; types that match their values, faces inherit, C-h m shows every key of
;; every mode, and no key is reserved for users.  A name shows the file that
;; defines it, and a private one is used in that file only.  Loading a file
;; has no effects, and loads only what is used.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'wid-edit)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-chat)

(defvar org-agent-ask-buffer)

(defun org-agent-conventions-test--each (function)
  "Call FUNCTION with every symbol of ours, everything being loaded."
  (org-agent-fake-load-all)
  (mapatoms (lambda (symbol)
              (when (string-prefix-p "org-agent" (symbol-name symbol))
                (funcall function symbol)))))

(ert-deftest org-agent-conventions-options-have-types ()
  "Every option has a type, a version and a default of its type."
  (let ((count 0))
    (org-agent-conventions-test--each
     (lambda (symbol)
       (when (and (get symbol 'standard-value)
                  (not (string-suffix-p "-hook" (symbol-name symbol))))
         (cl-incf count)
         (ert-info ((symbol-name symbol))
           (should (get symbol 'custom-type))
           (should (or (eq 'org-agent (car (get symbol 'custom-package-version)))
                       (commandp symbol))) ; the variable of a mode
           (should (widget-apply (widget-convert (get symbol 'custom-type))
                                 :match
                                 (eval (car (get symbol 'standard-value)) t)))))))
    (should (> count 20))))

(ert-deftest org-agent-conventions-faces-inherit ()
  "Every face is another one by another name, so that themes fit.
One that has colours has them for light and for dark, and does without on
a terminal of few colours."
  (let ((count 0))
    (org-agent-conventions-test--each
     (lambda (symbol)
       (let ((spec (get symbol 'face-defface-spec)) backgrounds)
         (pcase-dolist (`(,where . ,what) spec)
           (cl-incf count)
           (ert-info ((symbol-name symbol))
             (if (or (eq where t)
                     (not (cl-intersection '(:background :foreground)
                                           (flatten-tree what))))
                 (should-not (cl-set-difference
                              (cl-remove-if-not #'keywordp (flatten-tree what))
                              '(:inherit :weight :extend)))
               (should (equal (assq 'min-colors where) '(min-colors 88)))
               (push (cadr (assq 'background where)) backgrounds))))
         (should (member (sort backgrounds #'string<) '(() (dark light)))))))
    (should (> count 3))))

(defun org-agent-conventions-test--keys (map prefix)
  "Return the commands of ours in MAP, after PREFIX, (KEYS . COMMAND)."
  (let (all)
    (map-keymap-internal
     (lambda (key binding)
       (let ((keys (vconcat prefix (vector key)))
             (binding (if (stringp (car-safe binding)) (cdr binding) binding)))
         (cond ((keymapp binding)
                (setq all (append (org-agent-conventions-test--keys binding keys) all)))
               ((and binding (symbolp binding)
                     (string-prefix-p "org-agent-" (symbol-name binding)))
                (push (cons (key-description keys) binding) all)))))
     map)
    all))

(ert-deftest org-agent-conventions-help-tells-all ()
  "The help of every mode names its keys, and each key is bound to a command."
  (let ((count 0))
    (org-agent-conventions-test--each
     (lambda (symbol)
       (when (and (string-suffix-p "-mode-map" (symbol-name symbol))
                  (boundp symbol))
         (let* ((mode (intern (string-remove-suffix "-map" (symbol-name symbol))))
                (map (symbol-value symbol))
                (help (with-temp-buffer
                        (use-local-map map)
                        (substring-no-properties
                         (substitute-command-keys (documentation mode))))))
           (pcase-dolist (`(,keys . ,command) (org-agent-conventions-test--keys map []))
             (cl-incf count)
             (ert-info ((format "%s %s %s" mode keys command))
               (should (commandp command))
               (should (string-match-p
                        (format "\\(?:\\`\\|[^[:alpha:]]\\)%s\\(?:[^[:alpha:]]\\|\\'\\)\\|%s"
                                (regexp-quote keys) command)
                        help))))))))
    (should (> count 50))))

;;;; Names and files

(defconst org-agent-conventions-test--kept-names
  '((org-agent-bookmark-jump . "bookmarks of people name it")
    (org-agent-complete-dismiss . "people bind it to a key")
    (org-agent-goto-restored . "Emacs calls it for a mode of ours")
    (org-agent-tasks-agenda . "people name it in `org-agenda-custom-commands'")
    (org-babel-execute:org-agent-chat . "Babel calls it for a block"))
  "Functions that people name in what is theirs, and why.
They need neither the prefix of their file nor anything that calls them.")

(defun org-agent-conventions-test--forms (file)
  "Return the toplevel forms of FILE, a name without directory and suffix."
  (with-temp-buffer
    (insert-file-contents (locate-library (concat file ".el")))
    (let (forms)
      (ignore-error end-of-file
        (while t (push (read (current-buffer)) forms)))
      (nreverse forms))))

(defun org-agent-conventions-test--symbols (form)
  "Return the symbols of ours in FORM."
  (let (found)
    (cl-labels ((walk (thing)
                  (cond ((consp thing)
                         (while (consp thing) (walk (pop thing)))
                         (walk thing))
                        ((vectorp thing) (mapc #'walk thing))
                        ((and thing (symbolp thing)
                              (string-prefix-p "org-agent" (symbol-name thing)))
                         (push thing found)))))
      (walk form))
    (delete-dups found)))

(defun org-agent-conventions-test--defined (form)
  "Return the symbol that FORM, of the toplevel, defines, or nil."
  (pcase form
    (`(defvar ,_) nil)                  ; a declaration
    (`(,(or 'defun 'defmacro 'defsubst 'cl-defun 'cl-defmacro 'defvar
            'defvar-local 'defconst 'defcustom 'defface 'defgroup
            'define-minor-mode 'define-derived-mode
            'define-globalized-minor-mode 'transient-define-prefix
            'cl-defstruct 'cl-defgeneric)
       ,name . ,_)
     (if (consp name) (car name) name))
    (`(,(or 'defalias 'define-error) ',name . ,_) name)))

(defun org-agent-conventions-test--public-p (symbol)
  "Return non-nil when people name SYMBOL, such as a command, an option or a mode."
  (or (commandp symbol) (facep symbol)
      ;; A mode has its hook.
      (and (string-suffix-p "-mode" (symbol-name symbol))
           (boundp (intern (concat (symbol-name symbol) "-hook"))))
      (get symbol 'custom-type) (get symbol 'group-documentation)
      (and (string-suffix-p "-mode-map" (symbol-name symbol))
           (org-agent-conventions-test--public-p
            (intern (string-remove-suffix "-map" (symbol-name symbol)))))))

(ert-deftest org-agent-conventions-names-say-the-file ()
  "Every definition has the prefix of its file, except commands and the like."
  (org-agent-fake-load-all)
  (dolist (file (org-agent-fake-files))
    (let ((prefix (if (equal file "ob-org-agent") "org-agent-babel" file)))
      (dolist (form (org-agent-conventions-test--forms file))
        (when-let* ((symbol (org-agent-conventions-test--defined form))
                    (name (symbol-name symbol)))
          (ert-info ((format "%s: %s" file name))
            (should (or (equal name prefix)
                        (string-prefix-p (concat prefix "-") name)
                        ;; What Babel looks for is named as it looks for it.
                        (string-match-p "\\`org-babel-[a-z-]+:org-agent\\(?:-chat\\)?\\'" name)
                        (assq symbol org-agent-conventions-test--kept-names)
                        (org-agent-conventions-test--public-p symbol)))))))))

(ert-deftest org-agent-conventions-private-names-stay ()
  "No file uses a name with two hyphens that another one defines."
  (let ((home (make-hash-table)))
    (dolist (file (org-agent-fake-files))
      (dolist (form (org-agent-conventions-test--forms file))
        (when-let* ((symbol (org-agent-conventions-test--defined form)))
          (puthash symbol file home))))
    (dolist (file (org-agent-fake-files))
      (dolist (symbol (org-agent-conventions-test--symbols
                       (org-agent-conventions-test--forms file)))
        (when (string-match-p "--" (symbol-name symbol))
          (ert-info ((format "%s: %s of %s" file symbol (gethash symbol home)))
            (should (member (gethash symbol home) (list nil file)))))))))

;; What a file does when it is loaded, besides defining.

(defconst org-agent-conventions-test--defining
  '(defun defmacro defsubst defvar defvar-local defconst defcustom defface
     defgroup defalias cl-defun cl-defmacro cl-defgeneric cl-defmethod
     cl-defstruct define-error define-minor-mode define-derived-mode
     define-globalized-minor-mode transient-define-prefix
     org-agent-menu--define declare-function
     require provide put)
  "The forms of the toplevel that define something, or say what it needs.")

(defun org-agent-conventions-test--ours-p (form)
  "Return non-nil when FORM, of the toplevel, changes only what is ours."
  (pcase form
    (`(,(pred (lambda (head) (memq head org-agent-conventions-test--defining))) . ,_) t)
    (`(,(or 'dolist 'let 'unless) ,_ . ,body)
     (cl-every #'org-agent-conventions-test--ours-p body))
    (`(define-key ,map . ,_)
     (or (eq map 'map) (string-prefix-p "org-agent-" (symbol-name map))))
    ;; As every definition of a minor mode does.
    (`(push (cons ',variable ,_) minor-mode-map-alist)
     (string-prefix-p "org-agent-" (symbol-name variable)))
    (`(org-link-set-parameters ,type . ,_) (string-prefix-p "org-agent" type))
    ;; How a language of blocks says in which mode they are edited.
    (`(with-eval-after-load 'org-src (add-to-list 'org-src-lang-modes '(,language . ,_)))
     (string-prefix-p "org-agent-" language))
    ;; How a mode says what restores its buffers.
    (`(add-to-list 'desktop-buffer-mode-handlers '(,mode . ,_))
     (string-prefix-p "org-agent-" (symbol-name mode)))
    (`(load (expand-file-name ,file . ,_) . ,_)
     (equal file "org-agent-autoloads"))))

(ert-deftest org-agent-conventions-nothing-happens-at-load ()
  "Loading a file only defines its own names.
It adds no hook, advice, timer, option or key of others."
  (dolist (file (org-agent-fake-files))
    (dolist (form (org-agent-conventions-test--forms file))
      (ert-info ((format "%s: %S" file form))
        (should (org-agent-conventions-test--ours-p form)))))
  (should-not (org-agent-conventions-test--ours-p '(add-hook 'org-mode-hook #'f)))
  (should-not (org-agent-conventions-test--ours-p
               '(unless done (run-with-idle-timer 1 t #'f)))))

(ert-deftest org-agent-conventions-loads-what-it-uses ()
  "A file requires another one of ours only if it uses a definition of it."
  (org-agent-fake-load-all)
  (let ((home (make-hash-table)) unused)
    (dolist (file (org-agent-fake-files))
      (dolist (form (org-agent-conventions-test--forms file))
        (when-let* ((symbol (org-agent-conventions-test--defined form)))
          (puthash symbol file home))))
    (dolist (file (org-agent-fake-files))
      (let* ((forms (org-agent-conventions-test--forms file))
             (used (mapcar (lambda (symbol)
                             (or (gethash symbol home)
                                 ;; What defining a structure defines.
                                 (when-let* ((where (symbol-file symbol 'defun)))
                                   (file-name-base where))))
                           (org-agent-conventions-test--symbols
                            (cl-remove 'require forms :key #'car)))))
        (dolist (form forms)
          (pcase form
            (`(require ',(and feature (guard (string-prefix-p
                                              "org-agent" (symbol-name feature)))))
             (unless (or (member (symbol-name feature) used)
                         ;; That is where the autoloads are.
                         (eq feature 'org-agent))
               (push (list file 'requires feature) unused)))))))
    (should-not unused)))

(defun org-agent-conventions-test--autoloads ()
  "Return what the autoloads know, an alist of functions and files."
  (with-temp-buffer
    (insert-file-contents (locate-library "org-agent-autoloads.el"))
    (let (known)
      (while (re-search-forward "^ *(autoload '\\(\\S-+\\) \"\\([^\"]+\\)\"" nil t)
        (push (cons (intern (match-string 1)) (match-string 2)) known))
      known)))

(ert-deftest org-agent-conventions-declared-is-autoloaded ()
  "A function that is declared and not required is autoloaded."
  (let ((known (org-agent-conventions-test--autoloads)))
    (dolist (file (org-agent-fake-files))
      (dolist (form (org-agent-conventions-test--forms file))
        (pcase form
          (`(declare-function ,symbol ,(and (pred (string-prefix-p "org-agent"))
                                            home))
           (ert-info ((format "%s: %s" file symbol))
             (should (equal (cdr (assq symbol known)) home)))))))
    (pcase-dolist (`(,_ . ,function) (append org-agent-performers
                                             org-agent-requests
                                             org-agent-notifications))
      (ert-info ((symbol-name function))
        (should (assq function known))))))

(defun org-agent-conventions-test--loaded-with (file)
  "Return FILE and the files of ours that are loaded with it."
  (let ((rest (list file)) all)
    (while rest
      (let ((file (pop rest)))
        (unless (member file all)
          (push file all)
          (dolist (form (org-agent-conventions-test--forms file))
            (pcase form
              (`(require ',(and feature
                                (guard (string-prefix-p "org-agent"
                                                        (symbol-name feature)))))
               (push (symbol-name feature) rest)))))))
    all))

(ert-deftest org-agent-conventions-declared-variables-are-bound ()
  "A variable of another file that a file only declares is bound when it is used.
The other file is loaded with this one, or loads this one as a part of
itself, or the variable is looked at with `bound-and-true-p'."
  (let ((home (make-hash-table)))
    (dolist (file (org-agent-fake-files))
      (dolist (form (org-agent-conventions-test--forms file))
        (when-let* ((symbol (org-agent-conventions-test--defined form)))
          (puthash symbol file home))))
    (dolist (file (org-agent-fake-files))
      (let ((forms (org-agent-conventions-test--forms file)))
        (dolist (form forms)
          (pcase form
            (`(defvar ,(and symbol (guard (gethash symbol home))))
             (let ((other (gethash symbol home)))
               (ert-info ((format "%s: %s of %s" file symbol other))
                 (should (or (member other (org-agent-conventions-test--loaded-with file))
                             (member file (org-agent-conventions-test--loaded-with other))
                             (string-search (format "(bound-and-true-p %s)" symbol)
                                            (format "%S" forms)))))))))))))

(ert-deftest org-agent-conventions-autoloads-are-needed ()
  "Each autoload is a command, or is called by another file or by Emacs.
A command without an autoload is bound only in its own file."
  (org-agent-fake-load-all)
  (let ((known (org-agent-conventions-test--autoloads))
        (uses (make-hash-table)))
    (dolist (file (org-agent-fake-files))
      (dolist (form (org-agent-conventions-test--forms file))
        (dolist (symbol (org-agent-conventions-test--symbols form))
          (unless (eq symbol (org-agent-conventions-test--defined form))
            (cl-pushnew file (gethash symbol uses) :test #'equal)))))
    (pcase-dolist (`(,symbol . ,file) known)
      (ert-info ((format "%s has an autoload for %s" file symbol))
        (should (or (commandp symbol)
                    (assq symbol org-agent-conventions-test--kept-names)
                    (remove file (gethash symbol uses))))))
    (dolist (file (org-agent-fake-files))
      (dolist (form (org-agent-conventions-test--forms file))
        (when-let* ((symbol (org-agent-conventions-test--defined form)))
          (when (and (commandp symbol) (not (assq symbol known)))
            (ert-info ((format "%s has no autoload for %s" file symbol))
              (should (or (member file (gethash symbol uses))
                          (assq symbol org-agent-conventions-test--kept-names)
                          (string-suffix-p "-mode" (symbol-name symbol)))))))))))

(ert-deftest org-agent-conventions-windows-are-chosen-by-emacs ()
  "No file puts a buffer into a window past `display-buffer'."
  (let ((past '(switch-to-buffer switch-to-buffer-other-window set-window-buffer
                find-file find-file-other-window find-file-read-only
                split-window split-window-below split-window-right
                delete-other-windows))
        (count 0))
    (dolist (file (org-agent-fake-files))
      (dolist (form (org-agent-conventions-test--forms file))
        (dolist (part (flatten-tree form))
          (when (memq part '(display-buffer pop-to-buffer pop-to-buffer-same-window))
            (cl-incf count))
          (ert-info ((format "%s: %s" file part))
            (should-not (memq part past))))))
    (should (> count 40))))

(ert-deftest org-agent-conventions-windows-obey-the-user ()
  "A rule of `display-buffer-alist' holds for every buffer that a command shows."
  (org-agent-fake-with-chat
    (org-agent-fake-load-all)
    (let* (ruled
           (display-buffer-alist
            `(("\\`\\*org-agent" ,(lambda (buffer alist)
                                    (push (buffer-name buffer) ruled)
                                    (display-buffer-same-window buffer alist))))))
      (save-window-excursion
        (pcase-dolist (`(,command . ,name)
                       '((org-agent-chat . "*org-agent-chat*")
                         (org-agent-sessions . "*org-agent-sessions*")
                         (org-agent-skills . "*org-agent-skills*")
                         (org-agent-memory . "*org-agent-memory*")
                         (org-agent-usage . "*org-agent-usage*")
                         (org-agent-approvals . "*org-agent-approvals*")
                         (org-agent-policy . "*org-agent-policy*")
                         (org-agent-status . "*org-agent-status*")
                         (org-agent-log . "*org-agent-log*")))
          (setq ruled nil)
          (delete-other-windows)
          (ert-info ((symbol-name command))
            (with-current-buffer "*org-agent-chat*"
              (call-interactively command)
              (should (equal ruled (list name)))
              (should (equal (buffer-name (window-buffer)) name))
              (should (one-window-p))))))
      (org-agent-ask-show "none" (get-buffer "*org-agent-chat*"))
      (should (member org-agent-ask-buffer ruled))
      (dolist (buffer (buffer-list))
        (when (and (string-prefix-p "*org-agent" (buffer-name buffer))
                   (not (equal (buffer-name buffer) "*org-agent-chat*")))
          (kill-buffer buffer))))))

(ert-deftest org-agent-conventions-manuals-name-commands ()
  "Every command that a manual names is autoloaded."
  (let ((known (org-agent-conventions-test--autoloads))
        (count 0))
    (dolist (manual '("org-agent.org" "../README.org"))
      (with-temp-buffer
        (insert-file-contents (expand-file-name manual org-agent-directory))
        (while (re-search-forward "=M-x \\(org-agent[a-z-]*\\)=" nil t)
          (cl-incf count)
          (ert-info ((match-string 1))
            (should (assq (intern (match-string 1)) known))))))
    (should (> count 40))))

(ert-deftest org-agent-conventions-texts-name-commands ()
  "Every command that any text names, of Emacs or the kernel, is one."
  (org-agent-fake-load-all)
  (let ((root (expand-file-name ".." org-agent-directory))
        (case-fold-search nil) (count 0))
    (dolist (file (append
                   (mapcar (lambda (name)
                             (expand-file-name (concat name ".el") org-agent-directory))
                           (org-agent-fake-files))
                   (directory-files-recursively (expand-file-name "elisp" root) "\\.org\\'")
                   (directory-files-recursively (expand-file-name "skills" root) "\\.\\(?:org\\|md\\)\\'")
                   (cl-remove-if
                    (lambda (file) (string-match-p "_test\\.go\\'\\|/testdata/" file))
                    (directory-files-recursively (expand-file-name "kernel" root)
                                                 "\\.\\(?:go\\|org\\)\\'"))
                   (list (expand-file-name "README.org" root))))
      (with-temp-buffer
        (insert-file-contents file)
        (while (re-search-forward
                "\\(?:M-x[ \n]+\\|\\\\\\[\\)[=~`']?\\(org-agent[a-z-]*\\)" nil t)
          (cl-incf count)
          (ert-info ((format "%s: %s" file (match-string 1)))
            (should (commandp (intern (match-string 1))))))))
    (should (> count 300))))

(ert-deftest org-agent-conventions-modes-are-not-offered ()
  "No major mode of ours is a command: each needs the buffer it was made for."
  (org-agent-conventions-test--each
   (lambda (symbol)
     (when (and (string-suffix-p "-mode" (symbol-name symbol))
                (boundp (intern (concat (symbol-name symbol) "-syntax-table"))))
       (ert-info ((symbol-name symbol))
         (should-not (commandp symbol)))))))

(ert-deftest org-agent-conventions-chat-loads-little ()
  "`org-agent-chat' loads twenty files of ours at most, and no Transient."
  (let* ((home (make-temp-file "org-agent-conventions" t))
         (process-environment
          (append (list (concat "HOME=" home) "XDG_STATE_HOME" "ORG_AGENT_HOME")
                  process-environment))
         (loaded
          (with-temp-buffer
            (call-process
             (expand-file-name invocation-name invocation-directory) nil t nil
             "-Q" "--batch" "--eval" "(setq load-prefer-newer t)"
             "-l" (locate-library "org-agent-autoloads.el")
             "--eval" "(setq org-agent-program \"/nowhere\")"
             "--eval" "(org-agent-chat)"
             "--eval" "(print (cons 'loaded features))")
            (goto-char (point-max))
            (search-backward "(loaded ")
            (read (current-buffer)))))
    (delete-directory home t)
    (should (memq 'org-agent-chat loaded))
    (should-not (memq 'transient loaded))
    (should (<= (cl-count-if (lambda (feature)
                               (string-prefix-p "org-agent" (symbol-name feature)))
                             loaded)
                20))))

;;;; Customizing, keys

(ert-deftest org-agent-conventions-groups-by-feature ()
  "Each option is in a customization group of its feature."
  (org-agent-fake-load-all)
  (let ((groups (get 'org-agent 'custom-group)))
    (should (> (length groups) 5))
    (pcase-dolist (`(,member ,kind) groups)
      (ert-info ((symbol-name member))
        (should (or (eq kind 'custom-group)
                    ;; Which program, and where it lives, is of all of it.
                    (memq member '(org-agent-program org-agent-home))))
        (when (eq kind 'custom-group)
          (should (get member 'custom-group)))))))

(ert-deftest org-agent-conventions-keys-of-org-stay ()
  "A conversation rebinds two keys of Org and no other."
  (should (equal (sort (cl-loop for (keys . _) in (org-agent-conventions-test--keys
                                                   org-agent-chat-mode-map [])
                                when (commandp (lookup-key org-mode-map (kbd keys)))
                                collect keys)
                       #'string<)
                 '("C-c C-c" "C-c C-k"))))

(ert-deftest org-agent-conventions-keys-are-ours-to-take ()
  "No map of ours binds a key that is reserved for users, or for help and quit.
Users own the letters after the prefix of modes, and the keys F5 to F9.
The keys that quit and help, and ESC, keep their meaning after a prefix."
  (let ((count 0))
    (org-agent-conventions-test--each
     (lambda (symbol)
       (when (and (boundp symbol) (keymapp (symbol-value symbol)))
         (pcase-dolist (`(,keys . ,command) (org-agent-conventions-test--keys
                                             (symbol-value symbol) []))
           (cl-incf count)
           (ert-info ((format "%s: %s is %s" symbol keys command))
             (let ((case-fold-search nil)
                   (mode (intern (string-remove-suffix
                                  "-map" (symbol-name symbol)))))
               (should-not (string-match-p "\\`C-c [^ ]\\'" keys))
               (should-not (string-match-p "\\(?:\\`\\| \\)<f[5-9]>" keys))
               (should-not (string-match-p
                            "\\(?:\\`\\| \\)\\(?:ESC\\|C-g\\|C-h\\)\\'" keys))
               ;; What a control character or a digit follows is for major
               ;; modes, as are these signs; other signs are for minor ones.
               (when (memq mode minor-mode-list)
                 (should-not (string-match-p
                              "\\`C-c \\(?:C-[a-z]\\|[0-9{}<>:;]\\)" keys)))))))))
    (should (> count 100))))

(ert-deftest org-agent-conventions-repeat-maps ()
  "The commands of a repeat map have the property, and no others.
No key of it is a letter, since that is input for the draft."
  (let ((count 0))
    (org-agent-conventions-test--each
     (lambda (symbol)
       (when (string-suffix-p "-repeat-map" (symbol-name symbol))
         (let ((bound (org-agent-conventions-test--keys (symbol-value symbol) [])))
           (pcase-dolist (`(,keys . ,command) bound)
             (cl-incf count)
             (should (eq (get command 'repeat-map) symbol))
             (should (string-match-p "\\`[CM]-." keys)))))
       (when-let* ((map (get symbol 'repeat-map)))
         (should (rassq symbol (org-agent-conventions-test--keys
                                (symbol-value map) []))))))
    (should (> count 3))))

(provide 'org-agent-conventions-test)
;;; org-agent-conventions-test.el ends here
