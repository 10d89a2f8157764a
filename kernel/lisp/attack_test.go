package lisp

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// attacks are programs that try to take more than a note may have. Each must end as an
// error that Lisp cannot handle, soon, in bounded memory.
var attacks = []struct{ name, source, class string }{
	{"empty loop", `(loop)`, stepsCondition},
	{"loop over a constant", `(loop (list 1))`, anyLimit},
	{"loop that adds", `(loop (+ 1 1))`, stepsCondition},
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
	{"recursion through a macro", `(defmacro m () '(m)) (m)`, programError},
	{"growing macro", `(defmacro m (x) (list 'm (list 'list x x))) (m 1)`, programError},
	{"recursion through a handler", `(handler-bind ((error (lambda (e) (error "again")))) (error "first"))`, ""},
	{"handler that signals itself", `(defun h (e) (handler-bind ((error #'h)) (error "x"))) (handler-bind ((error #'h)) (error "x"))`, storageCondition},
	{"recursion through format", `(defun f (s) (format s "~a" (format nil "~a" (f s)))) (f nil)`, storageCondition},
	{"recursion through print-object", `(defclass k () ()) (defmethod print-object ((o k) s) (princ o s)) (princ-to-string (make-instance 'k))`, storageCondition},
	{"recursion through a type", `(deftype a () 'a) (typep 1 'a)`, storageCondition},
	{"recursion through a constructor", `(defclass k () ((a :initform (make-instance 'k)))) (make-instance 'k)`, storageCondition},
	{"recursion through special bindings", `(defvar *x* 1) (defun f () (let ((*x* 2)) (1+ (f)))) (f)`, storageCondition},
	{"pattern that is no list", `(destructuring-bind 1 2)`, programError},
	{"circular pattern", `(eval (let ((p (list 'a))) (setf (car p) p) (list 'destructuring-bind p nil)))`, anyLimit},
	{"circular lambda list", `(eval (let ((p (list 'a))) (setf (cdr p) p) (list 'lambda p)))`, anyLimit},
	{"circular declarations", `(eval (let ((p (list '(declare)))) (setf (cdr p) p) (list* 'let nil p)))`, programError},
	{"circular loop pattern", `(eval (let ((p (list 'a))) (setf (car p) p) (list 'loop 'for p 'in nil)))`, anyLimit},
	{"symbol macro of itself", `(define-symbol-macro a a) (list a)`, anyLimit},
	{"symbol macro place of itself", `(define-symbol-macro a a) (setf a 1)`, anyLimit},
	{"place of itself", `(defmacro m () '(m)) (setf (m) 1)`, anyLimit},
	{"type of itself, subtypep", `(deftype a () 'a) (subtypep 'a 'integer)`, anyLimit},
	{"type of itself, coerce", `(deftype a () 'a) (concatenate 'a "x")`, anyLimit},
	{"format into itself", `(let ((a (list "~?" nil))) (setf (cadr a) a) (format nil "~?" "~?" a))`, anyLimit},
	{"condition that reports itself", `(let ((c (make-condition 'simple-error :format-control "~a" :format-arguments (list nil)))) (setf (car (simple-condition-format-arguments c)) c) (princ-to-string c))`, anyLimit},
	{"funcall of funcall", `(apply #'funcall (make-list 1000000 :initial-element #'funcall))`, anyLimit},
	{"complement of complement", `(let ((f #'null)) (dotimes (i 1000000) (setf f (complement f))) (funcall f 1))`, anyLimit},
	{"many dimensions", `(make-array (make-list 100000 :initial-element 1))`, simpleError},
	{"deep backquote", `(let ((l '(x))) (dotimes (i 900000) (setf l (list l))) (eval (list (car (read-from-string "` + "`" + `a")) l)))`, anyLimit},
	{"deep method body", `(let ((l '(x))) (dotimes (i 900000) (setf l (list l))) (eval (list 'defmethod 'm '((x t)) l)))`, anyLimit},
	{"deep quoted constant", `(let ((l '(x))) (dotimes (i 900000) (setf l (list l))) (length (eval (list 'quote l))))`, ""},
	{"deep setf place", `(let ((l 'x)) (dotimes (i 400000) (setf l (list 'car l))) (eval (list 'setf l 1)))`, ""},
	{"deep let binding", `(let ((l 1)) (dotimes (i 400000) (setf l (list 'let (list (list 'a l)) 'a))) (eval l))`, ""},
	{"wide sharing", `(let ((l (cons 'progn (make-list 100000 :initial-element 1)))) (dotimes (i 10) (setf l (cons 'progn (make-list 100000 :initial-element l)))) (eval l))`, anyLimit},
	{"next method for ever", `(defmethod m ((x t)) (m x)) (m 1)`, storageCondition},
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
	{"colliding keys", `(let ((h (make-hash-table :test 'equalp)) (i 0)) (loop (setf (gethash (vector (incf i)) h) i)))`, stepsCondition},
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
	{"format recursion", `(defvar *f* "~?") (format nil "~@?" "~a" (make-list 10)) (let ((a (list nil nil))) (setf (car a) "~@?" (cdr a) a) (format nil "~@?" "~@?" "~@?"))`, simpleError},
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
	{"negative sizes", `(make-string -1)`, typeErrorClass},
	{"destroyed standard function", `(defun car (x) x)`, packageError},
	{"destroyed kernel state", `(setf (symbol-function 'car) #'cdr)`, packageError},
	{"constant", `(setf nil 1)`, programError},
}

// anyLimit stands for whatever limit is reached first.
const anyLimit = "a limit"

// attackLimits are small, so that the tests are quick.
var attackLimits = Limits{Steps: 1_000_000, Bytes: 32 << 20, Output: 1 << 20, Duration: 2 * time.Second}

func TestAttacks(t *testing.T) {
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			e := newEnvironment(t, Config{Limits: attackLimits})
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := evaluated(t, e, attack.source)
			elapsed := time.Since(start)
			runtime.ReadMemStats(&after)
			t.Logf("%v, %d MB allocated, %d MB stack: %v", elapsed.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20, after.StackSys>>20, err)
			checkAttack(t, attack.class, err)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<30 {
				t.Errorf("%d MB were allocated", allocated>>20)
			}
			if got, err := evaluated(t, e, "(+ 1 2)"); err != nil || got != "3" {
				t.Errorf("afterwards (+ 1 2) is %s, %v", got, err)
			}
		})
	}
}

func checkAttack(t *testing.T, class string, err error) {
	t.Helper()
	var failed *Error
	if class == "" { // it may as well succeed within the limits
		if err != nil && !errors.As(err, &failed) {
			t.Errorf("the error is a %T", err)
		}
	} else if class == anyLimit {
		if !errors.As(err, &failed) || !failed.Limit() {
			t.Errorf("error %v, want an exceeded limit", err)
		}
	} else if !errors.As(err, &failed) || failed.Class != class && failed.Class != timeCondition {
		// On a slow machine the time runs out first, which is a bound as well.
		t.Errorf("error %v, want %s", err, class)
	}
	if failed != nil && failed.Class == internalError {
		t.Errorf("internal error: %v\n%v", failed, failed.Cause)
	}
}

func TestDuration(t *testing.T) {
	e := newEnvironment(t, Config{Limits: Limits{Steps: 1 << 60, Duration: 50 * time.Millisecond}})
	_, err := evaluated(t, e, `(loop (ignore-errors (loop)))`)
	checkAttack(t, timeCondition, err)
}

func TestCancellation(t *testing.T) {
	e := newEnvironment(t, Config{Limits: Limits{Steps: 1 << 60, Duration: time.Hour}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := e.Load(ctx, `(loop (ignore-errors (loop)))`, "x", 1)
	var failed *Error
	if !errors.As(err, &failed) || failed.Class != timeCondition || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := e.Load(ctx, `1`, "x", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestDeepestStack makes the recursions that use most Go stack for each level.
func TestDeepestStack(t *testing.T) {
	for _, body := range []string{
		`(1+ (f))`, `(handler-case (1+ (f)) (type-error () 1))`, `(unwind-protect (1+ (f)) 1)`, `(mapcar (lambda (x) (f)) '(1))`, `(funcall (lambda () (let ((y 1)) (list y (f)))))`,
		`(block nil (return (1+ (f))))`, `(catch 'x (1+ (f)))`, `(let ((v (list 1))) (sort (list 1 2) (lambda (a b) (f))))`, `(eval '(f))`, `(apply #'f nil)`,
		`(progn (tagbody (f) (go end) end) 1)`, `(multiple-value-call #'list (f))`, `(reduce (lambda (a b) (f)) '(1 2 3))`, `(format nil "~{~a~}" (list (f)))`,
		`(cl-ppcre:regex-replace-all "a" "a" (lambda (&rest r) (f)))`, `(restart-case (1+ (f)) (x () 1))`, `(maphash (lambda (k v) (f)) *h*)`, `(handler-bind ((error (lambda (e) (f)))) (error "x"))`,
		`(m 1)`, `(some (lambda (x) (f)) '(1))`, `(loop for x in '(1) collect (f))`, `(find-if (lambda (x) (f)) '(1))`, `(princ-to-string (make-instance 'k))`, `(f2 1 :b 2)`, `(typep 1 'ty)`,
	} {
		e := newEnvironment(t, Config{Limits: Limits{Steps: 100_000_000, Duration: time.Minute}})
		_, err := evaluated(t, e, `(defvar *h* (make-hash-table)) (setf (gethash 1 *h*) 1) (defgeneric m (x)) (defmethod m ((x integer)) (1+ (f))) (defclass k () ()) (defmethod print-object ((o k) s) (f)) (deftype ty () '(satisfies f1)) (defun f1 (x) (f)) (defun f2 (a &key b) (list (f))) (defun f () `+body+`) (f)`)
		var failed *Error
		if !errors.As(err, &failed) || !failed.Limit() {
			t.Errorf("%s: %v", body, err)
		}
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		t.Logf("%-60s stack %d MB", body, stats.StackSys>>20)
		if stats.StackSys > 512<<20 {
			t.Errorf("%s used %d MB of stack", body, stats.StackSys>>20)
		}
		runtime.GC()
	}
}

func TestSymbolsOfDataDoNotStay(t *testing.T) {
	e := newEnvironment(t, Config{})
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
	if n := len(e.keywords.transient); n > 10_000 {
		t.Errorf("%d keywords are kept of 30,000 that came by", n)
	}
}

func prin1Text(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
