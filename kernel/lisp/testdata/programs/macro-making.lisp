;; Macros that define macros, functions and tests.
(defmacro with-gensyms (names &body body)
  `(let ,(mapcar (lambda (n) `(,n (gensym ,(string n)))) names) ,@body))

(defmacro once-only (names &body body)
  (let ((gensyms (loop for n in names collect (gensym (string n)))))
    `(let (,@(loop for g in gensyms for n in names collect `(,g (gensym ,(string n)))))
       `(let (,,@(loop for g in gensyms for n in names collect ``(,,g ,,n)))
          ,(let (,@(loop for n in names for g in gensyms collect `(,n ,g)))
             ,@body)))))

(defmacro square (x) (once-only (x) `(* ,x ,x)))
(defmacro between (low x high) (once-only (x) `(and (<= ,low ,x) (<= ,x ,high))))

(defmacro define-unit (name &rest conversions)
  `(progn
     ,@(loop for (other factor) in conversions
             for function = (intern (format nil "~a-IN-~a" other name))
             collect `(defun ,function (n) (* n ,factor))
             collect `(defmacro ,(intern (format nil "WITH-~a" other)) ((var n) &body body)
                        `(let ((,var (,',function ,n))) ,@body)))
     ',(mapcar #'first conversions)))

(defmacro define-pipeline (name &rest steps)
  (with-gensyms (value)
    `(defun ,name (,value)
       (let* ,(loop for step in steps
                    collect `(,value ,(if (consp step) (append step (list value)) (list step value))))
         ,value))))

(defvar *tests* '())
(defmacro deftest* (name &body forms)
  `(push (cons ',name (lambda () (and ,@(loop for (actual => expected) in forms collect `(equal ,actual ,expected))))) *tests*))
(defmacro my-cond (&rest clauses)
  (unless (null clauses)
    (destructuring-bind ((test &body body) &rest more) clauses
      (if (eq test 'otherwise) `(progn ,@body) `(if ,test (progn ,@body) (my-cond ,@more))))))
(defmacro collecting ((&optional (collect 'collect)) &body body)
  (with-gensyms (items)
    `(let ((,items '()))
       (macrolet ((,collect (x) `(push ,x ,',items)))
         ,@body
         (nreverse ,items)))))

(print (define-unit metre (kilometre 1000) (mile 1609344/1000)))
(define-pipeline tidy string-downcase (string-trim " ") (remove #\-) (concatenate 'string "<"))
(deftest* squares ((square 3) => 9) ((let ((n 2)) (list (square (incf n)) n)) => '(9 3)))
(deftest* between ((between 1 5 9) => t) ((between 1 10 9) => nil))
(deftest* tidy ((tidy "  A-b C ") => "<ab c"))
(deftest* units ((with-mile (m 2) (round m)) => 3219) ((kilometre-in-metre 3) => 3000))
(deftest* wrong (1 => 2))
(print (loop for (name . test) in (reverse *tests*) collect (list name (if (funcall test) :ok :failed))))
(print (mapcar (lambda (n) (my-cond ((minusp n) :negative) ((zerop n) :zero) (otherwise :positive))) '(-1 0 1)))
(print (collecting () (dotimes (i 5) (when (oddp i) (collect (* i i))))))
(print (collecting (out) (loop for x in '(a (b c) d) do (if (consp x) (dolist (y x) (out y)) (out x)))))
(print (let ((expansion (macroexpand-1 '(my-cond (a b) (otherwise c))))) expansion))
(terpri)
