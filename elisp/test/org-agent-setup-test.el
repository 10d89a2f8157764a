;;; org-agent-setup-test.el --- Tests of choosing a model  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With a fake kernel what the page says, with the real one what is tried
;; and written.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent)
(require 'org-agent-setup)

(defvar auth-sources)
(defvar auth-source-save-behavior)

(defun org-agent-setup-test--text ()
  "Return what the buffer of the setup says, on one line."
  (with-current-buffer "*org-agent-setup*"
    (string-join (split-string (buffer-string)) " ")))

(defun org-agent-setup-test--press (name)
  "Press the button NAME of the setup."
  (with-current-buffer "*org-agent-setup*"
    (goto-char (point-min))
    (search-forward name)
    (push-button (1- (point)))))

(ert-deftest org-agent-setup-of-a-server-here ()
  "A server on this machine is found; its model is tried and written down.
Nobody is asked about words that stay here.  The page fits 80 columns and
24 lines."
  (org-agent-fake-with-home
    (let (asked)
      (push (cons "setup/find"
                  (lambda (_) (list :model "builtin" :file "/h/.org-agent/config.org"
                                    :servers (list (list :name "ollama" :base-url "http://127.0.0.1:11434/v1"
                                                         :models (list "qwen3:8b" "llama"))))))
            org-agent-fake-answers)
      (push (cons "setup/add" (lambda (params)
                                (setq asked params)
                                (list :seconds 0.8 :file "/h/.org-agent/config.org" :line 12
                                      :name "ollama" :answers "qwen3:8b")))
            org-agent-fake-answers)
      (org-agent-fake-start)
      (save-window-excursion
        (org-agent-setup)
        (should (string-match-p "Looking for" (org-agent-setup-test--text)))
        (org-agent-fake-wait (string-match-p "ollama" (org-agent-setup-test--text)))
        (with-current-buffer "*org-agent-setup*"
          (should (equal "ollama" (button-label (button-at (point)))))
          (should (< (count-lines (point-min) (point-max)) 22))
          (goto-char (point-min))
          (while (not (eobp))
            (end-of-line)
            (should (<= (current-column) 80))
            (forward-line)))
        (cl-letf (((symbol-function 'completing-read)
                   (lambda (_prompt models &rest _)
                     (should (equal models '("qwen3:8b" "llama")))
                     "qwen3:8b"))
                  ((symbol-function 'yes-or-no-p) (lambda (&rest _) (ert-fail "asked"))))
          (org-agent-setup-test--press "ollama"))
        (org-agent-fake-wait
         (string-match-p "line 12 of config.org. qwen3:8b answers your next message"
                         (org-agent-setup-test--text)))
        ;; What stood above is not true any more.
        (should (string-match-p "\\`Which model answers Now qwen3:8b does\\. On this"
                                (org-agent-setup-test--text)))
        (should (equal asked '(:name "ollama" :base-url "http://127.0.0.1:11434/v1"
                               :model "qwen3:8b" :api-key "")))
        (kill-buffer "*org-agent-setup*")))))

(ert-deftest org-agent-setup-of-a-server-elsewhere ()
  "Nothing is sent before the person agreed to where it goes.
A new key is written by auth-source only, and the kernel reads it there."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "ok" (cons 'times -1)))
    (let* ((url (getenv "ORG_AGENT_LLM_BASE_URL"))
           (elsewhere (replace-regexp-in-string "127\\.0\\.0\\.1" "elsewhere.invalid" url))
           (authinfo (expand-file-name ".authinfo" org-agent-fake-directory))
           (auth-sources (list authinfo))
           (auth-source-save-behavior t)
           (config (expand-file-name "config.org" org-agent-home))
           (before (with-temp-buffer (insert-file-contents config) (buffer-string)))
           (typed elsewhere) (agreed nil) questions)
      (require 'auth-source)
      (auth-source-forget-all-cached)
      (save-window-excursion
        (org-agent-setup)
        (org-agent-fake-wait (string-match-p "Another server" (org-agent-setup-test--text)))
        (cl-letf (((symbol-function 'read-string) (lambda (&rest _) typed))
                  ((symbol-function 'yes-or-no-p)
                   (lambda (prompt) (push prompt questions) agreed))
                  ((symbol-function 'read-passwd)
                   (lambda (prompt &rest _) (push prompt questions) "key-of-mine"))
                  ((symbol-function 'completing-read)
                   (lambda (prompt choices &rest arguments)
                     (cond ((string-prefix-p "Model" prompt) "mine-1")
                           ;; What one types is a name, as it is listed, or RET.
                           (t (should (equal "none" (car (last arguments))))
                              (should (assoc "auth-source" choices))
                              "auth-source")))))
          (should-error (org-agent-setup-test--press "Another server") :type 'user-error)
          (should (string-match-p "will go to elsewhere.invalid" (car questions)))
          (should-not (file-exists-p authinfo))
          (setq typed url)
          (org-agent-setup-test--press "Another server"))
        (org-agent-fake-wait
         (string-match-p "mine-1 answers your" (org-agent-setup-test--text))
         (org-agent-setup-test--text))
        (should (member "The key, kept for 127.0.0.1: " questions))
        (should (string-match-p "machine 127.0.0.1 login apikey port 443 password \"?key-of-mine"
                                (with-temp-buffer (insert-file-contents authinfo) (buffer-string))))
        (with-temp-buffer
          (insert-file-contents config)
          (should-not (search-forward "key-of-mine" nil t))
          (should (re-search-forward "^\\*\\* 127.0.0.1\n:PROPERTIES:\n\\(?:.*\n\\)\\{2\\}:API_KEY:  auth-source:127.0.0.1\n:END:\n\n"))
          (replace-match "")
          (should (equal before (buffer-string))))
        (with-current-buffer "*Messages*"
          (goto-char (point-min))
          (should-not (search-forward "key-of-mine" nil t)))
        (with-temp-buffer
          (insert-file-contents (org-agent-state-file "log.jsonl"))
          (should-not (search-forward "key-of-mine" nil t)))
        (kill-buffer "*org-agent-setup*")))))

(ert-deftest org-agent-setup-addresses-are-understood ()
  "What is pasted behind a scheme counts, and a missing scheme is added."
  (pcase-dolist (`(,typed . ,address)
                 '((" https://api.example.org/v1 " . "https://api.example.org/v1")
                   ("https://http://127.0.0.1:9/v1" . "http://127.0.0.1:9/v1")
                   ("https://https://api.example.org/v1" . "https://api.example.org/v1")
                   ("api.example.org/v1" . "https://api.example.org/v1")
                   ("localhost:8080/v1" . "http://localhost:8080/v1")
                   ("127.0.0.1:9" . "http://127.0.0.1:9")
                   ("[::1]:9" . "http://[::1]:9")))
    (ert-info (typed)
      (should (equal address (org-agent-setup--address typed)))))
  (dolist (typed '("" "  " "https://" "ftp://example.org" "https://http://"))
    (ert-info (typed)
      (should-error (org-agent-setup--address typed) :type 'user-error))))

(ert-deftest org-agent-setup-models-list ()
  "The list has the model that answers, its dialect, and why it has that."
  (org-agent-kernel-test--with (list (org-agent-kernel-test--exchange "* Yes"))
    (org-agent-model-list)
    (let ((buffer (get-buffer "*org-agent-models*")))
      (org-agent-fake-wait
       (with-current-buffer buffer
         (string-match-p "^ *test-model \\* +plist +the server is on this machine"
                         (buffer-string)))
       (with-current-buffer buffer (buffer-string)))
      (kill-buffer buffer))))

(ert-deftest org-agent-setup-models-rows ()
  "What is not known of a model is an empty cell."
  (should (equal (cadr (org-agent-setup--models-row
                        '(:name "far" :dialect "native" :window 400000 :price "1.25 10" :why "it is")))
                 ["far" "native" "400k" "1.25 10" "it is"]))
  (should (equal (cadr (org-agent-setup--models-row '(:name "builtin" :default t)))
                 ["builtin *" "" "" "" ""])))

(provide 'org-agent-setup-test)
;;; org-agent-setup-test.el ends here
