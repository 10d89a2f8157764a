package session

import (
	"context"
	"slices"
	"sync"

	"org-agent/kernel/protocol"
)

// viewers are the clients that show a session, in the order in which they attached. The keeper is
// the one of them that writes the conversation's file; without a keeper the kernel does. The zero
// value is empty. Nothing here blocks on a client.
type viewers struct {
	mu     sync.Mutex
	all    []*attached
	keeper *attached
}

// attached is a client that shows this session.
type attached struct {
	client Client
	view   protocol.View
	ctx    context.Context // ends when it detaches, or with the sessions
	leave  context.CancelFunc
}

// canKeep reports whether the client can keep the conversation's file, which has subtrees.
func (a *attached) canKeep() bool {
	return a.view == protocol.ViewSubtree && a.client.Capabilities().KeepsFile
}

// add attaches a client. Earlier attachments of the same connection end; replaced is their number.
// keeper is true if the client keeps the file from now on: it did before, or it is the first that
// can while there is a file.
func (v *viewers) add(a *attached, file bool) (replaced int, keeper bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	kept := false
	v.all = slices.DeleteFunc(v.all, func(old *attached) bool {
		if old.client.ID() != a.client.ID() {
			return false
		}
		old.leave()
		kept = kept || v.keeper == old
		replaced++
		return true
	})
	v.all = append(v.all, a)
	if kept || v.keeper == nil && a.canKeep() && file {
		v.keeper = a
	}
	return replaced, v.keeper == a
}

// remove detaches a client. left is false if it was not attached. If it kept the file, kept is true,
// and heir is the client that keeps the file now, or nil if none can.
func (v *viewers) remove(client string) (left, kept bool, heir *attached) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := slices.IndexFunc(v.all, func(a *attached) bool { return a.client.ID() == client })
	if at < 0 {
		return false, false, nil
	}
	gone := v.all[at]
	v.all = slices.Delete(v.all, at, at+1)
	gone.leave()
	if v.keeper != gone {
		return true, false, nil
	}
	v.keeper = nil
	if next := slices.IndexFunc(v.all, (*attached).canKeep); next >= 0 {
		v.keeper = v.all[next]
	}
	return true, true, v.keeper
}

// attached returns the clients at this moment.
func (v *viewers) attached() []*attached {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.all)
}

// streaming returns the clients that show an answer while it is written.
func (v *viewers) streaming() []*attached {
	return slices.DeleteFunc(v.attached(), func(a *attached) bool { return !a.client.Capabilities().Streams })
}

// keepFile reports whether one of the clients keeps the conversation's file.
func (v *viewers) keepFile() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.keeper != nil
}

// broadcast notifies every client.
func (v *viewers) broadcast(method string, params any) {
	for _, a := range v.attached() {
		a.client.Notify(method, params)
	}
}
