package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// ReadStream decodes the body of an answer as a provider does.
func ReadStream(body io.Reader, see func(llm.Delta, error)) {
	events := transport.NewEventReader(io.NopCloser(body))
	reply := decoder{provider: "test", model: "test"}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if !transport.IsEnd(err) {
				p := &Provider{config: llm.ServerConfig{Name: "test"}}
				see(llm.Delta{}, p.readFailure(err))
			}
			see(reply.last(), nil)
			return
		}
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("data:")))
		if string(line) == "[DONE]" {
			continue
		}
		delta, err := reply.decode(line)
		see(delta, err)
		if err != nil {
			return
		}
	}
}

// JoinStrings decodes JSON strings that follow one another as a stream does.
func JoinStrings(quoted []json.RawMessage) string {
	var j joiner
	var whole string
	for _, q := range quoted {
		whole += j.join(textOf(q))
	}
	return whole + j.flush()
}
