package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// FunctionCall is a call of a function in the notation of model servers.
type FunctionCall struct {
	// ID links the call to its result. A server may leave it out.
	ID string
	// Name is the function's name, as [FunctionName] made it or as the model wrote it.
	Name string
	// Arguments is a JSON object, or whatever the model wrote in its place. "" is an object without
	// fields.
	Arguments string
}

// CallsLimit is how many calls of one reply are read. More are a model that is stuck.
const CallsLimit = 64

// functionNameLimit is how long a function's name may be for OpenAI and Anthropic.
const functionNameLimit = 64

// FunctionName returns the name of a tool as servers accept it: up to 64 letters, digits, _ and - of
// ASCII. A name that has to be changed gets an end by which it differs from others that would be changed
// to the same.
func FunctionName(tool string) string {
	changed := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, tool)
	if changed == tool && len(tool) <= functionNameLimit && tool != "" {
		return tool
	}
	hash := sha256.Sum256([]byte(tool))
	end := "_" + hex.EncodeToString(hash[:4])
	return changed[:min(len(changed), functionNameLimit-len(end))] + end
}

// Named returns the tool with this name, in its own spelling or as [FunctionName] makes it.
func Named(tools []Tool, name string) (Tool, bool) {
	for _, t := range tools {
		if t.Name == name || FunctionName(t.Name) == name {
			return t, true
		}
	}
	return Tool{}, false
}
