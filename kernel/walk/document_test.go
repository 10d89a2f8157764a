package walk

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the checkout.
const root = "../.."

// walked are the sections of documents that are walked, with those below them: each of their items is
// quoted whole, and each section that has none is quoted.
var walked = []struct{ document, section string }{
	{"README.org", "The first five minutes"},
	{"README.org", "Write your first skill"},
	{"elisp/org-agent.org", "The first half hour"},
	{"elisp/org-agent.org", "How do I see and revoke what I have allowed?"},
}

func readScripts(t *testing.T) []script {
	t.Helper()
	names, err := filepath.Glob("testdata/*.org")
	if err != nil || len(names) == 0 {
		t.Fatalf("no walks are in testdata: %v", err)
	}
	var all []script
	for _, name := range names {
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
		sections := sectionsOf(readDocument(t, w.document), w.section)
		if len(sections) == 0 {
			t.Errorf("%s has no section %q", w.document, w.section)
		}
		for _, s := range sections {
			for _, item := range s.items {
				if left := unquoted(item, quotes); left != "" {
					t.Errorf("%s, %s: no walk quotes %q of the step %q", w.document, s.title, left, item)
				}
			}
			if text := plain(s.text); len(s.items) == 0 && text != "" && unquoted(text, quotes) == text {
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

// A section is a heading of a document without those below it.
type section struct {
	title, text string
	items       []string
}

var itemBegin = regexp.MustCompile(`^(?:- |[0-9]+\. )`)

// sectionsOf are the section with a title and those below it.
func sectionsOf(document, title string) []section {
	var found []section
	level := 0
	within := false // an item
	for line := range strings.SplitSeq(document, "\n") {
		stars := len(line) - len(strings.TrimLeft(line, "*"))
		if stars > 0 && strings.HasPrefix(line[stars:], " ") {
			within = false
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
		if level == 0 || strings.HasPrefix(line, "#+") {
			continue
		}
		now := &found[len(found)-1]
		begin := itemBegin.FindString(line)
		switch {
		case begin != "":
			within = true
			now.items = append(now.items, plain(line[len(begin):]))
		case within && strings.HasPrefix(line, "  "):
			last := &now.items[len(now.items)-1]
			*last = plain(*last + " " + line)
		default:
			within = false
			now.text += line + "\n"
		}
	}
	return found
}

// TestSections: a test of what finds the steps of documents, which would find nothing wrong without them.
func TestSections(t *testing.T) {
	got := sectionsOf("* One\n- no\n* Two\ntext\n1. first\n   goes on\n2. second\n\nafter\n** Below\n- third\n* Three\n- no", "Two")
	if len(got) != 2 || len(got[0].items) != 2 || got[0].items[0] != "first goes on" || plain(got[0].text) != "text after" || got[1].items[0] != "third" {
		t.Errorf("%+v", got)
	}
	if left := unquoted("press a and b", []string{"press a"}); left != "and b" {
		t.Errorf("left: %q", left)
	}
}
