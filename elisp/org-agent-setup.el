;;; org-agent-setup.el --- Find, try, list and test models  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-setup' finds the model servers of this machine, or takes an
;; address.  The kernel tries a model and writes it into config.org.
;;
;; `org-agent-model-list' shows the models that can be asked: in which
;; dialect each calls tools and why, its window and its price.
;;
;; `org-agent-model-test' has the program test a model: small tasks, done in
;; each dialect.  The program works beside the kernel.  Its table is shown
;; while it fills, and the dialect that it recommends can be written into
;; config.org.

;;; Code:

(require 'button)
(require 'cl-lib)
(require 'json)
(require 'org-table)
(require 'subr-x)
(require 'url-parse)
(require 'org-agent)
(require 'org-agent-kernel)
(require 'org-agent-list)
(require 'org-agent-settings)

(defvar auth-source-creation-prompts)

(declare-function auth-source-search "auth-source")
(declare-function auth-source-forget-all-cached "auth-source")

(defconst org-agent-setup--elsewhere
  '((:name "OpenAI" :base-url "https://api.openai.com/v1")
    (:name "OpenRouter" :base-url "https://openrouter.ai/api/v1")
    (:name "Another server"))
  "Servers that are offered beside those on this machine.")

(defvar org-agent-setup-mode-map
  (make-composed-keymap button-buffer-map special-mode-map)
  "Keymap of the setup.")

(define-derived-mode org-agent-setup-mode special-mode "Org-Agent-Setup"
  "Major mode of `org-agent-setup'.

\\{org-agent-setup-mode-map}"
  :interactive nil
  (setq-local revert-buffer-function (lambda (&rest _) (org-agent-setup))))

(defun org-agent-setup--kernel ()
  "Return what becomes of the kernel, which looks for the servers.
When it is built first, that takes minutes."
  (concat " " (string-replace "%" "%%" (or org-agent-kernel-trouble "starting the kernel"))))

;;;###autoload
(defun org-agent-setup ()
  "Choose which model answers: find servers, try one, and write it down.
Nothing leaves this machine before you are told where it goes."
  (interactive)
  (with-current-buffer (get-buffer-create "*org-agent-setup*")
    (org-agent-setup-mode)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert "Looking for model servers on this machine …\n"))
    (unless (org-agent-kernel-ready-p)
      (setq header-line-format '(:eval (org-agent-setup--kernel))))
    (pop-to-buffer-same-window (current-buffer))
    (org-agent-kernel-ask "setup/find" nil #'org-agent-setup--show)))

(defun org-agent-setup--show (found)
  "Show FOUND, what the kernel knows of servers, in the current buffer."
  (setq header-line-format nil)
  (let ((inhibit-read-only t))
    (erase-buffer)
    (insert (propertize "Which model answers\n\n" 'face 'bold)
            (org-agent-setup--now (plist-get found :model))
            "\nOn this machine.  What you write stays on it:\n")
    (if (plist-get found :servers)
        (mapc #'org-agent-setup--insert (plist-get found :servers))
      (insert "  none: neither Ollama, llama.cpp, LM Studio nor vLLM answers; g looks again\n"))
    (insert "\nElsewhere.  What you write, and what you attach, goes to that server:\n")
    (mapc #'org-agent-setup--insert org-agent-setup--elsewhere)
    (insert "\nRET on a server asks for a model and tries it with one short request.  If it\n"
            "answers, it is written into "
            (abbreviate-file-name (plist-get found :file))
            ",\nwhere nothing else changes.  Of a key only the place is written there.\n\n")
    (goto-char (point-min))
    (forward-button 1 nil nil t)))

(defun org-agent-setup--now (model)
  "Return the line that says that MODEL answers."
  (if (member model '(nil "builtin"))
      "Now the built-in guide does.  It knows only org-agent.\n"
    (format "Now %s does.\n" model)))

(defun org-agent-setup--insert (server)
  "Insert the line of SERVER, a button."
  (insert "  ")
  (insert-text-button (plist-get server :name) 'follow-link t
                      'action (lambda (_) (org-agent-setup--use server)))
  (insert (make-string (max 1 (- 18 (current-column))) ?\s)
          (or (plist-get server :base-url) "you type its address")
          (if-let* ((models (plist-get server :models)))
              (concat "  " (org-agent-counted (length models) "model"))
            "")
          "\n"))

(defun org-agent-setup--use (server)
  "Ask for a model of SERVER, have it tried and written down."
  (let* ((url (or (plist-get server :base-url)
                  (org-agent-setup--address
                   (read-string "Address of the server, as https://example.org/v1: "))))
         (host (or (url-host (url-generic-parse-url url)) ""))
         (here (string-match-p "\\`\\(?:localhost\\|127\\.[0-9.]+\\|::1\\|\\[::1\\]\\)\\'" host)))
    (when-let* ((buffer (find-buffer-visiting
                         (expand-file-name "config.org" (org-agent-home-directory)))))
      (when (buffer-modified-p buffer)
        (user-error "%s has changes that are not saved; save them first" buffer)))
    (unless (or here
                (yes-or-no-p (format "What you write and attach will go to %s.  Go on? " host)))
      (user-error "Nothing was sent"))
    (let* ((key (unless (plist-get server :models)
                  (org-agent-setup-read-key host here)))
           (models (or (plist-get server :models)
                       (plist-get (org-agent-kernel-call
                                   "setup/models" (list :base-url url :api-key (or key "")))
                                  :models)))
           (model (completing-read (format-prompt "Model" (car models)) models
                                   nil nil nil nil (car models))))
      (org-agent-setup-say "Trying %s at %s …" model host)
      (org-agent-kernel-request-here
       "setup/add" (list :name (if (plist-get server :base-url)
                                   (downcase (plist-get server :name))
                                 host)
                         :base-url url :model model :api-key (or key ""))
       :success #'org-agent-setup--done
       :failure (lambda (refusal)
                  (org-agent-setup-say "%s does not answer, and nothing was written: %s"
                                                 model (plist-get refusal :message)))))))

(defun org-agent-setup--address (typed)
  "Return TYPED as the address of a server; signal an error if it is none.
What names no scheme is https, or http on this machine."
  (let ((address (string-trim typed)))
    (when (string-empty-p address)
      (user-error "Nothing was sent: there is no address"))
    ;; Who pastes behind a scheme means the one that was pasted.
    (while (string-match "\\`https?://\\(https?://\\)" address)
      (setq address (substring address (match-beginning 1))))
    (unless (string-match-p "\\`[a-z]+://" address)
      (setq address
            (concat (if (string-match-p "\\`\\(?:localhost\\|127\\.\\|\\[::1\\]\\)" address)
                        "http://"
                      "https://")
                    address)))
    (unless (and (string-match-p "\\`https?://" address)
                 (not (string-empty-p (or (url-host (url-generic-parse-url address)) ""))))
      (user-error "Nothing was sent: %s is no address of a server" address))
    address))

(defun org-agent-setup--done (added)
  "Say that the model that ADDED describes has answered and is written down."
  (unless (plist-get added :decides)
    (let ((inhibit-read-only t))
      (save-excursion
        (goto-char (point-min))
        (forward-line 2)
        (delete-region (point) (line-beginning-position 2))
        (insert (org-agent-setup--now (plist-get added :answers))))))
  (org-agent-setup-say
   "It answered after %.1f s and is in line %d of config.org.  %s"
   (plist-get added :seconds) (plist-get added :line)
   (if-let* ((decides (plist-get added :decides)))
       (concat "But it does not answer you yet: " decides)
     (format "%s answers your next message: M-x org-agent-chat." (plist-get added :answers)))))

(defun org-agent-setup-say (format &rest arguments)
  "Say what FORMAT and ARGUMENTS say at the end of the current buffer."
  (let ((inhibit-read-only t) (fill-column 78) (adaptive-fill-mode nil))
    (save-excursion
      (goto-char (point-max))
      (let ((beg (point)))
        (insert (apply #'format format arguments) "\n")
        (fill-region beg (point))))))

(defconst org-agent-setup--key-places
  '(("auth-source" . "in the file of auth-source, such as ~/.authinfo.gpg; a new key is asked for")
    ("environment" . "in an environment variable of the kernel")
    ("command" . "a command prints it, such as pass show NAME")
    ("none" . "it needs no key"))
  "Where a key can be, and what that means.")

(defun org-agent-setup-read-key (host here)
  "Ask where the key of HOST is, and return the place, or nil for none.
A server on this machine, HERE non-nil, usually needs none.  A key that
is typed goes to the file of auth-source only."
  (pcase (let ((completion-extra-properties
                '(:annotation-function org-agent-setup--about-place))
               (usual (if here "none" "auth-source")))
           (completing-read (format-prompt "Where is its key?  (TAB: places)" usual)
                            org-agent-setup--key-places nil t nil nil usual))
    ("auth-source" (org-agent-setup--keep-key host)
                   (concat "auth-source:" host))
    ("environment" (concat "env:" (read-string "Name of the variable: ")))
    ("command" (concat "command: " (read-shell-command "Command: ")))))

(defun org-agent-setup--about-place (place)
  "Return what the PLACE of a key means, as a completion shows it."
  (concat "  " (cdr (assoc place org-agent-setup--key-places))))

(defun org-agent-setup--keep-key (host)
  "Ask for the key of HOST unless auth-source has one, and have it saved."
  (unless (auth-source-search :host host :max 1 :require '(:secret))
    (let* ((auth-source-creation-prompts '((secret . "The key, kept for %h: ")))
           (save (plist-get (car (auth-source-search :host host :user "apikey" :port "443"
                                                     :max 1 :create t :require '(:secret)))
                            :save-function)))
      (when save (funcall save))
      (auth-source-forget-all-cached))))

;;;; Which models there are

(define-derived-mode org-agent-setup-models-mode org-agent-list-mode
  "Org-Agent-Models"
  "Major mode of the list of models.
The price is in dollars for a million tokens in and out.  Empty cells
are not known."
  :interactive nil
  (org-agent-list-columns
   ;; The reason stands last, because it may be long.
   (vector '("Model" 26 t) '("Dialect" 11 t)
           '("Window" 7 nil :right-align t)
           '("In, out" 10 nil :right-align t)
           '("Why this dialect" 0 nil))
   #'org-agent-setup--models-ask "\\<org-agent-setup-models-mode-map>\\[revert-buffer] asks again"))

;;;###autoload
(defun org-agent-model-list ()
  "Show the models: in which dialect each is asked and why, window and price."
  (interactive)
  (org-agent-kernel-check)
  (org-agent-list-open "*org-agent-models*" 'org-agent-setup-models-mode
                       #'org-agent-setup--models-ask))

(defun org-agent-setup--models-ask (&rest _)
  "Request the list, and show it when it arrives.
The kernel asks each server, which can take seconds."
  (org-agent-kernel-ask
   "model/list" nil
   (lambda (result)
     (org-agent-list-show
      (mapcar #'org-agent-setup--models-row (plist-get result :models))
      "There is no model.  \\[org-agent-setup] chooses one."
      (when-let* ((silent (plist-get result :silent)))
        (concat (string-join silent ", ") ": no list"))))))

(defun org-agent-setup--models-row (model)
  "Return MODEL, a plist from the kernel, as a row of the list."
  (let ((window (plist-get model :window)))
    (list model
          (vector (concat (org-agent-one-line (plist-get model :name))
                          (and (plist-get model :default) " *"))
                  (or (plist-get model :dialect) "")
                  (if window (org-agent-thousands window) "")
                  (or (plist-get model :price) "")
                  (org-agent-one-line (or (plist-get model :why) ""))))))

;;;; What a model does

(defgroup org-agent-setup nil
  "How models are tested."
  :group 'org-agent
  :prefix "org-agent-setup-test-")

(defcustom org-agent-setup-test-arguments nil
  "Further arguments of \"org-agent models test\", a list of strings.
With (\"--times\" \"3\") each task is done three times, and with
\(\"--task\" \"call\") only the tasks of this kind are done."
  :type '(repeat string)
  :package-version '(org-agent . "0.1.0")
  :group 'org-agent-setup)

(defvar-local org-agent-setup--test-process nil
  "The program that tests, or nil when it has ended.")

(defvar-local org-agent-setup--test-rest ""
  "The beginning of a line that has not come whole.")

(defvar-local org-agent-setup--test-name nil
  "The name of the model that is tested, \"\" for the one that answers.")

(defvar-local org-agent-setup--test-found nil
  "The end of the test, a property list, or nil.")

(defvar org-agent-setup-test-mode-map
  (let ((map (make-composed-keymap button-buffer-map special-mode-map)))
    (define-key map (kbd "C-c C-k") #'org-agent-setup-test-stop)
    (define-key map (kbd "w") #'org-agent-setup-test-write)
    map)
  "Keymap of the test of a model.")

(define-derived-mode org-agent-setup-test-mode special-mode "Org-Agent-Model-Test"
  "Major mode of `org-agent-model-test'.

\\{org-agent-setup-test-mode-map}"
  :interactive nil
  (setq-local revert-buffer-function
              (lambda (&rest _) (org-agent-model-test org-agent-setup--test-name)))
  (add-hook 'kill-buffer-hook #'org-agent-setup--test-end nil t))

(defun org-agent-setup--test-read ()
  "Read the name of the model to test, \"\" for the one that answers."
  (string-trim
   (completing-read (format-prompt "Test the model" "the one that answers")
                    (org-agent-settings-model-names))))

;;;###autoload
(defun org-agent-model-test (name)
  "Have the model NAME do small tasks in each dialect, and show what worked.
NAME is a heading of config.org; \"\" is the model that answers.  The
tasks have a kernel and a home of their own: nothing of yours is sent.
They use your account at the model's server.  A test takes minutes, and
does not disturb you.  \\<org-agent-setup-test-mode-map>\\[org-agent-setup-test-stop] stops it."
  (interactive (list (org-agent-setup--test-read)))
  (pop-to-buffer-same-window (get-buffer-create "*org-agent-model-test*"))
  (org-agent-setup--test-end)
  (org-agent-setup-test-mode)
  (setq org-agent-setup--test-name name)
  (org-agent-setup--test-show (format "Testing %s …" (if (string-empty-p name) "the model that answers" name))
                              "" (substitute-command-keys "\\[org-agent-setup-test-stop] stops it."))
  (let ((buffer (current-buffer)))
    (setq org-agent-setup--test-process
          (org-agent-kernel-start-program
           (append (list (or (org-agent-kernel-program)
                             (user-error "The program org-agent was not found; M-x org-agent-doctor says what to do")))
                   (org-agent-kernel-home-arguments)
                   '("models" "test" "--json")
                   org-agent-setup-test-arguments
                   (unless (string-empty-p name) (list "--" name)))
           (lambda (process _output complaint)
             (when (buffer-live-p buffer)
               (with-current-buffer buffer
                 (when (eq process org-agent-setup--test-process)
                   (org-agent-setup--test-ended process complaint)))))
           :filter (lambda (process piece)
                     (when (buffer-live-p buffer)
                       (with-current-buffer buffer
                         (when (eq process org-agent-setup--test-process)
                           (org-agent-setup--test-come piece)))))))))

(defun org-agent-setup--test-come (piece)
  "Show what the lines say of which PIECE is a part."
  (let ((lines (split-string (concat org-agent-setup--test-rest piece) "\n")))
    (setq org-agent-setup--test-rest (car (last lines)))
    (dolist (line (butlast lines))
      (let* ((json-object-type 'plist) (json-array-type 'list) (json-false nil)
             (said (json-read-from-string line)))
        (if (plist-get said :task)
            (org-agent-setup--test-show
             (format "Task %d of %d, in %s: %s %s"
                     (plist-get said :done) (plist-get said :of)
                     (plist-get said :dialect) (plist-get said :task)
                     (cond ((plist-get said :passed) "passed")
                           ((plist-get said :fault) "got no answer")
                           (t "failed")))
             (plist-get said :table)
             (string-join (plist-get said :why) "; "))
          (setq org-agent-setup--test-found said))))))

(defun org-agent-setup--test-show (title table text)
  "Show TITLE, TABLE and TEXT in the current buffer; point stays."
  (let ((inhibit-read-only t) (at (point)))
    (erase-buffer)
    (insert (propertize title 'face 'bold) "\n\n"
            (propertize table 'face 'org-table))
    (unless (string-empty-p text)
      (insert "\n")
      (let ((beg (point)) (fill-column 78))
        (insert text "\n")
        (fill-region beg (point))))
    (goto-char (min at (point-max)))))

(defun org-agent-setup--test-ended (process complaint)
  "Show the end of the test that PROCESS made; COMPLAINT is its last word."
  (setq org-agent-setup--test-process nil)
  (let ((found org-agent-setup--test-found))
    (cond
     ((null found)
      (org-agent-setup--test-show "Nothing was tested" ""
                                  (string-remove-prefix "org-agent: " (or complaint "The program was stopped."))))
     (t
      (org-agent-setup--test-show
       (format "%s at %s%s" (plist-get found :model) (plist-get found :server)
               (if (plist-get found :interrupted) ", stopped before the end" ""))
       (plist-get found :table)
       (if (memq (process-exit-status process) '(0 130))
           (plist-get found :text)
         (string-remove-prefix "org-agent: " (or complaint (plist-get found :text)))))
      (org-agent-setup--test-offer found)))))

(defun org-agent-setup--test-offer (found)
  "Offer to write the dialect that FOUND recommends, if it can be."
  (when (plist-get found :heading)
    (let ((inhibit-read-only t))
      (save-excursion
        (goto-char (point-max))
        (insert "\n")
        (insert-text-button (format "Write :DIALECT: %s below %s" (plist-get found :write)
                                    (plist-get found :heading))
                            'follow-link t
                            'action (lambda (_) (org-agent-setup-test-write)))
        (insert " (w)\n")))))

(defun org-agent-setup-test-stop ()
  "Stop the test; what was done stays in the table."
  (interactive nil org-agent-setup-test-mode)
  (if (process-live-p org-agent-setup--test-process)
      (interrupt-process org-agent-setup--test-process)
    (user-error "No test is running")))

(defun org-agent-setup--test-end ()
  "End the test of the current buffer, if one runs."
  (when (process-live-p org-agent-setup--test-process)
    (interrupt-process org-agent-setup--test-process))
  (setq org-agent-setup--test-process nil))

(defun org-agent-setup-test-write ()
  "Write the recommended dialect into config.org, if you agree."
  (interactive nil org-agent-setup-test-mode)
  (let* ((found (or org-agent-setup--test-found
                    (user-error "The test has not ended")))
         (heading (plist-get found :heading))
         (dialect (plist-get found :write))
         (file (expand-file-name "config.org" (org-agent-home-directory)))
         (visiting (find-buffer-visiting file)))
    (cond
     ((not heading) (user-error "Nothing is to be written into config.org"))
     ((and visiting (buffer-modified-p visiting))
      (user-error "%s has changes that are not saved; save them first" visiting)))
    (if (not (y-or-n-p (format "Write :DIALECT: %s below %s in config.org? " dialect heading)))
        (message "Nothing was written")
      (org-agent-kernel-run-program
       (list "models" "dialect" "--" heading dialect)
       (lambda (status output complaint)
         (if (not (eq status 0))
             (message "Nothing was written: %s" (string-remove-prefix "org-agent: " complaint))
           (when (and (buffer-live-p visiting) (not (buffer-modified-p visiting)))
             (with-current-buffer visiting (revert-buffer t t t)))
           (message "%s" (string-trim output))))))))

(provide 'org-agent-setup)
;;; org-agent-setup.el ends here
