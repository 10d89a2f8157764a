;;; org-agent-fake-kernel.el --- A kernel that does as a test says  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A kernel in Emacs Lisp for what a real one cannot be made to do: faults
;; within a frame, deaths between two messages, hostile acts.  It listens on
;; a real Unix socket and is found through a real `kernel.json'.  It answers
;; requests from `org-agent-fake-answers'.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'org-agent)
(require 'org-agent-approval)
(require 'org-agent-chat)
(require 'org-agent-file-owner)
(require 'org-agent-heading)
(require 'org-agent-kernel)
(require 'org-agent-rpc)

(defvar org-agent-fake-server nil
  "The listening process.")

(defvar org-agent-fake-client nil
  "The process that talks to the Emacs under test.")

(defvar org-agent-fake-received nil
  "Messages that came, newest first.")

(defvar org-agent-fake-answers nil
  "How requests are answered: an alist of methods and functions.
A function gets the parameters and returns the result, (:error …) to
refuse, or `silence'.")

(defvar org-agent-fake-directory nil
  "The directory of the test: home and state directory are in it.")

(defvar org-agent-fake--request-id 0
  "The id of the latest request to Emacs.")

;;;; The package

(defun org-agent-fake-files ()
  "Return the names of the package's files, without directory and suffix."
  (cl-loop for file in (directory-files org-agent-directory nil
                                        "\\`\\(?:org-agent\\|ob-org-agent\\).*\\.el\\'")
           unless (string-suffix-p "-autoloads.el" file)
           collect (file-name-sans-extension file)))

(defun org-agent-fake-load-all ()
  "Load all files of the package."
  (dolist (file (org-agent-fake-files))
    (require (intern file))))

;;;; Waiting

(defvar org-agent-fake-timeout 180
  "Seconds after which `org-agent-fake-wait' gives up.")

(defmacro org-agent-fake-wait (form &optional what)
  "Let processes run until FORM is non-nil and return its value.
After `org-agent-fake-timeout' fail, naming WHAT."
  (declare (debug t))
  `(let ((deadline (+ (float-time) org-agent-fake-timeout)) value)
     (while (not (setq value ,form))
       (when (> (float-time) deadline)
         (ert-fail (list "waited in vain for" ,(or what (list 'quote form))
                         (mapcar (lambda (m) (plist-get m :method))
                                 org-agent-fake-received))))
       (accept-process-output nil 0.01))
     value))

(defun org-agent-fake-settle ()
  "Let processes and timers run until nothing more comes."
  (while (accept-process-output nil 0.05)))

;;;; The kernel

(defun org-agent-fake-start ()
  "Start a kernel and say where it is."
  (let ((socket (expand-file-name "kernel.sock" org-agent-fake-directory)))
    (when (file-exists-p socket) (delete-file socket))
    (setq org-agent-fake-server
          (make-network-process
           :name "org-agent-fake" :family 'local :server t :service socket
           :coding 'binary :noquery t :filter #'org-agent-fake--filter
           :log (lambda (_server client _message)
                  (process-put client 'input "")
                  (setq org-agent-fake-client client))))
    (make-directory (file-name-directory (org-agent-state-file "token")) t)
    (with-temp-file (org-agent-state-file "token") (insert "secret\n"))
    (with-temp-file (org-agent-state-file "kernel.json")
      (insert (format "{\"pid\":%d,\"socket\":%S,\"version\":\"0\"}"
                      (emacs-pid) socket)))))

(defun org-agent-fake-kill ()
  "End the kernel as SIGKILL would: its `kernel.json' stays."
  (when (process-live-p org-agent-fake-client)
    (delete-process org-agent-fake-client))
  (when (process-live-p org-agent-fake-server)
    (delete-process org-agent-fake-server)))

(defun org-agent-fake-stop ()
  "End the kernel as `org-agent stop' would."
  (ignore-errors (delete-file (org-agent-state-file "kernel.json")))
  (org-agent-fake-kill))

(defun org-agent-fake--filter (process bytes)
  "Answer the messages in BYTES that came from PROCESS."
  (let ((input (concat (process-get process 'input) bytes)))
    (while (and (>= (length input) 6)
                (let ((end (+ 6 (string-to-number (substring input 0 6) 16))))
                  (when (>= (length input) end)
                    (let ((body (substring input 6 end)))
                      (setq input (substring input end))
                      (org-agent-fake--take
                       (car (read-from-string
                             (decode-coding-string body 'utf-8-unix)))))
                    t))))
    (process-put process 'input input)))

(defun org-agent-fake--take (message)
  "Answer MESSAGE."
  (push message org-agent-fake-received)
  (let ((method (plist-get message :method)))
    (when (and method (plist-get message :id))
      (let* ((answer (alist-get method org-agent-fake-answers
                                nil nil #'equal))
             (result (if answer
                         (funcall answer (plist-get message :params))
                       (org-agent-fake--default method
                                                (plist-get message :params)))))
        (unless (eq result 'silence)
          (org-agent-fake-send
           (append (list :jsonrpc "2.0" :id (plist-get message :id))
                   (if (eq (car-safe result) :error)
                       result
                     (list :result result)))))))))

(defun org-agent-fake--default (method params)
  "Answer METHOD with PARAMS as a kernel would that has nothing to say."
  (pcase method
    ("initialize" (list :protocol 1 :server
                        (list :name "fake" :version "0" :pid 1 :home "/h"
                              :model "fake-1")))
    ("session/load" (list :session (plist-get params :session)
                          :file (org-agent-fake-file
                                 (plist-get params :session))
                          :keeper t))
    ("event" (list :event (plist-get params :id) :turn "turn-1"))
    (_ nil)))

(defun org-agent-fake-file (session)
  "Return the file of SESSION."
  (expand-file-name (format "home/sessions/%s.org" session)
                    org-agent-fake-directory))

(defun org-agent-fake-send (message)
  "Send the plist MESSAGE to Emacs."
  (process-send-string org-agent-fake-client (org-agent-rpc-encode message)))

(defun org-agent-fake-notify (method &rest params)
  "Send the notification METHOD with PARAMS."
  (org-agent-fake-send (list :jsonrpc "2.0" :method method :params params)))

(defun org-agent-fake-request (method &rest params)
  "Send the request METHOD with PARAMS and return Emacs's whole answer."
  (let ((id (format "k%d" (cl-incf org-agent-fake--request-id))))
    (org-agent-fake-send (list :jsonrpc "2.0" :id id :method method
                               :params params))
    (org-agent-fake-wait
     (cl-find id org-agent-fake-received
              :key (lambda (message) (and (not (plist-get message :method))
                                          (plist-get message :id)))
              :test #'equal)
     (list "an answer to" method))))

(defun org-agent-fake-requests (method)
  "Return the parameters of all requests METHOD that came, oldest first."
  (let (found)
    (dolist (message org-agent-fake-received found)
      (when (equal (plist-get message :method) method)
        (push (plist-get message :params) found)))))

;;;; Conversations

(defun org-agent-fake-answer-text (id title &rest body)
  "Return an answer as the kernel writes it: the ID, a TITLE and the BODY."
  (concat (org-agent-heading-line 2 title '("agent"))
          ":PROPERTIES:\n"
          (format "%-10s %s\n" ":ID:" id)
          (format "%-10s %s\n" ":MODEL:" "fake-1")
          ":END:\n"
          (mapconcat #'identity body "\n")
          (if body "\n" "")))

(defun org-agent-fake-act (id event text &optional turn)
  "Have Emacs insert TEXT with the ID, the answer to EVENT, of TURN.
Return Emacs's whole answer."
  (org-agent-fake-request
   "act" :id id :session "main" :turn (or turn "turn-1") :event event
   :type :request :target :emacs
   :payload (list :action :insert-at-end :text text)))

(defun org-agent-fake-delta (event id offset text &optional turn)
  "Preview TEXT at OFFSET of the answer with the ID, to EVENT, of TURN."
  (org-agent-fake-notify "turn/delta" :session "main" :turn (or turn "turn-1")
                         :event event :id id :offset offset :text text))

(defun org-agent-fake-type (text)
  "Write TEXT at the end of the conversation, as a person would."
  (with-current-buffer "*org-agent-chat*"
    (goto-char (point-max))
    (insert text)
    (undo-boundary)))

(defun org-agent-fake-say (text)
  "Send TEXT in the main conversation and return the event's id."
  (let ((before (length (org-agent-fake-requests "event"))))
    (org-agent-fake-type text)
    (with-current-buffer "*org-agent-chat*"
      (let ((inhibit-message t)) (org-agent-send)))
    (org-agent-fake-wait (> (length (org-agent-fake-requests "event")) before)
                         "an event")
    (org-agent-fake-settle)
    (plist-get (car (last (org-agent-fake-requests "event"))) :id)))

(defun org-agent-fake-text ()
  "Return the text of the main conversation."
  (with-current-buffer "*org-agent-chat*"
    (save-restriction
      (widen)
      (buffer-substring-no-properties (point-min) (point-max)))))

(defun org-agent-fake-file-text (&optional session)
  "Return what the file of SESSION, or of the main one, has."
  (with-temp-buffer
    (let ((coding-system-for-read 'utf-8-unix))
      (insert-file-contents (org-agent-fake-file (or session "main"))))
    (buffer-string)))

(defun org-agent-fake-ended-p (pid)
  "Return non-nil when the process PID has ended.
It may be a zombie for seconds until somebody asks how it ended."
  (member (alist-get 'state (process-attributes pid)) '(nil "Z")))

(defun org-agent-fake-reset ()
  "Forget kernel, connection and conversations.
Without a command loop nothing else ends a completion either."
  (completion-in-region-mode -1)
  (setq org-agent-kernel--wanted nil)
  (org-agent-kernel--cancel-timer)
  (let ((inhibit-message t))
    (when org-agent-kernel--connection
      (org-agent-rpc-close org-agent-kernel--connection)))
  (org-agent-kernel--cancel-timer)
  (when (process-live-p org-agent-kernel--starter)
    (delete-process org-agent-kernel--starter))
  (dolist (buffer (org-agent-chat-buffers))
    (with-current-buffer buffer
      (setq org-agent-file-owner-p nil buffer-file-name nil)
      (set-buffer-modified-p nil)
      (let (kill-buffer-query-functions kill-buffer-hook)
        (kill-buffer buffer))))
  (setq org-agent-kernel-state 'none
        org-agent-kernel-trouble nil
        org-agent-kernel-server nil
        org-agent-kernel--connection nil
        org-agent-kernel--starter nil
        org-agent-kernel--attempts 0
        org-agent-kernel--ready-since nil
        org-agent-asks-open nil))

(defmacro org-agent-fake-with-home (&rest body)
  "Run BODY with a home and a state directory of its own, without a kernel."
  (declare (indent 0) (debug t))
  `(let* ((org-agent-fake-directory (make-temp-file "org-agent-test" t))
          (process-environment
           (append (list (concat "XDG_STATE_HOME="
                                 (expand-file-name "state"
                                                   org-agent-fake-directory))
                         (concat "XDG_RUNTIME_DIR="
                                 (expand-file-name "run"
                                                   org-agent-fake-directory)))
                   process-environment))
          (org-agent-home (expand-file-name "home" org-agent-fake-directory))
          (org-agent-program "/nonexistent/org-agent")
          (org-agent-fake-received nil)
          (org-agent-fake-answers nil)
          (org-agent-fake-server nil)
          (org-agent-fake-client nil)
          (inhibit-message t))
     (make-directory org-agent-home t)
     (unwind-protect
         (progn (org-agent-fake-reset) ,@body)
       (org-agent-fake-kill)
       (org-agent-fake-reset)
       (org-agent-fake-forget)
       (org-agent-fake-delete org-agent-fake-directory))))

(defun org-agent-fake-forget ()
  "Forget what would still be done for the test that ends.
Else a buffer or a timer of it asks for a kernel in the midst of another."
  (dolist (buffer (buffer-list))
    (when (and (buffer-file-name buffer)
               (string-prefix-p org-agent-fake-directory
                                (buffer-file-name buffer)))
      (with-current-buffer buffer
        (set-buffer-modified-p nil)
        (let (kill-buffer-query-functions)
          (kill-buffer)))))
  (dolist (timer (append timer-list timer-idle-list))
    (let ((function (timer--function timer)))
      (when (and (symbolp function)
                 (string-prefix-p "org-agent-" (symbol-name function)))
        (cancel-timer timer))))
  (setq org-agent-kernel-ready-hook
        (cl-remove-if-not #'symbolp org-agent-kernel-ready-hook)))

(defun org-agent-fake-delete (directory)
  "Delete DIRECTORY, in which a kernel that ends may still write."
  (let ((deadline (+ (float-time) org-agent-fake-timeout)))
    (while (file-directory-p directory)
      (condition-case err
          (delete-directory directory t)
        (file-error (if (> (float-time) deadline)
                        (signal (car err) (cdr err))
                      (accept-process-output nil 0.05)))))))

(defmacro org-agent-fake-with-chat (&rest body)
  "Run BODY with a fake kernel and the main conversation attached to it."
  (declare (indent 0) (debug t))
  `(org-agent-fake-with-home
     (org-agent-fake-start)
     (org-agent-chat)
     (org-agent-fake-wait
      (eq t (buffer-local-value 'org-agent-chat-attached
                                (get-buffer "*org-agent-chat*"))))
     (with-current-buffer "*org-agent-chat*" ,@body)))

;;;; Another Emacs

(defun org-agent-fake-elsewhere (feature function)
  "Have another Emacs load FEATURE, a file of tests, and call FUNCTION there.
It is for what leaves an Emacs that other tests could not be run in.  An
error there fails the test here, with all that was printed."
  (with-temp-buffer
    (let ((status
           (call-process
            (expand-file-name invocation-name invocation-directory) nil t nil
            "-Q" "--batch" "--eval" "(setq load-prefer-newer t)"
            "-L" (file-name-directory (locate-library "org-agent"))
            "-L" (file-name-directory (locate-library (symbol-name feature)))
            "-l" (symbol-name feature)
            "--eval" (format "(%s)" function))))
      (ert-info ((buffer-string))
        (should (equal status 0))))))

(provide 'org-agent-fake-kernel)
;;; org-agent-fake-kernel.el ends here
