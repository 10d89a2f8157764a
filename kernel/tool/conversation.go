package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// Conversation is where a call is made, for what is kept: from which turn it is, and whom it
// may be brought up before. The zero value is nowhere: of a call that is made in no turn.
type Conversation struct {
	Session string
	Turn    string
	Event   string // the question's id
	// Alone: the person is alone with the agent. What is kept for nobody else may be brought
	// up there, and nowhere else.
	Alone bool
	// Name is what the conversation is known by in the scope of a record.
	Name string
}

// Scopes are those of the records that may be brought up in the conversation.
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

// Scope is the scope of what is kept there: for the person alone, unless others are there.
func (c Conversation) Scope() string {
	if c.Alone {
		return ""
	}
	return c.Name
}

// Key is a name for the session, for files: those of one session are found from no other.
func (c Conversation) Key() string {
	sum := sha256.Sum256([]byte(c.Session))
	return hex.EncodeToString(sum[:8])
}

// errNowhere is the error of a call that is made in no conversation.
var errNowhere = errors.New("this is no conversation in which something could be remembered")

// conversation is where the call is made; one made nowhere brings up and keeps nothing.
func (c *Caller) conversation() (Conversation, error) {
	if !c.Conversation.Alone && c.Conversation.Name == "" {
		return c.Conversation, errNowhere
	}
	return c.Conversation, nil
}
