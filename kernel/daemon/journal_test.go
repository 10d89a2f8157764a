package daemon_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/daemon"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// Everything that is said and done is a row, in the order in which it happened.
func TestJournalRows(t *testing.T) {
	in := newInstance(t,
		llmtest.Exchange{Reply: `(:type :request :target :emacs :action :message :text "psst")`},
		llmtest.Exchange{Reply: insertion("Done")})
	in.write(t, "skills/mine.org", deciding(`(defun think (c) (ask-neuro (words c)))
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think)`))
	in.start(t)
	e := in.editor(t, rpctest.Config{Actions: []string{"message"}})
	got := ask(t, e, "q1", "hi")
	if !slices.Contains(e.Notices(), "psst") {
		t.Errorf("Emacs said %q", e.Notices())
	}
	receipts := func() []journal.Entry {
		return in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindReceipt}})
	}
	until(t, "the receipts", func() bool { return len(receipts()) >= 2 })
	var kinds []string
	for _, row := range in.rows(t, journal.Query{Turn: got.turn}) {
		if row.Kind != journal.KindTurn && !(row.Kind == journal.KindReceipt && row.ID == "q1") {
			kinds = append(kinds, string(row.Kind))
		}
	}
	want := "event choice model-request model-reply usage proposal verdict act receipt round model-request model-reply usage proposal verdict act receipt"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("the rows are\n%s\nwant\n%s", got, want)
	}
	for _, row := range receipts() {
		var receipt journal.Receipt
		if err := json.Unmarshal(row.Data, &receipt); err != nil || row.ID != "q1" && (!receipt.Done || receipt.Client == "") {
			t.Errorf("the receipt of %s is %s, %v", row.ID, row.Data, err)
		}
	}
}

// The model is told what was said before, in order, without the kernel's own
// words, and no more than the budget allows.
func TestHistory(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^fail", Status: 400, Body: `{"error":{"message":"no"}}`},
		llmtest.Exchange{Match: summarising, Status: 400, Times: -1}, // it has no notes in time
		llmtest.Exchange{Echo: true, Times: -1})
	in.variables["ORG_AGENT_LLM_WINDOW"] = "24000"
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	long := strings.Repeat("long ", 4000) // 20 kB, and so its answer
	for i, text := range []string{"first", "fail", "second", long, long + "2", "third", "last"} {
		ask(t, e, fmt.Sprintf("q%d", i), text)
	}
	requests := turnsOf(model)
	told := func(request int) string {
		var said []string
		for _, m := range requests[request].Messages() {
			if m.Role != "system" {
				said = append(said, m.Role+" "+m.Content)
			}
		}
		return strings.Join(said, "|")
	}
	if got, want := told(2), "user first|assistant first|user second"; got != want {
		t.Errorf("the model was told %q, want %q", got, want)
	}
	last := told(len(requests) - 1)
	if strings.Contains(last, "|assistant first") || !strings.HasPrefix(last, "user The first 3 turns of this conversation are not shown; search_messages finds") || strings.Contains(last, "No answer") || !strings.HasSuffix(last, "|user third|assistant third|user last") {
		t.Errorf("the model was told %d bytes, ending %q", len(last), last[max(0, len(last)-200):])
	}
	if size := len(last); size > 4*24_000 {
		t.Errorf("the model was told %d bytes", size)
	}
}

// The key goes to the model's server and nowhere else.
func TestSecretsStaySecret(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^fail", Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + canary + `"}}`},
		llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	k := in.start(t)
	token := string(in.token(t))
	e := in.editor(t, rpctest.Config{})
	failed := ask(t, e, "q1", "fail")
	ask(t, e, "q2", "hi")
	if got := model.Requests()[0].Header.Get("Authorization"); got != "Bearer "+canary {
		t.Errorf("the server got %q", got)
	}
	if shown := e.Text() + failed.notice + strings.Join(e.Notices(), ""); strings.Contains(shown, canary) || failed.state != "failed" {
		t.Errorf("a person is shown %q", shown)
	}
	e.Close()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(in.variables["HOME"], func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), canary) || strings.Contains(string(text), token) && path != in.paths.Token {
			t.Errorf("a secret stands in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A client can end the kernel, which then leaves nothing behind.
func TestShutdown(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello")})
	k := in.start(t)
	e := in.editor(t, rpctest.Config{})
	if err := e.Call(within(t), protocol.MethodShutdown, protocol.Empty{}, nil); err != nil {
		t.Error(err)
	}
	<-k.ended
	if k.err != nil {
		t.Error(k.err)
	}
	for _, path := range []string{in.paths.Socket, in.paths.KernelJSON} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there", path)
		}
	}
}

// A kernel that lingers ends when nobody is there, and not while a turn goes on.
func TestLinger(t *testing.T) {
	t.Parallel()
	in := newInstance(t, slowly(story))
	// Long enough for the editor to come on a machine that does other things.
	k, err := in.tryStart(daemon.Config{Linger: 8 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer k.stop()
	e := in.editor(t, rpctest.Config{})
	if _, err := e.Send(within(t), "q1", "hi"); err != nil {
		t.Fatal(err)
	}
	e.Close() // the turn goes on for nobody
	<-k.ended
	if k.err != nil {
		t.Error(k.err)
	}
	if text := bare(in.conversation(t, "main")); !strings.Contains(text, "except at intervals.") {
		t.Errorf("the file is\n%s", text)
	}
}

// A kernel that lingers ends although something waits for a person. It waits again in the next one.
func TestLingerWithAnApproval(t *testing.T) {
	t.Parallel()
	in := newInstance(t, calling("exec", `:command "make"`), llmtest.Exchange{Reply: insertion("* Denied"), Times: -1})
	k, err := in.tryStart(daemon.Config{Linger: 4 * time.Second, Commands: true})
	if err != nil {
		t.Fatal(err)
	}
	defer k.stop()
	e := in.editor(t, rpctest.Config{})
	_, approval := asked(t, e, "q1", "make it")
	e.Close()
	select {
	case <-k.ended:
	case <-within(t).Done():
		t.Fatal("the kernel goes on")
	}
	in.start(t)
	e = in.editor(t, rpctest.Config{})
	see(t, e, "the approval", func() bool { return len(e.Approvals()) == 1 && e.Approvals()[0].ID == approval.ID })
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.Deny}); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the answer", func() bool { return strings.Contains(e.Text(), "Denied") })
}
