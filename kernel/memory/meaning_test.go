package memory_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/memory"
)

// served makes vectors with a real server, as the program does.
type served struct {
	*openai.Provider
	model string
}

func (s served) Model() string { return s.model }

func (s served) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := s.Provider.Embed(ctx, texts)
	if llm.ClassOf(err) == llm.ClassBadRequest {
		err = errors.Join(memory.ErrNoVector, err)
	}
	return vectors, err
}

// means gives the index a server for which the words for cars are alike.
func means(t testing.TB, x *memory.Index, faults ...llmtest.Exchange) *llmtest.Server {
	t.Helper()
	server, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Embeddings: faults, Alike: [][]string{{"car", "automobile", "vehicle"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	x.SetMeaning(meaningOf(t, server, "vectors"))
	return server
}

// meaningOf returns the meaning of texts as a model of the server has it.
func meaningOf(t testing.TB, server *llmtest.Server, model string) *memory.Meaning {
	t.Helper()
	provider, err := openai.New(llm.ServerConfig{BaseURL: server.URL(), Model: model})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(provider.Close)
	return &memory.Meaning{Embedder: served{provider, model}, Least: 0.4}
}

func embedded(t testing.TB, x *memory.Index, want int) {
	t.Helper()
	if made, err := x.Embed(t.Context()); err != nil || made != want {
		t.Errorf("%d vectors were made (%v), want %d", made, err, want)
	}
}

func titles(found []memory.Found, err error) string {
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, f := range found {
		all = append(all, f.Title)
	}
	return strings.Join(all, "|")
}

// sent returns what the server was sent.
func sent(server *llmtest.Server) string {
	var all strings.Builder
	for _, r := range server.Requests() {
		all.Write(r.Body)
	}
	return all.String()
}

// TestBackends tests the search for words, and the search for words and meaning, against the same
// promises.
func TestBackends(t *testing.T) {
	for name, with := range map[string]func(*testing.T, *memory.Index){
		"words":                          func(*testing.T, *memory.Index) {},
		"words and meaning":              func(t *testing.T, x *memory.Index) { means(t, x) },
		"words and a meaning that fails": func(t *testing.T, x *memory.Index) { means(t, x, llmtest.Exchange{Status: 500, Body: "{}", Times: -1}) },
	} {
		t.Run(name, func(t *testing.T) {
			x, home, notes := newIndex(t)
			with(t, x)
			make := func(changed int) {
				t.Helper()
				refreshed(t, x, changed)
				_, _ = x.Embed(t.Context()) // a failure changes nothing
			}
			put(t, home, "MEMORY.org", "* The samovar\nIt hums in the attic.\n* The family's\n:PROPERTIES:\n:SCOPE: family\n:END:\nA samovar is promised to Olga.\n")
			put(t, home, "memory/2026-11-20.org", "* Tea :home:\nThe kettle broke.\n")
			put(t, notes, "a.org", "* Secret :@private:\nThe samovar is stolen.\n* Gone :noagent:\nsamovar\n")
			make(3)
			search := func(text string, scopes ...string) string {
				t.Helper()
				return titles(x.SearchAlike(t.Context(), memory.Query{Text: text, Any: true, Scopes: scopes, Limit: 8}, text))
			}
			check := func(what, got, want string) {
				t.Helper()
				if got != want {
					t.Errorf("%s: %q, want %q", what, got, want)
				}
			}
			check("a word", search("samovar attic", ""), "The samovar")
			check("another's scope", search("samovar olga", "family"), "The family's")
			check("nobody's scope", search("samovar"), "")
			check("nothing like it", search("zeppelin", "", "family"), "")
			from, _ := memory.Day("2026-11-20")
			check("a day and a tag", titles(x.SearchAlike(t.Context(), memory.Query{Text: "kettle", Tags: []string{"home"}, From: from, To: from, Scopes: []string{""}, Limit: 8}, "kettle")), "Tea")
			check("recalled", titles(x.Recall(t.Context(), "Who has the samovar of the attic?", []string{""}, 6)), "The samovar")
			check("not recalled elsewhere", titles(x.Recall(t.Context(), "Who has the samovar of the attic?", []string{"club"}, 6)), "")
			put(t, home, "MEMORY.org", "* Milk\nIt is sour.\n")
			make(1)
			check("gone", search("samovar attic", ""), "")
			check("new", search("sour milk", ""), "Milk")
			if err := x.Files.Clear(t.Context()); err != nil {
				t.Fatal(err)
			}
			make(3)
			check("made anew", search("sour milk", ""), "Milk")
		})
	}
}

// TestMeaning checks that text in other words is found, that the best of both lists comes first,
// that private text is never sent, and that unchanged text is not sent again.
func TestMeaning(t *testing.T) {
	x, home, notes := newIndex(t)
	server := means(t, x)
	put(t, home, "MEMORY.org", "* The car\nIt is blue.\n* Cows\nThey moo.\n")
	put(t, home, "memory/2026-11-20.org", "* An automobile\nIt is blue.\n")
	put(t, notes, "a.org", "* Mine :@private:\nunspeakable\n* Never :noagent:\nunspeakable\n* Closed :crypt:\nunspeakable\n* Open\nnotes of mine\n")
	refreshed(t, x, 3)
	embedded(t, x, 4)
	if strings.Contains(sent(server), "unspeakable") {
		t.Errorf("what is private was sent:\n%s", sent(server))
	}
	scopes := []string{""}
	search := func(text string) string {
		return titles(x.SearchAlike(t.Context(), memory.Query{Text: text, Scopes: scopes, Limit: 8}, memory.MeaningText(text)))
	}
	if got := search("vehicle"); got != "The car|An automobile" && got != "An automobile|The car" {
		t.Errorf("a vehicle is %q", got)
	}
	if got := search("car"); got != "The car|An automobile" {
		t.Errorf("a car is %q", got)
	}
	if got := search(`"car"`) + search("automob*"); got != "The carAn automobile" {
		t.Errorf("exactly these words are %q", got)
	}
	if got := titles(x.Recall(t.Context(), "Vehicle?", scopes, 6)); !strings.Contains(got, "The car") || strings.Contains(got, "Cows") {
		t.Errorf("recalled is %q", got)
	}
	before := len(server.Requests())
	embedded(t, x, 0)
	put(t, home, "MEMORY.org", "* New first\nheading\n* The car\nIt is blue.\n* Cows\nThey moo no more.\n")
	refreshed(t, x, 1)
	embedded(t, x, 2)
	if texts := server.Requests()[before:]; len(texts) != 1 || strings.Contains(string(texts[0].Body), "blue") {
		t.Errorf("what did not change was sent again: %d requests", len(texts))
	}
	x.SetMeaning(meaningOf(t, server, "others"))
	if got := search("vehicle"); strings.Contains(got, "The car") {
		t.Errorf("with vectors of another model a vehicle is %q", got)
	}
	embedded(t, x, 5)
	if got := search("vehicle"); !strings.Contains(got, "The car") {
		t.Errorf("with another model a vehicle is %q", got)
	}
	x.SetMeaning(nil)
	embedded(t, x, 0)
	if got := search("vehicle"); strings.Contains(got, "The car") {
		t.Errorf("without a model a vehicle is %q", got)
	}
}

// TestMeaningAfterChange checks that text that was written after it was indexed is not sent,
// because it may be private by now.
func TestMeaningAfterChange(t *testing.T) {
	x, _, notes := newIndex(t)
	server := means(t, x)
	put(t, notes, "a.org", "* Diary :private_:\nhidden now\n* Other\ntext\n")
	refreshed(t, x, 1)
	put(t, notes, "a.org", "* Diary :@private:\nhidden now\n* Other\ntext\n")
	embedded(t, x, 1)
	if strings.Contains(sent(server), "hidden now") {
		t.Errorf("sent was %s", sent(server))
	}
}

// TestMeaningOfConcurrentChange checks that text that is written while vectors are made has a
// vector in the end, wherever it stands.
func TestMeaningOfConcurrentChange(t *testing.T) {
	x, _, notes := newIndex(t)
	server := means(t, x)
	put(t, notes, "b.org", "* A car\n")
	put(t, notes, "d.org", "* Cows\n")
	refreshed(t, x, 2)
	meaning := meaningOf(t, server, "vectors")
	meaning.Embedder = &meanwhile{meaning.Embedder, func() {
		for _, name := range []string{"a.org", "c.org"} {
			put(t, notes, name, "* About "+name+"\n")
		}
		refreshed(t, x, 2)
	}}
	x.SetMeaning(meaning)
	embedded(t, x, 4)
	embedded(t, x, 0)
}

// meanwhile calls a function when it is first asked for vectors.
type meanwhile struct {
	memory.Embedder
	do func()
}

func (m *meanwhile) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return m.Embedder.Embed(ctx, texts)
}

// TestMeaningRefused checks that a text that a server refuses prevents no other vector, and that a
// server that refuses everything is asked again.
func TestMeaningRefused(t *testing.T) {
	x, home, _ := newIndex(t)
	server := means(t, x, llmtest.Exchange{Match: "too long", Status: 400, Body: `{"error":{"message":"input is too large"}}`, Times: -1})
	put(t, home, "MEMORY.org", "* A car\n* A too long one\n")
	refreshed(t, x, 1)
	embedded(t, x, 2)
	embedded(t, x, 0)
	if got := titles(x.SearchAlike(t.Context(), memory.Query{Text: "vehicle", Scopes: []string{""}}, "vehicle")); got != "A car" {
		t.Errorf("found %q", got)
	}
	asked := len(server.Requests())
	y, home, _ := newIndex(t)
	means(t, y, llmtest.Exchange{Status: 400, Body: "{}", Times: -1})
	put(t, home, "MEMORY.org", "* A car\n")
	refreshed(t, y, 1)
	if made, err := y.Embed(t.Context()); err == nil || made != 0 {
		t.Errorf("%d were made (%v) by a server that refuses all", made, err)
	}
	if asked == 0 {
		t.Error("nothing was asked")
	}
}

// BenchmarkMeaning finds the texts most similar to a vector among 45,000, as many as 100 MB of
// notes have.
func BenchmarkMeaning(b *testing.B) {
	x, _, _ := newIndex(b)
	random := rand.New(rand.NewPCG(1, 2))
	numbers := func() []float32 {
		v := make([]float32, 768)
		for i := range v {
			v[i] = float32(random.NormFloat64())
		}
		return v
	}
	const documents, parts = 450, 100
	for i := range documents {
		d := journal.Document{Path: filepath.Join("/", fmt.Sprint(i)), Hash: "x"}
		var vectors []journal.Vector
		for n := range parts {
			sum := fmt.Sprint(i, "-", n)
			d.Parts = append(d.Parts, journal.Part{Title: "t", Sum: sum})
			vectors = append(vectors, journal.Vector{Sum: sum, Numbers: numbers()})
		}
		if err := errors.Join(x.Files.Put(b.Context(), d), x.Files.PutVectors(b.Context(), "m", vectors...)); err != nil {
			b.Fatal(err)
		}
	}
	q := journal.FileQuery{Scopes: []string{""}, Limit: 8}
	if _, err := x.Files.Nearest(b.Context(), "m", q, numbers(), 0.05); err != nil {
		b.Fatal(err) // so that they are read
	}
	for b.Loop() {
		if _, err := x.Files.Nearest(b.Context(), "m", q, numbers(), 0.05); err != nil {
			b.Fatal(err)
		}
	}
}
