package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/access"
	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/settings"
)

// channelTimeout is how long an account may take to be tested, with the command that prints its key.
const channelTimeout = time.Minute

// Channels lists, adds and tests the chats by which people talk to the agent, and says who may.
type Channels struct {
	Path     string // of config.org
	Settings *settings.Live
	Kinds    []protocol.ChannelDriver // all that there can be
	Testing  ChannelTesting
	// Fault says why a channel of the settings does not run, "" if it does.
	Fault    func(name string) string
	People   *access.File
	Pairings *access.Pairings
	// Changed is called after config.org was changed, and PeopleChanged after channels.org was. When they return, the
	// change counts.
	Changed       func(context.Context)
	PeopleChanged func()
	Now           func() time.Time
}

// ChannelTesting knows the drivers.
type ChannelTesting interface {
	// Check returns what is wrong with the properties of a channel.
	Check(c config.Channel) error
	// Test asks the chat's server for the agent's account. The error is [errors.ErrUnsupported] if there are no accounts.
	Test(ctx context.Context, c config.Channel) (channel.Person, error)
}

// Methods returns the methods of this service.
func (s Channels) Methods() []Method {
	return []Method{
		{protocol.MethodChannelList, For(s.list)}, {protocol.MethodChannelAdd, Concurrent(For(s.add))}, {protocol.MethodChannelTest, Concurrent(For(s.test))},
		{protocol.MethodChannelPair, For(s.pair)}, {protocol.MethodChannelPeople, For(s.people)}, {protocol.MethodChannelAllow, For(s.allow)},
	}
}

func (s Channels) list(context.Context, protocol.Empty) (protocol.ChannelListResult, error) {
	result := protocol.ChannelListResult{File: s.Path, Drivers: s.Kinds}
	for _, c := range s.Settings.Now().Channels {
		status := protocol.ChannelStatus{Name: c.Name, Driver: c.Driver, Line: c.Line, Fault: s.Fault(c.Name)}
		if err := s.Testing.Check(c); err != nil {
			status.Fault = err.Error()
		}
		result.Channels = append(result.Channels, status)
	}
	return result, nil
}

// find returns a channel of the settings.
func (s Channels) find(name string) (config.Channel, error) {
	for _, c := range s.Settings.Now().Channels {
		if c.Name == name {
			return c, nil
		}
	}
	return config.Channel{}, protocol.Errorf(protocol.CodeNotFound, "there is no channel %q in config.org; \"org-agent channel add %s\" adds it", name, name)
}

// account tests a channel.
func (s Channels) account(ctx context.Context, c config.Channel) (account protocol.ChannelAccount, err error) {
	ctx, cancel := context.WithTimeout(ctx, channelTimeout)
	defer cancel()
	person, err := s.Testing.Test(ctx, c)
	if errors.Is(err, errors.ErrUnsupported) {
		return account, nil
	}
	return protocol.ChannelAccount{ID: person.ID, Name: person.Name, Username: person.Username}, err
}

func (s Channels) test(ctx context.Context, p protocol.ChannelParams) (result protocol.ChannelTestResult, err error) {
	c, err := s.find(p.Name)
	if err != nil {
		return result, err
	}
	result.Account, err = s.account(ctx, c)
	return result, channelError("", err)
}

func (s Channels) add(ctx context.Context, p protocol.ChannelAddParams) (result protocol.ChannelAddResult, err error) {
	written := make([]config.Written, len(p.Properties))
	for i, property := range p.Properties {
		written[i] = config.Written{Name: property.Name, Value: property.Value}
	}
	c, err := config.NewChannel(p.Name, p.Driver, written)
	if err == nil {
		err = s.Testing.Check(c)
	}
	if err != nil {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "nothing was written: %v", err)
	}
	if result.Account, err = s.account(ctx, c); err != nil {
		return result, channelError("nothing was written: ", err)
	}
	c, err = config.WriteChannel(s.Path, c)
	if errors.Is(err, config.ErrChanged) {
		return result, protocol.Errorf(protocol.CodeStale, "the account can be used, and nothing was written: %v", err)
	}
	if err != nil {
		return result, protocol.Errorf(protocol.CodeStorage, "the account can be used, and nothing was written: %v", err)
	}
	s.Changed(ctx)
	result.File, result.Line, result.Name = s.Path, c.Line, c.Name
	return result, nil
}

// channelError returns why an account cannot be used.
func channelError(before string, err error) error {
	if err == nil {
		return nil
	}
	return protocol.Errorf(protocol.CodeInvalidParams, "%sthe account cannot be used: %v", before, err)
}

func (s Channels) pair(ctx context.Context, p protocol.ChannelPairParams) (result protocol.ChannelPairResult, err error) {
	c, err := s.find(p.Name)
	if err != nil {
		return result, err
	}
	code, until, err := s.Pairings.New(ctx, c.Name, access.Role(cmp.Or(p.Role, protocol.Keyword(access.Friend))))
	if err != nil {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "no code was made: %v", err)
	}
	return protocol.ChannelPairResult{Code: code, Until: until.Format(time.RFC3339)}, nil
}

func (s Channels) people(context.Context, protocol.Empty) (protocol.ChannelPeopleResult, error) {
	rules := s.People.Rules()
	result := protocol.ChannelPeopleResult{File: s.People.Path, Messages: rules.Limits().Messages, Cost: rules.Limits().Cost}
	for _, p := range rules.People() {
		result.People = append(result.People, protocol.ChannelPerson{Line: p.Line, Channel: protocol.Channel(p.Channel), ID: p.ID, Who: p.Who, Role: protocol.Keyword(p.Role), Since: p.Since})
	}
	for _, c := range rules.Chats() {
		result.Chats = append(result.Chats, protocol.ChannelChat{Line: c.Line, Channel: protocol.Channel(c.Channel), Chat: c.ID, Answers: protocol.Keyword(c.Answers), Anyone: c.Anyone, What: c.What})
	}
	for _, fault := range rules.Faults() {
		result.Faults = append(result.Faults, fault.Error())
	}
	return result, nil
}

func (s Channels) allow(ctx context.Context, p protocol.ChannelAllowParams) (result protocol.ChannelPeopleResult, err error) {
	role := access.Role(cmp.Or(p.Role, protocol.Keyword(access.Friend)))
	if role != access.Owner && role != access.Friend && role != access.Blocked {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "a role is owner, friend or blocked, not %q", role)
	}
	if role != access.Blocked { // who is kept out may be kept out of a channel that is gone
		if _, err := s.find(string(p.Channel)); err != nil {
			return result, err
		}
	}
	if err := s.People.Set(string(p.Channel), p.ID, p.Who, role, s.Now()); err != nil {
		return result, protocol.Errorf(protocol.CodeStorage, "nothing was written: %v", fmt.Errorf("%s of %s: %w", p.ID, p.Channel, err))
	}
	s.PeopleChanged()
	return s.people(ctx, protocol.Empty{})
}
