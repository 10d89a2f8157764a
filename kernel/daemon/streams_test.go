package daemon_test

import (
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/daemon"
)

// longAnswer takes some seconds to be written, slowly.
var longAnswer = strings.Repeat("It was a dark and stormy night, and the rain fell. ", 10) + "Then the wind checked the torrents, and swept up the streets of London."

// follow collects what a chat shows until its only message ends so, and returns all of its texts.
func follow(t *testing.T, chat *channeltest.Memory, end string) (shown []string) {
	t.Helper()
	until(t, "the answer", func() bool {
		sent := chat.Sent("room")
		if len(sent) > 1 {
			t.Fatalf("there are %d messages: %+v", len(sent), sent)
		}
		if len(sent) == 0 {
			return false
		}
		if text := sent[0].Text.Plain; !slices.Contains(shown, text) {
			shown = append(shown, text)
		}
		return strings.HasSuffix(sent[0].Text.Plain, end)
	})
	return shown
}

// TestStreamsToAChat checks that a chat shows the beginning of an answer while it is written, and that the answer takes its place.
func TestStreamsToAChat(t *testing.T) {
	t.Parallel()
	in, chat := newInstance(t, slowly(longAnswer)), &channeltest.Memory{}
	in.write(t, "channels.org", talkers("memory", "ada"))
	in.startWith(t, daemon.Config{Channels: []channel.Driver{chat}})
	chat.Post(channel.Message{Text: "tell a story"})
	shown := follow(t, chat, "London.")
	if len(shown) < 2 || shown[len(shown)-1] != longAnswer {
		t.Fatalf("it shows %q", shown)
	}
	for _, text := range shown[:len(shown)-1] {
		if begun, cut := strings.CutSuffix(text, "…"); !cut || !strings.HasPrefix(longAnswer, strings.TrimSpace(begun)) {
			t.Errorf("it shows %q", text)
		}
	}
}

// TestStreamsOnlyWhatIsVerified checks that a chat never shows what a skill's symbolic function refuses, and that the notice
// takes the place of what it showed before.
func TestStreamsOnlyWhatIsVerified(t *testing.T) {
	t.Parallel()
	in, chat := newInstance(t, slowly(longAnswer)), &channeltest.Memory{}
	in.write(t, "channels.org", talkers("memory", "ada"))
	in.write(t, "skills/mine.org", deciding(`(defun think (c) (ask-neuro (words c))) (defun check (a c) (if (search "wind" (getf a :text)) nil a))
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think :symbolic #'check)`))
	in.startWith(t, daemon.Config{Channels: []channel.Driver{chat}})
	chat.Post(channel.Message{Text: "tell a story"})
	until(t, "the beginning", func() bool { return len(chat.Sent("room")) > 0 })
	if text := chat.Sent("room")[0].Text.Plain; !strings.HasPrefix(text, "It was a dark") || !strings.HasSuffix(text, "…") {
		t.Errorf("it shows %q at first", text)
	}
	var last string
	for _, text := range follow(t, chat, ".") {
		if last = text; strings.Contains(text, "wind") {
			t.Errorf("it shows %q", text)
		}
	}
	if !strings.HasPrefix(last, "No answer: ") {
		t.Errorf("in the end it shows %q", last)
	}
}

// TestStreamEndsWithTheKernel checks that what was written when the kernel ends takes the place of the message that stands in
// the chat, and that the next kernel sends what follows and nothing twice.
func TestStreamEndsWithTheKernel(t *testing.T) {
	t.Parallel()
	in, chat := newInstance(t, slowly(longAnswer)), &channeltest.Memory{}
	in.write(t, "channels.org", talkers("memory", "ada"))
	k := in.startWith(t, daemon.Config{Channels: []channel.Driver{chat}})
	chat.Post(channel.Message{Text: "tell a story"})
	until(t, "the beginning", func() bool { return len(chat.Sent("room")) > 0 })
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	in.startWith(t, daemon.Config{Channels: []channel.Driver{chat}})
	until(t, "the end", func() bool { return chat.Sent("room")[0].Edits == 1 })
	first := chat.Sent("room")
	chat.Post(channel.Message{Text: "tell another"})
	until(t, "another answer", func() bool {
		sent := chat.Sent("room")
		return len(sent) > 1 && sent[1].Text.Plain == longAnswer
	})
	if sent := chat.Sent("room"); len(first) != 1 || len(sent) != 2 || sent[0].Text.Plain != first[0].Text.Plain {
		t.Errorf("sent were %+v, and then %+v", first, sent)
	}
}
