package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/config"
	"org-agent/kernel/daemon"
	"org-agent/kernel/hook"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/skill"
	"org-agent/skills"
)

// policyCommands are "org-agent policy …".
type policyCommands struct {
	Explain policyExplainCommand `cmd:"" help:"Say whether something would be allowed, and which line of policy.org or which hook decides; exits with 0 if it is allowed, 5 if you would be asked, 4 if it is refused."`
}

// policyExplainCommand is "org-agent policy explain". It asks nobody but the hooks and does
// nothing.
type policyExplainCommand struct {
	Action  string `arg:"" optional:"" help:"An action as a property list, as in (:type :request :target :tool :action :call …)."`
	Command string `help:"A command line, as if it ran in this directory."`
	Read    string `help:"A file or directory to be read." placeholder:"PATH"`
	Write   string `help:"A file to be written." placeholder:"PATH"`
	Fetch   string `help:"An address to be fetched." placeholder:"URL"`
	JSON    bool   `help:"Print the verdict and what decided as JSON."`
}

func (c *policyExplainCommand) Run(ctx context.Context, w *world) error {
	verdict, err := c.judge(ctx, w)
	if err != nil {
		return err
	}
	if len(verdict.Decisions) == 0 {
		verdict.Decisions = []policy.Decision{{What: "action", Kind: verdict.Kind, Reason: verdict.Reason, OnceOnly: verdict.OnceOnly}}
	}
	if c.JSON {
		err = w.printJSON(explained(verdict))
	} else {
		for _, d := range verdict.Decisions {
			_, printErr := fmt.Fprintf(w.out, "%-6s  %s\n", d.Kind, printable(d.Reason))
			err = errors.Join(err, printErr)
		}
		if len(verdict.Decisions) > 1 {
			_, printErr := fmt.Fprintf(w.out, "%-6s  all of it, the worst of these\n", verdict.Kind)
			err = errors.Join(err, printErr)
		}
	}
	switch {
	case err != nil:
		return err
	case verdict.Kind == policy.Refuse:
		return exit{code: exitRefused}
	case verdict.Kind == policy.Ask:
		return exit{code: exitAsks}
	}
	return nil
}

// judge is the verdict on what the command line names.
func (c *policyExplainCommand) judge(ctx context.Context, w *world) (policy.Verdict, error) {
	paths, err := w.paths()
	if err != nil {
		return policy.Verdict{}, err
	}
	judge := policy.Policy{Home: paths.Home, State: paths.State, Rules: daemon.Rules(paths), Kinds: builtIn()}
	reach, err := c.reach()
	if err != nil {
		return policy.Verdict{}, err
	}
	if judge.Tools, err = w.tools(ctx, paths); err != nil {
		return policy.Verdict{}, err
	}
	hooks, err := w.hooks(ctx, paths)
	if err != nil {
		return policy.Verdict{}, err
	}
	judge.Hooks = hook.New(hooks)
	where := policy.Where{Session: protocol.MainSession, Route: protocol.LocalRoute(protocol.ChannelEmacs)}
	if c.Action == "" {
		verdict := judge.JudgeReach(reach...)
		verdict.Action = action.Propose(callFor(reach[0])).Action()
		return judge.Narrowed(ctx, verdict, where), nil
	}
	proposed, err := action.Read(c.Action)
	if err != nil {
		return policy.Verdict{}, usagef("the action cannot be read: %w", err)
	}
	if proposed, err = judge.Usable(proposed); err != nil {
		return policy.Refused("%v", err), nil
	}
	return judge.Narrowed(ctx, judge.Judge(ctx, proposed.Action(), where), where), nil
}

// callFor is the call that most likely touches this, which hooks are asked about.
func callFor(r protocol.Reach) sexp.List {
	name, arguments := "exec", sexp.List{plist.Keyword("command"), plist.String(r.Command), plist.Keyword("cwd"), plist.String(r.Path)}
	switch r.Kind {
	case protocol.ReachReads:
		name, arguments = "read", sexp.List{plist.Keyword("path"), plist.String(r.Path)}
	case protocol.ReachWrites:
		name, arguments = "write", sexp.List{plist.Keyword("path"), plist.String(r.Path)}
	case protocol.ReachFetches:
		name, arguments = "web_fetch", sexp.List{plist.Keyword("url"), plist.String(r.URL)}
	}
	return sexp.List{plist.Keyword("type"), plist.Keyword("request"), plist.Keyword("target"), plist.Keyword("tool"), plist.Keyword("payload"), sexp.List{
		plist.Keyword("action"), plist.Keyword("call"), plist.Keyword("tool"), plist.String(name), plist.Keyword("args"), arguments}}
}

// hooks are what the hooks of a home are asked with. The notes are loaded as a kernel would; what
// they write is dropped.
func (w *world) hooks(ctx context.Context, paths config.Paths) (hook.Config, error) {
	grants, err := w.grants()
	if err != nil {
		return hook.Config{}, err
	}
	notes := skill.New(skill.Config{Shipped: skills.Notes(), Home: paths.Skills, Grants: grants, Persona: w.persona()})
	if own, err := skill.List(paths.Skills); err != nil || len(own) > 0 { // shipped ones have no hooks
		notes.Load(ctx)
	}
	c := daemon.Hooks(paths, w.env, notes.Current, builtIn())
	c.Kind = sync.OnceValue(func() sandbox.Kind { kind, _ := sandbox.Look(ctx); return kind })
	c.Dry = true
	return c, nil
}

// reach is what the options name; one thing is explained at a time.
func (c *policyExplainCommand) reach() ([]protocol.Reach, error) {
	directory, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the directory that this runs in: %w", err)
	}
	directory = policy.Resolved(directory)
	place := func(name string) string {
		if !filepath.IsAbs(name) {
			name = filepath.Join(directory, name)
		}
		return policy.Resolved(filepath.Clean(name))
	}
	if c.Fetch != "" && !strings.Contains(c.Fetch, "://") && c.Fetch != "*" {
		c.Fetch = "https://" + c.Fetch
	}
	named := 0
	var reach protocol.Reach
	for _, option := range []struct {
		value string
		reach protocol.Reach
	}{
		{c.Command, protocol.Reach{Kind: protocol.ReachRuns, Command: c.Command, Path: directory}},
		{c.Read, protocol.Reach{Kind: protocol.ReachReads, Path: place(c.Read)}},
		{c.Write, protocol.Reach{Kind: protocol.ReachWrites, Path: place(c.Write)}},
		{c.Fetch, protocol.Reach{Kind: protocol.ReachFetches, URL: c.Fetch}},
		{c.Action, protocol.Reach{}},
	} {
		if option.value != "" {
			named++
			reach = option.reach
		}
	}
	if named != 1 {
		return nil, usagef("name one thing: an action, or --command, --read, --write or --fetch")
	}
	return []protocol.Reach{reach}, nil
}

// explanation is a verdict as programs read it.
type explanation struct {
	Verdict   string     `json:"verdict"`
	Reason    string     `json:"reason"`
	OnceOnly  bool       `json:"once-only,omitempty"`
	Decisions []decision `json:"decisions"`
}

type decision struct {
	What     string `json:"what"`
	Verdict  string `json:"verdict"`
	Reason   string `json:"reason"`
	Line     int    `json:"line,omitempty"`
	Hook     string `json:"hook,omitempty"`
	File     string `json:"file,omitempty"`
	OnceOnly bool   `json:"once-only,omitempty"`
}

func explained(v policy.Verdict) explanation {
	e := explanation{Verdict: v.Kind.String(), Reason: v.Reason, OnceOnly: v.OnceOnly}
	for _, d := range v.Decisions {
		e.Decisions = append(e.Decisions, decision{What: d.What, Verdict: d.Kind.String(), Reason: d.Reason, Line: d.Line, Hook: d.Hook, File: d.File, OnceOnly: d.OnceOnly})
	}
	return e
}
