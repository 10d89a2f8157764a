package daemon_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// recorded keeps what is read.
type recorded struct {
	io.ReadCloser
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *recorded) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.Write(p[:n])
	return n, err
}

// varying is what differs between two programs that do the same: names of conversations, times, and what they
// gave themselves.
var varying = regexp.MustCompile(`mcp-other-program-[-0-9a-z]+|20\d\d-\d\d-\d\d[^,;")\\]*|:hash [^:)]*`)

func (r *recorded) seen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return varying.ReplaceAllString(r.text.String(), "…")
}

// TestStaleIsToldToThePersonOnly: a program that connects and tries a hash of a file sees the same to the byte,
// whether it is right or wrong, until the person has decided. The person is told before.
func TestStaleIsToldToThePersonOnly(t *testing.T) {
	in, _ := newInstanceAndModel(t)
	const text = "* zanzibar\n"
	in.write(t, "MEMORY.org", text)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	memory := filepath.Join(in.paths.Home, "MEMORY.org")
	sum := sha256.Sum256([]byte(text))
	right := hex.EncodeToString(sum[:8])
	const wrong, stale = "0123456789abcdef", "MEMORY.org is not the text that this was proposed for"
	for _, call := range []struct {
		tool      string
		arguments func(hash string) map[string]any
	}{
		{"edit", func(hash string) map[string]any {
			return map[string]any{"path": memory, "old": "zanzibar", "new": "x", "hash": hash}
		}},
		{"write", func(hash string) map[string]any {
			return map[string]any{"path": memory, "content": "x", "hash": hash}
		}},
	} {
		var waiting, refused []string
		for _, hash := range []string{right, wrong} {
			seen := &recorded{}
			session, quit, ended := programThrough(t, in, func(r io.ReadCloser) io.ReadCloser {
				seen.ReadCloser = r
				return seen
			})
			told := make(chan *sdk.CallToolResult, 1)
			go func() {
				result, err := session.CallTool(within(t), &sdk.CallToolParams{Name: call.tool, Arguments: call.arguments(hash)})
				if err != nil {
					t.Error(err)
				}
				told <- result
			}()
			see(t, e, "the approval", func() bool { return len(e.Approvals()) == 1 })
			id := e.Approvals()[0].ID
			want := ""
			if hash == wrong {
				want = stale
			}
			var check protocol.AskCheckResult
			if err := e.Call(within(t), protocol.MethodAskCheck, protocol.AskCheckParams{ID: id}, &check); err != nil || check.Stale != want {
				t.Errorf("%s: the person is told %q, %v", call.tool, check.Stale, err)
			}
			if hash == wrong {
				err := decide(t, e, protocol.AskDecideParams{ID: id, Decision: protocol.AllowOnce})
				if protocol.ErrorCode(err) != protocol.CodeStale || !strings.Contains(err.Error(), stale) || len(e.Approvals()) != 1 {
					t.Errorf("%s: a yes is answered with %v, and %d wait", call.tool, err, len(e.Approvals()))
				}
			}
			waiting = append(waiting, seen.seen())
			if err := decide(t, e, protocol.AskDecideParams{ID: id, Decision: protocol.Deny, Reason: "no"}); err != nil {
				t.Error(err)
			}
			if result := <-told; result == nil || result.Meta["org-agent/code"] != "declined" {
				t.Errorf("%s: the program is told %+v", call.tool, result)
			}
			for _, look := range []struct {
				tool      string
				arguments map[string]any
			}{
				{"list_conversations", map[string]any{"since": "all"}},
				{"search_messages", map[string]any{"query": "MEMORY", "since": "all"}},
				{"search_messages", map[string]any{"query": "zanzibar", "since": "all"}},
			} {
				if _, err := session.CallTool(within(t), &sdk.CallToolParams{Name: look.tool, Arguments: look.arguments}); err != nil {
					t.Error(err)
				}
			}
			refused = append(refused, seen.seen())
			quit.Close()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			_ = session.Close()
			see(t, e, "the approval's end", func() bool { return len(e.Approvals()) == 0 })
		}
		if waiting[0] != waiting[1] || waiting[0] == "" {
			t.Errorf("%s: while it waits the program sees with the right hash\n%s\nand with a wrong one\n%s", call.tool, waiting[0], waiting[1])
		}
		if refused[0] != refused[1] || !strings.Contains(refused[0], "declined") {
			t.Errorf("%s: refused, the program sees with the right hash\n%s\nand with a wrong one\n%s", call.tool, refused[0], refused[1])
		}
	}
	if now, err := os.ReadFile(memory); err != nil || string(now) != text {
		t.Errorf("the file is %q, %v", now, err)
	}
}

// TestStaleToolCallsWaitOn: a change of a file that a model may read is proposed, and the file changes while the
// person thinks about it. A yes is not taken before the file is the same again.
func TestStaleToolCallsWaitOn(t *testing.T) {
	in := newInstance(t)
	in.write(t, "skills/stepper.org", stepping(`(:type :request :target :tool :action :call :tool "edit" :args (:path "notes.org" :old "one" :new "two"))`))
	in.write(t, "notes.org", "one\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	if _, err := e.Send(within(t), "q1", "go"); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the approval", func() bool { return len(e.Approvals()) == 1 })
	id := e.Approvals()[0].ID
	in.write(t, "notes.org", "one\nthree\n")
	err := decide(t, e, protocol.AskDecideParams{ID: id, Decision: protocol.AllowOnce})
	if protocol.ErrorCode(err) != protocol.CodeStale || !strings.Contains(err.Error(), "notes.org is not the text that this was proposed for") {
		t.Errorf("a yes is answered with %v", err)
	}
	in.write(t, "notes.org", "one\n")
	if err := decide(t, e, protocol.AskDecideParams{ID: id, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the answer", func() bool { return strings.Contains(e.Text(), "Done") })
	if now, err := os.ReadFile(filepath.Join(in.paths.Home, "notes.org")); err != nil || string(now) != "two\n" {
		t.Errorf("the file is %q, %v", now, err)
	}
}
