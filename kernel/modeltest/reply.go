package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// reply is one reply of a script in a task: calls of tools, or else an answer.
type reply struct {
	calls []scriptedCall
	text  string
}

// scriptedCall is a call in a script. Arguments is a JSON object.
type scriptedCall struct{ tool, arguments string }

// parseReplies reads a script: replies with a line "---" between them. Lines "call TOOL {ARGUMENTS}" are
// calls, and a reply without them is an answer.
func parseReplies(text string) (script []reply, err error) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n---\n") {
		var r reply
		var said []string
		for line := range strings.SplitSeq(part, "\n") {
			written, is := strings.CutPrefix(line, "call ")
			if !is {
				said = append(said, line)
				continue
			}
			name, arguments, _ := strings.Cut(strings.TrimSpace(written), " ")
			var object map[string]any
			if err := json.Unmarshal([]byte(arguments), &object); err != nil || object == nil {
				return nil, fmt.Errorf("%q is not: call TOOL {ARGUMENTS}, which are a JSON object", line)
			}
			r.calls = append(r.calls, scriptedCall{name, arguments})
		}
		if r.text = strings.TrimSpace(strings.Join(said, "\n")); r.text != "" && len(r.calls) > 0 {
			return nil, errors.New("a reply has calls, or is an answer")
		}
		script = append(script, r)
	}
	return script, nil
}

// pretended returns what would have come of a script if every call had been performed and none had changed a
// file.
func (t *Task) pretended(script []reply) Outcome {
	o := Outcome{Answered: true, Files: t.files}
	for _, r := range script {
		for _, c := range r.calls {
			called := Call{Tool: c.tool, Arguments: map[string]any{}, Performed: true}
			_ = json.Unmarshal([]byte(c.arguments), &called.Arguments) // parseReplies has read it
			o.Calls = append(o.Calls, called)
		}
		if len(r.calls) == 0 {
			o.Answer = r.text
		}
	}
	return o
}
