package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/rpc/rpctest"
)

// TestOneWatch: a kernel takes one of the watches that a person's programs may have, whatever it follows.
func TestOneWatch(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	p := in.spawn(t)
	in.write(t, "config.org", "* Instance\n:PROPERTIES:\n:LOG_LEVEL: debug\n:END:\n")
	e := in.editor(t, rpctest.Config{})
	if got := ask(t, e, "q1", "hi"); got.state != "answered" {
		t.Errorf("the turn ended %+v", got)
	}
	count := func() (watches int) {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if what, err := os.Readlink(file); err == nil && what == "anon_inode:inotify" {
				watches++
			}
		}
		return watches
	}
	until(t, "the watch", func() bool { return count() > 0 })
	if watches := count(); watches != 1 {
		t.Errorf("it has %d watches", watches)
	}
}
