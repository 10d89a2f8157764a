// Package toolcall finds the calls of functions that models write as text.
//
// Each family of models was trained to write calls in a notation of its own. A server that knows the
// family takes the calls out of the text. Many do not, or fail at it, and then the notation stands in the
// reply. A [Reader] is a provider around another one, which does that work: a call in any notation that
// is known becomes a value, as if the server had sent it so, and is never shown.
//
// Only calls of functions that the request offers are found, unless the notation has words that no text
// has by chance. What is thought, what stands in a fence within a longer text, and what the model was
// shown with the same letters is text and stays text. A call of a function that is not offered, or one
// that cannot be read, is a call too: whoever judges it says what is wrong with it.
//
// Ordering and blocking are those of llm.Provider. Text is passed on as it comes, except for what may
// become a call. Time and memory are linear in the reply.
package toolcall

import (
	"context"
	"iter"
	"strings"

	"org-agent/kernel/llm"
)

// Reader asks Next, and finds the calls in the text of its replies.
type Reader struct{ Next llm.Provider }

// Stream implements [llm.Provider].
func (r Reader) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	if len(request.Tools) == 0 {
		return r.Next.Stream(ctx, request)
	}
	return func(yield func(llm.Delta, error) bool) {
		p := New(request)
		for delta, err := range r.Next.Stream(ctx, request) {
			if err == nil {
				text, thought := p.Write(delta.Text)
				if text == "" && thought == "" {
					delta.CallText += delta.Text
				}
				delta.Text, delta.Reasoning = text, delta.Reasoning+thought
			}
			if err != nil || delta.Finish != "" {
				text, found := p.Finish()
				if err != nil {
					if text != "" && !yield(llm.Delta{Text: text}, nil) {
						return
					}
				} else if delta.Text += text; len(delta.Calls) == 0 { // else the server found them itself
					delta.Calls = found
				}
				if len(delta.Calls) > 0 && delta.Finish == llm.FinishStop {
					delta.Finish = llm.FinishTools
				}
			}
			if err == nil && (delta.Empty() || delta.CallText != "") && delta.Calling == "" { // all of it is held back
				delta.Calling = "a function"
			}
			if !yield(delta, err) {
				return
			}
		}
	}
}

// Parser finds calls in a text that comes in pieces. Make one with [New].
type Parser struct {
	tools   tools
	shown   []string        // the texts of the request, in which calls are quotations
	text    string          // what is not decided yet
	begun   bool            // there was something before text that is no white space
	line    bool            // text is at the beginning of a line
	fence   string          // the fence that text is in, "" for none
	thought bool            // text is within <think>
	shape   *shape          // of the call that text begins with, nil for none
	held    strings.Builder // what came behind text since there is a shape
	harmony *harmony        // the reply is in OpenAI's own notation, nil if it is not
}

// New returns a parser for the reply to a request.
func New(request llm.Request) *Parser {
	p := &Parser{tools: tools{list: request.Tools}, line: true}
	for _, m := range request.Messages {
		p.shown = append(p.shown, m.Text)
		for _, r := range m.Results() {
			p.shown = append(p.shown, r.Text)
			for _, part := range r.Parts {
				p.shown = append(p.shown, part.Text)
			}
		}
	}
	return p
}

// Write adds a piece. It returns the text that is certainly no part of a call, and what is thought.
func (p *Parser) Write(piece string) (text, thought string) {
	if p.shape != nil {
		p.held.WriteString(piece)
		return "", ""
	}
	p.text += piece
	if p.harmony != nil {
		return p.harmony.write(&p.text, false)
	}
	return p.scan(false)
}

// Finish returns the rest of the text, and the calls. The text has ended.
func (p *Parser) Finish() (text string, calls []llm.FunctionCall) {
	if p.harmony != nil {
		text, _ = p.harmony.write(&p.text, true)
		return text, p.harmony.calls
	}
	text, _ = p.scan(true)
	if p.harmony != nil {
		return text, p.harmony.calls
	}
	if p.shape == nil {
		text += p.text
		if name, at := cutMark(text); name != "" {
			return text[:at], []llm.FunctionCall{{Name: name, Arguments: text[at:]}}
		}
		return text, nil
	}
	held := p.text + p.held.String()
	calls, rest, ok := p.shape.read(held, p.tools)
	switch {
	case p.quoted(held):
		return text + held, nil
	case !ok && p.shape.certain: // it is a call, and no text for anybody
		return text, []llm.FunctionCall{{Name: p.shape.name, Arguments: held}}
	case !ok:
		return text + held, nil
	}
	if rest = strings.TrimSpace(rest); rest != "" && (rest[0] != '<' || strings.Contains(rest, ">")) { // else it is an end that was cut off
		text += "\n" + rest
	}
	return text, calls
}

// cutMark returns the name of the shape whose mark was cut off at the end of a text, and where it begins.
// A few letters are no mark yet.
func cutMark(text string) (name string, at int) {
	const enough = len("<|tool_call") - 2
	for i := range shapes {
		for _, mark := range shapes[i].marks {
			if n := overlap(text, mark); n >= min(enough, len(mark)-1) {
				return shapes[i].name, len(text) - n
			}
		}
	}
	return "", 0
}

// quoted reports whether the model was shown a text.
func (p *Parser) quoted(text string) bool {
	text = strings.TrimSpace(text)
	for _, shown := range p.shown {
		if len(text) > 0 && strings.Contains(shown, text) {
			return true
		}
	}
	return false
}

// scan moves over the text to where a call begins or may begin, and returns what is before. last is set
// if the text has ended.
func (p *Parser) scan(last bool) (text, thought string) {
	if p.shape != nil {
		return "", ""
	}
	at := 0
	for at < len(p.text) {
		rest := p.text[at:]
		if p.thought {
			size, more := until(rest, "</think>", last)
			if at += size; more {
				break
			}
			p.thought = false
			continue
		}
		if p.line {
			if size, more := p.fenceLine(rest, last); more {
				break
			} else if size > 0 {
				at += size
				continue
			}
		}
		if p.fence == "" {
			if more, found := p.begins(rest, last); found {
				text = p.text[:at]
				p.text = rest
				if p.harmony != nil {
					more, thought := p.harmony.write(&p.text, last)
					return text + more, thought
				}
				return text, ""
			} else if more {
				break
			}
			if strings.HasPrefix(rest, thinks) {
				p.thought = true
				continue
			}
		}
		c := rest[0]
		p.begun = p.begun || c > ' '
		p.line = c == '\n' || p.line && (c == ' ' || c == '\t')
		at++
	}
	text, p.text = p.text[:at], p.text[at:]
	return text, ""
}

// thinks begins what many models think, within the reply.
const thinks = "<think>"

// until returns how many bytes of a text are certainly before the end of a mark, or all up to that end. more is
// set if the mark is not there yet.
func until(text, mark string, last bool) (size int, more bool) {
	if at := strings.Index(text, mark); at >= 0 {
		return at + len(mark), false
	}
	if last {
		return len(text), true
	}
	return len(text) - overlap(text, mark), true
}

// overlap returns how many bytes at the end of a text are the beginning of a mark.
func overlap(text, mark string) int {
	for n := min(len(mark)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, mark[:n]) {
			return n
		}
	}
	return 0
}

// undecided is how many bytes of a text are held back at most because they may begin a call, or a fence. Whatever
// begins one shows it sooner.
const undecided = 1000

// fenceLine takes a line that opens or closes a fence or a block of Org, whole. more is set if the line may
// be one and has not ended.
func (p *Parser) fenceLine(rest string, last bool) (size int, more bool) {
	if p.fence == "" && !p.begun {
		return 0, false // a reply that begins with a fence may be a call
	}
	line, _, ended := strings.Cut(rest[:min(len(rest), undecided+1)], "\n")
	if len(line) > undecided {
		return 0, false
	}
	trimmed := strings.ToLower(strings.TrimLeft(line, " \t"))
	opens := strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") || strings.HasPrefix(trimmed, "#+begin_")
	if !ended && !last {
		for _, mark := range []string{"```", "~~~", "#+begin_", "#+end_"} {
			if strings.HasPrefix(trimmed, mark) || strings.HasPrefix(mark, trimmed) {
				return 0, true
			}
		}
		return 0, false
	}
	switch {
	case p.fence == "" && opens:
		p.fence = trimmed[:3]
	case p.fence == "#+b" && strings.HasPrefix(trimmed, "#+end_"), p.fence != "" && p.fence != "#+b" && strings.TrimSpace(trimmed) == p.fence:
		p.fence = ""
	default:
		return 0, false
	}
	p.begun = true
	return len(line) + min(len(rest)-len(line), 1), false
}

// begins reports whether a call begins where rest does. more is set if that is not known yet.
func (p *Parser) begins(rest string, last bool) (more, found bool) {
	more = !last && strings.HasPrefix(thinks, rest)
	last = last || len(rest) >= undecided
	rest = rest[:min(len(rest), undecided)]
	for i := range shapes {
		s := &shapes[i]
		if s.start && p.begun || s.line && !p.line {
			continue
		}
		is, open := s.opens(rest, p.tools)
		switch {
		case is && s.harmony:
			p.harmony = &harmony{tools: p.tools}
			return false, true
		case is:
			p.shape = s
			return false, true
		}
		more = more || open && !last
	}
	return more, false
}
