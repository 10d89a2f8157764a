package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/text"
)

// The limits of an answer, in bytes. Longer texts are cut.
const (
	whyLimit   = 500
	addedLimit = 8 << 10
	// addedTotal is the limit for all hooks of an action together.
	addedTotal = 32 << 10
)

// answer is a hook's verdict on an event.
type answer struct {
	verdict policy.Kind
	why     string // the reason to refuse or to ask, on one line
	added   string // for the model
}

const answers = `nil, (:allow), (:ask "why"), (:refuse "why") or (:append "text for the model")`

// answerOf reads what a hook in Lisp returned.
func answerOf(value sexp.Sexp) (answer, error) {
	if plist.IsNil(value) {
		return answer{verdict: policy.Allow}, nil
	}
	list, ok := value.(sexp.List)
	if !ok {
		list = sexp.List{value}
	}
	fields := map[string]string{}
	for i := 0; i < len(list); i++ {
		key, ok := list[i].(plist.Keyword)
		if !ok {
			return answer{}, fmt.Errorf("it returned %s, and not %s", text.Abridge(plist.Print(value), 80), answers)
		}
		if key == "allow" {
			continue
		}
		if i+1 < len(list) {
			if value, ok := list[i+1].(plist.String); ok && fields[string(key)] == "" {
				fields[string(key)] = string(value)
				i++
				continue
			}
		}
		return answer{}, fmt.Errorf("it returned %s, in which one text has to follow :%s", text.Abridge(plist.Print(value), 80), string(key))
	}
	return newAnswer(fields)
}

// newAnswer makes an answer from the texts under the keys refuse, ask and append. To refuse counts
// more than to ask.
func newAnswer(fields map[string]string) (answer, error) {
	a := answer{verdict: policy.Allow}
	for key, value := range fields {
		switch key {
		case "append":
			a.added = text.Abridge(strings.TrimSpace(value), addedLimit)
			continue
		case "ask":
			if a.verdict == policy.Refuse {
				continue
			}
			a.verdict = policy.Ask
		case "refuse":
			a.verdict = policy.Refuse
		default:
			return answer{}, fmt.Errorf("it says %q, of which nothing is known: a hook says %s", key, answers)
		}
		a.why = text.Abridge(text.Line(value), whyLimit)
	}
	return a, nil
}

// scriptAnswer reads the exit status and the output of a script. With status 0 the script has no
// objection, and its output is text for the model, or an answer as JSON. With status 2 it refuses,
// and its output is the reason. Any other status is an error.
func scriptAnswer(status int, output string) (answer, error) {
	output = strings.TrimSpace(output)
	switch {
	case status == 2:
		return newAnswer(map[string]string{"refuse": output})
	case status != 0:
		return answer{}, fmt.Errorf("exit status %d: %s", status, text.Abridge(text.Line(output), whyLimit))
	case !strings.HasPrefix(output, "{"):
		return newAnswer(map[string]string{"append": output})
	}
	var fields struct{ Verdict, Why, Append string }
	decoder := json.NewDecoder(strings.NewReader(output))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&fields); err != nil {
		return answer{}, fmt.Errorf(`what it wrote cannot be read as {"verdict": "allow", "ask" or "refuse", "why": …, "append": …}: %w`, err)
	}
	if decoder.More() {
		return answer{}, errors.New("it wrote more than one answer")
	}
	texts := map[string]string{"append": fields.Append}
	switch fields.Verdict {
	case "", "allow":
	case "ask", "refuse":
		texts[fields.Verdict] = fields.Why
	default:
		return answer{}, fmt.Errorf("its verdict %q is none of allow, ask and refuse", text.Abridge(fields.Verdict, 40))
	}
	return newAnswer(texts)
}

// cutTo cuts the texts that hooks add to the remaining room, and subtracts them from it.
func cutTo(all []response, room *int) []response {
	for i := range all {
		if all[i].added = text.Abridge(all[i].added, *room); len(all[i].added) > *room {
			*room = 0
			continue
		}
		*room -= len(all[i].added)
	}
	return all
}
