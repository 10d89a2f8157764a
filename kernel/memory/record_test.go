package memory_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/memory"
	"org-agent/kernel/org"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// anyText draws what people and models write, including what has a meaning in Org.
func anyText() *rapid.Generator[string] {
	line := rapid.SampledFrom([]string{"", "The car is blue", "* Heading", "** TODO Deeper :tag:", ":PROPERTIES:", ":ID: a", ":END:", ":AGENT: 0123456789ab", "#+begin_src sh", "#+end_src",
		"# comment", "SCHEDULED: <2026-11-22>", "| a | b |", "- item", "ÄÖ 中文 🙂", "\\u200b", "* ", "*", "text :a:b:", "COMMENT x", "[#A] x", "x\r"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(line, rapid.String()), 0, 8).Draw(t, "lines"), "\n")
	})
}

// anyRecord draws a valid record.
func anyRecord(id string) *rapid.Generator[memory.Record] {
	return rapid.Custom(func(t *rapid.T) memory.Record {
		r, err := memory.Record{
			ID: id, Title: anyText().Draw(t, "title"), Text: anyText().Draw(t, "text"), Created: noon,
			Tags: rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "tags"), Scope: rapid.SampledFrom([]string{"", "family", "a b"}).Draw(t, "scope"), Source: "main#t-1",
		}.Clean()
		if err != nil {
			return memory.Record{}
		}
		return r
	}).Filter(func(r memory.Record) bool { return r.ID != "" })
}

// TestRecordsRoundTrip checks that a record that the agent adds to any text is read again
// unchanged, as its own, and that adding, changing and removing it changes no other byte.
func TestRecordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string { return lines(anyText().Draw(t, "lines")) }).Filter(open).Draw(t, "before")
		r := anyRecord("r-1").Draw(t, "record")
		added := memory.AddRecord(text, r)
		if !strings.HasPrefix(added, text) {
			t.Fatalf("the text before was changed:\n%q\n%q", text, added)
		}
		got, err := memory.OwnRecord(added, "r-1", time.UTC)
		if err != nil {
			t.Fatalf("%v in %q", err, added)
		}
		if got.Title != r.Title || got.Text != r.Text || !got.Created.Equal(noon) || strings.Join(got.Tags, " ") != strings.Join(r.Tags, " ") || got.Scope != r.Scope {
			t.Fatalf("got %+v\nwant %+v", got, r)
		}
		if ok, why := org.IsInert(r.String()[strings.Index(r.String(), ":END:\n")+6:]); !ok {
			t.Fatalf("%q is not inert: %s", r.String(), why)
		}
		after := "* Theirs\n" + anyText().Draw(t, "after")
		changed, was, err := memory.UpdateRecord(added+after, anyRecord("r-1").Draw(t, "new"), time.UTC)
		if err != nil || was.Text != r.Text || !strings.HasPrefix(changed, text) || !strings.HasSuffix(changed, after) {
			t.Fatalf("changed: %v, %+v\n%q", err, was, changed)
		}
		removed, _, err := memory.RemoveRecord(changed, "r-1", time.UTC)
		if err != nil || removed != text+after {
			t.Fatalf("removed: %v\n%q, want\n%q", err, removed, text+after)
		}
	})
}

// lines returns a text whose last line is ended.
func lines(text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// open reports whether a heading at the end of the text would be one: the text does not end within
// a block or below a hidden heading.
func open(text string) bool {
	h := org.Parse(text + "* last\n:PROPERTIES:\n:ID: last\n:END:\n").FindID("last")
	return h != nil && !h.Hidden()
}

func TestTheirs(t *testing.T) {
	r, err := memory.Record{ID: "r-1", Title: "The car", Text: "It is blue.", Tags: []string{"car"}, Created: noon}.Clean()
	if err != nil {
		t.Fatal(err)
	}
	text := memory.AddRecord("* Mine\nprose\n", r)
	for name, c := range map[string]struct {
		edit func(string) string
		want error
	}{
		"as it was":        {func(s string) string { return s }, nil},
		"followed":         {func(s string) string { return s + "\n\n* Next\n" }, nil},
		"edited":           {func(s string) string { return strings.Replace(s, "blue", "red", 1) }, memory.ErrNotOwn},
		"added to":         {func(s string) string { return s + "And old.\n" }, memory.ErrNotOwn},
		"other tags":       {func(s string) string { return strings.Replace(s, ":car:", ":bus:", 1) }, memory.ErrNotOwn},
		"a property more":  {func(s string) string { return strings.Replace(s, ":SCOPE:", ":X: y\n:SCOPE:", 1) + ":X: y\n" }, memory.ErrNotOwn},
		"moved deeper":     {func(s string) string { return strings.Replace(s, "* The car", "** The car", 1) }, memory.ErrNotOwn},
		"copied":           {func(s string) string { return s + strings.TrimPrefix(s, "* Mine\nprose\n") }, memory.ErrNotOwn},
		"gone":             {func(string) string { return "* Mine\n" }, memory.ErrNotFound},
		"headings below":   {func(s string) string { return s + "** Theirs\n" }, memory.ErrHolds},
		"hidden":           {func(s string) string { return strings.Replace(s, "* The car", "* COMMENT The car", 1) }, memory.ErrNotFound},
		"mark of no one":   {func(s string) string { return strings.Replace(s, ":ID: ", ":AGENT: 1\n:ID: ", 1) }, memory.ErrNotOwn},
		"empty":            {func(string) string { return "" }, memory.ErrNotFound},
		"time changed too": {func(s string) string { return strings.Replace(s, "12:00", "13:00", 1) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := memory.RemoveRecord(c.edit(text), "r-1", time.UTC); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestClean(t *testing.T) {
	for name, c := range map[string]struct {
		in          memory.Record
		title, text string
		fault       string
	}{
		"first line":    {in: memory.Record{Text: "The car is blue\nand old"}, title: "The car is blue", text: "and old"},
		"long line":     {in: memory.Record{Text: strings.Repeat("word ", 60)}, title: strings.TrimSpace(strings.Repeat("word ", 12)) + "…", text: strings.TrimSpace(strings.Repeat("word ", 60))},
		"nothing":       {in: memory.Record{Title: " \n"}, fault: "nothing to keep"},
		"headings":      {in: memory.Record{Title: "* A\nb", Text: "* B\n** C"}, title: "A b", text: "- B\n- C"},
		"long title":    {in: memory.Record{Title: strings.Repeat("a", 121)}, fault: "longer than 120"},
		"too large":     {in: memory.Record{Title: "a", Text: strings.Repeat("a", 16_000+1)}, fault: "at most 16000"},
		"too many tags": {in: memory.Record{Title: "a", Tags: strings.Fields("a b c d e f g h i j k l m")}, fault: "13 tags"},
	} {
		r, err := c.in.Clean()
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: got %v, want %q", name, err, c.fault)
			}
			continue
		}
		if err != nil || r.Title != c.title || r.Text != c.text {
			t.Errorf("%s: got %q %q (%v), want %q %q", name, r.Title, r.Text, err, c.title, c.text)
		}
	}
}

// A record gets no tag that would have the agent do something: neither one of the list nor one that the person has chosen.
// Nor does a heading in its text.
func TestCleanTags(t *testing.T) {
	r := memory.Record{Title: "The car :robot:", Text: "a\n* TODO b :robot:\n", Tags: []string{"car", "Robot", "agenttask", "agenthook", "ro bot", "user"}}
	for _, c := range []struct {
		held []string
		tags string
	}{{nil, "car Robot ro_bot user"}, {[]string{"robot"}, "car ro_bot user"}, {[]string{"x", "ro_bot"}, "car Robot user"}} {
		clean, err := r.Clean(c.held...)
		if err != nil || strings.Join(clean.Tags, " ") != c.tags {
			t.Errorf("held is %v: the tags are %v, %v", c.held, clean.Tags, err)
		}
		headings := org.Parse(clean.String()).Headings
		if len(headings) != 1 || strings.Join(headings[0].Tags, " ") != c.tags {
			t.Errorf("held is %v: Org reads\n%s", c.held, clean)
		}
	}
}

// TestCleanAgain checks that a record that was taken is taken again: a change of it begins with
// what the file has.
func TestCleanAgain(t *testing.T) {
	for _, long := range []string{
		":PROPERTIES: AA\u200b~AA*AAAA AAA The car is blue AAAAAAAAAAAAA*AAA~\u200bAAAAAAAAA The car is blue *\u200b* TODO Deeper :tag: :ID: a",
		"TODO " + strings.Repeat("a", 115), strings.Repeat("*a* ", 30), strings.Repeat("_a_ ", 30),
	} {
		for _, r := range []memory.Record{{Title: long}, {Text: long}} {
			for range 4 {
				again, err := r.Clean()
				if err != nil {
					t.Fatalf("%q: %v", r.Title, err)
				}
				r = again
			}
		}
	}
	if _, err := (memory.Record{Title: strings.Repeat("a\u200b", 1000)}).Clean(); err == nil {
		t.Error("a title of thousands of characters that are not seen is taken")
	}
}

// A heading that says what a text said does not outlive it.
func TestChangedTextsAndTheirTitles(t *testing.T) {
	for _, c := range []struct{ title, text, newTitle, newText, want, body string }{
		{"The car is blue", "", "", "The car is red", "The car is red", ""},
		{"The blue car", "Ida's car is blue.", "", "Ida's car is red.", "Ida's car is red.", ""},
		{"Colour of the car", "It is blue.", "", "It is red.", "Colour of the car", "It is red."},
		{"The blue car", "Ida's car is blue.", "The red car", "Ida's car is red.", "The red car", "Ida's car is red."},
		{"The car is blue", "", "The car is red", "", "The car is red", ""},
		{"The blue car", "Ida's car is blue.", "", "", "The blue car", "Ida's car is blue."},
	} {
		r, err := memory.Record{Title: c.title, Text: c.text, Tags: []string{"car"}}.Changed(c.newTitle, c.newText, nil).Clean()
		if err != nil || r.Title != c.want || r.Text != c.body || len(r.Tags) != 1 {
			t.Errorf("%q with %q is %q with %q, %v", c.title, c.newText, r.Title, r.Text, err)
		}
	}
}
