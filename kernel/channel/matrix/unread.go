package matrix

import (
	"context"
	"encoding/json"
	"errors"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// unread is an event of an encrypted room whose key did not come yet, as the homeserver sent it.
type unread struct {
	ID   id.EventID      `json:"id"`
	Room id.RoomID       `json:"room"`
	Raw  json.RawMessage `json:"raw"`
}

func unreadOf(evt *event.Event) unread {
	raw, err := json.Marshal(evt)
	if err != nil { // it was read from JSON
		raw = nil
	}
	return unread{ID: evt.ID, Room: evt.RoomID, Raw: raw}
}

func (d *Driver) keys() cipher {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.cipher
}

// decrypted is the event as it was written.
func (d *Driver) decrypted(ctx context.Context, evt *event.Event) (*event.Event, error) {
	keys := d.keys()
	if keys == nil {
		return nil, errCipher
	}
	return keys.decrypt(ctx, evt)
}

// readUnread delivers the messages whose keys came after them.
func (f *follower) readUnread(ctx context.Context) error {
	all := f.position.Unread
	var left []unread
	for i, one := range all {
		evt, ok := parse(one.Raw, one.Room)
		if !ok {
			continue
		}
		clear, err := f.driver.decrypted(ctx, evt)
		if errors.Is(err, errNoKey) {
			left = append(left, one)
			continue
		}
		if err != nil {
			f.driver.log.Warn("a message that cannot be read", "room", one.Room, "event", one.ID, "error", err)
			continue
		}
		r, err := f.roomOf(ctx, one.Room)
		if err == nil {
			err = f.takeClear(ctx, r, clear)
		}
		if err != nil {
			f.position.Unread = append(left, all[i:]...)
			return err
		}
	}
	f.position.Unread = left
	return nil
}
