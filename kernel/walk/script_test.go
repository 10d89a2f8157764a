package walk

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// A script is a walk as its file in testdata has it: an Org file with a heading for each step. Prose
// in it is for the reader. A step quotes the words of the document that it walks, in a quote block, and
// is otherwise a list of parts.
type script struct {
	name     string
	document string // the file that it quotes, from the root of the checkout
	model    string // what a model answers, for llmtest; "" has the built-in guide answer
	found    bool   // the model is served only from a part "serve" on, and nothing names it to Emacs
	steps    []step
}

type step struct {
	title  string
	inits  []string // the tags of its heading: with which inits it is done; none means with all
	quotes []string
	parts  []part
}

// A part is a line "- WORD :: TEXT" of a step. The words are
//
//	run     start a program in the checkout, as from a shell
//	press   press keys, which are named as Emacs names them
//	type    press the keys of a text
//	call    M-x, the name of a command, RET
//	see     wait until this is on the screen
//	unseen  and this is not
//	start   the clock with this name starts, if it does not run
//	stop    it stops
//	serve   the model listens at this address from now on
//
// What is to be seen or not is plain text, or a regular expression between slashes. Lines and blanks do
// not matter to it.
type part struct {
	line int
	word string
	text string
}

var partWords = []string{"run", "press", "type", "call", "see", "unseen", "start", "stop", "serve"}

// looks reports whether the part only looks at the screen.
func (p part) looks() bool { return p.word == "see" || p.word == "unseen" }

// holds reports whether a screen is as the part wants it.
func (p part) holds(screen string) bool {
	found := false
	if pattern, ok := p.pattern(); ok {
		found = pattern.MatchString(screen)
	} else {
		found = strings.Contains(screen, plain(p.text))
	}
	return found == (p.word == "see")
}

func (p part) pattern() (*regexp.Regexp, bool) {
	inner, slash := strings.CutPrefix(p.text, "/")
	inner, slashes := strings.CutSuffix(inner, "/")
	if !slash || !slashes {
		return nil, false
	}
	return regexp.MustCompile(inner), true
}

// plain is a text whose lines and blanks do not matter.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

var (
	keywordLine = regexp.MustCompile(`^#\+([A-Z]+): +(.*)$`)
	headingLine = regexp.MustCompile(`^\*+ +(.*?)(?: +:([a-z:]+):)?$`)
	partLine    = regexp.MustCompile(`^- ([a-z]+) :: +(.*)$`)
	blockBegin  = regexp.MustCompile(`^#\+begin_(quote|src)`)
)

// readScript reads the script in a file.
func readScript(name string) (script, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return script{}, err
	}
	s := script{name: name}
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if block := blockBegin.FindStringSubmatch(line); block != nil {
			length := slices.Index(lines[i:], "#+end_"+block[1])
			if length < 0 || block[1] == "quote" && len(s.steps) == 0 {
				return s, fmt.Errorf("%s:%d: the block has no end, or is in no step", name, i+1)
			}
			body := strings.Join(lines[i+1:i+length], "\n")
			if block[1] == "src" {
				s.model = body
			} else {
				now := &s.steps[len(s.steps)-1]
				now.quotes = append(now.quotes, plain(body))
			}
			i += length
			continue
		}
		if keyword := keywordLine.FindStringSubmatch(line); keyword != nil && keyword[1] == "DOCUMENT" {
			s.document = keyword[2]
		} else if heading := headingLine.FindStringSubmatch(line); heading != nil {
			s.steps = append(s.steps, step{title: heading[1], inits: strings.FieldsFunc(heading[2], func(r rune) bool { return r == ':' })})
		} else if found := partLine.FindStringSubmatch(line); found != nil {
			p := part{i + 1, found[1], found[2]}
			if !slices.Contains(partWords, p.word) || len(s.steps) == 0 {
				return s, fmt.Errorf("%s:%d: %q is none of %q, or in no step", name, p.line, p.word, partWords)
			}
			now := &s.steps[len(s.steps)-1]
			now.parts = append(now.parts, p)
			s.found = s.found || p.word == "serve"
		}
	}
	return s, nil
}
