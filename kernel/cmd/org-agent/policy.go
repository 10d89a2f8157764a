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
	"org-agent/kernel/hook"
	"org-agent/kernel/notetool"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/skill"
)

// policyCommands are "org-agent policy …".
type policyCommands struct {
	Explain policyExplainCommand `cmd:"" help:"Show whether something would be allowed, and which line of policy.org or which hook decides. The exit status is 0 for allowed, 5 for asked and 4 for refused."`
	List    policyListCommand    `cmd:"" help:"List the rules of policy.org, with how often each allowed something."`
	Revoke  policyRevokeCommand  `cmd:"" help:"Remove a rule from policy.org."`
}

// policyExplainCommand is "org-agent policy explain". It runs the hooks, asks no person and
// performs nothing.
type policyExplainCommand struct {
	Action  string `arg:"" optional:"" help:"An action as a property list, such as (:type :request :target :tool :action :call …)."`
	Command string `help:"A command line, run in this directory."`
	Read    string `help:"A file or directory to read." placeholder:"PATH"`
	Write   string `help:"A file to write." placeholder:"PATH"`
	Fetch   string `help:"An address to fetch." placeholder:"URL"`
	JSON    bool   `help:"Print JSON."`
}

func (c *policyExplainCommand) Run(ctx context.Context, proc *process) error {
	verdict, err := c.judge(ctx, proc)
	if err != nil {
		return err
	}
	if len(verdict.Decisions) == 0 {
		verdict.Decisions = []policy.Decision{{What: "action", Kind: verdict.Kind, Reason: verdict.Reason, OnceOnly: verdict.OnceOnly}}
	}
	if c.JSON {
		err = proc.printJSON(explanationOf(verdict))
	} else {
		for _, d := range verdict.Decisions {
			_, printErr := fmt.Fprintf(proc.stdout, "%-6s  %s\n", d.Kind, printable(d.Reason))
			err = errors.Join(err, printErr)
		}
		if len(verdict.Decisions) > 1 {
			_, printErr := fmt.Fprintf(proc.stdout, "%-6s  all together: the strictest of these\n", verdict.Kind)
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

// judge returns the verdict on the action or the reach of the command line.
func (c *policyExplainCommand) judge(ctx context.Context, proc *process) (policy.Verdict, error) {
	paths, err := proc.paths()
	if err != nil {
		return policy.Verdict{}, err
	}
	judge := policy.Policy{Home: paths.Home, State: paths.State, Rules: proc.instance(paths).Rules()}
	reach, err := c.reach()
	if err != nil {
		return policy.Verdict{}, err
	}
	tools, err := proc.tools(ctx, paths)
	if err != nil {
		return policy.Verdict{}, err
	}
	live, err := proc.personNotes(ctx, paths)
	if err != nil {
		return policy.Verdict{}, err
	}
	judge.Tools = tools.WithForeign(notetool.Live(func() *skill.Set { return live }, nil))
	judge.Kinds, judge.Hooks = kindsWith(live.Actions()), hook.New(proc.hooks(ctx, paths, live))
	directory, err := os.Getwd()
	if err != nil {
		return policy.Verdict{}, fmt.Errorf("find the directory that this runs in: %w", err)
	}
	where := policy.Where{Session: protocol.MainSession, Route: protocol.LocalRoute(protocol.ChannelEmacs)}
	if project := policy.ProjectOf(directory); project != "" { // as in a conversation that was started here
		where.Projects = &policy.Projects{Given: []string{project}}
	}
	if c.Action == "" {
		verdict := judge.JudgeReachIn(ctx, where, reach...)
		verdict.Action = judge.Kinds.Specs().ProposeCall(likelyCall(reach[0])).Action()
		return judge.Standing(judge.Narrowed(ctx, verdict, where)), nil
	}
	proposed, err := action.Read(c.Action)
	if err != nil {
		return policy.Verdict{}, usagef("the action cannot be read: %w", err)
	}
	if proposed, err = judge.Usable(proposed); err != nil {
		return policy.Refused("%v", err), nil
	}
	return judge.Standing(judge.Narrowed(ctx, judge.Judge(ctx, proposed.Action(), where), where)), nil
}

// likelyCall returns the most likely tool call with this reach, for the hooks to judge.
func likelyCall(r protocol.Reach) action.Call {
	name, arguments := "exec", sexp.List{plist.Keyword("command"), plist.String(r.Command), plist.Keyword("cwd"), plist.String(r.Path)}
	switch r.Kind {
	case protocol.ReachReads:
		name, arguments = "read", sexp.List{plist.Keyword("path"), plist.String(r.Path)}
	case protocol.ReachWrites:
		name, arguments = "write", sexp.List{plist.Keyword("path"), plist.String(r.Path)}
	case protocol.ReachFetches:
		name, arguments = "web_fetch", sexp.List{plist.Keyword("url"), plist.String(r.URL)}
	}
	return action.Call{Tool: name, Args: arguments}
}

// hooks returns the configuration of the hooks of the live notes. What the notes print is discarded.
func (proc *process) hooks(ctx context.Context, paths config.Paths, live *skill.Set) hook.Config {
	c := proc.instance(paths).Hooks(func() *skill.Set { return live })
	c.Kind = sync.OnceValue(func() sandbox.Kind { kind, _ := sandbox.Probe(ctx); return kind })
	c.Dry = true
	return c
}

// reach returns the reach that the options name. For an action it is empty. It returns an error unless
// the command line names exactly one thing.
func (c *policyExplainCommand) reach() ([]protocol.Reach, error) {
	directory, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the directory that this runs in: %w", err)
	}
	directory = policy.Resolved(directory)
	resolve := func(name string) string {
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
		{c.Read, protocol.Reach{Kind: protocol.ReachReads, Path: resolve(c.Read)}},
		{c.Write, protocol.Reach{Kind: protocol.ReachWrites, Path: resolve(c.Write)}},
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

// explanation is a verdict as JSON.
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

func explanationOf(v policy.Verdict) explanation {
	e := explanation{Verdict: v.Kind.String(), Reason: v.Reason, OnceOnly: v.OnceOnly}
	for _, d := range v.Decisions {
		e.Decisions = append(e.Decisions, decision{What: d.What, Verdict: d.Kind.String(), Reason: d.Reason, Line: d.Line, Hook: d.Hook, File: d.File, OnceOnly: d.OnceOnly})
	}
	return e
}
