package journal_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"org-agent/kernel/journal"
)

// wrote is a request as it was before it was written.
type wrote struct {
	Model    string
	System   string
	Messages []map[string]string
	journal.Repeats
}

// TestRequestsAreWhole: whatever part of an earlier request a row goes on from, it is read as
// what was sent; and rows of older journals, which are whole, stay as they are.
func TestRequestsAreWhole(t *testing.T) {
	j, random := fresh(t), rand.New(rand.NewPCG(3, 4))
	var sent []wrote
	var rows []int64
	for i := range 150 {
		now := wrote{Model: "m", System: "<system> & " + fmt.Sprint(i/40)}
		row := now
		if i > 0 && random.IntN(10) > 0 {
			base := max(0, len(sent)-1-random.IntN(3))
			same := random.IntN(len(sent[base].Messages) + 1)
			if random.IntN(2) == 0 {
				same = len(sent[base].Messages)
			}
			now.Messages = append(now.Messages, sent[base].Messages[:same]...)
			row.Repeats = journal.Repeats{Base: rows[base], Same: same, SameSystem: sent[base].System == now.System}
			if row.SameSystem {
				row.System = ""
			}
		}
		for range random.IntN(4) {
			m := map[string]string{"Role": "user", "Content": fmt.Sprintf("%d \"<é\\\n>", random.IntN(1000))}
			now.Messages, row.Messages = append(now.Messages, m), append(row.Messages, m)
		}
		data, err := json.Marshal(row)
		must(t, err)
		entry, err := j.Records.Append(t.Context(), journal.Entry{Kind: journal.KindModelRequest, Session: "main", Turn: fmt.Sprint("t", i), Data: data})
		must(t, err)
		sent, rows = append(sent, now), append(rows, entry.Seq)
	}
	for _, query := range []journal.Query{{Kinds: []journal.Kind{journal.KindModelRequest}}, {Session: "main", Latest: true, Limit: 50}, {Turn: "t149"}} {
		entries, err := j.Records.Entries(t.Context(), query)
		must(t, err)
		for i, e := range entries {
			var got wrote
			must(t, json.Unmarshal(e.Data, &got))
			want := sent[len(sent)-len(entries)+i]
			if got.Repeats != (journal.Repeats{}) || got.System != want.System || got.Model != "m" || len(got.Messages)+len(want.Messages) > 0 && !reflect.DeepEqual(got.Messages, want.Messages) {
				t.Fatalf("%+v: request %d is read as %+v, and was %+v", query, i, got, want)
			}
		}
		if len(entries) == 0 {
			t.Errorf("%+v: no rows", query)
		}
	}
}

// TestRequestsOfNothing: a row that goes on from what is no earlier request says so, and does
// not go round in circles.
func TestRequestsOfNothing(t *testing.T) {
	for name, data := range map[string]string{
		"itself": `{"Base":1,"Same":1}`, "a later one": `{"Base":2,"Same":1}`, "none": `{"Base":77,"SameSystem":true}`,
	} {
		j := fresh(t)
		for range 2 {
			_, err := j.Records.Append(t.Context(), journal.Entry{Kind: journal.KindModelRequest, Turn: "t", Data: json.RawMessage(data)})
			must(t, err)
		}
		if _, err := j.Records.Entries(t.Context(), journal.Query{Turn: "t"}); err == nil || !strings.Contains(err.Error(), "put the request of row 1 together") {
			t.Errorf("%s: %v", name, err)
		}
	}
	j := fresh(t)
	first, err := j.Records.Append(t.Context(), journal.Entry{Kind: journal.KindModelRequest, Turn: "t", Data: json.RawMessage(`{"Messages":[1]}`)})
	must(t, err)
	_, err = j.Records.Append(t.Context(), journal.Entry{Kind: journal.KindModelRequest, Turn: "u", Data: json.RawMessage(fmt.Sprintf(`{"Base":%d,"Same":2}`, first.Seq))})
	must(t, err)
	if _, err := j.Records.Entries(t.Context(), journal.Query{Turn: "u"}); err == nil {
		t.Error("a request has more of another than there is")
	}
	odd := json.RawMessage(`["no","request"]`)
	_, err = j.Records.Append(t.Context(), journal.Entry{Kind: journal.KindModelRequest, Turn: "v", Data: odd})
	must(t, err)
	if entries, err := j.Records.Entries(t.Context(), journal.Query{Turn: "v"}); err != nil || len(entries) != 1 || string(entries[0].Data) != string(odd) {
		t.Errorf("a row of another shape is read as %v, %v", entries, err)
	}
}
