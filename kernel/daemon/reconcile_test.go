package daemon_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/daemon"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// editing is a skill that edits notes.org and then says what became of it.
const editing = `(defun edit (c)
  (let ((results (getf c :results)))
    (if results
        (list :type :response :text (format nil "* Outcome~%~(~a~): ~a" (getf (first results) :verdict) (getf (first results) :text)))
        (list :type :request :target :emacs :action :edit :file "notes.org" :old "one" :new "one two"))))
(defskill :editor :priority 90 :trigger #'chosen :neuro #'edit)`

// edit has the skill edit, allows it, and returns the end of its turn.
func (in *instance) edit(t *testing.T, e *rpctest.Editor) protocol.TurnFinished {
	t.Helper()
	return in.allow(t, e, `:file "`+in.paths.Home+`/notes.org"`)
}

// allow has the skill propose, allows what it shows, and returns the end of its turn.
func (in *instance) allow(t *testing.T, e *rpctest.Editor, want string) protocol.TurnFinished {
	t.Helper()
	sent, err := e.Send(within(t), "q1", "edit")
	if err != nil {
		t.Fatal(err)
	}
	see(t, e, "the approval", func() bool { return len(e.Approvals()) == 1 })
	approval := e.Approvals()[0]
	if !strings.Contains(approval.Action, want) {
		t.Errorf("%s does not show %s", approval.Action, want)
	}
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	finished, err := e.WaitTurn(within(t), sent.Turn)
	if err != nil {
		t.Fatal(err)
	}
	return finished
}

// loses has an Emacs perform the action, as far as perform does, and lose its connection
// before the receipt; then another one comes back, which reconciles it as again says, or with
// nil none. The group is that of the one that comes back.
func (in *instance) loses(t *testing.T, action string, perform func(protocol.Act), again func(protocol.Act) (protocol.Receipt, error)) *sync.WaitGroup {
	t.Helper()
	lost := make(chan struct{})
	var first *rpctest.Editor
	first = in.editor(t, rpctest.Config{Actions: []string{action}, Perform: func(a protocol.Act) (protocol.Receipt, error) {
		perform(a)
		_ = first.Wire().Close() // Kill would wait for this very function
		close(lost)
		return protocol.Receipt{}, errors.New("gone")
	}})
	back := new(sync.WaitGroup)
	if again != nil {
		back.Go(func() {
			<-lost
			in.editor(t, rpctest.Config{Actions: []string{action}, Perform: func(a protocol.Act) (protocol.Receipt, error) {
				if !a.Reconcile || a.Payload.Text("old")+a.Payload.Text("id") == "" {
					t.Errorf("the Emacs that comes back gets %+v", a)
				}
				return again(a)
			}})
		})
	}
	return back
}

// comeBack is how long a kernel waits for an Emacs that comes back, or for one that does not.
func comeBack(does bool) time.Duration {
	if does {
		return timeout
	}
	return 200 * time.Millisecond
}

// An edit whose receipt never came is reconciled by the Emacs that comes back, else by the
// file; it is never made twice.
func TestEditsAreReconciled(t *testing.T) {
	tests := []struct {
		name  string
		made  bool                                         // before the connection is lost
		again func(protocol.Act) (protocol.Receipt, error) // of the Emacs that comes back; nil: none does
		want  string
	}{
		{"remembered", true, func(protocol.Act) (protocol.Receipt, error) { return protocol.Receipt{Done: true}, nil }, "performed: done in Emacs"},
		{"not made", false, func(protocol.Act) (protocol.Receipt, error) {
			return protocol.Receipt{}, protocol.Errorf(protocol.CodeForbidden, "the old text is still there")
		}, "failed: perform :emacs :edit: the connection to Emacs was lost before it: the old text is still there"},
		{"untold", false, func(protocol.Act) (protocol.Receipt, error) {
			return protocol.Receipt{}, errors.New("neither is there")
		}, "not known"},
		{"gone, in the file", true, nil, "performed: done in Emacs"},
		{"gone, not in the file", false, nil, "failed: perform :emacs :edit: the connection to Emacs was lost before it: nothing was changed in the file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			in := newInstance(t)
			in.write(t, "skills/editor.org", deciding(editing))
			in.write(t, "notes.org", "one\n")
			in.startWith(t, daemon.Config{ReconcileTimeout: comeBack(test.again != nil)})
			watch := in.editor(t, rpctest.Config{Name: "watcher"})
			back := in.loses(t, "edit", func(a protocol.Act) {
				if a.Reconcile {
					t.Error("the first Emacs is asked to reconcile")
				}
				if test.made {
					if err := os.WriteFile(filepath.Join(in.paths.Home, "notes.org"), []byte("one two\n"), 0o600); err != nil {
						t.Error(err)
					}
				}
			}, test.again)
			finished := in.edit(t, watch)
			back.Wait()
			if got := watch.Text() + finished.Notice; !strings.Contains(got, test.want) {
				t.Errorf("%+v\n%s", finished, watch.Text())
			}
		})
	}
}

// Setting properties is reconciled by an Emacs only: no kernel knows where an entry is. What
// they were before, which undoing needs, comes with the receipt.
func TestPropertiesAreReconciled(t *testing.T) {
	former := []protocol.FormerProperty{{Name: "EFFORT", Line: ":EFFORT:   2:00"}, {Name: "NOTE"}}
	for _, test := range []struct {
		name  string
		again func(protocol.Act) (protocol.Receipt, error) // of the Emacs that comes back; nil: none does
		want  string
	}{
		{"remembered", func(protocol.Act) (protocol.Receipt, error) {
			return protocol.Receipt{Done: true, File: "/n.org", Former: former}, nil
		}, "performed: done in Emacs"},
		{"not made", func(protocol.Act) (protocol.Receipt, error) {
			return protocol.Receipt{}, protocol.Errorf(protocol.CodeForbidden, "the properties are others")
		}, "failed: perform :emacs :set-properties: the connection to Emacs was lost before it: the properties are others"},
		{"gone", nil, "not known"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			in := newInstance(t)
			in.write(t, "skills/editor.org", deciding(strings.Replace(editing,
				`:action :edit :file "notes.org" :old "one" :new "one two"`,
				`:action :set-properties :id "e1" :properties (quote (:effort "1:00" :note "n"))`, 1)))
			in.startWith(t, daemon.Config{ReconcileTimeout: comeBack(test.again != nil)})
			watch := in.editor(t, rpctest.Config{Name: "watcher"})
			back := in.loses(t, "set-properties", func(protocol.Act) {}, test.again)
			finished := in.allow(t, watch, `:id "e1"`)
			back.Wait()
			if got := watch.Text() + finished.Notice; !strings.Contains(got, test.want) {
				t.Errorf("%+v\n%s", finished, watch.Text())
			}
			var told protocol.TurnChangesResult
			if err := watch.Call(within(t), protocol.MethodTurnChanges, protocol.TurnChangesParams{ID: finished.Turn}, &told); err != nil {
				t.Fatal(err)
			}
			performed := strings.HasPrefix(test.want, "performed")
			if changed := len(told.Changes) == 1 && !told.Changes[0].Unsure && slices.Equal(told.Changes[0].Former, former); changed != performed {
				t.Errorf("undoing is told of %+v", told.Changes)
			}
		})
	}
}
