// Package matrix is the channel of Matrix: rooms of a homeserver, over its client-server API.
//
// Ordering: what happens in a room is delivered in the order in which the homeserver has it. Nothing is lost while the
// kernel or the homeserver is away: the place in the stream of events is stored when all before it was taken, and what a
// homeserver leaves out of a long answer is fetched. Blocking: [Driver.Run] waits for the homeserver and for receive; the
// other methods wait for the homeserver, each request half a minute at most, files as long as their context lets them.
// Ownership: a [Driver] has goroutines and files open only while Run runs, and all have ended when it returns.
//
// A chat is a room, or a thread of a room: "!room:server" or "!room:server/$event". The ids of rooms are case-exact.
// Nothing that happened before the account was invited into a room is delivered, and nothing that happened more than a day
// before the first run.
package matrix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"org-agent/kernel/channel"
	"org-agent/kernel/lru"
	"org-agent/kernel/secret"
)

// Config configures a [Driver].
type Config struct {
	Name  string      // of the channel, "matrix" if it is ""
	URL   string      // of the homeserver's client-server API
	Token secret.Text // the access token of the agent's account, of a device that nothing else uses
	HTTP  *http.Client
	State channel.State
	// Keys is a directory for the keys of encrypted rooms, which must be kept as long as the token is used. If it is "",
	// what is said in encrypted rooms is not read, and nothing is sent there.
	Keys   string
	Logger *slog.Logger
	// MayInvite reports whether the account joins a room into which that user invites it. Other invitations are declined.
	// nil: nobody may.
	MayInvite func(sender string) bool

	// Pause is how long the driver waits after a failure, and LongestPause how long after many. 0: 1 s and 5 min.
	Pause, LongestPause time.Duration
	// Poll is how long the homeserver waits until something happens. 0: 30 s.
	Poll time.Duration
}

// Name is the name of the driver, and of a channel whose settings have no other.
const Name = "matrix"

// Driver is the channel "matrix".
type Driver struct {
	config Config
	client *mautrix.Client
	broken error // why there is no client
	log    *slog.Logger

	mutex   sync.Mutex
	account channel.Person // zero until the homeserver said it

	rooms  *rooms
	alias  *lru.Cache[string, aliasAnswer]
	seen   *lru.Cache[id.EventID, seen]   // events that others may be about
	sent   *lru.Cache[string, id.EventID] // what was sent, by [sentKey]
	latest *lru.Cache[string, id.EventID] // the last message of each chat
	// reactions are those of the agent, by room, message and emoji; "" for one that was taken back.
	reactions *lru.Cache[string, id.EventID]
	cipher    cipher // of encrypted rooms, nil while Run does not run
}

var (
	_ channel.Driver  = (*Driver)(nil)
	_ channel.Editor  = (*Driver)(nil)
	_ channel.Deleter = (*Driver)(nil)
	_ channel.Reactor = (*Driver)(nil)
	_ channel.Typist  = (*Driver)(nil)
)

const (
	requestLimit  = 30 * time.Second // for one request that does not wait for events
	responseLimit = 64 << 20         // bytes of one answer
	fileLimit     = 50 << 20         // bytes of a file that is sent; a homeserver may refuse smaller ones
	textLimit     = 7000             // an event is 64 KiB at most, encrypted and with its HTML
)

// New returns a driver. It asks nobody anything before [Driver.Run] or [Driver.Check].
func New(c Config) *Driver {
	c.Pause, c.LongestPause = cmp.Or(c.Pause, time.Second), cmp.Or(c.LongestPause, 5*time.Minute)
	c.Poll, c.Name = cmp.Or(c.Poll, 30*time.Second), cmp.Or(c.Name, Name)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Driver{
		config: c, log: c.Logger.With("channel", c.Name), rooms: &rooms{known: map[id.RoomID]*room{}},
		seen: lru.New[id.EventID, seen](4 << 20), sent: lru.New[string, id.EventID](1 << 19),
		reactions: lru.New[string, id.EventID](1 << 18), latest: lru.New[string, id.EventID](1 << 18), alias: lru.New[string, aliasAnswer](1 << 16),
	}
	client, err := mautrix.NewClient(c.URL, "", c.Token.Reveal())
	if err != nil || client.HomeserverURL.Host == "" || c.Token == "" {
		d.broken = errors.New("matrix: the settings need the address of a homeserver, such as https://matrix.example.org, and an access token")
		return d
	}
	client.Client, client.Log, client.UserAgent = c.HTTP, zerolog.Nop(), "org-agent"
	if client.Client == nil {
		client.Client = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	client.IgnoreRateLimit, client.ResponseSizeLimit = true, responseLimit
	d.client = client
	return d
}

// String returns no secret.
func (d *Driver) String() string { return "matrix.Driver{" + d.config.URL + "}" }

// GoString returns no secret.
func (d *Driver) GoString() string { return d.String() }

// Name implements [channel.Driver].
func (d *Driver) Name() string { return d.config.Name }

// Capabilities implements [channel.Driver].
func (*Driver) Capabilities() channel.Capabilities {
	return channel.Capabilities{TextLimit: textLimit, FileLimit: fileLimit, Idempotent: true, Voice: true}
}

// Check asks the homeserver whose the token is. It changes nothing.
func (d *Driver) Check(ctx context.Context) (channel.Person, error) {
	if err := d.connect(ctx); err != nil {
		return channel.Person{}, err
	}
	var profile struct {
		Name string `json:"displayname"`
	}
	person := d.me()
	err := d.ask(ctx, http.MethodGet, d.client.BuildClientURL("v3", "profile", person.ID, "displayname"), nil, &profile)
	if refused(err) { // it has set none
		err = nil
	}
	person.Name = profile.Name
	return person, err
}

// connect finds out whose the token is, once.
func (d *Driver) connect(ctx context.Context) error {
	if d.broken != nil {
		return &channel.Failure{Class: channel.Unauthorized, Err: d.broken}
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.account.ID != "" {
		return nil
	}
	var who mautrix.RespWhoami
	if err := d.ask(ctx, http.MethodGet, d.client.BuildClientURL("v3", "account", "whoami"), nil, &who); err != nil {
		return unsent(err)
	}
	if who.UserID == "" {
		return fmt.Errorf("matrix: the server at %s does not say whose the token is: it is no homeserver", d.config.URL)
	}
	d.client.UserID, d.client.DeviceID = who.UserID, who.DeviceID
	d.account = channel.Person{ID: string(who.UserID), Username: string(who.UserID)}
	return nil
}

// me is the agent's account, after connect.
func (d *Driver) me() channel.Person {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.account
}

// cipher reads and writes what is said in encrypted rooms.
type cipher interface {
	// take hears what the homeserver tells this device. It is called in the order of the answers, each before the
	// events of its rooms.
	take(ctx context.Context, answer *syncAnswer)
	// decrypt returns the event as it was written. errNoKey: the key may come later.
	decrypt(ctx context.Context, evt *event.Event) (*event.Event, error)
	// encrypt returns what is sent to the room in place of the content.
	encrypt(ctx context.Context, r *room, kind event.Type, content any) (any, error)
	close() error
}

var (
	errNoKey  = errors.New("the key of the message is not known")
	errCipher = errors.New("the room is encrypted, and the settings of the channel or this build have no encryption")
)
