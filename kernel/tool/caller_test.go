package tool_test

import (
	"slices"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// TestForCaller checks that a registry for a caller has the same tools, including those of other
// programs, and makes calls for this caller only. Without a caller each call is a turn by itself.
func TestForCaller(t *testing.T) {
	r, err := tool.NewRegistry(echo("echo_it"))
	if err != nil {
		t.Fatal(err)
	}
	others := []tool.Tool{tool.NewForeign(tool.Foreign{Name: "theirs", Digest: "1"})}
	for name, mine := range map[string]*tool.Registry{
		"before": r.For(&tool.Caller{}).WithForeign(func() []tool.Tool { return others }),
		"after":  r.WithForeign(func() []tool.Tool { return others }).For(&tool.Caller{}),
	} {
		if got := mine.Names(); !slices.Equal(got, []string{"echo_it", "theirs"}) || mine.Digest("theirs") != "1" {
			t.Errorf("%s: it has %q", name, got)
		}
	}
	var none *tool.Registry
	if _, _, err := none.For(&tool.Caller{}).Call(t.Context(), "echo_it", nil); protocol.ToolErrorOf(err).Code != protocol.ToolNotFound {
		t.Errorf("of no tools one is called: %v", err)
	}
}
