package protocol

// MCPServer is the state of an MCP server.
type MCPServer struct {
	Name    string  `json:"name"`
	State   Keyword `json:"state"`             // starting, ready or failing
	Address string  `json:"address,omitempty"` // the program, or the address in the web
	Server  string  `json:"server,omitempty"`  // its own name for itself
	// Tools are the names of those of its tools that can be called.
	Tools []string `json:"tools,omitempty"`
	// Left are its other tools, each with the reason.
	Left  []string `json:"left,omitempty"`
	Fault string   `json:"fault,omitempty"`
	Again string   `json:"again,omitempty"` // RFC 3339; when it is started again
}
