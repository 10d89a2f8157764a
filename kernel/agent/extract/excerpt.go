package extract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/agent/composer"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/memory"
	"org-agent/kernel/plist"
	"org-agent/kernel/text"
	"org-agent/kernel/tool"
)

// excerpt is the new part of a conversation, with its place and the records that the model may change.
type excerpt struct {
	session       string
	exchanges     []*journal.Exchange
	conversations map[string]tool.Conversation // by turn
	records       []memory.Found
}

// scopes returns the scopes that all turns of the excerpt may use.
func (e excerpt) scopes() []string {
	last := e.conversations[e.exchanges[len(e.exchanges)-1].Turn]
	for _, where := range e.conversations {
		if !where.Alone {
			return where.Scopes()
		}
	}
	return last.Scopes()
}

// text returns the excerpt for the model, with the latest turns as far as there is room.
func (e excerpt) text() string {
	var turns []string
	room := excerptBytes
	for i, exchange := range slices.Backward(e.exchanges) {
		turn := fmt.Sprintf("Turn %d. The person said:\n%s\nThe assistant said:\n%s\n\n", i+1,
			llm.Stamped(exchange.Stamp, text.Clip(exchange.Question, excerptQuestion)), text.Clip(exchange.Answer, excerptAnswer))
		if room -= len(turn); room < 0 && len(turns) > 0 {
			break
		}
		turns = append(turns, turn)
	}
	slices.Reverse(turns)
	conversation, records := strings.Join(turns, ""), "nothing\n"
	if len(e.records) > 0 {
		records = ""
	}
	for _, f := range e.records {
		records += fmt.Sprintf("- [id %s] %s\n  %s\n", f.ID, f.Title, strings.ReplaceAll(text.Clip(f.Text, excerptRecord), "\n", "\n  "))
	}
	mark := composer.Mark(conversation+records, nil)
	return fmt.Sprintf("--- %s the conversation ---\n%s--- %s what is kept already ---\n%s--- %s end ---\n", mark, conversation, mark, records, mark)
}

// proposal parses one change. A proposal without an operation changes nothing.
func (e excerpt) proposal(change sexp.List) (memory.Proposal, error) {
	p := memory.Proposal{Session: e.session}
	word, _ := plist.KeywordValue(change, "action")
	field := func(key string) string { s, _ := plist.Text(change, key); return strings.TrimSpace(s) }
	p.Title, p.Text, p.Record = field("title"), field("text"), field("id")
	number, err := e.turnNumber(change)
	if err != nil {
		return p, err
	}
	exchange := e.exchanges[number-1]
	p.Turn, p.Event, p.Scope = exchange.Turn, exchange.Event, e.conversations[exchange.Turn].Scope()
	if value, ok := plist.Get(change, "tags"); ok {
		tags, _ := value.(sexp.List)
		for _, tag := range tags {
			p.Tags = append(p.Tags, strings.TrimPrefix(strings.Trim(plist.Print(tag), `"`), ":"))
		}
	}
	lasting, _ := plist.Get(change, "lasting")
	p.Lasting = lasting != nil && !plist.IsNil(lasting)
	switch word {
	case "add":
		p.Operation, p.Record = memory.Saved, ""
		return p, nil
	case "noop":
		return p, nil
	case "update":
		p.Operation = memory.Updated
	case "delete":
		p.Operation = memory.Forgotten
	default:
		return p, fmt.Errorf("its :action %q is not :add, :update, :delete or :noop", word)
	}
	if !slices.ContainsFunc(e.records, func(f memory.Found) bool { return f.ID == p.Record }) {
		return p, fmt.Errorf("%q is no id of a record that the model was shown", p.Record)
	}
	return p, nil
}

// turnNumber returns the number of the turn that a change comes from; by default the last one.
func (e excerpt) turnNumber(change sexp.List) (int, error) {
	number := len(e.exchanges)
	if value, ok := plist.Get(change, "turn"); ok {
		n, _ := value.(plist.Int)
		number = int(n)
	}
	if number < 1 || number > len(e.exchanges) {
		return 0, fmt.Errorf("there is no turn %d", number)
	}
	return number, nil
}
