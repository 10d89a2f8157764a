;;; org-agent-manual-test.el --- Tests of the manual  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The manual is held against the code: it names what there is, and
;; nothing else.  make exports it as people do.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'info)
(require 'org-agent)
(require 'org-agent-fake-kernel)

(defvar org-agent-manual-test-file
  (expand-file-name "org-agent.org" org-agent-directory)
  "The manual.")

(defun org-agent-manual-test--matches (regexp)
  "Return what the first group of REGEXP matches in the manual, each once."
  (with-temp-buffer
    (insert-file-contents org-agent-manual-test-file)
    (let ((case-fold-search nil) found)
      (while (re-search-forward regexp nil t)
        (cl-pushnew (match-string 1) found :test #'equal)
        (goto-char (match-end 1)))
      found)))

;;;; Export

(ert-deftest org-agent-manual-exports ()
  "The export says nothing, and each index has entries."
  (let ((directory (make-temp-file "org-agent-manual" t))
        (process-environment (append '("MAKEFLAGS" "MFLAGS") process-environment)))
    (unwind-protect
        (progn
          (with-temp-buffer
            (let ((status (call-process
                           "make" nil t nil "-s" "-C" (expand-file-name ".." org-agent-directory)
                           "info" (concat "MANUAL=" directory)
                           (concat "EMACS=" (expand-file-name
                                             invocation-name invocation-directory)))))
              (should (equal (cons status (buffer-string)) '(0 . "")))))
          (with-temp-buffer
            (insert-file-contents (expand-file-name "dir" directory))
            (should (search-forward "* org-agent: (org-agent)." nil t)))
          (dolist (index '("Concepts" "Functions" "Variables" "Keys of buffers"))
            (ert-info (index)
              (should (> (org-agent-manual-test--entries
                          (expand-file-name "org-agent.info" directory) index)
                         20)))))
      (delete-directory directory t))))

(defun org-agent-manual-test--entries (file index)
  "Return how many entries the node INDEX of the Info FILE has."
  (with-temp-buffer
    (insert-file-contents file)
    (search-forward (concat "Node: " index ","))
    (let ((end (save-excursion (search-forward "\^_" nil 'move) (point))))
      (how-many "^\\* .+: +.+\\.[ \n]+(line +[0-9]+)" (point) end))))

(ert-deftest org-agent-manual-links ()
  "What the manual links to is there, and Texinfo can write its name.
The text of a link has no comma: Texinfo takes it for the end."
  (let ((files (org-agent-manual-test--matches "\\[\\[file:\\([^]:]+\\)")))
    (should (> (length files) 2))
    (dolist (file files)
      (ert-info (file)
        (should (or (string-prefix-p "~/" file)      ; an example
                    (file-exists-p (expand-file-name file org-agent-directory)))))))
  (should-not (org-agent-manual-test--matches "\\(\\[\\[[^]]+\\]\\[[^]]*,[^]]*\\]\\]\\)")))

;;;; Names

(defun org-agent-manual-test--items (section)
  "Return the terms of the lists in SECTION and below it, an alist.
Their values are the texts of the items."
  (with-temp-buffer
    (insert-file-contents org-agent-manual-test-file)
    (let ((case-fold-search nil) items)
      (re-search-forward (format "^\\* %s$" (regexp-quote section)))
      (save-restriction
        (narrow-to-region (point) (save-excursion
                                    (if (re-search-forward "^\\* " nil t)
                                        (match-beginning 0)
                                      (point-max))))
        (while (re-search-forward "^- \\(.+?\\) :: \\(.*\\)$" nil t)
          (push (cons (match-string 1) (match-string 2)) items)))
      (nreverse items))))

(defun org-agent-manual-test--autoloads ()
  "Return the names of the package's commands that are autoloaded."
  (with-temp-buffer
    (insert-file-contents (expand-file-name "org-agent-autoloads.el" org-agent-directory))
    (let (names)
      (while (re-search-forward "^ ?(autoload '\\(org-agent-[a-z-]+\\) " nil t)
        (when (commandp (intern (match-string 1)))
          (push (match-string 1) names)))
      names)))

(defun org-agent-manual-test--options ()
  "Return the names of the package's options that its files define."
  (let (names)
    (dolist (file (org-agent-fake-files))
      (with-temp-buffer
        (insert-file-contents (expand-file-name (concat file ".el") org-agent-directory))
        (while (re-search-forward "^(defcustom \\([^ \n]+\\)" nil t)
          (push (match-string 1) names))))
    names))

(defun org-agent-manual-test--same (told real)
  "Check that the names TOLD are those that are REAL, each once."
  (should (> (length real) 5))
  (should-not (cl-set-difference real told :test #'equal))
  (should-not (cl-set-difference told real :test #'equal))
  (should (= (length told) (length (seq-uniq told)))))

(ert-deftest org-agent-manual-commands ()
  "The chapter about commands has every autoloaded command and no other."
  (org-agent-fake-load-all)
  (org-agent-manual-test--same
   (mapcar #'car (org-agent-manual-test--items "Commands"))
   (org-agent-manual-test--autoloads)))

(ert-deftest org-agent-manual-options ()
  "The chapter about options has every option and no other."
  (org-agent-manual-test--same
   (mapcar #'car (org-agent-manual-test--items "Options"))
   (org-agent-manual-test--options)))

(ert-deftest org-agent-manual-names-nothing-else ()
  "Whatever of Emacs's the manual names exists."
  (org-agent-fake-load-all)
  (let ((names (org-agent-manual-test--matches
                "\\(?:[=~ ]\\|^\\)\\(org-agent-[a-z-]+[a-z]\\)\\(?:[=~ ,.)]\\|$\\)")))
    (should (> (length names) 150))
    (dolist (name names)
      (let ((symbol (intern name)))
        (ert-info (name)
          (should (or (commandp symbol) (boundp symbol) (facep symbol)
                      (get symbol 'custom-group))))))))

;;;; Keys

(defun org-agent-manual-test--menu (&optional prefix keys)
  "Return the commands of the menu PREFIX with the keys after KEYS, an alist."
  (let (found)
    (cl-labels ((walk (node)
                  (cond ((vectorp node) (mapc #'walk node))
                        ((and (proper-list-p node) (keywordp (nth 1 node))
                              (plist-get (cdr node) :command))
                         (enter (cdr node)))
                        ((and (consp node) (keywordp (car node))) (enter node))
                        ((proper-list-p node)
                         (if (and (proper-list-p (nth 2 node))
                                  (plist-get (nth 2 node) :command))
                             (enter (nth 2 node))
                           (mapc #'walk node)))))
                (enter (plist)
                  (let ((command (plist-get plist :command))
                        (path (string-trim (concat keys " " (plist-get plist :key)))))
                    (if (get command 'transient--layout)
                        (setq found (append (org-agent-manual-test--menu command path) found))
                      (push (cons (symbol-name command) path) found)))))
      (walk (get (or prefix 'org-agent-menu) 'transient--layout)))
    found))

(ert-deftest org-agent-manual-menu ()
  "The keys of the menu are told as they are, with each command that has one."
  (org-agent-fake-load-all)
  (let ((menu (org-agent-manual-test--menu)))
    (should (> (length menu) 50))
    (pcase-dolist (`(,command . ,text) (org-agent-manual-test--items "Commands"))
      (ert-info (command)
        (should (equal (and (string-match "(\\(?:.*, \\)?menu =\\(.+?\\)=[,)]" text)
                            (match-string 1 text))
                       (cdr (assoc command menu))))
        (when (string-match "conversation =\\(.+?\\)=)" text)
          (require 'org-agent-chat)
          (should (equal (symbol-name (lookup-key (symbol-value 'org-agent-chat-mode-map)
                                                  (kbd (match-string 1 text))))
                         command)))))))

(defun org-agent-manual-test--bindings (map keys)
  "Return the keys after KEYS that MAP itself binds, with their commands."
  (let (found)
    (map-keymap-internal
     (lambda (event binding)
       (let ((binding (if (stringp (car-safe binding)) (cdr binding) binding))
             (keys (vconcat keys (vector event))))
         (if (keymapp binding)
             (setq found (append (org-agent-manual-test--bindings binding keys) found))
           (push (list (key-description keys) (symbol-name binding)) found))))
     map)
    found))

(ert-deftest org-agent-manual-keys ()
  "Each section about the keys of a buffer has every key of its map and no other."
  (org-agent-fake-load-all)
  (with-temp-buffer
    (insert-file-contents org-agent-manual-test-file)
    (re-search-forward "^\\* Keys$")
    (let ((count 0) (case-fold-search nil))
      (while (re-search-forward "^:MAP: \\(.+\\)$" nil t)
        (let ((map (match-string 1)) told
              (end (save-excursion (re-search-forward "^\\*" nil 'move) (point))))
          (cl-incf count)
          (while (re-search-forward "^- \\(.+\\) :: .*(=\\([^=]+\\)=)$" end t)
            (let ((command (match-string 2)))
              (dolist (key (split-string (match-string 1) ", "))
                (push (list (substring key 1 -1) command) told))))
          (ert-info (map)
            (org-agent-manual-test--equal
             told (org-agent-manual-test--bindings (symbol-value (intern map)) [])))))
      (should (> count 25)))))

(defun org-agent-manual-test--equal (told real)
  "Check that the bindings TOLD are the REAL ones, in any order."
  (cl-flet ((sorted (bindings)
              (sort (copy-sequence bindings)
                    (lambda (one other) (string< (format "%s" one) (format "%s" other))))))
    (should (equal (sorted told) (sorted real)))))

;;;; The kernel

(ert-deftest org-agent-manual-settings ()
  "Every setting that config.org explains has an item, and no other has one.
So it is with the variables that the makers of models have."
  (let (real)
    (with-temp-buffer
      (insert-file-contents (expand-file-name "../kernel/config/starter.org" org-agent-directory))
      (while (re-search-forward "^- \\(=[A-Z_]+=\\(?:, =[A-Z_]+=\\)*\\) :: " nil t)
        (setq real (append (mapcar (lambda (name) (substring name 1 -1))
                                   (split-string (match-string 1) ", "))
                           real))))
    (with-temp-buffer
      (insert-file-contents (expand-file-name "../kernel/config/choice.go" org-agent-directory))
      (search-forward "var makers = ")
      (while (re-search-forward "^\t{\"\\([A-Z]+\\)\", " nil t)
        (dolist (variable '("_BASE_URL" "_API_KEY"))
          (push (concat (match-string 1) variable) real))))
    (org-agent-manual-test--same
     (cl-remove-if (lambda (name) (string-prefix-p "ORG_AGENT" name))
                   (mapcar #'car (org-agent-manual-test--items "Settings of the kernel")))
     real)))

(defun org-agent-manual-test--help (&rest command)
  "Return what the program says of COMMAND with --help."
  (with-temp-buffer
    (let ((program (or (getenv "ORG_AGENT_PROGRAM")
                       (expand-file-name "../bin/org-agent" org-agent-directory))))
      (should (equal 0 (apply #'call-process program nil t nil
                              (append command '("--help")))))
      (buffer-string))))

(defun org-agent-manual-test--subcommands (&rest command)
  "Return the commands that COMMAND has, lists of words."
  (let ((help (apply #'org-agent-manual-test--help command)) (start 0) found)
    (if (not (string-match "^Commands:$" help))
        (list command)
      (setq start (match-end 0))
      (while (string-match "^  \\([a-z0-9]+\\(?: [a-z0-9]+\\)?\\)\\(?:  \\|$\\)" help start)
        (setq start (match-end 0))
        (setq found (append (apply #'org-agent-manual-test--subcommands
                                   (split-string (match-string 1 help)))
                            found)))
      found)))

(ert-deftest org-agent-manual-program ()
  "Every command of the program has an item, with each of its flags and no other."
  (let ((items (org-agent-manual-test--items "The program in a shell"))
        (commands (org-agent-manual-test--subcommands)))
    (org-agent-manual-test--same
     (mapcar #'car items)
     (mapcar (lambda (words) (string-join (cons "org-agent" words) " ")) commands))
    (dolist (words commands)
      (let* ((name (string-join (cons "org-agent" words) " "))
             (flags (lambda (regexp text)
                      (let ((start 0) found)
                        (while (string-match regexp text start)
                          (setq start (match-end 0))
                          (push (match-string 1 text) found))
                        (sort (seq-difference found '("help" "home")) #'string<)))))
        (ert-info (name)
          (should (equal (funcall flags "=--\\([a-z-]+\\)=" (cdr (assoc name items)))
                         (funcall flags "^ +\\(?:-[a-z], \\)?--\\([a-z-]+\\)"
                                  (apply #'org-agent-manual-test--help words)))))))))

(provide 'org-agent-manual-test)
;;; org-agent-manual-test.el ends here
