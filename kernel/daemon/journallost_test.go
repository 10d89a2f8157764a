package daemon_test

import (
	"os"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/rpc/rpctest"
)

// TestLostJournalIsTold: a journal that was removed or damaged while no kernel ran is told to whoever connects,
// and the conversation goes on with its file unchanged.
func TestLostJournalIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(path string) error
		says string
	}{
		"removed": {os.Remove, "is missing, and a new one was begun"},
		"damaged": {func(path string) error {
			data, err := os.ReadFile(path)
			if err == nil {
				clear(data[:4096])
				err = os.WriteFile(path, data, 0o600)
			}
			return err
		}, "were saved into a new file"},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
			k := in.start(t)
			e := in.editor(t, rpctest.Config{File: in.mainFile()})
			ask(t, e, "q1", "one")
			idle(t, e)
			e.Close()
			if err := k.end(); err != nil {
				t.Fatal(err)
			}
			if err := test.harm(in.paths.Journal); err != nil {
				t.Fatal(err)
			}
			in.start(t)
			e = in.editor(t, rpctest.Config{File: in.mainFile()})
			see(t, e, "the notice", func() bool { return strings.Contains(strings.Join(e.Notices(), "\n"), test.says) })
			ask(t, e, "q2", "two")
			wantBare(t, e, "* one\n** Hello\n* two\n** Hello\n* ")
			if name == "damaged" && len(in.rows(t, journal.Query{ID: "q1"})) == 0 {
				t.Error("the first question was not saved")
			}
		})
	}
}
