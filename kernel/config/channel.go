package config

import (
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/org"
)

// Channel is a heading below "Channels": a chat by which people talk to the agent.
type Channel struct {
	Name   string // the :channel of its events and the :target of its messages: small letters, digits and hyphens
	Driver string // what it is, such as telegram; the name, unless the heading says otherwise
	// Properties are the other properties as they are written, by their names in upper case, without keys.
	Properties map[string]string
	// Keys are where its keys are, by the names of their properties.
	Keys map[string]KeySource
	Line int
}

// channelKeys are the properties whose values are secret. What is written there is the place of a key.
var channelKeys = []string{"TOKEN", "PASSWORD", "RECOVERY_KEY", "SECRET"}

// reservedChannels are names that mean something else as the :target of an action or as a route.
var reservedChannels = []string{"emacs", "cli", "mcp", "tool", "shell", "peer", "agent", "task", "subagent", "post", "none", "channel", "all"}

// channel reads a heading below "Channels". A heading with a fault is left out: half a channel might send words to the
// wrong server. Which properties a driver takes is known above.
func (p *settingsParser) channel(h *org.Heading) {
	before := len(p.settings.Diagnostics)
	c := Channel{Name: strings.ToLower(strings.TrimSpace(h.Title)), Properties: map[string]string{}, Keys: map[string]KeySource{}, Line: h.Line}
	if err := CheckChannelName(c.Name); err != nil {
		p.fault(h.Line, "%v", err)
	}
	seen := map[string]bool{}
	for _, property := range h.Properties {
		key, value := strings.ToUpper(property.Key), strings.TrimSpace(property.Value)
		switch {
		case ofOrg(key):
		case seen[key]:
			p.fault(property.Line, "%s is set twice", key)
		case key == "DRIVER":
			c.Driver = strings.ToLower(value)
		case slices.Contains(channelKeys, key):
			source, err := parseKeySource(value)
			if err != nil {
				p.fault(property.Line, "%s: %v", key, err)
			}
			c.Keys[key] = source
		default:
			c.Properties[key] = value
		}
		seen[key] = true
	}
	if c.Driver == "" {
		c.Driver = c.Name
	}
	for _, other := range p.settings.Channels {
		if other.Name == c.Name {
			p.fault(h.Line, "there is a channel %q in line %d already", c.Name, other.Line)
		}
	}
	if len(p.settings.Diagnostics) == before {
		p.settings.Channels = append(p.settings.Channels, c)
	}
}

// CheckChannelName returns an error if a channel cannot have this name.
func CheckChannelName(name string) error {
	if name == "" || len(name) > 32 || name[0] < 'a' || name[0] > 'z' {
		return fmt.Errorf("%q is no name of a channel: it begins with a letter a to z, and has 32 characters at most", name)
	}
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return fmt.Errorf("%q is no name of a channel: it has letters a to z, digits and hyphens", name)
		}
	}
	if slices.Contains(reservedChannels, name) {
		return fmt.Errorf("a channel cannot be called %q, which means something else: give it another name, and say with DRIVER what it is", name)
	}
	return nil
}
