package shell

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// programTable is the table of programs, which says how it is read.
//
//go:embed programs.txt
var programTable string

// readPrograms returns the table as it is looked up. It is read once, and never changes.
var readPrograms = sync.OnceValue(func() map[string]*entry {
	table, faults := parsePrograms(programTable)
	if len(faults) > 0 {
		return nil // a test reads it too; no program is known then, and all of them ask
	}
	return table
})

// entry is what the table says of a program, or of one of its subcommands.
type entry struct {
	name    string // "git log" for a subcommand
	why     string
	flags   string // letters without an operand
	takes   string // letters with one, in the same word or the next
	joined  string // letters with one in the same word, or with none
	long    map[string]operandOf
	single  map[string]operandOf // names behind one hyphen or two
	matches *regexp.Regexp       // whole words that are options without an operand

	values   *regexp.Regexp // what an option's operand must match
	operands *regexp.Regexp // what an operand must match
	filter   int            // with at most so many operands it only passes on what it reads; -1 if that is not so
	unless   string         // unless one of these options stands there
	named    int            // so many operands have to stand in the row
	bundled  bool           // the first word has options even without a hyphen
	any      bool           // no word makes it do more than its name says
	obeys    *obeyed        // the files of its directory that it obeys; nil: none
	fixed    bool           // all its words have to stand in the row
	group    bool           // subcommands are listed
	most     int            // so many operands; -1 if any number
	reads    bool           // it changes no files
}

// obeyed are files that a program obeys.
type obeyed struct {
	files   Files    // none: it is not known which
	modules []string // those which it obeys unless its first word is a script
}

// operandOf says whether an option has an operand.
type operandOf int

const (
	noOperand operandOf = iota
	hasOperand
	mayJoin
)

// parsePrograms reads a table, and says what is wrong with its lines.
func parsePrograms(text string) (table map[string]*entry, faults []error) {
	table = map[string]*entry{}
	var current *entry
	for number, line := range strings.Split(text, "\n") {
		field := strings.TrimSpace(line)
		var err error
		switch {
		case field == "" || strings.HasPrefix(field, "#"):
			continue
		case line[0] != ' ':
			current, err = newEntry(table, line)
		case current == nil:
			err = fmt.Errorf("no program stands before it")
		default:
			key, value, _ := strings.Cut(field, " ")
			err = current.set(table, key, strings.TrimSpace(value))
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("line %d: %w: %s", number+1, err, field))
		}
	}
	for name, e := range table {
		if at := strings.LastIndexByte(name, ' '); at >= 0 {
			parent := name[:at]
			if table[parent] == nil {
				faults = append(faults, fmt.Errorf("%s: its program is not in the table", name))
				continue
			}
			table[parent].group = true
			for above := parent; above != "" && e.obeys == nil; above = above[:max(strings.LastIndexByte(above, ' '), 0)] {
				if p := table[above]; p != nil {
					e.obeys = p.obeys
				}
			}
		}
	}
	return table, faults
}

// newEntry adds the programs of a line NAME, NAME: WHY.
func newEntry(table map[string]*entry, line string) (*entry, error) {
	names, why, told := strings.Cut(line, ": ")
	e := &entry{why: why, long: map[string]operandOf{}, single: map[string]operandOf{}, filter: -1, most: -1}
	if !told || why == "" {
		return e, fmt.Errorf("it says not what the program does")
	}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if table[name] != nil || name == "" {
			return e, fmt.Errorf("%q stands there twice", name)
		}
		if e.name == "" {
			e.name = name
		}
		table[name] = e
	}
	return e, nil
}

// set reads one field of an entry.
func (e *entry) set(table map[string]*entry, key, value string) (err error) {
	switch key {
	case "flags":
		e.flags += strings.ReplaceAll(value, " ", "")
	case "takes":
		e.takes += strings.ReplaceAll(value, " ", "")
	case "joined":
		e.joined += strings.ReplaceAll(value, " ", "")
	case "long":
		optionNames(e.long, value)
	case "single":
		optionNames(e.single, value)
	case "matches":
		e.matches, err = regexp.Compile(`^(?:` + value + `)$`)
	case "values":
		e.values, err = regexp.Compile(`^(?:` + value + `)$`)
	case "operands":
		e.operands, err = regexp.Compile(`^(?:` + value + `)$`)
	case "filter":
		_, err = fmt.Sscanf(value, "%d", &e.filter)
	case "unless":
		e.unless = value
	case "named":
		_, err = fmt.Sscanf(value, "%d", &e.named)
	case "bundled":
		e.bundled = true
	case "most":
		_, err = fmt.Sscanf(value, "%d", &e.most)
	case "reads":
		e.reads = true
	case "any":
		e.any = true
	case "obeys", "above", "modules":
		if e.obeys == nil {
			e.obeys = &obeyed{}
		}
		into := map[string]*[]string{"obeys": &e.obeys.files.Names, "above": &e.obeys.files.Above, "modules": &e.obeys.modules}[key]
		*into = append(*into, strings.Fields(value)...)
	case "fixed":
		e.fixed = true
	case "like":
		other := table[value]
		if other == nil {
			return fmt.Errorf("there is no such entry above")
		}
		e.flags, e.takes, e.joined = e.flags+other.flags, e.takes+other.takes, e.joined+other.joined
		for name, operand := range other.long {
			e.long[name] = operand
		}
		for name, operand := range other.single {
			e.single[name] = operand
		}
	default:
		return fmt.Errorf("there is no such field")
	}
	return err
}

// optionNames adds names of options: NAME has no operand, NAME= has one, and NAME[=] may have one joined.
func optionNames(all map[string]operandOf, text string) {
	for name := range strings.FieldsSeq(text) {
		if bare, found := strings.CutSuffix(name, "[=]"); found {
			all[bare] = mayJoin
		} else if bare, found := strings.CutSuffix(name, "="); found {
			all[bare] = hasOperand
		} else {
			all[name] = noOperand
		}
	}
}

// option is what the table says of one word that begins with a hyphen.
type option struct {
	safe    bool
	next    bool     // its operand is the next word
	operand string   // its operand in the same word
	joined  bool     // there is one
	names   []string // its letters, or its name
}

// option looks a word up.
func (e *entry) option(word string) option {
	if e.matches != nil && e.matches.MatchString(word) {
		return option{safe: true, names: []string{word}}
	}
	name, operand, joined := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
	for _, table := range [...]map[string]operandOf{e.single, e.long} {
		takes, known := table[name]
		if !known || name == "" || len(e.single) == 0 && !strings.HasPrefix(word, "--") {
			continue
		}
		if _, single := e.single[name]; !single && !strings.HasPrefix(word, "--") {
			continue
		}
		return option{safe: !joined || takes != noOperand, next: takes == hasOperand && !joined, operand: operand, joined: joined, names: []string{name}}
	}
	if strings.HasPrefix(word, "--") {
		return option{}
	}
	return e.letters(word[1:])
}

// letters looks up the letters behind one hyphen.
func (e *entry) letters(word string) option {
	o := option{safe: word != ""}
	for i, c := range word {
		letter, rest := string(c), word[i+len(string(c)):]
		o.names = append(o.names, letter)
		switch {
		case strings.Contains(e.takes, letter):
			o.next, o.operand, o.joined = rest == "", rest, rest != ""
			return o
		case strings.Contains(e.joined, letter):
			o.operand, o.joined = rest, rest != ""
			return o
		case !strings.Contains(e.flags, letter):
			return option{}
		}
	}
	return o
}

// decides returns the files by which a directory decides what the program runs. scripted is true if its first word is a
// script.
func (o *obeyed) decides(scripted bool) Files {
	switch {
	case o == nil:
		return Files{}
	case len(o.files.Names)+len(o.files.Above)+len(o.modules) == 0:
		return Files{Names: []string{"*"}}
	case scripted:
		return o.files
	}
	return Files{Names: slices.Concat(o.files.Names, o.modules), Above: o.files.Above}
}
