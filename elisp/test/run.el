;;; run.el --- Run the tests of the package  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: EMACS -Q --batch -L elisp -L elisp/test -l elisp/test/run.el
;;
;; All tests run; those with the project's kernel need ORG_AGENT_PROGRAM
;; and ORG_AGENT_LLMTEST, or both programs in `bin'.  RUN_SELECTOR, an ERT
;; selector, runs some of them, RUN_FILES those of these files, whose names
;; are separated by blanks.
;;
;; Tests wait more than they compute.  So they run in several Emacsen
;; beside each other, RUN_PROCESSES of them.  Each takes one test after the
;; other of those that none has taken.  It has a home of its own, and
;; ignores SIGPIPE, as every Emacs with a display or a terminal does: one
;; in batch mode would die where a test kills the kernel it is about to
;; talk to.
;;
;; The exit code is 0 when every test that was to run did, as expected.
;; A process that says nothing for RUN_TIMEOUT seconds (900) is made to
;; give its test up, with a backtrace, and is killed if it does not.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'package)

(defconst run-directory (file-name-directory load-file-name)
  "The directory of the tests.")

(defconst run-result
  "^ +\\([a-zA-Z]+\\) +1/1 +\\([^ \n]+\\) (\\([0-9.]+\\) sec)\\(?: at .*\\)?\n"
  "Matches what ERT prints when a test has ended.
Since Emacs 29 the line of a test that failed also says where the test is.")

(defconst run-noise
  (concat "^Running 1 tests (.*\n"
          "\\|^\nRan 1 tests, .*\n\n"
          "\\|^1 unexpected results:\n.*\n\n")
  "Matches what ERT prints besides when it runs one test.")

(defconst run-garbage (* 64 1024 1024)
  "How many bytes an Emacs may allocate until it collects garbage.
With Emacs's own number half of the time of the tests is for that.")

(defvar run-names nil
  "The names of the tests that are to run, symbols.")

(defvar run-workers nil
  "The processes that run tests.")

(defvar run-times nil
  "Tests that ended: names and seconds, newest first.")

(defvar run-troubles nil
  "What is wrong, a line each, newest first.")

(defun run-number (variable default)
  "Return the number in the environment VARIABLE, or DEFAULT."
  (let ((value (string-to-number (or (getenv variable) ""))))
    (if (> value 0) value default)))

(defun run-autoloads ()
  "Make the package's autoloads of its files as they are."
  (let ((inhibit-message t)
        (directory (expand-file-name ".." run-directory)))
    ;; What is there already would be believed by its time.
    (delete-file (expand-file-name "org-agent-autoloads.el" directory))
    (package-generate-autoloads "org-agent" directory)))

(defun run-files ()
  "Return the files whose tests are to run."
  (if-let* ((some (getenv "RUN_FILES")))
      (mapcar #'expand-file-name (split-string some))
    (directory-files run-directory t "\\`org-agent-.*-test\\.el\\'")))

(defun run-load ()
  "Load the tests, and what they require.
None is loaded twice: some require each other, and since Emacs 29 ERT
refuses to define a test again."
  (dolist (file (run-files))
    (require (intern (file-name-base file)) file)))

(defun run-selected ()
  "Return the names of the tests that are to run, all being loaded."
  (let ((selector (getenv "RUN_SELECTOR"))
        (files (run-files)))
    (seq-filter (lambda (name) (member (symbol-file name 'ert--test) files))
                (mapcar #'ert-test-name
                        (ert-select-tests
                         (if selector (car (read-from-string selector)) t)
                         t)))))

(defun run-say (format-string &rest arguments)
  "Print a line; FORMAT-STRING and ARGUMENTS are as for `format'."
  (princ (concat (apply #'format format-string arguments) "\n")
         #'external-debugging-output))

;;;; One process

(defun run-here (names directory)
  "Run those of the tests with NAMES that no other process has taken.
Which are taken is seen in DIRECTORY."
  (setq gc-cons-threshold run-garbage)
  (run-load)
  (setq ert-batch-backtrace-right-margin 160)
  (dolist (name names)
    (when (ignore-error file-already-exists
            (make-directory (expand-file-name (symbol-name name) directory))
            t)
      ;; `undo' and other commands go by what was done before, here by a
      ;; test that ran by chance in the same process.
      (let ((last-command nil) (this-command nil))
        (ert-run-tests-batch name))))
  (kill-emacs 0))

(defun run-start (directory)
  "Start a process that takes tests in DIRECTORY."
  (let* ((home (make-temp-file (expand-file-name "home" directory) t))
         (process-environment
          (append (list (format "RUN_TESTS=%S" run-names)
                        (concat "RUN_DIRECTORY=" directory)
                        (concat "HOME=" home)
                        "XDG_CONFIG_HOME" "XDG_DATA_HOME" "XDG_STATE_HOME"
                        "XDG_CACHE_HOME" "XDG_RUNTIME_DIR")
                  process-environment))
         (process
          (make-process
           :name "tests" :connection-type 'pipe :coding 'utf-8-unix
           :command
           (list "sh" "-c" "trap '' PIPE; exec \"$@\"" "sh"
                 (expand-file-name invocation-name invocation-directory)
                 "-Q" "--batch" "--eval" "(setq load-prefer-newer t)"
                 "-L" (expand-file-name ".." run-directory)
                 "-L" run-directory
                 "-l" (expand-file-name "run.el" run-directory))
           :filter #'run-take :sentinel #'ignore)))
    (process-send-eof process)
    (process-put process 'heard (float-time))
    (push process run-workers)))

(defun run-take (process text)
  "Print the TEXT that PROCESS printed as far as a test has ended with it.
So what belongs to one test stands together."
  (process-put process 'heard (float-time))
  (let ((text (concat (process-get process 'text) text)))
    (while (string-match run-result text)
      (let ((before (substring text 0 (match-beginning 0)))
            (how (match-string 1 text))
            (name (match-string 2 text))
            (time (string-to-number (match-string 3 text))))
        (setq text (substring text (match-end 0)))
        (push (cons (intern name) time) run-times)
        (unless (equal how "passed")
          (push (format "%s %s" how name) run-troubles))
        (run-say "%s%9s  %d/%d  %s (%.2f sec)"
                 (replace-regexp-in-string run-noise "" before)
                 how (length run-times) (length run-names) name time)))
    (process-put process 'text text)))

(defun run-watch (process timeout)
  "Have PROCESS give up its test when it was silent for TIMEOUT seconds.
The signal is one at which Emacs enters its debugger; for ERT that is the
end of the test, with a backtrace."
  (let ((silence (- (float-time) (process-get process 'heard))))
    (cond
     ((> silence (+ timeout 30)) (kill-process process))
     ((and (> silence timeout) (not (process-get process 'warned)))
      (process-put process 'warned t)
      (push (format "a process was silent for %d seconds" timeout)
            run-troubles)
      (signal-process process 'SIGUSR2)))))

(defun run-finish (process)
  "Note how PROCESS, which has ended, did."
  (setq run-workers (delq process run-workers))
  (unless (and (eq (process-status process) 'exit)
               (zerop (process-exit-status process)))
    (run-say "%s" (process-get process 'text))
    (push (format "a process ended: %s %d" (process-status process)
                  (process-exit-status process))
          run-troubles)))

;;;; All of them

(defun run-all ()
  "Run the tests in processes beside each other and end this Emacs."
  (setq gc-cons-threshold run-garbage)
  (run-autoloads)
  (run-load)
  (let* ((count (run-number "RUN_PROCESSES" 3))
         (timeout (run-number "RUN_TIMEOUT" 900))
         (began (float-time))
         (directory (make-temp-file "org-agent-tests" t)))
    (setq run-names (run-selected))
    (unless run-names (push "no test was selected" run-troubles))
    (unwind-protect
        (progn
          (dotimes (_ (min count (length run-names)))
            (run-start directory))
          (while run-workers
            (accept-process-output nil 1)
            (dolist (process run-workers)
              (if (or (process-live-p process)
                      (accept-process-output process 0))
                  (run-watch process timeout)
                (run-finish process)))))
      (mapc #'delete-process run-workers)
      (delete-directory directory t))
    (run-report (- (float-time) began) count)
    (kill-emacs (if run-troubles 1 0))))

(defun run-report (seconds count)
  "Say what came of the tests, in SECONDS and COUNT processes."
  (dolist (name run-names)
    (unless (assq name run-times)
      (push (format "no result of %s" name) run-troubles)))
  (run-say "\nThe longest:")
  (pcase-dolist (`(,name . ,time)
                 (seq-take (seq-sort-by #'cdr #'> run-times) 10))
    (run-say "%8.1f  %s" time name))
  (run-say "\nRan %d tests in %d seconds, in %d processes: %s"
           (length run-times) seconds count
           (if run-troubles "not as expected" "all as expected"))
  (dolist (trouble (reverse run-troubles))
    (run-say "   %s" trouble)))

(when noninteractive
  (if-let* ((names (getenv "RUN_TESTS")))
      (run-here (car (read-from-string names)) (getenv "RUN_DIRECTORY"))
    (run-all)))

(provide 'run)
;;; run.el ends here
