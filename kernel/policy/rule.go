package policy

import (
	"context"
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/shell"
)

// rule is the built-in policy: what only shows text or reads is allowed; what
// writes, runs, sends elsewhere or spends is asked; the rest is refused.
func (p *Policy) rule(ctx context.Context, a view, where Where) Verdict {
	switch a.word("type") {
	case "response":
		return Verdict{Kind: Allow, Reason: "text into its own conversation"}
	case "log":
		return Verdict{Kind: Allow, Reason: "text into the log"}
	}
	switch a.word("target") {
	case "emacs":
		return p.emacsRule(a, where)
	case "tool":
		return p.toolRule(ctx, a, where)
	case "shell":
		return p.shellRule(ctx, a)
	case "telegram", "signal":
		return chatRule(a, where, "chat-id")
	case "matrix":
		return chatRule(a, where, "room-id")
	case "peer":
		return Verdict{Kind: Refuse, Reason: "no peer is connected"}
	case "agent":
		return p.spawnRule(ctx, a, where)
	}
	return Verdict{Kind: Refuse, Reason: "nothing is known about this target"}
}

// SpawnTool is the tool that :agent :spawn is the same as.
const SpawnTool = "sessions_spawn"

// spawnRule judges work that is handed on as a call of the tool that does so.
func (p *Policy) spawnRule(ctx context.Context, a view, where Where) Verdict {
	v := Verdict{Kind: Ask, Reason: "a subagent spends tokens and time"}
	if p.Tools == nil {
		return v
	}
	if name, _, found := p.Tools.Find(SpawnTool); found {
		v = p.named(name, v, true)
	}
	return v
}

func (p *Policy) emacsRule(a view, where Where) Verdict {
	switch a.payloadWord("action") {
	case "insert-at-end":
		return insertRule(a.text("buffer"), where)
	case "message":
		return Verdict{Kind: Allow, Reason: "a line in the echo area"}
	case "open":
		return p.openRule(a)
	case "edit":
		return p.editRule(a)
	case "set-properties":
		return propertiesRule(a)
	case "eval":
		return Verdict{Kind: Refuse, Reason: ":eval does not exist unless the user sets org-agent-allow-eval"}
	}
	return Verdict{Kind: Refuse, Reason: "nothing is known about this action"}
}

func insertRule(buffer string, where Where) Verdict {
	if ownBuffer(buffer, where.Session) {
		return Verdict{Kind: Allow, Reason: "text into its own conversation"}
	}
	if session, ok := protocol.BufferSession(buffer); ok {
		return Verdict{Kind: Ask, Reason: fmt.Sprintf("it writes into another conversation, %q", session)}
	}
	return Verdict{Kind: Refuse, Reason: fmt.Sprintf("the buffer %q is not a chat buffer: text goes to \"*org-agent-chat*\"", buffer)}
}

// chatRule: a conversation on a channel may be answered where it takes place.
func chatRule(a view, where Where, key string) Verdict {
	v, _ := plist.Get(a.payload(), key)
	id := strings.Trim(plist.Print(v), `"`)
	if s, ok := v.(plist.String); ok {
		id = string(s)
	}
	if string(where.Channel) == a.word("target") && where.ChatID != "" && id == where.ChatID {
		return Verdict{Kind: Allow, Reason: "text into its own conversation"}
	}
	return Verdict{Kind: Ask, Reason: fmt.Sprintf("it sends a message to %s on %s", id, a.word("target"))}
}

func (p *Policy) openRule(a view) Verdict {
	path, err := resolve(a.text("file"), p.Home)
	if err != nil {
		return Verdict{Kind: Refuse, Reason: err.Error()}
	}
	if !within(path, p.Home) {
		return Verdict{Kind: Refuse, Reason: fmt.Sprintf("%s is not under %s: only files there are opened", path, p.Home)}
	}
	return Verdict{Kind: Allow, Reason: "it shows a file of the home", Action: withPayload(a.action, "file", plist.String(path))}
}

func (p *Policy) editRule(a view) Verdict {
	if a.text("file") == "" {
		return Verdict{Kind: Ask, Reason: "it changes a note"}
	}
	path, err := resolve(a.text("file"), p.Home)
	if err != nil {
		return Verdict{Kind: Refuse, Reason: err.Error()}
	}
	v := p.judgeReach([]protocol.Reach{{Kind: protocol.ReachWrites, Path: path}})
	v.Action = withPayload(a.action, "file", plist.String(path))
	return v
}

// shellTool is the tool that :shell is the same as.
const shellTool = "exec"

// shellRule judges a command line as a call of the tool that runs it; where there is none it
// runs in the home unless it says where.
func (p *Policy) shellRule(ctx context.Context, a view) Verdict {
	if p.Tools != nil {
		if name, _, found := p.Tools.Find(shellTool); found {
			payload, err := Payload(a.action)
			if err != nil {
				return Verdict{Kind: Refuse, Reason: err.Error()}
			}
			resolved, reach, err := p.Tools.Reach(ctx, name, ShellArguments(payload))
			if err != nil {
				return Verdict{Kind: Refuse, Reason: err.Error()}
			}
			if reach != nil {
				v := p.judgeReach(reach)
				if cwd := resolved.Text("cwd"); cwd != "" {
					v.Action = withPayload(a.action, "cwd", plist.String(cwd))
				}
				return v
			}
		}
	}
	directory := p.Home
	if name := a.text("cwd"); name != "" {
		path, known := placed(shell.Word{Text: name, Home: strings.HasPrefix(name, "~")}, p.Home)
		if !known {
			return Verdict{Kind: Refuse, Reason: fmt.Sprintf("%q is no directory that a command can run in", name)}
		}
		directory = path
	}
	return p.judgeReach([]protocol.Reach{{Kind: protocol.ReachRuns, Command: a.text("cmd"), Path: resolved(directory)}})
}

// ShellArguments are those by which a :shell is a call of the tool exec.
func ShellArguments(payload protocol.Object) protocol.Object {
	arguments := protocol.Object{{Key: "command", Value: payload.Get("cmd")}}
	for _, key := range [...]string{"cwd", "timeout"} {
		if value := payload.Get(key); value != nil {
			arguments.Set(key, value)
		}
	}
	return arguments
}

// withPayload returns the action with one field of its payload replaced.
func withPayload(action sexp.List, key string, value sexp.Sexp) sexp.List {
	return plist.Put(action, "payload", plist.Put(view{action}.payload(), key, value))
}
