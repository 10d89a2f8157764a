package anthropic

import (
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// SetQuiet sets how long a stream may have only signs of life before one is passed on.
func SetQuiet(p *Provider, quiet time.Duration) { p.quiet = quiet }

// ReadStream decodes events as a provider does.
func ReadStream(events []string, see func(llm.Delta, error)) {
	reply := decoder{provider: "test", model: "test", ignored: &transport.Ignored{}}
	for _, e := range events {
		delta, err := reply.decode([]byte(e))
		see(delta, err)
		if err != nil {
			return
		}
	}
	see(reply.last(), nil)
}
