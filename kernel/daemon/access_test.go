package daemon_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"org-agent/kernel/channel/channeltest/telegramtest"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestAddedAndPaired: a channel that is added while the kernel runs takes messages at once. A stranger gets nothing,
// and a code makes them the owner, who is answered, and blocked again is not. The token is nowhere.
func TestAddedAndPaired(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Match: "when .* it", Reply: "At noon.", Times: -1})
	in.variables["BOT"] = telegramtest.Token
	telegram := telegramtest.New()
	address := telegram.Start(t).URL
	in.start(t)
	main := in.editor(t, rpctest.Config{})
	call := func(method string, params, result any) {
		t.Helper()
		if err := main.Call(within(t), method, params, result); err != nil {
			t.Fatal(err)
		}
	}
	var added protocol.ChannelAddResult
	call(protocol.MethodChannelAdd, protocol.ChannelAddParams{Name: "phone", Driver: "telegram", Properties: []protocol.ChannelProperty{
		{Name: "TOKEN", Value: "env:BOT"}, {Name: "URL", Value: address},
	}}, &added)
	if added.Name != "phone" || added.Account.ID == "" {
		t.Fatalf("%+v", added)
	}
	until(t, "that the channel runs", func() bool {
		var list protocol.ChannelListResult
		call(protocol.MethodChannelList, protocol.Empty{}, &list)
		return len(list.Channels) == 1 && list.Channels[0].Fault == ""
	})
	say := func(text string) { telegram.Say(telegramtest.Ada, map[string]any{"text": text}) }
	say("when is it?")
	until(t, "that a stranger wrote", func() bool { return len(inboxOf(t, main)) == 1 })
	if sent := telegram.Sent(telegramtest.Ada); len(sent) > 0 || len(model.Requests()) > 0 {
		t.Errorf("a stranger got %+v, and the model %d requests", sent, len(model.Requests()))
	}

	var pair protocol.ChannelPairResult
	call(protocol.MethodChannelPair, protocol.ChannelPairParams{Name: "phone", Role: "owner"}, &pair)
	say(strings.ToLower(pair.Code))
	var people protocol.ChannelPeopleResult
	until(t, "the row of the owner", func() bool {
		people = protocol.ChannelPeopleResult{}
		call(protocol.MethodChannelPeople, protocol.Empty{}, &people)
		return len(people.People) == 1
	})
	ada := people.People[0]
	if ada.Channel != "phone" || ada.ID != fmt.Sprint(telegramtest.Ada) || ada.Role != "owner" || ada.Who != "Ada" {
		t.Errorf("%+v", ada)
	}
	answered := func() (n int) {
		for _, m := range telegram.Sent(telegramtest.Ada) {
			if m.Text == "At noon." {
				n++
			}
		}
		return n
	}
	say("when is it?")
	until(t, "the answer", func() bool { return answered() == 1 })

	call(protocol.MethodChannelAllow, protocol.ChannelAllowParams{Channel: "phone", ID: ada.ID, Role: "blocked"}, &people)
	say("when was it?")
	until(t, "the end of what waits", func() bool { return telegram.Unconfirmed() == 0 })
	call(protocol.MethodChannelAllow, protocol.ChannelAllowParams{Channel: "phone", ID: ada.ID, Role: "friend"}, &people)
	say("when will it be?")
	until(t, "the answer to a friend", func() bool { return answered() == 2 })
	if asked := fmt.Sprint(model.Requests()); !strings.Contains(asked, "when will it") || strings.Contains(asked, "when was it") {
		t.Errorf("the model was asked for somebody who is blocked: %s", asked)
	}
	log, err := os.ReadFile(in.paths.Log)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := os.ReadFile(in.paths.Config)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"the log": string(log), "config.org": string(settings), "the model": fmt.Sprint(model.Requests())} {
		if strings.Contains(text, telegramtest.Token) || strings.Contains(text, pair.Code) {
			t.Errorf("the token or the code is in %s", what)
		}
	}
}
