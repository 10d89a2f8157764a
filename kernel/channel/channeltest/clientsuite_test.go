package channeltest_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/channel/channeltest"
)

// TestTalk holds a client in memory, with an echo in place of a kernel, to what every client keeps. TestClientSuiteFinds runs it
// with faults.
func TestTalk(t *testing.T) {
	channeltest.ClientSuite(t, func(*testing.T) channeltest.Client {
		return &talk{fault: os.Getenv(fault), heard: map[string]bool{}}
	})
}

// talk is a conversation.
type talk struct {
	fault    string
	heard    map[string]bool // ids
	answers  []string
	restarts int
}

func (c *talk) Say(t *testing.T, id, text string) {
	if c.heard[id] && c.fault != "takes it again" && (c.fault != "forgets ids at a restart" || c.restarts == 0) {
		return
	}
	c.heard[id] = true
	switch {
	case c.fault == "loses the second" && id == "said-1":
		return
	case c.fault == "cuts texts" && len(text) > 100_000:
		text = text[:100_000]
	case c.fault == "escapes texts":
		text = strings.ReplaceAll(text, "<", "&lt;")
	}
	c.answers = append(c.answers, channeltest.Echoed(text))
	if n := len(c.answers); c.fault == "swaps answers" && n == 2 {
		c.answers[0], c.answers[1] = c.answers[1], c.answers[0]
	}
}

func (c *talk) SayAgain(t *testing.T, id, text string) { c.Say(t, id, text) }
func (c *talk) Shown(*testing.T) string                { return strings.Join(c.answers, "\n") }
func (c *talk) Restart(*testing.T)                     { c.restarts++ }

func (c *talk) Drop(*testing.T) {
	if c.fault == "shows the last answer again" {
		c.answers = append(c.answers, c.answers[len(c.answers)-1])
	}
}

// TestClientSuiteFinds checks that the suite finds clients that break their promises: for each fault, the case that it breaks fails.
func TestClientSuiteFinds(t *testing.T) {
	var running sync.WaitGroup
	for name, fails := range map[string]string{
		"loses the second":            "messages come in order",
		"swaps answers":               "messages come in order",
		"escapes texts":               "texts come as they are",
		"cuts texts":                  "a long text",
		"takes it again":              "the same again",
		"shows the last answer again": "a dropped connection",
		"forgets ids at a restart":    "a restart loses and doubles nothing",
	} {
		running.Go(func() {
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTalk$/^"+strings.ReplaceAll(fails, " ", "_")+"$", "-test.timeout=4s")
			command.Env = append(os.Environ(), fault+"="+name)
			output, err := command.CombinedOutput()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !strings.Contains(string(output), "--- FAIL: TestTalk/") || !strings.Contains(string(output), "it does not happen: the answers are") {
				t.Errorf("a client that %s passes %q, or fails otherwise: %v\n%s", name, fails, err, output)
			}
		})
	}
	running.Wait()
}
