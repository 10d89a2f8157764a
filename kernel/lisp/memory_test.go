package lisp_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"org-agent/kernel/lisp"
)

// hogs try to allocate more than they are charged for: by what grows while its length is not
// known, by objects that are small beside their slots, and by copies.
var hogs = []struct{ name, source string }{
	{"format of a circle", `(let ((l (list 1))) (setf (cdr l) l) (format nil "~{~a~}" l))`},
	{"reduce of a circle", `(let ((l (list 1))) (setf (cdr l) l) (reduce #'+ l))`},
	{"apply of a circle", `(let ((l (list 1))) (setf (cdr l) l) (apply #'+ l))`},
	{"sort of a circle", `(let ((l (list 1))) (setf (cdr l) l) (sort l #'<))`},
	{"remove from a circle", `(let ((l (list 1))) (setf (cdr l) l) (remove 2 l))`},
	{"map over a circle", `(let ((l (list 1))) (setf (cdr l) l) (map 'vector #'1+ l))`},
	{"mapcar over a circle", `(let ((l (list 1))) (setf (cdr l) l) (mapcar #'1+ l))`},
	{"coerce of a circle", `(let ((l (list #\a))) (setf (cdr l) l) (coerce l 'string))`},
	{"concatenate of a circle", `(let ((l (list 1))) (setf (cdr l) l) (concatenate 'vector l))`},
	{"copy of a circle", `(let ((l (list 1))) (setf (cdr l) l) (copy-list l))`},
	{"union of circles", `(let ((l (list 1))) (setf (cdr l) l) (union l l))`},
	{"string of a circle", `(let ((l (list "ab"))) (setf (cdr l) l) (str:concat (apply #'str:concat l)))`},
	{"strings joined of a circle", `(let ((l (list "ab"))) (setf (cdr l) l) (str:join "," l))`},
	{"values of a circle", `(let ((l (list 1))) (setf (cdr l) l) (multiple-value-list (values-list l)))`},
	{"vector of a circle", `(let ((l (list 1))) (setf (cdr l) l) (make-array 3 :initial-contents l))`},
	{"loop collect", `(loop collect 1)`},
	{"loop collect of numbers", `(let ((i 1000000)) (loop collect (incf i)))`},
	{"loop collect of floats", `(let ((x 0.5d0)) (loop collect (incf x 1d0)))`},
	{"loop append", `(loop append '(1 2 3))`},
	{"loop vector-push-extend", `(let ((v (make-array 0 :fill-pointer t :adjustable t))) (loop (vector-push-extend 1 v)))`},
	{"loop vector-push-extend by one", `(let ((v (make-array 0 :fill-pointer t :adjustable t))) (loop (vector-push-extend 1 v 1)))`},
	{"characters pushed", `(let ((v (make-array 0 :fill-pointer t :adjustable t :element-type 'character))) (loop (vector-push-extend #\a v)))`},
	{"pushes", `(let (l) (loop (push 1 l)))`},
	{"empty strings", `(let (l) (loop (push (make-string 0) l)))`},
	{"short strings", `(let (l) (loop (push (copy-seq "a") l)))`},
	{"short vectors", `(let (l) (loop (push (vector 1) l)))`},
	{"short bit vectors", `(let (l) (loop (push (make-array 1 :element-type 'bit) l)))`},
	{"copies of vectors", `(let (l) (loop (push (copy-seq #(1)) l)))`},
	{"arrays", `(let (l) (loop (push (make-array '(1 1)) l)))`},
	{"displaced arrays", `(let (l (a (make-array 9))) (loop (push (make-array 1 :displaced-to a) l)))`},
	{"floats", `(let (l) (loop (push (sqrt 2d0) l)))`},
	{"ratios", `(let (l (x 1/3)) (loop (push (+ x 1) l)))`},
	{"complex numbers", `(let (l) (loop (push (complex 1 2) l)))`},
	{"bignums", `(let (l) (loop (push (+ most-positive-fixnum most-positive-fixnum most-positive-fixnum) l)))`},
	{"long bignums", `(let (l (x (expt 3 1000))) (loop (push (+ x 1) l)))`},
	{"closures", `(let (l) (loop (let ((x 1)) (push (lambda () (incf x)) l))))`},
	{"closures of many variables", `(let (l) (loop (let ((a 1) (b 1) (c 1) (d 1) (e 1) (f 1) (g 1) (h 1)) (push (lambda () (list a b c d e f g h)) l))))`},
	{"structures", `(defstruct s a b c) (let (l) (loop (push (make-s) l)))`},
	{"instances", `(defclass k () (a b c)) (let (l) (loop (push (make-instance 'k) l)))`},
	{"conditions", `(let (l) (loop (push (make-condition 'simple-error :format-control "x") l)))`},
	{"hash tables", `(let (l) (loop (push (make-hash-table) l)))`},
	{"a growing hash table", `(let ((h (make-hash-table)) (i 0)) (loop (setf (gethash (incf i) h) i)))`},
	{"a hash table of lists", `(let ((h (make-hash-table :test 'equal)) (i 0)) (loop (setf (gethash (list (incf i)) h) i)))`},
	{"a hash table of strings", `(let ((h (make-hash-table :test 'equal)) (i 0)) (loop (setf (gethash (princ-to-string (incf i)) h) i)))`},
	{"copied tables", `(let ((h (make-hash-table)) l) (dotimes (i 1000) (setf (gethash i h) i)) (loop (maphash (lambda (k v) (push (cons k v) l)) h)))`},
	{"gensyms", `(let (l) (loop (push (gensym) l)))`},
	{"symbols", `(let ((i 0)) (loop (intern (format nil "S~a" (incf i)))))`},
	{"symbols with values", `(let ((i 0)) (loop (set (intern (format nil "S~a" (incf i))) 1)))`},
	{"string streams", `(let (l) (loop (push (make-string-output-stream) l)))`},
	{"input streams", `(let (l) (loop (push (make-string-input-stream "abc") l)))`},
	{"pathnames", `(let (l) (loop (push (pathname "/a/b/c.d") l)))`},
	{"output to a string", `(with-output-to-string (s) (loop (write-char #\a s)))`},
	{"lines to a string", `(with-output-to-string (s) (loop (write-line "abcdefgh" s)))`},
	{"numbers printed", `(let (l) (loop (push (princ-to-string 12345) l)))`},
	{"print of a circle", `(let ((l (list 1))) (setf (cdr l) l) (princ-to-string l))`},
	{"print of a tree", `(let ((l 1)) (dotimes (i 100) (setf l (cons l l))) (princ-to-string l))`},
	{"reading lists", `(let ((s (format nil "(~{~a ~})" (loop repeat 1000 collect 1))) l) (loop (push (read-from-string s) l)))`},
	{"reading strings", `(let ((s (format nil "~s" (make-string 10000 :initial-element #\a))) l) (loop (push (read-from-string s) l)))`},
	{"reading symbols", `(let ((s (format nil "(~{s~a ~})" (loop for i below 1000 collect i)))) (let (l) (loop (push (read-from-string s) l))))`},
	{"concatenated strings", `(let (l) (loop (push (concatenate 'string "a" "b") l)))`},
	{"doubled strings", `(let ((s "abc")) (loop (setf s (concatenate 'string s s))))`},
	{"doubled lists", `(let ((l '(1))) (loop (setf l (append l l))))`},
	{"substitutions", `(let ((s (make-string 1000 :initial-element #\a)) l) (loop (push (substitute #\b #\a s) l)))`},
	{"mapped strings", `(let ((s (make-string 1000 :initial-element #\a)) l) (loop (push (map 'string #'char-upcase s) l)))`},
	{"string-upcase", `(let ((s (make-string 10 :initial-element #\a)) l) (loop (push (string-upcase s) l)))`},
	{"formatted", `(let (l) (loop (push (format nil "~a ~s" 1 "x") l)))`},
	{"rest arguments", `(defun f (&rest r) r) (let (l) (loop (push (f 1 2 3) l)))`},
	{"keyword arguments", `(defun f (&key a b c) (lambda () (list a b c))) (let (l) (loop (push (f :a 1) l)))`},
	{"values", `(let (l) (loop (push (multiple-value-list (values 1 2 3)) l)))`},
	{"bindings", `(defvar *x* 1) (defun f () (let ((*x* 2)) (1+ (f)))) (f)`},
	{"recursion", `(defun f (x) (1+ (f (list x)))) (f 1)`},
	{"wide recursion", `(defun f (a b c d e g h) (1+ (f a b c d e g h))) (f 1 2 3 4 5 6 7)`},
	{"recursion in loops", `(defun f () (dolist (x '(1)) (f)) 1) (f)`},
	{"arguments by the thousand", `(defun f (&rest r) (apply #'f 1 r)) (f)`},
	{"eval", `(let (l) (loop (push (eval '(lambda (x) (+ x 1 2 3 4 5))) l)))`},
	{"eval of a long form", `(let ((f (cons 'list (make-list 100000 :initial-element '(car nil))))) (let (l) (loop (push (eval (list 'lambda nil f)) l))))`},
	{"macroexpansions", `(defmacro m (n) (if (> n 0) (list 'progn (list 'm (1- n)) (list 'm (1- n))) 1)) (eval '(lambda () (m 30)))`},
	{"random states", `(let (l) (loop (push (make-random-state t) l)))`},
	{"split strings", `(let ((s (make-string 10000 :initial-element #\Space)) l) (loop (push (uiop:split-string s) l)))`},
	{"matches", `(let ((s (make-string 10000 :initial-element #\a)) l) (loop (push (ppcre:all-matches-as-strings "a" s) l)))`},
	{"scans", `(let (l) (loop (push (multiple-value-list (ppcre:scan "(a)(b)" "ab")) l)))`},
	{"scanners", `(let (l) (loop (push (ppcre:create-scanner '(:sequence "a" (:register "b"))) l)))`},
	{"JSON decoded", `(let ((s "{\"a\":[1,2,3],\"b\":\"c\"}") l) (loop (push (json:decode-json-from-string s) l)))`},
	{"JSON encoded", `(let ((v (loop repeat 100 collect 1)) l) (loop (push (json:encode-json-to-string v) l)))`},
	{"moments", `(let (l) (loop (push (local-time:now) l)))`},
	{"moments written", `(let (l) (loop (push (local-time:format-timestring nil (local-time:now)) l)))`},
	{"subseqs", `(let ((s (make-array 100)) l) (loop (push (subseq s 1) l)))`},
	{"backquotes", "(let (l) (loop (push `(a ,l b) l)))"},
	{"permutations", `(let (l) (labels ((f (n) (if (zerop n) (push (make-list 10) l) (progn (f (1- n)) (f (1- n)))))) (f 40)))`},
	{"restarts and handlers", `(defun f () (handler-bind ((error #'identity)) (restart-case (1+ (f)) (x () 1)))) (f)`},
	{"catches", `(defun f () (catch 'a (unwind-protect (1+ (f)) 1))) (f)`},
	{"methods", `(defgeneric m (x)) (let ((i 0)) (loop (eval (list 'defmethod 'm (list (list 'x (list 'eql (incf i)))) 1))))`},
	{"a property list", `(let ((i 0)) (loop (setf (get 'a (incf i)) i)))`},
	{"conditions that are handled", `(let (l) (loop (push (handler-case (car 1) (error (e) e)) l)))`},
	{"records of symbols", `(loop (boundp (make-symbol "a")))`},
	{"blocks that closures hold", `(let (l) (loop (block b (push (lambda () (return-from b 1)) l))))`},
	{"garbage beside a list", `(let ((l (make-list 400000))) (labels ((f (n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2)))))) (f 24)) (length l))`},
	{"frames that closures hold", `(defmacro wide (n) (list 'defun 'g (loop for i below n collect (gensym)) '(lambda () 1))) (wide 300) (let ((a (make-list 300)) l) (loop (push (apply #'g a) l)))`},
	{"large frames", `(defmacro wide (n) (list 'defun 'g (loop for i below n collect (gensym)) '(1+ (apply #'g *a*)))) (defvar *a* (make-list 3000)) (wide 3000) (apply #'g *a*)`},
	{"arguments that wait", `(defmacro many (n) (list* 'list (append (loop for i below n collect i) '((f))))) (defun f () (many 2000)) (f)`},
	{"numbers in a vector", `(let ((v (make-array 900000)) (x 0.5d0)) (dotimes (i 900000) (setf (aref v i) (incf x))) v)`},
	{"digits", `(format nil "~,20000000e" 1.5)`},
	{"sorted strings", `(let (l) (loop (push (sort (make-string 100000 :initial-element #\a) #'char<) l)))`},
	{"documented", `(let ((i 0)) (loop (eval (list 'defvar (intern (format nil "V~a" (incf i))) i "doc"))))`},
}

// hogLimits leave the bytes to be what ends a hog.
var hogLimits = lisp.Limits{Steps: 20_000_000, Bytes: 16 << 20, Depth: 33_000, Output: 64 << 20, Duration: 20 * time.Second, Retained: 1 << 30}

// TestPeakMemory makes sure that the limit of bytes bounds what is really in use. The heap has
// garbage beside that: what gathers until the collector runs again, and what is allocated while it
// runs. On a machine under load the collector gets its turn late, so that this is some megabytes
// however small the limit is. Half the limit is allowed on top, and at least 8 MB.
func TestPeakMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // garbage beside what is in use
	limits := hogLimits
	if testing.Short() {
		limits.Bytes /= 4
		limits.Depth /= 4
	} else if !*thorough {
		limits.Bytes /= 2
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, hog := range hogs {
		t.Run(hog.name, func(t *testing.T) {
			e := newEnvironment(t, lisp.Config{Limits: limits})
			runtime.GC()
			peak := watchMemory()
			start := time.Now()
			_, err := evaluated(t, e, hog.source)
			elapsed, most := time.Since(start), peak()
			fmt.Fprintf(w, "%s\t%v\t%d MB\t%s\n", hog.name, elapsed.Round(time.Millisecond), most>>20, ending(err))
			if limit := uint64(limits.Bytes); most > limit+max(limit/2, 8<<20) {
				t.Errorf("%d MB were in use at the limit of %d MB (%v)", most>>20, limit>>20, err)
			}
		})
	}
	w.Flush()
	t.Logf("limits %+v\n%s", limits, table.String())
}
