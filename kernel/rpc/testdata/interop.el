;;; interop.el --- two clients of Emacs's own, for emacs_test.go  -*- lexical-binding: t; -*-

;; Usage: emacs -Q --batch -l interop.el SOCKET TOKEN
;; Prints one line for each thing that worked or did not; emacs_test.go knows the
;; lines.  The JSON client is Emacs's jsonrpc.el with asynchronous requests only:
;; `jsonrpc-request' of Emacs 28 can leave a message lying in the process buffer.

(require 'jsonrpc)
(require 'cl-lib)

(setq read-process-output-max (* 1024 1024))

(defvar socket (pop command-line-args-left))
(defvar token (pop command-line-args-left))

(defvar heard nil "Texts of the notices that came, last first.")
(defvar kept nil "The question of the last turn/kept.")

(defun notification (method params)
  "Take the notification METHOD with PARAMS."
  (pcase method
    ("notice" (push (plist-get params :text) heard))
    ("turn/kept" (setq kept (plist-get params :question)))))

(defun receipt (params)
  "Perform the act in PARAMS and return the receipt."
  (let ((text (plist-get (plist-get params :payload) :text)))
    (list :buffer "*org-agent-chat*" :chars (length text)
          :sha256 (secure-hash 'sha256 (encode-coding-string text 'utf-8))
          :done t)))

(defun open-socket (coding)
  "Connect to the kernel with the coding system CODING."
  (make-network-process :name "kernel" :family 'local :service socket
                        :coding coding :noquery t))

;;; The JSON client

(defun json-client ()
  "Return a function that sends a request by jsonrpc.el and returns the answer."
  (let ((connection
         (make-instance
          'jsonrpc-process-connection :name "kernel"
          :process (lambda () (open-socket 'utf-8-emacs-unix))
          :events-buffer-scrollback-size 0
          :notification-dispatcher
          (lambda (_ method params) (notification (symbol-name method) params))
          :request-dispatcher
          (lambda (_ _method params) (receipt params)))))
    (lambda (method params)
      (let (answer)
        (jsonrpc-async-request
         connection method params :timeout 60
         :success-fn (lambda (result) (setq answer (list :result result)))
         :error-fn (lambda (failure) (setq answer (list :error failure)))
         :timeout-fn (lambda () (setq answer (list :error '(:code timeout)))))
        (while (not answer) (accept-process-output nil 0.05))
        answer))))

;;; The plist client

(defun send-frame (process message)
  "Send MESSAGE, a plist, to PROCESS."
  (let* ((print-length nil)
         (print-level nil)
         (bytes (encode-coding-string (prin1-to-string message) 'utf-8)))
    (process-send-string process (concat (format "%06x" (length bytes)) bytes))))

(defun take-frames (process pending handler)
  "Call HANDLER with each message at the beginning of the bytes PENDING.
Return the bytes that are left.  PROCESS is where they came from."
  (let (end)
    (while (and (>= (length pending) 6)
                (<= (setq end (+ 6 (string-to-number (substring pending 0 6) 16)))
                    (length pending)))
      (let ((message (car (read-from-string
                           (decode-coding-string (substring pending 6 end) 'utf-8)))))
        (setq pending (substring pending end))
        (funcall handler process message)))
    pending))

(defun plist-client ()
  "Return a function that sends a request as a plist and returns the answer."
  (let* ((process (open-socket 'binary))
         (id 0)
         (pending "")
         (answers (make-hash-table))
         (handler
          (lambda (process message)
            (cond
             ((and (plist-get message :id) (plist-get message :method))
              (send-frame process (list :jsonrpc "2.0" :id (plist-get message :id)
                                        :result (receipt (plist-get message :params)))))
             ((plist-get message :method)
              (notification (plist-get message :method) (plist-get message :params)))
             (t (puthash (plist-get message :id)
                         (if (plist-get message :error)
                             (list :error (plist-get message :error))
                           (list :result (plist-get message :result)))
                         answers))))))
    (set-process-filter process
                        (lambda (process bytes)
                          (setq pending (take-frames process (concat pending bytes) handler))))
    (lambda (method params)
      (cl-incf id)
      (send-frame process (list :jsonrpc "2.0" :id id :method (symbol-name method) :params params))
      (while (not (gethash id answers)) (accept-process-output process 0.05))
      (gethash id answers))))

;;; What both do

(defun check (client what ok)
  "Print whether WHAT worked for CLIENT: OK."
  (princ (format "%s %s %s\n" client what (if ok "works" "FAILS"))))

(defun converse (client request)
  "Talk by REQUEST, the function of the client named CLIENT."
  (setq heard nil kept nil)
  (let* ((text "zażółć 😀 \"q\" \\ \n\t(:a . b) <&>")
         (big (apply #'concat (make-list 100000 "é\"(\n → ")))
         (event (lambda (text)
                  (funcall request 'event (list :sensor "chat-message" :id "q1" :text text))))
         (answer (lambda (text) (plist-get (plist-get (funcall event text) :result) :turn))))
    (check client "refused-before-initialize"
           (eql -32001 (plist-get (plist-get (funcall event "x") :error) :code)))
    (check client "initialize"
           (eql 1 (plist-get (plist-get (funcall request 'initialize
                                                 (list :protocol '(:min 1 :max 1)
                                                       :client '(:name "Emacs" :version "28.2" :capabilities (:keeps-file t))
                                                       :token token))
                                        :result)
                             :protocol)))
    (check client "echo" (equal text (funcall answer text)))
    (check client "act" (equal "9 true" (funcall answer "act")))
    (funcall answer "burst")
    (check client "burst"
           (equal heard (cl-loop for i from 1999 downto 0 collect (format "é%d" i))))
    (funcall answer "big")
    (check client "big" (equal kept big))
    (check client "large-request" (equal big (funcall answer big)))
    (check client "unknown-method"
           (eql -32601 (plist-get (plist-get (funcall request 'no-such-method nil) :error) :code)))
    (check client "nil-is-nothing"
           (equal "nothing" (plist-get (plist-get (funcall request 'session/load '(:session "main" :ids nil :view nil)) :result)
                                       :file)))))

(converse "json" (json-client))
(converse "plist" (plist-client))

;;; interop.el ends here
