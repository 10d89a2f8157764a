package toolcall

import (
	"strings"

	"org-agent/kernel/llm"
)

// harmony reads the notation of gpt-oss: messages on channels. What is on the channel analysis is thought,
// a message to a function is a call, and the rest is text.
type harmony struct {
	tools  tools
	calls  []llm.FunctionCall
	head   string // of the message
	inBody bool
	body   strings.Builder // of a call
}

// harmonyBody ends the head of a message.
const harmonyBody = "<|message|>"

// harmonyEnds end a message.
var harmonyEnds = []string{"<|end|>", "<|return|>", "<|call|>", "<|start|>", "<|channel|>"}

// write takes the text, as far as it is decided. It returns what is text, and what is thought.
func (h *harmony) write(text *string, last bool) (said, thought string) {
	for *text != "" {
		if !h.inBody {
			at := strings.Index(*text, harmonyBody)
			if at < 0 {
				switch kept := len(*text) - overlap(*text, harmonyBody); {
				case last:
					*text = ""
				case kept > undecided: // no head is so long, and its beginning says all that counts
					*text = (*text)[:undecided] + (*text)[kept:]
				}
				return said, thought
			}
			h.head, *text, h.inBody = (*text)[:min(at, undecided)], (*text)[at+len(harmonyBody):], true
			continue
		}
		size, ended := harmonyEnd(*text, last)
		s, t := h.take((*text)[:size])
		said, thought = said+s, thought+t
		*text = (*text)[size:]
		if !ended {
			return said, thought
		}
		h.close()
		for _, mark := range harmonyEnds[:3] {
			*text = strings.TrimPrefix(*text, mark)
		}
	}
	if last {
		h.close()
	}
	return said, thought
}

// harmonyEnd returns how much of a text is certainly in the message, and whether the message ends there.
func harmonyEnd(text string, last bool) (size int, ended bool) {
	size = len(text)
	for _, mark := range harmonyEnds {
		if at := strings.Index(text, mark); at >= 0 && (at < size || !ended) {
			size, ended = at, true
		}
	}
	if ended || last {
		return size, ended
	}
	for _, mark := range harmonyEnds {
		size = min(size, len(text)-overlap(text, mark))
	}
	return size, false
}

// take adds a piece to the message.
func (h *harmony) take(piece string) (said, thought string) {
	switch {
	case h.recipient() != "":
		h.body.WriteString(piece)
	case strings.Contains(h.head, "analysis"):
		return "", piece
	default:
		return piece, ""
	}
	return "", ""
}

// recipient returns the function that the message is for, "" for none.
func (h *harmony) recipient() string {
	_, to, found := strings.Cut(h.head, "to=")
	if !found {
		return ""
	}
	if end := strings.IndexAny(to, " <"); end >= 0 {
		to = to[:end]
	}
	if to == "user" || to == "assistant" {
		return ""
	}
	return to
}

// close ends the message.
func (h *harmony) close() {
	if to := h.recipient(); to != "" && h.inBody {
		name, _ := h.tools.named(to)
		h.calls = append(h.calls, llm.FunctionCall{Name: name, Arguments: strings.TrimSpace(h.body.String())})
		h.body.Reset()
	}
	h.head, h.inBody = "", false
}
