package rpc

import (
	"slices"
	"sync"
	"time"
)

// strangersMost is how many connections of a listener may be open that have not shown the token.
const strangersMost = 512

// DefaultSilence is how long a new connection may say nothing.
const DefaultSilence = 10 * time.Second

// strangers are the connections of one listener that have not shown the token. They have their own places,
// in which the latest take those of the oldest: so whoever opens connections keeps nobody out, neither the
// clients of other listeners nor those of this one. The zero value is ready.
type strangers struct {
	mu     sync.Mutex
	oldest []*stranger // first
}

// stranger is a connection that has not shown the token.
type stranger struct {
	client *Client
	silent *time.Timer
	among  *strangers
}

// enter adds a connection. It closes the oldest one if there are too many, and this one if it says nothing
// for so long. The caller calls leave when the token was shown, and when the connection has ended.
func (s *strangers) enter(client *Client, silence time.Duration) *stranger {
	one := &stranger{client: client, among: s}
	one.silent = time.AfterFunc(silence, func() { client.Close("it said nothing") })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldest = append(s.oldest, one)
	if len(s.oldest) > strangersMost {
		s.oldest[0].client.Close("it had not shown the token when others came")
		s.oldest = slices.Delete(s.oldest, 0, 1)
	}
	return one
}

// speak notes that the connection has sent a message.
func (o *stranger) speak() { o.silent.Stop() }

// leave frees the place of the connection. It may be called more than once.
func (o *stranger) leave() {
	o.silent.Stop()
	o.among.mu.Lock()
	defer o.among.mu.Unlock()
	if i := slices.Index(o.among.oldest, o); i >= 0 {
		o.among.oldest = slices.Delete(o.among.oldest, i, i+1)
	}
}
