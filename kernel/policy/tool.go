package policy

import (
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// batchLimit is how many calls one batch may have.
const batchLimit = 16

// toolRule: a tool that only reads is allowed, and one that asks the person: what they
// answer is theirs to say, and no rule says it for them. Any other is asked about. What is judged, shown
// and performed has the names of the tools as they are written. A batch has only calls that
// read.
func (p *Policy) toolRule(a view) Verdict {
	if a.payloadWord("action") == "batch" {
		return p.batchRule(a)
	}
	name, effect, err := p.findTool(a.payload())
	if err != nil {
		return Verdict{Kind: Refuse, Reason: err.Error()}
	}
	v := Verdict{Kind: Ask, Reason: fmt.Sprintf("the tool %s does more than read", name), Action: withPayload(a.action, "tool", plist.String(name))}
	switch effect {
	case protocol.ToolReads:
		v.Kind, v.Reason = Allow, "the tool only reads"
	case protocol.ToolAsks:
		v.Kind, v.Reason = Allow, "the tool asks the person, who alone answers"
	}
	return v
}

func (p *Policy) batchRule(a view) Verdict {
	refuse := func(format string, arguments ...any) Verdict {
		return Verdict{Kind: Refuse, Reason: fmt.Sprintf(format, arguments...)}
	}
	value, _ := plist.Get(a.payload(), "calls")
	calls, _ := value.(sexp.List) // it is usable
	if len(calls) == 0 || len(calls) > batchLimit {
		return refuse("a batch has 1 to %d calls, not %d", batchLimit, len(calls))
	}
	named := make(sexp.List, len(calls))
	for i, item := range calls {
		call, _ := item.(sexp.List)
		name, effect, err := p.findTool(call)
		if err != nil {
			return refuse("call %d of the batch: %v", i+1, err)
		}
		if effect != protocol.ToolReads {
			return refuse("call %d of the batch: %s does more than read; call it by itself", i+1, name)
		}
		named[i] = plist.Put(call, "tool", plist.String(name))
	}
	return Verdict{Kind: Allow, Reason: "the tools only read", Action: withPayload(a.action, "calls", named)}
}

// findTool finds the tool that a call names.
func (p *Policy) findTool(call sexp.List) (written string, effect protocol.ToolEffect, err error) {
	value, _ := plist.Get(call, "tool")
	var name string
	switch v := value.(type) {
	case plist.String:
		name = strings.TrimSpace(string(v))
	case plist.Keyword:
		name = string(v)
	default:
		return "", "", fmt.Errorf("it names no tool: write :tool \"NAME\"")
	}
	near := ""
	if p.Tools != nil {
		written, effect, found := p.Tools.Find(name)
		if found {
			return written, effect, nil
		}
		near = p.Tools.Nearest(name)
	}
	if near != "" {
		return "", "", fmt.Errorf("there is no tool named %q; did you mean %q?", name, near)
	}
	return "", "", fmt.Errorf("there is no tool named %q", name)
}
