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

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/daemon"
	"org-agent/kernel/hook"
	"org-agent/kernel/kind"
	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/skills"
)

// verifyCommand is "org-agent verify".
type verifyCommand struct {
	Note    string `help:"The note whose skill checks the proposal (default: the live ones)." placeholder:"FILE"`
	Skill   string `help:"The skill's name (default: the one whose trigger matches)." placeholder:"NAME"`
	Context string `help:"The event the proposal answers, as a plist." default:"(:payload (:sensor :chat-message :text \"\" :channel :emacs))" placeholder:"PLIST"`
	Gate    string `help:"Which gates to pass: skill, policy or all." enum:"skill,policy,all" default:"all"`
}

// The exit statuses of verify beside 0 and 1.
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
	judge := policy.Policy{Home: paths.Home, State: paths.State, Tools: tools, Rules: daemon.Rules(paths), Kinds: builtIn()}
	if c.Gate != "skill" {
		if _, err := judge.Usable(proposed); err != nil {
			return err
		}
	}
	if c.Gate != "policy" {
		checked, err := c.symbolic(ctx, w, proposed, event)
		if err != nil {
			return err
		}
		rewritten = rewritten || checked.Stripped() || !plist.Equal(checked.List(), proposed.List())
		proposed = checked
	}
	code := 0
	if rewritten {
		code = exitRewritten
	}
	if c.Gate != "skill" {
		if c.Note == "" {
			hooks, err := w.hooks(ctx, paths)
			if err != nil {
				return err
			}
			judge.Hooks = hook.New(hooks)
		}
		verdict := judge.Narrowed(ctx, judge.Judge(ctx, proposed.Action(), whereOf(event)), whereOf(event))
		switch verdict.Kind {
		case policy.Refuse:
			return exit{exitRefused, fmt.Errorf("refused: %s", verdict.Reason)}
		case policy.Ask:
			fmt.Fprintf(w.err, "org-agent: would ask: %s\n", verdict.Reason)
			code = exitAsks
		}
	}
	fmt.Fprintln(w.out, proposed)
	if code != 0 {
		return exit{code: code}
	}
	return nil
}

// builtIn are the kinds of actions that are built in, to judge and to describe.
func builtIn() *kind.Set { return kind.New(act.Kinds(act.Deps{})...) }

// symbolic passes the proposal through the skill's symbolic function.
func (c *verifyCommand) symbolic(ctx context.Context, w *world, proposed action.Proposed, event sexp.List) (checked action.Proposed, err error) {
	s, err := c.choose(ctx, w, event)
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

// choose finds the skill that checks.
func (c *verifyCommand) choose(ctx context.Context, w *world, event sexp.List) (*skill.Skill, error) {
	if c.Note != "" {
		return c.chooseFromNote(ctx, w, event)
	}
	paths, err := w.paths()
	if err != nil {
		return nil, err
	}
	grants, err := w.grants()
	if err != nil {
		return nil, err
	}
	registry := skill.New(skill.Config{Shipped: skills.Notes(), Home: paths.Skills, Grants: grants, Persona: w.persona()})
	registry.Load(ctx)
	live := registry.Current()
	if c.Skill != "" {
		if s := live.Named(c.Skill); s != nil {
			return s, nil
		}
		return nil, fmt.Errorf("no live skill is named %s; \"org-agent skill list\" shows them", c.Skill)
	}
	return best(ctx, live, event)
}

// best is the skill whose trigger matches.
func best(ctx context.Context, live *skill.Set, event sexp.List) (*skill.Skill, error) {
	s, faults := live.Best(ctx, event)
	if s == nil {
		return nil, errors.Join(append(faults, errors.New("no skill's trigger matches the context; name one with --skill"))...)
	}
	return s, nil
}

func (c *verifyCommand) chooseFromNote(ctx context.Context, w *world, event sexp.List) (*skill.Skill, error) {
	note, err := loadNote(ctx, w, c.Note, lisp.Limits{})
	if err != nil {
		return nil, err
	}
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
	registry := skill.New(skill.Config{Shipped: noteAlone{os.DirFS(filepath.Dir(c.Note)), filepath.Base(c.Note)}, Persona: w.persona()})
	registry.Load(ctx)
	return best(ctx, registry.Current(), event)
}

// named is the skill of that name, with or without its colon or "skill-".
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

// noteAlone is a directory in which there is only one note.
type noteAlone struct {
	fs.FS
	name string
}

// ReadDir lists the note.
func (d noteAlone) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(d.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() != d.name }), err
}

// whereOf is the turn that a context describes.
func whereOf(event sexp.List) policy.Where {
	payload, _ := plist.Get(event, "payload")
	channel, _ := plist.KeywordValue(payload, "channel")
	session, _ := plist.Text(event, "session")
	if session == "" {
		session = protocol.MainSession
	}
	chat := identifier(payload, "room-id")
	if chat == "" {
		chat = identifier(payload, "chat-id")
	}
	return policy.Where{Session: session, Route: protocol.RouteOf(protocol.SensorChatMessage, protocol.Channel(channel), chat)}
}

// identifier is a field that names a chat, which may be written as a number.
func identifier(payload sexp.Sexp, key string) string {
	v, _ := plist.Get(payload, key)
	switch v := v.(type) {
	case plist.String:
		return string(v)
	case plist.Int, plist.BigInt:
		return plist.Print(v)
	}
	return ""
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
