;;; org-agent-kernel.el --- Finding, starting and keeping the org-agent kernel  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; One kernel serves every Emacs of a home.  This file finds it
;; (`kernel.json' and `token' in the state directory), starts it when none
;; runs, and reconnects when the connection is lost.
;;
;; All functions return at once, but `org-agent-kernel-call'.  When the
;; kernel is ready `org-agent-kernel-ready-hook' runs, and when it is lost
;; `org-agent-kernel-lost-hook'.  A kernel that died is started again; one
;; that was stopped on purpose, when a person uses it.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'subr-x)
(require 'org-agent)
(require 'org-agent-rpc)

(declare-function org-agent-doctor-build "org-agent-doctor")
(declare-function org-agent-doctor-starting "org-agent-doctor")

(defvar org-agent-kernel--connect-timeout 10
  "Seconds that a kernel has to accept a connection.")

(defvar org-agent-kernel-ready-hook
  '(org-agent-send-check-environment org-agent-skill-help
    org-agent-tasks-announce-wanted)
  "Hook run when a kernel has accepted this Emacs as a client.")

(defvar org-agent-kernel-lost-hook nil
  "Hook run when the kernel was lost or could not be reached.")

(defvar org-agent-kernel-state 'none
  "The state of the connection to the kernel, a symbol.
It is `none', `building' (the program is built first), `starting',
`connecting', `ready', `lost' (Emacs tries to reconnect), `failed' (the
kernel did not start) or `stopped' (on purpose).")

(defvar org-agent-kernel-trouble nil
  "Why there is no kernel yet, a line for a person, or nil.")

(defvar org-agent-kernel-server nil
  "The kernel's description of itself, a plist (:version :pid :home :model …).")

(defvar org-agent-kernel--connection nil
  "The connection, or nil.")

(defvar org-agent-kernel--starter nil
  "The process that starts a kernel, or nil.")

(defvar org-agent-kernel--timer nil
  "The timer of the next attempt to reach the kernel, or nil.")

(defvar org-agent-kernel--wanted nil
  "Non-nil when Emacs is to reconnect to a lost kernel.")

(defvar org-agent-kernel--attempts 0
  "The number of attempts to reach the kernel since the last success.")

(defvar org-agent-kernel--ready-since nil
  "When the kernel was last ready, in seconds, or nil.")

;;;; Files of the kernel

(defun org-agent-kernel--description ()
  "Return the content of `kernel.json', an alist, or nil."
  (let ((file (org-agent-state-file "kernel.json"))
        (json-object-type 'alist)
        (json-key-type 'symbol))
    (when (file-readable-p file)
      (condition-case nil
          (let ((description (json-read-file file)))
            (and (stringp (alist-get 'socket description)) description))
        (error nil)))))

(defun org-agent-kernel-token ()
  "Return the token that the kernel requires, or nil."
  (let ((file (org-agent-state-file "token")))
    (when (file-readable-p file)
      (with-temp-buffer
        (insert-file-contents-literally file)
        (string-trim (buffer-string))))))

(defun org-agent-kernel-program ()
  "Return the org-agent program, or nil when it cannot be found."
  (let ((beside (cl-find-if #'file-executable-p
                            (mapcar (lambda (name)
                                      (expand-file-name name org-agent-directory))
                                    '("bin/org-agent" "../bin/org-agent")))))
    (cond
     ((and org-agent-program (file-remote-p org-agent-program)) nil)
     (org-agent-program
      (expand-file-name org-agent-program
                        (and (file-remote-p default-directory) "~/")))
     (beside)
     (t (executable-find "org-agent")))))

;;;; Connecting

(defun org-agent-kernel-ready-p ()
  "Return non-nil when the kernel accepts requests."
  (and (eq org-agent-kernel-state 'ready)
       (org-agent-rpc-live-p org-agent-kernel--connection)))

(defun org-agent-kernel-check ()
  "Signal an error unless the kernel accepts requests."
  (unless (org-agent-kernel-ready-p)
    (user-error "No kernel is running; M-x org-agent-chat starts one")))

(defun org-agent-kernel-ensure ()
  "Connect to the kernel, starting one when none runs.
Return at once; `org-agent-kernel-ready-hook' runs when it is ready."
  (setq org-agent-kernel--wanted t)
  (unless (or (memq org-agent-kernel-state '(building starting connecting))
              (org-agent-kernel-ready-p))
    (setq org-agent-kernel--attempts 0)
    (org-agent-kernel--cancel-timer)
    (or (org-agent-kernel--connect)
        (org-agent-kernel--start))))

(defun org-agent-kernel--connect ()
  "Connect to the kernel that `kernel.json' names.
Return non-nil when a process listens there."
  (when-let* ((description (org-agent-kernel--description))
              (connection
               (condition-case err
                   (org-agent-rpc-connect (alist-get 'socket description)
                                          :request #'org-agent-kernel--answer
                                          :notification #'org-agent-kernel--notice
                                          :close #'org-agent-kernel--lost)
                 (error (setq org-agent-kernel-trouble
                              (error-message-string err))
                        nil))))
    (setq org-agent-kernel--connection connection
          org-agent-kernel-state 'connecting)
    (org-agent-rpc-request
     connection "initialize"
     (list :protocol '(:min 1 :max 1)
           :client (list :name "emacs" :version org-agent-version
                         :emacs emacs-version
                         :capabilities (org-agent-kernel--capabilities))
           :token (org-agent-kernel-token))
     :success #'org-agent-kernel--initialized
     :failure #'org-agent-kernel--refused)
    (run-at-time org-agent-kernel--connect-timeout nil
                 #'org-agent-kernel--give-up connection)
    t))

(defun org-agent-kernel--give-up (connection)
  "Close CONNECTION if the kernel has not accepted this client yet."
  (when (and (eq connection org-agent-kernel--connection)
             (eq org-agent-kernel-state 'connecting))
    (org-agent-rpc-close connection)))

(defun org-agent-kernel--initialized (result)
  "Note that the kernel has accepted this client; RESULT is its answer.
If a person stopped the kernel meanwhile, shut it down now."
  (if org-agent-kernel--wanted
      (org-agent-kernel--be-ready result)
    (setq org-agent-kernel-state 'stopped)
    (org-agent-kernel--shut-down)))

(defun org-agent-kernel--be-ready (result)
  "Note that the kernel accepts requests; RESULT is that of `initialize'."
  (setq org-agent-kernel-state 'ready
        org-agent-kernel-trouble nil
        org-agent-kernel--ready-since (float-time)
        org-agent-kernel-server (plist-get result :server))
  (when-let* ((notice (plist-get org-agent-kernel-server :notice)))
    (org-agent-rpc-log "%s" notice)
    (org-agent-say "org-agent: %s" notice))
  (run-hooks 'org-agent-kernel-ready-hook))

(defun org-agent-kernel--refused (refusal)
  "Note that the kernel has not accepted this client; REFUSAL says why."
  (unless (org-agent-rpc-refused-p refusal 'lost) ; see `org-agent-kernel--lost'
    (setq org-agent-kernel--wanted nil)
    (org-agent-kernel--fail
     (format "The kernel refused this Emacs: %s.  Run M-x org-agent-stop and M-x org-agent-chat to start one of the same version"
             (plist-get refusal :message)))
    (org-agent-rpc-close org-agent-kernel--connection)))

(defun org-agent-kernel--lost (connection reason)
  "Note that CONNECTION was lost because of REASON, and reconnect.
Ignore a connection that is not in use any more."
  (when (eq connection org-agent-kernel--connection)
    (org-agent-kernel--note-lost reason)))

(defun org-agent-kernel--note-lost (reason)
  "Note that there is no connection because of REASON, and reconnect.
If kernels die soon after each start, reconnect ever more slowly."
  (setq org-agent-kernel--connection nil)
  (when (and org-agent-kernel--ready-since
             (> (- (float-time) org-agent-kernel--ready-since) 10))
    (setq org-agent-kernel--attempts 0))
  (setq org-agent-kernel--ready-since nil)
  (unless (memq org-agent-kernel-state '(stopped failed))
    (setq org-agent-kernel-state 'lost
          org-agent-kernel-trouble reason))
  (org-agent-rpc-log "%s" reason)
  (run-hooks 'org-agent-kernel-lost-hook)
  (org-agent-kernel--schedule))

(defun org-agent-kernel--fail (trouble)
  "Note that there is no kernel because of TROUBLE, and report that once."
  (setq org-agent-kernel-state 'failed)
  (unless (equal trouble org-agent-kernel-trouble)
    (org-agent-say "org-agent: %s" trouble))
  (setq org-agent-kernel-trouble trouble)
  (org-agent-rpc-log "%s" trouble)
  (run-hooks 'org-agent-kernel-lost-hook)
  (org-agent-kernel--schedule))

(defun org-agent-kernel--cancel-timer ()
  "Cancel the next attempt to reach the kernel."
  (when org-agent-kernel--timer
    (cancel-timer org-agent-kernel--timer)
    (setq org-agent-kernel--timer nil)))

(defun org-agent-kernel--schedule ()
  "Schedule an attempt to reconnect, later each time, ten seconds at most."
  (org-agent-kernel--cancel-timer)
  (when org-agent-kernel--wanted
    (let ((delay (min 10 (* 0.1 (expt 2 (min 10 org-agent-kernel--attempts))))))
      (cl-incf org-agent-kernel--attempts)
      (setq org-agent-kernel--timer
            (run-at-time delay nil #'org-agent-kernel--retry)))))

(defun org-agent-kernel--retry ()
  "Try to reach the kernel once more.
If a kernel has died and left its `kernel.json', it is started again.
A kernel that was stopped deleted it."
  (setq org-agent-kernel--timer nil)
  (unless (or (memq org-agent-kernel-state '(building starting connecting))
              (org-agent-kernel-ready-p)
              (org-agent-kernel--connect))
    (if (and (eq org-agent-kernel-state 'lost)
             (org-agent-kernel--description))
        (org-agent-kernel--start)
      (org-agent-kernel--schedule))))

;;;; Starting and stopping

(defun org-agent-kernel--start ()
  "Start a kernel in the background."
  (let ((program (org-agent-kernel-program)))
    (cond
     ((process-live-p org-agent-kernel--starter))
     ((not program) (org-agent-kernel-build #'org-agent-doctor-build))
     (t (condition-case err
            (org-agent-kernel--run program)
          (error (org-agent-kernel--fail
                  (format "%s could not be started: %s" program
                          (error-message-string err)))))))))

(defun org-agent-kernel-build (build)
  "Have BUILD build the program, and start a kernel when it has.
BUILD is a function of one argument.  It calls that with the trouble, or
with nil, when it has ended.  It sets `org-agent-kernel-trouble' to its
progress."
  (unless (org-agent-kernel-ready-p)
    (setq org-agent-kernel-state 'building
          org-agent-kernel-trouble "building the kernel"))
  (funcall build
           (lambda (trouble)
             (cond
              ((not (eq org-agent-kernel-state 'building))
               (when trouble (message "org-agent: %s" trouble)))
              (trouble (org-agent-kernel--fail trouble))
              (t (setq org-agent-kernel-state 'none
                       org-agent-kernel-trouble nil)
                 (org-agent-kernel-ensure))))))

(defun org-agent-kernel--run (program)
  "Run PROGRAM, which starts a kernel in the background and ends."
  (setq org-agent-kernel-state 'starting org-agent-kernel-trouble nil)
  (let ((output (generate-new-buffer " *org-agent-serve*" t))
        (default-directory (file-name-as-directory (expand-file-name "~"))))
    (setq org-agent-kernel--starter
          (make-process
           :name "org-agent-serve" :buffer output :noquery t
           :connection-type 'pipe :coding 'utf-8-unix
           :command (append (list program "serve" "--detach")
                            (org-agent-kernel-home-arguments))
           :sentinel #'org-agent-kernel--started :filter #'org-agent-doctor-starting))))

(defun org-agent-kernel--started (process _event)
  "Connect to the kernel that PROCESS has started, or report the failure."
  (unless (process-live-p process)
    (let ((output (with-current-buffer (process-buffer process)
                    (string-trim (buffer-string)))))
      (kill-buffer (process-buffer process))
      (setq org-agent-kernel--starter nil)
      (cond
       ((not (memq org-agent-kernel-state '(starting stopped))))
       ;; Also after a failure: another Emacs may have started one.
       ((org-agent-kernel--connect))
       ((not org-agent-kernel--wanted))
       (t (org-agent-kernel--fail
           (if (zerop (process-exit-status process))
               (format "The kernel started but does not listen (%s).  See %s"
                       org-agent-kernel-trouble
                       (abbreviate-file-name (org-agent-state-file "log.jsonl")))
             (org-agent-kernel--reason output))))))))

(defun org-agent-kernel--reason (output)
  "Return a message made from the OUTPUT of a kernel that did not start."
  (let ((line (car (last (split-string output "\n" t "[ \t]+")))))
    (if line
        (format "The kernel did not start: %s" line)
      "The kernel did not start and said nothing.  Run `org-agent serve' in a terminal to see why")))

(defun org-agent-kernel-stop ()
  "Stop the kernel; it is not started again until a person uses it."
  (setq org-agent-kernel--wanted nil)
  (org-agent-kernel--cancel-timer)
  (cond ((org-agent-kernel-ready-p)
         (org-agent-kernel--shut-down))
        ((memq org-agent-kernel-state '(starting connecting))
         (message "The kernel is stopped as soon as it listens"))
        (t (message "No kernel is running")))
  (setq org-agent-kernel-state 'stopped
        org-agent-kernel-trouble nil)
  (run-hooks 'org-agent-kernel-lost-hook))

(defun org-agent-kernel--shut-down ()
  "Ask the kernel to end."
  (org-agent-rpc-request
   org-agent-kernel--connection "shutdown" nil
   :success (lambda (_) (message "The kernel is stopping"))
   :failure (lambda (refusal)
              (unless (org-agent-rpc-refused-p refusal 'lost)
                (message "The kernel does not stop: %s" (plist-get refusal :message))))))

;;;###autoload
(defun org-agent-stop ()
  "Stop the agent's kernel.
It is started again by \\[org-agent-chat], or by sending a message."
  (interactive)
  (org-agent-kernel-stop))

;;;; The program

(cl-defun org-agent-kernel-start-program (command ended
                                                  &key filter timeout
                                                  (coding 'utf-8-unix))
  "Start COMMAND, a list of a program and its arguments; return its process.
When it has ended call ENDED, once, with the process, its output and the
last line of its error output, or nil.  With FILTER, a function of the
process and a string, the output goes there instead.  CODING decodes the
output.  A process that takes more than TIMEOUT seconds is killed.
Signal a `user-error' when the program cannot be started."
  (let* ((name (file-name-nondirectory (car command)))
         ;; The program is one of this machine, wherever the buffer is.
         (default-directory (file-name-as-directory (expand-file-name "~")))
         (errors (make-pipe-process
                  :name (concat name "-errors") :noquery t
                  :buffer (generate-new-buffer " *org-agent-errors*" t)
                  :sentinel #'ignore :coding 'utf-8-unix))
         (pieces nil)
         (process
          (condition-case err
              (make-process
               :name name :noquery t :connection-type 'pipe :coding coding
               :command command :stderr errors
               :filter (or filter
                           (lambda (_process piece) (push piece pieces)))
               :sentinel
               (lambda (process _event)
                 (unless (process-live-p process)
                   (let ((complaint (org-agent-kernel--complaint errors)))
                     (org-agent-rpc-guard (format "the end of %s" name)
                       (funcall ended process
                                (apply #'concat (nreverse pieces))
                                complaint))))))
            (error (org-agent-kernel--complaint errors)
                   (user-error "%s could not be run: %s" (car command)
                               (error-message-string err))))))
    (when timeout
      (run-at-time timeout nil
                   (lambda ()
                     (when (process-live-p process)
                       (kill-process process)))))
    process))

(defun org-agent-kernel--complaint (errors)
  "Return the last line that came from the process ERRORS, and delete it."
  (while (accept-process-output errors 0 nil t))
  (prog1 (when (buffer-live-p (process-buffer errors))
           (with-current-buffer (process-buffer errors)
             (prog1 (car (last (split-string (buffer-string) "\n" t "[ \t\r]+")))
               (kill-buffer))))
    (delete-process errors)))

(defun org-agent-kernel-run-program (arguments done &optional timeout)
  "Run the program with ARGUMENTS for this home and return its process.
When it has ended call DONE, once, with its exit status or `killed', its
output and the last line of its error output.  It is killed after
TIMEOUT seconds, 60 by default.  Signal a `user-error' when there is no
program."
  (org-agent-kernel-start-program
   (append (list (or (org-agent-kernel-program)
                     (user-error "The program org-agent was not found; M-x org-agent-doctor says what to do")))
           (org-agent-kernel-home-arguments)
           arguments)
   (lambda (process output complaint)
     (funcall done
              (if (eq (process-status process) 'exit)
                  (process-exit-status process)
                'killed)
              output
              (or complaint "the program ended without a word")))
   :timeout (or timeout 60)))

(defun org-agent-kernel-home-arguments ()
  "Return the arguments that name this home to the program."
  (and org-agent-home
       (list "--home" (directory-file-name (org-agent-home-directory)))))

;;;; Requests and notifications of the kernel

(defvar org-agent-kernel-notified-functions nil
  "Abnormal hook run when a notification of the kernel was handled.
The functions get its method, a symbol, and its parameters, a plist.")

(defun org-agent-kernel--capabilities ()
  "Return the capabilities of this Emacs, for the kernel.
They are the keys of `org-agent-performers' and `org-agent-requests'."
  (list :keeps-file t :streams t :notices t
        :performs (cl-loop for (action . _) in org-agent-performers
                           collect (substring (symbol-name action) 1))
        :answers (cl-loop for (method . _) in org-agent-requests
                          unless (eq method 'act)
                          collect (symbol-name method))))

(defun org-agent-kernel--answer (method params)
  "Answer the request METHOD with PARAMS: return the result."
  (let ((function (alist-get method org-agent-requests)))
    (unless function
      (org-agent-rpc-refuse 'unknown-method "this Emacs knows no method %s" method))
    (funcall function params)))

(defun org-agent-kernel--notice (method params)
  "Handle the notification METHOD with PARAMS.
A notification that this Emacs does not know is only logged."
  (let ((function (alist-get method org-agent-notifications)))
    (if function
        (funcall function params)
      (org-agent-rpc-log "ignored: the kernel sent an unknown notification, %s"
                         method)))
  (run-hook-with-args 'org-agent-kernel-notified-functions method params))

(defun org-agent-kernel-performer (act)
  "Return the function that performs ACT in this Emacs, or nil."
  (and (eq (plist-get act :type) :request)
       (eq (plist-get act :target) :emacs)
       (alist-get (plist-get (plist-get act :payload) :action)
                  org-agent-performers)))

;;;###autoload
(defun org-agent-kernel-perform (params)
  "Perform the act with PARAMS and return its receipt.
The kernel's policy has allowed it; performers check their own
conditions again."
  (unless (and (eq (plist-get params :type) :request)
               (eq (plist-get params :target) :emacs))
    (org-agent-kernel-refuse "an Emacs performs requests to :emacs only"))
  (let ((function (org-agent-kernel-performer params)))
    (unless function
      (org-agent-rpc-refuse 'unknown-method "this Emacs does not perform %s"
                            (plist-get (plist-get params :payload) :action)))
    (let ((receipt (funcall function params)))
      (org-agent-rpc-guard "marking what an act inserted"
        (org-agent-kernel--mark receipt (plist-get params :id)))
      receipt)))

(defun org-agent-kernel-refuse (format-string &rest arguments)
  "Refuse the current act with a reason.
FORMAT-STRING and ARGUMENTS are as for `format'."
  (apply #'org-agent-rpc-refuse 'forbidden format-string arguments))

(defun org-agent-kernel-text (params)
  "Return the `:text' of the act with PARAMS; refuse an act without one."
  (let ((text (plist-get (plist-get params :payload) :text)))
    (unless (stringp text)
      (org-agent-kernel-refuse "the act has no text"))
    text))

(defun org-agent-kernel--mark (receipt id)
  "Give the text that RECEIPT names the property `org-agent-id' ID.
This does not modify the buffer.  Text that is typed beside it does not
inherit the property."
  (when-let* ((name (plist-get receipt :buffer))
              (buffer (get-buffer name))
              (beg (plist-get receipt :start))
              (end (plist-get receipt :end)))
    (with-current-buffer buffer
      (setq-local text-property-default-nonsticky
                  (cons '(org-agent-id . t)
                        (assq-delete-all
                         'org-agent-id
                         (copy-sequence text-property-default-nonsticky))))
      (save-restriction
        (widen)
        (when (<= (point-min) beg end (point-max))
          (with-silent-modifications
            (put-text-property beg end 'org-agent-id id)))))))

;;;; Requests

(cl-defun org-agent-kernel-request (method params &key success failure)
  "Send the kernel the request METHOD with PARAMS and return its id.
SUCCESS and FAILURE are as for `org-agent-rpc-request'.  Without a
kernel call FAILURE at once, and return nil."
  (if (org-agent-kernel-ready-p)
      (org-agent-rpc-request org-agent-kernel--connection method params
                             :success success :failure failure)
    (org-agent-rpc-fail failure (or org-agent-kernel-trouble
                                    "no kernel is running"))
    nil))

(cl-defun org-agent-kernel-request-here (method params &key success failure)
  "Send the kernel the request METHOD with PARAMS and return its id.
SUCCESS and FAILURE are as for `org-agent-kernel-request'.  They are
called in the buffer that is current now, unless it is killed meanwhile."
  (org-agent-kernel-request method params
                            :success (org-agent-kernel--here success)
                            :failure (org-agent-kernel--here failure)))

(defun org-agent-kernel--here (function)
  "Return a function that calls FUNCTION in the current buffer, if that lives."
  (let ((buffer (current-buffer)))
    (lambda (argument)
      (when (and function (buffer-live-p buffer))
        (with-current-buffer buffer
          (funcall function argument))))))

(defun org-agent-kernel-ask (method params success)
  "Send the kernel the request METHOD with PARAMS, starting one if none runs.
SUCCESS gets the result in the buffer that is current now.  A refusal is
shown in the echo area."
  (let* ((success (org-agent-kernel--here success))
         (ask (lambda ()
                (org-agent-kernel-request
                 method params
                 :success success
                 :failure (lambda (refusal)
                            (message "org-agent: %s"
                                     (plist-get refusal :message)))))))
    (if (org-agent-kernel-ready-p)
        (funcall ask)
      (letrec ((once (lambda ()
                       (remove-hook 'org-agent-kernel-ready-hook once)
                       (funcall ask))))
        (add-hook 'org-agent-kernel-ready-hook once 90)
        (message "Starting the kernel")
        (org-agent-kernel-ensure)))))

(defconst org-agent-kernel--call-timeout 30
  "Seconds that `org-agent-kernel-call' waits, with the start of a kernel.")

(defun org-agent-kernel-call (method params)
  "Return the result of the request METHOD with PARAMS; wait for it.
Start a kernel if none runs.  \\[keyboard-quit] ends the waiting.  Signal
a `user-error' when the kernel refuses or does not answer."
  (let* ((deadline (+ (float-time) org-agent-kernel--call-timeout))
         (wait (lambda (done)
                 (while (not (funcall done))
                   (when (or (> (float-time) deadline)
                             (eq org-agent-kernel-state 'failed))
                     (user-error "The kernel did not answer: %s"
                                 (or org-agent-kernel-trouble "it is busy")))
                   (accept-process-output nil 0.05))))
         answer refusal)
    (unless (org-agent-kernel-ready-p)
      (message "Starting the kernel")
      (org-agent-kernel-ensure)
      (funcall wait #'org-agent-kernel-ready-p))
    (org-agent-kernel-request method params
                              :success (lambda (result) (setq answer (list result)))
                              :failure (lambda (reply) (setq refusal reply)))
    (funcall wait (lambda () (or answer refusal)))
    (when refusal
      (user-error "%s" (plist-get refusal :message)))
    (car answer)))

(defun org-agent-kernel-cancel (id)
  "Ask the kernel to cancel the request ID."
  (org-agent-rpc-cancel org-agent-kernel--connection id))

(provide 'org-agent-kernel)
;;; org-agent-kernel.el ends here
