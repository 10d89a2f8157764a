package journal_test

import (
	"fmt"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

func keep(t *testing.T, j *journal.Journal, id string) (fresh bool, forgotten int) {
	t.Helper()
	item := protocol.InboxItem{ID: id, Kind: protocol.InboxResult, Session: "Report 1", Title: "Report " + id, Text: "All is well.\n", Read: true}
	fresh, forgotten, err := j.Inbox.Put(t.Context(), item, nine)
	must(t, err)
	return fresh, forgotten
}

func inboxOf(t *testing.T, j *journal.Journal) (ids string) {
	t.Helper()
	items, err := j.Inbox.Items(t.Context())
	must(t, err)
	for _, i := range items {
		ids += i.ID
		if i.Read {
			ids += "(read)"
		}
		ids += " "
	}
	return ids
}

// What is kept is there once for its id, also after a restart, the unread first and then the latest.
func TestInbox(t *testing.T) {
	j := fresh(t)
	for _, id := range []string{"a", "b", "c"} {
		if isNew, _ := keep(t, j, id); !isNew {
			t.Errorf("%s is known", id)
		}
	}
	must(t, j.Inbox.Mark(t.Context(), []string{"c"}, nine))
	j = reopen(t, closed(t, j))
	if isNew, _ := keep(t, j, "c"); isNew {
		t.Error("it is kept twice")
	}
	if got := inboxOf(t, j); got != "b a c(read) " {
		t.Errorf("the inbox has %s", got)
	}
	items, err := j.Inbox.Items(t.Context())
	if want := (protocol.InboxItem{ID: "b", Kind: protocol.InboxResult, Session: "Report 1", Title: "Report b", Text: "All is well.\n", Time: "2027-03-01T09:00:00Z"}); err != nil || items[0] != want {
		t.Errorf("%+v, %v", items[0], err)
	}
	if err := j.Inbox.Mark(t.Context(), []string{"a", "nobody"}, nine); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Error(err)
	}
	if n, err := j.Inbox.Unread(t.Context()); err != nil || n != 2 {
		t.Errorf("%d are unread, %v", n, err)
	}
	must(t, j.Inbox.Mark(t.Context(), []string{"c"}, time.Time{}))
	must(t, j.Inbox.MarkAll(t.Context(), nine))
	if n, err := j.Inbox.Unread(t.Context()); err != nil || n != 0 {
		t.Errorf("%d are unread, %v", n, err)
	}
	if _, _, err := j.Inbox.Put(t.Context(), protocol.InboxItem{ID: "x"}, nine); protocol.ErrorCode(err) != protocol.CodeInvalidParams {
		t.Error(err)
	}
}

// The inbox keeps 500 items. What was read is forgotten before what was not.
func TestInboxIsBounded(t *testing.T) {
	j := fresh(t)
	for i := range 500 {
		keep(t, j, fmt.Sprint(i))
	}
	must(t, j.Inbox.Mark(t.Context(), []string{"7"}, nine))
	if _, forgotten := keep(t, j, "new"); forgotten != 0 {
		t.Errorf("%d unread are forgotten", forgotten)
	}
	if _, forgotten := keep(t, j, "newer"); forgotten != 1 {
		t.Errorf("%d unread are forgotten", forgotten)
	}
	items, err := j.Inbox.Items(t.Context())
	if err != nil || len(items) != 500 || items[0].ID != "newer" || items[499].ID != "1" {
		t.Errorf("%d items from %s to %s, %v", len(items), items[0].ID, items[len(items)-1].ID, err)
	}
}
