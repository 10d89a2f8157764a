// Package drivers is the list of the chats by which people can talk to the agent. It is a package of its own, so that
// what is built or tested with one of them does not compile the libraries of all.
//
// Blocking: [List.Open] resolves keys, which may run the person's own command for half a minute. Nothing is dialled before
// a driver runs. Ownership: a driver belongs to whoever opened it.
package drivers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"

	"org-agent/kernel/channel"
	"org-agent/kernel/config"
	"org-agent/kernel/secret"
	"org-agent/kernel/suggest"
)

// Driver is one kind of chat.
type Driver struct {
	Name string // what DRIVER in config.org says
	// Properties are those of its heading in config.org.
	Properties []Property
	// Begin is what a person does before, a step each: how the agent gets an account of its own.
	Begin []string
	open  func(s settings) channel.Driver
}

// Property is a property of a channel's heading.
type Property struct {
	Name string
	Doc  string // what it is, in one sentence
	// Key says that it is a secret: the heading says where it is.
	Key      bool
	Required bool
	Values   []string // that it may have, nil for any
}

// Surroundings is what a channel has from the kernel.
type Surroundings struct {
	Env   func(string) string // for keys that are in variables
	State channel.State
	// Directory is for files of the channel's own. It need not exist.
	Directory string
	// MayInvite reports whether the agent's account goes into a group into which that person invites it. nil: it never does.
	MayInvite func(sender string) bool
	Logger    *slog.Logger
}

// settings is what a channel is opened with.
type settings struct {
	Surroundings
	name       string
	properties map[string]string
	keys       map[string]secret.Text
}

// List is a list of drivers.
type List []Driver

// Find returns the driver of a name.
func (all List) Find(name string) (Driver, bool) {
	i := slices.IndexFunc(all, func(d Driver) bool { return d.Name == name })
	if i < 0 {
		return Driver{}, false
	}
	return all[i], true
}

// Names returns the names of all drivers.
func (all List) Names() []string {
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	return names
}

// Check returns what is wrong with a channel of the settings: a driver or a property that does not exist, or one that is
// missing. It asks nobody, and resolves no key.
func (all List) Check(c config.Channel) error {
	d, found := all.Find(c.Driver)
	if !found {
		return fmt.Errorf("the channel %s in line %d of config.org: there is no driver %q%s: there are %s", c.Name, c.Line, c.Driver, similar(c.Driver, all.Names()), strings.Join(all.Names(), ", "))
	}
	if err := d.check(c); err != nil {
		return fmt.Errorf("the channel %s in line %d of config.org: %w", c.Name, c.Line, err)
	}
	return nil
}

func (d Driver) check(c config.Channel) error {
	var names []string
	for _, p := range d.Properties {
		names = append(names, p.Name)
		value, text := c.Properties[p.Name]
		_, key := c.Keys[p.Name]
		if p.Required && !text && !key {
			return fmt.Errorf("it needs the property %s: %s", p.Name, p.Doc)
		}
		if text && p.Values != nil && !slices.Contains(p.Values, value) {
			return fmt.Errorf("%s is %s, not %q", p.Name, strings.Join(p.Values, " or "), value)
		}
	}
	for _, given := range slices.Sorted(keysOf(c)) {
		if !slices.Contains(names, given) {
			return fmt.Errorf("there is no property %s of %s%s", given, d.Name, similar(given, names))
		}
	}
	return nil
}

// keysOf yields the names of all properties of a channel.
func keysOf(c config.Channel) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name := range maps.Keys(c.Properties) {
			if !yield(name) {
				return
			}
		}
		for name := range maps.Keys(c.Keys) {
			if !yield(name) {
				return
			}
		}
	}
}

// similar returns the end of a message that suggests a similar word, or "".
func similar(word string, words []string) string {
	if near := suggest.Of(word, words); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// Open returns the driver of a channel of the settings, which is called as the channel is. The errors say what is wrong
// and have no secret.
func (all List) Open(ctx context.Context, c config.Channel, s Surroundings) (channel.Driver, error) {
	if err := all.Check(c); err != nil {
		return nil, err
	}
	d, _ := all.Find(c.Driver)
	keys := map[string]secret.Text{}
	for name, source := range c.Keys {
		key, err := source.Resolve(ctx, s.Env)
		if err != nil {
			return nil, fmt.Errorf("the channel %s: %s: %w", c.Name, name, err)
		}
		keys[name] = key
	}
	return d.open(settings{Surroundings: s, name: c.Name, properties: c.Properties, keys: keys}), nil
}

// Changes compares the channels that run with those of the settings. Those that are gone or changed have to end, and
// those that are new or changed have to begin, after that. A channel that only moved in the file goes on.
func Changes(running, wanted []config.Channel) (end, begin []config.Channel) {
	in := func(all []config.Channel, c config.Channel) bool {
		return slices.ContainsFunc(all, func(other config.Channel) bool {
			other.Line = c.Line
			return reflect.DeepEqual(other, c)
		})
	}
	for _, c := range running {
		if !in(wanted, c) {
			end = append(end, c)
		}
	}
	for _, c := range wanted {
		if !in(running, c) {
			begin = append(begin, c)
		}
	}
	return end, begin
}

// Test asks the chat's server whether the channel's key is valid, and returns the agent's account there. For a kind of
// channel without accounts the error is [errors.ErrUnsupported].
func Test(ctx context.Context, d channel.Driver) (channel.Person, error) {
	checker, ok := d.(interface {
		Check(ctx context.Context) (channel.Person, error)
	})
	if !ok {
		return channel.Person{}, fmt.Errorf("test %s: %w", d.Name(), errors.ErrUnsupported)
	}
	return checker.Check(ctx)
}
