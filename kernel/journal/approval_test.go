package journal

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"org-agent/kernel/protocol"
)

func asking(id string, turn Turn, hash string) protocol.Approval {
	return protocol.Approval{ID: id, Session: turn.Session, Turn: turn.ID, Event: turn.Event, Action: `(:type :request)`, Hash: hash, Reason: "it writes a file"}
}

func TestApprovalIsDecidedOnce(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "text")
	must(t, j.Ask(ctx, asking("p1", turn, "hash")))
	wantCode(t, j.Ask(ctx, asking("p1", turn, "hash")), protocol.CodeConflict)
	wantCode(t, j.Ask(ctx, asking("p2", Turn{ID: "nowhere", Session: "main"}, "hash")), protocol.CodeNotFound)
	wantCode(t, j.Ask(ctx, asking("p2", turn, "")), protocol.CodeInvalidParams)

	for _, test := range []struct {
		id, edited string
		decision   protocol.Decision
		code       protocol.Code
	}{
		{"p2", "", protocol.AllowOnce, protocol.CodeNotFound},
		{"p1", "", "perhaps", protocol.CodeInvalidParams},
		{"p1", "", "", protocol.CodeInvalidParams},
		{"p1", "(:type :request)", protocol.AllowAlways, protocol.CodeInvalidParams},
	} {
		_, err := j.Decide(ctx, protocol.ApprovalDecideParams{ID: test.id, Decision: test.decision, Reason: "", Edited: test.edited}, "cli")
		wantCode(t, err, test.code)
	}

	var group sync.WaitGroup
	var taken atomic.Int32
	for range 8 {
		group.Go(func() {
			if _, err := j.Decide(ctx, protocol.ApprovalDecideParams{ID: "p1", Decision: protocol.Deny, Reason: "too dangerous", Edited: ""}, "cli"); err == nil {
				taken.Add(1)
			} else if protocol.ErrorCode(err) != protocol.CodeConflict {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if taken.Load() != 1 {
		t.Errorf("decided %d times", taken.Load())
	}
	got, err := j.Approval(ctx, "p1")
	if err != nil || got.Decision != protocol.Deny || got.Comment != "too dangerous" || got.Closed.IsZero() || got.Action != `(:type :request)` || got.Asked == "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPendingSurvivesAndEndsWithItsTurn(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	first, second := accepted(t, j, "q1", "main", "text"), accepted(t, j, "q2", "main", "text")
	must(t, j.Ask(ctx, asking("p1", first, "h1")))
	must(t, j.Ask(ctx, asking("p2", second, "h2")))
	must(t, j.Ask(ctx, asking("p3", first, "h3")))
	must(t, j.Close())
	j = reopen(t, j.Path())
	wantPending(t, j, "p1", "p2", "p3")

	closed, err := j.CloseApprovals(ctx, first.ID)
	if err != nil || len(closed) != 2 || closed[0].ID != "p1" || closed[1].ID != "p3" {
		t.Errorf("closed: %+v, %v", closed, err)
	}
	wantPending(t, j, "p2")
	_, err = j.Decide(ctx, protocol.ApprovalDecideParams{ID: "p1", Decision: protocol.AllowOnce, Reason: "", Edited: ""}, "cli")
	wantCode(t, err, protocol.CodeConflict)

	set(t, j, second.ID, protocol.TurnCancelled) // without closing them first
	wantPending(t, j)
	wantCode(t, j.Ask(ctx, asking("p4", second, "h4")), protocol.CodeNotFound)
	checkWhole(t, j)
}

func wantPending(t *testing.T, j *Journal, want ...string) {
	t.Helper()
	pending, err := j.Pending(t.Context())
	must(t, err)
	got := []string{}
	for _, approval := range pending {
		got = append(got, approval.ID)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("pending %v, want %v", got, want)
	}
}

func TestAllowed(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "text")
	decide := func(hash string, decision protocol.Decision, edited string) {
		id := fmt.Sprintf("p-%s-%s-%d", hash, decision, len(edited))
		must(t, j.Ask(ctx, asking(id, turn, hash)))
		_, err := j.Decide(ctx, protocol.ApprovalDecideParams{ID: id, Decision: decision, Reason: "", Edited: edited}, "cli")
		must(t, err)
	}
	decide("once", protocol.AllowOnce, "")
	decide("edited", protocol.AllowOnce, "(:type :log)")
	decide("denied", protocol.Deny, "")
	decide("turn", protocol.AllowTurn, "")
	decide("session", protocol.AllowTurn, "")
	decide("session", protocol.AllowSession, "")
	decide("always", protocol.AllowSession, "")
	decide("always", protocol.AllowAlways, "")
	decide("always", protocol.Deny, "")
	must(t, j.Ask(ctx, asking("waits", turn, "waits")))

	for _, test := range []struct {
		hash, turn, session string
		want                protocol.Decision
	}{
		{"once", turn.ID, "main", ""},
		{"edited", turn.ID, "main", ""},
		{"denied", turn.ID, "main", ""},
		{"waits", turn.ID, "main", ""},
		{"turn", turn.ID, "main", protocol.AllowTurn},
		{"turn", "other", "main", ""},
		{"session", turn.ID, "main", protocol.AllowSession},
		{"session", "other", "main", protocol.AllowSession},
		{"session", "other", "other", ""},
		{"always", "other", "other", protocol.AllowAlways},
		{"nothing", turn.ID, "main", ""},
	} {
		got, ok, err := j.Allowed(ctx, test.hash, test.turn, test.session)
		if err != nil || got != test.want || ok != (test.want != "") {
			t.Errorf("%s in turn %s of %s: %q, %v, %v", test.hash, test.turn, test.session, got, ok, err)
		}
	}
}
