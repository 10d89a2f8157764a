package daemon_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/channeltest/telegramtest"
	"org-agent/kernel/daemon"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// decider is a channels.org in which the owner ada decides in the private chat room.
const decider = "\n* Deciding\n| channel | chat | owner | what | from |\n|-+-+-+-+-|\n| memory | room | ada | both | chat |\n"

// telling is a model that wants to tell another conversation something when it is told to in a chat, and to know a color.
func telling() []llmtest.Exchange {
	color := calling("ask_user", `:title "Color" :questions ((:question "Which color?" :options ("red" "green") :name "color"))`)
	color.Match = `:text "paint`
	tell := calling("send", `:text "noon" :platform "emacs" :target "other"`)
	tell.Match, tell.Times = `:text "tell`, -1
	return []llmtest.Exchange{
		tell,
		color,
		{Match: "result of send: performed", Reply: "Told."},
		{Match: "result of send: denied", Reply: "Not told."},
		{Match: "green", Reply: "Painted."},
	}
}

// waitsIn waits until the chat has n messages of the agent, and returns the last.
func waitsIn(t *testing.T, chat *channeltest.Memory, n int) channeltest.Sent {
	t.Helper()
	all, err := chat.Wait(within(t), "room", n)
	if err != nil {
		t.Fatalf("the room has %d messages: %+v, %v", len(all), all, err)
	}
	return all[n-1]
}

func pressed(t *testing.T, chat *channeltest.Memory, below channeltest.Sent, label string) {
	t.Helper()
	for _, row := range below.Buttons {
		for _, b := range row {
			if b.Label == label {
				chat.Post(channel.Message{Kind: channel.Pressed, Text: b.Data, Of: below.MessageID})
				return
			}
		}
	}
	t.Fatalf("no button %s below %+v", label, below)
}

// TestLettersDecide: what waits in a turn of a private chat is decided there by buttons, also after a restart, and is recorded
// as what the owner decided on that channel. Words decide nothing.
func TestLettersDecide(t *testing.T) {
	in := newInstance(t, telling()...)
	in.write(t, "channels.org", talkers("memory", "ada")+decider)
	chat := &channeltest.Memory{}
	k := in.startWith(t, daemon.Config{Channels: []channel.Driver{chat}})

	chat.Post(channel.Message{ID: "1", Text: "tell them"})
	letter := waitsIn(t, chat, 1)
	if !strings.Contains(letter.Text.Plain, "│ noon\n") {
		t.Errorf("the letter is\n%s", letter.Text.Plain)
	}
	pressed(t, chat, letter, "Allow once")
	if said := waitsIn(t, chat, 2); said.Text.Plain != "Told." {
		t.Errorf("then it says %q", said.Text.Plain)
	}
	until(t, "the text elsewhere", func() bool { return posted(t, in, "noon") == 1 })
	until(t, "the letter to say so", func() bool { return chat.Sent("room")[0].Edits == 1 })
	if now := chat.Sent("room")[0]; len(now.Buttons) > 0 || !strings.HasPrefix(now.Text.Plain, "Allowed once by you") {
		t.Errorf("the letter is\n%s\n%+v", now.Text.Plain, now.Buttons)
	}
	e := in.editor(t, rpctest.Config{Session: "memory-room"})
	see(t, e, "who decided", func() bool { return strings.Contains(e.Text(), "You, on memory") })

	chat.Post(channel.Message{ID: "2", Text: "paint it"})
	question := waitsIn(t, chat, 3)
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	in.startWith(t, daemon.Config{Channels: []channel.Driver{chat}})
	pressed(t, chat, question, "green")
	if said := waitsIn(t, chat, 4); said.Text.Plain != "Painted." {
		t.Errorf("then it says %q", said.Text.Plain)
	}
}

// TestLettersDeny: a button denies, and without a row the chat is told only that something waits.
func TestLettersDeny(t *testing.T) {
	in := newInstance(t, telling()...)
	in.write(t, "channels.org", talkers("memory", "ada")+decider)
	chat := &channeltest.Memory{}
	in.startWith(t, daemon.Config{Channels: []channel.Driver{chat}})
	chat.Post(channel.Message{ID: "1", Text: "tell them"})
	pressed(t, chat, waitsIn(t, chat, 1), "Deny")
	if said := waitsIn(t, chat, 2); said.Text.Plain != "Not told." {
		t.Errorf("then it says %q", said.Text.Plain)
	}

	in.write(t, "channels.org", talkers("memory", "ada"))
	chat.Post(channel.Message{ID: "2", Text: "tell them"})
	if said := waitsIn(t, chat, 3); len(said.Buttons) > 0 || said.Text.Plain != "This waits: it is to be decided in Emacs." {
		t.Errorf("it says %q with %+v", said.Text.Plain, said.Buttons)
	}
	chat.Post(channel.Message{ID: "3", Text: "yes"})
	e := in.editor(t, rpctest.Config{})
	var list protocol.AskListResult
	if err := e.Call(within(t), protocol.MethodAskList, protocol.Empty{}, &list); err != nil || len(list.Asks) != 1 || posted(t, in, "noon") > 0 {
		t.Errorf("%+v waits, %v; elsewhere stands %q", list, err, in.conversation(t, "other"))
	}
}

// TestLettersOnTelegram: a channel of config.org and a strict server carry a letter, the press of its button and its last
// words, and no file of the kernel has the secret of a button.
func TestLettersOnTelegram(t *testing.T) {
	in := newInstance(t, telling()...)
	bot := telegramtest.New()
	in.variables["BOT"] = telegramtest.Token
	in.write(t, "config.org", "* Channels\n** telegram\n:PROPERTIES:\n:TOKEN: env:BOT\n:URL: "+bot.Start(t).URL+"\n:END:\n")
	in.write(t, "channels.org", talkers("telegram", "1001")+strings.ReplaceAll(strings.ReplaceAll(decider, "memory", "telegram"), "room | ada", "1001 | 1001"))
	in.start(t)
	bot.Say(telegramtest.Ada, map[string]any{"text": "tell them"})
	shown := func(n int) (m telegramtest.Message) {
		bot.Wait(t, "a message", func() bool { return len(bot.Sent(telegramtest.Ada)) >= n })
		return bot.Sent(telegramtest.Ada)[n-1]
	}
	letter := shown(1)
	if len(letter.Buttons) != 2 {
		t.Fatalf("the letter is %+v", letter)
	}
	secret := letter.Buttons[0][0].Data
	query := bot.Press(telegramtest.Ada, letter.ID, secret)
	if said := shown(2); said.Text != "Told." {
		t.Errorf("then it says %q", said.Text)
	}
	bot.Wait(t, "the last words of the letter", func() bool { return bot.Sent(telegramtest.Ada)[0].Edits == 1 && bot.Answered(query) })
	if now := bot.Sent(telegramtest.Ada)[0]; len(now.Buttons) > 0 || !strings.HasPrefix(now.Text, "Allowed once by you") {
		t.Errorf("the letter is %+v", now)
	}
	files := 0
	err := filepath.WalkDir(in.variables["HOME"], func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		files++
		if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, []byte(secret)) {
			t.Errorf("%s has the secret of a button", path)
		}
		return nil
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v", files, err)
	}
}
