;; Evaluates forms for the differential test. Standard input holds one case a line; for
;; each, one line comes out: what prin1 prints of the last form's value, with newlines
;; written as \n, or the word error and the most specific standard class of what was
;; signalled; which classes are simple ones is nobody's business.
(setf *print-pretty* nil)
(declaim (sb-ext:muffle-conditions warning sb-ext:compiler-note))
(defun printed (value)
  (let ((text (with-output-to-string (out) (prin1 value out))))
    (with-output-to-string (out)
      (loop for c across text
            do (case c (#\Newline (write-string "\\n" out)) (#\Tab (write-string "\\t" out)) (t (write-char c out)))))))
(defun standard-class-of (condition)
  (loop for class in (sb-mop:class-precedence-list (class-of condition))
        for name = (class-name class)
        when (and (eq (symbol-package name) (find-package "COMMON-LISP"))
                  (not (eql 0 (search "SIMPLE-" (symbol-name name)))))
          return name))
(defun answer (line)
  (handler-case
      (sb-ext:with-timeout 10
        (let ((value nil) (start 0))
          (loop (multiple-value-bind (form end) (read-from-string line nil 'no-more :start start)
                  (when (eq form 'no-more) (return))
                  (setf start end
                        value (let* ((*standard-output* (make-broadcast-stream)) (*error-output* *standard-output*) (*trace-output* *standard-output*)
                                     (*query-io* (make-two-way-stream (make-string-input-stream "") *standard-output*)))
                                (eval form)))))
          (printed value)))
    (serious-condition (c) (format nil "error ~a" (standard-class-of c)))))
(loop for line = (read-line *standard-input* nil)
      for n from 0
      while line
      do (let ((*package* (make-package (format nil "CASE-~a" n) :use '(:common-lisp))))
           (let ((*package* *package*))
             (write-line (remove #\Return (answer line)))
             (finish-output))))
