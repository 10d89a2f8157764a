package reaction_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/reaction"
)

// fixture has turns, and skills whose triggers are true for everything.
type fixture struct {
	turns     map[string]journal.Turn
	skills    []string
	counts    map[string]int
	since     time.Time
	perHour   int
	submitted []string
}

func (f *fixture) Matching(context.Context, protocol.Event) []string { return f.skills }

func (f *fixture) Turn(_ context.Context, id string) (journal.Turn, error) {
	if t, ok := f.turns[id]; ok {
		return t, nil
	}
	return journal.Turn{}, protocol.Errorf(protocol.CodeNotFound, "there is no turn %q", id)
}

func (f *fixture) CountSince(_ context.Context, session string, since time.Time) (int, error) {
	f.since = since
	return f.counts[session], nil
}

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func (f *fixture) reactions() *reaction.Reactions {
	return reaction.New(reaction.Config{Matcher: f, Turns: f, PerHour: func() int { return f.perHour }, Now: func() time.Time { return noon }, Logger: slog.New(slog.DiscardHandler)})
}

// submit counts a reaction, as the journal does.
func (f *fixture) submit(_ context.Context, event protocol.Event, skill string) (protocol.EventResult, error) {
	f.submitted = append(f.submitted, fmt.Sprintf("%s %s %s %v %s", skill, event.ID, event.Session, event.Payload.Get("chain"), event.Route.Kind))
	f.counts[event.Session]++
	return protocol.EventResult{Event: event.ID, Turn: "t-" + skill}, nil
}

// turn is one of a skill, at the end of a chain.
func turn(skill string, chain int64) journal.Turn {
	t := journal.Turn{Skill: skill}
	t.Question.Payload = protocol.Object{{Key: "chain", Value: chain}}
	return t
}

// saved is the event of a file in which these turns changed a heading each, "" for the person.
func saved(by ...string) protocol.Event {
	var headings []any
	for _, turn := range by {
		heading := protocol.Object{{Key: "id", Value: "h"}}
		if turn != "" {
			heading.Set("by", turn)
		}
		headings = append(headings, heading)
	}
	return protocol.Event{ID: "e1", Session: "main", Sensor: "org-save", Payload: protocol.Object{{Key: "file", Value: "/a.org"}, {Key: "headings", Value: headings}, {Key: "chain", Value: int64(99)}}}
}

// TestReact: who reacts to a change, by who made it. A skill does not react to its own change, none to one
// of the kernel's own, and a chain of reactions ends.
func TestReact(t *testing.T) {
	turns := map[string]journal.Turn{
		"t-tidy": turn("tidy", 0), "t-count": turn("count@3f9c", 0), "t-1": turn("other", 1), "t-2": turn("other", 2), "t-3": turn("other", 3), "t-none": turn("", 0),
	}
	for _, c := range []struct {
		name string
		by   []string
		want string
	}{
		{"the person", []string{""}, "tidy e1+tidy reactions-of-tidy 0 reaction; count e1+count reactions-of-count 0 reaction"},
		{"no heading", nil, "tidy e1+tidy reactions-of-tidy 0 reaction; count e1+count reactions-of-count 0 reaction"},
		{"itself", []string{"t-tidy"}, "count e1+count reactions-of-count 1 reaction"},
		{"itself and the person", []string{"t-tidy", ""}, "tidy e1+tidy reactions-of-tidy 0 reaction; count e1+count reactions-of-count 0 reaction"},
		{"each other", []string{"t-tidy", "t-count"}, "tidy e1+tidy reactions-of-tidy 1 reaction; count e1+count reactions-of-count 1 reaction"},
		{"the kernel", []string{"t-none", "unknown"}, ""},
		{"the kernel and itself", []string{"unknown", "t-count"}, "tidy e1+tidy reactions-of-tidy 1 reaction"},
		{"a chain", []string{"t-1", "t-2"}, "tidy e1+tidy reactions-of-tidy 3 reaction; count e1+count reactions-of-count 3 reaction"},
		{"a long chain", []string{"t-3"}, ""},
		{"the person after a long chain", []string{"t-3", ""}, "tidy e1+tidy reactions-of-tidy 0 reaction; count e1+count reactions-of-count 0 reaction"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fixture{turns: turns, skills: []string{"tidy", "count"}, counts: map[string]int{}, perHour: 9}
			event := saved(c.by...)
			result, err := f.reactions().React(t.Context(), event, f.submit)
			if got := strings.Join(f.submitted, "; "); got != c.want || err != nil || (result.Turn == "") != (c.want == "") {
				t.Errorf("submitted are\n%s\nand not\n%s\n(%+v, %v)", got, c.want, result, err)
			}
			if got := fmt.Sprint(event); got != fmt.Sprint(saved(c.by...)) {
				t.Errorf("the client's event was changed: %s", got)
			}
		})
	}
}

// TestNames: skills see which skill changed what, and not by which turn.
func TestNames(t *testing.T) {
	f := &fixture{turns: map[string]journal.Turn{"t-1": turn("count@3f9c", 0)}, skills: []string{"tidy"}, perHour: 9}
	plan, err := f.reactions().Plan(t.Context(), saved("t-1", "", "gone"))
	var by []string
	for _, h := range plan.Event.Payload.Get("headings").([]any) {
		by = append(by, h.(protocol.Object).Text("by"))
	}
	if got := strings.Join(by, ","); got != "count,,kernel" || err != nil {
		t.Errorf("headings are by %s, %v", got, err)
	}
}

// TestBudget: how often a skill reacts within an hour, also to many events at once, and that it is told why
// not.
func TestBudget(t *testing.T) {
	f := &fixture{skills: []string{"a/b ü"}, counts: map[string]int{}, perHour: 3}
	r := f.reactions()
	done := make(chan error)
	for range 10 {
		go func() {
			_, err := r.React(t.Context(), saved(""), f.submit)
			done <- err
		}()
	}
	for range 10 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if len(f.submitted) != 3 || !strings.HasPrefix(f.submitted[0], "a/b ü e1+a-b-ü reactions-of-a-b-ü ") || !f.since.Equal(noon.Add(-time.Hour)) {
		t.Errorf("submitted are %q, counted since %v", f.submitted, f.since)
	}
	plan, err := r.Plan(t.Context(), saved(""))
	if err != nil || plan.Skills[0].Refused != "it has reacted 3 times within an hour, as often as REACTIONS in config.org allows" {
		t.Errorf("%+v, %v", plan.Skills, err)
	}
	f.perHour = 0
	if plan, _ := r.Plan(t.Context(), saved("")); plan.Skills[0].Refused != "REACTIONS is off in config.org" {
		t.Errorf("%+v", plan.Skills)
	}
	f.perHour = 1 << 10
	f.skills = []string{strings.Repeat("long", 50)}
	if plan, _ := r.Plan(t.Context(), saved("")); !protocol.ValidSession(plan.Skills[0].Session) {
		t.Errorf("the conversation is called %q", plan.Skills[0].Session)
	}
}
