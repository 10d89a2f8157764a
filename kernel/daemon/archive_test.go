package daemon_test

import (
	"os"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestOldRequestsAreArchived: a kernel moves what models were sent to the archive when it is older than
// config.org says, tells how large that is, and explains and answers as before.
func TestOldRequestsAreArchived(t *testing.T) {
	in, _ := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Answer"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	first := ask(t, e, "q1", "where is the harbour")
	ask(t, e, "q2", "and the ferry")
	why := func() string {
		var told protocol.TraceGetResult
		if err := e.Call(within(t), protocol.MethodTraceGet, protocol.TraceGetParams{ID: first.turn}, &told); err != nil {
			t.Fatal(err)
		}
		return told.Outline
	}
	before := why()
	if !strings.Contains(before, "System prompt") {
		t.Fatalf("it is explained by %.300s", before)
	}
	archive := journal.ArchivePath(in.paths.Journal)
	if _, err := os.Stat(archive); err == nil {
		t.Error("requests of today are archived")
	}
	in.write(t, "config.org", "* Settings\n:PROPERTIES:\n:KEEP_REQUESTS: 1ms\n:END:\n")
	until(t, "old requests are in the archive", func() bool {
		var status protocol.StatusResult
		return e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status) == nil && status.ArchiveSize > 0
	})
	if after := why(); after != before {
		t.Errorf("it is explained by %.300s", after)
	}
	ask(t, e, "q3", "and the tower")
}
