package access_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/access"
)

const people = "* People\n| channel | id | who | role | since |\n|--+--+--+--+--|\n"
const chats = "* Chats\n| channel | chat | answers | who | what |\n|--+--+--+--+--|\n"

// message returns a message from its parts: "id" or "id in chat", and words: mentions, replies, myself, edited.
func message(from string, words ...string) channel.Message {
	sender, chat, group := strings.Cut(from, " in ")
	m := channel.Message{ID: "1", Sender: channel.Person{ID: sender, Name: "Ann"}, Chat: channel.Chat{ID: chat, Group: group}, Text: "hello"}
	if !group {
		m.Chat.ID = sender
	}
	for _, word := range words {
		switch word {
		case "mentions":
			m.Mentions = true
		case "replies":
			m.Reply = &channel.Quote{ID: "0", ToMe: true}
		case "quotes":
			m.Reply = &channel.Quote{ID: "0"}
		case "myself":
			m.Myself = true
		case "edited":
			m.Kind = channel.Edited
		}
	}
	return m
}

// TestDecide has a case for each way in which a message is decided about.
func TestDecide(t *testing.T) {
	const rows = people + "| telegram | 1 | me | owner | |\n| telegram | 2 | Ann | friend | |\n| Telegram | 3 | Eve | blocked | |\n| matrix | =@Ann:example.org= | Ann | friend | |\n" +
		chats + "| telegram | -1 | always | people | |\n| telegram | -2 | reply | | |\n| telegram | -3 | never | | |\n| telegram | -4 | always | anyone | |\n| telegram | -5/7 | never | | |\n| telegram | -5 | always | | |\n| telegram | 2 | mention | | |\n" +
		"| signal | * | mention | anyone | |\n"
	for _, c := range []struct {
		on, from string
		words    string
		want     access.Verdict
		owner    bool
		why      string
	}{
		{"telegram", "1", "", access.Answer, true, "channels.org:4 says owner; private chats are answered"},
		{"telegram", "2", "", access.Store, false, "channels.org:5 says friend; channels.org:17 says mention: it neither"},
		{"telegram", "2", "mentions", access.Answer, false, "it mentions the agent"},
		{"telegram", "3", "", access.Ignore, false, "channels.org:6 says blocked"},
		{"telegram", "3 in -4", "mentions", access.Ignore, false, "says blocked"},
		{"telegram", "4", "", access.Stranger, false, "no row names the sender"},
		{"telegram", "4", "edited", access.Ignore, false, "no row names"},
		{"telegram", "4 in -9", "", access.Ignore, false, "not addressed"},
		{"telegram", "4 in -9", "mentions", access.Stranger, false, "no row names"},
		{"telegram", "4 in -1", "", access.Store, false, "but the group has one"},
		{"telegram", "4 in -1", "replies", access.Stranger, false, "no row names"},
		{"telegram", "4 in -3", "mentions", access.Store, false, "the group has one"},
		{"telegram", "4 in -4", "", access.Answer, false, "channels.org:14 says always"},
		{"telegram", "1 in -9", "", access.Store, true, "groups without a row"},
		{"telegram", "1 in -9", "mentions", access.Answer, true, "it mentions the agent"},
		{"telegram", "1 in -9", "quotes", access.Store, true, "neither mentions"},
		{"telegram", "1 in -9", "replies", access.Answer, true, "it replies to the agent"},
		{"telegram", "1 in -1", "", access.Answer, true, "channels.org:11 says always"},
		{"telegram", "1 in -1", "edited", access.Store, true, "it is no new message"},
		{"telegram", "1 in -2", "mentions", access.Store, true, "it does not reply"},
		{"telegram", "1 in -2", "replies", access.Answer, true, "it replies"},
		{"telegram", "1 in -3", "mentions replies", access.Store, true, "nothing is answered there"},
		{"telegram", "1 in -5/3", "", access.Answer, true, "channels.org:16 says always"},
		{"telegram", "1 in -5/7", "", access.Store, true, "channels.org:15 says never"},
		{"telegram", "1", "myself", access.Store, false, "own account"},
		{"telegram", "", "", access.Ignore, false, "no sender"},
		{"matrix", "@Ann:example.org", "", access.Answer, false, "channels.org:7 says friend"},
		{"matrix", "@ann:example.org", "", access.Stranger, false, "no row names"},
		{"matrix", "1", "", access.Stranger, false, "no row names"},
		{"signal", "9 in g", "mentions", access.Answer, false, "channels.org:18 says mention"},
		{"signal", "9 in g", "", access.Store, false, "neither mentions"},
		{"signal", "9", "", access.Stranger, false, "no row names"},
	} {
		rules := access.Parse(rows, "/home/me/.org-agent/channels.org")
		if faults := rules.Faults(); len(faults) > 0 {
			t.Fatal(faults)
		}
		d := rules.Decide(c.on, message(c.from, strings.Fields(c.words)...))
		if d.Verdict != c.want || d.Owner != c.owner || !strings.Contains(d.Why, c.why) {
			t.Errorf("%s, %s %s: %+v", c.on, c.from, c.words, d)
		}
	}
}

// TestFaults checks that what cannot be read is reported with its line, lets nobody in, and keeps out whom it names.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		text, want string
		line       int
		from       string
		verdict    access.Verdict
	}{
		{people + "| telegram | 1 | me | ownr | |\n", `the role is owner, friend or blocked, not "ownr": did you mean owner?`, 4, "1", access.Ignore},
		{people + "| telegram | 1 | me | friend |\n", "the row has 4 cells", 4, "1", access.Ignore},
		{people + "| telegram | * | me | friend | |\n", "a row is for one account", 4, "1", access.Stranger},
		{people + "| | 1 | me | friend | |\n", "the channel is missing", 4, "1", access.Ignore},
		{people + "| telegram | 1 | me | owner | |\n| telegram | 1 | me | blocked | |\n", "1 on telegram is owner in line 4", 5, "1", access.Ignore},
		{people + "| telegram | 1 | me | blocked | |\n| telegram | 1 | me | owner | |\n", "is blocked in line 4", 5, "1", access.Ignore},
		{"* People\n| channel | who | id | role | since |\n| telegram | 1 | 1 | owner | |\n", "the table of people begins with | channel | id | who | role | since |", 2, "1", access.Ignore},
		{people + "* More\n| telegram | 1 | me | owner | |\n", "a row counts only in the tables", 5, "1", access.Stranger},
		{people + "| telegram | 1 | me | owner | |\n* COMMENT Off\n| telegram | 1 | me | blocked | |\n", "a row counts only in the tables", 6, "1", access.Ignore},
		{people + "| telegram | 1 | me | owner | |\n* People\n| telegram | 1 | me | blocked | |\n", "a second heading for people", 5, "1", access.Ignore},
		{people + "| telegram | 1 | me | owner | |\n" + chats + "| telegram | -1 | allways | | |\n", "always, mention, reply or never, not \"allways\": did you mean always?", 8, "1 in -1", access.Store},
		{people + "| telegram | 1 | me | owner | |\n" + chats + "| telegram | -1 | always | everybody | |\n", "people (those of the table above) or anyone", 8, "1 in -1", access.Store},
		{people + chats + "| telegram | -1 | always | everybody | |\n", "or anyone, not \"everybody\"", 7, "2 in -1", access.Store},
		{people + chats + "| telegram | * | alway | anyone | |\n", "is answered is always", 7, "2 in -1", access.Ignore},
		{people + "| telegram | 1 | me | owner | |\n" + chats + "| telegram | -1 | always | | |\n| telegram | -1 | never | | |\n", "the chat -1 on telegram is in line 8 as well", 9, "1 in -1", access.Store},
		{people + chats + "| telegram | -1 | always | anyone | |\n| telegram | -1 | always | people | |\n", "in line 7 as well", 8, "2 in -1", access.Stranger},
		{people + "* Limits\n:PROPERTIES:\n:MESSAGES: 3\n:END:\n", "there is no limit MESSAGES here", 6, "1", access.Stranger},
	} {
		rules := access.Parse(c.text, "channels.org")
		found := false
		for _, f := range rules.Faults() {
			found = found || f.Line == c.line && strings.Contains(f.Message, c.want)
		}
		if !found {
			t.Errorf("%s\n%v, wanted line %d: %s", c.text, rules.Faults(), c.line, c.want)
		}
		if d := rules.Decide("telegram", message(c.from, "mentions")); d.Verdict != c.verdict {
			t.Errorf("%s\n%s: %+v, wanted %s", c.text, c.from, d, c.verdict)
		}
	}
}

// TestBeginning checks that the file of a new home can be read, and lets nobody in.
func TestBeginning(t *testing.T) {
	text, err := os.ReadFile("../../config/channels.org")
	if err != nil {
		t.Fatal(err)
	}
	rules := access.Parse(string(text), "channels.org")
	if len(rules.Faults()) > 0 || len(rules.People())+len(rules.Chats()) > 0 || rules.Limits().Messages != 60 || rules.Limits().Cost != 0 {
		t.Errorf("%v, %v, %+v", rules.Faults(), rules.People(), rules.Limits())
	}
}

// TestDamagedRow: whatever a person makes of a row that keeps somebody out by mistake, as long as the id stands in a cell
// of its own, and of one that lets somebody in, does not let them in further than the whole row did.
func TestDamagedRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		role := rapid.SampledFrom([]string{"owner", "friend", "blocked"}).Draw(t, "role")
		cells := []string{"telegram", "1", "me", role, ""}
		at := rapid.SampledFrom([]int{0, 2, 3, 4}).Draw(t, "cell")
		switch rapid.IntRange(0, 2).Draw(t, "damage") {
		case 0:
			cells[at] = rapid.StringMatching(`[a-z *=~]{0,8}`).Draw(t, "text")
		case 1:
			cells = append(cells[:at], cells[at+1:]...)
		case 2:
			cells = append(cells, "x")
		}
		rules := access.Parse(people+"| "+strings.Join(cells, " | ")+" |\n", "channels.org")
		d := rules.Decide("telegram", message("1"))
		if role == "blocked" && d.Verdict == access.Answer && cells[3] != "owner" && cells[3] != "friend" || role == "friend" && d.Owner && cells[3] != "owner" {
			t.Fatalf("%q: %+v", cells, d)
		}
		if len(rules.Faults()) > 0 && d.Verdict != access.Ignore {
			t.Fatalf("%q: %v, and %+v", cells, rules.Faults(), d)
		}
	})
}

// used answers what was used.
type used struct {
	messages int
	cost     float64
	err      error
	asked    int
}

func (u *used) Used(context.Context, string, string) (int, float64, error) {
	u.asked++
	return u.messages, u.cost, u.err
}

// TestLimits checks that a friend is limited and the owner is not, and that what is not known is not answered.
func TestLimits(t *testing.T) {
	const rows = people + "| telegram | 1 | me | owner | |\n| telegram | 2 | Ann | friend | |\n"
	const limits = rows + "* Limits\n:PROPERTIES:\n:MESSAGES_AN_HOUR: %s\n:COST_A_DAY: %s\n:END:\n"
	for _, c := range []struct {
		text  string
		used  used
		want  access.Verdict
		why   string
		owner access.Verdict
	}{
		{rows, used{messages: 59, cost: 1000}, access.Answer, "", access.Answer},
		{rows, used{messages: 60}, access.Limited, "60 messages of the sender were answered within an hour, and 60 may be by default", access.Answer},
		{fmt.Sprintf(limits, "2", "0.5"), used{messages: 1, cost: 0.49}, access.Answer, "", access.Answer},
		{fmt.Sprintf(limits, "2", "0.5"), used{messages: 2}, access.Limited, "2 may be by channels.org:6", access.Answer},
		{fmt.Sprintf(limits, "2", "0.5"), used{cost: 0.5}, access.Limited, "cost $0.50 today, and $0.50 may be used by channels.org:6", access.Answer},
		{fmt.Sprintf(limits, "0", "off"), used{}, access.Limited, "0 may be", access.Answer},
		{fmt.Sprintf(limits, "2", "off"), used{cost: 1e6}, access.Answer, "", access.Answer},
		{fmt.Sprintf(limits, "two", "off"), used{}, access.Limited, "cannot be read", access.Answer},
		{fmt.Sprintf(limits, "2", "-1"), used{}, access.Limited, "cannot be read", access.Answer},
		{fmt.Sprintf(limits, "2", "NaN"), used{}, access.Limited, "cannot be read", access.Answer},
		{rows, used{err: errors.New("the disk is full")}, access.Limited, "the disk is full", access.Answer},
	} {
		path := filepath.Join(t.TempDir(), "channels.org")
		write(t, path, c.text)
		guard := access.Guard{File: &access.File{Path: path}, Usage: &c.used}
		if d := guard.Decide(t.Context(), "telegram", message("2")); d.Verdict != c.want || !strings.Contains(d.Why, c.why) {
			t.Errorf("%s: %+v", c.text, d)
		}
		asked := c.used.asked
		if d := guard.Decide(t.Context(), "telegram", message("1")); d.Verdict != c.owner || !d.Owner || c.used.asked != asked {
			t.Errorf("%s: the owner: %+v", c.text, d)
		}
		if d := guard.Decide(t.Context(), "telegram", message("3")); d.Verdict != access.Stranger || c.used.asked != asked {
			t.Errorf("%s: a stranger: %+v", c.text, d)
		}
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var today = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

// TestFile checks that a change of the file counts at once, that rows are added without touching anything else, and that
// nothing is written where it could go wrong.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "channels.org")
	file := &access.File{Path: path}
	verdict := func(from string) access.Verdict { return file.Rules().Decide("telegram", message(from)).Verdict }
	if verdict("1") != access.Stranger {
		t.Error("without a file somebody may talk")
	}
	if err := file.Set("telegram", "1", "Me\u202e | x\n", access.Owner, today); err != nil || verdict("1") != access.Answer {
		t.Fatal(err, verdict("1"))
	}
	if err := file.Set("Telegram", "2", "Ann", access.Friend, today); err != nil || verdict("2") != access.Answer {
		t.Fatal(err, verdict("2"))
	}
	if err := file.Set("telegram", "1", "", access.Blocked, today); err != nil || verdict("1") != access.Ignore {
		t.Fatal(err, verdict("1"))
	}
	text, _ := os.ReadFile(path)
	for _, row := range []string{"#+TITLE: Who may talk to the agent\n", `| telegram | 1  | Me x | blocked | [2026-12-01 Tue] |`, "| telegram | 2"} {
		if !strings.Contains(string(text), row) {
			t.Errorf("no %s in\n%s", row, text)
		}
	}
	for _, id := range []string{"=a=", "~b~", "a|b", "|", `@x_y:é.example`, "a b"} {
		if err := file.Set("matrix", id, "x", access.Friend, today); err != nil {
			t.Error(err)
		}
		if d := file.Rules().Decide("matrix", message(id)); d.Verdict != access.Answer {
			t.Errorf("%s: %+v", id, d)
		}
	}
	for _, id := range []string{"", "*", "a\nb", `a\vert`, "@[[shell:ls]]:evil.example", "@call_x():evil.example"} {
		if err := file.Set("matrix", id, "x", access.Friend, today); err == nil {
			t.Errorf("%q was added", id)
		}
	}
	before, _ := os.ReadFile(path)
	refused := func(want string) {
		t.Helper()
		err := file.Set("telegram", "5", "x", access.Owner, today)
		if err == nil || !strings.Contains(err.Error(), want) || verdict("5") == access.Answer {
			t.Errorf("%v, wanted %s", err, want)
		}
		write(t, path, string(before))
	}
	lock := filepath.Join(filepath.Dir(path), ".#channels.org")
	if err := os.Symlink("me@here.1:1", lock); err != nil {
		t.Fatal(err)
	}
	refused("channels.org has unsaved changes in an editor")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	write(t, path, string(before)+"| broken |\n")
	refused("the row has 1 cells")
	write(t, path, "\xff")
	refused("not UTF-8")
	write(t, path, "\xff")
	if d := file.Rules().Decide("telegram", message("2")); d.Verdict != access.Ignore || !strings.Contains(d.Why, "cannot be read") || len(file.Rules().Faults()) != 1 {
		t.Errorf("%+v, %v", d, file.Rules().Faults())
	}
}

// TestFileAtOnce checks that rows that are added at the same time are all there.
func TestFileAtOnce(t *testing.T) {
	file := &access.File{Path: filepath.Join(t.TempDir(), "channels.org")}
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if err := file.Set("telegram", fmt.Sprint(i), "x", access.Friend, today); err != nil {
				t.Error(err)
			}
			file.Rules().Decide("telegram", message("1"))
		})
	}
	group.Wait()
	if n := len(file.Rules().People()); n != 20 {
		t.Errorf("%d rows", n)
	}
}

// FuzzParse checks that no text lets in somebody whom no line names.
func FuzzParse(f *testing.F) {
	f.Add(people + "| telegram | 1 | me | owner | |\n" + chats + "| telegram | * | always | anyone | |\n* Limits\n:PROPERTIES:\n:COST_A_DAY: 1\n:END:\n")
	f.Fuzz(func(t *testing.T, text string) {
		rules := access.Parse(text, "channels.org")
		if d := rules.Decide("telegram", message("nobody-here")); d.Verdict == access.Answer && !strings.Contains(text, "nobody-here") {
			t.Errorf("%+v", d)
		}
	})
}
