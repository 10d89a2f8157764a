package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"org-agent/kernel/protocol"
)

// Conversation is the conversation of a call. Stored things record it as their source, and it
// decides what may be mentioned. The zero value is no conversation.
type Conversation struct {
	Session string
	Turn    string
	Event   string // the question's id
	// Alone is true if the person is alone with the agent. Private things may be mentioned only
	// then.
	Alone bool
	// Name is the conversation's name in the scope of a record.
	Name string
	// Route is where the turn came from. A turn outside of any conversation has none.
	Route protocol.Route
	// Program is true if another program makes the call. It sees its own conversation, and files
	// where the policy judges each of them for it.
	Program bool
}

// Scopes returns the scopes of the records that may be mentioned in the conversation.
func (c Conversation) Scopes() []string {
	var scopes []string
	if c.Alone {
		scopes = append(scopes, "")
	}
	if c.Name != "" {
		scopes = append(scopes, c.Name)
	}
	return scopes
}

// Scope returns the scope of what is stored in the conversation: the person alone, unless others
// take part.
func (c Conversation) Scope() string {
	if c.Alone {
		return ""
	}
	return c.Name
}

// Key returns a text that stands for the session in the names of files. Different sessions have
// different keys.
func (c Conversation) Key() string {
	sum := sha256.Sum256([]byte(c.Session))
	return hex.EncodeToString(sum[:8])
}

// errNoConversation is the error for a call outside of any conversation.
var errNoConversation = errors.New("this is no conversation in which something could be remembered")

// conversation returns the conversation of a call. Outside of a conversation nothing is stored or
// mentioned.
func (c *Caller) conversation() (Conversation, error) {
	if !c.Conversation.Alone && c.Conversation.Name == "" {
		return c.Conversation, errNoConversation
	}
	return c.Conversation, nil
}
