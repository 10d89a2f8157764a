package anthropic

import "org-agent/kernel/llm"

// Driver returns the driver of Anthropic's protocol. Its providers also list their models and tell their
// context windows.
func Driver() llm.Driver {
	return llm.Driver{
		Name:        "anthropic",
		TakesSchema: true,
		Open: func(c llm.ServerConfig) (llm.Provider, error) {
			if c.GrammarField != "" && c.GrammarField != llm.GrammarFieldSchema {
				return nil, &llm.Error{Class: llm.ClassBadRequest, Provider: c.Name, Message: "the protocol anthropic has no grammars",
					Advice: "leave GRAMMAR out; the dialect constrained holds replies to a JSON Schema here"}
			}
			provider, err := New(c)
			if err != nil {
				return nil, err
			}
			return provider, nil
		},
	}
}
