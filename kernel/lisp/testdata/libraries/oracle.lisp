;; Evaluates forms with the original libraries, for the test that compares ours with them.
;; ASDF must find cl-ppcre, cl-ppcre-unicode, cl-json, str and local-time, for instance by
;; CL_SOURCE_REGISTRY; uiop comes with SBCL. Standard input holds one case a line; for
;; each, one line comes out: what prin1 prints of the last form's values, or the word error
;; and the class of what was signalled: the library's own, else the most specific one of
;; the standard.
(require :asdf)
(let ((*standard-output* (make-broadcast-stream)))
  (handler-bind ((warning #'muffle-warning))
    (mapc #'asdf:load-system '(:cl-ppcre :cl-json :str :local-time))))
(funcall (read-from-string "local-time:reread-timezone-repository"))
(set (read-from-string "local-time:*default-timezone*") (symbol-value (read-from-string "local-time:+utc-zone+")))
(setf *print-pretty* nil)
(declaim (sb-ext:muffle-conditions warning sb-ext:compiler-note))
(defun printed (values)
  (let ((text (format nil "~{~s~^ ~}" values)))
    (with-output-to-string (out)
      (loop for c across text
            do (case c (#\Newline (write-string "\\n" out)) (#\Tab (write-string "\\t" out)) (t (write-char c out)))))))
(defun class-to-tell (condition)
  (loop for class in (sb-mop:class-precedence-list (class-of condition))
        for name = (class-name class)
        for home = (package-name (symbol-package name))
        when (or (member home '("CL-PPCRE" "JSON" "STR" "LOCAL-TIME" "UIOP/UTILITY") :test #'string=)
                 (and (string= home "COMMON-LISP") (not (eql 0 (search "SIMPLE-" (symbol-name name))))))
          return name))
(defun answer (line)
  (handler-case
      (sb-ext:with-timeout 10
        (let ((values nil) (start 0))
          (loop (multiple-value-bind (form end) (read-from-string line nil 'no-more :start start)
                  (when (eq form 'no-more) (return))
                  (setf start end
                        values (let ((*error-output* (make-broadcast-stream)))
                                 (multiple-value-list (eval form))))))
          (printed values)))
    (serious-condition (c) (format nil "error ~a" (class-to-tell c)))))
(loop for line = (read-line *standard-input* nil)
      for n from 0
      while line
      do (let ((*package* (make-package (format nil "CASE-~a" n) :use '(:common-lisp))))
           (let ((*package* *package*))
             (write-line (remove #\Return (answer line)))
             (finish-output))))
