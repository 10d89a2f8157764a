// Package route finds which model answers a request and what that model can take.
//
// A [Router] is made from the settings and the environment. It has the models that are tried in
// turn for a request that names none, and all others by their names. It is itself an
// [llm.Provider], and adds to each server its time limits, retries, further keys, the rule about
// images and the person's consent. [llm.As] tells what a server can do beyond answering. The
// protocols are the list of drivers that the Router is given.
//
// A Router is safe for use by several goroutines. It asks no server before it is asked itself,
// except that [New] and [Router.Reload] look once for servers on this machine if nothing is set.
package route

import (
	"log/slog"
	"strings"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
	"org-agent/kernel/secret"
	"org-agent/kernel/suggest"
)

// Config configures a [Router]. All fields but Logger are required.
type Config struct {
	Drivers  llm.Drivers
	Dialects llm.Dialects
	Settings config.Settings
	Env      func(string) string
	// Consent is the file of the hosts that a person agreed to.
	Consent string
	// Builtin answers where there is no model.
	Builtin llm.Provider
	// Learnt is the file of what models were found to refuse; "" keeps that in memory. Version is this
	// program's version: another one learns anew.
	Learnt, Version string
	// KeepPicture is [llm.Pictures].Keep for all servers.
	KeepPicture func(name string, content []byte) (path string, err error)
	Logger      *slog.Logger

	learnt *learnt // of Learnt
}

// routes are the models of one reading of the settings. Their methods do what those of the Router
// with the same names promise.
type routes struct {
	config    Config
	standard  llm.Provider
	endpoints []endpoint // filled by load, and constant afterwards
	model     string
	notice    string
	images    func(llm.Request) (llm.Request, error)
	consent   consent
	health    health
	keys      secret.Set // of all servers that were asked
	known     known
}

// endpoint is a server, or the built-in guide, under a name.
type endpoint struct {
	name     string
	heading  bool // the name is a heading in config.org
	standard bool // it is asked for requests that name no model
	provider llm.Provider
	server   *Server // nil for the built-in guide
}

// find returns the endpoint of the model with this name, and the model's name there. The name of an
// endpoint stands for the model of its settings, whose name there is "". ENDPOINT:MODEL is another
// model of it. Any other name is a model of the first standard server.
func (r *routes) find(name string) (endpoint, string, error) {
	for _, e := range r.endpoints {
		if e.name == name {
			return e, "", nil
		}
		if model, ok := strings.CutPrefix(name, e.name+":"); ok && model != "" && e.server != nil {
			return e, model, nil
		}
	}
	heading, _, _ := strings.Cut(name, ":")
	for _, off := range []string{name, heading} {
		if line := r.config.Settings.Off[off]; line > 0 {
			return endpoint{}, "", protocol.Errorf(protocol.CodeNotFound,
				"the model %q is switched off: take the word COMMENT away in line %d of config.org; no other is asked in its place", off, line)
		}
	}
	for _, e := range r.endpoints {
		if e.server != nil && e.standard {
			return e, name, nil
		}
	}
	names := r.names()
	if near := suggest.Of(name, names); near != "" {
		return endpoint{}, "", protocol.Errorf(protocol.CodeNotFound, "there is no model %q: did you mean %q?", name, near)
	}
	return endpoint{}, "", protocol.Errorf(protocol.CodeNotFound, "there is no model %q: there is %s", name, strings.Join(names, ", "))
}

// names returns the names of the endpoints.
func (r *routes) names() []string {
	var names []string
	for _, e := range r.endpoints {
		names = append(names, e.name)
	}
	return names
}

// mayAsk reports whether a server may be asked for its models. A server that was found may be asked
// only after a person agreed to it.
func (r *routes) mayAsk(s *Server) bool { return !s.choice.Found || r.consent.needed() == "" }
