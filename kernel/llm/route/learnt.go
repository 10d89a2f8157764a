package route

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/config"
	"org-agent/kernel/text"
)

// learnt has what models were found to refuse. It is kept in a file, so that a model is not asked again
// in vain after each start. What was learnt is forgotten when the heading of the model changes, with
// another version of this program, and after learntTime, because servers learn too.
type learnt struct {
	path    string // "" keeps it in memory
	version string
	logger  *slog.Logger

	mu   sync.Mutex
	rows map[string]refusal // nil before the file was read
}

const (
	learntTime = 30 * 24 * time.Hour
	// learntLimit is how many refusals are kept. With more the file starts anew.
	learntLimit = 1000
)

// What a model can refuse, as a part of the name of a row.
const (
	refusedFunctions = ""
	refusedSchema    = " schema"
)

// refusal is that a model was asked with functions, or held to a schema, and refused that.
type refusal struct {
	At      time.Time `json:"at"`
	Why     string    `json:"why"`     // the words of the server
	Heading string    `json:"heading"` // a digest of the settings
	Version string    `json:"version"` // of this program
}

// load reads the file once. A file that cannot be read is one that is not there.
func (l *learnt) load() {
	if l.rows != nil {
		return
	}
	l.rows = map[string]refusal{}
	if l.path == "" {
		return
	}
	data, err := os.ReadFile(l.path)
	if err == nil {
		err = json.Unmarshal(data, &l.rows)
	}
	if err != nil || l.rows == nil {
		l.rows = map[string]refusal{}
	}
}

// refusals are which models of one server refuse a thing.
type refusals struct {
	learnt  *learnt
	server  string // its address
	heading string // a digest of its settings
	model   string // of its settings
	what    string // refusedFunctions or refusedSchema
}

// refusals returns the refusals of a thing by a server with these settings.
func (l *learnt) refusals(choice config.Choice, what string) refusals {
	seen := fmt.Sprintf("%q %q %q %q %q %v %q %d", choice.BaseURL, choice.Driver, choice.Dialect, choice.Model.Model, choice.Effort, choice.Extras.Body, choice.Extras.Query, len(choice.Extras.Headers))
	return refusals{l, choice.BaseURL, fmt.Sprintf("%x", sha256.Sum256([]byte(seen)))[:16], choice.Model.Model, what}
}

func (r refusals) key(model string) string {
	if model == "" {
		model = r.model
	}
	return r.server + " " + model + r.what
}

// of returns the refusal of a model, "" for that of the settings.
func (r refusals) of(model string) (found refusal, refused bool) {
	r.learnt.mu.Lock()
	defer r.learnt.mu.Unlock()
	r.learnt.load()
	found, refused = r.learnt.rows[r.key(model)]
	return found, refused && found.Heading == r.heading && found.Version == r.learnt.version && time.Since(found.At) < learntTime
}

// add notes that a model has refused the thing.
func (r refusals) add(model string, err error) {
	const longest = 200
	l := r.learnt
	l.mu.Lock()
	defer l.mu.Unlock()
	l.load()
	if len(l.rows) >= learntLimit {
		l.rows = map[string]refusal{}
	}
	l.rows[r.key(model)] = refusal{At: time.Now().UTC().Truncate(time.Second), Why: text.PlainLine(err.Error(), longest), Heading: r.heading, Version: l.version}
	if l.path == "" {
		return
	}
	data, err := json.MarshalIndent(l.rows, "", "  ")
	if err == nil {
		err = atomicfile.Write(l.path, data, 0o600)
	}
	if err != nil && l.logger != nil {
		l.logger.Warn("what a model refuses is not kept", "err", err)
	}
}
