;;; a misspelt function
(defun greet (name)
  (fromat nil "Hello, ~a" name))
;;; a misspelt variable
(defvar *settings* nil)
(defun theme ()
  (getf *setings* :theme))
;;; a misspelt parameter
(defun area (width height)
  (* width heigth))
;;; a misspelt keyword argument of a standard function
(defun sorted (l)
  (sort l #'< :kye #'car))
;;; a keyword argument that the note's function does not have
(defun draw (&key (colour :red)) colour)
(defun picture ()
  (draw :color :blue))
;;; too many arguments of a standard function
(defun heads (l)
  (car l 1))
;;; too few arguments of a standard function
(defun item (table)
  (gethash table))
;;; too many arguments of the note's function
(defun add (a b) (+ a b))
(defun sum3 (x)
  (add x 1 2))
;;; too few arguments of the note's function
(defun add (a b) (+ a b))
(add 1)
;;; a missing parenthesis
(defun first-line (text)
  (let ((end (position #\Newline text)))
    (subseq text 0 end))

(defun next () 1)
;;; a parenthesis too many
(defun twice (x)
  (* 2 x)))
(defun after () 1)
;;; a string that does not end
(defun title ()
  "no end)
;;; an unknown keyword of loop
(defun squares (l)
  (loop for x in l colect (* x x)))
;;; for without what to walk
(defun numbers ()
  (loop for x collect x))
;;; an unknown format directive
(defun show (x)
  (format nil "~a is ~y" x 1))
;;; a format directive that is not closed
(defun list-all (l)
  (format nil "~{~a, " l))
;;; too few arguments for a format string
(defun pair (a)
  (format nil "~a and ~a" a))
(pair 1)
;;; car of a number
(defun first-of (x)
  (let ((y x))
    (car y)))
(first-of 5)
;;; + of a string
(defun total (prices)
  (reduce #'+ prices))
(total '(1 "2" 3))
;;; aref beyond the end
(defun third-of (v)
  (aref v 2))
(third-of #(1 2))
;;; gethash of a list
(defun look (key table)
  (gethash key table))
(look :a '((:a . 1)))
;;; a class that is not defined
(defun make ()
  (make-instance 'acount))
(defclass account () ())
(make)
;;; a parent that is not defined
(defclass animal () ())
(defclass dog (aminal) ())
;;; an initarg that no slot has
(defclass point () ((x :initarg :x) (y :initarg :y)))
(make-instance 'point :x 1 :z 2)
;;; a slot that is not there
(defclass point () ((x :initarg :x :initform 0)))
(defun get-y (p)
  (slot-value p 'y))
(get-y (make-instance 'point))
;;; no method for the argument
(defgeneric area (shape))
(defmethod area ((s string)) 0)
(area 5)
;;; a package that is not there
(defun ask ()
  (alexandria:flatten '(1 (2))))
;;; a let binding with too many parts
(defun f ()
  (let ((a 1 2)) a))
;;; a let without the outer parentheses
(defun g ()
  (let (a 1)
    a))
;;; a let with a function call as binding
(defun h (x)
  (let ((length x) (+ 1 2))
    length))
;;; setf with an odd number of parts
(defun reset (p)
  (setf (getf p :a)))
;;; setf of something that is no place
(defun store (x)
  (setf (+ x 1) 2))
;;; setf of a function of the note that has no setter
(defun name (x) (getf x :name))
(defun rename (x)
  (setf (name x) "new"))
;;; an if with too many branches
(defun check (x)
  (if x 1 2 3))
;;; a cond clause that is no list
(defun kind (x)
  (cond (null x) :none))
;;; a defun without a lambda list
(defun later)
;;; a lambda list with an unknown word
(defun opt (a &optinal b) (list a b))
;;; a variable where a function is meant
(defun apply-all (f l)
  (mapcar f l))
(apply-all 5 '(1 2))
;;; a function called as if it were a variable's
(defun run (callback)
  (callback 1))
;;; return-from a block that is not there
(defun search-all (l)
  (dolist (x l) (return-from serach-all x)))
;;; defining what belongs to Common Lisp
(defun list (x) x)
;;; a macro used before it is defined
(defun use () (my-when t 1))
(defmacro my-when (c &body b) `(if ,c (progn ,@b)))
;;; a macro with too few arguments
(defmacro with-x ((var value) &body body) `(let ((,var ,value)) ,@body))
(defun y () (with-x (a) a))
;;; a comma outside of a backquote
(defmacro m (x) '(list ,x))
;;; a condition that is not defined
(defun fail ()
  (error 'my-eror :code 1))
(fail)
;;; a restart that is not there
(invoke-restart 'skip-it)
;;; a structure's accessor for another thing
(defstruct task title)
(task-title '(:title "x"))
;;; a slot keyword that the structure does not have
(defstruct task title)
(defun new () (make-task :titel "x"))
;;; division by zero
(defun mean (l)
  (/ (reduce #'+ l) (length l)))
(mean '())
;;; a recursion without end
(defun forever (n) (1+ (forever n)))
(forever 1)
;;; parse-integer of a word
(defun count-of (text)
  (parse-integer text))
(count-of "three")
;;; an error of the note's own
(define-condition too-cold (error) ((degrees :initarg :degrees :reader degrees))
  (:report (lambda (c s) (format s "~d degrees are too cold" (degrees c)))))
(defun check-weather (d)
  (when (< d 0)
    (error 'too-cold :degrees d)))
(check-weather -5)
