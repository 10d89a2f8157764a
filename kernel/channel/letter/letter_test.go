package letter_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/access"
	"org-agent/kernel/protocol"
)

// TestLetter shows a letter whole, and decides by each of its buttons.
func TestLetter(t *testing.T) {
	for label, decision := range map[string]protocol.Decision{"Allow once": protocol.AllowOnce, "Deny": protocol.Deny} {
		synctest.Test(t, func(t *testing.T) {
			w := begin(t)
			defer w.run()()
			w.waits(install())
			l := w.letter()
			if want := `May the agent do this in the conversation memory-room?

Run make install
- it writes to ~/bin
- you are asked because no rule allows it

This is all of it (text):
│ make install

Only the buttons decide.`; l.Text.Plain != want || len(l.Buttons) != 2 {
				t.Errorf("the letter is\n%s\n%+v", l.Text.Plain, l.Buttons)
			}
			for _, kept := range w.kept {
				for _, row := range l.Buttons {
					if strings.Contains(strings.ToUpper(kept), row[0].Data) {
						t.Errorf("a secret is kept in %s", kept)
					}
				}
			}
			w.press(data(t, l, label))
			if len(w.decided) != 1 || w.decided[0].Decision != decision || w.decided[0].ID != "a" || len(w.told) > 0 {
				t.Errorf("decided: %+v, told: %v", w.decided, w.told)
			}
			if l := w.letter(); len(l.Buttons) > 0 || !strings.HasSuffix(l.Text.Plain, ": Run make install") || !strings.Contains(l.Text.Plain, "by you") {
				t.Errorf("then it is\n%s\n%+v", l.Text.Plain, l.Buttons)
			}
			w.press(data(t, l, label)) // once more
			if len(w.decided) != 1 || len(w.told) > 0 {
				t.Errorf("pressed again, decided: %+v, told: %v", w.decided, w.told)
			}
		})
	}
}

// TestQuestion answers by a choice.
func TestQuestion(t *testing.T) {
	long := strings.Repeat("long ", 10)
	yes := protocol.Ask{ID: "y", Sort: protocol.AskQuestion, Turn: "t", Session: "s", Form: &protocol.QuestionForm{Title: "Now?", Fields: []protocol.FormField{{Name: "now", Kind: protocol.FieldYesNo, Question: "Now?"}}}}
	for _, c := range []struct {
		ask      protocol.Ask
		press    string
		decision protocol.Decision
		value    string
	}{
		{which("red", long), "red", protocol.Answered, "red"},
		{which("red", long), "2", protocol.Answered, long},
		{which("red", long), "I will not answer", protocol.Declined, ""},
		{yes, "Yes", protocol.Answered, "yes"},
		{yes, "No", protocol.Answered, "no"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := begin(t)
			defer w.run()()
			w.waits(c.ask)
			w.press(data(t, w.letter(), c.press))
			if len(w.decided) != 1 || w.decided[0].Decision != c.decision {
				t.Fatalf("%s: decided: %+v, told: %v", c.press, w.decided, w.told)
			}
			if c.value != "" && (len(w.decided[0].Answers) != 1 || w.decided[0].Answers[0].Values[0] != c.value) {
				t.Errorf("%s: answered %+v", c.press, w.decided[0].Answers)
			}
			if l := w.letter(); len(l.Buttons) > 0 || l.Edits != 1 {
				t.Errorf("%s: then it is\n%s", c.press, l.Text.Plain)
			}
		})
	}
}

// TestLookInEmacs has each letter that is not whole, or in which something is hidden.
func TestLookInEmacs(t *testing.T) {
	with := func(change func(a *protocol.Ask)) protocol.Ask {
		a := install()
		change(&a)
		return a
	}
	form := func(fields ...protocol.FormField) protocol.Ask {
		a := which("red")
		a.Form.Fields = fields
		return a
	}
	for name, a := range map[string]protocol.Ask{
		"long":                with(func(a *protocol.Ask) { a.Text = strings.Repeat("x", 1500) }),
		"many lines":          with(func(a *protocol.Ask) { a.Text = strings.Repeat("x\n", 21) }),
		"cut":                 with(func(a *protocol.Ask) { a.Cut = 1 }),
		"no text":             with(func(a *protocol.Ask) { a.Text = "" }),
		"no hash":             with(func(a *protocol.Ask) { a.Hash = "" }),
		"marked":              with(func(a *protocol.Ask) { a.Text = "make ⟨U+202E⟩llatsni" }),
		"folded blanks":       with(func(a *protocol.Ask) { a.Text = "make⟨6000 blanks⟩install" }),
		"bidi":                with(func(a *protocol.Ask) { a.Text = "make \u202ellatsni" }),
		"zero width":          with(func(a *protocol.Ask) { a.Effects = []string{"it\u200b writes"} }),
		"control":             with(func(a *protocol.Ask) { a.Summary = "Run\x1b[2K" }),
		"carriage return":     with(func(a *protocol.Ask) { a.Text = "rm -rf ~\rls" }),
		"tag":                 with(func(a *protocol.Ask) { a.Reason = "so\U000E0041" }),
		"right to left":       with(func(a *protocol.Ask) { a.Text = "rm א/ב" }),
		"many blanks":         with(func(a *protocol.Ask) { a.Text = "ls" + strings.Repeat(" ", 61) + "; rm" }),
		"a text":              form(protocol.FormField{Name: "x", Kind: protocol.FieldText, Question: "?"}),
		"a secret":            form(protocol.FormField{Name: "x", Kind: protocol.FieldSecret, Question: "?"}),
		"several choices":     form(protocol.FormField{Name: "x", Kind: protocol.FieldChoices, Options: []string{"a"}}),
		"two fields":          form(protocol.FormField{Name: "x", Kind: protocol.FieldYesNo}, protocol.FormField{Name: "y", Kind: protocol.FieldYesNo}),
		"no field":            form(),
		"many options":        which(strings.Split("123456789", "")...),
		"an obscure option":   which("red", "re\u200bd"),
		"a question too long": which(strings.Repeat("x", 1500)),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := begin(t)
				defer w.run()()
				w.waits(a)
				if l := w.letter(); len(l.Buttons) > 0 || !strings.Contains(l.Text.Plain, "look in Emacs, with M-x org-agent-approvals") || len(l.Text.Plain) > 300 {
					t.Errorf("the letter is\n%s\n%+v", l.Text.Plain, l.Buttons)
				}
				w.change(func() { w.close(0, protocol.AskOutcome{Decision: protocol.Deny, Client: "emacs"}) })
				if l := w.letter(); l.Edits != 1 || a.Sort == protocol.AskApproval && !strings.HasPrefix(l.Text.Plain, "Denied in Emacs") {
					t.Errorf("then it is\n%s", l.Text.Plain)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // the limits themselves
		w := begin(t)
		defer w.run()()
		w.waits(with(func(a *protocol.Ask) { a.Text = strings.Repeat("x\n", 20) }))
		if l := w.letter(); len(l.Buttons) != 2 {
			t.Errorf("the letter is\n%s", l.Text.Plain)
		}
	})
}

// TestRefusals has each press that decides nothing.
func TestRefusals(t *testing.T) {
	sender := func(id string) func(*channel.Message) { return func(m *channel.Message) { m.Sender.ID = id } }
	for name, c := range map[string]struct {
		change func(w *world)
		press  func(m *channel.Message)
		told   string // in the private chat; "" for nothing
	}{
		"a friend":          {press: sender("bob")},
		"another owner":     {press: sender("second owner"), told: "not valid"},
		"no owner any more": {change: func(w *world) { w.former = true }},
		"in a group":        {press: func(m *channel.Message) { m.Chat.Group = true }},
		"in another chat":   {press: func(m *channel.Message) { m.Chat.ID = "elsewhere" }, told: "not valid"},
		"the agent itself":  {press: func(m *channel.Message) { m.Myself = true }, told: "not valid"},
		"the secret said":   {press: func(m *channel.Message) { m.Kind = channel.Said }, told: "not valid"},
		"words":             {press: func(m *channel.Message) { m.Text = "yes" }, told: "not valid"},
		"the label":         {press: func(m *channel.Message) { m.Text = "Allow once" }, told: "not valid"},
		"nothing":           {press: func(m *channel.Message) { m.Text = "" }, told: "not valid"},
		"in lower case":     {press: func(m *channel.Message) { m.Text = strings.ToLower(m.Text) }, told: "not valid"},
		"a guess":           {press: func(m *channel.Message) { m.Text = strings.Repeat("A", 26) }, told: "not valid"},
		"after it ended":    {change: func(w *world) { w.close(0, protocol.AskOutcome{}) }, told: "does not wait"},
		"decided elsewhere": {change: func(w *world) { w.close(0, protocol.AskOutcome{Decision: protocol.AllowTurn, Client: "emacs"}) }, told: "does not wait"},
		"decided otherwise": {change: func(w *world) { w.close(0, protocol.AskOutcome{Decision: protocol.Deny, Client: "memory"}) }, told: "does not wait"},
		"another hash":      {change: func(w *world) { w.asks[0].Hash = "g" }, told: "not what was shown"},
		"another action":    {change: func(w *world) { w.asks[0].Action = "(:type :other)" }, told: "not what was shown"},
		"another text":      {change: func(w *world) { w.asks[0].Text = "rm" }, told: "not what was shown"},
		"no row":            {change: func(w *world) { w.rows = nil }, told: "channels.org does not allow"},
		"a row of another":  {change: func(w *world) { w.rows[0].Owner = "second owner" }, told: "channels.org does not allow"},
		"only questions":    {change: func(w *world) { w.rows[0].What = access.Questions }, told: "channels.org does not allow"},
		"the ask is gone":   {change: func(w *world) { w.asks = nil }, told: "does not wait"},
		"stale":             {change: func(w *world) { w.failing = protocol.Errorf(protocol.CodeStale, "the file changed") }, told: "the file changed"},
		"raced":             {change: func(w *world) { w.failing = protocol.Errorf(protocol.CodeConflict, "decided") }, told: "does not wait"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := begin(t)
				stop := w.run()
				defer stop()
				w.waits(install())
				button := data(t, w.letter(), "Allow once")
				if c.change != nil {
					w.change(func() { c.change(w) })
				}
				press := func(m *channel.Message) {
					if c.press != nil {
						c.press(m)
					}
				}
				w.press(button, press)
				if len(w.decided) > 0 {
					t.Errorf("decided: %+v", w.decided)
				}
				if told := strings.Join(w.told, "\n"); (c.told == "") != (told == "") || !strings.Contains(told, c.told) {
					t.Errorf("told: %q", told)
				}
			})
		})
	}
}

// TestGuesses: the tenth wrong button of a sender has theirs refused for an hour, and the owner is told once.
func TestGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t)
		defer w.run()()
		w.waits(install())
		button := data(t, w.letter(), "Allow once")
		for range 12 {
			w.press("bad", func(m *channel.Message) { m.Sender.ID = "bob" })
		}
		if len(w.inbox) != 1 || w.inbox[0].Kind != protocol.InboxAlert || len(w.told) > 0 {
			t.Errorf("the inbox has %+v; told: %v", w.inbox, w.told)
		}
		for range 9 {
			w.press("bad")
		}
		time.Sleep(61 * time.Minute) // these are forgotten
		for range 9 {
			w.press("bad")
		}
		if len(w.inbox) != 1 {
			t.Errorf("the inbox has %+v", w.inbox)
		}
		w.press("bad")
		told := len(w.told)
		w.press(button)
		time.Sleep(59 * time.Minute)
		w.press(button)
		if len(w.inbox) != 2 || len(w.decided) > 0 || len(w.told) != told {
			t.Errorf("the inbox has %+v; decided: %+v; told: %v", w.inbox, w.decided, w.told[told:])
		}
		time.Sleep(2 * time.Minute)
		w.press(button)
		if len(w.decided) != 1 {
			t.Errorf("after an hour decided: %+v, told: %v", w.decided, w.told)
		}
	})
}

// TestRace: of many presses at once, of both buttons, one decides.
func TestRace(t *testing.T) {
	for range 5 {
		synctest.Test(t, func(t *testing.T) {
			w := begin(t)
			defer w.run()()
			w.waits(install())
			l := w.letter()
			buttons := []string{data(t, l, "Allow once"), data(t, l, "Deny")}
			var pressing sync.WaitGroup
			for i := range 50 {
				pressing.Go(func() { w.deliver(buttons[i%2]) })
			}
			pressing.Wait()
			if len(w.decided) != 1 {
				t.Errorf("decided: %+v", w.decided)
			}
		})
	}
}

// TestPlaces has where letters go, and where a chat is told only that its turn waits.
func TestPlaces(t *testing.T) {
	emacs := protocol.Route{Kind: protocol.RouteEmacs, Channel: "emacs"}
	subagent := protocol.Route{Kind: protocol.RouteSubagent, Channel: "memory", Chat: "room"}
	group := protocol.Route{Kind: protocol.RouteChannel, Channel: "memory", Chat: "group"}
	for name, c := range map[string]struct {
		change func(w *world)
		route  protocol.Route
		letter bool
		told   string
	}{
		"said there":               {nil, home, true, ""},
		"of a subagent":            {nil, subagent, true, ""},
		"in Emacs":                 {nil, emacs, false, ""},
		"in Emacs, anywhere":       {func(w *world) { w.rows[0].From = access.FromAnywhere }, emacs, true, ""},
		"no owner any more":        {change: func(w *world) { w.former = true }},
		"in a group":               {nil, group, false, "group: This waits"},
		"in a group, anywhere":     {func(w *world) { w.rows[0].From = access.FromAnywhere }, group, true, "group: This waits"},
		"without a row":            {func(w *world) { w.rows = nil }, home, false, "room: This waits"},
		"a row for questions":      {func(w *world) { w.rows[0].What = access.Questions }, home, false, "room: This waits"},
		"a chat of several people": {func(w *world) { w.chats[0].Shared = true }, home, false, "room: This waits"},
		"a chat that is not known": {func(w *world) { w.chats = nil }, home, false, "room: This waits"},
		"a chat without buttons":   {func(w *world) { w.chat.Can = channel.Capabilities{TextLimit: 4000} }, home, false, "room: This waits"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := begin(t)
				w.routes["t"] = c.route
				if c.change != nil {
					c.change(w)
				}
				defer w.run()()
				w.waits(install())
				time.Sleep(5 * time.Minute)
				if n := len(w.shown()); (n == 1) != c.letter || n > 1 {
					t.Errorf("%d letters", n)
				}
				if told := strings.Join(w.told, "\n"); !strings.HasPrefix(told, c.told) || (c.told == "") != (told == "") || strings.Contains(told, "\n") {
					t.Errorf("told: %q", told)
				}
			})
		})
	}
}

// TestRestart: a letter that was sent is pressed after a restart, and one that was not is sent then, with other secrets.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t)
		stop := w.run()
		w.waits(install())
		button := data(t, w.letter(), "Deny")
		w.chat.Stop()
		w.waits(which("red"))
		synctest.Wait()
		stop()
		w.open()
		w.chat.Start()
		defer w.run()()
		all := w.shown()
		if len(all) != 2 {
			t.Fatalf("the room has %d letters", len(all))
		}
		w.press(button)
		w.press(data(t, all[1], "red"))
		if len(w.decided) != 2 {
			t.Errorf("decided: %+v, told: %v", w.decided, w.told)
		}
	})
}

// TestTrouble: what does not reach a chat is tried again with growing pauses, until it does or the chat refuses it.
func TestTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t)
		defer w.run()()
		w.chat.Stop()
		w.waits(install())
		if n := len(w.shown()); n > 0 {
			t.Fatalf("%d letters", n)
		}
		time.Sleep(time.Hour)
		w.chat.Start()
		time.Sleep(5 * time.Minute)
		l := w.letter()
		w.chat.Stop()
		w.press(data(t, l, "Allow once"))
		if len(w.decided) != 1 || w.letter().Edits > 0 {
			t.Errorf("decided: %+v", w.decided)
		}
		w.chat.Start()
		time.Sleep(5 * time.Minute)
		if l := w.letter(); l.Edits != 1 || len(l.Buttons) > 0 {
			t.Errorf("then it is\n%s", l.Text.Plain)
		}
		w.chat.Block("room")
		w.waits(which("red"))
		time.Sleep(time.Hour)
		if l := w.letter(); l.Edits != 1 {
			t.Errorf("then it is\n%s", l.Text.Plain)
		}
	})
}

// TestUnknown: a letter of which nobody knows whether it arrived is sent again as the same one, with the same secrets.
func TestUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t)
		defer w.run()()
		w.chat.Fail(&channel.Failure{Class: channel.Unknown, Err: errors.New("the line was cut")})
		w.waits(install())
		time.Sleep(time.Minute)
		l := w.letter()
		w.press(data(t, l, "Deny"))
		if l := w.letter(); len(w.decided) != 1 || l.Edits != 1 {
			t.Errorf("decided: %+v; the letter is\n%s", w.decided, l.Text.Plain)
		}
	})
}

// TestRetryAfter: a chat that says when to come again is left alone until then.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t)
		defer w.run()()
		w.chat.Fail(&channel.Failure{Class: channel.Temporary, RetryAfter: 10 * time.Minute, Err: errors.New("too many requests")})
		w.waits(install())
		time.Sleep(9 * time.Minute)
		if n := len(w.shown()); n > 0 {
			t.Errorf("%d letters after 9 minutes", n)
		}
		time.Sleep(90 * time.Second)
		w.letter()
	})
}

// TestBounded: what is kept of letters that are decided does not grow.
func TestBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t)
		defer w.run()()
		for i := range 120 {
			a := install()
			a.ID += string(rune('A' + i))
			w.waits(a)
			synctest.Wait()
			w.change(func() { w.close(i, protocol.AskOutcome{Decision: protocol.Deny, Client: "emacs"}) })
			synctest.Wait()
		}
		for _, kept := range w.kept {
			if n := strings.Count(kept, `"settled"`); n > 51 || n < 50 {
				t.Errorf("%d letters are kept", n)
			}
		}
	})
}
