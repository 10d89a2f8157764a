package drivers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/channel/drivers"
	"org-agent/kernel/config"
)

// given returns the heading of a channel with all properties of a driver.
func given(d drivers.Driver, name string) config.Channel {
	values := map[string]string{"URL": "http://localhost:1", "HOMESERVER": "http://localhost:1", "ACCOUNT": "+4915112345678", "ADDRESS": "127.0.0.1:1", "LISTEN": "127.0.0.1:0"}
	c := config.Channel{Name: name, Driver: d.Name, Properties: map[string]string{}, Keys: map[string]config.KeySource{}, Line: 3}
	for _, p := range d.Properties {
		if p.Key {
			c.Keys[p.Name] = config.KeySource{Env: p.Name}
		} else if values[p.Name] != "" {
			c.Properties[p.Name] = values[p.Name]
		}
	}
	return c
}

func env(string) string { return "12345678:AAEcanaryCanaryCanaryCanaryCanaryCan" }

// TestDrivers checks of each driver that it opens with its properties and dials nothing, is called as its heading, says
// what is missing and what it does not know, tells how to begin, and shows no key.
func TestDrivers(t *testing.T) {
	all := drivers.All()
	for _, d := range all {
		surroundings := drivers.Surroundings{Env: env, Logger: slog.New(slog.DiscardHandler), Directory: t.TempDir()}
		for _, name := range []string{d.Name, "second"} {
			c := given(d, name)
			driver, err := all.Open(t.Context(), c, surroundings)
			if err != nil {
				t.Fatal(err)
			}
			if driver.Name() != name || driver.Capabilities().TextLimit <= 0 {
				t.Errorf("%s is called %s, %+v", name, driver.Name(), driver.Capabilities())
			}
			if shown := fmt.Sprintf("%+v %#v", driver, driver); strings.Contains(shown, "canary") {
				t.Errorf("%s shows its key", d.Name)
			}
		}
		if err := config.CheckChannelName(d.Name); err != nil || len(d.Begin) == 0 {
			t.Errorf("%s: %v, %v", d.Name, err, d.Begin)
		}
		for _, p := range d.Properties {
			if p.Doc == "" || p.Name != strings.ToUpper(p.Name) {
				t.Errorf("%s: %+v", d.Name, p)
			}
			c := given(d, d.Name)
			delete(c.Properties, p.Name)
			delete(c.Keys, p.Name)
			err := all.Check(c)
			if p.Required != (err != nil) || p.Required && !strings.Contains(err.Error(), "in line 3 of config.org: it needs the property "+p.Name) {
				t.Errorf("%s without %s: %v", d.Name, p.Name, err)
			}
		}
		c := given(d, d.Name)
		c.Properties["TOKN"] = "x"
		if err := all.Check(c); err == nil || !strings.Contains(err.Error(), "there is no property TOKN of "+d.Name) {
			t.Error(err)
		}
	}
	if err := all.Check(config.Channel{Name: "x", Driver: "telegarm", Line: 7}); err == nil || !strings.Contains(err.Error(), `line 7 of config.org: there is no driver "telegarm": did you mean telegram?`) {
		t.Error(err)
	}
	telegram, _ := all.Find("telegram")
	_, err := all.Open(t.Context(), given(telegram, "telegram"), drivers.Surroundings{Env: func(string) string { return "" }})
	if err == nil || !strings.Contains(err.Error(), "the channel telegram: TOKEN: the key must be in the variable TOKEN, which is not set") {
		t.Error(err)
	}
}

// TestTest checks that a driver without an account says so, and that each of the others has one to be tested.
func TestTest(t *testing.T) {
	all := drivers.All()
	for _, d := range all {
		driver, err := all.Open(t.Context(), given(d, d.Name), drivers.Surroundings{Env: env, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nobody is asked
		if _, err := drivers.Test(ctx, driver); errors.Is(err, errors.ErrUnsupported) != (d.Name == "webhook") || err == nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}

// TestChanges checks which channels end and begin when the settings change.
func TestChanges(t *testing.T) {
	telegram := config.Channel{Name: "telegram", Driver: "telegram", Keys: map[string]config.KeySource{"TOKEN": {Env: "A"}}, Line: 2}
	moved, other, second := telegram, telegram, telegram
	moved.Line = 9
	other.Keys = map[string]config.KeySource{"TOKEN": {Env: "B"}}
	second.Name = "second"
	names := func(all []config.Channel) (names []string) {
		for _, c := range all {
			names = append(names, c.Name+c.Keys["TOKEN"].Env)
		}
		return names
	}
	for _, c := range []struct {
		running, wanted []config.Channel
		end, begin      []string
	}{
		{nil, []config.Channel{telegram}, nil, []string{"telegramA"}},
		{[]config.Channel{telegram}, nil, []string{"telegramA"}, nil},
		{[]config.Channel{telegram}, []config.Channel{moved, second}, nil, []string{"secondA"}},
		{[]config.Channel{telegram, second}, []config.Channel{second, other}, []string{"telegramA"}, []string{"telegramB"}},
	} {
		end, begin := drivers.Changes(c.running, c.wanted)
		if !slices.Equal(names(end), c.end) || !slices.Equal(names(begin), c.begin) {
			t.Errorf("%v, %v", names(end), names(begin))
		}
	}
}

// TestStream checks that answers are shown while they are written by a channel of Telegram, unless its heading says otherwise.
func TestStream(t *testing.T) {
	d, _ := drivers.All().Find("telegram")
	for value, edits := range map[string]bool{"": true, "t": true, "nil": false} {
		c := given(d, "telegram")
		if value != "" {
			c.Properties["STREAM"] = value
		}
		driver, err := drivers.All().Open(t.Context(), c, drivers.Surroundings{Env: env, Logger: slog.New(slog.DiscardHandler)})
		if err != nil || driver.Capabilities().Edits != edits {
			t.Errorf("with STREAM %q: %v", value, err)
		}
	}
	c := given(d, "telegram")
	c.Properties["STREAM"] = "no"
	if err := drivers.All().Check(c); err == nil || !strings.Contains(err.Error(), `STREAM is t or nil, not "no"`) {
		t.Errorf("another value: %v", err)
	}
}
