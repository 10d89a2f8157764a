// Package telegram is the channel of a bot of Telegram: messages, files, reactions, edits, groups and their topics.
//
// Ordering: what happens in a chat is delivered in the order in which Telegram has it. Telegram is told that an update
// arrived only after receive took all that it says, so that nothing is lost with the program; what was taken and not
// told is delivered again with the same IDs. Blocking: Run waits for Telegram and for receive; the other methods wait
// for Telegram's answer. Ownership: the goroutines of Run have ended when it returns. A [channel.Attachment] is
// fetched by whoever opens it.
//
// A bot never hears that somebody deleted a message. In a group it hears of reactions only as an administrator, and,
// unless its privacy mode is off, only of messages to itself.
package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"org-agent/kernel/channel"
	"org-agent/kernel/lru"
	"org-agent/kernel/secret"
)

// Name is the name of the channel.
const Name = "telegram"

// The limits of Telegram's servers.
const (
	textLimit     = 4096     // of a message, in UTF-16 code units
	captionLimit  = 1024     // of the text of a file
	uploadLimit   = 50 << 20 // of a file that a bot sends, in bytes
	photoLimit    = 10 << 20 // of a picture; a larger one is sent as a document
	downloadLimit = 20 << 20 // of a file that a bot fetches
	buttonLimit   = 64       // of the data of a button, in bytes
)

// server is the address of Telegram's own Bot API server.
const server = "https://api.telegram.org"

// Config are the settings of a bot. Only Token is needed.
type Config struct {
	Name  string // of the channel, in lower case; "" is [Name]
	Token secret.Text
	// URL is the address of the Bot API server, without a slash at its end. "": Telegram's own.
	URL string
	// HTTP asks the server. It must not have a Timeout of less than LongPoll and 15 seconds. nil: a client of this
	// driver's own, which heeds the proxies of the environment.
	HTTP *http.Client
	// State keeps the place in the stream of updates, and where groups moved to. nil: only while the program runs.
	State  channel.State
	Logger *slog.Logger
	Now    func() time.Time
	// Whole says that messages are not edited while they are written: each is sent when it is complete.
	Whole bool
	// LongPoll is how long one request waits for updates, in whole seconds, 50 s if it is 0.
	LongPoll time.Duration
	// Pause is the first pause after a failure, 1 s if it is 0. The pauses double up to 5 minutes.
	Pause time.Duration
}

// Driver is a bot. It is safe for many goroutines; Run is called by one at a time.
type Driver struct {
	config *Config // behind a pointer, because %#v shows a field's token, and no pointer's
	wire   *wire
	bot    *bot.Bot
	faulty error // why there is no bot

	moved   *lru.Cache[int64, int64]   // groups, and the supergroups that they became
	topics  *lru.Cache[string, int]    // messages in topics; a reaction does not say where it is
	named   *lru.Cache[string, string] // chats of topics, and the topics' names
	begun   *lru.Cache[string, string] // messages of two parts whose first was sent, and its ID
	reacted *lru.Cache[string, string] // messages, and how the bot reacted to them
}

var (
	_ channel.Driver  = (*Driver)(nil)
	_ channel.Editor  = (*Driver)(nil)
	_ channel.Deleter = (*Driver)(nil)
	_ channel.Reactor = (*Driver)(nil)
	_ channel.Typist  = (*Driver)(nil)
)

// remembered is the size of each of a driver's caches, in bytes.
const remembered = 1 << 20

// New returns the driver of a bot. It connects to nothing.
func New(c Config) *Driver {
	c.Name = cmp.Or(c.Name, Name)
	c.URL = cmp.Or(strings.TrimSuffix(c.URL, "/"), server)
	c.LongPoll = cmp.Or(c.LongPoll, 50*time.Second)
	c.Pause = cmp.Or(c.Pause, time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	d := &Driver{
		config: &c, wire: newWire(c),
		moved: lru.New[int64, int64](remembered), topics: lru.New[string, int](remembered), named: lru.New[string, string](remembered),
		begun: lru.New[string, string](remembered), reacted: lru.New[string, string](remembered),
	}
	if d.faulty = check(c); d.faulty == nil {
		d.bot, d.faulty = bot.New(c.Token.Reveal(), bot.WithSkipGetMe(), bot.WithServerURL(c.URL), bot.WithUpdatesChannelCap(0),
			bot.WithHTTPClient(c.LongPoll, d.wire), bot.WithErrorsHandler(func(err error) {
				c.Logger.Warn("telegram's library", "err", c.Token.Hide(err.Error()))
			}))
	}
	return d
}

// token is the shape of the tokens of bots. They are put into addresses as they are.
var token = regexp.MustCompile(`^[0-9]{1,20}:[A-Za-z0-9_-]{20,100}$`)

func check(c Config) error {
	if !token.MatchString(c.Token.Reveal()) {
		return unauthorized(errors.New("what is stored as the bot's token is not one: @BotFather shows it as digits, a colon and letters"))
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return unauthorized(errors.New("the address of the Bot API server is not one of http or https"))
	}
	return nil
}

func unauthorized(err error) error {
	return &channel.Failure{Class: channel.Unauthorized, Err: err}
}

func refused(format string, args ...any) error {
	return &channel.Failure{Class: channel.Refused, Err: fmt.Errorf(format, args...)}
}

// Name implements [channel.Driver].
func (d *Driver) Name() string { return d.config.Name }

// Capabilities implements [channel.Driver].
func (d *Driver) Capabilities() channel.Capabilities {
	return channel.Capabilities{TextLimit: textLimit, FileLimit: uploadLimit, Emoji: emoji(), Edits: !d.config.Whole, Buttons: true, Voice: true}
}

// Check asks Telegram whose token it is. It fails with a [channel.Failure].
func (d *Driver) Check(ctx context.Context) (account channel.Person, err error) {
	me, err := d.me(ctx)
	if err != nil {
		return channel.Person{}, err
	}
	return person(me), nil
}

func (d *Driver) me(ctx context.Context) (*models.User, error) {
	if d.faulty != nil {
		return nil, d.faulty
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	me, err := d.bot.GetMe(ctx)
	if err != nil {
		return nil, failure("getMe", err, repeatable)
	}
	return me, nil
}

func person(u *models.User) channel.Person {
	return channel.Person{ID: strconv.FormatInt(u.ID, 10), Name: strings.TrimSpace(u.FirstName + " " + u.LastName), Username: u.Username}
}
