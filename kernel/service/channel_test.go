package service_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/access"
	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
	"org-agent/kernel/settings"
)

// accounts tests channels of one kind.
type accounts struct{ err error }

func (accounts) Check(c config.Channel) error {
	if c.Driver != "pigeon" {
		return fmt.Errorf("there is no driver %q", c.Driver)
	}
	return nil
}

func (a accounts) Test(_ context.Context, c config.Channel) (channel.Person, error) {
	if c.Keys["TOKEN"].Env == "WRONG" {
		return channel.Person{}, errors.New("the token is not valid")
	}
	return channel.Person{ID: "7", Name: "Agent", Username: "agent_bot"}, a.err
}

// loft keeps what is kept of a channel.
type loft map[string]string

func (l loft) Load(_ context.Context, key string) (string, error) { return l[key], nil }

func (l loft) Store(_ context.Context, key, value string) error {
	l[key] = value
	return nil
}

// TestChannels checks that a channel is tested before it is written, that a code for it lets its sender in, and that
// people are listed, let in and kept out.
func TestChannels(t *testing.T) {
	home := t.TempDir()
	paths := config.Paths{Home: home, Config: filepath.Join(home, "config.org"), Channels: filepath.Join(home, "channels.org")}
	if err := os.WriteFile(paths.Config, []byte("* Settings\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	file, kept := &access.File{Path: paths.Channels}, loft{}
	pairings := &access.Pairings{File: file, State: func(string) channel.State { return kept }, Now: func() time.Time { return now }, Logger: discardLogger}
	changed, peopleChanged := 0, 0
	conn := serve(t, service.Channels{
		Path: paths.Config, Settings: settings.NewLive(paths, config.Settings{}), Kinds: []protocol.ChannelDriver{{Name: "pigeon"}}, Testing: accounts{}, People: file, Pairings: pairings,
		Fault: func(string) string { return "it flew away" }, Changed: func(context.Context) { changed++ }, PeopleChanged: func() { peopleChanged++ }, Now: func() time.Time { return now },
	}.Methods())("a shell")

	add := func(name, driver, token string) (result protocol.ChannelAddResult, err error) {
		params := protocol.ChannelAddParams{Name: name, Driver: driver, Properties: []protocol.ChannelProperty{{Name: "TOKEN", Value: token}}}
		return result, conn.Call(within(t), protocol.MethodChannelAdd, params, &result)
	}
	for name, c := range map[string]struct {
		token, want string
		code        protocol.Code
	}{
		"work":  {"12345:canary", "nothing was written: TOKEN: do not write a key into a file", protocol.CodeInvalidParams},
		"wrong": {"env:WRONG", "nothing was written: the account cannot be used: the token is not valid", protocol.CodeInvalidParams},
		"emacs": {"env:BOT", "which means something else", protocol.CodeInvalidParams},
	} {
		_, err := add(name, "pigeon", c.token)
		wantError(t, name, err, c.code, c.want)
		if strings.Contains(fmt.Sprint(err), "canary") {
			t.Error(err)
		}
	}
	_, err := add("birds", "", "env:BOT")
	wantError(t, "another driver", err, protocol.CodeInvalidParams, `there is no driver "birds"`)
	if text, _ := os.ReadFile(paths.Config); string(text) != "* Settings\n" || changed != 0 {
		t.Errorf("it was written\n%s", text)
	}
	added, err := add("Work", "pigeon", "env:BOT")
	if err != nil || added.Name != "work" || added.Line == 0 || added.Account.Username != "agent_bot" || changed != 1 {
		t.Fatalf("%+v, %v", added, err)
	}
	_, err = add("work", "pigeon", "env:BOT")
	wantError(t, "twice", err, protocol.CodeStorage, "there is a channel work in line")

	var list protocol.ChannelListResult
	if err := conn.Call(within(t), protocol.MethodChannelList, protocol.Empty{}, &list); err != nil || len(list.Channels) != 1 || list.Channels[0] != (protocol.ChannelStatus{Name: "work", Driver: "pigeon", Line: added.Line, Fault: "it flew away"}) || list.Drivers[0].Name != "pigeon" {
		t.Errorf("%+v, %v", list, err)
	}
	var tested protocol.ChannelTestResult
	if err := conn.Call(within(t), protocol.MethodChannelTest, protocol.ChannelParams{Name: "work"}, &tested); err != nil || tested.Account.ID != "7" {
		t.Errorf("%+v, %v", tested, err)
	}
	wantError(t, "no channel", conn.Call(within(t), protocol.MethodChannelTest, protocol.ChannelParams{Name: "x"}, &tested), protocol.CodeNotFound, `there is no channel "x" in config.org; "org-agent channel add x" adds it`)

	var pair protocol.ChannelPairResult
	if err := conn.Call(within(t), protocol.MethodChannelPair, protocol.ChannelPairParams{Name: "work", Role: "owner"}, &pair); err != nil || pair.Until != "2026-12-01T09:00:00Z" {
		t.Fatalf("%+v, %v", pair, err)
	}
	wantError(t, "a code to be blocked", conn.Call(within(t), protocol.MethodChannelPair, protocol.ChannelPairParams{Name: "work", Role: "blocked"}, &pair), protocol.CodeInvalidParams, "an owner or a friend")
	if r, err := pairings.Redeem(t.Context(), "work", channel.Message{Sender: channel.Person{ID: "1", Name: "Me"}, Text: pair.Code}); err != nil || r.Role != access.Owner {
		t.Fatalf("%+v, %v", r, err)
	}
	var people protocol.ChannelPeopleResult
	allow := func(on protocol.Channel, id string, role protocol.Keyword) error {
		people = protocol.ChannelPeopleResult{}
		return conn.Call(within(t), protocol.MethodChannelAllow, protocol.ChannelAllowParams{Channel: on, ID: id, Who: "Ann", Role: role}, &people)
	}
	if err := errors.Join(allow("work", "2", ""), allow("gone", "3", "blocked")); err != nil || len(people.People) != 3 || people.People[0].Who != "Me" || people.People[1].Role != "friend" || people.People[2].Role != "blocked" || people.Messages != 60 || peopleChanged != 2 {
		t.Errorf("%+v, %v", people, err)
	}
	wantError(t, "a channel that is gone", allow("gone", "4", "friend"), protocol.CodeNotFound, "there is no channel")
	wantError(t, "no role", allow("work", "4", "king"), protocol.CodeInvalidParams, "a role is owner, friend or blocked")
	if err := os.WriteFile(paths.Channels, []byte("* People\n| channel | id | who | role | since |\n| broken |\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantError(t, "a faulty file", allow("work", "4", "friend"), protocol.CodeStorage, "channels.org:3: the row has 1 cells")
	people = protocol.ChannelPeopleResult{}
	if err := conn.Call(within(t), protocol.MethodChannelPeople, protocol.Empty{}, &people); err != nil || len(people.People) != 0 || len(people.Faults) != 1 {
		t.Errorf("%+v, %v", people, err)
	}
}
