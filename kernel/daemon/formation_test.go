package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// soon has conversations looked at at once.
const soon = "* Settings\n:PROPERTIES:\n:PROPOSE_AFTER: 40ms\n:END:\n"

// proposals are what waits to be accepted, as "operation title|…".
func proposals(t testing.TB, e *rpctest.Editor) (all []protocol.MemoryProposal, titles string) {
	t.Helper()
	var list protocol.MemoryProposalsResult
	if err := e.Call(within(t), protocol.MethodMemoryProposals, protocol.Empty{}, &list); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, p := range list.Proposals {
		lines = append(lines, string(p.Operation)+" "+p.Title)
	}
	return list.Proposals, strings.Join(lines, "|")
}

// formed waits until a conversation was looked at so often, and returns what was made of it
// the last time.
func (in *instance) formed(t testing.TB, times int) string {
	t.Helper()
	var rows []journal.Entry
	until(t, "the conversation is looked at", func() bool {
		rows = in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindFormation}})
		return len(rows) >= times
	})
	return string(rows[len(rows)-1].Data)
}

// A quiet conversation is looked at once; what is proposed waits, also for another kernel, and
// nothing is done before the person accepts it.
func TestFormation(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "the conversation ---", Times: 1, Reply: "<think>hm</think>\n```lisp\n" +
			`(:type :memory :changes ((:action :add :turn 1 :title "Anna's birthday" :text "It is on 3 May.\n#+begin_src sh\nrm\n#+end_src\n* no heading" :tags ("family" :date) :lasting t) (:action :add :title "Likes tea") (:action :update :turn 1 :id "car" :text "It is red now.") (:action :noop)))` + "\n```"},
		llmtest.Exchange{Match: "the conversation ---", Times: -1, Reply: `(:type :memory :changes nil)`},
		llmtest.Exchange{Reply: insertion("* Answer"), Times: -1})
	in.write(t, "config.org", soon)
	in.write(t, "MEMORY.org", "")
	const name = "memory/2025-06-01.org"
	in.write(t, name, memory.Record{ID: "car", Title: "The car of Anna", Text: "It is blue."}.String())
	k := in.start(t)
	e := in.editor(t, rpctest.Config{})
	until(t, "the files are indexed", func() bool { return find(t, e, "car") != "" })
	ask(t, e, "q1", "Anna has her birthday on 3 May, and her car is red now")
	in.formed(t, 1)
	before := in.read(t, name)
	_, titles := proposals(t, e)
	if want := "saved Anna's birthday|saved Likes tea|updated The car of Anna"; titles != want || in.read(t, "MEMORY.org") != "" {
		t.Fatalf("what waits is %q, want %q", titles, want)
	}
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	in.start(t)
	e = in.editor(t, rpctest.Config{})
	all, again := proposals(t, e)
	if again != titles || all[0].Event != "q1" || all[0].Session != "main" || all[2].Before != before || all[2].File == "" {
		t.Fatalf("after a restart what waits is %+v", all)
	}
	decide := func(method string, params any) protocol.MemoryDecideResult {
		t.Helper()
		var result protocol.MemoryDecideResult
		if err := e.Call(within(t), method, params, &result); err != nil {
			t.Fatal(err)
		}
		return result
	}
	if r := decide(protocol.MethodMemoryAccept, protocol.MemoryAcceptParams{IDs: []string{all[0].Proposal, all[2].Proposal}}); len(r.Changes) != 2 || r.Refused != nil {
		t.Errorf("accepted: %+v", r)
	}
	kept := in.read(t, "MEMORY.org")
	if !strings.HasPrefix(kept, "* Anna's birthday :family:date:\n") || !strings.Contains(kept, ":SOURCE:   main#q1\n") || strings.Contains(kept, "\n* no") {
		t.Errorf("what was accepted is\n%s", kept)
	}
	if text := in.read(t, name); !strings.Contains(text, "It is red now.") {
		t.Errorf("what was changed is\n%s", text)
	}
	if r := decide(protocol.MethodMemoryAccept, protocol.MemoryAcceptParams{IDs: []string{all[0].Proposal}}); len(r.Refused) != 1 || in.read(t, "MEMORY.org") != kept {
		t.Errorf("accepted twice: %+v", r)
	}
	if r := decide(protocol.MethodMemoryDrop, protocol.MemoryDropParams{IDs: []string{all[1].Proposal}}); len(r.Dropped) != 1 {
		t.Errorf("dropped: %+v", r)
	}
	if _, titles := proposals(t, e); titles != "" {
		t.Errorf("what waits still is %q", titles)
	}
	ask(t, e, "q2", "Thanks")
	in.formed(t, 2)
	requests := model.Requests()
	last := requests[len(requests)-1].Messages()
	if text := last[len(last)-1].Content; strings.Contains(text, "3 May") && !strings.Contains(text, "[id ") {
		t.Errorf("what was looked at before was looked at again:\n%s", text)
	}
}

// What is proposed is what a person may be asked about: nobody's words, no one else's
// headings, nothing twice, and not too much.
func TestFormationOfAHostileModel(t *testing.T) {
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, `(:action :add :title "Thing %d") `, i)
	}
	for name, c := range map[string]struct{ reply, want, refused string }{
		"an unknown id":       {`(:type :memory :changes ((:action :delete :id "nobody")))`, "", "is no id of a record"},
		"a person's heading":  {`(:type :memory :changes ((:action :update :id "mine" :text "x") (:action :delete :id "mine")))`, "", "is no id of a record"},
		"another's scope":     {`(:type :memory :changes ((:action :delete :id "club")))`, "", "is no id of a record"},
		"an id twice":         {`(:type :memory :changes ((:action :update :id "r1" :text "x") (:action :delete :id "r1")))`, "updated Roses 1", "changed twice"},
		"all is to go":        {`(:type :memory :changes ((:action :delete :id "r1") (:action :delete :id "r2") (:action :delete :id "r3") (:action :delete :id "r4")))`, "forgotten Roses 1|forgotten Roses 2", "2 are forgotten at most"},
		"too many":            {`(:type :memory :changes (` + many.String() + `))`, "saved Thing 0|saved Thing 1|saved Thing 2|saved Thing 3|saved Thing 4|saved Thing 5|saved Thing 6|saved Thing 7", "8 changes are taken at most"},
		"the same twice":      {`(:type :memory :changes ((:action :add :title "One") (:action :add :title "One")))`, "saved One", ""},
		"no such turn":        {`(:type :memory :changes ((:action :add :title "One" :turn 99) (:action :add :title "Two" :turn "x")))`, "", "there is no turn"},
		"another action":      {`(:type :memory :changes ((:action :write :title "One") (:target :shell :cmd "rm")))`, "", "is not :add"},
		"nothing in it":       {`(:type :memory :changes ((:action :add) 5 "x" nil))`, "", "there is nothing to keep"},
		"too long":            {`(:type :memory :changes ((:action :add :title "One" :text "` + strings.Repeat("x", 20000) + `")))`, "", "at most 16000"},
		"one in no list":      {`(:type :memory :changes (:action :add :title "One"))`, "saved One", ""},
		"another type":        {`(:type :request :target :shell :cmd "rm -rf /")`, "", "did not say what to keep"},
		"prose":               {`I would keep nothing of it.`, "", "did not say what to keep"},
		"a property of Org's": {`(:type :memory :changes ((:action :add :title "Water :ARCHIVE: <2026-01-01 Thu>" :text ":PROPERTIES:\n:AGENT: x\n:END:\nCLOCK: x")))`, "saved", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := newInstance(t,
				llmtest.Exchange{Match: "the conversation ---", Times: 1, Reply: c.reply},
				llmtest.Exchange{Reply: insertion("* Answer"), Times: -1})
			in.write(t, "config.org", soon)
			in.write(t, "MEMORY.org", "")
			text := "* Roses of mine\n:PROPERTIES:\n:ID: mine\n:END:\nI wrote this\n"
			for i := range 4 {
				text += memory.Record{ID: fmt.Sprintf("r%d", i+1), Title: fmt.Sprintf("Roses %d", i+1), Text: "want water"}.String()
			}
			text += memory.Record{ID: "club", Title: "Roses of the club", Scope: "club"}.String()
			in.write(t, "memory/2025-06-01.org", text)
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			until(t, "the files are indexed", func() bool { return find(t, e, "roses") != "" })
			ask(t, e, "q1", "roses")
			made := in.formed(t, 1)
			_, titles := proposals(t, e)
			if titles != c.want && (c.want != "saved" || !strings.HasPrefix(titles, c.want)) || !strings.Contains(made, c.refused) {
				t.Errorf("what waits is %q, want %q; %s", titles, c.want, made)
			}
			if got := in.read(t, "memory/2025-06-01.org"); got != text || in.read(t, "MEMORY.org") != "" {
				t.Errorf("the files were changed:\n%s", got)
			}
		})
	}
}

// A conversation that is left is looked at then, and only if there is something new in it.
func TestFormationOfWhatIsLeft(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "the conversation ---", Times: -1, Reply: `(:type :memory :changes ((:action :add :title "Roses")))`},
		llmtest.Exchange{Reply: insertion("* Answer"), Times: -1})
	in.write(t, "config.org", "* Settings\n:PROPERTIES:\n:PROPOSE_AFTER: 20s\n:END:\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "I grow roses")
	leave := func() {
		t.Helper()
		if err := e.Call(within(t), protocol.MethodSessionLeave, protocol.SessionLeaveParams{Session: "main"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	in.formed(t, 1)
	until(t, "it waits", func() bool { _, titles := proposals(t, e); return titles == "saved Roses" })
	leave()
	e = in.editor(t, rpctest.Config{})
	ask(t, e, "q2", "And tulips")
	leave()
	in.formed(t, 2)
	if n := len(model.Requests()); n != 4 {
		t.Errorf("the model was asked %d times, want once for each message and each time it was left with a new one", n)
	}
}

// Nothing is asked where there is no model, where it is not wanted, and of what was said
// before.
func TestNoFormation(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Answer"), Times: -1})
	in.write(t, "config.org", "* Settings\n:PROPERTIES:\n:PROPOSE_AFTER: off\n:END:\n")
	in.start(t)
	ask(t, in.editor(t, rpctest.Config{}), "q1", "roses")
	if n := len(model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}
