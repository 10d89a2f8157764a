// Package matrixtest is a homeserver for tests, which has as much of Matrix's client-server API as a channel needs, and
// is strict with it: it refuses what homeservers refuse, with the errors of the specification, and every path that it does
// not have. It knows none of the driver's types, so that it judges for itself. A real homeserver is what "make test-peers"
// runs.
//
// Ordering: events have one order over all rooms, in which the homeserver hands them out. Blocking: a client that waits for
// events waits as long as it says. Ownership: a [Server] belongs to its test, which ends it.
package matrixtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Who is on the server: the account of the agent, and people.
const (
	Agent = "@agent:test"
	Ada   = "@ada:test"
	Eve   = "@eve:test"
	Token = "syt_YWdlbnQ_secretsecretsecret"
)

// Object is a JSON object.
type Object = map[string]any

// Server is a homeserver.
type Server struct {
	URL string

	mutex    sync.Mutex
	changed  chan struct{}
	address  string
	http     *httptest.Server
	events   []*Event
	rooms    map[string]map[string]string // the members of each room
	aliases  map[string]string
	media    map[string]file
	sent     map[string]string // transactions, by path
	typing   map[string]bool
	receipts []string
	fault    func(w http.ResponseWriter, r *http.Request) bool
	expired  bool
	away     bool
	timeline int // of answers, however many the client wants
	polls    int
	skipped  bool // paths of media before 2024 only
}

type file struct {
	media string
	data  []byte
}

// Event is an event of a room.
type Event struct {
	Position    int
	Room        string
	ID          string
	Type        string
	Sender      string
	StateKey    *string
	Content     Object
	Previous    Object // content of the state before
	Transaction string // of the agent's device
	Time        time.Time
	Redacts     string
	Redacted    bool
	Raw         json.RawMessage // in place of all that; from a server that writes what is no event
}

// Unserved returns a homeserver that listens nowhere, as a handler for tests whose time is not that of the clock.
func Unserved() *Server {
	return &Server{
		changed: make(chan struct{}), rooms: map[string]map[string]string{}, aliases: map[string]string{},
		media: map[string]file{}, sent: map[string]string{}, typing: map[string]bool{}, timeline: 1000,
	}
}

// New starts a homeserver with people and without rooms.
func New(t testing.TB) *Server {
	t.Helper()
	s := Unserved()
	s.start(t, "127.0.0.1:0")
	t.Cleanup(func() { s.Stop() })
	return s
}

func (s *Server) start(t testing.TB, address string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s.http = &httptest.Server{Listener: listener, Config: &http.Server{Handler: s}}
	s.http.Start()
	s.URL, s.address = s.http.URL, listener.Addr().String()
}

// Stop has the server go away. What it has it keeps.
func (s *Server) Stop() {
	s.set(func() { s.away = true })
	s.http.CloseClientConnections()
	s.http.Close()
}

// Start has it come back at the same address.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.set(func() { s.away = false })
	s.start(t, s.address)
}

// Drop ends all connections that there are.
func (s *Server) Drop() { s.http.CloseClientConnections() }

// Fault has f answer requests before the server does. f returns false for those that it leaves to it.
func (s *Server) Fault(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.fault = f
}

// Expire ends the token.
func (s *Server) Expire() { s.set(func() { s.expired = true }) }

// Timeline bounds how many events of a room one answer has, whatever the client wants.
func (s *Server) Timeline(n int) { s.set(func() { s.timeline = n }) }

// Old has the server have files where homeservers had them before 2024, and nowhere else.
func (s *Server) Old() { s.set(func() { s.skipped = true }) }

// Forget has the server forget the transactions, as some do when they are started again.
func (s *Server) Forget() { s.set(func() { clear(s.sent) }) }

func (s *Server) set(do func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	do()
	s.tellLocked()
}

func (s *Server) tellLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Room makes a room of Ada's, of which she invites the agent if that is said, and the agent is a member otherwise.
func (s *Server) Room(name string, invited bool) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.rooms[name] = map[string]string{}
	s.add(&Event{Room: name, Type: "m.room.create", Sender: Ada, StateKey: new(string), Content: Object{"room_version": "10"}})
	s.member(name, Ada, Ada, "join", "Ada")
	s.add(&Event{Room: name, Type: "m.room.join_rules", Sender: Ada, StateKey: new(string), Content: Object{"join_rule": "invite"}})
	s.add(&Event{Room: name, Type: "m.room.history_visibility", Sender: Ada, StateKey: new(string), Content: Object{"history_visibility": "shared"}})
	s.member(name, Ada, Agent, "invite", "Agent")
	if !invited {
		s.member(name, Agent, Agent, "join", "Agent")
	}
	s.tellLocked()
	return name
}

// Alias names a room.
func (s *Server) Alias(alias, room string) { s.set(func() { s.aliases[alias] = room }) }

// Member has somebody's membership in a room change.
func (s *Server) Member(room, sender, whom, membership, name string) string {
	var id string
	s.set(func() { id = s.member(room, sender, whom, membership, name) })
	return id
}

func (s *Server) member(room, sender, whom, membership, name string) string {
	if membership == "leave" || membership == "ban" {
		delete(s.rooms[room], whom)
	} else {
		s.rooms[room][whom] = membership
	}
	return s.add(&Event{Room: room, Type: "m.room.member", Sender: sender, StateKey: &whom, Content: Object{"membership": membership, "displayname": name}})
}

// Post has somebody send an event, and returns its id.
func (s *Server) Post(room, sender, kind string, content Object) string {
	var id string
	s.set(func() { id = s.add(&Event{Room: room, Type: kind, Sender: sender, Content: content}) })
	return id
}

// State has somebody change the room.
func (s *Server) State(room, sender, kind string, content Object) string {
	var id string
	s.set(func() {
		id = s.add(&Event{Room: room, Type: kind, Sender: sender, StateKey: new(string), Content: content})
	})
	return id
}

// Raw puts something in the place of an event, as a server of somebody's may.
func (s *Server) Raw(room, raw string) {
	s.set(func() { s.add(&Event{Room: room, Type: "raw", Sender: Eve, Raw: json.RawMessage(raw)}) })
}

// Redact has somebody take an event back.
func (s *Server) Redact(room, sender, of string) string {
	var id string
	s.set(func() { id = s.redact(room, sender, of) })
	return id
}

func (s *Server) redact(room, sender, of string) string {
	for _, e := range s.events {
		if e.ID == of {
			e.Redacted, e.Content = true, Object{}
		}
	}
	return s.add(&Event{Room: room, Type: "m.room.redaction", Sender: sender, Redacts: of, Content: Object{"redacts": of}})
}

// Age has an event be older than it is.
func (s *Server) Age(id string, by time.Duration) {
	s.set(func() {
		for _, e := range s.events {
			if e.ID == id {
				e.Time = e.Time.Add(-by)
			}
		}
	})
}

func (s *Server) add(e *Event) string {
	e.Position, e.Time = len(s.events)+1, time.Now()
	sum := sha256.Sum256(fmt.Append(nil, e.Position, e.Room))
	e.ID = "$" + fmt.Sprint(e.Position) + "-" + base64.RawURLEncoding.EncodeToString(sum[:24])
	if e.StateKey != nil {
		for _, before := range s.events {
			if before.Room == e.Room && before.Type == e.Type && before.StateKey != nil && *before.StateKey == *e.StateKey {
				e.Previous = before.Content
			}
		}
	}
	s.events = append(s.events, e)
	return e.ID
}

// Upload keeps a file of a person's, and returns where.
func (s *Server) Upload(media string, data []byte) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.upload(media, data)
}

func (s *Server) upload(media string, data []byte) string {
	name := fmt.Sprintf("file%d", len(s.media)+1)
	s.media[name] = file{media, data}
	return "mxc://test/" + name
}

// File returns a file that was uploaded.
func (s *Server) File(address string) (media string, data []byte, ok bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	f, ok := s.media[address[len("mxc://test/"):]]
	return f.media, f.data, ok
}

// Of returns the events of a kind that the agent sent to a room, or everybody for "".
func (s *Server) Of(room, sender, kind string) (of []Event) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, e := range s.events {
		if e.Room == room && e.Type == kind && (sender == "" || e.Sender == sender) && !e.Redacted {
			copied := *e
			copied.Content = maps.Clone(e.Content)
			of = append(of, copied)
		}
	}
	return of
}

// Membership returns what somebody is in a room: "join", "invite" or "".
func (s *Server) Membership(room, who string) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.rooms[room][who]
}

// Typing reports whether the agent writes in a room.
func (s *Server) Typing(room string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.typing[room]
}

// Receipts returns the events that the agent has marked as read, each with its thread.
func (s *Server) Receipts() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.receipts)
}

// Polls returns how often the agent asked what happened.
func (s *Server) Polls() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.polls
}
