;;; org-agent-setup.el --- Choose which model answers  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; `org-agent-setup' finds the model servers of this machine, or takes an
;; address.  The kernel tries a model and writes it into config.org.

;;; Code:

(require 'button)
(require 'cl-lib)
(require 'subr-x)
(require 'url-parse)
(require 'org-agent)
(require 'org-agent-kernel)

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
    (pop-to-buffer-same-window (current-buffer))
    (org-agent-kernel-ask "setup/find" nil #'org-agent-setup--show)))

(defun org-agent-setup--show (found)
  "Show FOUND, what the kernel knows of servers, in the current buffer."
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
                  (org-agent-setup--key host)))
           (models (or (plist-get server :models)
                       (plist-get (org-agent-kernel-call
                                   "setup/models" (list :base-url url :api-key (or key "")))
                                  :models)))
           (model (completing-read (format-prompt "Model" (car models)) models
                                   nil nil nil nil (car models))))
      (org-agent-setup--say "Trying %s at %s …" model host)
      (org-agent-kernel-request-here
       "setup/add" (list :name (if (plist-get server :base-url)
                                   (downcase (plist-get server :name))
                                 host)
                         :base-url url :model model :api-key (or key ""))
       :success #'org-agent-setup--done
       :failure (lambda (refusal)
                  (org-agent-setup--say "%s does not answer, and nothing was written: %s"
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
  (org-agent-setup--say
   "It answered after %.1f s and is in line %d of config.org.  %s"
   (plist-get added :seconds) (plist-get added :line)
   (if-let* ((decides (plist-get added :decides)))
       (concat "But it does not answer you yet: " decides)
     (format "%s answers your next message: M-x org-agent-chat." (plist-get added :answers)))))

(defun org-agent-setup--say (format &rest arguments)
  "Say what FORMAT and ARGUMENTS say at the end of the current buffer."
  (let ((inhibit-read-only t) (fill-column 78) (adaptive-fill-mode nil))
    (save-excursion
      (goto-char (point-max))
      (let ((beg (point)))
        (insert (apply #'format format arguments) "\n")
        (fill-region beg (point))))))

(defun org-agent-setup--key (host)
  "Return where the key of HOST is, or nil when it needs none.
A key that is typed goes to the file of auth-source only."
  (pcase (car (read-multiple-choice
               "Where is its key?"
               '((?a "auth-source" "in the file of auth-source, such as ~/.authinfo.gpg; a new key is asked for")
                 (?e "environment" "in an environment variable of the kernel")
                 (?c "command" "a command prints it, such as pass show NAME")
                 (?n "none" "it needs no key"))))
    (?a (org-agent-setup--keep-key host)
        (concat "auth-source:" host))
    (?e (concat "env:" (read-string "Name of the variable: ")))
    (?c (concat "command: " (read-shell-command "Command: ")))))

(defun org-agent-setup--keep-key (host)
  "Ask for the key of HOST unless auth-source has one, and have it saved."
  (unless (auth-source-search :host host :max 1 :require '(:secret))
    (let ((save (plist-get (car (auth-source-search :host host :user "apikey" :port "443"
                                                    :max 1 :create t :require '(:secret)))
                           :save-function)))
      (when save (funcall save))
      (auth-source-forget-all-cached))))

(provide 'org-agent-setup)
;;; org-agent-setup.el ends here
