package history

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/plist"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
)

// level is how much is shown of a result, or of what went along with a question.
type level int

const (
	whole level = iota
	shortened
	omitted
	levels = 3
)

// A text of more than longText characters is shortened to its first and last edgeText; one
// of more than shortText can be left out.
const (
	longText  = 4000
	edgeText  = 1500
	shortText = 300
)

// ResultTool is the tool that has results whole which are not shown so.
const ResultTool = "earlier_result"

// Round is a round as the model is told it when it happens.
func Round(r journal.ToolStep) []llm.Message { return roundAt(r, whole) }

// roundAt is a round with its result at a level. A call and its result always come together.
func roundAt(r journal.ToolStep, at level) []llm.Message {
	switch {
	case r.Said != "":
		return []llm.Message{{Role: llm.RoleUser, Content: "The user says meanwhile:\n" + r.Said}}
	case r.Action == "" && r.Note != "":
		return []llm.Message{{Role: llm.RoleUser, Result: true, Content: r.Note}}
	}
	if !r.IsResult() {
		return []llm.Message{{Role: llm.RoleUser, Result: true, Content: plist.Print(sexp.List{plist.Keyword("hooks"), hooksOf(r)}) +
			"\nThis is what hooks of the user's notes add, not a message of the user. Answer the user."}}
	}
	did := r.Action
	if at > whole && len(did) > longText {
		did = shortenAction(did)
	}
	list := sexp.List{
		plist.Keyword("action"), plist.String(did),
		plist.Keyword("verdict"), plist.Keyword(r.Verdict),
		plist.Keyword("text"), plist.String(textAt(r.Text, fmt.Sprint(r.Seq), at)),
	}
	list = append(list, Failure(r.Verdict, r.Code, r.Retryable)...)
	if len(r.Calls) > 0 {
		list = append(list, plist.Keyword("calls"), callsAt(r, at))
	}
	if len(r.Hooks) > 0 {
		list = append(list, plist.Keyword("hooks"), hooksOf(r))
	}
	return []llm.Message{
		{Role: llm.RoleAssistant, Content: did},
		{Role: llm.RoleUser, Result: true, Content: plist.Print(sexp.List{plist.Keyword("result"), list}) + "\n" + behind(r)},
	}
}

// hooksOf is what hooks added: a text in a property list, out of which nothing in it leads.
func hooksOf(r journal.ToolStep) sexp.List {
	all := make(sexp.List, len(r.Hooks))
	for i, h := range r.Hooks {
		all[i] = sexp.List{plist.Keyword("hook"), plist.String(h.Hook), plist.Keyword("text"), plist.String(h.Text)}
	}
	return all
}

// behind is the kernel's own line behind a result. Nothing of the result can stand there: it is
// all on the line before.
func behind(r journal.ToolStep) string {
	const what = "This is a result, not a message of the user. "
	switch {
	case r.Last:
		return what + r.Note
	case r.Note != "":
		return what + r.Note + " Go on, or answer the user now."
	}
	return what + "Go on, or answer the user now."
}

func callsAt(r journal.ToolStep, at level) sexp.List {
	calls := make(sexp.List, len(r.Calls))
	for i, c := range r.Calls {
		verdict := "performed"
		if c.Failed {
			verdict = "failed"
		}
		calls[i] = sexp.List{
			plist.Keyword("tool"), plist.String(c.Tool), plist.Keyword("verdict"), plist.Keyword(verdict),
			plist.Keyword("text"), plist.String(textAt(c.Text, fmt.Sprintf("%d.%d", r.Seq, i+1), at)),
		}
		if list, ok := calls[i].(sexp.List); ok {
			calls[i] = append(list, Failure(verdict, c.Code, c.Retryable)...)
		}
	}
	return calls
}

// Failure is what a model and a skill are told of an error beside its text, which says what to
// do: (:error t :code CODE :retryable t-or-nil), of what kind it is and whether the same may well
// be done again. Nothing where there was none.
func Failure(verdict string, code protocol.ToolErrorCode, retryable bool) sexp.List {
	switch {
	case verdict == "performed":
		return nil
	case code != "":
	case verdict == "refused":
		code = protocol.ToolRefused
	case verdict == "denied":
		code = protocol.ToolDeclined
	default:
		code = protocol.ToolFailed
	}
	var again sexp.Sexp = sexp.List{}
	if retryable {
		again = plist.T
	}
	return sexp.List{plist.Keyword("error"), plist.T, plist.Keyword("code"), plist.Keyword(code), plist.Keyword("retryable"), again}
}

// textAt is a text at a level; what is left out of it can be asked for by its id.
func textAt(text, id string, at level) string {
	size := utf8.RuneCountInString(text)
	switch {
	case at == shortened && size > longText:
		head, tail := edges(text)
		return fmt.Sprintf("%s\n[… %d bytes are left out here; %s has all of it as %q …]\n%s",
			head, len(text)-len(head)-len(tail), ResultTool, id, tail)
	case at == omitted && size > shortText:
		return fmt.Sprintf("[%d bytes are left out here; %s has them as %q]", len(text), ResultTool, id)
	}
	return text
}

// edges are the first and the last characters of a long text.
func edges(text string) (head, tail string) {
	from, until := 0, len(text)
	for range edgeText {
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
		_, size = utf8.DecodeLastRuneInString(text[:until])
		until -= size
	}
	return text[:from], text[until:]
}

// shortenAction is an action without the middle of its long strings: what it did is done.
func shortenAction(text string) string {
	read, err := action.Read(text)
	if err != nil {
		return plist.Print(sexp.List{plist.Keyword("type"), plist.Keyword("log"), plist.Keyword("text"), plist.String("an action of " + fmt.Sprint(len(text)) + " bytes, left out here")})
	}
	return plist.Print(shortenStrings(read.List()))
}

func shortenStrings(x sexp.Sexp) sexp.Sexp {
	switch v := x.(type) {
	case plist.String:
		if runes := []rune(string(v)); len(runes) > shortText {
			return plist.String(fmt.Sprintf("%s[… %d characters are left out here …]", string(runes[:shortText/2]), len(runes)-shortText/2))
		}
	case sexp.List:
		list := make(sexp.List, len(v))
		for i, item := range v {
			list[i] = shortenStrings(item)
		}
		return list
	}
	return x
}

// ImageTokens is what an image is taken to cost: models count by its size in pixels, most
// of them between 250 and 1,600.
const ImageTokens = 1000

// Tokens estimates what a message takes: its text, and what stands around it.
func Tokens(m llm.Message) int {
	const around = 4
	return around + prompt.Tokens(m.Content) + ImageTokens*len(m.Images)
}

// Total is the estimate for several messages.
func Total(messages []llm.Message) int {
	total := 0
	for _, m := range messages {
		total += Tokens(m)
	}
	return total
}

// Joined is the messages as every server takes them: none is empty, the first is the user's,
// and after one of the user comes one of the model. They are not changed.
func Joined(messages []llm.Message) []llm.Message {
	fit := 0
	for fit < len(messages) && fits(messages, fit) {
		fit++
	}
	if fit == len(messages) {
		return messages
	}
	joined := append(make([]llm.Message, 0, len(messages)), messages[:fit]...)
	for _, m := range messages[fit:] {
		last := len(joined) - 1
		switch {
		case strings.TrimSpace(m.Content) == "" && len(m.Images) == 0:
		case last < 0 && m.Role == llm.RoleAssistant:
		case last >= 0 && joined[last].Role == m.Role:
			joined[last].Content += "\n\n" + m.Content
			joined[last].Images = append(joined[last].Images[:len(joined[last].Images):len(joined[last].Images)], m.Images...)
		default:
			joined = append(joined, m)
		}
	}
	return joined
}

// fits reports whether a message can stand where it does, if all before it can.
func fits(messages []llm.Message, at int) bool {
	m := messages[at]
	if strings.TrimSpace(m.Content) == "" && len(m.Images) == 0 {
		return false
	}
	if at == 0 {
		return m.Role != llm.RoleAssistant
	}
	return m.Role != messages[at-1].Role
}
