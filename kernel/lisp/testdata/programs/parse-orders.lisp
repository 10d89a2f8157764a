;; Reads lines with faults in them; restarts decide what happens to a bad one.
(define-condition bad-line (error)
  ((line :initarg :line :reader bad-line-text) (number :initarg :number :reader bad-line-number) (why :initarg :why :reader why))
  (:report (lambda (c s) (format s "line ~d, ~s: ~a" (bad-line-number c) (bad-line-text c) (why c)))))
(define-condition missing-field (bad-line) ((field :initarg :field :reader field)))

(defparameter *orders* "apples;3;1.50
pears;x;2.00
plums;10
quinces;4;0.75

figs;-2;3.00")

(defun split (text separator)
  (loop with start = 0
        for end = (position separator text :start start)
        collect (subseq text start end)
        while end do (setf start (1+ end))))

(defun cents (text)
  (let ((dot (position #\. text)))
    (if dot
        (+ (* 100 (parse-integer text :end dot)) (parse-integer text :start (1+ dot)))
        (* 100 (parse-integer text)))))

(defun parse-order (line number)
  (flet ((bad (why &rest more) (apply #'error 'bad-line :line line :number number :why why more)))
    (let ((fields (split line #\;)))
      (when (equal line "") (bad "it is empty"))
      (when (< (length fields) 3)
        (error 'missing-field :line line :number number :why "a field is missing" :field (length fields)))
      (destructuring-bind (name count price) fields
        (let ((n (handler-case (parse-integer count) (parse-error () (bad (format nil "~s is no number" count))))))
          (when (minusp n) (bad "less than nothing is ordered"))
          (list (intern (string-upcase name) :keyword) n (* n (cents price))))))))

(defun read-orders (text)
  (with-input-from-string (in text)
    (loop for line = (read-line in nil) for number from 1 while line
          for order = (restart-case (parse-order line number)
                        (skip () :report "Skip it." nil)
                        (use-value (v) v)
                        (correct (new) (parse-order new number)))
          when order collect order)))

(print (handler-case (read-orders *orders*) (bad-line (c) (princ-to-string c))))
(let ((log '()))
  (print (handler-bind ((bad-line (lambda (c) (push (bad-line-number c) log) (invoke-restart 'skip)))) (read-orders *orders*)))
  (print (nreverse log)))
(print (handler-bind ((missing-field (lambda (c) (invoke-restart 'correct (concatenate 'string (bad-line-text c) ";9.99"))))
                      (bad-line (lambda (c) (if (search "number" (why c)) (use-value (list :guess 0 0) c) (invoke-restart 'skip)))))
         (let ((orders (read-orders *orders*)))
           (format t "~&~:{~10a ~3d ~8,2f~%~}" (mapcar (lambda (o) (list (first o) (second o) (/ (third o) 100.0))) orders))
           (reduce #'+ orders :key #'third))))
(print (handler-bind ((error #'identity)) (multiple-value-bind (v c) (ignore-errors (read-orders *orders*)) (list v (type-of c)))))
(terpri)
