;;; org-agent-rpc-test.el --- Tests of the connection  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The faults of a socket: it cuts frames anywhere, joins them, and dies.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel)
(require 'org-agent-rpc)

;;;; Text

(ert-deftest org-agent-rpc-print-is-canonical ()
  "Printed data is one line, whatever the printer's variables are."
  (pcase-dolist
      (`(,value ,text)
       '(("a\nb\tc\rd" "\"a\\nb\\tc\\rd\"")
         ("say \"hi\" \\o/" "\"say \\\"hi\\\" \\\\o/\"")
         ("h\u00e9llo \u2192 \u4e16\u754c" "\"h\u00e9llo \u2192 \u4e16\u754c\"")
         ("\f\e\0" "\"\f\e\0\"")
         ("\x3fffc3 \xd800" "\"\ufffd \ufffd\"")
         ((:a 1 :b (:c nil :d t)) "(:a 1 :b (:c nil :d t))")
         ((1.5 -3 :KEY) "(1.5 -3 :key)")))
    (should (equal (org-agent-rpc-print value) text)))
  (let ((print-length 1) (print-level 1) (print-circle t)
        (print-escape-newlines nil) (float-output-format "%.1f")
        (shared (list 1 2)))
    (should (equal (org-agent-rpc-print
                    (list :a shared :b shared :c 1.25
                          :d (propertize "x" 'face 'bold 'self (current-buffer))))
                   "(:a (1 2) :b (1 2) :c 1.25 :d \"x\")"))))

(ert-deftest org-agent-rpc-print-refuses-what-is-no-data ()
  "Buffers, vectors, pairs and the like cannot be sent."
  (dolist (value (list (current-buffer) [1 2] '(1 . 2) (make-marker)
                       (make-hash-table)))
    (should-error (org-agent-rpc-print value))))

(ert-deftest org-agent-rpc-frames-count-bytes ()
  "The length in a frame is that of the UTF-8."
  (let ((frame (org-agent-rpc-encode '(:text "h\u00e9llo \u2192 \u4e16\u754c"))))
    (should-not (multibyte-string-p frame))
    (should (= (string-to-number (substring frame 0 6) 16)
               (- (length frame) 6)))
    (should (equal (org-agent-rpc-read (substring frame 6))
                   '(:text "h\u00e9llo \u2192 \u4e16\u754c"))))
  (should-error (org-agent-rpc-encode
                 (list :text (make-string (* 8 1024 1024) ?x)))))

(ert-deftest org-agent-rpc-read-reads-data-only ()
  "Nothing but lists, strings, numbers and symbols is read."
  (should (equal (org-agent-rpc-read
                  "(:a \"#1=(x) `[]{}|\\\\' ; \\\"\\n\" :b (1 -2.5 nil t :c))")
                 '(:a "#1=(x) `[]{}|\\' ; \"\n" :b (1 -2.5 nil t :c))))
  (dolist (text '("(:a #1=(1 . #1#))" "(:a #[1 2])" "(:a #s(hash-table))"
                  "(:a #(\"x\" 0 1 (face bold)))" "(:a [1 2])" "(:a '(b))"
                  "(:a `b)" "(:a ,b)" "(:a b\\ c)" "(:a |b|)" "(:a 1) ; b"
                  "(:a #@10)" "(:a #$)" "(:a \"x)" "(:a" "" "7" "(a 1)" "(:a)"
                  "(:a 1 . 2)" "(:a 1) (:b 2)" ":a" "(:a {)"))
    (ert-info (text)
      (should-error (org-agent-rpc-read text)
                    :type 'org-agent-rpc-unreadable))))

(ert-deftest org-agent-rpc-read-inverts-print ()
  "Whatever is printed is read back equal."
  (random "rpc")
  (dotimes (_ 300)
    (let ((value (list :x (cl-loop
                           repeat (random 6)
                           collect
                           (pcase (random 4)
                             (0 (random 100000))
                             (1 (apply #'string
                                       (cl-loop repeat (random 12) collect
                                                (elt "a\"\\\n\t\r#;'\u00e9\u4e16\U0001f600 )("
                                                     (random 15)))))
                             (2 :k)
                             (_ (list 1 "y" nil t)))))))
      (should (equal (org-agent-rpc-read
                      (encode-coding-string (org-agent-rpc-print value)
                                            'utf-8-unix))
                     value)))))

;;;; Frames

(defvar org-agent-rpc-test-taken nil
  "Numbers that test notifications brought, newest first.")

(defun org-agent-rpc-test-take (params)
  "Note the number in PARAMS, and do what they say besides."
  (push (plist-get params :n) org-agent-rpc-test-taken)
  (pcase (plist-get params :then)
    (:error (error "The handler of %d is broken" (plist-get params :n)))
    (:quit (signal 'quit nil))
    (:throw (throw 'org-agent-rpc-test 'thrown))
    (:wait (dotimes (_ 20) (accept-process-output nil 0.01))
           (push (list 'after (plist-get params :n))
                 org-agent-rpc-test-taken))))

(defun org-agent-rpc-test-echo (params)
  "Return PARAMS, or signal an error when they say so."
  (when (plist-get params :broken)
    (error "The handler is broken"))
  params)

(defun org-agent-rpc-test--number (n &optional then)
  "Return the frame of a test notification with N and THEN."
  (org-agent-rpc-encode
   (list :jsonrpc "2.0" :method "test/number"
         :params (list :n n :text "\u4e16\u754c\n" :then then))))

(defmacro org-agent-rpc-test--with (&rest body)
  "Run BODY with a connection to a fake kernel."
  (declare (indent 0) (debug t))
  `(let ((org-agent-notifications
          (cons '(test/number . org-agent-rpc-test-take) org-agent-notifications))
         (org-agent-requests
          (cons '(test/echo . org-agent-rpc-test-echo) org-agent-requests))
         org-agent-rpc-test-taken)
     (org-agent-fake-with-home
       (org-agent-fake-start)
       (org-agent-kernel-ensure)
       (org-agent-fake-wait (org-agent-kernel-ready-p))
       ,@body)))

(defun org-agent-rpc-test--log ()
  "Return the text of the log."
  (with-current-buffer (get-buffer-create "*org-agent-log*")
    (buffer-string)))

(ert-deftest org-agent-rpc-frames-split-anywhere ()
  "Frames that come byte by byte, also within a character, are whole."
  (org-agent-rpc-test--with
    (let ((bytes (concat (org-agent-rpc-test--number 1)
                         (org-agent-rpc-test--number 2))))
      ;; An answer to a request of the client would come amid a frame.
      (set-process-filter org-agent-fake-client t)
      (dotimes (i (length bytes))
        (process-send-string org-agent-fake-client (substring bytes i (1+ i)))
        (accept-process-output nil 0.001))
      (org-agent-fake-wait (equal org-agent-rpc-test-taken '(2 1))))))

(ert-deftest org-agent-rpc-frames-at-every-cut ()
  "Two frames cut in two at every byte, and all in one read."
  (org-agent-rpc-test--with
    (let* ((bytes (concat (org-agent-rpc-test--number 1)
                          (org-agent-rpc-test--number 2)))
           (process (org-agent-rpc-connection-process
                     org-agent-kernel--connection)))
      (dotimes (cut (1+ (length bytes)))
        (setq org-agent-rpc-test-taken nil)
        (org-agent-rpc--filter process (substring bytes 0 cut))
        (org-agent-rpc--filter process (substring bytes cut))
        (should (equal org-agent-rpc-test-taken '(2 1)))))))

(ert-deftest org-agent-rpc-large-frame-is-linear ()
  "A frame of 4 MB in small reads is taken whole."
  (org-agent-rpc-test--with
    (let* ((text (make-string (* 4 1024 1024) ?x))
           (bytes (org-agent-rpc-encode
                   (list :jsonrpc "2.0" :method "test/number"
                         :params (list :n (length text) :text text))))
           (process (org-agent-rpc-connection-process
                     org-agent-kernel--connection)))
      (cl-loop for from from 0 below (length bytes) by 4096
               do (org-agent-rpc--filter
                   process (substring bytes from
                                      (min (length bytes) (+ from 4096)))))
      (should (equal org-agent-rpc-test-taken (list (length text)))))))

(ert-deftest org-agent-rpc-handler-error-stops-nothing ()
  "An error in a handler is logged; the next messages are handled."
  (org-agent-rpc-test--with
    (process-send-string org-agent-fake-client
                         (concat (org-agent-rpc-test--number 1 :error)
                                 (org-agent-rpc-test--number 2 :quit)
                                 (org-agent-rpc-encode '(:method "no/such" :params nil))
                                 "000003(:a"
                                 (org-agent-rpc-test--number 3)))
    (org-agent-fake-wait (equal org-agent-rpc-test-taken '(3 2 1)))
    (should (string-match-p "The handler of 1 is broken"
                            (org-agent-rpc-test--log)))
    (should (string-match-p "no/such" (org-agent-rpc-test--log)))
    (should (org-agent-kernel-ready-p))))

(ert-deftest org-agent-rpc-requests-are-answered ()
  "A request gets its result, the error of its handler, or a refusal."
  (org-agent-rpc-test--with
    (should (equal (plist-get (org-agent-fake-request "test/echo" :x "\u00e9\n")
                              :result)
                   '(:x "\u00e9\n")))
    (let ((answer (org-agent-fake-request "test/echo" :broken t)))
      (should (= (plist-get (plist-get answer :error) :code) -32603))
      (should (string-match-p "broken" (plist-get (plist-get answer :error)
                                                  :message))))
    (should (= (plist-get (plist-get (org-agent-fake-request "no/such") :error)
                          :code)
               -32601))))

(ert-deftest org-agent-rpc-handlers-may-wait ()
  "Messages that arrive while a handler waits are handled after it."
  (org-agent-rpc-test--with
    (process-send-string org-agent-fake-client
                         (org-agent-rpc-test--number 1 :wait))
    (run-at-time 0.05 nil #'process-send-string org-agent-fake-client
                 (concat (org-agent-rpc-test--number 2)
                         (org-agent-rpc-test--number 3)))
    (org-agent-fake-wait (equal org-agent-rpc-test-taken
                                '(3 2 (after 1) 1)))))

(ert-deftest org-agent-rpc-handlers-may-throw ()
  "A handler that throws does not block the following messages."
  (org-agent-rpc-test--with
    (let ((process (org-agent-rpc-connection-process
                    org-agent-kernel--connection)))
      (should (eq 'thrown
                  (catch 'org-agent-rpc-test
                    (org-agent-rpc--filter
                     process (concat (org-agent-rpc-test--number 1 :throw)
                                     (org-agent-rpc-test--number 2))))))
      (org-agent-fake-wait (equal org-agent-rpc-test-taken '(2 1))))))

(ert-deftest org-agent-rpc-bad-header-closes ()
  "An invalid header ends the connection, which is opened again."
  (org-agent-rpc-test--with
    (let ((first org-agent-kernel--connection))
      (process-send-string org-agent-fake-client "GET / HTTP/1.1\r\n")
      (org-agent-fake-wait (and (org-agent-kernel-ready-p)
                                (not (eq first org-agent-kernel--connection))))
      (should (string-match-p "GET / " (org-agent-rpc-test--log))))))

(ert-deftest org-agent-rpc-collects-garbage-as-before ()
  "The threshold is raised in the filter only."
  (org-agent-rpc-test--with
    (let ((before gc-cons-threshold))
      (process-send-string org-agent-fake-client (org-agent-rpc-test--number 1))
      (org-agent-fake-wait org-agent-rpc-test-taken)
      (should (= gc-cons-threshold before)))))

(ert-deftest org-agent-rpc-every-request-ends ()
  "When the connection is lost, each open request fails once."
  (org-agent-rpc-test--with
    (let (failures)
      (push (cons "status" (lambda (_) 'silence)) org-agent-fake-answers)
      (dotimes (n 3)
        (org-agent-kernel-request
         "status" nil
         :success (lambda (_) (push 'result failures))
         :failure (lambda (refusal)
                    (push (cons n (plist-get refusal :message)) failures)
                    (when (= n 0) (error "The first callback is broken")))))
      (org-agent-fake-wait (= 3 (length (org-agent-fake-requests "status"))))
      (org-agent-fake-kill)
      (org-agent-fake-wait (= 3 (length failures)))
      (should (equal (sort (mapcar #'car failures) #'<) '(0 1 2)))
      (should (string-match-p "the kernel is gone" (cdar failures)))
      (should (eq org-agent-kernel-state 'lost))
      (org-agent-kernel-request "status" nil
                                :failure (lambda (_) (push 'again failures)))
      (should (eq (car failures) 'again)))))

(ert-deftest org-agent-rpc-log-is-bounded ()
  "The log is kept short."
  (let ((line (make-string 1000 ?x)))
    (dotimes (_ 450) (org-agent-rpc-log "%s" line))
    (with-current-buffer "*org-agent-log*"
      (should (< (buffer-size) (+ org-agent-rpc--log-limit 2000)))
      (should (string-match-p "\\`[0-9][0-9]:" (buffer-string)))
      (erase-buffer))))

(provide 'org-agent-rpc-test)
;;; org-agent-rpc-test.el ends here
