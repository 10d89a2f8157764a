package act_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type numbered struct {
	N int `doc:"which"`
}

// workshop performs batches of calls of one tool.
type workshop struct {
	policy  *policy.Policy
	actions *kind.Set
	tools   *tool.Registry
}

func newWorkshop(t *testing.T, perform func(ctx context.Context, n int) (string, error)) workshop {
	t.Helper()
	tools, err := tool.NewRegistry(tool.New(tool.Definition[numbered]{
		Name: "look", Manual: "Looks.", Effect: protocol.ToolReads,
		Perform: func(ctx context.Context, _ *tool.Caller, a numbered) (string, error) { return perform(ctx, a.N) },
	}))
	if err != nil {
		t.Fatal(err)
	}
	kinds := kind.New(act.Kinds(act.Deps{Catalog: tools})...)
	return workshop{&policy.Policy{Home: t.TempDir(), Tools: tools, Kinds: kinds}, kinds, tools}
}

func (w workshop) batch(ctx context.Context, t *testing.T, calls int) kind.Result {
	t.Helper()
	var list strings.Builder
	for i := range calls {
		fmt.Fprintf(&list, `(:tool "look" :args (:n %d))`, i+1)
	}
	proposed, err := action.Read(`(:type :request :target :tool :action :batch :calls (` + list.String() + `))`)
	if err != nil {
		t.Fatal(err)
	}
	verified, verdict, err := w.policy.Verify(t.Context(), proposed.Action(), policy.Where{Session: "main"})
	if err != nil || verdict.Kind != policy.Allow {
		t.Fatalf("%v %+v", err, verdict)
	}
	result, err := w.actions.Perform(ctx, kind.Order{ID: "a", Session: "main", Action: verified, Tools: w.tools})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestBatch checks that several calls of a batch run at the same time, but not all, that the
// results are in the order of the calls, and that a failed call does not affect the others.
func TestBatch(t *testing.T) { synctest.Test(t, testBatch) }

func testBatch(t *testing.T) {
	var now, most atomic.Int32
	var met sync.WaitGroup
	met.Add(2)
	w := newWorkshop(t, func(_ context.Context, n int) (string, error) {
		if running := now.Add(1); running > most.Load() {
			most.Store(running)
		}
		defer now.Add(-1)
		if n <= 2 { // the first two calls wait for each other
			met.Done()
			met.Wait()
		}
		time.Sleep(time.Duration(17-n) * time.Millisecond)
		if n == 7 {
			return "", protocol.ToolErrorf(protocol.ToolNotFound, "there is no 7: look for 8")
		}
		return fmt.Sprint("result ", n), nil
	})
	result := w.batch(t.Context(), t, 16)
	if len(result.Calls) != 16 || result.Text != "16 calls were made" || most.Load() > 4 || most.Load() < 2 {
		t.Fatalf("%d at once: %+v", most.Load(), result)
	}
	for i, c := range result.Calls {
		failed := i == 6
		want := fmt.Sprint("result ", i+1)
		if failed {
			want = "there is no 7: look for 8"
		}
		if c.Tool != "look" || c.Text != want || c.Failed != failed || (c.Code == protocol.ToolNotFound) != failed || c.Took <= 0 {
			t.Errorf("call %d: %+v", i+1, c)
		}
	}
}

// TestBatchIsStopped checks that a stopped batch ends at once, keeps the results so far, and leaves
// no goroutine.
func TestBatchIsStopped(t *testing.T) { synctest.Test(t, testBatchIsStopped) }

func testBatchIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var done sync.WaitGroup
	done.Add(1)
	w := newWorkshop(t, func(ctx context.Context, n int) (string, error) {
		if n == 1 {
			defer done.Done()
			return "first", nil
		}
		<-ctx.Done()
		return "", ctx.Err()
	})
	var stopped time.Time
	go func() {
		done.Wait()
		stopped = time.Now()
		cancel(errors.New("stopped by a person"))
	}()
	result := w.batch(ctx, t, 16)
	if took := time.Since(stopped); took > 0 {
		t.Errorf("it took %v to end", took)
	}
	for i, c := range result.Calls {
		if i == 0 && (c.Failed || c.Text != "first") || i > 0 && (!c.Failed || c.Code != protocol.ToolCancelled || c.Text == "") {
			t.Errorf("call %d: %+v", i+1, c)
		}
	}
}
