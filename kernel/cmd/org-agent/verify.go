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
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
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

func (c *verifyCommand) Run(ctx context.Context, w *world) error {
	text, err := w.readInput()
	if err != nil {
		return err
	}
	event, err := readList(c.Context)
	if err != nil {
		return usagef("the context cannot be read: %w", err)
	}
	proposal, _, err := plist.ReadProposal(text, builtIn().IsReply)
	if err != nil {
		return err
	}
	proposed := action.Propose(proposal)
	rewritten := proposed.Stripped()
	paths, err := w.paths()
	if err != nil {
		return err
	}
	tools, err := w.tools(ctx, paths)
	if err != nil {
		return err
	}
	checks, err := c.load(ctx, w, paths)
	if err != nil {
		return err
	}
	judge := policy.Policy{Home: paths.Home, State: paths.State, Tools: tools, Rules: w.instance(paths).Rules(), Kinds: kinds(checks.actions())}
	if c.Gate != "skill" {
		if _, err := judge.Usable(proposed); err != nil {
			return err
		}
	}
	if c.Gate != "policy" {
		checked, err := c.symbolic(ctx, w, checks, proposed, event)
		if err != nil {
			return err
		}
		rewritten = rewritten || checked.Stripped() || !proposed.Equals(checked.List())
		proposed = checked
	}
	code := 0
	if rewritten {
		code = exitRewritten
	}
	if c.Gate != "skill" {
		if c.Note == "" {
			judge.Hooks = hook.New(w.hooks(ctx, paths, checks.live))
		}
		asks, err := judged(ctx, w, judge, proposed, event)
		if err != nil {
			return err
		}
		if asks {
			code = exitAsks
		}
	}
	fmt.Fprintln(w.out, proposed)
	if code != 0 {
		return exit{code: code}
	}
	return nil
}

// judged passes the proposal through the policy and its hooks. It reports whether a person would be
// asked. A refusal is an error.
func judged(ctx context.Context, w *world, judge policy.Policy, proposed action.Proposed, event sexp.List) (asks bool, err error) {
	where := whereOf(event)
	verdict := judge.Narrowed(ctx, judge.Judge(ctx, proposed.Action(), where), where)
	switch verdict.Kind {
	case policy.Refuse:
		return false, exit{exitRefused, fmt.Errorf("refused: %s", verdict.Reason)}
	case policy.Ask:
		fmt.Fprintf(w.err, "org-agent: would ask: %s\n", verdict.Reason)
		return true, nil
	}
	return false, nil
}

// symbolic passes the proposal through the skill's symbolic function.
func (c *verifyCommand) symbolic(ctx context.Context, w *world, checks checkers, proposed action.Proposed, event sexp.List) (checked action.Proposed, err error) {
	s, err := c.choose(ctx, w, checks, event)
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

// checkers are the notes that a proposal is held against: the one that was named, or the live ones.
type checkers struct {
	note *skill.Note
	live *skill.Set
}

// actions are those that the notes define.
func (c checkers) actions() []*skill.Action {
	if c.note != nil {
		return c.note.Actions()
	}
	return c.live.Actions()
}

// load loads the notes.
func (c *verifyCommand) load(ctx context.Context, w *world, paths config.Paths) (checks checkers, err error) {
	switch {
	case c.Note != "":
		checks.note, err = loadNote(ctx, w, c.Note, lisp.Limits{})
	case c.Gate == "policy":
		checks.live, err = w.ownNotes(ctx, paths)
	default:
		checks.live, err = w.liveNotes(ctx, paths)
	}
	return checks, err
}

// choose returns the skill that checks the proposal.
func (c *verifyCommand) choose(ctx context.Context, w *world, checks checkers, event sexp.List) (*skill.Skill, error) {
	if checks.note != nil {
		return c.chooseFromNote(ctx, w, checks.note, event)
	}
	if c.Skill != "" {
		if s := checks.live.Named(c.Skill); s != nil {
			return s, nil
		}
		return nil, fmt.Errorf("no live skill is named %s; \"org-agent skill list\" shows them", c.Skill)
	}
	return best(ctx, checks.live, event)
}

// best returns the skill with the highest priority whose trigger matches.
func best(ctx context.Context, live *skill.Set, event sexp.List) (*skill.Skill, error) {
	s, faults := live.Best(ctx, event)
	if s == nil {
		return nil, errors.Join(append(faults, errors.New("no skill's trigger matches the context; name one with --skill"))...)
	}
	return s, nil
}

func (c *verifyCommand) chooseFromNote(ctx context.Context, w *world, note *skill.Note, event sexp.List) (*skill.Skill, error) {
	all := note.Skills()
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%s defines no skill", c.Note)
	case c.Skill != "":
		if s := named(all, c.Skill); s != nil {
			return s, nil
		}
		return nil, fmt.Errorf("%s defines no skill named %s", c.Note, c.Skill)
	case len(all) == 1:
		return all[0], nil
	}
	registry := skill.New(skill.Config{Shipped: noteAlone{os.DirFS(filepath.Dir(c.Note)), filepath.Base(c.Note)}, Persona: w.persona(), Specs: specs})
	registry.Load(ctx)
	return best(ctx, registry.Current(), event)
}

// named finds a skill by its name, with or without its colon or "skill-".
func named(all []*skill.Skill, name string) *skill.Skill {
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

// noteAlone is a directory that contains only one note.
type noteAlone struct {
	fs.FS
	name string
}

func (d noteAlone) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(d.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() != d.name }), err
}

// whereOf returns the turn that a context describes.
func whereOf(event sexp.List) policy.Where {
	payload, _ := plist.Get(event, "payload")
	session, _ := plist.Text(event, "session")
	if session == "" {
		session = protocol.MainSession
	}
	return policy.Where{Session: session, Route: builtIn().Specs().RouteOf(payload)}
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
