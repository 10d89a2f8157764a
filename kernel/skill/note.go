package skill

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/lisp"
	"org-agent/kernel/org"
)

// Options configure how a note is loaded. The zero value is usable.
type Options struct {
	// Limits bound each call into the note; see [lisp.Limits] for the defaults.
	Limits lisp.Limits
	// Log receives the lines that the note logs, with the name of its skill. Default: they are
	// dropped.
	Log func(skill, text string)
	// Inject receives the events that the note injects. Default: an error in the note.
	Inject func(event sexp.List)
	// Recorded returns a turn of the journal, for tests that replay one. Default: an error
	// in the test.
	Recorded func(ctx context.Context, turn string) (Recording, error)
	// Logger receives messages for the person who runs the kernel. Default: they are dropped.
	Logger *slog.Logger
	// Persona returns a value from the person's IDENTITY.org, such as "name", or "". The name is in
	// lower case. Default: "".
	Persona func(name string) string
	// Specs returns the kernel's kinds of actions. They determine what answers an event, and notes
	// cannot define actions for their targets. Default: none.
	Specs func() action.Specs
	// Tools returns the names of the kernel's tools. A note's tool cannot have one of them. Default:
	// none.
	Tools func() []string
	// CheckEvent returns an error if nobody would take an event that a note injects. Default: nil.
	CheckEvent func(event sexp.List) error
	// defined returns the kinds of actions that live notes define. Default: those of this note.
	defined func() action.Specs
	// live returns the identity that the live notes define. Default: that of this note.
	live func() Identity
	// Shipped is true if the note came with the program.
	Shipped bool
	// Grants decide what the note can reach. Default: nothing is granted.
	Grants *Grants
	// memory is the memory that all notes share. Default: each call has its own limit.
	memory *lisp.Memory
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = func(string, string) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Persona == nil {
		o.Persona = func(string) string { return "" }
	}
	if o.Specs == nil {
		o.Specs = func() action.Specs { return nil }
	}
	if o.Tools == nil {
		o.Tools = func() []string { return nil }
	}
	if o.CheckEvent == nil {
		o.CheckEvent = func(sexp.List) error { return nil }
	}
	if o.live == nil {
		o.live = func() Identity { return Identity{} }
	}
	return o
}

// Note is a note that was loaded into its own environment.
type Note struct {
	// File is the note, as diagnostics name it.
	File string
	// Title, Description and Version are the note's keywords, or "".
	Title, Description, Version string
	// Hash is the SHA-256 of its blocks, in hex.
	Hash string
	// Capabilities are those that #+CAPABILITIES requests.
	Capabilities []string
	// Identity is what defidentity defines.
	Identity Identity
	// Diagnostics are the note's warnings.
	Diagnostics []Diagnostic

	surprises     []Diagnostic // what only a check tells
	text          string       // of the whole note
	mentionsHooks bool         // the text seems to define hooks, even if they are broken
	key           string
	ids           []string // its own :ID:s, for dependencies
	dependencies  []dependency
	blocks        []org.SkillBlock
	options       Options
	requested     []capabilityRequest
	consent       consent

	environment *lisp.Environment
	skills      []*Skill
	hooks       []*Hook // in the order in which they stand in the note
	actions     []*Action
	tools       []*Tool
	tests       []test
	proven      int             // how many tests ran when it was loaded to be published
	block       *org.SkillBlock // being loaded
	silent      bool            // drop printed text; owned by the holder of the guard
}

// Environment returns the environment in which the note runs.
func (n *Note) Environment() *lisp.Environment { return n.environment }

// Skills returns the note's skills in the order they are defined. The slice is the
// caller's.
func (n *Note) Skills() []*Skill { return slices.Clone(n.skills) }

// LoadNote loads a note into its own environment, form by form. It does not load test blocks. The
// path names the note in diagnostics and identifies its grants. The error is a [Faults] with every
// fault, or the context's error. A note with warnings loads.
func LoadNote(ctx context.Context, path string, source []byte, options Options) (*Note, error) {
	n, faults := loadUntested(ctx, path, source, options)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, limited(faults)
	}
	return n, nil
}

// Check returns all faults and warnings of a note. Faults prevent it from becoming live. Check
// loads the note and does not run its tests.
func Check(ctx context.Context, path string, source []byte, options Options) []Diagnostic {
	n, faults := loadUntested(ctx, path, source, options)
	return limited(slices.Concat(faults, n.Diagnostics, n.surprises))
}

func limited(all []Diagnostic) Faults {
	slices.SortStableFunc(all, func(a, b Diagnostic) int { return a.Line - b.Line })
	return all[:min(len(all), maximumDiagnostics)]
}

// scan reads the Org text without running any code. The note that it returns has its keywords even
// if there are faults.
func scan(path string, source []byte, options Options) (*Note, []Diagnostic) {
	n := &Note{File: path, key: noteKey(filepath.Base(path)), options: options.withDefaults()}
	n.mentionsHooks = hookText.Match(source)
	if faults := checkEncoding(path, source); len(faults) > 0 {
		return n, faults
	}
	n.text = string(source)
	doc := org.Parse(n.text)
	n.Title, _ = doc.Keyword("TITLE")
	n.Description, _ = doc.Keyword("DESCRIPTION")
	n.Version, _ = doc.Keyword("VERSION")
	found := slices.Clone(doc.Diagnostics)
	blocks, problems := doc.SkillBlocks()
	found = append(found, problems...)
	n.blocks = blocks
	faults := n.scanHooks(doc)
	n.Hash = hashBlocks(blocks, n.hooks)
	n.scanDependencies(doc)
	for _, d := range found {
		if fault := fromOrg(path, d); fault.Warning {
			n.Diagnostics = append(n.Diagnostics, fault)
		} else {
			faults = append(faults, fault)
		}
	}
	n.warnOfBlocks(doc)
	n.warnOfStrings()
	requested, wrong := capabilities(path, doc)
	n.request(requested)
	return n, append(faults, wrong...)
}

// hashBlocks returns the SHA-256 of the blocks, followed by the hooks, in hex.
func hashBlocks(blocks []org.SkillBlock, hooks []*Hook) string {
	h := sha256.New()
	for _, b := range blocks {
		var head [9]byte
		binary.BigEndian.PutUint64(head[:], uint64(len(b.Body)))
		if b.Test {
			head[8] = 1
		}
		h.Write(head[:])
		h.Write([]byte(b.Body))
	}
	for _, hook := range hooks {
		fmt.Fprintf(h, "%q %q", hook.On(), hook.Script)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// spoiledQuote matches a quotation mark with a backslash where a string would begin. A program that
// escapes strings leaves such marks in a block.
var spoiledQuote = regexp.MustCompile(`(?m)(^|[\s(])\\"`)

// hintEscapedQuote adds a hint to a fault if its line contains such an escaped quotation mark: the
// reader fails somewhere after it, among the words of the string.
func hintEscapedQuote(d Diagnostic, b org.SkillBlock) Diagnostic {
	lines := strings.Split(b.Body, "\n")
	if at := d.Line - b.Line; at >= 0 && at < len(lines) && spoiledQuote.MatchString(lines[at]) {
		d.Message += `; a string here begins with \", and has to begin with "`
	}
	return d
}

// loadBlock loads one block. A block whose lines stand unchanged in the note keeps their line
// numbers. Other blocks get numbers after the note's last line, which place maps back.
func (n *Note) loadBlock(ctx context.Context, i int, p purpose) error {
	b := &n.blocks[i]
	n.block = b
	defer func() { n.block = nil }()
	return n.mapPlace(n.environment.For(&invocation{purpose: p}).Load(ctx, b.Body, n.File, n.lineOf(i)))
}

// undefinedFunction is the class of the error for a call of an undefined function.
const undefinedFunction = "UNDEFINED-FUNCTION"

// problems looks for names that the code uses and that do not exist. An undefined function is a
// fault, because the note would fail when it needs the function, and because a capability that was
// not requested shows this way. Other problems are warnings.
func (n *Note) problems(ctx context.Context) []Diagnostic {
	var faults []Diagnostic
	problems, err := n.environment.Problems(ctx)
	if err != nil {
		return []Diagnostic{n.diagnose(1, err)}
	}
	for _, problem := range problems {
		d := n.diagnose(1, n.mapPlace(problem))
		if d.Warning = problem.Warning && problem.Class != undefinedFunction; d.Warning {
			n.Diagnostics = append(n.Diagnostics, d)
		} else {
			faults = append(faults, d)
		}
	}
	return faults
}

// diagnose returns the diagnostic for an error with a place in the note. An error without a place
// is placed at line.
func (n *Note) diagnose(line int, err error) Diagnostic { return fromLisp(n.File, line, err) }

// apply calls a function of the note inside the environment's guard. It stores the returned value
// as data in o. Errors have their place in the note.
func (n *Note) apply(ctx context.Context, o *invocation, function lisp.Value, args ...lisp.Data) error {
	values := make([]lisp.Value, 0, len(args)+1)
	values = append(values, function)
	for _, arg := range args {
		value, err := n.environment.FromData(arg)
		if err != nil {
			return fmt.Errorf("hand over the data: %w", err)
		}
		values = append(values, value)
	}
	_, err := n.environment.For(o).Call(ctx, conveyName, values...)
	return n.mapPlace(err)
}

const conveyName = "%convey"

// conveyResult implements the Lisp function that apply calls, because a note's return value can
// only be read inside a call of the note.
func conveyResult(ctx context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	o := invocationOf(call.Reason())
	if o.onBegin != nil {
		o.onBegin()
	}
	apply := call.Apply
	if o.fitting {
		apply = call.ApplyFitting
	}
	value, err := apply(args[0], args[1:]...)
	if call.Holds() {
		n.silent = o.purpose.dry()
	}
	if err != nil {
		return nil, err
	}
	if o.isTrue = value != lisp.Nil; o.purpose != purposeTrigger {
		o.result, o.unfit = lisp.ToSexp(value)
	}
	return lisp.Nil, nil
}

// name returns the name under which the note logs.
func (n *Note) name() string {
	if len(n.skills) > 0 {
		return n.skills[0].Name
	}
	return n.key
}

// print receives the text that the note writes to its standard streams.
func (n *Note) print(text string) {
	if text = strings.TrimSpace(text); text != "" && !n.silent {
		n.options.Log(n.name(), text)
	}
}
