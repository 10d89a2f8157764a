package history

import (
	"fmt"
	"strconv"
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

// level is how much is shown of a result, or of the items that were sent along with a question.
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

// ResultTool is the tool that returns shortened results whole.
const ResultTool = "earlier_result"

// runningPrefix begins the ids of results of the running turn.
const runningPrefix = "now-"

// runningID returns the id of a result of the running turn, by the index of its step. It is not the row's
// number because the row may not be written yet.
func runningID(index int) string { return runningPrefix + strconv.Itoa(index+1) }

// RunningIndex returns the index of the step whose result has this id in the running turn. ok is false
// for a result of an earlier turn.
func RunningIndex(id string) (index int, ok bool) {
	number, ok := strings.CutPrefix(id, runningPrefix)
	n, err := strconv.Atoi(number)
	return n - 1, ok && err == nil
}

// callSuffix follows the id of a result in the id of its call.
const callSuffix = ".call"

// callID returns the id of the call that has a result.
func callID(result string) string { return result + callSuffix }

// RunningMessages returns the messages of a step of the running turn, whole. The index is that of the step in
// the turn.
func RunningMessages(index int, s journal.ToolStep) []llm.Message {
	return stepMessages(s, runningID(index), whole)
}

// earlierMessages returns the messages of a step of an earlier turn, with its result at a level. Its id is the
// number of its row in the journal.
func earlierMessages(s journal.ToolStep, at level) []llm.Message {
	return stepMessages(s, strconv.FormatInt(s.Seq, 10), at)
}

// stepMessages returns the messages of a step, with its result at a level. The model can ask for the rest by
// the id. A call and its result always come together.
func stepMessages(s journal.ToolStep, id string, at level) []llm.Message {
	switch {
	case s.Steer != "":
		return []llm.Message{{Role: llm.RoleUser, Within: true, Text: "The user says meanwhile:\n" + s.Steer}}
	case s.Action == "" && s.Note != "":
		return []llm.Message{{Role: llm.RoleKernel, Text: s.Note}}
	case !s.IsResult():
		return []llm.Message{{Role: llm.RoleKernel, Outcome: &llm.Outcome{Added: hookTexts(s)}}}
	}
	call := llm.Call{ID: id, Action: s.Action}
	if at > whole && len(call.Action) > longText {
		call.Action = shortenAction(call.Action, callID(id))
	}
	result := llm.Result{Call: call, Verdict: s.Verdict, Text: textAt(s.Text, id, at), Added: hookTexts(s), Note: s.Note, Last: s.Last,
		Failure: failure(s.Verdict, s.Code, s.Retryable)}
	for i, c := range s.Calls {
		part := llm.Part{ID: fmt.Sprintf("%s.%d", id, i+1), Tool: c.Tool, Verdict: "performed"}
		if c.Failed {
			part.Verdict = "failed"
		}
		part.Text, part.Failure = textAt(c.Text, part.ID, at), failure(part.Verdict, c.Code, c.Retryable)
		result.Parts = append(result.Parts, part)
	}
	reply := llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{call}}
	results := []llm.Result{result}
	if s.Reply != nil && at == whole {
		reply.Text, reply.Original = s.Reply.Commentary, original(s.Reply)
		for _, r := range skippedResults(s.Reply, id) {
			reply.Calls, results = append(reply.Calls, r.Call), append(results, r)
		}
	}
	return []llm.Message{reply, {Role: llm.RoleKernel, Outcome: &llm.Outcome{Results: results}}}
}

// original returns a reply as its server sent it, nil if it need not go back so.
func original(reply *journal.StepReply) *llm.Original {
	if reply.Writer == "" {
		return nil
	}
	return &llm.Original{Writer: reply.Writer, Data: reply.Data}
}

// skippedResults returns results for the calls of a reply that were not made: servers want one for each
// call. The id is that of the step, to which the other calls belong.
func skippedResults(reply *journal.StepReply, id string) (all []llm.Result) {
	for i, f := range reply.Skipped {
		function := llm.FunctionCall{Name: f.Name, Arguments: f.Arguments}
		all = append(all, llm.Result{Call: llm.Call{ID: fmt.Sprintf("%s-%d", id, i+1), Function: &function}, Verdict: "refused",
			Text: "not made, because another call came before it", Failure: &llm.Failure{Code: string(protocol.ToolRefused)}})
	}
	return all
}

// hookTexts returns the texts that hooks added to a step.
func hookTexts(s journal.ToolStep) (all []llm.Addition) {
	for _, h := range s.Hooks {
		all = append(all, llm.Addition{From: h.Hook, Text: h.Text})
	}
	return all
}

// failure returns the error of a verdict; nil if the action was performed.
func failure(verdict string, code protocol.ToolErrorCode, retryable bool) *llm.Failure {
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
	return &llm.Failure{Code: string(code), Retryable: retryable}
}

// Failure returns the properties of an error that a skill gets beside its text: (:error t :code CODE
// :retryable t-or-nil). They are the kind of the error, and whether the same call may succeed later. It
// returns nil if there was no error.
func Failure(verdict string, code protocol.ToolErrorCode, retryable bool) sexp.List {
	f := failure(verdict, code, retryable)
	if f == nil {
		return nil
	}
	var again sexp.Sexp = sexp.List{}
	if f.Retryable {
		again = plist.T
	}
	return sexp.List{plist.Keyword("error"), plist.T, plist.Keyword("code"), plist.Keyword(f.Code), plist.Keyword("retryable"), again}
}

// textAt returns a text at a level. The model can ask for the rest by the id.
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

// edges returns the first and the last characters of a long text.
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

// shortenAction returns an action without the ends of its long strings. The model can ask for all of it by the id.
func shortenAction(text, id string) string {
	read, err := action.Read(text)
	if err != nil {
		return plist.Print(sexp.List{plist.Keyword("type"), plist.Keyword("log"), plist.Keyword("text"),
			plist.String(fmt.Sprintf("an action of %d bytes, left out here; %s has it as %q", len(text), ResultTool, id))})
	}
	return plist.Print(shortenStrings(read.List(), id))
}

func shortenStrings(x sexp.Sexp, id string) sexp.Sexp {
	switch v := x.(type) {
	case plist.String:
		if runes := []rune(string(v)); len(runes) > shortText {
			return plist.String(fmt.Sprintf("%s[… %d characters are left out here; %s has the call as %q …]", string(runes[:shortText/2]), len(runes)-shortText/2, ResultTool, id))
		}
	case sexp.List:
		list := make(sexp.List, len(v))
		for i, item := range v {
			list[i] = shortenStrings(item, id)
		}
		return list
	}
	return x
}

// ImageTokens is the estimate for an image. Models count by its size in pixels, mostly between 250 and
// 1,600 tokens.
const ImageTokens = 1000

// Tokens estimates the tokens of a message in a dialect: its text, its images, and its frame.
func Tokens(dialect llm.Dialect, m llm.Message) int {
	const frame = 4
	return frame + prompt.Tokens(dialect.Text(m)) + ImageTokens*len(m.Images)
}

// Total estimates the tokens of several messages.
func Total(dialect llm.Dialect, messages []llm.Message) int {
	total := 0
	for _, m := range messages {
		total += Tokens(dialect, m)
	}
	return total
}
