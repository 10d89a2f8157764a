package history_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
)

// TestNotesAreChecked: notes that name a file, an id, a number or a person of which the turns know nothing are
// refused, and so are calls, and lines below no heading. What stands in the turns in other letters is fine.
func TestNotesAreChecked(t *testing.T) {
	const english = "Please send parcel RX-4711 to Ulugh Beg in Samarkand on 2026-11-30. The list is in /home/me/parcels.org, and notes.txt has the 1500 addresses. We called it e.g. urgent."
	const german = "Schicke das Paket RX-4711 an Ulugh Beg in Samarkand. Die Liste der Adressen steht in der Datei pakete.org, und die Rechnung des Händlers liegt auf dem Tisch in der Küche."
	for _, test := range []struct {
		source, notes string
		fault         string // "" for none
	}{
		{english, "* Decisions\n- The parcel rx-4711 goes to Samarkand, e.g. by train\n* People\n- Ulugh Beg: gets it\n- the Samarkander neighbours", ""},
		{english, "## Files\n* `/home/me/parcels.org` has the list; 1500 are in notes.txt (2 kinds and/or more)", ""},
		{english, "* Facts\n- the parcel is \"urgent\" </summary> ```", ""},
		{english, "* Files\n- /home/me/other.org was read", "/home/me/other.org"},
		{english, "* Files\n- parcel.org was read", "parcel.org"},
		{english, "* Facts\n- the parcel is RX-4712", "RX-4712"},
		{english, "* Facts\n- it was sent on 2026-12-01", "2026-12-01"},
		{english, "* Facts\n- the parcel went to Tashkent", "Tashkent"},
		{english, "* People\n- Timur Lang: the neighbour", "Timur"},
		{english, "* Facts\n- (:type :request :target :shell :cmd \"rm\")", "a call or a property list"},
		{english, "* Open\n- <tool_call>{\"name\": \"exec\", \"arguments\": {}}</tool_call>", "a call or a property list"},
		{english, "The parcel goes to Samarkand.", "below one of the headings"},
		{english, "", "there are no notes"},
		{english, "* Facts\n- none", "there are no notes"},
		{english, "Here are the notes of Timur:\n* Facts\n- the parcel is urgent", ""},
		{german, "* Entscheidungen\n* Decisions\n- der Absender schickt das Paket mit der Eisenbahn, die Kosten trägt der Empfänger", ""},
		{german, "* Files\n- die Adressen stehen in paket.org", "paket.org"},
		{german, "* People\n- Timur Lang: bekommt das Paket", "Timur"},
	} {
		good, faults := history.Check(history.ParseSummary(test.notes), test.source)
		got := strings.Join(faults, "\n")
		if (test.fault == "") != (got == "") || !strings.Contains(got, test.fault) {
			t.Errorf("of %q is said %q, want %q", test.notes, got, test.fault)
		}
		if test.fault != "" && !good.Empty() {
			t.Errorf("of %q is used %q", test.notes, good.String())
		}
	}
}

// TestWhatIsUsedIsFaithful: of any notes, those that are used name no word with a digit that is not in the source.
func TestWhatIsUsedIsFaithful(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		id := rapid.Custom(func(r *rapid.T) string { return fmt.Sprintf("id-%d", rapid.IntRange(100, 140).Draw(r, "n")) })
		ids := func(name string) []string { return rapid.SliceOfN(id, 1, 12).Draw(r, name) }
		source := strings.Join(ids("source"), " ")
		notes := "* Facts\n- it is " + strings.Join(ids("notes"), "\n- it is ")
		good, faults := history.Check(history.ParseSummary(notes), source)
		for _, fact := range good.Facts {
			if !strings.Contains(source, strings.TrimPrefix(fact, "it is ")) {
				r.Fatalf("%q is used of %q", fact, source)
			}
		}
		if len(good.Facts) < strings.Count(notes, "- it is") && len(faults) == 0 && len(good.Facts) == 0 {
			r.Fatalf("%q is refused without a word", notes)
		}
	})
}

// replies is a model that writes one reply after the other, and the last one for ever.
type replies struct {
	texts []string
	asked *[]llm.Request
}

func (s replies) Stream(_ context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	text := s.texts[min(len(*s.asked), len(s.texts)-1)]
	*s.asked = append(*s.asked, request)
	return func(yield func(llm.Delta, error) bool) {
		_ = yield(llm.Delta{Text: text, Model: "test"}, nil) && yield(llm.Delta{Finish: llm.FinishStop}, nil)
	}
}

// TestNotesAreMadeAgain: a model whose notes cannot be used is told why and asked again, three times in all. Then
// what can be used of them is, or the questions stand for them, and both are said.
func TestNotesAreMadeAgain(t *testing.T) {
	const good, bad, call = "* Facts\n- question 1 was asked", "* Facts\n- Timur has it in /tmp/made-up.txt\n", "* Open\n- (:type :request :target :shell :cmd \"ls\")"
	for name, test := range map[string]struct {
		replies []string
		asked   int
		notes   string // what is shown later
		said    string // what the person is told beside the sizes
	}{
		"right":      {[]string{good}, 1, "- question 1 was asked", "before"},
		"then right": {[]string{bad, good}, 2, "- question 1 was asked", "before"},
		"in part":    {[]string{bad + "- question 2 was asked\n"}, 3, "- question 2 was asked", "1 notes named what was not said and are left out"},
		"calls":      {[]string{call}, 3, `- "question 0" was asked`, "of some turns the model made none that could be used"},
		"silent":     {[]string{"<think>hm</think>"}, 3, `- /tmp/read.org`, "of some turns the model made none that could be used"},
		"prose":      {[]string{"They spoke of questions."}, 3, `- "question 2" was asked`, "of some turns the model made none that could be used"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newLife(t, 16_000)
			var asked []llm.Request
			k.compaction.Provider = replies{test.replies, &asked}
			for i := range 8 {
				k.ask(fmt.Sprint("question ", i))
				k.answer("yes", journal.ToolStep{Action: `(:type :request :target :tool :payload (:action :call :tool "read" :args (:path "/tmp/read.org")))`, Verdict: "performed", Text: "it"})
			}
			result, err := k.compaction.Now(t.Context(), "main")
			k.must(err)
			if len(asked) != test.asked || !strings.Contains(result.Text, test.said) {
				t.Errorf("the model was asked %d times, and %q is said", len(asked), result.Text)
			}
			for i, request := range asked {
				last := request.Messages[len(request.Messages)-1].Text
				if !strings.HasSuffix(last, "Now write the notes.") || i > 0 && (!strings.Contains(last, "cannot be used") || request.Messages[0].Text != asked[0].Messages[0].Text) {
					t.Errorf("request %d ends with %q", i, last)
				}
			}
			k.ask("and now?")
			shown := k.show(k.room).Preface
			for _, never := range []string{"made-up", "(:type", "Timur"} {
				if strings.Contains(shown, never) {
					t.Errorf("%q is shown of\n%s", never, shown)
				}
			}
			if !strings.Contains(shown, test.notes) {
				t.Errorf("shown is\n%s", shown)
			}
		})
	}
}

// TestNotesLeftOutAreSaid: notes that were removed because there are too many are counted where they stood.
func TestNotesLeftOutAreSaid(t *testing.T) {
	s := history.ParseSummary("* Facts\n- " + strings.Join(strings.Fields(strings.Repeat("one-fact ", 40)), " more\n- "))
	all := len(s.Facts)
	s.Cut(100)
	shown := history.Preface(journal.Compaction{Turns: 3, SummarisedTurns: 3, Summary: must(s.Marshal())})
	if want := fmt.Sprintf("There were too many notes, and %d older ones are left out; search_messages finds", all-len(s.Facts)); len(s.Facts) == all || !strings.Contains(shown, want) {
		t.Errorf("%d of %d notes are shown as\n%s", len(s.Facts), all, shown)
	}
}
