package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/config"
	"org-agent/kernel/hook"
	"org-agent/kernel/lisp"
	"org-agent/kernel/notetool"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/tool"
)

// verifyCommand is "org-agent verify".
type verifyCommand struct {
	Note    string `help:"The note whose skill checks the proposal (default: the live notes)." placeholder:"FILE"`
	Skill   string `help:"The skill's name (default: the one whose trigger matches)." placeholder:"NAME"`
	Context string `help:"The event the proposal answers, as a plist." default:"(:payload (:sensor :chat-message :text \"\" :channel :emacs))" placeholder:"PLIST"`
	Gate    string `help:"Which checks to run: skill, policy or all." enum:"skill,policy,all" default:"all"`
}

// These are the exit statuses of verify besides 0 and 1.
const (
	exitRewritten = 3
	exitRefused   = 4
	exitAsks      = 5
)

func (c *verifyCommand) Run(ctx context.Context, proc *process) error {
	text, err := proc.readInput()
	if err != nil {
		return err
	}
	event, err := readList(c.Context)
	if err != nil {
		return usagef("the context cannot be read: %w", err)
	}
	proposal, _, err := plist.ReadProposal(text, builtInKinds().IsReply)
	if err != nil {
		return err
	}
	proposed := action.Propose(proposal)
	paths, err := proc.paths()
	if err != nil {
		return err
	}
	tools, err := proc.tools(ctx, paths)
	if err != nil {
		return err
	}
	notes, err := c.load(ctx, proc, paths)
	if err != nil {
		return err
	}
	tools = tools.WithForeign(func() []tool.Tool { return notetool.Tools(notes.tools()) })
	judge := policy.Policy{Home: paths.Home, State: paths.State, Tools: tools, Rules: proc.instance(paths).Rules(), Kinds: kindsWith(notes.actions())}
	if c.Gate != "skill" && c.Note == "" {
		judge.Hooks = hook.New(proc.hooks(ctx, paths, notes.live))
	}
	return c.check(ctx, proc, notes, judge, proposed, event)
}

// check has the skill and the policy check a proposal, as far as the gate says, and prints what they let through. Its
// error has the exit status.
func (c *verifyCommand) check(ctx context.Context, proc *process, notes checkingNotes, judge policy.Policy, proposed action.Proposed, event sexp.List) error {
	if c.Gate != "skill" {
		if _, err := judge.Usable(proposed); err != nil {
			return err
		}
	}
	code := 0
	if proposed.Stripped() {
		code = exitRewritten
	}
	if c.Gate != "policy" {
		checked, err := c.applySkill(ctx, proc, notes, proposed, event)
		if err != nil {
			return err
		}
		if checked.Stripped() || !proposed.Equals(checked.List()) {
			code = exitRewritten
		}
		proposed = checked
	}
	if c.Gate != "skill" {
		asks, err := applyPolicy(ctx, proc, judge, proposed, event)
		if err != nil {
			return err
		}
		if asks {
			code = exitAsks
		}
	}
	fmt.Fprintln(proc.stdout, proposed)
	if code != 0 {
		return exit{code: code}
	}
	return nil
}

// applyPolicy applies the policy and its hooks to the proposal. It reports whether a person would be
// asked, and returns an error for a refusal.
func applyPolicy(ctx context.Context, proc *process, rules policy.Policy, proposed action.Proposed, event sexp.List) (asks bool, err error) {
	where := whereOf(event)
	verdict := rules.Narrowed(ctx, rules.Judge(ctx, proposed.Action(), where), where)
	switch verdict.Kind {
	case policy.Refuse:
		return false, exit{exitRefused, fmt.Errorf("refused: %s", verdict.Reason)}
	case policy.Ask:
		fmt.Fprintf(proc.stderr, "org-agent: would ask: %s\n", verdict.Reason)
		return true, nil
	}
	return false, nil
}

// applySkill applies the skill's symbolic function to the proposal. It returns an error for a refusal.
func (c *verifyCommand) applySkill(ctx context.Context, proc *process, notes checkingNotes, proposed action.Proposed, event sexp.List) (checked action.Proposed, err error) {
	s, err := c.choose(ctx, proc, notes, event)
	if err != nil {
		return checked, err
	}
	returned, err := s.Symbolic(ctx, proposed.List(), event)
	if err != nil {
		return checked, exit{exitRefused, fmt.Errorf("refused: %w", err)}
	}
	if len(returned) == 0 {
		return checked, exit{exitRefused, fmt.Errorf("refused by the skill %s", s.Name)}
	}
	if err := plist.WellFormed(returned); err != nil {
		return checked, exit{exitRefused, fmt.Errorf("refused: the skill %s returned no action: %w", s.Name, err)}
	}
	return action.Propose(returned), nil
}

// checkingNotes are the notes that check a proposal: the named note, or the live notes if note is nil.
type checkingNotes struct {
	note *skill.Note
	live *skill.Set
}

// actions returns the actions that the notes define.
func (c checkingNotes) actions() []*skill.Action {
	if c.note != nil {
		return c.note.Actions()
	}
	return c.live.Actions()
}

// tools returns the tools that the notes define.
func (c checkingNotes) tools() []*skill.Tool {
	if c.note != nil {
		return c.note.Tools()
	}
	return c.live.Tools()
}

// load loads the notes that check the proposal. For the policy alone it loads only a person's notes.
func (c *verifyCommand) load(ctx context.Context, proc *process, paths config.Paths) (notes checkingNotes, err error) {
	switch {
	case c.Note != "":
		notes.note, err = loadNote(ctx, proc, c.Note, lisp.Limits{})
	case c.Gate == "policy":
		notes.live, err = proc.personNotes(ctx, paths)
	default:
		notes.live, err = proc.liveNotes(ctx, paths)
	}
	return notes, err
}

// choose returns the skill that checks the proposal.
func (c *verifyCommand) choose(ctx context.Context, proc *process, notes checkingNotes, event sexp.List) (*skill.Skill, error) {
	if notes.note != nil {
		return c.chooseFromNote(ctx, proc, notes.note, event)
	}
	if c.Skill != "" {
		if s := notes.live.Named(c.Skill); s != nil {
			return s, nil
		}
		return nil, fmt.Errorf("no live skill is named %s; \"org-agent skill list\" shows them", c.Skill)
	}
	return bestSkill(ctx, notes.live, event)
}

// bestSkill returns the skill with the highest priority whose trigger matches.
func bestSkill(ctx context.Context, live *skill.Set, event sexp.List) (*skill.Skill, error) {
	s, faults := live.Best(ctx, event)
	if s == nil {
		return nil, errors.Join(append(faults, errors.New("no skill's trigger matches the context; name one with --skill"))...)
	}
	return s, nil
}

func (c *verifyCommand) chooseFromNote(ctx context.Context, proc *process, note *skill.Note, event sexp.List) (*skill.Skill, error) {
	all := note.Skills()
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%s defines no skill", c.Note)
	case c.Skill != "":
		if s := findSkill(all, c.Skill); s != nil {
			return s, nil
		}
		return nil, fmt.Errorf("%s defines no skill named %s", c.Note, c.Skill)
	case len(all) == 1:
		return all[0], nil
	}
	config, err := proc.notes("")
	if err != nil {
		return nil, err
	}
	config.Shipped = singleNoteFS{os.DirFS(filepath.Dir(c.Note)), filepath.Base(c.Note)}
	registry := skill.New(config)
	registry.Load(ctx)
	return bestSkill(ctx, registry.Current(), event)
}

// findSkill returns the skill with this name, or nil. The name may begin with a colon, and may omit
// "skill-".
func findSkill(all []*skill.Skill, name string) *skill.Skill {
	name = strings.ToLower(strings.TrimPrefix(name, ":"))
	for _, full := range []string{name, "skill-" + name} {
		for _, s := range all {
			if s.Name == full {
				return s
			}
		}
	}
	return nil
}

// singleNoteFS is a directory that contains only one note.
type singleNoteFS struct {
	fs.FS
	name string
}

func (d singleNoteFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(d.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() != d.name }), err
}

// whereOf returns the session and the route of an event.
func whereOf(event sexp.List) policy.Where {
	payload, _ := plist.Get(event, "payload")
	session, _ := plist.Text(event, "session")
	if session == "" {
		session = protocol.MainSession
	}
	return policy.Where{Session: session, Route: builtInKinds().Specs().RouteOf(payload)}
}

func readList(text string) (sexp.List, error) {
	x, err := plist.Read(text)
	if err != nil {
		return nil, err
	}
	list, ok := x.(sexp.List)
	if !ok {
		return nil, fmt.Errorf("%s is not a list", plist.Print(x))
	}
	return list, nil
}
