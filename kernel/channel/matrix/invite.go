package matrix

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"org-agent/kernel/channel"
)

// invited notes an invitation, with what is answered to it.
func (f *follower) invited(name id.RoomID, state []json.RawMessage) {
	for _, evt := range f.parseAll(name, state) {
		if evt.Type == event.StateMember && evt.GetStateKey() == string(f.driver.client.UserID) && evt.Content.AsMember().Membership == event.MembershipInvite {
			f.invitation(name, string(evt.Sender))
			return
		}
	}
}

// invitation notes that somebody wants the account to be in a room.
func (f *follower) invitation(name id.RoomID, sender string) {
	accept := f.driver.config.MayInvite != nil && f.driver.config.MayInvite(sender)
	f.driver.log.Info("an invitation", "room", name, "sender", sender, "accepted", accept)
	all := slices.DeleteFunc(f.position.Invitations, func(i invitation) bool { return i.Room == name })
	if len(all) >= mostInvitations {
		all = all[1:]
	}
	f.position.Invitations = append(all, invitation{Room: name, Accept: accept})
}

// invitationDue is when the next invitation is answered, if there is any.
func (f *follower) invitationDue() (due time.Time, waits bool) {
	for _, i := range f.position.Invitations {
		if !waits || i.next.Before(due) {
			due, waits = i.next, true
		}
	}
	return due, waits
}

// answerInvitations joins or declines. A room whose server is away is tried again later, and holds nothing else up.
func (f *follower) answerInvitations(ctx context.Context) {
	if due, waits := f.invitationDue(); !waits || time.Now().Before(due) {
		return
	}
	var left []invitation
	for _, i := range f.position.Invitations {
		if !time.Now().Before(i.next) {
			err := f.answerInvitation(ctx, i)
			if ctx.Err() != nil {
				return
			}
			if err == nil {
				continue
			}
			f.driver.log.Warn("an invitation could not be answered", "room", i.Room, "accepted", i.Accept, "error", err)
			i.Tries++
			if refused(err) || i.Tries >= mostTries {
				continue
			}
			i.next = time.Now().Add(min(f.driver.config.LongestPause<<i.Tries, time.Hour, f.driver.config.Pause<<(2*i.Tries)))
		}
		left = append(left, i)
	}
	f.position.Invitations = left
	if err := f.store(ctx); err != nil { // they are answered twice then, which is no harm
		f.driver.log.Warn("an answered invitation is not stored", "error", err)
	}
}

func (f *follower) answerInvitation(ctx context.Context, i invitation) error {
	what := "leave"
	if i.Accept {
		what = "join"
	}
	err := f.driver.ask(ctx, http.MethodPost, f.driver.client.BuildClientURL("v3", "rooms", i.Room, what), struct{}{}, nil)
	if is(err, channel.Unauthorized) { // it will end the run when it is asked for events
		return nil
	}
	return err
}
