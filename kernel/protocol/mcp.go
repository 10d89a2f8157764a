package protocol

// MCPServer is how a server is that other people's tools come from.
type MCPServer struct {
	Name    string  `json:"name"`
	State   Keyword `json:"state"`             // starting, ready or failing
	Address string  `json:"address,omitempty"` // the program, or the address in the web
	Server  string  `json:"server,omitempty"`  // what it calls itself
	// Tools are those of it that can be called, by their names here.
	Tools []string `json:"tools,omitempty"`
	// Left are those that cannot, each with the reason.
	Left  []string `json:"left,omitempty"`
	Fault string   `json:"fault,omitempty"`
	Again string   `json:"again,omitempty"` // RFC 3339; when it is started again
}
