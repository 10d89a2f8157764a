package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

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
	proposal, _, err := plist.ReadProposal(text)
	if err != nil {
		return err
	}
	action, rewritten := policy.Strip(proposal)
	paths, err := w.paths()
	if err != nil {
		return err
	}
	judge := policy.Policy{Home: paths.Home}
	if c.Gate != "skill" {
		if err := judge.Usable(action); err != nil {
			return err
		}
	}
	if c.Gate != "policy" {
		checked, err := c.symbolic(ctx, w, action, event)
		if err != nil {
			return err
		}
		rewritten = rewritten || !plist.Equal(checked, action)
		action = checked
	}
	code := 0
	if rewritten {
		code = exitRewritten
	}
	if c.Gate != "skill" {
		verdict := judge.Judge(action, whereOf(event))
		switch verdict.Kind {
		case policy.Refuse:
			return exit{exitRefused, fmt.Errorf("refused: %s", verdict.Reason)}
		case policy.Ask:
			fmt.Fprintf(w.err, "org-agent: would ask: %s\n", verdict.Reason)
			code = exitAsks
		}
	}
	fmt.Fprintln(w.out, plist.Print(action))
	if code != 0 {
		return exit{code: code}
	}
	return nil
}

// symbolic passes the action through the skill's symbolic function.
func (c *verifyCommand) symbolic(ctx context.Context, w *world, action, event sexp.List) (sexp.List, error) {
	s, err := c.choose(ctx, w, event)
	if err != nil {
		return nil, err
	}
	returned, err := s.Symbolic(ctx, action, event)
	if err != nil {
		return nil, exit{exitRefused, fmt.Errorf("refused: %w", err)}
	}
	if len(returned) == 0 {
		return nil, exit{exitRefused, fmt.Errorf("refused by the skill %s", s.Name)}
	}
	stripped, _ := policy.Strip(returned)
	return stripped, nil
}

// choose finds the skill that checks.
func (c *verifyCommand) choose(ctx context.Context, w *world, event sexp.List) (*skill.Skill, error) {
	if c.Note != "" {
		return c.chooseFromNote(ctx)
	}
	paths, err := w.paths()
	if err != nil {
		return nil, err
	}
	registry := skill.New(skill.Config{Shipped: skills.Notes(), Home: paths.Skills})
	registry.Load(ctx)
	live := registry.Current()
	if c.Skill != "" {
		if s := live.Named(c.Skill); s != nil {
			return s, nil
		}
		return nil, fmt.Errorf("no live skill is named %s; \"org-agent skill list\" shows them", c.Skill)
	}
	s, _ := live.Best(ctx, event)
	if s == nil {
		return nil, fmt.Errorf("no skill's trigger matches the context; name one with --skill")
	}
	return s, nil
}

func (c *verifyCommand) chooseFromNote(ctx context.Context) (*skill.Skill, error) {
	note, err := loadNote(ctx, c.Note, lisp.Limits{})
	if err != nil {
		return nil, err
	}
	all := note.Skills()
	if c.Skill != "" {
		for _, s := range all {
			if s.Name == strings.ToLower(strings.TrimPrefix(c.Skill, ":")) {
				return s, nil
			}
		}
		return nil, fmt.Errorf("%s defines no skill named %s", c.Note, c.Skill)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s defines no skill", c.Note)
	}
	return nil, fmt.Errorf("%s defines %d skills; name one with --skill", c.Note, len(all))
}

// whereOf is the turn that a context describes.
func whereOf(event sexp.List) policy.Where {
	payload, _ := plist.Get(event, "payload")
	channel, _ := plist.KeywordValue(payload, "channel")
	session, _ := plist.Text(event, "session")
	if session == "" {
		session = protocol.MainSession
	}
	chat, _ := plist.Text(payload, "room-id")
	if chat == "" {
		chat, _ = plist.Text(payload, "chat-id")
	}
	return policy.Where{Session: session, Channel: protocol.Channel(channel), ChatID: chat}
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
