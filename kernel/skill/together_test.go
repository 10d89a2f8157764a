package skill_test

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
	"org-agent/kernel/skill"
	"org-agent/skills"
)

var together = flag.Duration("together", 2*time.Second, "how long TestManyNotesAtOnce runs")

// busyNote returns a note that uses much of the language on the message's text. Its globals store
// the answers, and it asks the model, which lets other calls in between. Its answer depends only on
// the text and n.
func busyNote(n int) []byte {
	return note(fmt.Sprintf(`(defvar *seen* (make-hash-table :test 'equal))
(defvar *depth* 0)
(defparameter *factor* %[1]d)
(defstruct tally (count 0) names)
(define-condition too-long (error) ((size :initarg :size :reader too-long-size))
  (:report (lambda (c s) (format s "~d characters" (too-long-size c)))))
(defclass shape () ((side :initarg :side :accessor side)))
(defclass square (shape) ())
(defgeneric area (s))
(defmethod area ((s shape)) 0)
(defmethod area ((s square)) (+ (call-next-method) (* (side s) (side s))))
(defmethod area :around ((s square)) (1+ (call-next-method)))
(defmacro deeper (&body body) `+"`(let ((*depth* (1+ *depth*))) ,@body))"+`
(defun nested (k) (if (zerop k) *depth* (deeper (nested (1- k)))))
(defun check (text)
  (restart-case (if (> (length text) 30) (error 'too-long :size (length text)) text)
    (cut (size) (subseq text 0 size))))
(defun words (text) (cl-ppcre:split "\\s+" text))
(defun answer (text)
  (let ((tally (make-tally)) (fact 1))
    (dolist (word (words text))
      (incf (tally-count tally))
      (push (string-upcase word) (tally-names tally)))
    (dotimes (i (+ 15 *factor*)) (setf fact (* fact (1+ i))))
    (format nil "~a|~{~a~^,~}|~d|~d|~r|~a|~s"
            (handler-bind ((too-long (lambda (c) (invoke-restart 'cut (mod (too-long-size c) 7))))) (check text))
            (sort (copy-list (tally-names tally)) #'string<)
            (loop for word in (words text) for i from 1 when (oddp i) sum (* i (length word)))
            fact (nested (+ 3 (mod *factor* 5)))
            (handler-case (/ (length text) (- (length text) (length text))) (division-by-zero () (area (make-instance 'square :side *factor*))))
            (catch 'found (maphash (lambda (k v) (declare (ignore v)) (when (equal k text) (throw 'found (list (length k))))) *seen*) (list (length text))))))
(defskill :busy%[1]d
  :trigger (lambda (c) (eq (getf (getf c :payload) :sensor) :chat-message))
  :neuro (lambda (c)
    (let ((text (getf (getf c :payload) :text)))
      (setf (gethash text *seen*) (deeper *depth*))
      (concatenate 'string (ask-neuro text) (answer text))
      (list :type :request :target :log :action (list :text (answer text) :depth *depth*)))))`, n))
}

// TestManyNotesAtOnce runs twenty notes in eight goroutines at once. Each answer must be the one
// that the note gives alone.
func TestManyNotesAtOnce(t *testing.T) {
	h := newHome(t)
	for i := range 18 {
		h.write(fmt.Sprintf("busy%d.org", i), busyNote(i))
	}
	loaded := func() *skill.Set {
		r := skill.New(skill.Config{Specs: kernelSpecs, Shipped: skills.Notes(), Home: h.dir})
		r.Load(t.Context())
		for _, status := range r.Statuses() {
			if status.State != skill.Live {
				t.Fatalf("%+v", status)
			}
		}
		return r.Current()
	}
	texts := []string{"Hello", "one two three", "a much longer text that has to be cut somewhere", "", "ÄÖ ß €", "(x) [y] {z} \\d+ ~a"}
	alone := loaded()
	want := map[string]string{}
	for _, k := range alone.Skills() {
		for _, text := range texts {
			want[k.Name+text] = whatItSays(t, k, text)
		}
	}
	if len(alone.Skills()) < 19 {
		t.Fatalf("%d skills", len(alone.Skills()))
	}

	set := loaded()
	end := time.Now().Add(*together)
	var all sync.WaitGroup
	var mu sync.Mutex
	calls := 0
	for g := range 8 {
		all.Go(func() {
			for i := g; time.Now().Before(end) && !t.Failed(); i++ {
				k := set.Skills()[i*7%len(set.Skills())]
				text := texts[(i/3+g)%len(texts)]
				if got := whatItSays(t, k, text); got != want[k.Name+text] {
					t.Errorf("%s of %q\n got %s\nwant %s", k.Name, text, got, want[k.Name+text])
				}
				mu.Lock()
				calls++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	t.Logf("%d calls of %d skills", calls, len(set.Skills()))
}

// whatItSays calls the functions of a skill for a message. If the trigger is false, or missing,
// there is no answer.
func whatItSays(t *testing.T, k *skill.Skill, text string) string {
	event := chatMessage(t, text)
	matches := false
	var out skill.Outcome
	var err error
	if matches, err = k.Matches(context.Background(), lisp.NewData(event)); err != nil {
		t.Error(err)
	}
	if matches {
		if out, err = k.Neuro(context.Background(), event, &model{reply: "reply to " + text}); err != nil {
			t.Error(err)
		}
	}
	action := list(t, `(:type :request :target :emacs :action :insert-at-end :buffer "*x*" :text `+plist.Print(plist.String(text))+`)`)
	checked, err := k.Preview(context.Background(), action, event)
	if err != nil {
		t.Error(err)
	}
	return fmt.Sprint(matches, out.Kind, out.Text, plist.Print(out.Proposal), plist.Print(checked), k.Augment(context.Background()))
}
