;;; org-agent-kernel-start-test.el --- Tests of finding and starting the kernel  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The program is a shell script here; that of the project is used in
;; `org-agent-kernel-test.el'.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-chat)
(require 'org-agent-kernel)
(require 'org-agent-rpc)
(require 'org-agent-doctor)
(require 'org-agent-setup)

(defun org-agent-kernel-start-test--program (script)
  "Make an executable of the shell SCRIPT and return its name."
  (let ((file (expand-file-name "program" org-agent-fake-directory)))
    (with-temp-file file (insert "#!/bin/sh\n" script))
    (set-file-modes file #o755)
    file))

(ert-deftest org-agent-kernel-files-of-homes ()
  "The default home has a plain file name, every other one its own."
  (let* ((directory (file-truename (make-temp-file "org-agent-test" t)))
         (process-environment
          (append (list (concat "HOME=" directory) "ORG_AGENT_HOME"
                        "XDG_STATE_HOME")
                  process-environment))
         (org-agent-home nil))
    (unwind-protect
        (progn
          (should (equal (org-agent-state-file "token")
                         (concat directory "/.local/state/org-agent/token")))
          (let ((process-environment
                 (cons (concat "XDG_STATE_HOME=" directory "/st")
                       process-environment)))
            (should (equal (org-agent-state-file "token")
                           (concat directory "/st/org-agent/token")))
            (let ((org-agent-home (concat directory "/other")))
              (should (equal (org-agent-state-file "token")
                             (format "%s/st/org-agent-%s/token" directory
                                     (substring (secure-hash
                                                 'sha256 (concat directory "/other"))
                                                0 8))))))
          (let ((process-environment
                 (cons "XDG_STATE_HOME=relative/is/ignored"
                       process-environment)))
            (should (equal (org-agent-state-file "token")
                           (concat directory
                                   "/.local/state/org-agent/token"))))
          (make-directory (concat directory "/.org-agent"))
          (make-symbolic-link (concat directory "/.org-agent")
                              (concat directory "/link"))
          (let ((process-environment
                 (cons (concat "ORG_AGENT_HOME=" directory "/link")
                       process-environment)))
            (should (equal (org-agent-state-file "token")
                           (concat directory
                                   "/.local/state/org-agent/token")))))
      (delete-directory directory t))))

(defmacro org-agent-kernel-start-test--without-program (go &rest body)
  "Run BODY in a package without the program, but with the kernel's sources.
GO is a shell script, the program of Go, or nil for none."
  (declare (indent 1) (debug t))
  `(org-agent-fake-with-home
     (let* ((org-agent-program nil)
            (org-agent-directory
             (file-name-as-directory (expand-file-name "package" org-agent-fake-directory)))
            (bin (expand-file-name "path" org-agent-fake-directory))
            (exec-path (list bin))
            (sources (expand-file-name "kernel/cmd/org-agent/" org-agent-directory)))
       (make-directory sources t)
       (make-directory bin)
       (write-region "" nil (expand-file-name "main.go" sources) nil 'silent)
       (when ,go
         (let ((file (expand-file-name "go" bin)))
           (with-temp-file file (insert "#!/bin/sh\n" ,go))
           (set-file-modes file #o755)))
       (cl-letf (((symbol-function 'org-agent-doctor--go)
                  (lambda () (executable-find "go"))))
         ,@body)
       (when (get-buffer "*org-agent-build*")
         (kill-buffer "*org-agent-build*")))))

(defun org-agent-kernel-start-test--header ()
  "Return the header line of the chat."
  (with-current-buffer "*org-agent-chat*"
    (org-agent-header-line)))

(ert-deftest org-agent-kernel-no-program ()
  "Without a program, its sources or Go, the buffer says what to do.
Nothing blocks."
  (org-agent-kernel-start-test--without-program nil
    (org-agent-chat)
    (should (eq org-agent-kernel-state 'failed))
    (should (string-match-p "not found: install Go 1.26"
                            (org-agent-kernel-start-test--header))))
  (org-agent-kernel-start-test--without-program "exit 1"
    (delete-directory (expand-file-name "kernel" org-agent-directory) t)
    (org-agent-chat)
    (should (eq org-agent-kernel-state 'failed))
    (should (string-match-p "not found: put it on your PATH"
                            (org-agent-kernel-start-test--header)))))

(ert-deftest org-agent-kernel-builds-its-program ()
  "Where the program is missing it is built, and the chat goes on by itself.
Nothing is downloaded.  How far it is is seen, and Emacs does not block."
  (org-agent-kernel-start-test--without-program
      "echo \"$GOPROXY $GOTOOLCHAIN\" >../environment; echo modernc.org/sqlite >&2
while ! [ -e ../go-on ]; do sleep 0.05; done
while [ \"$1\" != -o ]; do shift; done
printf '#!/bin/sh\\ntouch %s/../started\\n' \"$PWD\" >\"$2\"; chmod 755 \"$2\""
    (org-agent-chat)
    (should (eq org-agent-kernel-state 'building))
    (org-agent-fake-wait
     (string-match-p "building the kernel: 1 of some [0-9]+ packages"
                     (org-agent-kernel-start-test--header)))
    (org-agent-kernel-ensure)           ; as a message that is sent does
    (should-error (org-agent-build) :type 'user-error)
    ;; The page of the setup, which waits for it, says why it is empty.
    (save-window-excursion
      (org-agent-setup)
      (with-current-buffer "*org-agent-setup*"
        (should (string-match-p "\\` building the kernel: 1 of some [0-9]+ packages\\'"
                                (eval (cadr header-line-format) t)))
        (kill-buffer)))
    (should-not (org-agent-kernel-program))
    (org-agent-fake-start)
    (delete-file (org-agent-state-file "kernel.json"))
    (write-region "" nil (expand-file-name "go-on" org-agent-fake-directory) nil 'silent)
    (org-agent-fake-wait (file-exists-p (expand-file-name "started" org-agent-fake-directory)))
    (should (equal (org-agent-kernel-program)
                   (expand-file-name "bin/org-agent" org-agent-directory)))
    (should-not (file-exists-p (expand-file-name "bin/org-agent.new" org-agent-directory)))
    (should (equal (with-temp-buffer
                     (insert-file-contents
                      (expand-file-name "environment" org-agent-fake-directory))
                     (buffer-string))
                   "off local\n"))
    (org-agent-fake-stop)
    (org-agent-fake-start)
    (org-agent-kernel-ensure)
    (org-agent-fake-wait (org-agent-kernel-ready-p))))

(ert-deftest org-agent-kernel-packages-are-counted-right ()
  "As many packages as the program is compiled from are about those that are told."
  (let* ((default-directory (org-agent-doctor--kernel-sources))
         (packages (length (process-lines (org-agent-doctor--go) "list" "-deps"
                                          "./kernel/cmd/org-agent"))))
    (should (< (* 0.85 packages) org-agent-doctor--packages (* 1.15 packages)))))

(ert-deftest org-agent-kernel-start-says-what-takes-long ()
  "What a kernel says of its start is seen in the header line, with its `%'.
When it does not start after all, the reason is its last line."
  (org-agent-fake-with-home
   (let ((org-agent-program (expand-file-name "slow" org-agent-fake-directory)))
     (with-temp-file org-agent-program
       (insert "#!/bin/sh\necho 'org-agent: starting: upgrading the journal, 7 %' >&2\n"
               "while ! [ -e " org-agent-fake-directory "/on ]; do sleep 0.05; done\n"
               "echo 'org-agent: starting: upgrading the journal, 40 %' >&2\n"
               "while ! [ -e " org-agent-fake-directory "/off ]; do sleep 0.05; done\n"
               "echo 'org-agent: no room' >&2; exit 1\n"))
     (set-file-modes org-agent-program #o755)
     (org-agent-chat)
     (org-agent-fake-wait
      (string-match-p "upgrading the journal, 7 %%" (org-agent-kernel-start-test--header)))
     (write-region "" nil (expand-file-name "on" org-agent-fake-directory) nil 'silent)
     (org-agent-fake-wait
      (string-match-p "upgrading the journal, 40 %%" (org-agent-kernel-start-test--header)))
     (write-region "" nil (expand-file-name "off" org-agent-fake-directory) nil 'silent)
     (org-agent-fake-wait (eq org-agent-kernel-state 'failed))
     (should (string-match-p "no room" org-agent-kernel-trouble))
     (should-not (string-match-p "upgrading" org-agent-kernel-trouble)))))

(ert-deftest org-agent-kernel-program-is-not-built ()
  "A build that fails or is stopped says so, and what to do.
What it had written is not taken for the program."
  (pcase-dolist (`(,go . ,said)
                 '(("echo 'm@v1: module lookup disabled by GOPROXY=off' >&2; exit 1"
                    . "not on this machine: M-x org-agent-build downloads")
                   ("echo 'go: go.mod requires go >= 1.26.0 (running go 1.21)' >&2; exit 1"
                    . "needs Go 1.26.0 or later")
                   ("echo 'no space left' >&2; exit 1" . "could not be built: no space left")))
    (org-agent-kernel-start-test--without-program go
      (org-agent-chat)
      (org-agent-fake-wait (eq org-agent-kernel-state 'failed))
      (should (string-match-p (regexp-quote said) org-agent-kernel-trouble))
      (should-not (org-agent-kernel-program))))
  (org-agent-kernel-start-test--without-program
      "while [ \"$1\" != -o ]; do shift; done; echo half >\"$2\"; chmod 755 \"$2\"; exec sleep 100"
    (let ((new (expand-file-name "bin/org-agent.new" org-agent-directory)))
      (org-agent-chat)
      (org-agent-fake-wait (file-exists-p new))
      (kill-buffer "*org-agent-build*")
      (org-agent-fake-wait (eq org-agent-kernel-state 'failed))
      (should (string-match-p "M-x org-agent-build begins it again" org-agent-kernel-trouble))
      (should-not (file-exists-p new)))))

(ert-deftest org-agent-kernel-program-is-downloaded-when-asked ()
  "`org-agent-build' lets Go download; its trouble is said beside a kernel too."
  (org-agent-kernel-start-test--without-program
      "echo \"<$GOPROXY>\" >../environment; exit 1"
    (let ((process-environment (cons "GOPROXY=https://proxy.invalid" process-environment)))
      (org-agent-build)
      (org-agent-fake-wait (eq org-agent-kernel-state 'failed))
      (should (equal (with-temp-buffer
                       (insert-file-contents
                        (expand-file-name "environment" org-agent-fake-directory))
                       (buffer-string))
                     "<https://proxy.invalid>\n")))))

(ert-deftest org-agent-kernel-start-fails ()
  "The message of a kernel that does not start is shown; it is tried once."
  (org-agent-fake-with-home
    (let ((org-agent-program
           (org-agent-kernel-start-test--program
            (format "echo x >> %s/tries; echo 'org-agent: no space left' >&2; exit 1"
                    org-agent-fake-directory))))
      (org-agent-chat)
      (should (eq org-agent-kernel-state 'starting))
      (org-agent-fake-wait (eq org-agent-kernel-state 'failed))
      (should (string-match-p "no space left" org-agent-kernel-trouble))
      (org-agent-kernel--retry)
      (org-agent-fake-settle)
      (with-temp-buffer
        (insert-file-contents (expand-file-name "tries" org-agent-fake-directory))
        (should (= 1 (count-lines (point-min) (point-max))))))))

(ert-deftest org-agent-kernel-start-is-asynchronous ()
  "A slow kernel does not block Emacs.
This one is ready only after Emacs has written a file."
  (org-agent-fake-with-home
    (let* ((go (expand-file-name "go" org-agent-fake-directory))
           (org-agent-program
            (org-agent-kernel-start-test--program
             (format "for i in $(seq 300); do [ -e %s ] && break; sleep 0.1; done; [ -e %s ] && echo 'org-agent: ready /x'"
                     go go))))
      (org-agent-chat)
      (should-not (org-agent-kernel-ready-p))
      (org-agent-fake-start)
      (write-region "" nil go nil 'silent)
      (org-agent-fake-wait (org-agent-kernel-ready-p)))))

(ert-deftest org-agent-kernel-gets-the-token ()
  "The first message is the handshake, with the token."
  (org-agent-fake-with-chat
    (let ((params (car (org-agent-fake-requests "initialize"))))
      (should (equal (plist-get params :token) "secret"))
      (should (equal (plist-get params :protocol) '(:min 1 :max 1)))
      (let ((can (plist-get (plist-get params :client) :capabilities)))
        (should (plist-get can :keeps-file))
        (should (plist-get can :streams))
        (should (equal (plist-get can :performs)
                       '("message" "open" "edit" "set-properties"
                         "insert-at-end")))))))

(ert-deftest org-agent-kernel-refuses ()
  "After a refusal the kernel is not asked again."
  (org-agent-fake-with-home
    (setq org-agent-fake-answers
          (list (cons "initialize"
                      (lambda (_) '(:error (:code -32008 :message "too old"))))))
    (org-agent-fake-start)
    (org-agent-kernel-ensure)
    (org-agent-fake-wait (eq org-agent-kernel-state 'failed))
    (org-agent-fake-settle)
    (should (string-match-p "too old" org-agent-kernel-trouble))
    (should (= 1 (length (org-agent-fake-requests "initialize"))))
    (should-not org-agent-kernel--timer)))

(ert-deftest org-agent-kernel-that-says-nothing ()
  "A kernel that never answers the handshake is given up."
  (org-agent-fake-with-home
    (push (cons "initialize" (lambda (_) 'silence)) org-agent-fake-answers)
    (let ((org-agent-kernel--connect-timeout 0.1))
      (org-agent-fake-start)
      (org-agent-kernel-ensure)
      (should (eq org-agent-kernel-state 'connecting))
      (org-agent-fake-wait (eq org-agent-kernel-state 'lost))
      (setq org-agent-fake-answers nil
            org-agent-kernel--connect-timeout org-agent-fake-timeout)
      (org-agent-fake-wait (org-agent-kernel-ready-p)))))

(ert-deftest org-agent-kernel-comes-back ()
  "After a kernel died, Emacs connects to the next one."
  (org-agent-fake-with-chat
    (org-agent-fake-kill)
    (org-agent-fake-wait (not org-agent-chat-attached))
    (should (string-match-p "kernel lost\\|no kernel" (org-agent-header-line)))
    (org-agent-fake-start)
    (org-agent-fake-wait (eq org-agent-chat-attached t))
    (should (= 2 (length (org-agent-fake-requests "session/load"))))))

(ert-deftest org-agent-kernel-that-died-is-started ()
  "A kernel that died is started again; one that was stopped is not."
  (org-agent-fake-with-home
    (let ((org-agent-program
           (org-agent-kernel-start-test--program
            (format "echo x >> %s/tries; exit 1" org-agent-fake-directory)))
          (tries (lambda () (file-exists-p
                             (expand-file-name "tries"
                                               org-agent-fake-directory)))))
      (org-agent-fake-start)
      (org-agent-chat)
      (org-agent-fake-wait (org-agent-kernel-ready-p))
      (org-agent-fake-stop)
      (org-agent-fake-wait (eq org-agent-kernel-state 'lost))
      (dotimes (_ 40) (accept-process-output nil 0.02))
      (should-not (funcall tries))
      (org-agent-fake-start)
      (org-agent-fake-wait (org-agent-kernel-ready-p))
      (org-agent-fake-kill)
      (org-agent-fake-wait (funcall tries)))))

(ert-deftest org-agent-kernel-stops ()
  "`org-agent-stop' ends the kernel, and Emacs does not look for it."
  (org-agent-fake-with-chat
    (push (cons "shutdown" (lambda (_) (run-at-time 0.05 nil #'org-agent-fake-stop) nil))
          org-agent-fake-answers)
    (org-agent-stop)
    (org-agent-fake-wait (not (org-agent-rpc-live-p org-agent-kernel--connection)))
    (should (eq org-agent-kernel-state 'stopped))
    (should-not org-agent-kernel--timer)
    (should (string-match-p "C-c C-c starts one" (org-agent-header-line)))
    (org-agent-fake-start)
    (org-agent-fake-say "Are you back?")
    (should (org-agent-kernel-ready-p))))

(ert-deftest org-agent-kernel-stops-while-it-starts ()
  "A kernel that is stopped while it starts is stopped when it listens."
  (org-agent-fake-with-home
    (org-agent-fake-start)
    (push (cons "shutdown" (lambda (_) (run-at-time 0.05 nil #'org-agent-fake-stop) nil))
          org-agent-fake-answers)
    (org-agent-kernel-ensure)
    (should (eq org-agent-kernel-state 'connecting))
    (org-agent-stop)
    (org-agent-fake-wait (org-agent-fake-requests "shutdown"))
    (org-agent-fake-wait (not org-agent-kernel--connection))
    (should (eq org-agent-kernel-state 'stopped))
    (should-not org-agent-kernel--timer)
    ;; Who wants it again before it has listened has it.
    (org-agent-fake-start)
    (org-agent-kernel-ensure)
    (org-agent-stop)
    (org-agent-kernel-ensure)
    (org-agent-fake-wait (org-agent-kernel-ready-p))
    (should (= 1 (length (org-agent-fake-requests "shutdown"))))))

(provide 'org-agent-kernel-start-test)
;;; org-agent-kernel-start-test.el ends here
