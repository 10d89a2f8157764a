;;; org-agent-model-test-test.el --- Tests of testing a model  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The real program tests a model whose replies a script decides.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-setup)

(defun org-agent-model-test-test--text ()
  "Return what the buffer of the test says."
  (with-current-buffer "*org-agent-model-test*" (buffer-string)))

(defun org-agent-model-test-test--config (url)
  "Write a config.org with a model at URL and return its name."
  (let ((file (expand-file-name "config.org" (org-agent-home-directory))))
    (make-directory (file-name-directory file) t)
    (with-temp-file file
      (insert "* Models\n** mine\n:PROPERTIES:\n:BASE_URL: " url "\n:MODEL: test-model\n:END:\nMy words.\n"))
    file))

(defmacro org-agent-model-test-test--with (exchanges &rest body)
  "Run BODY with the variable `file', a config.org whose model says EXCHANGES.
No kernel runs."
  (declare (indent 1) (debug t))
  `(org-agent-fake-with-home
     (let* ((model (org-agent-kernel-test--start-model ,exchanges))
            (org-agent-program (org-agent-kernel-test--program "ORG_AGENT_PROGRAM" "org-agent"))
            (process-environment (append (list (concat "HOME=" org-agent-fake-directory) "ORG_AGENT_LLM")
                                         process-environment))
            (file (org-agent-model-test-test--config (cdr model))))
       (unwind-protect (save-window-excursion (ignore file) ,@body)
         (when (get-buffer "*org-agent-model-test*") (kill-buffer "*org-agent-model-test*"))
         (delete-process (car model))
         (kill-buffer (process-buffer (car model)))))))

(defun org-agent-model-test-test--always (reply)
  "Return the exchange of a model that always answers REPLY."
  (org-agent-kernel-test--exchange reply '(times . -1)))

(ert-deftest org-agent-model-test-fills-and-writes ()
  "The table fills while the person goes on, and the dialect is written on yes.
A buffer that visits config.org shows it, and all other text stays."
  (org-agent-model-test-test--with
      (list (org-agent-model-test-test--always "* Paris\nRome, and not 42: it is welcome to replace them."))
    (let ((visiting (find-file-noselect file))
          (org-agent-setup-test-arguments '("--task" "answer" "--task" "stop"))
          (before (with-temp-buffer (insert-file-contents file) (buffer-string)))
          (seen nil) said)
      (unwind-protect
          (cl-letf (((symbol-function 'message)
                     (lambda (format &rest arguments) (push (apply #'format (or format "") arguments) said))))
            (org-agent-model-test "mine")
            (should (string-match-p "Testing mine" (org-agent-model-test-test--text)))
            (with-current-buffer "*org-agent-model-test*"
              (should-error (org-agent-setup-test-write) :type 'user-error))
            (org-agent-fake-wait
             (let ((text (org-agent-model-test-test--text)))
               (when (string-match "Task \\([0-9]+\\) of 16, in plist" text)
                 (cl-pushnew (match-string 1 text) seen :test #'equal))
               (string-match-p "test-model (mine) at 127" text)))
            (should (cdr seen))
            (should (string-match-p "^| tasks that passed +| plist | native |$" (org-agent-model-test-test--text)))
            (should (string-match-p "^| answer +| +[1-4]/4 | +[1-4]/4 |$" (org-agent-model-test-test--text)))
            (should (string-match-p "Write :DIALECT: native below mine (w)" (org-agent-model-test-test--text)))
            (with-current-buffer "*org-agent-model-test*"
              (cl-letf (((symbol-function 'y-or-n-p) #'ignore))
                (org-agent-setup-test-write))
              (should (equal before (with-temp-buffer (insert-file-contents file) (buffer-string))))
              (cl-letf (((symbol-function 'y-or-n-p)
                         (lambda (prompt) (should (string-match-p ":DIALECT: native below mine" prompt)) t)))
                (with-current-buffer visiting (insert "x"))
                (should-error (org-agent-setup-test-write) :type 'user-error)
                (with-current-buffer visiting (revert-buffer t t t))
                (goto-char (point-max))
                (push-button (search-backward "Write :DIALECT"))))
            (org-agent-fake-wait (cl-some (lambda (line) (string-match-p "dialect native from now on" line)) said))
            (should (equal (with-current-buffer visiting (buffer-string))
                           (string-replace ":END:" ":DIALECT: native\n:END:" before))))
        (with-current-buffer visiting (set-buffer-modified-p nil))
        (kill-buffer visiting)))))

(ert-deftest org-agent-model-test-is-stopped ()
  "A test that is stopped shows the table of what was done, at once."
  (org-agent-model-test-test--with
      (list (org-agent-kernel-test--exchange "ok") (org-agent-kernel-test--exchange "* Paris")
            (org-agent-kernel-test--exchange "x" '(hang_after . -1) '(times . -1)))
    (org-agent-model-test "mine")
    (org-agent-fake-wait (string-match-p "Task 1 of 80" (org-agent-model-test-test--text)))
    (with-current-buffer "*org-agent-model-test*" (org-agent-setup-test-stop))
    (org-agent-fake-wait (string-match-p "stopped before the end" (org-agent-model-test-test--text)))
    (should (string-match-p "^| all +| +1/1 |" (org-agent-model-test-test--text)))
    (should-not (string-match-p "Write :DIALECT" (org-agent-model-test-test--text)))
    (with-current-buffer "*org-agent-model-test*"
      (should-error (org-agent-setup-test-stop) :type 'user-error))))

(ert-deftest org-agent-model-test-says-what-is-wrong ()
  "Without an answer of the server the page says what to do."
  (org-agent-model-test-test--with
      (list (list '(status . 401) '(body . "{\"error\": {\"message\": \"who are you\"}}") '(times . -1)))
    (org-agent-model-test "")
    (org-agent-fake-wait (string-match-p "Nothing was tested" (org-agent-model-test-test--text)))
    (should (string-match-p "the key was not accepted" (string-replace "\n" " " (org-agent-model-test-test--text))))))

(provide 'org-agent-model-test-test)
;;; org-agent-model-test-test.el ends here
