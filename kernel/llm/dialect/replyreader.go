package dialect

import (
	"encoding/json"
	"iter"
	"regexp"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/llm"
)

// structuredReader reads a reply in the form of [Structured] while it comes. Its text is told as it grows. What stands
// behind it is kept until the reply ends, and then is calls. A reply in no such form, from a server that does not hold
// the model to the schema, is its own text.
type structuredReader struct {
	tools []llm.Tool
	raw   strings.Builder
	state replyState
	told  int // how much of raw is told
}

type replyState int

const (
	beforeText replyState = iota
	withinText
	behindText
	otherForm // another order of the fields, which the end tells
	ownText   // no object: all of it is text
)

// readStructured returns the reply with its texts and calls.
func readStructured(tools []llm.Tool, reply iter.Seq2[llm.Delta, error]) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		r := structuredReader{tools: tools}
		ended := false
		for delta, err := range reply {
			if err == nil {
				came := delta.Text
				delta.Text = r.write(came)
				if delta.Finish != "" && !ended {
					ended = true
					r.end(&delta)
				} else if came != "" && delta.Text == "" {
					delta.Calling, delta.CallText = r.calling(), came
				}
				if delta.Empty() {
					continue
				}
			}
			if !yield(delta, err) {
				return
			}
		}
	}
}

// textBegins is how a reply begins before its text. textMay is what may become that.
var (
	textBegins = regexp.MustCompile(`^\s*\{\s*"text"\s*:\s*"`)
	textMay    = regexp.MustCompile(`^\s*(\{\s*("(t(e(x(t("\s*(:\s*)?)?)?)?)?|c(a(l(l(s)?)?)?)?)?)?)?$`)
	objectIs   = regexp.MustCompile(`^\s*\{\s*"(text|calls)"`)
)

// write adds to the reply, and returns what it adds to the text.
func (r *structuredReader) write(piece string) (text string) {
	r.raw.WriteString(piece)
	raw := r.raw.String()
	if r.state == beforeText {
		begins := textBegins.FindStringIndex(raw)
		switch {
		case begins != nil:
			r.state, r.told = withinText, begins[1]
		case textMay.MatchString(raw):
		case objectIs.MatchString(raw):
			r.state = otherForm
		default:
			r.state = ownText
		}
	}
	switch r.state {
	case withinText:
		return r.within(raw)
	case ownText:
		text, r.told = raw[r.told:], len(raw)
	}
	return text
}

// within returns what the text has more than what was told, as far as its escapes and characters are whole. A wrong
// escape stays as it is.
func (r *structuredReader) within(raw string) string {
	var text strings.Builder
	for r.told < len(raw) && raw[r.told] != '"' {
		rest, size := raw[r.told:], 0
		switch {
		case rest[0] == '\\':
			size = escapeSize(rest)
		case utf8.FullRuneInString(rest):
			_, size = utf8.DecodeRuneInString(rest)
		}
		if size == 0 {
			return text.String()
		}
		one := rest[:size]
		if one[0] == '\\' && json.Unmarshal([]byte(`"`+one+`"`), &one) != nil {
			one = rest[:size]
		}
		text.WriteString(one)
		r.told += size
	}
	if r.told < len(raw) {
		r.state = behindText
	}
	return text.String()
}

// escapeSize returns the length of the escape at the beginning of a text, 0 if it is not whole yet. Two that are a
// character together are one.
func escapeSize(text string) int {
	switch {
	case len(text) < 2 || !utf8.FullRuneInString(text[1:]):
		return 0
	case text[1] != 'u':
		_, size := utf8.DecodeRuneInString(text[1:])
		return 1 + size
	case len(text) < 6:
		return 0
	case !highSurrogate.MatchString(text[2:6]):
		return 6
	case len(text) < 7 || text[6] == '\\' && (len(text) < 8 || text[7] == 'u' && len(text) < 12):
		return 0
	case text[6] == '\\' && text[7] == 'u':
		return 12
	}
	return 6
}

var highSurrogate = regexp.MustCompile(`^[dD][89abAB]`)

// callBegins is how a call begins.
var callBegins = regexp.MustCompile(`\{\s*"([^"\\]{1,64})"\s*:`)

// calling returns the function whose call is being written, as far as its name has come.
func (r *structuredReader) calling() string {
	if r.state != behindText {
		return ""
	}
	rest := r.raw.String()[r.told:]
	if name := callBegins.FindStringSubmatch(rest[:min(len(rest), 1000)]); name != nil {
		return name[1]
	}
	return ""
}

// end completes the last delta: with the calls, and with what is text after all.
func (r *structuredReader) end(last *llm.Delta) {
	raw := r.raw.String()
	if r.state == ownText {
		return
	}
	var whole struct {
		Text  *string           `json:"text"`
		Calls []json.RawMessage `json:"calls"`
	}
	err := json.NewDecoder(strings.NewReader(raw)).Decode(&whole) // what stands behind the object is nothing
	switch {
	case err != nil && r.state == behindText:
		last.Calls = append(last.Calls, brokenCalls(raw[r.told:])...)
		return
	case r.state == withinText: // it was cut off within the text, which was told
		return
	case err != nil || whole.Text == nil && whole.Calls == nil:
		last.Text += raw[r.told:]
		return
	case r.state == otherForm && whole.Text != nil:
		last.Text += *whole.Text
	}
	for _, call := range whole.Calls {
		for _, f := range fields(call) {
			last.Calls = append(last.Calls, r.call(f))
		}
	}
	if len(last.Calls) > llm.CallsLimit {
		last.Calls = last.Calls[:llm.CallsLimit]
	}
	if len(last.Calls) > 0 && last.Finish == llm.FinishStop {
		last.Finish = llm.FinishTools
	}
}

// call returns a call with its arguments as its function wants them.
func (r *structuredReader) call(f field) llm.FunctionCall {
	if t, known := llm.Named(r.tools, f.name); known {
		f.value = shapeOf(t).loosened(f.value)
	}
	return llm.FunctionCall{Name: f.name, Arguments: string(f.value)}
}

// brokenCalls returns the first call of a reply that is no JSON behind its text: it was cut off, or is wrong. All that
// follows is its arguments. They cannot be read, so the call is not made and the model is told why.
func brokenCalls(rest string) []llm.FunctionCall {
	at := callBegins.FindStringSubmatchIndex(rest)
	if at == nil {
		return nil
	}
	return []llm.FunctionCall{{Name: rest[at[2]:at[3]], Arguments: strings.TrimSpace(rest[at[1]:])}}
}
