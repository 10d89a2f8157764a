package daemon_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// summarising matches a request for notes: it ends so.
const summarising = `Now write the notes\.$`

// shownTo is what a request showed of a conversation, without the system prompt.
func shownTo(request llmtest.Received) string {
	var said []string
	for _, m := range request.Messages() {
		if m.Role != "system" {
			said = append(said, m.Role+" "+m.Content)
		}
	}
	return strings.Join(said, "\n|")
}

// turnsOf are the requests of turns, without those for notes.
func turnsOf(model *llmtest.Server) []llmtest.Received {
	return slices.DeleteFunc(model.Requests(), func(r llmtest.Received) bool {
		messages := r.Messages()
		return strings.HasSuffix(messages[len(messages)-1].Content, "Now write the notes.")
	})
}

// small makes the window of an instance's model so large.
func (in *instance) small(tokens int) { in.variables["ORG_AGENT_LLM_WINDOW"] = fmt.Sprint(tokens) }

func compactNow(t *testing.T, e *rpctest.Editor, p protocol.SessionCompactParams) (protocol.SessionCompacted, error) {
	t.Helper()
	var result protocol.SessionCompacted
	return result, e.Call(within(t), protocol.MethodSessionCompact, p, &result)
}

// Each request begins with the bytes of the one before it, with calls and steered words, as
// long as nothing is shortened.
func TestRequestsBeginAlike(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Reply: insertion("* One")},
		calling("use_skill", `:name "garden"`),
		calling("list_skills", ``),
		llmtest.Exchange{Reply: insertion("* Two")},
		llmtest.Exchange{Reply: insertion("* More"), Times: -1})
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", strings.Repeat("Water the roses.\n", 500)))
	k := in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "One?")
	ask(t, e, "q2", "Two?")
	sendWith(t, e, message("q3", "And this?", item("a.org", "* Text\n")))
	_ = k.end()
	e.Close()
	in.start(t)
	e = in.editor(t, rpctest.Config{})
	ask(t, e, "q4", "Four?")
	requests := model.Requests()
	if len(requests) != 6 {
		t.Fatalf("the model was asked %d times", len(requests))
	}
	before := ""
	for i, request := range requests {
		now := shownTo(request)
		if !strings.HasPrefix(now, before) {
			t.Errorf("request %d does not begin with the one before:\n%s\n---\n%s", i+1, now, before)
		}
		before = now
	}
}

// A window that fills has the beginning summarised in the background; the notes stand for it,
// what was said meanwhile is there, the journal has everything, and all of it is taken back.
func TestWindowFills(t *testing.T) {
	const notes = "* Decisions\n- The parcel goes to \"Samarkand\" </summary> ```\n* Open\n- Call Ulugh Beg\n"
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: summarising, Reply: notes, FirstDelay: llmtest.Duration(50e6), Times: -1},
		llmtest.Exchange{Match: "needle", Echo: true, Times: -1},
		llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.small(16_000)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	long := strings.Repeat("word ", 800) // about 1,000 tokens
	asked := 0
	say := func(text string) {
		t.Helper()
		asked++
		if got := ask(t, e, fmt.Sprintf("q%d", asked), text); got.state != "answered" {
			t.Fatalf("question %d: %+v", asked, got)
		}
	}
	done := func() bool {
		for _, told := range e.Compacted() {
			if told.State == protocol.CompactingDone {
				return true
			}
		}
		return false
	}
	for asked < 60 && !done() {
		say(fmt.Sprintf("needle %d for Ulugh Beg in Samarkand %s", asked+1, long))
	}
	see(t, e, "a summary", done)
	say("last")
	requests := turnsOf(model)
	last := shownTo(requests[len(requests)-1])
	if !strings.Contains(last, `- The parcel goes to "Samarkand" </summary>`) || !strings.HasSuffix(last, "user last") ||
		strings.Contains(last, "needle 1 ") || !strings.Contains(last, fmt.Sprintf("needle %d ", asked-1)) {
		t.Errorf("the model was shown %.3000s", last)
	}
	if first := requests[len(requests)-1].Messages()[1]; first.Role != "user" {
		t.Errorf("the conversation begins with %s", first.Role)
	}
	for _, request := range requests {
		if size := len(request.Body); size > 16_000*4 {
			t.Errorf("a request has %d bytes", size)
		}
	}
	turn := in.rows(t, journal.Query{ID: fmt.Sprintf("q%d", asked), Kinds: []journal.Kind{journal.KindEvent}})[0].Turn
	outline, err := traceOf(t, in, turn)
	if err != nil || !strings.Contains(outline.Outline, "- Earlier turns :: ") || !strings.Contains(outline.Outline, "notes (row ") {
		t.Errorf("why says %.2000s, %v", outline.Outline, err)
	}
	var shown protocol.PromptResult
	if err := e.Call(within(t), protocol.MethodPromptGet, protocol.Object{}, &shown); err != nil || shown.History == nil || shown.History.Summarised == 0 || shown.History.Window != 16_000 {
		t.Errorf("the prompt tells of %+v, %v", shown.History, err)
	}
	if n := len(in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindEvent}})); n != asked {
		t.Errorf("the journal has %d questions of %d", n, asked)
	}
	undone := 0
	for {
		result, err := compactNow(t, e, protocol.SessionCompactParams{Undo: true})
		if protocol.ErrorCode(err) == protocol.CodeNotFound && undone > 0 {
			break
		}
		if err != nil || result.State != protocol.CompactingUndone || undone > 20 {
			t.Fatalf("undo %d: %+v, %v", undone, result, err)
		}
		undone++
	}
	if err := e.Call(within(t), protocol.MethodPromptGet, protocol.Object{}, &shown); err != nil || strings.Contains(shown.Parts[1].Text, "The parcel goes") {
		t.Errorf("the notes are still shown: %v", err)
	}
}

// A person has a conversation summarised, a fork has the summary as of its beginning, and an
// answer that changes under a summary makes it count no more.
func TestPersonSummarises(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: summarising, Reply: "## Facts\n* the key is blue\n", Times: -1},
		llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	if _, err := compactNow(t, e, protocol.SessionCompactParams{}); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("with nothing said: %v", err)
	}
	if _, err := compactNow(t, e, protocol.SessionCompactParams{Session: "../x"}); err == nil {
		t.Error("a session of that name was summarised")
	}
	for i := range 8 {
		ask(t, e, fmt.Sprintf("q%d", i), fmt.Sprintf("question %d", i))
	}
	if _, err := compactNow(t, e, protocol.SessionCompactParams{Undo: true}); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("with nothing to take back: %v", err)
	}
	result, err := compactNow(t, e, protocol.SessionCompactParams{})
	if err != nil || result.State != protocol.CompactingDone || result.Turns != 3 || result.Notes != "* Facts\n- the key is blue\n" {
		t.Fatalf("%+v, %v", result, err)
	}
	if request := shownTo(model.Requests()[8]); !strings.Contains(request, "question 2") || strings.Contains(request, "question 3") {
		t.Errorf("what was to be noted is %s", request)
	}
	prompt := func(session string) string {
		var shown protocol.PromptResult
		if err := e.Call(within(t), protocol.MethodPromptGet, protocol.Object{{Key: "session", Value: session}}, &shown); err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, part := range shown.Parts[1:] {
			text += part.Text + "\n"
		}
		return text
	}
	if text := prompt("main"); !strings.Contains(text, "the key is blue") || strings.Contains(text, "question 2") || !strings.Contains(text, "question 3") {
		t.Errorf("shown is\n%s", text)
	}
	fork := func(at string) string {
		var forked protocol.SessionForkResult
		if err := e.Call(within(t), protocol.MethodSessionFork, protocol.SessionForkParams{ID: at}, &forked); err != nil {
			t.Fatal(err)
		}
		return forked.Session
	}
	if text := prompt(fork("q6")); !strings.Contains(text, "the key is blue") || strings.Contains(text, "question 2") || !strings.Contains(text, "question 5") || strings.Contains(text, "question 6") {
		t.Errorf("a fork behind the summary shows\n%s", text)
	}
	if text := prompt(fork("q2")); strings.Contains(text, "the key is blue") || !strings.Contains(text, "question 1") {
		t.Errorf("a fork before the summary's end shows\n%s", text)
	}
	anew := func(event string) {
		count := func() int { return strings.Count(e.Text(), "** Yes") }
		before := count()
		if err := e.Call(within(t), protocol.MethodTurnRetry, protocol.TurnRetryParams{Event: event}, nil); err != nil {
			t.Fatal(err)
		}
		see(t, e, "another answer", func() bool { return count() > before })
		if _, err := e.Ask(within(t), "after-"+event, "and now?"); err != nil { // behind the end of that turn
			t.Fatal(err)
		}
	}
	anew("q5")
	if text := prompt("main"); !strings.Contains(text, "the key is blue") {
		t.Errorf("an answer behind the summary made it stale:\n%s", text)
	}
	anew("q1")
	if text := prompt("main"); strings.Contains(text, "the key is blue") || !strings.Contains(text, "question 0") {
		t.Errorf("an answer within the summary left it:\n%s", text)
	}
}

// A summary that fails changes nothing but a line for people; the next turns go on, and fit.
func TestSummaryFails(t *testing.T) {
	for name, reply := range map[string]llmtest.Exchange{
		"refused": {Match: summarising, Status: 400, Body: `{"error":{"message":"no"}}`, Times: -1},
		"cut":     {Match: summarising, Reply: strings.Repeat("- x y z\n", 50), Fault: llmtest.Fault{CutAfter: 3}, Times: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, model := newInstanceAndModel(t, reply, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
			in.small(16_000)
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			long := strings.Repeat("word ", 1600) // about 2,000 tokens
			for i := range 12 {
				if got := ask(t, e, fmt.Sprintf("q%d", i), fmt.Sprint("question ", i, " ", long)); got.state != "answered" {
					t.Fatalf("question %d: %+v", i, got)
				}
			}
			failed := 0
			for _, told := range e.Compacted() {
				if told.State == protocol.CompactingFailed && strings.HasPrefix(told.Text, "no summary was made: ") {
					failed++
				}
			}
			if failed != 1 {
				t.Errorf("people were told %+v", e.Compacted())
			}
			requests := turnsOf(model)
			last := shownTo(requests[len(requests)-1])
			if !strings.Contains(last, "The first ") || !strings.Contains(last, "of this conversation are not shown; search_messages finds what was said in them.\n") || !strings.Contains(last, "question 11") {
				t.Errorf("the model was shown %.300s", last)
			}
			if len(last) > 16_000*4 {
				t.Errorf("the model was shown %d bytes", len(last))
			}
			if all := strings.Join(e.Notices(), "\n"); !strings.Contains(all, "no longer fit the window of test-model and are left out") {
				t.Errorf("the notices are %q", all)
			}
		})
	}
}

// Old results are shown shortened, with the id by which the model has them whole.
func TestEarlierResult(t *testing.T) {
	big := strings.Repeat("0123456789abcdef\n", 1500) // 25 kB
	in, model := newInstanceAndModel(t,
		calling("use_skill", `:name "garden"`), llmtest.Exchange{Reply: insertion("* One")},
		calling("use_skill", `:name "garden"`), llmtest.Exchange{Reply: insertion("* Two")},
		calling("use_skill", `:name "garden"`), llmtest.Exchange{Reply: insertion("* Three")},
		calling("use_skill", `:name "garden"`), llmtest.Exchange{Reply: insertion("* Four")},
		llmtest.Exchange{Match: summarising, Status: 400, Times: -1}, // so that it is not summarised instead
		llmtest.Exchange{Match: "^fetch ", Echo: true, Replace: []string{"fetch ", `(:type :REQUEST :target :tool :action :call :tool "earlier_result" :args (:id "`, " please", `"))`}},
		llmtest.Exchange{Reply: insertion("* More"), Times: -1})
	in.small(32_000)
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", big))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	for i := range 4 {
		ask(t, e, fmt.Sprintf("q%d", i), "What?")
	}
	ask(t, e, "q5", "And?")
	requests := turnsOf(model)
	last := shownTo(requests[len(requests)-1])
	_, rest, found := strings.Cut(last, `bytes are left out here; earlier_result has `)
	if !found {
		t.Fatalf("nothing is left out of %d bytes", len(last))
	}
	_, rest, _ = strings.Cut(rest, `as "`)
	id, _, _ := strings.Cut(rest, `"`)
	ask(t, e, "q6", "fetch "+id+" please")
	requests = turnsOf(model)
	messages := requests[len(requests)-1].Messages()
	got := messages[len(messages)-1].Content
	var whole string
	if rows := in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindToolStep}}); len(rows) > 0 {
		var round journal.ToolStep
		if err := json.Unmarshal(rows[0].Data, &round); err != nil {
			t.Fatal(err)
		}
		whole = round.Text
	}
	if !strings.Contains(got, "0123456789abcdef") || len(got) < 16_000 || !strings.Contains(got, "the next part is :from ") || len(whole) < len(big) {
		t.Errorf("the model was given %d bytes of %d for %s: %.300s", len(got), len(whole), id, got)
	}
}

// A model that is known to be too small is not asked, and is named; one that is small is told of.
func TestSmallWindow(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.small(3000)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	got := ask(t, e, "q1", "hi")
	if got.state != "failed" || !strings.Contains(got.notice, "test-model can be shown 3000 tokens") || !strings.Contains(got.notice, "set WINDOW") || len(model.Requests()) != 0 {
		t.Errorf("%+v after %d requests", got, len(model.Requests()))
	}
	for _, tokens := range []int{4096, 8192} { // of servers on people's own machines
		in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
		in.small(tokens)
		in.start(t)
		e := in.editor(t, rpctest.Config{})
		for i := range 5 {
			if got := ask(t, e, fmt.Sprint("q", i), strings.Repeat("roses ", tokens/4)); got.state != "answered" {
				t.Errorf("with %d tokens: %+v", tokens, got)
			}
		}
		for _, request := range model.Requests() {
			if len(request.Body) > 4*tokens {
				t.Errorf("with %d tokens it was sent %d bytes", tokens, len(request.Body))
			}
		}
	}
	in2 := newInstance(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in2.small(20_000)
	in2.start(t)
	e = in2.editor(t, rpctest.Config{})
	ask(t, e, "q1", "hi")
	ask(t, e, "q2", "hi")
	if n := strings.Count(strings.Join(e.Notices(), "\n"), "test-model can be shown 20000 tokens only"); n != 1 {
		t.Errorf("it was said %d times: %q", n, e.Notices())
	}
}

// A model that finds a request too long is asked again with less, once, and from then on.
func TestTooLong(t *testing.T) {
	refusal := llmtest.Exchange{Match: "^ask", Status: 400, Body: `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8192 tokens."}}`}
	in, model := newInstanceAndModel(t, refusal, llmtest.Exchange{Match: summarising, Status: 500, Times: -1}, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	for i := range 5 {
		ask(t, e, fmt.Sprintf("q%d", i), fmt.Sprint("question ", i, " ", strings.Repeat("word ", 1500)))
	}
	if got := ask(t, e, "long", "ask now"); got.state != "answered" {
		t.Fatalf("%+v", got)
	}
	requests := turnsOf(model)
	if first, second := shownTo(requests[5]), shownTo(requests[6]); len(requests) != 7 || !strings.Contains(first, "question 0 ") || strings.Contains(second, "question 0 ") || !strings.Contains(second, "question 4 ") || !strings.HasSuffix(second, "user ask now") {
		t.Errorf("%d requests, the last of %d bytes behind %d", len(requests), len(second), len(first))
	}
	ask(t, e, "next", "and now")
	if requests = turnsOf(model); len(requests) != 8 || len(requests[7].Body) > len(requests[5].Body)*3/4 {
		t.Errorf("%d requests, the last of %d bytes", len(requests), len(requests[7].Body))
	}
}

// A turn that reads more than the model can be shown goes on: what it read first is shortened.
func TestTurnOutgrowsTheWindow(t *testing.T) {
	exchanges := []llmtest.Exchange{{Match: "^before", Reply: insertion("* Yes")}}
	for i := range 5 {
		exchanges = append(exchanges, calling("use_skill", fmt.Sprintf(`:name "s%d"`, i)))
	}
	in, model := newInstanceAndModel(t, append(exchanges, llmtest.Exchange{Match: summarising, Status: 400, Times: -1}, llmtest.Exchange{Reply: insertion("* Done"), Times: -1})...)
	for i := range 5 {
		name := fmt.Sprintf("s%d", i)
		in.write(t, "skills/"+name+"/SKILL.md", promptSkill(name, "", strings.Repeat(fmt.Sprint("line of ", name, " here\n"), 1000)))
	}
	in.small(18_000)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q0", "before")
	if got := ask(t, e, "q1", "read all"); got.state != "answered" {
		t.Fatalf("%+v", got)
	}
	requests := model.Requests()
	last := requests[6].Messages()
	for i, request := range requests[:7] {
		if size := len(shownTo(request)) + len(request.Messages()[0].Content); size > 18_000*4 {
			t.Errorf("request %d has %d bytes", i+1, size)
		}
	}
	if got := shownTo(requests[6]); !strings.Contains(got, "user read all") || !strings.Contains(got, "bytes are left out here; earlier_result has ") || !strings.Contains(last[len(last)-1].Content, strings.Repeat("line of s4 here\n", 200)) {
		t.Errorf("the model was shown %.1500s", got)
	}
}
