package history

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/toolcall"
	"org-agent/kernel/text"
)

// faultsLimit is how many faults a model is told of.
const faultsLimit = 12

// check returns the notes that can be used, and what is wrong with the others. source is the text that the model
// was given. A note can be used if it stands below a heading, is no call, and names no file, id, number or person
// that is not in the source: what a model made up would be taken for what was said.
func (s *Summary) check(source string) (good Summary, faults []string) {
	good = Summary{Closed: s.Closed}
	in := sourceOf(source)
	from, to := s.sections(), good.sections()
	for i, part := range from {
		for _, note := range *part.notes {
			if fault := in.fault(note, part.heading == peopleHeading); fault != "" {
				faults = append(faults, fault)
				continue
			}
			*to[i].notes = append(*to[i].notes, note)
		}
	}
	switch {
	case len(faults) > 0 || !good.Empty():
	case len(s.unheaded) > 0:
		faults = append(faults, "no line stands below one of the headings")
	default:
		faults = append(faults, "there are no notes")
	}
	if len(faults) > faultsLimit {
		faults = append(faults[:faultsLimit], fmt.Sprintf("and %d more", len(faults)-faultsLimit))
	}
	return good, faults
}

// source is a text of which notes are made.
type source struct {
	folded string
	// nouns is set if its language writes nouns with a capital letter, so that one says nothing of a name.
	nouns bool
}

// nounShare tells languages apart: in German one of three words is a noun, in English one of ten or twenty a name.
const nounShare = 5

// sourceOf returns a text as notes are checked with it.
func sourceOf(given string) source {
	s := source{folded: strings.ToLower(given)}
	within, capital := 0, 0
	for line := range strings.Lines(given) {
		words := wordsOf(line)
		for i, w := range words {
			if i == 0 || w.begins || utf8.RuneCountInString(w.text) < 3 || w.isID() {
				continue
			}
			within++
			if w.capital() && !words[i-1].capital() { // else it is the rest of a name
				capital++
			}
		}
	}
	s.nouns = capital*nounShare > within
	return s
}

// plistBegins finds a property list.
var plistBegins = regexp.MustCompile(`\(\s*:[a-z][a-z-]*\s`)

// fault returns why a note cannot be used, "" if it can.
func (s source) fault(note string, people bool) string {
	parser := toolcall.New(llm.Request{})
	parser.Write(note)
	if _, calls := parser.Finish(); len(calls) > 0 || plistBegins.MatchString(note) {
		return fmt.Sprintf("%q has a call or a property list; a note is a sentence", text.Clip(note, quotedNote))
	}
	words := wordsOf(note)
	for i, w := range words {
		isName := w.capital() && (i > 0 && !w.begins && (people || !s.nouns || words[i-1].capital() && !words[i-1].begins && i > 1) ||
			people && i == 0 && (w.ends || len(words) > 1 && words[1].capital()))
		if (w.isFile() || w.isID() || isName) && !s.has(w) {
			return fmt.Sprintf("%q does not occur in what you were given; in the note %q", w.text, text.Clip(note, quotedNote))
		}
	}
	return ""
}

// has reports whether a word is in the source. A name may have another ending there.
func (s source) has(w word) bool {
	folded := strings.ToLower(w.text)
	if strings.Contains(s.folded, folded) {
		return true
	}
	if w.isFile() || w.isID() {
		return false
	}
	runes := []rune(folded)
	return len(runes) > 4 && strings.Contains(s.folded, string(runes[:max(4, len(runes)*3/4)]))
}

// word is a word of a line. begins is set behind the end of a sentence, ends before a comma or a colon.
type word struct {
	text         string
	begins, ends bool
}

// tag finds what looks like the end of an element, which is no path.
var tag = regexp.MustCompile(`</\w+>`)

// wordsOf returns the words of a line.
func wordsOf(line string) (words []word) {
	apart := func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune("()[]{}<>\"'`’‘“”„«»|=*…", c)
	}
	begins := true
	for found := range strings.FieldsFuncSeq(tag.ReplaceAllString(line, " "), apart) {
		bare := strings.TrimRight(found, ".,:;!?-–")
		if bare = strings.TrimLeft(bare, "-–:,"); bare != "" {
			words = append(words, word{bare, begins, strings.ContainsAny(found[len(found)-1:], ",:;")})
		}
		begins = strings.ContainsAny(found[len(found)-1:], ".:!?")
	}
	return words
}

// capital reports whether a word begins with a capital letter and has three letters and more.
func (w word) capital() bool {
	first, _ := utf8.DecodeRuneInString(w.text)
	return unicode.IsUpper(first) && utf8.RuneCountInString(w.text) >= 3
}

var (
	fileName = regexp.MustCompile(`^[\w.+-]*\w\w\.[A-Za-z][A-Za-z0-9]{0,7}$`)
	filePath = regexp.MustCompile(`^(?:~|\.{1,2})?/\S+$|/\S+/|/\S*\w\.\w+$`)
)

// isFile reports whether a word names a file.
func (w word) isFile() bool { return fileName.MatchString(w.text) || filePath.MatchString(w.text) }

// isID reports whether a word is an id, a date or a number that nobody counts on fingers.
func (w word) isID() bool {
	digits, letters := 0, 0
	for _, c := range w.text {
		switch {
		case unicode.IsDigit(c):
			digits++
		case unicode.IsLetter(c):
			letters++
		}
	}
	return digits > 2 || digits > 0 && letters > 0 && len(w.text) > 3
}

// quotedNote is how many characters of a note are quoted.
const quotedNote = 120
