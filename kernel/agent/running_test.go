package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/tool"
)

// TestShortenedResultsOfTheRunningTurn: a turn whose own results do not fit the model's window any
// more shows them shortened, and names an id with each. The tool earlier_result returns the whole
// result for that id within the same turn, also of one call of a batch.
func TestShortenedResultsOfTheRunningTurn(t *testing.T) {
	built, err := tool.BuiltIn(tool.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	var more []tool.Tool
	for _, one := range built.All() {
		if one.Name() == "earlier_result" {
			more = append(more, one)
		}
	}
	long := func(what string) string { return strings.Repeat(what+" stands here at length. ", 250) }
	again := func(id string) string {
		return fmt.Sprintf(`(:type :request :target :tool :action :call :tool "earlier_result" :args (:id %q))`, id)
	}
	batch := fmt.Sprintf(`(:type :request :target :tool :action :batch :calls ((:tool "fail") (:tool "look_up" :args (:query %q))))`, long("second"))
	w := newWireWith(t, 20_000, more, look(long("first")), batch, look(long("third")), look(long("fourth")), look(long("fifth")), look(long("sixth")),
		again("now-1"), again("now-2.2"), again("now-90"), again("now-2.7"), "It is all there.")
	w.ask("look all of it up")
	if t.Failed() {
		return
	}
	shown := func(request int) (text string) { // all but the system prompt
		var body struct {
			Messages []struct{ Role, Content string }
		}
		w.h.must(json.Unmarshal(w.server.Requests()[request].Body, &body))
		for _, m := range body.Messages[1:] {
			text += m.Content + "\n"
		}
		return text
	}
	for _, id := range []string{"now-1", "now-2.2"} {
		if !strings.Contains(shown(6), `as "`+id+`"`) {
			t.Errorf("the request names no id %s of what is left out:\n%s", id, shown(6))
		}
	}
	if strings.Contains(shown(6), long("first")) {
		t.Fatal("the first result is shown whole: it fits the window")
	}
	for i, want := range map[int]string{7: long("first"), 8: long("second"), 9: "this turn has no step 90", 10: "has 2 calls"} {
		if !strings.Contains(shown(i), want) {
			t.Errorf("request %d does not have %.60q:\n%s", i+1, want, shown(i))
		}
	}
}
