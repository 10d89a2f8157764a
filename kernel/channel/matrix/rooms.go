package matrix

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"org-agent/kernel/channel"
)

// rooms is what is known of the account's rooms. What is not known is asked for when it is needed first, and kept up to
// date by the events of the room.
type rooms struct {
	mutex sync.Mutex
	known map[id.RoomID]*room
}

// room is the state of a room. A room that is in rooms is not changed: a change replaces it.
type room struct {
	id          id.RoomID
	name, alias string
	members     map[id.UserID]string // who has joined or is invited, with their names
	joinRule    event.JoinRule
	encryption  *event.EncryptionEventContent
	visibility  event.HistoryVisibility
	replacement id.RoomID // in which it goes on
	predecessor id.RoomID // which it goes on from
}

// room returns what is known of a room.
func (d *Driver) room(ctx context.Context, name id.RoomID) (*room, error) {
	d.rooms.mutex.Lock()
	r := d.rooms.known[name]
	d.rooms.mutex.Unlock()
	if r != nil {
		return r, nil
	}
	r = &room{id: name, members: map[id.UserID]string{}}
	if err := d.readState(ctx, name, r.apply); err != nil {
		return nil, err
	}
	d.rooms.mutex.Lock()
	defer d.rooms.mutex.Unlock()
	if newer := d.rooms.known[name]; newer != nil {
		return newer, nil
	}
	d.rooms.known[name] = r
	return r, nil
}

// readState calls each with the events of a room's state. It keeps none of them, because there are as many as members.
func (d *Driver) readState(ctx context.Context, name id.RoomID, each func(*event.Event)) error {
	limited, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	_, response, err := d.client.MakeFullRequestWithResp(limited, mautrix.FullRequest{
		Method: http.MethodGet, URL: d.client.BuildClientURL("v3", "rooms", name, "state"), DontReadResponse: true,
	})
	if err != nil {
		return d.failure(ctx, err)
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(io.LimitReader(response.Body, responseLimit))
	_, err = decoder.Token()
	for err == nil && decoder.More() {
		var raw json.RawMessage
		if err = decoder.Decode(&raw); err != nil {
			break
		}
		if evt, ok := parse(raw, name); ok {
			each(evt)
		}
	}
	if err != nil {
		return d.failure(ctx, fmt.Errorf("the state of the room %s cannot be read: %w", name, err))
	}
	return nil
}

// apply takes an event of the room's state into account.
func (r *room) apply(evt *event.Event) {
	if evt.StateKey == nil {
		return
	}
	switch content := evt.Content.Parsed.(type) {
	case *event.MemberEventContent:
		who := id.UserID(*evt.StateKey)
		if content.Membership == event.MembershipJoin || content.Membership == event.MembershipInvite {
			r.members[who] = content.Displayname
		} else {
			delete(r.members, who)
		}
	case *event.RoomNameEventContent:
		r.name = content.Name
	case *event.CanonicalAliasEventContent:
		r.alias = string(content.Alias)
	case *event.EncryptionEventContent:
		r.encryption = content // it is never taken back, whatever a later event says
	case *event.HistoryVisibilityEventContent:
		r.visibility = content.HistoryVisibility
	case *event.JoinRulesEventContent:
		r.joinRule = content.JoinRule
	case *event.TombstoneEventContent:
		r.replacement = content.ReplacementRoom
	case *event.CreateEventContent:
		if content.Predecessor != nil {
			r.predecessor = content.Predecessor.RoomID
		}
	}
}

// change applies events to what is known of a room, if anything is.
func (d *Driver) change(name id.RoomID, events ...*event.Event) {
	d.rooms.mutex.Lock()
	defer d.rooms.mutex.Unlock()
	r := d.rooms.known[name]
	if r == nil || !slices.ContainsFunc(events, func(e *event.Event) bool { return e.StateKey != nil }) {
		return
	}
	changed := *r
	changed.members = make(map[id.UserID]string, len(r.members)+1)
	for who, name := range r.members {
		changed.members[who] = name
	}
	for _, evt := range events {
		changed.apply(evt)
	}
	d.rooms.known[name] = &changed
}

// forget has the room's state asked for anew.
func (d *Driver) forget(name id.RoomID) {
	d.rooms.mutex.Lock()
	defer d.rooms.mutex.Unlock()
	delete(d.rooms.known, name)
}

// open reports whether anybody can read the room, or come in and do.
func (r *room) open() bool {
	return r.joinRule == event.JoinRulePublic || r.visibility == event.HistoryVisibilityWorldReadable
}

// person is a member of the room.
func (r *room) person(who id.UserID) channel.Person {
	return channel.Person{ID: string(who), Name: r.members[who], Username: string(who)}
}

// chat is the room, or a thread of it.
func (r *room) chat(me string, thread id.EventID) channel.Chat {
	c := channel.Chat{ID: chatID(r.id, thread), Title: r.name, Group: r.open() || len(r.members) > 2}
	if c.Title == "" {
		c.Title = r.alias
	}
	if c.Title == "" && len(r.members) == 2 {
		for who, name := range r.members {
			if string(who) != me {
				c.Title = name
			}
		}
	}
	return c
}

// chatID is the ID of the chat that a room or a thread of it is.
func chatID(room id.RoomID, thread id.EventID) string {
	if thread == "" {
		return string(room)
	}
	return string(room) + "/" + string(thread)
}

// place is where a message goes.
type place struct {
	room   *room
	thread id.EventID
}

type aliasAnswer struct {
	room id.RoomID
	at   time.Time
}

// aliasAge is how long it is believed which room an alias names.
const aliasAge = 10 * time.Minute

// most upgrades of a room that are followed.
const mostUpgrades = 16

// place finds the room of a chat: by its id, or an alias. A room that goes on in another one is that other one.
func (d *Driver) place(ctx context.Context, chat string) (place, error) {
	if err := d.connect(ctx); err != nil {
		return place{}, err
	}
	name, thread := chat, id.EventID("")
	if at := strings.LastIndex(chat, "/$"); at > 0 {
		name, thread = chat[:at], id.EventID(chat[at+1:])
	}
	found := id.RoomID(name)
	if strings.HasPrefix(name, "#") && strings.Contains(name, ":") {
		var err error
		if found, err = d.resolve(ctx, name); err != nil {
			return place{}, unsent(err)
		}
	} else if !strings.HasPrefix(name, "!") || len(name) < 2 || len(name) > 255 {
		return place{}, refuse(fmt.Sprintf("%q is not the id of a room, which is as !room:server, or an alias, as #name:server", chat))
	}
	for range mostUpgrades {
		r, err := d.room(ctx, found)
		if err != nil {
			return place{}, unsent(err)
		}
		next, err := d.successor(ctx, r)
		if err != nil {
			return place{}, unsent(err)
		}
		if next == nil {
			return place{r, thread}, nil
		}
		found, thread = next.id, "" // its threads stay where they are
	}
	return place{}, refuse(fmt.Sprintf("%s was replaced by other rooms without end", chat))
}

// successor returns the room in which a room goes on, nil if there is none, the account is not in it, or it does not say
// the same.
func (d *Driver) successor(ctx context.Context, r *room) (*room, error) {
	if r.replacement == "" {
		return nil, nil
	}
	next, err := d.room(ctx, r.replacement)
	if refused(err) || err == nil && next.predecessor != r.id {
		return nil, nil
	}
	return next, err
}

// resolve asks which room an alias names.
func (d *Driver) resolve(ctx context.Context, alias string) (id.RoomID, error) {
	if known, ok := d.alias.Get(alias); ok && time.Since(known.at) < aliasAge {
		return known.room, nil
	}
	var answer mautrix.RespAliasResolve
	if err := d.ask(ctx, http.MethodGet, d.client.BuildClientURL("v3", "directory", "room", alias), nil, &answer); err != nil {
		return "", err
	}
	d.alias.Put(alias, aliasAnswer{answer.RoomID, time.Now()}, len(alias)+len(answer.RoomID))
	return answer.RoomID, nil
}
