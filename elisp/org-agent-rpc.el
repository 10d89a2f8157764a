;;; org-agent-rpc.el --- Connection to the org-agent kernel  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; JSON-RPC 2.0 over a Unix socket.  A frame is six lower-case hex
;; digits, the length of the message in bytes, and the message: a plist
;; in UTF-8.
;;
;; Guarantees:
;;
;; - Messages are handled one after the other, in the order in which they
;;   came.  When a handler lets Emacs read from the process, messages that
;;   arrive meanwhile wait until the handler is done.
;; - A handler that signals an error stops nothing: the error is logged, a
;;   request is answered with it, and the next message is handled.
;; - Every request ends: with its result, with the kernel's error, or,
;;   when the connection is lost, with an error that says so.
;; - Nothing blocks, asks or throws.  The reader reads data only: strings,
;;   numbers, keywords, `nil', `t' and lists of these.
;;
;; This file does not know what messages mean.  Its caller passes the
;; functions that handle requests and notifications.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defconst org-agent-rpc-frame-limit (* 8 1024 1024)
  "Bytes of the largest message either side may send.")

(defconst org-agent-rpc-gc-threshold (* 64 1024 1024)
  "Bytes that may be allocated before a garbage collection, for each input.")

(defconst org-agent-rpc--log-limit 200000
  "Characters that `org-agent-rpc-log' keeps.")

(define-error 'org-agent-rpc-error "Request refused")
(define-error 'org-agent-rpc-unreadable "Message cannot be read")

(defconst org-agent-rpc--codes
  '((forbidden . -32002) (not-found . -32003) (conflict . -32004)
    (unknown-method . -32601) (invalid . -32602) (internal . -32603)
    (stale . -32010)                    ; an action is not possible any more
    (cancelled . -32800)
    ;; No error of the kernel: nobody answered, since the connection was lost.
    (lost . -32098))
  "The codes of refusals, by the names that they have in this program.")

(defun org-agent-rpc-refuse (name format-string &rest arguments)
  "Refuse the current request with the code of NAME and a reason.
NAME is one of `org-agent-rpc--codes'.  FORMAT-STRING and ARGUMENTS are
as for `format'."
  (signal 'org-agent-rpc-error
          (list (cdr (assq name org-agent-rpc--codes))
                (apply #'format format-string arguments))))

(defun org-agent-rpc-refused-p (refusal &rest names)
  "Return non-nil when REFUSAL has the code of one of NAMES."
  (memq (car (rassq (plist-get refusal :code) org-agent-rpc--codes)) names))

(defmacro org-agent-rpc-guard (what &rest body)
  "Return the value of BODY.
If BODY signals an error, log it as an error in WHAT and return nil."
  (declare (indent 1) (debug t))
  (let ((err (make-symbol "err")))
    `(condition-case ,err
         (progn ,@body)
       ((error quit)
        (org-agent-rpc-log "error in %s: %s" ,what
                           (error-message-string ,err))
        nil))))

;;;; The connection

(cl-defstruct (org-agent-rpc-connection
               (:constructor org-agent-rpc--make-connection)
               (:copier nil))
  "A connection to the kernel."
  (process nil :documentation "The network process.")
  (pending (make-hash-table :test #'eql)
           :documentation "A table from request ids to (METHOD SUCCESS FAILURE).")
  (last-id 0 :documentation "The id of the latest request.")
  (queue nil :documentation "Messages, as bytes, that wait to be handled.")
  (handling nil :documentation "Non-nil while a message is being handled.")
  (on-request nil :documentation "Called with a method and its parameters.")
  (on-notification nil :documentation "Called with a method and its parameters.")
  (on-close nil :documentation "Called with the connection and a reason when it is lost."))

(cl-defun org-agent-rpc-connect (socket &key request notification close)
  "Connect to the Unix socket SOCKET and return the connection.
REQUEST is called with each request of the other side: its method, a
symbol, and its parameters, a plist.  It returns the result, a plist; to
refuse, it signals `org-agent-rpc-error' with a code and a message.
NOTIFICATION is called with each notification in the same way.  CLOSE is
called once, with the connection and a reason, when it is lost.
Signal `file-error' when nobody listens there."
  (let* ((buffer (generate-new-buffer " *org-agent-rpc*" t))
         (process
          (condition-case err
              (make-network-process
               :name "org-agent" :family 'local :service socket
               :coding 'binary :noquery t :buffer buffer
               :filter #'org-agent-rpc--filter
               :sentinel #'org-agent-rpc--sentinel)
            (error (kill-buffer buffer)
                   (signal (car err) (cdr err)))))
         (connection (org-agent-rpc--make-connection
                      :process process :on-request request
                      :on-notification notification :on-close close)))
    (with-current-buffer buffer
      (set-buffer-multibyte nil)
      (buffer-disable-undo))
    (process-put process 'org-agent-rpc-connection connection)
    connection))

(defun org-agent-rpc-live-p (connection)
  "Return non-nil when CONNECTION can carry messages."
  (and connection
       (process-live-p (org-agent-rpc-connection-process connection))))

(defun org-agent-rpc-close (connection)
  "Close CONNECTION; its pending requests fail."
  (when connection
    (delete-process (org-agent-rpc-connection-process connection))
    (org-agent-rpc--lost connection "the connection was closed")))

(defun org-agent-rpc--sentinel (process event)
  "Note that PROCESS has ended, as EVENT says."
  (unless (process-live-p process)
    (when-let* ((connection (process-get process 'org-agent-rpc-connection)))
      (org-agent-rpc--lost
       connection (format "the kernel is gone (%s)" (string-trim event))))))

(defun org-agent-rpc--lost (connection reason)
  "Fail the pending requests of CONNECTION, and call its close function.
REASON says why the connection was lost.  The second call for the same
connection does nothing."
  (let ((process (org-agent-rpc-connection-process connection))
        (pending (org-agent-rpc-connection-pending connection))
        (on-close (org-agent-rpc-connection-on-close connection))
        continuations)
    (setf (org-agent-rpc-connection-on-close connection) nil)
    (maphash (lambda (_id continuation) (push continuation continuations))
             pending)
    (clrhash pending)
    (when (buffer-live-p (process-buffer process))
      (kill-buffer (process-buffer process)))
    (dolist (continuation (nreverse continuations))
      (org-agent-rpc-guard (nth 0 continuation)
        (org-agent-rpc-fail (nth 2 continuation) reason)))
    (when on-close
      (org-agent-rpc-guard "on-close"
        (funcall on-close connection reason)))))

(defun org-agent-rpc-fail (failure reason)
  "Call FAILURE, if non-nil, with an error made from REASON."
  (when failure
    (funcall failure (list :code (cdr (assq 'lost org-agent-rpc--codes))
                            :message reason))))

;;;; Sending

(cl-defun org-agent-rpc-request (connection method params
                                            &key success failure)
  "Send the request METHOD with PARAMS over CONNECTION.
METHOD is a string, PARAMS a plist.  Return its id at once.  Exactly one
function is called, once: SUCCESS with the result, or FAILURE with a
plist (:code N :message TEXT)."
  (let ((id (cl-incf (org-agent-rpc-connection-last-id connection)))
        (pending (org-agent-rpc-connection-pending connection)))
    (puthash id (list method success failure) pending)
    (condition-case err
        (org-agent-rpc--send
         connection
         (list :jsonrpc "2.0" :id id :method method :params params))
      (error
       (when (gethash id pending)
         (remhash id pending)
         (org-agent-rpc-fail failure (error-message-string err)))))
    id))

(defun org-agent-rpc-cancel (connection id)
  "Ask the kernel to cancel the request ID of CONNECTION.
The request still ends with a result or, most often, with an error."
  (org-agent-rpc-notify connection "$/cancelRequest" (list :id id)))

(defun org-agent-rpc-notify (connection method params)
  "Send the notification METHOD with PARAMS over CONNECTION.
Do nothing if the connection is lost."
  (when (org-agent-rpc-live-p connection)
    (org-agent-rpc-guard method
      (org-agent-rpc--send
       connection (list :jsonrpc "2.0" :method method :params params)))))

(defun org-agent-rpc--send (connection message)
  "Send the plist MESSAGE over CONNECTION, or signal an error."
  (unless (org-agent-rpc-live-p connection)
    (error "Not connected to the kernel"))
  (process-send-string (org-agent-rpc-connection-process connection)
                       (org-agent-rpc-encode message)))

(defun org-agent-rpc-encode (message)
  "Return the plist MESSAGE as a frame: unibyte, header and UTF-8.
Signal an error when it is larger than a frame may be."
  (let* ((body (encode-coding-string (org-agent-rpc-print message)
                                     'utf-8-unix t))
         (size (string-bytes body)))
    (when (> size org-agent-rpc-frame-limit)
      (error "The message has %d bytes, more than the %d allowed"
             size org-agent-rpc-frame-limit))
    (concat (format "%06x" size) body)))

(defun org-agent-rpc-print (value)
  "Return VALUE as canonical text, on one line.
VALUE is a string, a number, a symbol or a list of these.  Text
properties are left out; variables that govern `prin1' have no effect."
  (cond
   ((stringp value) (org-agent-rpc--print-string value))
   ((symbolp value) (downcase (symbol-name value)))
   ((numberp value) (let ((float-output-format nil))
                      (number-to-string value)))
   ((proper-list-p value)
    (concat "(" (mapconcat #'org-agent-rpc-print value " ") ")"))
   (t (error "Not something to send: a %s" (type-of value)))))

(defun org-agent-rpc-text (beg end)
  "Return the text from BEG to END, with U+FFFD for what is not Unicode.
Such characters are rare, and the regexp that matches them takes
milliseconds to compile, so it is used only when there is one."
  (let ((text (buffer-substring-no-properties beg end)))
    (if (and enable-multibyte-characters
             (save-excursion
               (goto-char beg)
               (skip-chars-forward "\0-\x10ffff" end)
               (= (point) end)))
        text
      (replace-regexp-in-string "[\x3fff80-\x3fffff\x110000-\x3fff7f]"
                                "\xfffd" text t t))))

(defconst org-agent-rpc--special "[\"\\\n\t\r\ud800-\udfff\x3fff80-\x3fffff]"
  "Matches a character that is escaped in a string, or replaced.")

(defun org-agent-rpc--print-string (string)
  "Return STRING as canonical text.
Raw bytes and surrogates, which UTF-8 lacks, become U+FFFD."
  (concat
   "\""
   (if (string-match-p org-agent-rpc--special string)
       (replace-regexp-in-string
        org-agent-rpc--special
        (lambda (match)
          (pcase (aref match 0)
            (?\" "\\\"")
            (?\\ "\\\\")
            (?\n "\\n")
            (?\t "\\t")
            (?\r "\\r")
            (_ "\ufffd")))
        (substring-no-properties string) t t)
     (substring-no-properties string))
   "\""))

;;;; Receiving

(defun org-agent-rpc--filter (process bytes)
  "Add BYTES to what PROCESS has sent and handle what is complete."
  (let ((gc-cons-threshold (max gc-cons-threshold
                                org-agent-rpc-gc-threshold))
        (connection (process-get process 'org-agent-rpc-connection))
        (buffer (process-buffer process)))
    (when (and connection (buffer-live-p buffer))
      (with-current-buffer buffer
        (goto-char (point-max))
        (insert bytes))
      (org-agent-rpc--split connection buffer)
      (org-agent-rpc--drain connection))))

(defun org-agent-rpc--split (connection buffer)
  "Move the complete frames in BUFFER to the queue of CONNECTION.
An invalid header closes the connection, since it hides where the next
frame begins."
  (with-current-buffer buffer
    (let ((from (point-min)) (going t) frames)
      (while going
        (goto-char from)
        (let ((size (and (looking-at "[0-9a-f]\\{6\\}")
                         (string-to-number (match-string 0) 16))))
          (cond
           ((or (and size (> size org-agent-rpc-frame-limit))
                (and (not size) (>= (- (point-max) from) 6)))
            (setq going nil from (point-max))
            (org-agent-rpc-log "closed: the kernel sent a frame with the header %S"
                               (buffer-substring (point)
                                                 (min (point-max) (+ (point) 6))))
            (run-at-time 0 nil #'org-agent-rpc-close connection))
           ((and size (<= (+ from 6 size) (point-max)))
            (push (buffer-substring (+ from 6) (+ from 6 size)) frames)
            (setq from (+ from 6 size)))
           (t (setq going nil)))))
      (delete-region (point-min) from)
      (setf (org-agent-rpc-connection-queue connection)
            (nconc (org-agent-rpc-connection-queue connection)
                   (nreverse frames))))))

(defun org-agent-rpc--drain (connection)
  "Handle the queued messages of CONNECTION, unless that is going on.
If a handler exits with a throw, a timer handles the rest."
  (unless (org-agent-rpc-connection-handling connection)
    (setf (org-agent-rpc-connection-handling connection) t)
    (unwind-protect
        (while (org-agent-rpc-connection-queue connection)
          (org-agent-rpc--handle
           connection (pop (org-agent-rpc-connection-queue connection))))
      (setf (org-agent-rpc-connection-handling connection) nil)
      (when (org-agent-rpc-connection-queue connection)
        (run-at-time 0 nil #'org-agent-rpc--drain connection)))))

(defun org-agent-rpc--handle (connection bytes)
  "Handle the message BYTES that came over CONNECTION."
  (when-let* ((message (org-agent-rpc-guard "the reader"
                         (org-agent-rpc-read bytes))))
    (let ((method (plist-get message :method))
          (id (plist-get message :id)))
      (cond
       ((not (stringp method)) (org-agent-rpc--handle-response connection message))
       (id (org-agent-rpc--handle-request connection id method
                                          (plist-get message :params)))
       (t (org-agent-rpc-guard method
            (funcall (org-agent-rpc-connection-on-notification connection)
                     (intern method) (plist-get message :params))))))))

(defun org-agent-rpc--handle-request (connection id method params)
  "Perform the request METHOD with PARAMS; answer ID over CONNECTION."
  (let ((answer
         (condition-case err
             (list :result
                   (funcall (org-agent-rpc-connection-on-request connection)
                            (intern method) params))
           (org-agent-rpc-error
            (list :error (list :code (nth 1 err) :message (nth 2 err))))
           ((error quit)
            (org-agent-rpc-log "error in %s: %s" method
                               (error-message-string err))
            (list :error (list :code (cdr (assq 'internal org-agent-rpc--codes))
                               :message (error-message-string err)))))))
    (org-agent-rpc-guard method
      (org-agent-rpc--send connection
                           (append (list :jsonrpc "2.0" :id id) answer)))))

(defun org-agent-rpc--handle-response (connection message)
  "End the request of CONNECTION that MESSAGE, a response, belongs to."
  (let* ((id (plist-get message :id))
         (pending (org-agent-rpc-connection-pending connection))
         (continuation (and (integerp id) (gethash id pending)))
         (refusal (plist-get message :error)))
    (cond
     (continuation
      (remhash id pending)
      (org-agent-rpc-guard (nth 0 continuation)
        (pcase-let ((`(,_method ,success ,failure) continuation))
          (if refusal
              (when failure (funcall failure refusal))
            (when success (funcall success (plist-get message :result)))))))
     (refusal
      (org-agent-rpc-log "the kernel refused a message: %s"
                         (plist-get refusal :message))))))

;;;; Reading

(defun org-agent-rpc-read (bytes)
  "Return the plist that the UTF-8 text BYTES contains.
Signal `org-agent-rpc-unreadable' when it is no plist, when text follows
it, or when it contains syntax other than that of lists, strings, numbers
and symbols."
  (with-current-buffer (get-buffer-create " *org-agent-rpc-read*" t)
    (set-buffer-multibyte t)
    (buffer-disable-undo)
    (unwind-protect
        (progn
          (erase-buffer)
          (insert (decode-coding-string bytes 'utf-8-unix t))
          (org-agent-rpc--check-syntax)
          (goto-char (point-min))
          (let* ((read-circle nil)
                 (message (condition-case err
                              (read (current-buffer))
                            (error (org-agent-rpc--unreadable
                                    (error-message-string err))))))
            (skip-chars-forward " \t\r\n")
            (unless (and (eobp) (consp message) (keywordp (car message))
                         (proper-list-p message)
                         (cl-evenp (length message)))
              (org-agent-rpc--unreadable "not one plist"))
            message))
      (erase-buffer))))

(defun org-agent-rpc--unreadable (reason)
  "Signal that a message is not readable because of REASON."
  (signal 'org-agent-rpc-unreadable (list reason)))

(defun org-agent-rpc--check-syntax ()
  "Signal an error when the buffer contains Lisp syntax that is not data.
Outside strings, the characters of vectors, records, circles, quotes,
escapes and comments are refused."
  (goto-char (point-min))
  (while (progn (skip-chars-forward "^\"#'`,;\\\\[]{}|")
                (not (eobp)))
    (unless (eq (char-after) ?\")
      (org-agent-rpc--unreadable
       (format "the character %c at %d" (char-after) (point))))
    (forward-char)
    (while (progn (skip-chars-forward "^\"\\\\")
                  (eq (char-after) ?\\))
      (forward-char)
      (unless (eobp) (forward-char)))
    (when (eobp) (org-agent-rpc--unreadable "a string that does not end"))
    (forward-char)))

;;;; Log

(defun org-agent-rpc-log (format-string &rest arguments)
  "Add a line to the buffer of the log.
FORMAT-STRING and ARGUMENTS are as for `format'.  Old lines are deleted
when the buffer is long.  Point in it moves only when it is at the end."
  (with-current-buffer (get-buffer-create "*org-agent-log*")
    (let* ((inhibit-read-only t)
           (at-end (eobp))
           (windows (cl-remove-if-not
                     (lambda (window) (= (window-point window) (point-max)))
                     (get-buffer-window-list nil nil t)))
           (line (apply #'format format-string arguments)))
      (save-excursion
        (goto-char (point-max))
        (insert (propertize
                 (concat (format-time-string "%H:%M:%S ") "emacs  "
                         (replace-regexp-in-string "[\n\r]+" " " line) "\n")
                 'org-agent-log-own t))
        (when (> (buffer-size) org-agent-rpc--log-limit)
          (goto-char (- (point-max) (/ org-agent-rpc--log-limit 2)))
          (forward-line)
          (delete-region (point-min) (point))))
      (when at-end (goto-char (point-max)))
      (dolist (window windows)
        (set-window-point window (point-max))))))

(provide 'org-agent-rpc)
;;; org-agent-rpc.el ends here
