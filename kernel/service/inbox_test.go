package service_test

import (
	"path/filepath"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// TestInbox: what is kept is listed, the unread first, and marked as read, and clients are told how many are unread.
func TestInbox(t *testing.T) {
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	var told []int
	inbox := service.Inbox{
		Store: j.Inbox, Now: time.Now, Logger: discardLogger,
		Notify: func(_ string, params any) { told = append(told, params.(protocol.InboxChanged).Unread) },
	}
	for _, id := range []string{"a", "b", "b", "c"} {
		if err := inbox.Keep(t.Context(), protocol.InboxItem{ID: id, Kind: protocol.InboxFailure, Title: "Report"}); err != nil {
			t.Fatal(err)
		}
	}
	conn := serve(t, inbox.Methods())("test")
	var listed protocol.InboxListResult
	var changed protocol.InboxChanged
	call := func(method string, params, result any) {
		t.Helper()
		if err := conn.Call(within(t), method, params, result); err != nil {
			t.Fatal(err)
		}
	}
	call(protocol.MethodInboxMark, protocol.InboxMarkParams{IDs: []string{"b"}}, &changed)
	call(protocol.MethodInboxList, protocol.InboxListParams{}, &listed)
	if len(listed.Items) != 3 || listed.Items[0].ID != "c" || listed.Items[2].ID != "b" || !listed.Items[2].Read || listed.Unread != 2 || changed.Unread != 2 {
		t.Errorf("%+v, %+v", listed, changed)
	}
	call(protocol.MethodInboxMark, protocol.InboxMarkParams{IDs: []string{"b"}, Unread: true}, &changed)
	call(protocol.MethodInboxMark, protocol.InboxMarkParams{IDs: []string{"c"}}, &changed)
	listed = protocol.InboxListResult{}
	call(protocol.MethodInboxList, protocol.InboxListParams{Unread: true, Limit: 1}, &listed)
	if len(listed.Items) != 1 || listed.Items[0].ID != "b" || listed.Left != 1 {
		t.Errorf("%+v", listed)
	}
	call(protocol.MethodInboxMark, protocol.InboxMarkParams{All: true}, &changed)
	if changed.Unread != 0 || len(told) != 7 || told[2] != 3 || told[6] != 0 {
		t.Errorf("told is %v, and at last %+v", told, changed)
	}
	for _, p := range []protocol.InboxMarkParams{{}, {All: true, IDs: []string{"a"}}} {
		wantError(t, "which items", conn.Call(within(t), protocol.MethodInboxMark, p, &changed), protocol.CodeInvalidParams, "say which items")
	}
	wantError(t, "an unknown item", conn.Call(within(t), protocol.MethodInboxMark, protocol.InboxMarkParams{IDs: []string{"x"}}, &changed), protocol.CodeNotFound, "no item")
}

// TestInboxStranger checks that an item about a stranger has what lets them in, and any other one has not.
func TestInboxStranger(t *testing.T) {
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	inbox := service.Inbox{Store: j.Inbox, Now: time.Now, Logger: discardLogger, Notify: func(string, any) {}}
	for _, item := range []protocol.InboxItem{
		{ID: protocol.StrangerItem("matrix", "@eve of:x"), Kind: protocol.InboxStranger, Title: "Eve"},
		{ID: "stranger-0f", Kind: protocol.InboxStranger, Title: "one with a long id"},
		{ID: "stranger telegram 7", Kind: protocol.InboxAlert, Title: "no stranger"},
	} {
		if err := inbox.Keep(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
	var listed protocol.InboxListResult
	if err := serve(t, inbox.Methods())("test").Call(within(t), protocol.MethodInboxList, protocol.InboxListParams{}, &listed); err != nil {
		t.Fatal(err)
	}
	if i := listed.Items; len(i) != 3 || i[2].Channel != "matrix" || i[2].Sender != "@eve of:x" || i[0].Channel != "" || i[1].Channel != "" || i[1].Sender != "" {
		t.Errorf("%+v", listed.Items)
	}
}
