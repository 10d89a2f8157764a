package daemon_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// Both clients of a session stay with it when it gets another name, and what they say
// then is of it. Over the wire, both codecs' types.
func TestRenameWithClients(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	in.start(t)
	first, second := in.editor(t, rpctest.Config{}), in.editor(t, rpctest.Config{})
	ask(t, first, "q1", "one")
	idle(t, first)
	var renamed protocol.SessionRenameResult
	if err := second.Call(within(t), protocol.MethodSessionRename, protocol.SessionRenameParams{Session: "main", To: "other"}, &renamed); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*rpctest.Editor{first, second} {
		see(t, e, "the new name", func() bool { loaded, _ := e.Loaded(); return loaded.Session == "other" })
	}
	ask(t, second, "q2", "two")
	see(t, first, "the second answer", func() bool { return strings.Count(first.Text(), "** Hello") == 2 && !first.Previewing() })
	until(t, "the file being the buffer", func() bool { return in.conversation(t, "other") == first.Text() })
	if left := in.conversation(t, "main"); left != "" {
		t.Errorf("under the old name is\n%s", left)
	}
	var found protocol.SessionSearchResult
	if err := first.Call(within(t), protocol.MethodSessionSearch, protocol.SessionSearchParams{Query: "hello"}, &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Hits) != 2 || found.Hits[0].Session != "other" || found.Hits[0].Role != protocol.RoleAgent || len(found.Hits[0].Matches) != 1 {
		t.Errorf("found %+v", found)
	}
	var fork protocol.SessionForkResult
	if err := first.Call(within(t), protocol.MethodSessionFork, protocol.SessionForkParams{ID: "q2"}, &fork); err != nil {
		t.Fatal(err)
	}
	if text := in.conversation(t, "other fork"); bare(text) != "* one\n** Hello\n* two" || fork.Draft != "two" {
		t.Errorf("forked %+v:\n%s", fork, text)
	}
}

// Killed at any moment of a renaming, the kernel has the conversation afterwards under
// one of the names: journal and file agree, and nothing is missing or there twice.
func TestKilledWhileRenaming(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	p := in.spawn(t)
	e := in.editor(t, rpctest.Config{Name: "cli"}) // the kernel writes the file
	ask(t, e, "q1", "one")
	until(t, "the file", func() bool { return strings.Contains(in.conversation(t, "main"), "** Hello") })
	text, name := in.conversation(t, "main"), "main"
	for round := range 12 {
		to := map[string]string{"main": "other", "other": "main"}[name]
		done := make(chan error, 1)
		go func() {
			done <- e.Call(within(t), protocol.MethodSessionRename, protocol.SessionRenameParams{Session: name, To: to}, &protocol.SessionRenameResult{})
		}()
		time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond)
		p.kill()
		<-done
		p = in.spawn(t)
		e = in.editor(t, rpctest.Config{Name: "cli", Session: "nothing"})
		var list protocol.SessionListResult
		if err := e.Call(within(t), protocol.MethodSessionList, protocol.Empty{}, &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Sessions) != 1 || list.Sessions[0].Turns != 1 {
			t.Fatalf("round %d: the sessions are %+v", round, list.Sessions)
		}
		name = list.Sessions[0].Name
		files, err := filepath.Glob(filepath.Join(in.paths.Sessions, "*.org"))
		if err != nil || len(files) != 1 || filepath.Base(files[0]) != name+".org" || in.conversation(t, name) != text {
			t.Fatalf("round %d: the session is %s, the files are %v, %v\n%s", round, name, files, err, in.conversation(t, name))
		}
	}
	if _, err := os.Stat(filepath.Join(in.paths.Sessions, name+".org")); err != nil {
		t.Error(err)
	}
}
