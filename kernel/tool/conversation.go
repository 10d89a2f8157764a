package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// Conversation is where a call is made, for what is kept: from which turn it is, and whom it
// may be brought up before.
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

type conversationKey struct{}

// WithConversation returns the context of calls that are made in a conversation.
func WithConversation(ctx context.Context, c Conversation) context.Context {
	return context.WithValue(ctx, conversationKey{}, c)
}

// SessionOf is a name for the session that a call is made in, for files: those of one session are
// found from no other.
func SessionOf(ctx context.Context) string {
	c, _ := ctx.Value(conversationKey{}).(Conversation)
	sum := sha256.Sum256([]byte(c.Session))
	return hex.EncodeToString(sum[:8])
}

// ConversationOf is where a call is made; known is false for one made nowhere.
func ConversationOf(ctx context.Context) (c Conversation, known bool) {
	c, known = ctx.Value(conversationKey{}).(Conversation)
	return c, known
}

// errNowhere is the error of a call that is made in no conversation.
var errNowhere = errors.New("this is no conversation in which something could be remembered")

// conversationOf is where a call is made; one made nowhere brings up and keeps nothing.
func conversationOf(ctx context.Context) (Conversation, error) {
	c, _ := ctx.Value(conversationKey{}).(Conversation)
	if !c.Alone && c.Name == "" {
		return c, errNowhere
	}
	return c, nil
}
