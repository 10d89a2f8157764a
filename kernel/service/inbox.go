package service

import (
	"context"
	"log/slog"
	"time"

	"org-agent/kernel/protocol"
)

// Inbox keeps things for the owner, and answers what is there.
type Inbox struct {
	Store InboxStore
	Now   func() time.Time
	// Notify notifies every client.
	Notify func(method string, params any)
	Logger *slog.Logger
}

// InboxStore holds the items.
type InboxStore interface {
	Put(ctx context.Context, item protocol.InboxItem, at time.Time) (fresh bool, forgotten int, err error)
	Items(ctx context.Context) ([]protocol.InboxItem, error)
	Unread(ctx context.Context) (int, error)
	Mark(ctx context.Context, ids []string, at time.Time) error
	MarkAll(ctx context.Context, at time.Time) error
}

// Keep keeps an item, once for its id, and tells the clients.
func (i Inbox) Keep(ctx context.Context, item protocol.InboxItem) error {
	fresh, forgotten, err := i.Store.Put(ctx, item, i.Now())
	if err != nil || !fresh {
		return err
	}
	if forgotten > 0 {
		i.Logger.Warn("the inbox is full: the oldest of it is forgotten unread", "forgotten", forgotten)
	}
	_, err = i.changed(ctx)
	return err
}

// changed tells the clients how many items are unread.
func (i Inbox) changed(ctx context.Context) (protocol.InboxChanged, error) {
	unread, err := i.Store.Unread(ctx)
	if err == nil {
		i.Notify(protocol.MethodInboxChanged, protocol.InboxChanged{Unread: unread})
	}
	return protocol.InboxChanged{Unread: unread}, err
}

// Methods returns the methods of this service.
func (i Inbox) Methods() []Method {
	return []Method{{protocol.MethodInboxList, For(i.list)}, {protocol.MethodInboxMark, For(i.mark)}}
}

// inboxBytes is the maximum size of the texts in a list of items, in bytes.
const inboxBytes = 2 << 20

func (i Inbox) list(ctx context.Context, p protocol.InboxListParams) (result protocol.InboxListResult, err error) {
	if p.Limit < 0 {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "%d items are asked for", p.Limit)
	}
	all, err := i.Store.Items(ctx)
	if err != nil {
		return result, err
	}
	size := 0
	for _, item := range all {
		if !item.Read {
			result.Unread++
		}
		if p.Unread && item.Read {
			continue
		}
		if size += len(item.Text); p.Limit > 0 && len(result.Items) >= p.Limit || size > inboxBytes {
			result.Left++
			continue
		}
		result.Items = append(result.Items, item)
	}
	return result, nil
}

func (i Inbox) mark(ctx context.Context, p protocol.InboxMarkParams) (protocol.InboxChanged, error) {
	at := i.Now()
	if p.Unread {
		at = time.Time{}
	}
	var err error
	switch {
	case p.All && len(p.IDs) == 0:
		err = i.Store.MarkAll(ctx, at)
	case !p.All && len(p.IDs) > 0:
		err = i.Store.Mark(ctx, p.IDs, at)
	default:
		err = protocol.Errorf(protocol.CodeInvalidParams, "say which items: by :ids, or :all")
	}
	if err != nil {
		return protocol.InboxChanged{}, err
	}
	return i.changed(ctx)
}
