;;; org-agent-house-test.el --- Emacs's house rules, of all there is  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What is not looked at by the compiler: options have types that their
;; values are of, faces inherit, and C-h m tells every key of every mode; a
;; name says in which file it is defined and is used there only if it is
;; private; nothing happens when a file is loaded, and little is loaded.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'wid-edit)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-chat)

(defun org-agent-house-test--each (function)
  "Call FUNCTION with every symbol of ours, everything being loaded."
  (org-agent-fake-load-all)
  (mapatoms (lambda (symbol)
              (when (string-prefix-p "org-agent" (symbol-name symbol))
                (funcall function symbol)))))

(ert-deftest org-agent-house-options-have-types ()
  "Every option says what it is, and is that."
  (let ((count 0))
    (org-agent-house-test--each
     (lambda (symbol)
       (when (and (get symbol 'standard-value)
                  (not (string-suffix-p "-hook" (symbol-name symbol))))
         (cl-incf count)
         (ert-info ((symbol-name symbol))
           (should (get symbol 'custom-type))
           (should (widget-apply (widget-convert (get symbol 'custom-type))
                                 :match
                                 (eval (car (get symbol 'standard-value)) t)))))))
    (should (> count 20))))

(ert-deftest org-agent-house-faces-inherit ()
  "Every face is another one by another name, so that themes fit."
  (let ((count 0))
    (org-agent-house-test--each
     (lambda (symbol)
       (dolist (clause (get symbol 'face-defface-spec))
         (cl-incf count)
         (ert-info ((symbol-name symbol))
           (should (equal (cl-remove-if-not #'keywordp (flatten-tree (cdr clause)))
                          '(:inherit)))))))
    (should (> count 3))))

(defun org-agent-house-test--keys (map prefix)
  "Return the commands of ours in MAP, behind PREFIX, (KEYS . COMMAND)."
  (let (all)
    (map-keymap-internal
     (lambda (key binding)
       (let ((keys (vconcat prefix (vector key)))
             (binding (if (stringp (car-safe binding)) (cdr binding) binding)))
         (cond ((keymapp binding)
                (setq all (append (org-agent-house-test--keys binding keys) all)))
               ((and binding (symbolp binding)
                     (string-prefix-p "org-agent-" (symbol-name binding)))
                (push (cons (key-description keys) binding) all)))))
     map)
    all))

(ert-deftest org-agent-house-help-tells-all ()
  "The help of every mode of ours names its keys, each of a command."
  (let ((count 0))
    (org-agent-house-test--each
     (lambda (symbol)
       (when (and (string-suffix-p "-mode-map" (symbol-name symbol))
                  (boundp symbol))
         (let* ((mode (intern (string-remove-suffix "-map" (symbol-name symbol))))
                (map (symbol-value symbol))
                (help (with-temp-buffer
                        (use-local-map map)
                        (substring-no-properties
                         (substitute-command-keys (documentation mode))))))
           (pcase-dolist (`(,keys . ,command) (org-agent-house-test--keys map []))
             (cl-incf count)
             (ert-info ((format "%s %s %s" mode keys command))
               (should (commandp command))
               (should (string-match-p
                        (format "\\(?:\\`\\|[^[:alpha:]]\\)%s\\(?:[^[:alpha:]]\\|\\'\\)\\|%s"
                                (regexp-quote keys) command)
                        help))))))))
    (should (> count 50))))

;;;; Names and files

(defconst org-agent-house-test--kept-names
  '((org-agent-bookmark-jump . "bookmarks of people name it"))
  "Functions with names that are kept though they lack their file's prefix.")

(defun org-agent-house-test--forms (file)
  "Return the toplevel forms of FILE, a name without directory and suffix."
  (with-temp-buffer
    (insert-file-contents (locate-library (concat file ".el")))
    (let (forms)
      (ignore-error end-of-file
        (while t (push (read (current-buffer)) forms)))
      (nreverse forms))))

(defun org-agent-house-test--symbols (form)
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

(defun org-agent-house-test--defined (form)
  "Return the symbol that FORM, of the toplevel, defines, or nil."
  (pcase form
    (`(defvar ,_) nil)                  ; a declaration
    (`(,(or 'defun 'defmacro 'defsubst 'cl-defun 'cl-defmacro 'defvar
            'defvar-local 'defconst 'defcustom 'defface 'defgroup
            'define-minor-mode 'define-derived-mode
            'define-globalized-minor-mode 'transient-define-prefix
            'cl-defstruct)
       ,name . ,_)
     (if (consp name) (car name) name))
    (`(,(or 'defalias 'define-error) ',name . ,_) name)))

(defun org-agent-house-test--public-p (symbol)
  "Return non-nil when people call SYMBOL by its name, as a command or an option."
  (or (commandp symbol) (facep symbol)
      (get symbol 'custom-type) (get symbol 'group-documentation)
      (and (string-suffix-p "-mode-map" (symbol-name symbol))
           (commandp (intern (string-remove-suffix "-map" (symbol-name symbol)))))))

(ert-deftest org-agent-house-names-say-the-file ()
  "Every definition has its file's prefix but what people call by its name."
  (org-agent-fake-load-all)
  (dolist (file (org-agent-fake-files))
    (let ((prefix (if (equal file "ob-org-agent") "org-agent-babel" file)))
      (dolist (form (org-agent-house-test--forms file))
        (when-let* ((symbol (org-agent-house-test--defined form))
                    (name (symbol-name symbol)))
          (ert-info ((format "%s: %s" file name))
            (should (or (equal name prefix)
                        (string-prefix-p (concat prefix "-") name)
                        ;; What Babel looks for is named as it looks for it.
                        (string-match-p "\\`org-babel-[a-z-]+:org-agent\\'" name)
                        (assq symbol org-agent-house-test--kept-names)
                        (org-agent-house-test--public-p symbol)))))))))

(ert-deftest org-agent-house-private-names-stay ()
  "No file uses a name with two hyphens that another one defines."
  (let ((home (make-hash-table)))
    (dolist (file (org-agent-fake-files))
      (dolist (form (org-agent-house-test--forms file))
        (when-let* ((symbol (org-agent-house-test--defined form)))
          (puthash symbol file home))))
    (dolist (file (org-agent-fake-files))
      (dolist (symbol (org-agent-house-test--symbols
                       (org-agent-house-test--forms file)))
        (when (string-match-p "--" (symbol-name symbol))
          (ert-info ((format "%s: %s of %s" file symbol (gethash symbol home)))
            (should (member (gethash symbol home) (list nil file)))))))))

(ert-deftest org-agent-house-nothing-happens-at-load ()
  "No file adds to a hook, advises, or binds a key of others when it is loaded."
  (dolist (file (org-agent-fake-files))
    (dolist (form (org-agent-house-test--forms file))
      (ert-info ((format "%s: %S" file form))
        (should-not (memq (car form)
                          '(add-hook advice-add global-set-key run-with-timer
                            run-with-idle-timer add-to-list)))))))

(defun org-agent-house-test--autoloads ()
  "Return what the autoloads know, an alist of functions and files."
  (with-temp-buffer
    (insert-file-contents (locate-library "org-agent-autoloads.el"))
    (let (known)
      (while (re-search-forward "^ *(autoload '\\(\\S-+\\) \"\\([^\"]+\\)\"" nil t)
        (push (cons (intern (match-string 1)) (match-string 2)) known))
      known)))

(ert-deftest org-agent-house-declared-is-autoloaded ()
  "What a file declares instead of requiring its file comes when it is called."
  (let ((known (org-agent-house-test--autoloads)))
    (dolist (file (org-agent-fake-files))
      (dolist (form (org-agent-house-test--forms file))
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

(ert-deftest org-agent-house-manuals-name-commands ()
  "Who has only the autoloads has every command that a manual names."
  (let ((known (org-agent-house-test--autoloads))
        (count 0))
    (dolist (manual '("README.org" "../README.org"))
      (with-temp-buffer
        (insert-file-contents (expand-file-name manual org-agent-directory))
        (while (re-search-forward "=M-x \\(org-agent[a-z-]*\\)=" nil t)
          (cl-incf count)
          (ert-info ((match-string 1))
            (should (assq (intern (match-string 1)) known))))))
    (should (> count 40))))

(ert-deftest org-agent-house-chat-loads-little ()
  "`org-agent-chat' loads twenty files of ours at most, and no Transient."
  (let* ((home (make-temp-file "org-agent-house" t))
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

(ert-deftest org-agent-house-groups-by-feature ()
  "What can be customized stands in a group of its feature."
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

(ert-deftest org-agent-house-keys-of-org-stay ()
  "A conversation takes two keys of Org's, and no other."
  (should (equal (sort (cl-loop for (keys . _) in (org-agent-house-test--keys
                                                   org-agent-chat-mode-map [])
                                when (commandp (lookup-key org-mode-map (kbd keys)))
                                collect keys)
                       #'string<)
                 '("C-c C-c" "C-c C-k")))
  ;; What stands behind C-c and is a letter is the person's, and a sign a
  ;; minor mode's.
  (dolist (entry (org-agent-house-test--keys org-agent-chat-mode-map []))
    (should (string-match-p "\\`\\(?:C-c C-\\|[^C]\\)" (car entry)))))

(provide 'org-agent-house-test)
;;; org-agent-house-test.el ends here
