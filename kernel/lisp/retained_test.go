package lisp_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"org-agent/kernel/lisp"
)

// hoards are notes that keep what they allocate in places that outlive a call.
var hoards = []struct{ name, define, call string }{
	{"a variable", `(defvar *l* nil)`, `(push (make-list 1000) *l*)`},
	{"strings", `(defvar *l* nil)`, `(push (make-string 10000) *l*)`},
	{"a table", `(defvar *h* (make-hash-table)) (defvar *n* 0)`, `(dotimes (i 500) (setf (gethash (incf *n*) *h*) i))`},
	{"vectors", `(defvar *v* (make-array 0 :adjustable t :fill-pointer t))`, `(vector-push-extend (make-array 2000) *v*)`},
	{"bignums", `(defvar *l* nil)`, `(push (ash 1 400000) *l*)`},
	{"a closure", `(let (l) (defun keep () (push (make-list 1000) l) nil))`, `(keep)`},
	{"a constant", `(defun keep () (let ((cell '(nil))) (push (make-list 1000) (car cell)) nil))`, `(keep)`},
	{"a constant of an inner function", `(defun keep () (funcall (lambda () (push (make-list 1000) (aref #(nil) 0)) nil)))`, `(keep)`},
	{"a property list", ``, `(push (make-list 1000) (get 'a :list))`},
	{"uninterned symbols", ``, `(dotimes (i 500) (set (gensym) i))`},
	{"a structure", `(defstruct s l) (defvar *s* (make-s))`, `(push (make-list 1000) (s-l *s*))`},
	{"a class's slot", `(defclass k () ((l :allocation :class :initform nil :accessor l)))`, `(push (make-list 1000) (l (make-instance 'k)))`},
	{"what constantly keeps", `(defvar *f* nil)`, `(let ((f *f*)) (setf *f* (constantly (list f (make-list 1000)))) nil)`},
	{"a stream", `(defvar *s* (make-string-output-stream))`, `(write-string (make-string 10000) *s*)`},
	{"conditions", `(defvar *l* nil)`, `(handler-case (error "~a" (make-list 1000)) (error (e) (push e *l*)))`},
}

func TestHoards(t *testing.T) {
	for _, hoard := range hoards {
		t.Run(hoard.name, func(t *testing.T) {
			e := newEnvironment(t, lisp.Config{Limits: lisp.Limits{Retained: 4 << 20}})
			if _, err := evaluated(t, e, hoard.define); err != nil {
				t.Fatal(err)
			}
			for range 2000 {
				_, err := evaluated(t, e, "(progn "+hoard.call+" nil)")
				var failed *lisp.Error
				if errors.As(err, &failed) {
					if failed.Class != storageCondition || !strings.Contains(failed.Message, "the note's variables hold more") {
						t.Fatal(err)
					}
					if _, err := evaluated(t, e, "1"); err == nil {
						t.Error("a full note goes on")
					}
					return
				}
			}
			t.Error("there is no end to what it keeps")
		})
	}
}

// TestNothingIsHoarded makes sure that a note which keeps little is never full, however
// much it allocates.
func TestNothingIsHoarded(t *testing.T) {
	e := newEnvironment(t, lisp.Config{Limits: lisp.Limits{Retained: 4 << 20}})
	if _, err := evaluated(t, e, `(defvar *l* nil) (defvar *h* (make-hash-table :test 'equal))`); err != nil {
		t.Fatal(err)
	}
	for range 300 {
		source := `(progn (setf *l* (make-list 10000)) (setf (gethash (list 1 2) *h*) (make-string 1000)) nil) (read-from-string "(a #:b \"c\" :d)") (length (format nil "~a" *l*))`
		if _, err := evaluated(t, e, source); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManyEnvironments makes a thousand environments that hold little.
func TestManyEnvironments(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var all []*lisp.Environment
	for range 1000 {
		e := newEnvironment(t, noteConfig(nil))
		if got, err := evaluated(t, e, `(defvar *n* 1) (defun f (x) (+ x *n*)) (f 2)`); err != nil || got != "3" {
			t.Fatal(got, err)
		}
		all = append(all, e)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("%d kB each", (after.HeapAlloc-before.HeapAlloc)>>10/uint64(len(all)))
	if grown := after.HeapAlloc - before.HeapAlloc; grown > 100<<20 {
		t.Errorf("a thousand environments take %d MB", grown>>20)
	}
	runtime.KeepAlive(all)
}

// TestPartsOfWhatWasRead makes sure that a small part of what was read from data does not
// keep the rest of it: the census counts the part alone.
func TestPartsOfWhatWasRead(t *testing.T) {
	e := newEnvironment(t, lisp.Config{})
	if _, err := evaluated(t, e, `(defvar *kept* nil)
		(defvar *list* (format nil "(~{~a ~})" (make-list 2000 :initial-element 1)))
		(defvar *name* (make-string 20000 :initial-element #\Space))`); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 200 {
		if _, err := evaluated(t, e, `(push (last (read-from-string *list*)) *kept*)
			(push (read-from-string (concatenate 'string "#:NAME" *name*)) *kept*)`); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := after.HeapAlloc - before.HeapAlloc; grown > 2<<20 {
		t.Errorf("400 small things keep %d kB", grown>>10)
	}
	runtime.KeepAlive(e)
}
