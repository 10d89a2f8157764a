package daemon_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

var lifeDays = flag.Int("days", 14, "days of TestTwoWeeks")

// The conversations of a life: two in which the person is alone, and one where others listen.
// Fresh ones are opened on some days to see what is known of what was said elsewhere.
const (
	lifeMain, lifeWork, lifeClub = "main", "work", "club"
	lifeFresh                    = "a fresh one"
)

// planted is a fact: where it must be known now, and where it was said, which is where
// nothing is wrong with its being known.
type planted struct {
	key, value string
	how        string
	said       string
	known      []string
}

// life is a home in which days pass.
type life struct {
	*testing.T
	in      *instance
	model   *remembering
	clock   *handClock
	place   *time.Location
	day     int
	facts   []*planted
	values  int
	events  int
	editors map[string]*rpctest.Editor
}

// at is a time of today where the person is. In the middle of the life the clock is set back.
func (l *life) at(hour, minute, second int) time.Time {
	return time.Date(2026, 10, 25-*lifeDays/2+l.day, hour, minute, second, 0, l.place)
}

// fact makes one up; its word is like no other one.
func (l *life) fact(how, said string, known ...string) *planted {
	f := &planted{key: "q", how: fmt.Sprintf("%s on day %d", how, l.day), said: said, known: known}
	for n, i := len(l.facts)*7919+11, 0; i < 4; n, i = n/20, i+1 {
		f.key += string("bcdfghjklmnpqrstvwxz"[n%20]) + string("aeiou"[(n+i)%5])
	}
	f.key += "en"
	l.renew(f)
	l.facts = append(l.facts, f)
	return f
}

// renew gives a fact another value; what it was is known nowhere from now on, but where it was
// said.
func (l *life) renew(f *planted) {
	if f.value != "" {
		gone := *f
		gone.how, gone.known = "the former value, "+f.how, nil
		l.facts = append(l.facts, &gone)
	}
	l.values++
	f.value = fmt.Sprintf("FACT-%03d", l.values)
}

// line is the fact in words.
func (f *planted) line() string { return f.key + " is " + f.value }

// say says something in a conversation and waits for the answer.
func (l *life) say(session, text string) {
	l.Helper()
	e, turn := l.send(session, text)
	finished, err := e.WaitTurn(within(l), turn)
	if err != nil || finished.State != protocol.TurnAnswered {
		l.Fatalf("day %d, %s, %.60q: %+v, %v", l.day, session, text, finished, err)
	}
}

// send says something; others listen in the club.
func (l *life) send(session, text string) (*rpctest.Editor, string) {
	l.Helper()
	e := l.editors[session]
	if e == nil {
		e = l.in.editor(l, rpctest.Config{Session: session})
		l.editors[session] = e
	}
	l.events++
	var taken protocol.EventResult
	err := e.Call(within(l), protocol.MethodEvent, protocol.Object{
		{Key: "id", Value: fmt.Sprint("e", l.events)}, {Key: "session", Value: session}, {Key: "sensor", Value: protocol.Keyword(protocol.SensorChatMessage)},
		{Key: "text", Value: text}, {Key: "group", Value: session == lifeClub}}, &taken)
	if err != nil {
		l.Fatalf("day %d, %s, %.60q: %v", l.day, session, text, err)
	}
	return e, taken.Turn
}

// agree says something that the agent asks about first, and allows it.
func (l *life) agree(session, text string) {
	l.Helper()
	waiting := 0
	if e := l.editors[session]; e != nil {
		waiting = len(e.Approvals())
	}
	e, turn := l.send(session, text)
	see(l, e, "the approval of "+text, func() bool { return len(e.Approvals()) > waiting })
	decision := protocol.AskDecideParams{ID: e.Approvals()[waiting].ID, Decision: protocol.AllowOnce}
	if err := e.Call(within(l), protocol.MethodAskDecide, decision, nil); err != nil {
		l.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(l), turn); err != nil || finished.State != protocol.TurnAnswered {
		l.Fatalf("day %d, %s: %+v, %v", l.day, text, finished, err)
	}
}

// index makes sure that what stands in the files is found.
func (l *life) index() {
	l.Helper()
	if err := l.editors[lifeMain].Call(within(l), protocol.MethodMemoryIndex, protocol.MemoryIndexParams{}, nil); err != nil {
		l.Fatal(err)
	}
}

// record is the id under which a fact is kept.
func (l *life) record(f *planted) string {
	l.Helper()
	l.index()
	var found protocol.MemorySearchResult
	if err := l.editors[lifeMain].Call(within(l), protocol.MethodMemorySearch, protocol.MemorySearchParams{Query: f.key}, &found); err != nil || len(found.Hits) != 1 {
		l.Fatalf("%s, %s: %d hits, %v", f.how, f.line(), len(found.Hits), err)
	}
	return found.Hits[0].ID
}

// check asks for facts in a conversation, two at a time; those that were said there are
// answered by any question. What must be known there is in what the model is sent, and what
// must not be is in nothing that it is sent there.
func (l *life) check(session, audience string, asks func(*planted) bool) {
	l.Helper()
	l.index()
	first := len(l.model.since(0))
	var keys []string
	for _, f := range l.facts {
		if f.said != audience && asks(f) && !slices.Contains(keys, f.key) {
			keys = append(keys, f.key)
		}
	}
	const question = "What do you know of "
	l.say(session, question+"me?")
	for two := range slices.Chunk(keys, 2) {
		l.say(session, question+strings.Join(two, " and of ")+"?")
	}
	requests := slices.DeleteFunc(l.model.since(first), func(r request) bool { return !strings.HasPrefix(r.asked, question) }) // others may run
	for _, f := range l.facts {
		may := slices.Contains(f.known, audience)
		must, there := may && (f.said == audience || asks(f)), false
		for _, request := range requests {
			has := strings.Contains(request.whole, f.value)
			if has && !may && f.said != audience {
				l.Errorf("day %d: %q, %s, came up in %s: %s", l.day, f.line(), f.how, session, around(request.whole, f.value))
				break
			}
			there = there || has && (f.said == audience || strings.Contains(request.asked, f.key))
		}
		if must && !there {
			l.Errorf("day %d: %q, %s, is not known in %s", l.day, f.line(), f.how, session)
		}
	}
}

// around is the place of a word in a text.
func around(text, word string) string {
	at := strings.Index(text, word)
	return fmt.Sprintf("%q", text[max(0, at-200):min(len(text), at+60)])
}

// talk is what is said on a day, with nothing but words; they fill the windows.
func (l *life) talk() {
	l.Helper()
	filler := strings.Repeat("and so on, ", 440) // about 1,200 tokens
	for _, session := range []string{lifeMain, lifeWork, lifeClub} {
		f := l.fact("said in "+session, session, session)
		l.say(session, "Note that "+f.line()+".")
		l.say(session, fmt.Sprint("On day ", l.day, " we speak of this ", filler))
	}
}

// keep is what the agent keeps on a day.
func (l *life) keep() {
	l.Helper()
	save := func(session string, f *planted, more string) {
		l.Helper()
		l.say(session, fmt.Sprintf(`call memory_save :text "%s"%s`, f.line(), more))
	}
	switch l.day % 3 {
	case 0:
		save(lifeMain, l.fact("kept for good", lifeMain, lifeMain, lifeWork, lifeFresh), " :lasting t")
		save(lifeClub, l.fact("kept in the club", lifeClub, lifeClub), "")
	case 1:
		f := l.fact("kept for the day", lifeWork, lifeMain, lifeWork, lifeFresh)
		save(lifeWork, f, "")
		if day := "memory/" + l.at(12, 0, 0).Format(time.DateOnly) + ".org"; !strings.Contains(l.in.read(l, day), f.line()) {
			l.Errorf("day %d: %s is not in %s", l.day, f.line(), day)
		}
		save(lifeWork, l.fact("kept for work", lifeWork, lifeWork), " :here t")
	case 2:
		changed := l.fact("kept and changed", lifeMain, lifeMain, lifeWork, lifeFresh)
		save(lifeMain, changed, " :lasting t")
		id := l.record(changed)
		l.renew(changed)
		l.agree(lifeMain, fmt.Sprintf(`call memory_update :id "%s" :title "%s"`, id, changed.line()))
		forgotten := l.fact("kept and forgotten", lifeMain)
		save(lifeMain, forgotten, "")
		l.agree(lifeMain, fmt.Sprintf(`call memory_forget :id "%s"`, l.record(forgotten)))
		undone := l.fact("kept and taken back", lifeMain)
		save(lifeMain, undone, "")
		if err := l.editors[lifeMain].Call(within(l), protocol.MethodMemoryUndo, protocol.MemoryUndoParams{}, nil); err != nil {
			l.Error(err)
		}
	}
}

// write is what the person writes into their files.
func (l *life) write() {
	l.Helper()
	add := func(name, heading string) {
		l.Helper()
		l.in.write(l, name, l.in.read(l, name)+heading)
	}
	day := "memory/" + l.at(12, 0, 0).Format(time.DateOnly) + ".org"
	switch l.day % 4 {
	case 1:
		f := l.fact("written into MEMORY.org and changed by hand", "", lifeMain, lifeWork, lifeFresh)
		add("MEMORY.org", "* By hand\n"+f.line()+"\n")
		l.index()
		was := f.line()
		l.renew(f)
		l.in.write(l, "MEMORY.org", strings.Replace(l.in.read(l, "MEMORY.org"), was, f.line(), 1))
		add(day, "* For the club\n:PROPERTIES:\n:SCOPE: "+lifeClub+"\n:END:\n"+l.fact("written for the club", "", lifeClub).line()+"\n")
	case 2:
		add(day, "* By hand "+l.fact("written into a day's file", "", lifeMain, lifeWork, lifeFresh).line()+"\n")
		add("MEMORY.org", "* Mine :@private:\n"+l.fact("written as private", "").line()+"\n")
	}
}

// propose has a conversation looked at; of three facts that are proposed one is accepted, one
// dropped, and one waits.
func (l *life) propose() {
	l.Helper()
	accepted := l.fact("proposed and accepted", lifeMain, lifeMain, lifeWork, lifeFresh)
	dropped, waiting := l.fact("proposed and dropped", lifeMain), l.fact("proposed", lifeMain)
	for _, f := range []*planted{accepted, dropped, waiting} {
		l.say(lifeMain, "Worth knowing: "+f.line()+".")
	}
	e := l.editors[lifeMain]
	if err := e.Call(within(l), protocol.MethodSessionLeave, protocol.SessionLeaveParams{Session: lifeMain}, nil); err != nil {
		l.Fatal(err)
	}
	for _, decision := range []struct {
		fact   *planted
		method string
		params func(id string) any
	}{
		{accepted, protocol.MethodMemoryAccept, func(id string) any { return protocol.MemoryAcceptParams{IDs: []string{id}} }},
		{dropped, protocol.MethodMemoryDrop, func(id string) any { return protocol.MemoryDropParams{IDs: []string{id}} }},
	} {
		var result protocol.MemoryDecideResult
		until(l, "the proposal", func() bool {
			all, _ := proposals(l, e)
			at := slices.IndexFunc(all, func(p protocol.MemoryProposal) bool { return p.Title == "Proposed "+decision.fact.key })
			return at >= 0 && e.Call(within(l), decision.method, decision.params(all[at].Proposal), &result) == nil
		})
		if len(result.Refused) > 0 {
			l.Errorf("day %d, %s: %+v", l.day, decision.fact.how, result)
		}
	}
	e.Kill() // it has left
	l.editors[lifeMain] = l.in.editor(l, rpctest.Config{Session: lifeMain})
}

// night has midnight come while a turn runs that keeps something: that is of the new day.
func (l *life) night() {
	l.Helper()
	l.clock.set(l.at(23, 59, 50))
	l.model.midnight = func() { l.clock.set(l.at(24, 0, 5)) }
	f := l.fact("kept at midnight", lifeWork, lifeMain, lifeWork, lifeFresh)
	l.say(lifeWork, fmt.Sprintf(`call memory_save :text "%s" :tags ("midnight")`, f.line()))
	day := "memory/" + l.at(24, 0, 5).Format(time.DateOnly) + ".org"
	if !strings.Contains(l.in.read(l, day), f.line()) {
		l.Errorf("day %d: what was kept after midnight is not in %s", l.day, day)
	}
}

// pass is a day: every other one in a kernel that ends when it is over, the others in one that
// is killed, whatever it is at.
func (l *life) pass() {
	l.Helper()
	l.editors = map[string]*rpctest.Editor{}
	killed := l.day%2 == 1
	l.clock.set(l.at(9, 0, 0))
	var end func()
	if killed {
		l.in.variables[clockVariable] = l.at(9, 0, 0).Format(time.RFC3339)
		end = l.in.spawn(l).kill
	} else {
		k := l.in.start(l)
		end = func() {
			if err := k.end(); err != nil {
				l.Error(err)
			}
		}
	}
	l.send(lifeMain, "Good morning.")
	l.talk()
	l.keep()
	l.write()
	if l.day%4 == 0 {
		l.propose()
	}
	if l.day%5 == 3 {
		if _, err := compactNow(l.T, l.editors[lifeMain], protocol.SessionCompactParams{}); err != nil && !strings.Contains(err.Error(), "there is nothing to summarise") {
			l.Error(err)
		}
	}
	if l.day%8 == 6 {
		l.check(fmt.Sprint("day ", l.day), lifeFresh, everybody)
	}
	if killed {
		l.send(lifeClub, "Note that "+l.fact("said at the end", lifeClub).line()+".")
	} else if l.day%3 == 2 {
		l.night()
	}
	if l.day == *lifeDays-1 {
		l.last()
	}
	for _, e := range l.editors {
		e.Kill()
	}
	end()
}

// last is what is known in the end, in each conversation and in a fresh one.
func (l *life) last() {
	l.Helper()
	kept := func(f *planted) bool { return !strings.HasPrefix(f.how, "said") }
	for _, session := range []string{lifeMain, lifeWork, lifeClub} {
		_, err := compactNow(l.T, l.editors[lifeMain], protocol.SessionCompactParams{Session: session})
		if err != nil && !strings.Contains(err.Error(), "there is nothing to summarise") {
			l.Error(err)
		}
		l.check(session, session, func(f *planted) bool { return session == lifeClub && kept(f) })
	}
	l.check("the last", lifeFresh, everybody)
}

func everybody(*planted) bool { return true }

// TestTwoWeeks is a life of fourteen days, in which the clock is set back once: three
// conversations, in one of which others listen; facts that are said, kept, changed, forgotten,
// proposed, and written into files by hand; windows that fill, kernels that end and that are
// killed. In the end, and in between, each fact is known where it should be and nowhere else.
func TestTwoWeeks(t *testing.T) {
	place, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	model := remember(t)
	l := &life{T: t, model: model, clock: &handClock{}, place: place,
		in: &instance{variables: map[string]string{"ORG_AGENT_LLM_BASE_URL": model.URL + "/v1", "ORG_AGENT_LLM_MODEL": "test-model", "ORG_AGENT_LLM_API_KEY": canary}}}
	l.in.settle(t)
	l.in.small(16_000)
	l.in.clock = l.clock.now
	l.in.write(t, "USER.org", "- Timezone :: Europe/Berlin\n")
	l.in.write(t, "MEMORY.org", "What I write myself.\n\n")
	l.in.write(t, "config.org", "* Settings\n:PROPERTIES:\n:PROPOSE_AFTER: 3s\n:END:\n")
	for l.day = range *lifeDays {
		l.pass()
	}
	if model.noted < 3 {
		t.Errorf("only %d summaries were made", model.noted)
	}
	if model.largest > 3*16_000 { // it counts three bytes a token
		t.Errorf("a request had %d bytes, more than the window", model.largest)
	}
	rows := l.in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindEvent}, Limit: 10_000})
	if len(rows) != l.events {
		t.Errorf("the journal has %d questions, want %d", len(rows), l.events)
	}
	if !strings.HasPrefix(l.in.read(t, "MEMORY.org"), "What I write myself.\n\n") {
		t.Error("what the person wrote is not as it was")
	}
	t.Logf("%d facts, %d questions, %d requests, %d for notes, the largest of %d bytes", len(l.facts), l.events, len(model.since(0)), model.noted, model.largest)
}
