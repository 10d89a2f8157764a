package llm

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"org-agent/kernel/secret"
)

// Driver makes providers for one protocol of model servers. The drivers of a program stand in one
// list, [Drivers]; a new protocol is a package with a Driver, and a line in that list.
type Driver struct {
	// Name is the protocol's name in the settings.
	Name string
	// Open returns the provider for a server. It sends nothing to the server; its errors are faults
	// of the configuration. [As] returns what the provider can do beyond [Provider].
	Open func(ServerConfig) (Provider, error)
	// TakesSchema is set if the protocol itself has a field for a JSON Schema that replies keep to.
	TakesSchema bool
	// Discover returns the servers of the protocol that answer on this machine. It takes well
	// under a second. It is nil for a protocol whose servers have no usual address.
	Discover func(context.Context) []FoundServer
}

// ServerConfig is the address of a server and how to ask it. A driver ignores the fields that its
// protocol has no use for.
type ServerConfig struct {
	Name    string      // the provider's name in errors and deltas
	BaseURL string      // the protocol's paths are below this address
	Key     secret.Text // "" sends none
	Model   string      // for requests that name none; "" means the only model that the server has
	// GrammarField is the request's field for a GBNF grammar, [GrammarFieldSchema], or "" if the server takes neither.
	GrammarField string
	// Effort is how much the model thinks first; "" leaves it to the server.
	Effort string
	// Headers are sent with every request, and replace others of the same name. Query stands behind the
	// ? of every address. Body has fields of every completion request, and replaces others.
	Headers map[string]secret.Text
	Query   string
	Body    map[string]any
	// Logger is told what a provider ignores. nil means that nobody is.
	Logger *slog.Logger
}

// String returns the configuration without secrets.
func (c ServerConfig) String() string {
	return fmt.Sprintf("{Name:%s BaseURL:%s Model:%s Key:%s}", c.Name, RedactURL(c.BaseURL), c.Model, c.Key)
}

// GoString returns the same as String, for %#v.
func (c ServerConfig) GoString() string { return c.String() }

// FoundServer is a server that answered on this machine.
type FoundServer struct {
	Name, BaseURL string
	Models        []string // at least one
}

// Drivers is a list of drivers. The first is for servers whose settings name none.
type Drivers []Driver

// Named returns the driver with that name, or the first for "".
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

// Discover returns the servers that the drivers find on this machine, in the drivers' order, and
// for each the name of its driver.
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

// As returns a provider as an interface of the caller, for what it can do beyond answering. If the
// provider does not implement it, the error names what it cannot do, such as "list its models".
func As[T any](provider Provider, what string) (T, error) {
	able, ok := provider.(T)
	if !ok {
		return able, &Error{Class: ClassBadRequest, Message: "this kind of server cannot " + what}
	}
	return able, nil
}
