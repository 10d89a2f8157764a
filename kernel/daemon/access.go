package daemon

import (
	"context"
	"path/filepath"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/access"
	"org-agent/kernel/channel/drivers"
	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// channelAccess is who may talk on the channels.
type channelAccess struct {
	file     *access.File
	pairings *access.Pairings
	guard    *access.Guard
}

// openAccess returns who may talk, by channels.org and by what they have used.
func (d *daemon) openAccess() channelAccess {
	file := &access.File{Path: d.paths.Channels}
	return channelAccess{
		file:     file,
		pairings: &access.Pairings{File: file, State: d.channelState, Changed: d.peopleChanged, Now: time.Now, Logger: d.log},
		guard:    &access.Guard{File: file, Usage: channelUsage{d}},
	}
}

// peopleChanged notifies the clients that channels.org was changed, so that editors reread it.
func (d *daemon) peopleChanged() {
	d.clients.NotifyAll(protocol.MethodFileChanged, protocol.FileChanged{Files: []string{d.paths.Channels}})
}

// channelState returns what is kept of a channel across restarts.
func (d *daemon) channelState(channel string) channel.State {
	return channelState{d, channel}
}

type channelState struct {
	d       *daemon
	channel string
}

func (s channelState) Load(ctx context.Context, key string) (string, error) {
	return s.d.journal.Channels.Load(ctx, s.channel, key)
}

func (s channelState) Store(ctx context.Context, key, value string) error {
	return s.d.journal.Channels.Store(ctx, s.channel, key, value)
}

// channelUsage counts what senders used. Their day begins at midnight where the person is.
type channelUsage struct{ d *daemon }

func (u channelUsage) Used(ctx context.Context, channel, sender string) (messages int, cost float64, err error) {
	now := u.d.persona.Now()
	if messages, err = u.d.journal.Chats.Said(ctx, channel, sender, now.Add(-time.Hour)); err != nil {
		return 0, 0, err
	}
	year, month, day := now.Date()
	cost, err = u.d.journal.Chats.Spent(ctx, channel, sender, time.Date(year, month, day, 0, 0, 0, 0, now.Location()))
	return messages, cost, err
}

// openDriver returns the driver of a channel of config.org.
func (d *daemon) openDriver(ctx context.Context, c config.Channel) (channel.Driver, error) {
	return drivers.All().Open(ctx, c, drivers.Surroundings{
		Env: d.config.Env, State: d.channelState(c.Name), Directory: filepath.Join(d.paths.State, "channels", c.Name),
		MayInvite: func(sender string) bool { return d.access.file.Rules().May(c.Name, sender) }, Logger: d.log.With("channel", c.Name),
	})
}

// channelTesting tests channels with drivers of their own, which do not run.
type channelTesting struct{ d *daemon }

func (t channelTesting) Check(c config.Channel) error { return drivers.All().Check(c) }

func (t channelTesting) Test(ctx context.Context, c config.Channel) (channel.Person, error) {
	driver, err := t.d.openDriver(ctx, c)
	if err != nil {
		return channel.Person{}, err
	}
	return drivers.Test(ctx, driver)
}

// channelService returns the service of the channels' settings.
func (d *daemon) channelService() service.Channels {
	var kinds []protocol.ChannelDriver
	for _, driver := range drivers.All() {
		k := protocol.ChannelDriver{Name: driver.Name, Begin: driver.Begin}
		for _, p := range driver.Properties {
			k.Properties = append(k.Properties, protocol.ChannelDriverProperty{Name: p.Name, Doc: p.Doc, Key: p.Key, Required: p.Required})
		}
		kinds = append(kinds, k)
	}
	return service.Channels{
		Path: d.paths.Config, Settings: d.settings, Kinds: kinds, Testing: channelTesting{d}, People: d.access.file, Pairings: d.access.pairings, Now: time.Now,
		Fault: d.channels.Fault,
		Changed: func(ctx context.Context) {
			d.configuration.Reload(ctx)
			d.clients.NotifyAll(protocol.MethodFileChanged, protocol.FileChanged{Files: []string{d.paths.Config}})
		},
		PeopleChanged: d.peopleChanged,
	}
}
