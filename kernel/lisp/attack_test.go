package lisp_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"org-agent/kernel/lisp"
)

// attack is a program, and what it must end with: a class, any limit or, if it is empty,
// anything.
type attack struct{ name, source, class string }

// attacks are programs that try to take more than a note may have. Each must end as an
// error that Lisp cannot handle, soon, in bounded memory.
var attacks = []attack{
	{"empty loop", `(loop)`, stepsCondition},
	{"float in a wide field", `(dotimes (i 1000) (format nil "~100000f" 1.5) (format nil "~,100000f" 1d-300) (format nil "~100000,,399f" 1d300))`, anyLimit},
	{"float in a field without end", `(format nil "~1000000000f" 1.5)`, anyLimit},
	{"loop over a constant", `(loop (list 1))`, anyLimit},
	{"loop that adds", `(loop (+ 1 1))`, stepsCondition},
	{"sleep", `(sleep 1d300)`, timeCondition},
	{"sleep that is handled", `(loop (ignore-errors (sleep 1000)))`, timeCondition},
	{"do without end", `(do () (nil))`, stepsCondition},
	{"tagbody", `(tagbody a (go a))`, stepsCondition},
	{"dotimes far", `(dotimes (i 100000000000) i)`, stepsCondition},
	{"extended loop", `(loop while t)`, stepsCondition},
	{"mapcar lambda", `(mapcar (lambda (x) (loop (list x))) '(1 2 3))`, anyLimit},
	{"sort with a wild predicate", `(sort (list 1 2 3) (lambda (a b) (loop)))`, stepsCondition},
	{"ignored", `(loop (ignore-errors (loop)))`, stepsCondition},
	{"handled", `(loop (handler-case (loop) (serious-condition () 1) (t () 2)))`, stepsCondition},
	{"bound handler", `(handler-bind ((t (lambda (c) (throw 'out c)))) (catch 'out (loop)))`, stepsCondition},
	{"cleanup that goes on", `(unwind-protect (loop) (loop))`, stepsCondition},
	{"cleanup that returns", `(loop (block nil (unwind-protect (loop) (return 1))))`, stepsCondition},
	{"recursion", `(defun f (x) (+ 1 (f x))) (f 1)`, storageCondition},
	{"mutual recursion", `(defun f (x) (1+ (g x))) (defun g (x) (1+ (f x))) (f 1)`, storageCondition},
	{"recursion through handlers", `(defun f () (handler-case (1+ (f)) (type-error () 1))) (f)`, storageCondition},
	{"recursion through cleanup", `(defun f () (unwind-protect (1+ (f)) (list 1))) (f)`, storageCondition},
	{"recursion through mapcar", `(defun f (x) (mapcar #'f (list (list x)))) (f 1)`, storageCondition},
	{"recursion through sort", `(defun f (a b) (sort (list 1 2) #'f) t) (f 1 2)`, storageCondition},
	{"recursion through apply", `(defun f (&rest r) (apply #'f 1 nil)) (f)`, storageCondition},
	{"recursion through eval", `(defun f () (list (eval '(f)))) (f)`, storageCondition},
	{"recursion through a macro", `(defmacro m () '(m)) (m)`, lisp.ProgramError},
	{"growing macro", `(defmacro m (x) (list 'm (list 'list x x))) (m 1)`, lisp.ProgramError},
	{"recursion through a handler", `(handler-bind ((error (lambda (e) (error "again")))) (error "first"))`, ""},
	{"handler that signals itself", `(defun h (e) (handler-bind ((error #'h)) (error "x"))) (handler-bind ((error #'h)) (error "x"))`, storageCondition},
	{"recursion through format", `(defun f (s) (format s "~a" (format nil "~a" (f s)))) (f nil)`, storageCondition},
	{"recursion through print-object", `(defclass k () ()) (defmethod print-object ((o k) s) (princ o s)) (princ-to-string (make-instance 'k))`, storageCondition},
	{"recursion through a type", `(deftype a () 'a) (typep 1 'a)`, storageCondition},
	{"recursion through a constructor", `(defclass k () ((a :initform (make-instance 'k)))) (make-instance 'k)`, storageCondition},
	{"recursion through special bindings", `(defvar *x* 1) (defun f () (let ((*x* 2)) (1+ (f)))) (f)`, storageCondition},
	{"pattern that is no list", `(destructuring-bind 1 2)`, lisp.TypeErrorClass},
	{"circular pattern", `(eval (let ((p (list 'a))) (setf (car p) p) (list 'destructuring-bind p nil)))`, anyLimit},
	{"circular lambda list", `(eval (let ((p (list 'a))) (setf (cdr p) p) (list 'lambda p)))`, anyLimit},
	{"circular declarations", `(eval (let ((p (list '(declare)))) (setf (cdr p) p) (list* 'let nil p)))`, lisp.ProgramError},
	{"circular loop pattern", `(eval (let ((p (list 'a))) (setf (car p) p) (list 'loop 'for p 'in nil)))`, anyLimit},
	{"symbol macro of itself", `(define-symbol-macro a a) (list a)`, anyLimit},
	{"symbol macro place of itself", `(define-symbol-macro a a) (setf a 1)`, anyLimit},
	{"place of itself", `(defmacro m () '(m)) (setf (m) 1)`, anyLimit},
	{"type of itself, subtypep", `(deftype a () 'a) (subtypep 'a 'integer)`, anyLimit},
	{"type of types that double", `(let ((k 'integer)) (dotimes (i 100) (setf k (list 'or k k))) (subtypep k 'number))`, anyLimit},
	{"type of types within types", `(let ((k 'integer)) (dotimes (i 100000) (setf k (list 'not k))) (subtypep k 'number))`, anyLimit},
	{"types of pairs within pairs", `(let ((k 'integer)) (dotimes (i 6) (setf k (list 'cons k k))) (subtypep k '(cons cons cons)))`, anyLimit},
	{"types of pairs in pairs", `(let ((k 'integer)) (dotimes (i 1000) (setf k (list 'cons k 'cons))) (subtypep k '(cons cons cons)))`, anyLimit},
	{"type of itself by a list", `(let ((k (list 'or 'integer))) (setf (cdr k) k) (subtypep k 'number))`, anyLimit},
	{"type of many objects", `(let ((k (cons 'member (loop for i below 100000 collect i)))) (loop (subtypep k (cons 'member (reverse (cdr k))))))`, anyLimit},
	{"type of long numbers", `(let ((k (cons 'member (make-list 100000 :initial-element (/ (expt 3 60000) (expt 2 60000)))))) (loop (subtypep k 'integer)))`, anyLimit},
	{"types of long intervals", `(let ((k (cons 'or (loop for i below 2000 collect (list 'rational (/ (expt 3 20000) (+ i (expt 2 20000)))))))) (loop (subtypep k 'integer)))`, anyLimit},
	{"types of many arrays", `(let ((k (cons 'or (make-list 100000 :initial-element '(array t (8 8 8 8)))))) (subtypep k 'vector))`, anyLimit},
	{"type of itself, coerce", `(deftype a () 'a) (concatenate 'a "x")`, anyLimit},
	{"format into itself", `(let ((a (list "~?" nil))) (setf (cadr a) a) (format nil "~?" "~?" a))`, anyLimit},
	{"condition that reports itself", `(let ((c (make-condition 'simple-error :format-control "~a" :format-arguments (list nil)))) (setf (car (simple-condition-format-arguments c)) c) (princ-to-string c))`, anyLimit},
	{"funcall of funcall", `(apply #'funcall (make-list 1000000 :initial-element #'funcall))`, anyLimit},
	{"complement of complement", `(let ((f #'null)) (dotimes (i 1000000) (setf f (complement f))) (funcall f 1))`, anyLimit},
	{"many dimensions", `(make-array (make-list 100000 :initial-element 1))`, lisp.SimpleError},
	{"deep backquote", `(let ((l '(x))) (dotimes (i 900000) (setf l (list l))) (eval (list (car (read-from-string "` + "`" + `a")) l)))`, anyLimit},
	{"deep method body", `(let ((l '(x))) (dotimes (i 900000) (setf l (list l))) (eval (list 'defmethod 'm '((x t)) l)))`, anyLimit},
	{"deep quoted constant", `(let ((l '(x))) (dotimes (i 900000) (setf l (list l))) (length (eval (list 'quote l))))`, ""},
	{"deep setf place", `(let ((l 'x)) (dotimes (i 400000) (setf l (list 'car l))) (eval (list 'setf l 1)))`, ""},
	{"deep let binding", `(let ((l 1)) (dotimes (i 400000) (setf l (list 'let (list (list 'a l)) 'a))) (eval l))`, ""},
	{"wide sharing", `(let ((l (cons 'progn (make-list 100000 :initial-element 1)))) (dotimes (i 10) (setf l (cons 'progn (make-list 100000 :initial-element l)))) (eval l))`, anyLimit},
	{"next method for ever", `(defmethod m ((x t)) (m x)) (m 1)`, storageCondition},
	{"JSON of a circular list", `(let ((l (list 1))) (setf (cdr l) l) (cl-json:encode-json-to-string l))`, anyLimit},
	{"JSON of a list in itself", `(let ((l (list 1))) (setf (car l) l) (cl-json:encode-json-to-string l))`, storageCondition},
	{"JSON of a circular alist", `(let ((l (list (cons :a 1)))) (setf (cdr l) l) (cl-json:encode-json-alist-to-string l))`, anyLimit},
	{"JSON nested too deeply", `(cl-json:decode-json-from-string (make-string 2000000 :initial-element #\[))`, ""},
	{"str:repeat", `(str:repeat 1000000000 "abc")`, storageCondition},
	{"str:pad", `(str:pad 1000000000 "a")`, storageCondition},
	{"str:join", `(str:join (make-string 100000 :initial-element #\a) (make-list 100000 :initial-element ""))`, storageCondition},
	{"str:replace-all", `(str:replace-all "a" (make-string 100000 :initial-element #\b) (make-string 100000 :initial-element #\a))`, storageCondition},
	{"make-list", `(make-list 1000000000)`, storageCondition},
	{"make-string", `(make-string 1000000000)`, storageCondition},
	{"make-array", `(make-array 1000000000)`, storageCondition},
	{"make-array with dimensions", `(make-array '(100000 100000 100000))`, storageCondition},
	{"make-sequence", `(make-sequence 'string 1000000000 :initial-element #\a)`, storageCondition},
	{"adjust-array", `(adjust-array (make-array 1 :adjustable t) 1000000000)`, storageCondition},
	{"string doubling", `(let ((s "abc")) (loop (setf s (concatenate 'string s s))))`, storageCondition},
	{"list doubling", `(let ((l '(1))) (loop (setf l (append l l))))`, storageCondition},
	{"vector growth", `(let ((v (make-array 0 :fill-pointer 0 :adjustable t))) (loop (vector-push-extend 1 v)))`, ""},
	{"consing", `(let (l) (loop (push 1 l)))`, anyLimit},
	{"hash table", `(let ((h (make-hash-table)) (i 0)) (loop (setf (gethash (incf i) h) i)))`, anyLimit},
	{"colliding keys", `(let ((h (make-hash-table :test 'equalp)) (i 0)) (loop (setf (gethash (vector (incf i)) h) i)))`, anyLimit},
	{"closures", `(let (l) (loop (let ((x 1)) (push (lambda () x) l))))`, storageCondition},
	{"interned symbols", `(let ((i 0) l) (loop (push (intern (format nil "S~a" (incf i))) l)))`, anyLimit},
	{"gensyms", `(let (l) (loop (push (gensym) l)))`, storageCondition},
	{"output", `(loop (princ "0123456789012345678901234567890123456789"))`, outputCondition},
	{"string output", `(with-output-to-string (s) (loop (write-string "0123456789012345678901234567890123456789" s)))`, outputCondition},
	{"format width", `(format nil "~1000000000a" 1)`, storageCondition},
	{"format tab", `(format nil "~1000000000t")`, storageCondition},
	{"format newlines", `(format nil "~1000000000%")`, storageCondition},
	{"format digits", `(format nil "~,1000000000f" 1.5)`, storageCondition},
	{"format money", `(format nil "~1000000000,1000000000$" 1.5)`, storageCondition},
	{"format exponent digits", `(format nil "~,1000000000e" 1.5)`, storageCondition},
	{"format padding", `(format nil "~v,1,1000000000a" 1 2)`, storageCondition},
	{"format iteration", `(format nil "~{~}" "~:*~a" '(1))`, ""},
	{"format without progress", `(format nil "~{x~:*~a~:*~}" '(1))`, ""},
	{"format recursion", `(defvar *f* "~?") (format nil "~@?" "~a" (make-list 10)) (let ((a (list nil nil))) (setf (car a) "~@?" (cdr a) a) (format nil "~@?" "~@?" "~@?"))`, lisp.SimpleError},
	{"bignum power", `(expt 10 1000000000)`, storageCondition},
	{"ratio power", `(expt 3/7 1000000000)`, storageCondition},
	{"bignum shift", `(ash 1 100000000000)`, storageCondition},
	{"bignum squaring", `(let ((x 3)) (loop (setf x (* x x))))`, ""},
	{"factorial", `(let ((x 1) (i 0)) (loop (setf x (* x (incf i)))))`, ""},
	{"printing a long number", `(princ-to-string (expt 3 3000000))`, ""},
	{"circular list length", `(let ((l (list 1))) (setf (cdr l) l) (length l))`, stepsCondition},
	{"circular list print", `(let ((l (list 1))) (setf (cdr l) l) (princ-to-string l))`, outputCondition},
	{"circular car print", `(let ((l (list 1))) (setf (car l) l) (princ-to-string l))`, storageCondition},
	{"circular equal", `(let ((a (list 1)) (b (list 1))) (setf (cdr a) a (cdr b) b) (equal a b))`, stepsCondition},
	{"circular equal by car", `(let ((a (list 1)) (b (list 1))) (setf (car a) a (car b) b) (equal a b))`, storageCondition},
	{"circular equalp", `(let ((a (vector 1)) (b (vector 1))) (setf (aref a 0) a (aref b 0) b) (equalp a b))`, storageCondition},
	{"circular copy", `(let ((l (list 1))) (setf (cdr l) l) (copy-list l))`, storageCondition},
	{"circular tree copy", `(let ((l (list 1))) (setf (car l) l) (copy-tree l))`, storageCondition},
	{"circular apply", `(let ((l (list 1))) (setf (cdr l) l) (apply #'list l))`, anyLimit},
	{"circular append", `(let ((l (list 1))) (setf (cdr l) l) (append l l))`, storageCondition},
	{"circular member", `(let ((l (list 1))) (setf (cdr l) l) (member 2 l))`, stepsCondition},
	{"circular getf", `(let ((l (list 1 2))) (setf (cddr l) l) (getf l 3))`, stepsCondition},
	{"circular nconc", `(let ((l (list 1))) (setf (cdr l) l) (nconc l l))`, stepsCondition},
	{"circular form", `(let ((l (list 'list 1))) (setf (cddr l) l) (eval l))`, ""},
	{"circular nested form", `(let ((l (list 'list 1))) (setf (cadr l) l) (eval l))`, ""},
	{"circular hash key", `(let ((l (list 1)) (h (make-hash-table :test 'equal))) (setf (cdr l) l) (setf (gethash l h) 1) (gethash (list 1 1) h))`, ""},
	{"circular backquote", `(let ((l (list 1))) (setf (car l) l) (eval (list 'quote l)) (princ-to-string l))`, storageCondition},
	{"deep nesting when printed", `(let ((l nil)) (loop (setf l (list l)) (princ-to-string l)))`, ""},
	{"deep nesting when compared", `(let ((a nil) (b nil)) (dotimes (i 1000000) (setf a (list a) b (list b))) (equal a b))`, anyLimit},
	{"deep nesting when evaluated", `(let ((l 1)) (dotimes (i 1000000) (setf l (list 'list l))) (eval l))`, ""},
	{"regular expression, quadratic", `(length (cl-ppcre:regex-replace-all "a.*b|a" (make-string 1000000 :initial-element #\a) ""))`, ""},
	{"regular expression, nested", `(cl-ppcre:scan "(((a{1,30}){1,30}){1,30}){1,30}" "aaaa")`, ""},
	{"replacement that grows", `(let ((s "a")) (loop (setf s (cl-ppcre:regex-replace-all "a" s "aa"))))`, ""},
	{"many patterns", `(let ((i 0)) (loop (cl-ppcre:scan (format nil "x~a" (incf i)) "y")))`, ""},
	{"quadratic sets", `(let ((l (loop for i below 100000 collect i))) (intersection l (reverse l)))`, stepsCondition},
	{"quadratic duplicates", `(remove-duplicates (loop for i below 200000 collect i))`, stepsCondition},
	{"reading deep", `(read-from-string (make-string 1000000 :initial-element #\())`, ""},
	{"reading a long number", `(read-from-string (make-string 1000000 :initial-element #\9))`, ""},
	{"parsing a long number", `(parse-integer (make-string 3000000 :initial-element #\9))`, ""},
	{"read-time evaluation", `(read-from-string "#.(loop)")`, readerError},
	{"many values", `(loop for i below 100000000 collect (values-list (make-list 10000)))`, storageCondition},
	{"endless mapcon", `(let ((l (list 1))) (setf (cdr l) l) (mapcon #'list l))`, anyLimit},
	{"sub-sequence bounds", `(subseq "abc" 0 4611686018427387903)`, ""},
	{"negative sizes", `(make-string -1)`, lisp.TypeErrorClass},
	{"destroyed standard function", `(defun car (x) x)`, packageError},
	{"destroyed kernel state", `(setf (symbol-function 'car) #'cdr)`, packageError},
	{"constant", `(setf nil 1)`, lisp.ProgramError},
	{"huge repeat in a regular expression", `(cl-ppcre:scan "a{1000000000}" "a")`, ""},
	{"catastrophic regular expression", `(cl-ppcre:scan "(a+)+$" (concatenate 'string (make-string 100000 :initial-element #\a) "b"))`, ""},
	{"alternatives by the thousand", `(cl-ppcre:scan (with-output-to-string (s) (dotimes (i 20000) (format s "~a|" i))) "x")`, ""},
	{"replacement by a large text", `(cl-ppcre:regex-replace-all "" (make-string 100000 :initial-element #\a) (make-string 100000 :initial-element #\b))`, anyLimit},
	{"split into many", `(let (l) (loop (push (cl-ppcre:split "" (make-string 10000 :initial-element #\a)) l)))`, anyLimit},
	{"nested format iterations", `(let ((l (make-list 2000 :initial-element (make-list 2000)))) (format nil "~{~{~a~}~}" l))`, ""},
	{"format columns", `(format nil "~1000000000<~a~>" 1)`, anyLimit},
	{"format with a count from an argument", `(format nil "~v%" (expt 10 18))`, anyLimit},
	{"format of a bignum width", `(format nil "~va" (expt 10 30) 1)`, ""},
	{"format of English", `(format nil "~r" (expt 10 200000))`, ""},
	{"format groups", `(format nil "~,,,1:d" (expt 10 200000))`, ""},
	{"format calling itself", `(defun f (s a c at) (format s "~/f/" a)) (format nil "~/f/" 1)`, ""},
	{"wide print", `(princ-to-string (make-list 200000))`, outputCondition},
	{"print of shared structure", `(let ((l 1)) (dotimes (i 100) (setf l (cons l l))) (princ-to-string l))`, outputCondition},
	{"print of a circular structure object", `(defstruct s a) (let ((x (make-s))) (setf (s-a x) x) (princ-to-string x))`, ""},
	{"circle detection over much", `(let ((*print-circle* t)) (princ-to-string (loop for i below 1000000 collect (list i))))`, anyLimit},
	{"inconsistent predicate", `(length (sort (loop for i below 10000 collect i) (lambda (a b) (oddp (+ a b)))))`, ""},
	{"predicate that changes its list", `(let ((l (loop for i below 1000 collect i))) (length (sort l (lambda (a b) (setf (cdr l) nil) (< a b)))))`, ""},
	{"table changed while walked", `(let ((h (make-hash-table)) (i 0)) (setf (gethash 0 h) 0) (maphash (lambda (k v) (setf (gethash (incf i) h) i)) h))`, ""},
	{"deep hash keys", `(let ((h (make-hash-table :test 'equal)) (l nil)) (dotimes (i 100000) (setf l (list l))) (setf (gethash l h) 1) (gethash l h))`, ""},
	{"long hash keys", `(let ((h (make-hash-table :test 'equal)) (s (make-string 1000000))) (loop (gethash s h)))`, anyLimit},
	{"bignum keys", `(let ((h (make-hash-table)) (x (expt 7 100000))) (loop (gethash x h)))`, anyLimit},
	{"gcd of bignums", `(let ((a (expt 3 100000)) (b (expt 5 100000))) (loop (gcd a b)))`, anyLimit},
	{"division of bignums", `(let ((a (expt 3 60000)) (b (1+ (expt 3 30000)))) (loop (floor a b)))`, anyLimit},
	{"roots of bignums", `(let ((a (expt 3 100000))) (loop (isqrt a)))`, anyLimit},
	{"bignum sums", `(let ((a (expt 3 60000))) (loop (+ a 1)))`, anyLimit},
	{"bignum comparisons", `(let ((a (expt 3 60000)) (b (expt 3 60000))) (loop (= a b)))`, anyLimit},
	{"bignum bits", `(let ((a (ash 1 100000))) (loop (logcount (logior a 1))))`, anyLimit},
	{"ratios that grow", `(let ((x 1/3)) (loop (setf x (* x (+ x 1/7)))))`, anyLimit},
	{"rational of the smallest float", `(loop repeat 100000 collect (rational least-positive-double-float))`, ""},
	{"printing bignums", `(let ((x (expt 7 5000))) (loop (princ-to-string x)))`, anyLimit},
	{"print base of bignums", `(write-to-string (expt 3 60000) :base 3)`, ""},
	{"reading a flood of symbols", `(read-from-string (with-output-to-string (s) (princ "(" s) (dotimes (i 60000) (format s "s~a " i)) (princ ")" s)))`, ""},
	{"reading symbols for ever", `(let ((i 0)) (loop (read-from-string (format nil "x~a" (incf i)))))`, anyLimit},
	{"reading quotes", `(read-from-string (make-string 1000000 :initial-element #\'))`, ""},
	{"reading vectors", `(read-from-string (with-output-to-string (s) (dotimes (i 100000) (princ "#(" s))))`, ""},
	{"reading comments", `(read-from-string (with-output-to-string (s) (dotimes (i 100000) (princ "#|" s))))`, ""},
	{"reading backquotes", "(eval (read-from-string (concatenate 'string (make-string 5000 :initial-element #\\`) \"a\")))", ""},
	{"reading a ratio of long numbers", `(read-from-string (concatenate 'string (make-string 300000 :initial-element #\9) "/" (make-string 300000 :initial-element #\7)))`, ""},
	{"reading a float's exponent", `(read-from-string "1e999999999999")`, ""},
	{"array of arrays", `(let ((a (make-array 1000))) (loop (setf a (make-array 1000 :initial-element (copy-seq a)))))`, anyLimit},
	{"array extended", `(let ((a (make-array 1 :adjustable t)) (n 1)) (loop (setf a (adjust-array a (setf n (* n 2))))))`, anyLimit},
	{"array initial contents", `(let ((l (list 1))) (setf (cdr l) l) (make-array 3 :initial-contents l))`, ""},
	{"strings joined", `(let ((s "x")) (loop (setf s (format nil "~a~a" s s))))`, anyLimit},
	{"map into a string", `(map 'string #'identity (make-list 10000000 :initial-element #\a))`, anyLimit},
	{"replace in itself", `(let ((v (make-array 100000))) (loop (replace v v :start1 1)))`, anyLimit},
	{"search", `(search (make-string 100000 :initial-element #\a) (make-string 200000 :initial-element #\b))`, ""},
	{"quadratic search", `(let ((a (make-list 3000 :initial-element 1))) (search (append a '(2)) (append a a a a)))`, ""},
	{"restart recursion", `(defun f () (restart-case (f) (x () 1))) (f)`, storageCondition},
	{"restart that invokes itself", `(restart-bind ((x (lambda () (invoke-restart 'x)))) (invoke-restart 'x))`, anyLimit},
	{"retry for ever", `(handler-bind ((error (lambda (e) (invoke-restart 'again)))) (loop (restart-case (error "x") (again ()))))`, anyLimit},
	{"warnings", `(loop (handler-bind ((warning #'muffle-warning)) (warn "x")))`, anyLimit},
	{"warnings to the log", `(loop (warn "0123456789"))`, anyLimit},
	{"cleanup within cleanup", `(defun f () (unwind-protect (error "x") (f))) (f)`, anyLimit},
	{"cleanup that throws", `(loop (catch 'a (unwind-protect (throw 'a 1) (throw 'a 2))))`, stepsCondition},
	{"swallowed memory", `(loop (ignore-errors (make-list 1000000000)))`, storageCondition},
	{"swallowed depth", `(defun f () (ignore-errors (f)) (f)) (f)`, storageCondition},
	{"swallowed output", `(handler-case (loop (princ "0123456789")) (t () (loop (princ "more"))))`, outputCondition},
	{"method combination", `(defclass k () ()) (defmethod m ((x k)) 1) (defmethod m :around ((x k)) (call-next-method) (m x)) (m (make-instance 'k))`, anyLimit},
	{"classes for ever", `(let ((i 0)) (loop (eval (list 'defclass (intern (format nil "K~a" (incf i))) nil nil))))`, anyLimit},
	{"functions for ever", `(let ((i 0)) (loop (eval (list 'defun (intern (format nil "F~a" (incf i))) nil 1))))`, anyLimit},
	{"packages for ever", `(let ((i 0)) (loop (make-package (format nil "P~a" (incf i)))))`, anyLimit},
	{"class of itself", `(defclass a (b) ()) (defclass b (a) ()) (make-instance 'a)`, ""},
	{"structure of itself", `(defstruct a (x (make-a))) (make-a)`, storageCondition},
	{"progv of many", `(progv (loop repeat 100000 collect (gensym)) nil 1)`, ""},
	{"property lists", `(loop (setf (get 'a (gensym)) 1))`, anyLimit},
	{"macroexpand", `(defmacro m (x) (list 'm (list 'm x))) (macroexpand '(m 1))`, anyLimit},
	{"compiler macros of let", `(eval (let ((f 1)) (dotimes (i 100000) (setf f (list 'let nil f))) f))`, ""},
	{"parameters by the thousand", `(eval (list 'lambda (loop repeat 200000 collect (gensym)) 1))`, ""},
	{"tree walked by subst", `(let ((l (list 1))) (setf (cdr l) l) (subst 2 1 l))`, anyLimit},
	{"tree compared", `(let ((l (list 1))) (setf (cdr l) l) (tree-equal l (copy-list '(1 1))) (tree-equal l l))`, anyLimit},
	{"equalp tables", `(let ((h (make-hash-table :test 'equalp))) (setf (gethash h h) h) (equalp h h))`, ""},
	{"random numbers", `(loop (random (expt 10 100000)))`, anyLimit},
	{"string compared", `(let ((a (make-string 1000000)) (b (make-string 1000000))) (loop (string= a b)))`, anyLimit},
	{"coerce back and forth", `(let ((l (make-list 100000 :initial-element 1))) (loop (coerce (coerce l 'vector) 'list)))`, anyLimit},
	{"loop over symbols", `(loop (do-symbols (s) s))`, anyLimit},
	{"universal time", `(loop (decode-universal-time (expt 10 1000)))`, ""},
	{"splitting", `(loop (uiop:split-string (make-string 100000 :initial-element #\Space)))`, anyLimit},
}

// anyLimit stands for whatever limit is reached first.
const anyLimit = "a limit"

// attackLimits are small, so that the tests are quick; with -short they are smaller.
func attackLimits() lisp.Limits {
	limits := lisp.Limits{Steps: 500_000, Bytes: 16 << 20, Output: 1 << 19, Duration: 2 * time.Second}
	if testing.Short() {
		limits.Steps /= 2
		limits.Output /= 4
		limits.Depth = lisp.MaximumDepth / 8
	}
	return limits
}

func TestAttacks(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // what is in use at most is for TestPeakMemory
	limits := attackLimits()
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "attack\ttime\tallocated\tends with")
	for _, attack := range slices.Concat(attacks, libraryAttacks) {
		t.Run(attack.name, func(t *testing.T) {
			limits := limits
			if strings.HasPrefix(attack.name, "sleep") { // what sleeps does so until its time is over
				limits.Duration = 100 * time.Millisecond
			}
			e := newEnvironment(t, lisp.Config{Limits: limits})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := evaluated(t, e, attack.source)
			elapsed := time.Since(start)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			fmt.Fprintf(w, "%s\t%v\t%d MB\t%s\n", attack.name, elapsed.Round(time.Millisecond), allocated>>20, ending(err))
			checkAttack(t, attack.class, err)
			if allocated > 1<<30 {
				t.Errorf("%d MB were allocated", allocated>>20)
			}
			if got, err := evaluated(t, e, "(+ 1 2)"); err != nil || got != "3" {
				t.Errorf("afterwards (+ 1 2) is %s, %v", got, err)
			}
		})
	}
	w.Flush()
	t.Logf("limits %+v\n%s", limits, table.String())
}

// watchMemory begins to look at the memory in use, several times a millisecond; peak ends
// that and says by how much it grew.
func watchMemory() (peak func() uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	use := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64() + sample[1].Value.Uint64()
	}
	least := use()
	most := least
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(300 * time.Microsecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				most = max(most, use())
				return
			case <-ticker.C:
				most = max(most, use())
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-stopped
		return most - least
	}
}

// ending names how an attack ended.
func ending(err error) string {
	var failed *lisp.Error
	if errors.As(err, &failed) {
		return failed.Class
	}
	return "a value"
}

func checkAttack(t *testing.T, class string, err error) {
	t.Helper()
	var failed *lisp.Error
	if class == "" { // it may as well succeed within the limits
		if err != nil && !errors.As(err, &failed) {
			t.Errorf("the error is a %T", err)
		}
	} else if class == anyLimit {
		if !errors.As(err, &failed) || !failed.Limit() {
			t.Errorf("error %v, want an exceeded limit", err)
		}
	} else if !errors.As(err, &failed) || failed.Class != class && failed.Class != timeCondition {
		// On a slow machine the time runs out first, which is a bound as well; and with -short
		// the limits are so small that another one may be first.
		if limit := class == storageCondition || class == stepsCondition || class == outputCondition; testing.Short() && limit && failed != nil && failed.Limit() {
			return
		}
		t.Errorf("error %v, want %s", err, class)
	}
	if failed != nil && failed.Class == internalError {
		t.Errorf("internal error: %v\n%v", failed, failed.Cause)
	}
}

func TestDuration(t *testing.T) {
	e := newEnvironment(t, lisp.Config{Limits: lisp.Limits{Steps: 1 << 60, Duration: 50 * time.Millisecond}})
	_, err := evaluated(t, e, `(loop (ignore-errors (loop)))`)
	checkAttack(t, timeCondition, err)
}

func TestCancellation(t *testing.T) {
	e := newEnvironment(t, lisp.Config{Limits: lisp.Limits{Steps: 1 << 60, Duration: time.Hour}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := e.Load(ctx, `(loop (ignore-errors (loop)))`, "x", 1)
	var failed *lisp.Error
	if !errors.As(err, &failed) || failed.Class != timeCondition || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := e.Load(ctx, `1`, "x", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestDeepestStack makes the recursions that use most Go stack for each level. With -short they
// are a quarter as deep, and may use a quarter of it.
func TestDeepestStack(t *testing.T) {
	depth, most := lisp.MaximumDepth, uint64(128<<20)
	if testing.Short() {
		depth, most = depth/4, most/4
	}
	for _, body := range []string{
		`(1+ (f))`, `(handler-case (1+ (f)) (type-error () 1))`, `(unwind-protect (1+ (f)) 1)`, `(mapcar (lambda (x) (f)) '(1))`, `(funcall (lambda () (let ((y 1)) (list y (f)))))`,
		`(block nil (return (1+ (f))))`, `(catch 'x (1+ (f)))`, `(let ((v (list 1))) (sort (list 1 2) (lambda (a b) (f))))`, `(eval '(f))`, `(apply #'f nil)`,
		`(progn (tagbody (f) (go end) end) 1)`, `(multiple-value-call #'list (f))`, `(reduce (lambda (a b) (f)) '(1 2 3))`, `(format nil "~{~a~}" (list (f)))`,
		`(cl-ppcre:regex-replace-all "a" "a" (lambda (&rest r) (f)))`, `(restart-case (1+ (f)) (x () 1))`, `(maphash (lambda (k v) (f)) *h*)`, `(handler-bind ((error (lambda (e) (f)))) (error "x"))`,
		`(m 1)`, `(some (lambda (x) (f)) '(1))`, `(loop for x in '(1) collect (f))`, `(find-if (lambda (x) (f)) '(1))`, `(princ-to-string (make-instance 'k))`, `(f2 1 :b 2)`, `(typep 1 'ty)`,
	} {
		e := newEnvironment(t, lisp.Config{Limits: lisp.Limits{Steps: 100_000_000, Depth: depth, Duration: time.Minute}})
		_, err := evaluated(t, e, `(defvar *h* (make-hash-table)) (setf (gethash 1 *h*) 1) (defgeneric m (x)) (defmethod m ((x integer)) (1+ (f))) (defclass k () ()) (defmethod print-object ((o k) s) (f)) (deftype ty () '(satisfies f1)) (defun f1 (x) (f)) (defun f2 (a &key b) (list (f))) (defun f () `+body+`) (f)`)
		var failed *lisp.Error
		if !errors.As(err, &failed) || !failed.Limit() {
			t.Errorf("%s: %v", body, err)
		}
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		t.Logf("%-60s stack %d MB", body, stats.StackSys>>20)
		if stats.StackSys > most {
			t.Errorf("%s used %d MB of stack", body, stats.StackSys>>20)
		}
		runtime.GC()
	}
}

func TestSymbolsOfDataDoNotStay(t *testing.T) {
	e := newEnvironment(t, lisp.Config{})
	for round := range 60 {
		var names strings.Builder
		names.WriteString("(")
		for i := range 500 {
			names.WriteString(" :k")
			names.WriteString(strings.Repeat("x", round%7))
			names.WriteString(string(rune('a'+i%26)) + string(rune('a'+i/26)) + string(rune('a'+round%26)) + string(rune('a'+round/26)))
		}
		names.WriteString(")")
		if _, err := evaluated(t, e, "(length (read-from-string "+prin1Text(names.String())+"))"); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
	}
	if n := e.TransientKeywords(); n > 10_000 {
		t.Errorf("%d keywords are kept of 30,000 that came by", n)
	}
}

func prin1Text(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
