package tasks_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/sensor/tasks"
)

// failing is a store that records nothing while it fails.
type failing struct {
	*journal.LeaseStore
	fails bool
}

func (f *failing) AddTaskTag(ctx context.Context, tag string) error {
	if f.fails {
		return errors.New("the disk is full")
	}
	return f.LeaseStore.AddTaskTag(ctx, tag)
}

// hold holds a tag, as a kernel does that has just started.
func (h *home) hold(ctx context.Context, tag string) error {
	tags, err := tasks.OpenTags(ctx, &failing{h.j.Leases, h.unwritable}, func() string { return "" })
	if err != nil {
		return err
	}
	return tags.Add(ctx, tag)
}

// held returns what a kernel that starts holds.
func (h *home) held(chosen string) string {
	h.t.Helper()
	tags, err := tasks.OpenTags(h.t.Context(), h.j.Leases, func() string { return chosen })
	if err != nil {
		h.t.Fatal(err)
	}
	all := tags.Held()
	slices.Sort(all)
	return strings.Join(all, " ")
}

// A tag that was added is held at once and by each later kernel, whatever the person chooses then, and recorded once. That of
// an armed task is held also where it never was recorded, and that of the settings while they name it.
func TestTags(t *testing.T) {
	h := newHome(t, "UTC", "2027-03-01 08:00", "")
	defer h.close()
	if got := h.held(""); got != "agenttask" {
		t.Errorf("at first are held %s", got)
	}
	store := &failing{LeaseStore: h.j.Leases}
	chosen := "mine"
	tags, err := tasks.OpenTags(t.Context(), store, func() string { return chosen })
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"Robot", "robot", "AgentTask", "", "дело"} {
		if err := tags.Add(t.Context(), tag); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(tags.Held(), " "); got != "agenttask robot дело mine" {
		t.Errorf("held are %s", got)
	}
	chosen = "ROBOT"
	if got := strings.Join(tags.Held(), " "); got != "agenttask robot дело" {
		t.Errorf("held are %s", got)
	}
	store.fails = true
	if err := tags.Add(t.Context(), "late"); err == nil || !slices.Contains(tags.Held(), "late") {
		t.Errorf("what cannot be recorded is not held, or not told: %v", err)
	}
	if got := h.held("other"); got != "agenttask other robot дело" {
		t.Errorf("the next kernel holds %s", got)
	}
	store.fails = false
	if err := tags.Add(t.Context(), "late"); err != nil {
		t.Error(err)
	}
	if err := h.j.Leases.SetConsent(t.Context(), journal.Consent{Task: "id:x", Tag: "armed"}); err != nil {
		t.Fatal(err)
	}
	if got := h.held(""); got != "agenttask armed late robot дело" {
		t.Errorf("the next kernel holds %s", got)
	}
	rows, err := h.j.Records.Entries(t.Context(), journal.Query{Kinds: []journal.Kind{journal.KindTaskTag}, Limit: 10})
	if err != nil || len(rows) != 3 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// The files of the settings have the tag of the settings. It is held when they are looked at, and so is what an Emacs
// announces, before that; where the journal does not record it, the Emacs is told so.
func TestTagOfTheSettings(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 08:00", "", func(h *home) {
		h.tag = "robot"
		h.others = []string{h.other("agenda.org", agendaText), h.other("plans.org", strings.ReplaceAll(agendaText, "agenttask", "robot"))}
		k := h.start(0)
		if got := k.listed(); got != "Report not armed" {
			t.Errorf("listed are %s", got)
		}
		k.arm("Report")
		if got := h.held(""); got != "agenttask robot" {
			t.Errorf("held are %s", got)
		}
		k.end()
		h.tag = ""
		k = h.start(0)
		defer k.end()
		if got := k.listed(); got != "Report, Report not armed" {
			t.Errorf("what is armed loses its tag, or the others keep it: listed are %s", got)
		}
		k.expect("2027-03-01 10:00", "Report at Mon 03-01 09:00 +0000")
		if err := k.sensor.Announce(h.t.Context(), tasks.Watched{Tag: "later"}); err != nil || h.held("") != "agenttask later robot" {
			t.Errorf("held are %s, %v", h.held(""), err)
		}
		h.unwritable = true
		if err := k.sensor.Announce(h.t.Context(), tasks.Watched{Tag: "last"}); err == nil || !strings.Contains(err.Error(), "last") {
			t.Errorf("it is announced: %v", err)
		}
	})
}
