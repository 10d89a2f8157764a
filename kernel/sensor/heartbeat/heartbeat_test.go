package heartbeat_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor/heartbeat"
)

// A model is asked only if there is something to do: not without a checklist, not with one that has nothing open, and not
// before what it plans is due.
func TestReasons(t *testing.T) {
	for _, c := range []struct{ list, reasons, want string }{
		{"", "", ""},
		{"#+TITLE: Heartbeat\n# - [ ] a comment\n\n", "", ""},
		{"- [X] done\n* DONE Rent\n* COMMENT Not now\n** Look\n* Later\n- [x] done\n-----\n", "", ""},
		{"* TODO Rent\nDEADLINE: <2027-03-09 Tue 09:00>\n* Dentist\nSCHEDULED: <2027-03-01 Mon 13:00>\n", "", ""},
		{"- [ ] Is mail waiting?\n- [X] done\nLook at the disk.\n", "", "2 checklist items"},
		{"* Look at the disk\n* Mail\n:PROPERTIES:\n:ID: x\n:END:\n- [ ] from Ada\n** TODO Bob\n", "", "3 checklist items"},
		{"* TODO Rent\nDEADLINE: <2027-02-28 Sun>\n* Dentist\nSCHEDULED: <2027-03-01 Mon 08:30>\n", "", "2 due items"},
		{"", "the disk is full", "1 check"},
		{"- mail\n", "the disk is full", "1 checklist item, 1 check"},
	} {
		bubble(t, "Europe/Berlin", "2027-03-01 08:45", func(h *home) {
			if h.list = c.list; c.reasons != "" {
				h.reasons = []string{c.reasons}
			}
			k := h.start(0)
			defer k.end()
			want := ""
			if c.want != "" {
				want = "Mon 09:00 +0100 " + c.want
			}
			h.expect("2027-03-01 09:10", want)
			state, err := k.sensor.State(context.Background(), 2)
			if err != nil || state.On != (c.list+c.reasons != "") || len(state.Times) != 2 || state.Times[0].Format("15:04") != "09:30" || state.Every != "every 30m 08:00-22:00" {
				t.Errorf("%+v, %v", state, err)
			}
			if wanted := "09:00 nothing to do"; c.want == "" && state.Last != wanted {
				t.Errorf("%q: the last one was %q", c.list, state.Last)
			} else if wanted := "09:00 asked about " + c.want + ": nothing needs you"; c.want != "" && state.Last != wanted {
				t.Errorf("%q: the last one was %q", c.list, state.Last)
			}
			if len(h.told) > 0 {
				t.Errorf("told is %v", h.told)
			}
		})
	}
}

// Events wait for a beat and are shown to it as data, with how many were dropped. A run that fails keeps them, and what failed
// is told once. What a model answers is told unless it is the token, and the next beat knows it.
func TestEvents(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 09:05", func(h *home) {
		k := h.start(0)
		if k.report("nobody", "wet") {
			t.Error("an event waits that nobody wants")
		}
		k.end()
		h.list = "# nothing\n"
		k = h.start(0)
		defer func() { k.end() }()
		for i := range 25 {
			if !k.report(fmt.Sprint("e", i), fmt.Sprint("wet ", i), protocol.Field{Key: "millimetres", Value: int64(i)}) {
				t.Fatal("the event does not wait")
			}
		}
		k.end()
		k = h.start(0)
		h.state = protocol.TurnFailed
		h.expect("2027-03-01 09:35", "Mon 09:30 +0000 20 events")
		h.expect("2027-03-01 10:05", "Mon 10:00 +0000 20 events")
		if len(strings.Fields(h.waiting())) != 20 || len(h.told) != 1 {
			t.Errorf("%s wait, told is %v", h.waiting(), h.told)
		}
		h.state, h.answer = protocol.TurnAnswered, "HEARTBEAT_OK but it rains"
		h.expect("2027-03-01 10:35", "Mon 10:30 +0000 20 events")
		event := h.events[len(h.events)-1]
		if len(event.Context) != 1 || !strings.Contains(event.Context[0].Text, "09:05 rain: wet 24 (:millimetres 24)\n5 events dropped") || strings.Contains(event.Text, "wet") {
			t.Errorf("the event is %+v", event)
		}
		if h.waiting() != "" || len(h.told) != 2 {
			t.Errorf("%q wait, told is %v", h.waiting(), h.told)
		}
		k.report("later", "dry")
		h.expect("2027-03-01 11:05", "Mon 11:00 +0000 1 event")
		if last := h.events[len(h.events)-1].Text; !strings.Contains(last, `What you told last: "HEARTBEAT_OK but it rains", at 10:30`) {
			t.Errorf("the text is %q", last)
		}
	})
}

// While a beat is at work the next is left out, and what comes meanwhile waits for the one after it.
func TestAtWork(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 09:05", func(h *home) {
		h.list, h.takes = "# nothing\n", 45*time.Minute
		k := h.start(0)
		defer k.end()
		k.report("a", "wet")
		h.expect("2027-03-01 09:40", "Mon 09:30 +0000 1 event")
		k.report("b", "wet")
		h.expect("2027-03-01 10:05", "")
		if state, err := k.sensor.State(context.Background(), 1); err != nil || state.AtWork == nil || state.Last != "10:00 left out: the last one is still at work" {
			t.Errorf("%+v, %v", state, err)
		}
		h.expect("2027-03-01 10:35", "Mon 10:30 +0000 1 event")
	})
}

// Urgent events do not wait for the active hours. Those that come together have one beat, and then none for a minute.
func TestUrgent(t *testing.T) {
	urgent := protocol.Field{Key: "urgent", Value: true}
	bubble(t, "UTC", "2027-03-01 23:00", func(h *home) {
		h.list = "- look\n"
		k := h.start(0)
		k.report("a", "wet")
		h.expect("2027-03-01 23:30", "")
		k.report("b", "flood", urgent)
		time.Sleep(100 * time.Millisecond)
		k.report("c", "more flood", urgent)
		time.Sleep(20 * time.Second)
		for i := range 10 {
			k.report(fmt.Sprint("d", i), fmt.Sprint(i), urgent)
			time.Sleep(time.Second)
		}
		h.expect("2027-03-01 23:40", "Mon 23:30 +0000 1 checklist item, 3 events; Mon 23:31 +0000 1 checklist item, 10 events")
		h.state = protocol.TurnFailed
		k.report("e", "fire", urgent)
		h.expect("2027-03-01 23:50", "Mon 23:40 +0000 1 checklist item, 1 event")
		h.state = protocol.TurnAnswered
		k.end()
		k = h.start(0)
		defer k.end()
		h.expect("2027-03-02 07:00", "Mon 23:50 +0000 1 checklist item, 1 event")
	})
}

// A machine that slept makes up for one beat, if it is still in the active hours. A clock that is set back has none twice.
func TestSleep(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 09:05", func(h *home) {
		h.list = "- look\n"
		k := h.start(0)
		defer k.end()
		h.set("2027-03-03 10:10")
		h.expect("2027-03-03 10:12", "Wed 10:11 +0000 1 checklist item")
		h.set("2027-03-03 23:50")
		h.expect("2027-03-04 00:10", "")
		h.expect("2027-03-04 08:10", "Thu 08:00 +0000 1 checklist item")
		h.set("2027-03-04 07:50")
		h.expect("2027-03-04 08:40", "Thu 08:30 +0000 1 checklist item")
		h.settings.Off = true
		h.expect("2027-03-04 12:00", "")
	})
}

// A skill that is for every heartbeat sees those without a reason, too.
func TestEveryHeartbeat(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 09:05", func(h *home) {
		h.every = true
		k := h.start(0)
		defer k.end()
		h.expect("2027-03-01 09:40", "Mon 09:30 +0000 ")
	})
}

// Without a model nobody is asked, and events wait for one.
func TestNoModel(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 09:05", func(h *home) {
		h.list, h.modelless = "- look\n", true
		k := h.start(0)
		defer k.end()
		k.report("a", "wet")
		h.expect("2027-03-01 09:40", "")
		if state, err := k.sensor.State(context.Background(), 1); err != nil || state.Last != "09:30 there is no model to ask about 1 checklist item, 1 event" {
			t.Errorf("%+v, %v", state, err)
		}
		h.every = true
		h.expect("2027-03-01 10:05", "Mon 10:00 +0000 ")
		h.modelless = false
		h.expect("2027-03-01 10:35", "Mon 10:30 +0000 1 checklist item, 1 event")
	})
}

// A kernel that is killed between any two steps of a beat neither loses an event nor tells an answer twice.
func TestKilled(t *testing.T) {
	for dies := 1; ; dies++ {
		whole := false
		bubble(t, "UTC", "2027-03-01 09:05", func(h *home) {
			h.list, h.answer = "# nothing\n", "It rains."
			k := h.start(0)
			k.report("a", "wet")
			k.end()
			k = h.start(dies)
			h.until("2027-03-01 09:40")
			whole = !k.dead
			k.end()
			k = h.start(0)
			h.until("2027-03-01 12:00")
			k.end()
			if h.waiting() != "" {
				t.Errorf("killed before step %d: %s wait", dies, h.waiting())
			}
			told := 0
			for _, text := range h.told {
				if text == "It rains.false" {
					told++
				}
			}
			if open, err := h.j.Leases.OpenBeats(context.Background()); err != nil || len(open) > 0 || told != 1 {
				t.Errorf("killed before step %d: told is %v, open are %+v, %v", dies, h.told, open, err)
			}
		})
		if whole {
			return
		}
		if dies > 100 {
			t.Fatal("it never ends")
		}
	}
}

// BenchmarkNothingToDo is a heartbeat that asks no model: a checklist without open items, and no events.
func BenchmarkNothingToDo(b *testing.B) {
	j, err := journal.Open(b.Context(), b.TempDir()+"/journal.db")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	beats := config.Settings{}.Beats()
	s := heartbeat.New(heartbeat.Config{
		Settings: func() config.Heartbeat { return beats }, HasChecks: func() bool { return false }, HasModel: func() bool { return true },
		Checklist: func() (string, string) { return "/home/HEARTBEAT.org", strings.Repeat("- [X] done\n", 20) },
		Checks:    func(context.Context, sexp.List) []string { return nil },
		Matches:   func(context.Context, protocol.Event) bool { return false },
		Leases:    j.Leases, Queue: j.Queue, Turns: j.Turns, Logger: slog.New(slog.DiscardHandler),
	})
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx, nil) }()
	for b.Loop() {
		if _, err := s.Begin(ctx); protocol.ErrorCode(err) != protocol.CodeConflict {
			b.Fatal(err)
		}
	}
	stop()
	<-ended
}

// An urgent event of the second in which a beat began already has a beat, too: after the end of a kernel nothing keeps them
// apart.
func TestUrgentInOneSecond(t *testing.T) {
	urgent := protocol.Field{Key: "urgent", Value: true}
	bubble(t, "UTC", "2027-03-01 09:05", func(h *home) {
		h.list, h.takes = "# nothing\n", 10*time.Millisecond
		k := h.start(0)
		k.report("a", "wet", urgent)
		time.Sleep(300 * time.Millisecond)
		k.end()
		k = h.start(0)
		defer k.end()
		k.report("b", "wetter", urgent)
		h.expect("2027-03-01 09:06", "Mon 09:05 +0000 1 event; Mon 09:05 +0000 1 event")
	})
}

// While a beat waits for the person no other begins. They are counted, and the person is told once that they are waited for.
// When they have answered, one beat at once stands for all that were left out, within the active hours.
func TestWaitsForPerson(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 09:05", func(h *home) {
		h.list, h.takes, h.waits = "- look\n", 2*time.Hour+15*time.Minute, true
		k := h.start(0)
		last := func() string {
			state, err := k.sensor.State(context.Background(), 1)
			if err != nil {
				t.Error(err)
			}
			return state.Last
		}
		h.expect("2027-03-01 09:50", "Mon 09:30 +0000 1 checklist item")
		if len(h.told) > 0 {
			t.Errorf("told is %q before a beat is left out", h.told)
		}
		h.expect("2027-03-01 10:35", "")
		if got := last(); got != "10:30 left out, 2 so far: the last one waits for you in the conversation Heartbeat" {
			t.Errorf("it says %q", got)
		}
		var told []string
		for id, text := range h.told {
			if strings.HasSuffix(id, "+waits") {
				told = append(told, text)
			}
		}
		if len(told) != 1 || len(h.told) != 1 || !strings.Contains(told[0], "waits for you in the conversation Heartbeat since 09:30") {
			t.Errorf("told is %q", h.told)
		}
		h.waits, h.takes = false, time.Second
		h.expect("2027-03-01 11:50", "Mon 11:45 +0000 1 checklist item")
		if got := last(); got != "11:45 asked about 1 checklist item, also for 4 that were left out: nothing needs you" {
			t.Errorf("it says %q", got)
		}
		h.waits, h.takes = true, 13*time.Hour
		h.expect("2027-03-01 22:30", "Mon 12:00 +0000 1 checklist item")
		h.waits, h.takes = false, time.Second
		h.expect("2027-03-02 08:05", "Tue 08:00 +0000 1 checklist item")
		k.end()
	})
}
