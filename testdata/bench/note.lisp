;;;; Prints how long SBCL takes to load the code of a note and to call its functions,
;;;; compiled: a name and a number of seconds a line.
;;;;
;;;; Usage: sbcl --script note.lisp CODE
;;;;
;;;; What the code calls and Common Lisp has not: ask-neuro returns its arguments, as in
;;;; a note's tests, and defskill does nothing. Without the library cl-ppcre the function
;;;; that uses it is not measured.

(defvar *code* (second sb-ext:*posix-argv*))

(defvar *ppcre-p*
  (handler-case
      (let ((*standard-output* (make-broadcast-stream))
            (*error-output* (make-broadcast-stream)))
        (require :asdf)
        (funcall (intern "LOAD-SYSTEM" "ASDF") "cl-ppcre")
        t)
    (error ()
      (let ((package (or (find-package "CL-PPCRE") (make-package "CL-PPCRE" :use '()))))
        (export (intern "REGEX-REPLACE-ALL" package) package))
      nil)))

(defun ask-neuro (&rest arguments) (cons :asked arguments))

(defmacro defskill (name &rest properties)
  (declare (ignore properties))
  `',name)

(defun load-code ()
  (handler-bind ((warning #'muffle-warning))
    (let ((*error-output* (make-broadcast-stream)))
      (load *code*))))

(defmacro measure (name calls &body body)
  "Print 15 times what one of CALLS evaluations of BODY takes: the clock may be a coarse one."
  `(dotimes (i 15)
     (let ((began (get-internal-real-time)))
       (dotimes (j ,calls) ,@body)
       (format t "~A ~,10F~%" ,name (/ (- (get-internal-real-time) began)
                                       (* ,calls 1d0 internal-time-units-per-second))))))

(load-code)

(defvar *action* '(:type :request :target :emacs :payload (:action :insert-at-end :buffer "*chat*" :text "hello")))
(defvar *context* '(:payload (:sensor :chat-message :text "hello there, oops forget it" :channel :matrix :chat-id "!r")))

(assert (eq *action* (funcall 'greet-verify *action* nil)))
(measure "verify" 100000 (funcall 'greet-verify *action* nil))
(when *ppcre-p*
  (assert (equal "hello there, " (second (funcall 'greet-neuro *context*))))
  (measure "neuro" 10000 (funcall 'greet-neuro *context*)))
(measure "load" 5 (load-code))
