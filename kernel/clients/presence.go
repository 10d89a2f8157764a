package clients

import (
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// Presence records in [Clients] who is connected. It implements [rpc.Presence].
type Presence struct {
	Clients *Clients
	// Faults returns the faults that still hold. A client that shows notices receives them when it
	// connects; clients that were connected before have received them already.
	Faults func() []string
	// OnDisconnect are called in order when a client's connection has ended. They must not block.
	OnDisconnect []func(*rpc.Client)
}

// Connected implements [rpc.Presence].
func (p Presence) Connected(client *rpc.Client) {
	p.Clients.Add(client)
	if !client.Capabilities().Notices {
		return
	}
	for _, fault := range p.Faults() {
		client.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: fault})
	}
}

// Disconnected implements [rpc.Presence].
func (p Presence) Disconnected(client *rpc.Client) {
	p.Clients.Remove(client)
	for _, notify := range p.OnDisconnect {
		notify(client)
	}
}
