package channeltest_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/rich"
)

// fault is the variable that says what is wrong with the driver of TestMemory.
const fault = "CHANNELTEST_FAULT"

// TestSuiteFinds checks that the suite finds drivers that break their promises: for each fault, the case that it breaks fails.
func TestSuiteFinds(t *testing.T) {
	var running sync.WaitGroup
	for name, c := range map[string]struct{ fails, with string }{
		"prints its token":              {"what it says of itself", "there is a secret"},
		"is called otherwise":           {"what it says of itself", "its name is"},
		"goes on behind what failed":    {"receive fails", "3 of 4 messages"},
		"forgets what failed":           {"receive fails until the end", "Text:message 2 "},
		"gives other ids later":         {"a restart loses and doubles nothing", "is not there"},
		"leaves a goroutine":            {"the end", "a goroutine of the driver has not ended"},
		"ends with an error":            {"the end", "Run ends with its context"},
		"cuts texts":                    {"texts at the limit", "it does not happen"},
		"escapes texts":                 {"texts are sent", "it does not happen"},
		"sends again":                   {"sent twice", "the same message has the ids"},
		"reads files that are large":    {"files that cannot be sent", "read: true"},
		"does not reply":                {"replies", "it does not happen"},
		"keeps reactions":               {"reactions", "it does not happen"},
		"edits another message":         {"edits", "it does not happen"},
		"gives away the wrong data":     {"buttons", "what was pressed is"},
		"does not say when":             {"a limited rate", "a limited rate is"},
		"goes on without a token":       {"an expired token", "Run goes on without a token"},
		"takes a token that has ended":  {"an expired token", "without a token, the error is"},
		"sends although nobody waits":   {"a send whose context ended", "it was sent"},
		"takes its own for another's":   {"replies of people", "the reply to the agent is"},
		"confuses what happened":        {"changes", "it does not happen"},
		"delivers what was said before": {"reactions of people", "the reaction"},
	} {
		running.Go(func() {
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMemory$/^"+strings.ReplaceAll(c.fails, " ", "_")+"$", "-test.timeout=10s")
			command.Env = append(os.Environ(), fault+"="+name)
			output, err := command.CombinedOutput()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !strings.Contains(string(output), "--- FAIL: TestMemory/") || !strings.Contains(string(output), c.with) {
				t.Errorf("a driver that %s passes %q, or fails otherwise: %v\n%s", name, c.fails, err, output)
			}
		})
	}
	running.Wait()
}

const canary = "canary-token"

// faulty is a driver with a fault.
type faulty struct {
	*channeltest.Memory
	fault string
	runs  int
	held  []channel.Message
}

func (f *faulty) String() string {
	if f.fault == "prints its token" {
		return canary
	}
	return "faulty"
}

func (f *faulty) Name() string {
	if f.fault == "is called otherwise" {
		return "Memory"
	}
	return f.Memory.Name()
}

func (f *faulty) Run(ctx context.Context, receive func(context.Context, channel.Message) error) error {
	f.runs++
	if f.fault == "leaves a goroutine" {
		go func() { <-context.Background().Done() }()
	}
	err := f.Memory.Run(ctx, func(ctx context.Context, m channel.Message) error { return f.deliver(ctx, m, receive) })
	switch {
	case f.fault == "ends with an error" && err == nil:
		return errors.New("the driver has ended")
	case f.fault == "goes on without a token" && err != nil:
		<-ctx.Done()
		return nil
	}
	return err
}

func (f *faulty) deliver(ctx context.Context, m channel.Message, receive func(context.Context, channel.Message) error) error {
	switch {
	case f.fault == "gives other ids later" && f.runs > 1:
		m.ID += "-" + fmt.Sprint(f.runs)
	case f.fault == "gives away the wrong data" && m.Kind == channel.Pressed:
		m.Text = "yes"
	case f.fault == "takes its own for another's" && m.Reply != nil:
		m.Reply.ToMe = false
	case f.fault == "confuses what happened" && m.Kind == channel.Edited:
		m.Kind = channel.Said
	case f.fault == "delivers what was said before" && m.Kind == channel.Unreact:
		m.Of = "m0"
	}
	err := receive(ctx, m)
	switch f.fault {
	case "forgets what failed":
		return nil
	case "goes on behind what failed":
		if err != nil {
			f.held = append(f.held, m)
			return nil
		}
		for len(f.held) > 0 && receive(ctx, f.held[0]) == nil {
			f.held = f.held[1:]
		}
	}
	return err
}

func (f *faulty) Send(ctx context.Context, out channel.Outgoing) (string, error) {
	switch f.fault {
	case "cuts texts":
		if chunks := out.Text.Chunks(f.Capabilities().TextLimit - 1); len(chunks) > 0 {
			out.Text = chunks[0]
		}
	case "escapes texts":
		out.Text = rich.Plain(html.EscapeString(out.Text.Plain))
	case "sends again":
		out.ID += fmt.Sprint("-", len(f.Sent(out.Chat)))
	case "reads files that are large":
		if out.File != nil {
			_, _ = out.File.Open()
		}
	case "does not reply":
		out.ReplyTo = ""
	case "sends although nobody waits":
		ctx = context.WithoutCancel(ctx)
	}
	id, err := f.Memory.Send(ctx, out)
	failure := (*channel.Failure)(nil)
	switch {
	case f.fault == "does not say when" && errors.As(err, &failure):
		return "", failure.Err
	case f.fault == "takes a token that has ended" && errors.As(err, &failure) && failure.Class == channel.Unauthorized:
		return "m1", nil
	}
	return id, err
}

func (f *faulty) React(ctx context.Context, r channel.Reaction) error {
	r.Remove = r.Remove && f.fault != "keeps reactions"
	return f.Memory.React(ctx, r)
}

func (f *faulty) Edit(ctx context.Context, chat, id string, text rich.Text) error {
	if sent := f.Sent(chat); f.fault == "edits another message" && len(sent) > 1 {
		id = sent[1].MessageID
	}
	return f.Memory.Edit(ctx, chat, id, text)
}

// faultyRoom is a room whose driver has a fault.
type faultyRoom struct {
	*room
	driver *faulty
}

func (r faultyRoom) Driver(*testing.T) channel.Driver { return r.driver }
func (faultyRoom) Secrets() []string                  { return []string{canary} }
