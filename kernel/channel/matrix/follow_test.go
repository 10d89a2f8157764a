package matrix_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/channeltest/matrixtest"
	"org-agent/kernel/channel/rich"
)

func line(text string) channeltest.Line { return channeltest.Line{Text: text} }
func plain(text string) rich.Text       { return rich.Plain(text) }

// TestGap checks that what a homeserver leaves out of a long answer is fetched, in order and once.
func TestGap(t *testing.T) {
	h := newHome(t)
	h.Timeline(5)
	var want []string
	say := func(n int) {
		for range n {
			want = append(want, fmt.Sprint("message ", len(want)))
			h.Say(t, line(want[len(want)-1]))
		}
	}
	say(30) // before the first run, after the invitation
	w := watch(t, h.config())
	got := w.messages(30)
	w.stop()
	say(333)
	w = watch(t, h.config())
	got = append(got, w.messages(333)...)
	for i, m := range got {
		if m.Text != want[i] {
			t.Fatalf("message %d is %+v", i, m)
		}
	}
	say(1)
	if m := w.messages(1)[0]; m.Text != want[len(want)-1] {
		t.Errorf("after it comes %+v", m)
	}
}

// TestInvitations checks whose invitations are accepted, and from where on the room is heard.
func TestInvitations(t *testing.T) {
	h := newHome(t)
	w := watch(t, h.config())
	h.Say(t, line("begin"))
	w.messages(1)

	old := h.Room("!Old:test", true) // in which much was said before
	h.Member(old, matrixtest.Ada, matrixtest.Agent, "leave", "")
	for i := range 150 {
		h.Post(old, matrixtest.Ada, "m.room.message", said(fmt.Sprint("secret ", i)))
	}
	h.Timeline(5)
	h.Member(old, matrixtest.Ada, matrixtest.Agent, "invite", "Agent")
	for i := range 8 {
		h.Post(old, matrixtest.Ada, "m.room.message", said(fmt.Sprint("hi ", i)))
	}
	for i, m := range w.messages(8) {
		if m.Text != fmt.Sprint("hi ", i) || m.Chat.ID != old {
			t.Errorf("it is %+v", m)
		}
	}
	if h.Membership(old, matrixtest.Agent) != "join" {
		t.Error("the owner's invitation is not accepted")
	}

	trap := h.Room("!Trap:test", true)
	h.Member(trap, matrixtest.Eve, matrixtest.Agent, "invite", "Agent")
	h.Post(trap, matrixtest.Eve, "m.room.message", said("come in"))
	eventually(t, func() error {
		if in := h.Membership(trap, matrixtest.Agent); in != "" {
			return fmt.Errorf("to a stranger's invitation, the agent is %s", in)
		}
		return nil
	})
	h.Say(t, line("end"))
	if m := w.messages(1)[0]; m.Text != "end" {
		t.Errorf("it is %+v", m)
	}
}

// TestInvitationIsAnsweredLater checks that a room that cannot be joined now is joined later, also after a restart, and
// holds nothing else up.
func TestInvitationIsAnsweredLater(t *testing.T) {
	h := newHome(t)
	h.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/join") {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
		return false
	})
	w := watch(t, h.config())
	far := h.Room("!Far:test", true)
	h.Say(t, line("one"))
	w.messages(1)
	h.Say(t, line("two"))
	w.messages(1)
	w.stop()
	h.Fault(nil)
	watch(t, h.config())
	eventually(t, func() error {
		if in := h.Membership(far, matrixtest.Agent); in != "join" {
			return fmt.Errorf("the agent is %q", in)
		}
		return nil
	})
}

// TestUpgrade checks that a room that goes on in another one is followed, if it does, and that answers go there.
func TestUpgrade(t *testing.T) {
	h := newHome(t)
	w := watch(t, h.config())
	h.Say(t, line("begin"))
	w.messages(1)
	next := h.Room("!Next:test", true)
	h.State(next, matrixtest.Ada, "m.room.create", object{"predecessor": object{"room_id": h.room, "event_id": "$x"}})
	h.State(h.room, matrixtest.Ada, "m.room.tombstone", object{"body": "moved", "replacement_room": next})
	eventually(t, func() error {
		if h.Membership(next, matrixtest.Agent) != "join" {
			return fmt.Errorf("the agent did not follow")
		}
		return nil
	})
	if _, err := w.Send(t.Context(), channel.Outgoing{ID: "a", Chat: h.room, Text: plain("hi")}); err != nil {
		t.Fatal(err)
	}
	if sent := h.Of(next, matrixtest.Agent, "m.room.message"); len(sent) != 1 {
		t.Errorf("in the new room there is %+v", sent)
	}

	other := h.Room("!Other:test", false) // does not say that it goes on from here
	h.State(next, matrixtest.Ada, "m.room.tombstone", object{"body": "moved", "replacement_room": other})
	eventually(t, func() error {
		for _, m := range w.messages(len(w.peek())) {
			if strings.Contains(m.Text, other) {
				return nil
			}
		}
		return fmt.Errorf("the change is not there")
	})
	if _, err := w.Send(t.Context(), channel.Outgoing{ID: "b", Chat: h.room, Text: plain("hi")}); err != nil {
		t.Fatal(err)
	}
	if sent := h.Of(other, matrixtest.Agent, "m.room.message"); len(sent) != 0 {
		t.Errorf("in a room that is no continuation there is %+v", sent)
	}
}

func (w *watched) peek() []channel.Message {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.Clone(w.all)
}

// TestFirstRun checks that the first run delivers what was said in the last day, and nothing older.
func TestFirstRun(t *testing.T) {
	h := newHome(t)
	old := h.Say(t, line("long ago"))
	h.Age(old, 30*time.Hour)
	h.Say(t, line("today"))
	w := watch(t, h.config())
	if m := w.messages(1)[0]; m.Text != "today" {
		t.Errorf("it is %+v", m)
	}
}

func wantClass(t *testing.T, err error, class channel.FailureClass) {
	t.Helper()
	if failed, ok := errors.AsType[*channel.Failure](err); !ok || failed.Class != class {
		t.Errorf("the error is %v, and not of the class %s", err, class)
	}
}
