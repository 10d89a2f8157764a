// Package drivers is the list of the protocols that model servers are asked by. It is a package of its own, so that
// what is built or tested with one protocol does not compile the libraries of all.
package drivers

import (
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/anthropic"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/llm/responses"
)

// All returns the drivers. The first is the default for servers whose protocol config.org does not name.
func All() llm.Drivers {
	return llm.Drivers{
		openai.Driver(),
		anthropic.Driver(),
		responses.Driver(),
	}
}
