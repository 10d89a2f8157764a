package daemon

import (
	"context"
	"path/filepath"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/drivers"
	"org-agent/kernel/channel/messenger"
	"org-agent/kernel/contacts"
	"org-agent/kernel/openfile"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
	"org-agent/kernel/session"
	"org-agent/kernel/tool"
)

// openContacts returns the person's contacts.
func (d *daemon) openContacts() *contacts.Book {
	return contacts.New(contacts.Config{
		File: openfile.File{Path: d.paths.Contacts, Editor: taskEditor{d.emacs()}, Changed: func(path string) {
			d.clients.NotifyAll(protocol.MethodFileChanged, protocol.FileChanged{Files: []string{path}})
		}},
		Channels: d.channelNames, Now: d.persona.Now, NewID: newID, Logger: d.log,
		Report: func(problems []string) { d.faults.Report("contacts.org", problems) },
	})
}

// channelNames returns the names of the channels that there may be, each once.
func (d *daemon) channelNames() []string {
	var names []string
	known := map[string]bool{}
	add := func(name string) {
		if !known[name] {
			known[name] = true
			names = append(names, name)
		}
	}
	for _, k := range channel.Known() {
		add(string(k.Spec.Target))
	}
	for _, name := range drivers.All().Names() {
		add(name)
	}
	for _, c := range d.settings.Last().Channels {
		add(c.Name)
	}
	for _, c := range d.config.Channels {
		add(c.Name())
	}
	return names
}

// contactsAsked is how many entries of the person's address books an Emacs tells at most.
const contactsAsked = 50

// messageDeps returns what the tools that send need.
func (d *daemon) messageDeps(conversations *lateSessions) tool.Messages {
	return tool.Messages{
		Here:      deliveries{conversations},
		Messenger: &messenger.Messenger{Drivers: d.channels.All, Outbox: d.channels.outbox, Now: d.config.Now},
		Contacts: func(ctx context.Context, in tool.Conversation, query string) ([]contacts.Contact, error) {
			all, err := d.contacts.All()
			if err != nil || query == "" {
				return all, err
			}
			found, err := d.emacs().Contacts(ctx, in, protocol.EmacsContactsParams{Query: query, Limit: contactsAsked})
			if err != nil { // there is no Emacs, it is busy, or older: what the kernel knows is told
				d.log.Debug("no address book of Emacs was asked", "err", err)
				return all, nil
			}
			return contacts.Merge(all, found.Contacts), nil
		},
		HasContacts: d.contacts.Any,
		Owner: func(ctx context.Context) (tool.Target, error) {
			channel, chat, err := d.outcomes(conversations).Owner(ctx)
			return tool.Target{Channel: channel, Chat: chat}, err
		},
		Voice: &service.Voice{Speech: d.openSpeech(), Directory: filepath.Join(d.paths.Home, "speech")},
		Files: d.fileDeps(), NewID: newID, Now: d.persona.Now,
	}
}

// deliveries puts what tools deliver into conversations.
type deliveries struct{ conversations *lateSessions }

// Show implements [tool.Deliverer].
func (s deliveries) Show(ctx context.Context, in tool.Conversation, id, text string, files []string) error {
	return session.Delivery{ID: id, Text: text, Files: files}.Show(ctx, s.conversations.Sessions, in.Session, in.Turn)
}

// Post implements [tool.Deliverer].
func (s deliveries) Post(ctx context.Context, id, name, text string) error {
	return s.conversations.Post(ctx, id, name, text)
}
