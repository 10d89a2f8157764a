package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestWaiting: what takes long is one line of a terminal, from which the text takes nothing else and which is gone at
// the end. Elsewhere nothing is written.
func TestWaiting(t *testing.T) {
	var shown bytes.Buffer
	w := newWaiting(screen{&shown})
	w.during(func() string { return "checking" })
	w.say("upgrading the journal, 7 %")
	w.say("upgrading\x1b[2J")
	time.Sleep(1200 * time.Millisecond)
	w.end()
	want := lineAnew + "org-agent: upgrading the journal, 7 %" + lineAnew + "org-agent: upgrading[2J" + lineAnew + "org-agent: checking, 1 s" + lineAnew
	if shown.String() != want {
		t.Errorf("shown %q", shown.String())
	}
	var file bytes.Buffer
	w = newWaiting(&file)
	w.during(func() string { return "checking" })
	w.say("upgrading")
	if w.end(); file.Len() > 0 {
		t.Errorf("written %q", file.String())
	}
	shown.Reset()
	if newWaiting(screen{&shown}).end(); shown.Len() > 0 {
		t.Errorf("what takes no time shows %q", shown.String())
	}
}

// TestStartIsTold: what a kernel says of its start is told as it comes, and is no part of why it did not start.
func TestStartIsTold(t *testing.T) {
	var told []string
	var rest tail
	rest.read(strings.NewReader("org-agent: starting: upgrading the journal, 7 %\nnotice\norg-agent: starting: upgrading the journal, 40 %\norg-agent: no room"),
		func(text string) { told = append(told, text) })
	if strings.Join(told, "|") != "upgrading the journal, 7 %|upgrading the journal, 40 %" || rest.buffer.String() != "notice\norg-agent: no room" {
		t.Errorf("told %q, and left %q", told, rest.buffer.String())
	}
}
