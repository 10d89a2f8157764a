package llm

import (
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/secret"
)

// Driver makes providers for one protocol that model servers speak. The drivers of a program
// stand in one list, [Drivers]; a new protocol is a package with a Driver and a line in it.
type Driver struct {
	// Name is how settings name the protocol.
	Name string
	// Open returns the provider for a server. It asks the server nothing; its errors are those
	// of the configuration. What the provider can do beyond [Provider] is asked for with [As].
	Open func(ServerConfig) (Provider, error)
	// Discover returns the servers of the protocol that answer on this machine, in well under a
	// second; nil where there is no usual place to look.
	Discover func(context.Context) []FoundServer
}

// ServerConfig says which server to ask and how. What a protocol has no use for, its driver
// ignores.
type ServerConfig struct {
	Name    string      // the provider's name in errors and deltas
	BaseURL string      // the address that the protocol's paths are below
	Key     secret.Text // "" sends none
	Model   string      // asked for when a request names none; "" for the only one that the server has
	// GrammarField is the request's field for a GBNF grammar; "" where the server takes none.
	GrammarField string
	// Effort is how much the model thinks first; "" leaves it to the server.
	Effort string
}

// FoundServer is a server that answered on this machine.
type FoundServer struct {
	Name, BaseURL string
	Models        []string // those that it listed, at least one
}

// Drivers is an explicit list of drivers. The first is for servers of which the settings do not
// say what they speak.
type Drivers []Driver

// Named returns the driver of that name, the first for "".
func (d Drivers) Named(name string) (Driver, error) {
	var names []string
	for _, driver := range d {
		if name == "" || driver.Name == name {
			return driver, nil
		}
		names = append(names, driver.Name)
	}
	return Driver{}, fmt.Errorf("there is no driver %q: there is %s", name, strings.Join(names, ", "))
}

// Discover returns the servers that the drivers find on this machine, in the drivers' order,
// each with the name of its driver.
func (d Drivers) Discover(ctx context.Context) (found []FoundServer, drivers []string) {
	for _, driver := range d {
		if driver.Discover == nil {
			continue
		}
		for _, server := range driver.Discover(ctx) {
			found, drivers = append(found, server), append(drivers, driver.Name)
		}
	}
	return found, drivers
}

// As returns what a provider can do beyond answering, as an interface of the caller's. The
// error of a provider that cannot do it names what, as in "list its models".
func As[T any](provider Provider, what string) (T, error) {
	able, ok := provider.(T)
	if !ok {
		return able, &Error{Class: ClassBadRequest, Message: "this kind of server cannot " + what}
	}
	return able, nil
}
