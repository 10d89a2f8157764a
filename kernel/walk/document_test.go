package walk

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the checkout.
const root = "../.."

// walked are the sections of documents that are walked, with those below them: each of their items and rows
// of tables is quoted whole, and each section that has none is quoted.
var walked = []struct {
	document, section string
	also              rule
}{
	{"README.org", "The first five minutes", whole},
	{"README.org", "Your own model", whole},
	{"README.org", "Write your first skill", nothing},
	{"elisp/org-agent.org", "The first half hour", nothing},
	{"elisp/org-agent.org", "Common tasks", literals},
}

// A rule says what of the paragraphs of a section is quoted, too.
type rule int

const (
	nothing  rule = iota
	literals      // each key, command and name that stands between equals signs
	whole         // each paragraph and each block whole, except a paragraph that leads to another page
)

// readScripts reads the walks that are always done, and those in testdata/more, which take their time.
func readScripts(t *testing.T) []script {
	t.Helper()
	names, err := filepath.Glob("testdata/*.org")
	further, furtherErr := filepath.Glob("testdata/more/*.org")
	if err = errors.Join(err, furtherErr); err != nil || len(names) == 0 || len(further) == 0 {
		t.Fatalf("no walks are in testdata: %v", err)
	}
	var all []script
	for _, name := range slices.Concat(names, further) {
		s, err := readScript(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestQuotes: what a walk quotes stands in its document.
func TestQuotes(t *testing.T) {
	for _, s := range readScripts(t) {
		document := plain(readDocument(t, s.document))
		for _, now := range s.steps {
			for _, quote := range now.quotes {
				if !strings.Contains(document, quote) {
					t.Errorf("%s: the step %q quotes what is not in %s any more: %s", s.name, now.title, s.document, quote)
				}
			}
		}
	}
}

// TestDocumentsAreWalked: whoever changes the words of a step in a document finds the walk that has to do
// what they say.
func TestDocumentsAreWalked(t *testing.T) {
	scripts := readScripts(t)
	for _, w := range walked {
		var quotes []string
		for _, s := range scripts {
			if s.document == w.document {
				for _, now := range s.steps {
					quotes = append(quotes, now.quotes...)
				}
			}
		}
		// A quote may stand within another one, which would not be found without it.
		slices.SortFunc(quotes, func(a, b string) int { return len(b) - len(a) })
		sections := sectionsOf(readDocument(t, w.document), w.section)
		if len(sections) == 0 {
			t.Errorf("%s has no section %q", w.document, w.section)
		}
		for _, s := range sections {
			items := s.items
			switch w.also {
			case whole:
				elsewhere := func(paragraph string) bool { return strings.Contains(paragraph, "[[file:") }
				items = slices.Concat(s.items, slices.DeleteFunc(slices.Clone(s.paragraphs), elsewhere))
			case literals:
				for _, left := range literal.FindAllString(unquoted(strings.Join(s.paragraphs, " "), quotes), -1) {
					t.Errorf("%s, %s: no walk quotes the sentence with %s", w.document, s.title, left)
				}
			}
			for _, item := range items {
				if left := unquoted(item, quotes); left != "" {
					t.Errorf("%s, %s: no walk quotes %q of the step %q", w.document, s.title, left, item)
				}
			}
			if text := strings.Join(s.paragraphs, " "); len(s.items) == 0 && text != "" && unquoted(text, quotes) == text {
				t.Errorf("%s, %s: no walk quotes this section", w.document, s.title)
			}
		}
	}
}

// unquoted is what is left of a text without quotes.
func unquoted(text string, quotes []string) string {
	for _, quote := range quotes {
		text = strings.ReplaceAll(text, quote, " ")
	}
	return plain(text)
}

// A section is a heading of a document without those below it. Items are also the rows of its tables, but not
// the first ones, which name the columns. A block is a paragraph. Pictures are none.
type section struct {
	title             string
	items, paragraphs []string
}

var (
	literal     = regexp.MustCompile(`=[^ =]+( [^=]+)?=`)
	itemBegin   = regexp.MustCompile(`^(?:- |[0-9]+\. )`)
	pictureLine = regexp.MustCompile(`^\[\[file:[^]]*\.(?:png|gif)\]\]$`)
)

// sectionsOf are the section with a title and those below it.
func sectionsOf(document, title string) []section {
	var found []section
	level := 0
	row := false       // the line before was a row of a table
	var open *[]string // the items or paragraphs, whose last one goes on
	for line := range strings.SplitSeq(document, "\n") {
		stars := len(line) - len(strings.TrimLeft(line, "*"))
		if stars > 0 && strings.HasPrefix(line[stars:], " ") {
			open = nil
			name := strings.TrimSpace(line[stars:])
			switch {
			case name == title:
				level = stars
			case level > 0 && stars <= level:
				return found
			}
			if level > 0 {
				found = append(found, section{title: name})
			}
			continue
		}
		if level == 0 {
			continue
		}
		now := &found[len(found)-1]
		before := row
		row = strings.HasPrefix(line, "|")
		begin := itemBegin.FindString(line)
		switch {
		case row:
			open = nil
			if before && !strings.HasPrefix(line, "|-") {
				now.items = append(now.items, plain(line))
			}
		case begin != "":
			open = &now.items
			now.items = append(now.items, plain(line[len(begin):]))
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#+") || pictureLine.MatchString(line):
			open = nil
		case open == nil || open == &now.items && !strings.HasPrefix(line, "  "):
			open = &now.paragraphs
			now.paragraphs = append(now.paragraphs, plain(line))
		default:
			last := &(*open)[len(*open)-1]
			*last = plain(*last + " " + line)
		}
	}
	return found
}

// TestSections: a test of what finds the steps of documents, which would find nothing wrong without them.
func TestSections(t *testing.T) {
	got := sectionsOf("* One\n- no\n* Two\ntext\n#+KEY: no\n1. first\n   goes on\n2. second\n\nafter\nall\n\n"+
		"[[file:a.png]]\n| key | what |\n|-----+------|\n| a   | b  c |\n#+begin_src sh\nls\npwd\n#+end_src\n** Below\n- third\n* Three\n- no", "Two")
	want := []section{
		{title: "Two", items: []string{"first goes on", "second", "| a | b c |"}, paragraphs: []string{"text", "after all", "ls pwd"}},
		{title: "Below", items: []string{"third"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if left := unquoted("press a and b", []string{"press a"}); left != "and b" {
		t.Errorf("left: %q", left)
	}
	if got := literal.FindAllString("call =M-x a= or =B=, not a = b", -1); !slices.Equal(got, []string{"=M-x a=", "=B="}) {
		t.Errorf("the literals are %q", got)
	}
}
