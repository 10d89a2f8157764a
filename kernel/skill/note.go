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

	"org-agent/kernel/lisp"
	"org-agent/kernel/org"
)

// Options say how a note is loaded. The zero value is usable.
type Options struct {
	// Limits bound each call into the note; see [lisp.Limits] for the defaults.
	Limits lisp.Limits
	// Log takes what the note logs, with the name of its skill. Default: dropped.
	Log func(skill, text string)
	// Inject takes the events the note injects. Default: an error in the note.
	Inject func(event sexp.List)
	// Recorded returns a turn of the journal, for tests that replay one. Default: an error
	// in the test.
	Recorded func(ctx context.Context, turn string) (Recording, error)
	// Logger takes what the person who runs the kernel should know. Default: dropped.
	Logger *slog.Logger
	// Persona returns what the person's own file says of the agent under a name in lower case,
	// such as "name", and "" for nothing. Default: nothing.
	Persona func(name string) string
	// live returns who the agent is by the notes that are live. Default: by this one.
	live func() Identity
	// Shipped says that the note came with the program.
	Shipped bool
	// Grants are what a person let notes reach. Default: nothing is granted.
	Grants *Grants
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
	if o.live == nil {
		o.live = func() Identity { return Identity{} }
	}
	return o
}

// Note is a note that was loaded into an environment of its own.
type Note struct {
	// File is the note, as diagnostics name it.
	File string
	// Title, Description and Version are its keywords, "" where it has none.
	Title, Description, Version string
	// Hash is the SHA-256 of its blocks, in hex.
	Hash string
	// Capabilities are what #+CAPABILITIES asks for.
	Capabilities []string
	// Tools are what def-cognitive-tool declares.
	Tools []Tool
	// Actuators are the names that register-actuator declares.
	Actuators []string
	// Identity is what defidentity says of the agent.
	Identity Identity
	// Diagnostics are the warnings about it.
	Diagnostics []Diagnostic

	text         string // of the whole note
	meansHooks   bool   // it has what looks like hooks, be they broken
	key          string
	ids          []string // its own :ID:s, for dependencies
	dependencies []dependency
	blocks       []org.SkillBlock
	options      Options
	requested    []capabilityRequest
	consent      consent

	environment *lisp.Environment
	skills      []*Skill
	hooks       []*Hook // in the order in which they stand in the note
	tests       []test
	proven      int             // how many tests ran when it was loaded to be published
	block       *org.SkillBlock // being loaded
	silent      bool            // what is printed is dropped; owned by the guard's holder
}

// Tool is a tool that a note declares by def-cognitive-tool.
type Tool struct {
	Name, Description string
	// Parameters is the parameter list as written, as data.
	Parameters sexp.List
}

// Environment returns what the note runs in.
func (n *Note) Environment() *lisp.Environment { return n.environment }

// Skills returns the note's skills in the order they are defined. The slice is the
// caller's.
func (n *Note) Skills() []*Skill { return slices.Clone(n.skills) }

// LoadNote loads a note into an environment of its own: the blocks that are no tests, form
// by form. By the path the note is named in diagnostics, and what it was granted is found. The error is a [Faults] with every fault
// found, or the context's; a note with warnings loads.
func LoadNote(ctx context.Context, path string, source []byte, options Options) (*Note, error) {
	n, faults := scan(path, source, options)
	if len(faults) == 0 {
		faults = n.load(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, limited(faults)
	}
	return n, nil
}

// Check returns everything that is wrong with a note: faults that keep it from being live,
// and warnings. It loads the note and does not run its tests.
func Check(ctx context.Context, path string, source []byte, options Options) []Diagnostic {
	n, faults := scan(path, source, options)
	if len(faults) == 0 {
		faults = n.load(ctx)
	}
	return limited(append(faults, n.Diagnostics...))
}

func limited(all []Diagnostic) Faults {
	slices.SortStableFunc(all, func(a, b Diagnostic) int { return a.Line - b.Line })
	return all[:min(len(all), maximumDiagnostics)]
}

// scan reads what the Org text says, without running anything. The note it returns has
// the keywords even when there are faults.
func scan(path string, source []byte, options Options) (*Note, []Diagnostic) {
	n := &Note{File: path, key: noteKey(filepath.Base(path)), options: options.withDefaults()}
	n.meansHooks = hookText.Match(source)
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
		if told := fromOrg(path, d); told.Warning {
			n.Diagnostics = append(n.Diagnostics, told)
		} else {
			faults = append(faults, told)
		}
	}
	requested, wrong := capabilities(path, doc)
	n.request(requested)
	return n, append(faults, wrong...)
}

// hashBlocks is the SHA-256 of what the blocks say, those of hooks last, in hex.
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

// load makes the environment and loads the blocks that are no tests. It stops at the
// first block that fails.
func (n *Note) load(ctx context.Context) []Diagnostic {
	if err := n.makeEnvironment(ctx); err != nil {
		return []Diagnostic{{File: n.File, Line: 1, Column: 1, Message: err.Error()}}
	}
	for i := range n.blocks {
		if n.blocks[i].Test {
			continue
		}
		if err := n.loadBlock(ctx, i, purposeLoad); err != nil {
			return []Diagnostic{spoiled(n.diagnose(n.blocks[i].Line, err), n.blocks[i])}
		}
	}
	faults := n.problems(ctx)
	if len(faults) == 0 {
		faults = n.probe(ctx)
	}
	return faults
}

// spoiledQuote is a quotation mark with a backslash where a string would begin: what is
// left when a block went through a program that escapes strings.
var spoiledQuote = regexp.MustCompile(`(?m)(^|[\s(])\\"`)

// spoiled adds to a fault what its line has that no Lisp has: the reader stumbles somewhere
// behind it, over words of the string.
func spoiled(d Diagnostic, b org.SkillBlock) Diagnostic {
	lines := strings.Split(b.Body, "\n")
	if at := d.Line - b.Line; at >= 0 && at < len(lines) && spoiledQuote.MatchString(lines[at]) {
		d.Message += `; a string here begins with \", and has to begin with "`
	}
	return d
}

// loadBlock loads one block. Blocks whose lines stand in the note as they are loaded keep
// their line numbers; others get numbers behind the note's last line, which place maps back.
func (n *Note) loadBlock(ctx context.Context, i int, p purpose) error {
	b := &n.blocks[i]
	n.block = b
	defer func() { n.block = nil }()
	return n.placed(n.environment.Load(withOccasion(ctx, &occasion{purpose: p}), b.Body, n.File, n.lineOf(i)))
}

// undefinedFunction is the class of the error of calling what is not there.
const undefinedFunction = "UNDEFINED-FUNCTION"

// problems looks for what the code uses and what does not exist. A function that is not
// there is a fault: the note would fail when it is needed, and a capability that is not
// granted shows in just this way. Other problems are warnings.
func (n *Note) problems(ctx context.Context) []Diagnostic {
	var faults []Diagnostic
	problems, err := n.environment.Problems(ctx)
	if err != nil {
		return []Diagnostic{n.diagnose(1, err)}
	}
	for _, problem := range problems {
		d := n.diagnose(1, n.placed(problem))
		if d.Warning = problem.Warning && problem.Class != undefinedFunction; d.Warning {
			n.Diagnostics = append(n.Diagnostics, d)
		} else {
			faults = append(faults, d)
		}
	}
	return faults
}

// diagnose tells an error that was placed in the note; one without a place is told at line.
func (n *Note) diagnose(line int, err error) Diagnostic { return fromLisp(n.File, line, err) }

// apply calls a function of the note inside the environment's guard, and leaves in o what
// it returned, as data. Errors are placed in the note.
func (n *Note) apply(ctx context.Context, o *occasion, function lisp.Value, args ...lisp.Data) error {
	values := make([]lisp.Value, 0, len(args)+1)
	values = append(values, function)
	for _, arg := range args {
		value, err := n.environment.FromData(arg)
		if err != nil {
			return fmt.Errorf("hand over the data: %w", err)
		}
		values = append(values, value)
	}
	_, err := n.environment.Call(withOccasion(ctx, o), conveyName, values...)
	return n.placed(err)
}

const conveyName = "%convey"

// conveyResult is the Lisp function that apply calls: what a note returns may be read only
// inside a call of the note.
func (n *Note) conveyResult(ctx context.Context, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	o := occasionOf(ctx)
	if o.begun != nil {
		o.begun()
	}
	value, err := call.Apply(args[0], args[1:]...)
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

// name is what the note's log lines are under.
func (n *Note) name() string {
	if len(n.skills) > 0 {
		return n.skills[0].Name
	}
	return n.key
}

// print takes what the note writes to its standard streams.
func (n *Note) print(text string) {
	if text = strings.TrimSpace(text); text != "" && !n.silent {
		n.options.Log(n.name(), text)
	}
}
