package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"org-agent/kernel/channel"
)

// position is what is kept across restarts, all of it in one value: what belongs together is stored together.
type position struct {
	Account id.UserID `json:"account"`
	Since   string    `json:"since"`
	// Last is the last event of each room that was taken.
	Last map[id.RoomID]id.EventID `json:"last,omitempty"`
	// Reactions are those that may be taken back: the event that does so does not say what it was.
	Reactions []reaction `json:"reactions,omitempty"`
	// Invitations are those that were accepted or declined, which the homeserver was not told yet.
	Invitations []invitation `json:"invitations,omitempty"`
	// Unread are events of encrypted rooms whose keys did not come yet.
	Unread []unread `json:"unread,omitempty"`
}

type reaction struct {
	ID    id.EventID `json:"id"`
	Of    id.EventID `json:"of"`
	Chat  string     `json:"chat"`
	Emoji string     `json:"emoji"`
}

type invitation struct {
	Room   id.RoomID `json:"room"`
	Accept bool      `json:"accept"`
	Tries  int       `json:"tries"`
	next   time.Time
}

const (
	positionKey     = "position"
	mostReactions   = 500
	mostInvitations = 100
	mostTries       = 12 // to answer an invitation: hours, with the pauses between them
)

// follower is one call of Run.
type follower struct {
	driver   *Driver
	receive  func(context.Context, channel.Message) error
	position position
	failures int // since the homeserver answered last
}

// Run implements [channel.Driver].
func (d *Driver) Run(ctx context.Context, receive func(context.Context, channel.Message) error) error {
	if d.broken != nil {
		return d.broken
	}
	defer d.client.Client.CloseIdleConnections()
	f := &follower{driver: d, receive: receive}
	if err := f.untilDone(ctx, f.begin); err != nil || ctx.Err() != nil {
		return ended(ctx, err)
	}
	defer f.end()
	for {
		if err := f.untilDone(ctx, f.next); err != nil || ctx.Err() != nil {
			return ended(ctx, err)
		}
	}
}

func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// begin finds out whose the token is, and where the last run ended.
func (f *follower) begin(ctx context.Context) error {
	if err := f.driver.connect(ctx); err != nil {
		return err
	}
	stored, err := f.driver.config.State.Load(ctx, positionKey)
	if err != nil {
		return fmt.Errorf("read where the last run ended: %w", err)
	}
	f.position = position{}
	if stored != "" {
		if err := json.Unmarshal([]byte(stored), &f.position); err != nil {
			return fmt.Errorf("read where the last run ended: %w", err)
		}
	}
	if me := f.driver.client.UserID; f.position.Account != me { // the settings name another account now
		f.position = position{Account: me}
	}
	if f.position.Last == nil {
		f.position.Last = map[id.RoomID]id.EventID{}
	}
	keys, err := openCipher(ctx, f.driver)
	if err != nil {
		return err
	}
	f.driver.mutex.Lock()
	f.driver.cipher = keys
	f.driver.mutex.Unlock()
	return nil
}

func (f *follower) end() {
	f.driver.mutex.Lock()
	keys := f.driver.cipher
	f.driver.cipher = nil
	f.driver.mutex.Unlock()
	if keys == nil {
		return
	}
	if err := keys.close(); err != nil {
		f.driver.log.Error("close the keys", "error", err)
	}
}

// untilDone calls do until it succeeds, with growing pauses, or until no pause would help.
func (f *follower) untilDone(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil {
			f.failures = 0
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if is(err, channel.Unauthorized) {
			return fmt.Errorf("%w: the homeserver does not take the access token of the channel matrix any more. Log in anew, put the new token into the settings, and start again", err)
		}
		pause := f.pause(err)
		f.driver.log.Warn("the channel waits after a failure, and tries again", "error", err, "pause", pause.Round(time.Millisecond))
		if !wait(ctx, pause) {
			return ctx.Err()
		}
	}
}

// pause is how long to wait after a failure: longer after each, as the homeserver says if it does, and not as long as
// everybody else who lost it at the same time.
func (f *follower) pause(err error) time.Duration {
	longest := f.driver.config.LongestPause
	pause := min(longest, f.driver.config.Pause<<min(f.failures, 20))
	if pause <= 0 {
		pause = longest
	}
	f.failures++
	pause = pause/2 + rand.N(pause/2+1)
	if failed, ok := errors.AsType[*channel.Failure](err); ok {
		pause = max(pause, failed.RetryAfter)
	}
	return pause
}

// wait reports whether that time passed before ctx ended.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// syncAnswer is the homeserver's answer to what happened since. Events are read one by one, because one that cannot be
// read must not hide the others.
type syncAnswer struct {
	NextBatch      string              `json:"next_batch"`
	ToDevice       rawEvents           `json:"to_device"`
	DeviceLists    mautrix.DeviceLists `json:"device_lists"`
	DeviceOTKCount mautrix.OTKCount    `json:"device_one_time_keys_count"`
	FallbackKeys   []id.KeyAlgorithm   `json:"device_unused_fallback_key_types"`
	Rooms          struct {
		Join   map[id.RoomID]*joinedRoom `json:"join"`
		Leave  map[id.RoomID]*joinedRoom `json:"leave"`
		Invite map[id.RoomID]struct {
			State rawEvents `json:"invite_state"`
		} `json:"invite"`
	} `json:"rooms"`
	since string
}

type rawEvents struct {
	Events []json.RawMessage `json:"events"`
}

type joinedRoom struct {
	State    rawEvents `json:"state"`
	Timeline struct {
		rawEvents
		Limited bool   `json:"limited"`
		Before  string `json:"prev_batch"`
	} `json:"timeline"`
}

// timelineLimit is how many events of a room one answer has; the rest is fetched from there on.
const timelineLimit = 100

// filter is what is asked of the homeserver: what happens in rooms, without who is typing and who is away.
var filter = fmt.Sprintf(`{"presence":{"types":[]},"account_data":{"types":[]},"room":{"account_data":{"types":[]},"ephemeral":{"types":[]},"state":{"lazy_load_members":true},"timeline":{"limit":%d}}}`, timelineLimit)

// next waits for what happens next and takes it.
func (f *follower) next(ctx context.Context) error {
	poll := f.driver.config.Poll
	if f.position.Since == "" || f.failures > 0 {
		poll = 0
	}
	if due, waits := f.invitationDue(); waits {
		poll = max(0, min(poll, time.Until(due)))
	}
	query := map[string]string{"filter": filter, "timeout": strconv.FormatInt(poll.Milliseconds(), 10), "set_presence": "online"}
	if f.position.Since != "" {
		query["since"] = f.position.Since
	}
	limited, cancel := context.WithTimeout(ctx, poll+2*requestLimit)
	defer cancel()
	answer := &syncAnswer{since: f.position.Since}
	_, err := f.driver.client.MakeFullRequest(limited, mautrix.FullRequest{
		Method: http.MethodGet, URL: f.driver.client.BuildURLWithQuery(mautrix.ClientURLPath{"v3", "sync"}, query), ResponseJSON: answer,
	})
	if err = f.driver.failure(ctx, err); err == nil && answer.NextBatch == "" {
		err = &channel.Failure{Class: channel.Temporary, Err: errors.New("matrix: the homeserver does not say from where to go on")}
	}
	if err == nil {
		err = f.take(ctx, answer)
	}
	if err == nil {
		f.answerInvitations(ctx)
	}
	return err
}

// take takes all of an answer, and stores that it did.
func (f *follower) take(ctx context.Context, answer *syncAnswer) error {
	if keys := f.driver.keys(); keys != nil {
		keys.take(ctx, answer)
		if err := f.readUnread(ctx); err != nil {
			return err
		}
	}
	for room, invited := range answer.Rooms.Invite {
		f.invited(room, invited.State.Events)
	}
	for _, room := range sorted(answer.Rooms.Join) {
		if err := f.takeRoom(ctx, room, answer.Rooms.Join[room]); err != nil {
			return err
		}
	}
	for _, room := range sorted(answer.Rooms.Leave) {
		if answer.since == "" {
			break
		}
		if err := f.takeLeft(ctx, room, answer.Rooms.Leave[room]); err != nil {
			return err
		}
	}
	if answer.NextBatch == answer.since && len(answer.Rooms.Join)+len(answer.Rooms.Leave)+len(answer.Rooms.Invite) == 0 {
		return nil
	}
	f.position.Since = answer.NextBatch
	return f.store(ctx)
}

func sorted(rooms map[id.RoomID]*joinedRoom) (names []id.RoomID) {
	for name, room := range rooms {
		if room != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (f *follower) store(ctx context.Context) error {
	text, err := json.Marshal(f.position)
	if err != nil {
		return fmt.Errorf("store what was taken: %w", err)
	}
	if err := f.driver.config.State.Store(ctx, positionKey, string(text)); err != nil {
		return fmt.Errorf("store what was taken: %w", err)
	}
	return nil
}

// deliver hands a message over, again and again until it is taken.
func (f *follower) deliver(ctx context.Context, m channel.Message) error {
	return f.untilDone(ctx, func(ctx context.Context) error { return f.receive(ctx, m) })
}

// takeRoom delivers what happened in a room.
func (f *follower) takeRoom(ctx context.Context, name id.RoomID, joined *joinedRoom) error {
	f.driver.change(name, f.parseAll(name, joined.State.Events)...)
	events, err := f.newEvents(ctx, name, joined)
	if err != nil {
		return err
	}
	for _, evt := range events {
		f.driver.change(name, evt)
		if f.isOld(evt) {
			f.position.Last[name] = evt.ID
			continue
		}
		if err := f.takeEvent(ctx, evt); err != nil {
			return err
		}
		f.position.Last[name] = evt.ID
	}
	return nil
}

// newEvents are those of a room that were not taken yet, with what the answer left out.
func (f *follower) newEvents(ctx context.Context, name id.RoomID, room *joinedRoom) ([]*event.Event, error) {
	events := f.parseAll(name, room.Timeline.Events)
	last, known := f.position.Last[name]
	begin := f.firstNew(events, last)
	if begin < 0 && room.Timeline.Limited && room.Timeline.Before != "" {
		older, err := f.fetch(ctx, name, room.Timeline.Before, last)
		if err != nil {
			return nil, err
		}
		events = append(older, events...)
		begin = f.firstNew(events, last)
	}
	if begin < 0 && !known {
		begin = f.lastJoin(events)
	}
	return events[max(0, begin):], nil
}

// takeLeft delivers what happened until the account left a room, or was put out of it.
func (f *follower) takeLeft(ctx context.Context, name id.RoomID, left *joinedRoom) error {
	if _, was := f.position.Last[name]; was {
		events, err := f.newEvents(ctx, name, left)
		if err != nil {
			return err
		}
		for _, evt := range events {
			if err := f.takeEvent(ctx, evt); err != nil {
				return err
			}
		}
	}
	delete(f.position.Last, name)
	f.position.Invitations = slices.DeleteFunc(f.position.Invitations, func(i invitation) bool { return i.Room == name })
	f.driver.forget(name)
	return nil
}

func (f *follower) parseAll(name id.RoomID, raws []json.RawMessage) (events []*event.Event) {
	for _, raw := range raws {
		if evt, ok := parse(raw, name); ok {
			events = append(events, evt)
		} else {
			f.driver.log.Warn("an event that cannot be read", "room", name, "bytes", len(raw))
		}
	}
	return events
}

// firstNew is the index of the first event that was not taken: after the last that was, or after the invitation of the
// account into the room. It is negative if these events do not say.
func (f *follower) firstNew(events []*event.Event, last id.EventID) int {
	for i, evt := range slices.Backward(events) {
		if last != "" && evt.ID == last {
			return i + 1
		}
		switch f.ownMembership(evt) {
		case event.MembershipInvite:
			return i + 1
		case event.MembershipJoin:
			if before := previousMember(evt).Membership; last == "" && before != "" && before != event.MembershipInvite {
				return i + 1
			}
		}
	}
	return -1
}

// oldest is how long before the first run something happened that is still delivered, as long as other chats keep what
// nobody fetches.
const oldest = 24 * time.Hour

// isOld reports whether an event is too old for the first run.
func (f *follower) isOld(evt *event.Event) bool {
	return f.position.Since == "" && time.Since(time.UnixMilli(evt.Timestamp)) > oldest
}

// lastJoin is the index after the event by which the account came into the room, 0 if there is none.
func (f *follower) lastJoin(events []*event.Event) int {
	for i, evt := range slices.Backward(events) {
		if f.ownMembership(evt) == event.MembershipJoin {
			return i + 1
		}
	}
	return 0
}

// ownMembership is what an event says of the account's membership, "" for nothing new.
func (f *follower) ownMembership(evt *event.Event) event.Membership {
	if evt.Type != event.StateMember || evt.GetStateKey() != string(f.driver.client.UserID) {
		return ""
	}
	now := evt.Content.AsMember().Membership
	if now == previousMember(evt).Membership {
		return ""
	}
	return now
}

// The homeserver leaves out of a long answer what is older than its newest events.
const (
	pageLimit = 100
	mostPages = 50
)

// fetch gets the events of a room before a place, back to the last that was taken, in the order in which they happened.
func (f *follower) fetch(ctx context.Context, name id.RoomID, before string, last id.EventID) ([]*event.Event, error) {
	var pages [][]*event.Event
	for range mostPages {
		var page struct {
			Chunk []json.RawMessage `json:"chunk"`
			End   string            `json:"end"`
		}
		query := map[string]string{"dir": "b", "from": before, "limit": strconv.Itoa(pageLimit)}
		address := f.driver.client.BuildURLWithQuery(mautrix.ClientURLPath{"v3", "rooms", name, "messages"}, query)
		err := f.driver.ask(ctx, http.MethodGet, address, nil, &page)
		if refused(err) { // the account may not see what was before
			break
		}
		if err != nil {
			return nil, err
		}
		events := f.parseAll(name, page.Chunk)
		slices.Reverse(events)
		pages = append(pages, events)
		if f.firstNew(events, last) >= 0 || page.End == "" || page.End == before || len(page.Chunk) == 0 || len(events) > 0 && f.isOld(events[0]) {
			break
		}
		before = page.End
		if len(pages) == mostPages {
			f.driver.log.Error("so much was said in a room that its older messages are not fetched", "room", name, "events", mostPages*pageLimit)
		}
	}
	slices.Reverse(pages)
	return slices.Concat(pages...), nil
}
