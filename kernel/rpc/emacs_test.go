package rpc_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// A real Emacs talks in both codecs: jsonrpc.el as it comes with Emacs, and a
// client of the plist frames in forty lines.
func TestEmacs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short starts no Emacs")
	}
	path := serve(t, &rpc.Server{Handler: handlerFunc(emacsKernel)})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "emacs", "-Q", "--batch", "-l", "testdata/interop.el", path, string(testToken))
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("emacs: %v\n%s", err, out)
	}
	var want strings.Builder
	for _, client := range []string{"json", "plist"} {
		for _, what := range []string{"refused-before-initialize", "initialize", "echo", "act", "burst", "big", "large-request", "unknown-method", "nil-is-nothing"} {
			fmt.Fprintf(&want, "%s %s works\n", client, what)
		}
	}
	if string(out) != want.String() {
		t.Errorf("emacs said\n%s", out)
	}
}

func emacsKernel(ctx context.Context, r *rpc.Request) (any, error) {
	switch p := r.Params.(type) {
	case *protocol.SessionLoadParams:
		if len(p.IDs) == 0 && p.View == "" {
			return protocol.SessionLoadResult{Session: p.Session, File: "nothing"}, nil
		}
	case *protocol.Object:
		text := p.Text("text")
		result := protocol.EventResult{Event: p.Text("id"), Turn: text}
		switch text {
		case "act":
			const inserted = "** grüß\n😀"
			r.Release()
			receipt, err := r.Client.Act(ctx, protocol.Act{
				ID: "a1", Session: "main", Type: protocol.TypeRequest, Target: "emacs",
				Payload: protocol.Object{{Key: "action", Value: protocol.Keyword("insert-at-end")}, {Key: "text", Value: inserted}},
			})
			if err != nil {
				return nil, err
			}
			sum := sha256.Sum256([]byte(inserted))
			result.Turn = fmt.Sprint(receipt.Chars, " ", receipt.SHA256 == hex.EncodeToString(sum[:]) && receipt.Done && r.Client.Capabilities().KeepsFile)
		case "burst":
			for i := range 2000 {
				r.Client.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelInfo, Text: fmt.Sprint("é", i)})
			}
		case "big":
			r.Client.Notify(protocol.MethodTurnKept, protocol.StoredTurn{Question: strings.Repeat("é\"(\n → ", 100_000), State: protocol.TurnAnswered})
		}
		return result, nil
	}
	return nil, protocol.Errorf(protocol.CodeInternal, "not what was sent")
}
