package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"org-agent/kernel/protocol"
)

// viewers are the clients that show a session, in the order in which they attached. The keeper is
// the one of them that writes the conversation's file; without a keeper the kernel does. The zero
// value is empty. Nothing here blocks on a client.
type viewers struct {
	mu      sync.Mutex
	clients []*attachment
	keeper  *attachment
}

// attachment is a client that shows this session.
type attachment struct {
	client Client
	view   protocol.View
	ctx    context.Context // ends when it detaches, or with the sessions
	leave  context.CancelFunc
	pause  time.Duration // between pieces of an answer, as the client wishes; 0 without a wish
	// receipts are those that are not recorded yet. The viewers' mutex guards its Add.
	receipts sync.WaitGroup
}

// expectReceipt notes that a receipt of a client is to come. recorded is called when it is recorded, or when
// none will be. A client that has detached sends none.
func (v *viewers) expectReceipt(a *attachment) (recorded func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.clients, a) {
		return func() {}
	}
	a.receipts.Add(1)
	return a.receipts.Done
}

// canKeep reports whether the client can keep the conversation's file, which has subtrees.
func (a *attachment) canKeep() bool {
	return a.view == protocol.ViewSubtree && a.client.Capabilities().KeepsFile
}

// add attaches a client. Earlier attachments of the same connection end; replaced is their number.
// keeper is true if the client keeps the file from now on: it did before, or it is the first that
// can while there is a file.
func (v *viewers) add(a *attachment, file bool) (replaced int, keeper bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	kept := false
	v.clients = slices.DeleteFunc(v.clients, func(old *attachment) bool {
		if old.client.ID() != a.client.ID() {
			return false
		}
		old.leave()
		a.pause = old.pause
		kept = kept || v.keeper == old
		replaced++
		return true
	})
	v.clients = append(v.clients, a)
	if kept || v.keeper == nil && a.canKeep() && file {
		v.keeper = a
	}
	return replaced, v.keeper == a
}

// remove detaches a client. gone is nil if it was not attached. A keeper keeps the file until handOver, so
// that nobody writes it before the receipts of the keeper are recorded.
func (v *viewers) remove(client string) (gone *attachment, keeper bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := slices.IndexFunc(v.clients, func(a *attachment) bool { return a.client.ID() == client })
	if at < 0 {
		return nil, false
	}
	gone = v.clients[at]
	v.clients = slices.Delete(v.clients, at, at+1)
	gone.leave()
	return gone, v.keeper == gone
}

// handOver ends the keeping of a client that was removed. successor is the new keeper, or nil if no client
// can keep the file.
func (v *viewers) handOver() (successor *attachment) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keeper = nil
	if next := slices.IndexFunc(v.clients, (*attachment).canKeep); next >= 0 {
		v.keeper = v.clients[next]
	}
	return v.keeper
}

// attachments returns a copy of the list of clients.
func (v *viewers) attachments() []*attachment {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.clients)
}

// streaming returns the clients that show an answer while it is written.
func (v *viewers) streaming() []*attachment {
	return slices.DeleteFunc(v.attachments(), func(a *attachment) bool { return !a.client.Capabilities().Streams })
}

// setPause sets how far apart a client wishes the pieces of an answer to be.
func (v *viewers) setPause(client string, pause time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, a := range v.clients {
		if a.client.ID() == client {
			a.pause = pause
		}
	}
}

// pause returns the longest pause that a client wishes that shows answers while they are written.
func (v *viewers) pause() (longest time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, a := range v.clients {
		if a.client.Capabilities().Streams {
			longest = max(longest, a.pause)
		}
	}
	return longest
}

// hasKeeper reports whether a client keeps the conversation's file.
func (v *viewers) hasKeeper() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.keeper != nil
}

// broadcast notifies every client.
func (v *viewers) broadcast(method string, params any) {
	for _, a := range v.attachments() {
		a.client.Notify(method, params)
	}
}
