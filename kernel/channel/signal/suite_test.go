package signal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/channeltest/signaltest"
)

// TestSuite holds the driver against what every driver keeps.
func TestSuite(t *testing.T) {
	channeltest.DriverSuite(t, func(t *testing.T) channeltest.Fixture {
		return &phone{server: start(t, signaltest.Config{Others: []signaltest.Account{{Number: "+4915100000009"}}}), state: &memory{}, clock: time.Now().UnixMilli()}
	})
}

// phone is Ada's, with her private chat.
type phone struct {
	server *signaltest.Server
	state  *memory

	mutex sync.Mutex
	clock int64 // of the phone's last message
	files int
	name  string   // of Ada, "Ada" if it is empty
	lines []string // all that the phone sent
}

func (p *phone) Driver(*testing.T) channel.Driver {
	return New(Config{Account: agent.Number, Address: p.server.Address(), State: p.state, Pause: 10 * time.Millisecond, LongestPause: 50 * time.Millisecond})
}

func (*phone) Chat() string { return ada.UUID }

// object is one of JSON.
type object map[string]any

// does has Ada write or do something, and returns the id of it.
func (p *phone) does(t *testing.T, key string, what func(timestamp int64) object) string {
	t.Helper()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.clock++
	line, err := json.Marshal(object{
		"source": ada.Number, "sourceNumber": ada.Number, "sourceUuid": ada.UUID, "sourceName": cmp.Or(p.name, "Ada"), "sourceDevice": 1, "timestamp": p.clock, key: what(p.clock),
	})
	if err != nil {
		t.Fatal(err)
	}
	p.lines = append(p.lines, string(line))
	p.server.Deliver(string(line))
	return messageID(ada.UUID, p.clock)
}

// writes has Ada send a message with some fields.
func (p *phone) writes(t *testing.T, fields object) string {
	t.Helper()
	return p.does(t, "dataMessage", func(timestamp int64) object {
		fields["timestamp"], fields["expiresInSeconds"], fields["viewOnce"] = timestamp, 0, false
		return fields
	})
}

// parts returns the author and the time of a message as signal-cli writes them.
func parts(t *testing.T, id string) (author signaltest.Account, timestamp int64) {
	t.Helper()
	name, timestamp, err := splitID(id)
	if err != nil {
		t.Fatal(err)
	}
	if name == agent.Number {
		return agent, timestamp
	}
	return ada, timestamp
}

func (p *phone) Say(t *testing.T, line channeltest.Line) string {
	t.Helper()
	fields := object{"message": line.Text}
	if line.ReplyTo != "" {
		author, timestamp := parts(t, line.ReplyTo)
		fields["quote"] = object{"id": timestamp, "author": author.Number, "authorNumber": author.Number, "authorUuid": author.UUID, "text": "earlier", "attachments": []any{}}
	}
	var files []object
	for _, f := range line.Files {
		p.files++
		id := fmt.Sprint("file", p.files)
		p.server.AddFile(id, f.Data)
		files = append(files, object{"contentType": f.Media, "filename": f.Name, "id": id, "size": len(f.Data)})
	}
	if len(files) > 0 {
		fields["attachments"] = files
	}
	return p.writes(t, fields)
}

// marks are what render adds for what Signal does not have.
var marks = regexp.MustCompile(`(?m)^> | \(https://example\.org[^)]*\)`)

func (p *phone) Seen(*testing.T) (all []channeltest.Seen) {
	for _, m := range p.server.Sent(ada.UUID) {
		if m.Deleted {
			continue
		}
		seen := channeltest.Seen{ID: messageID(agent.Number, m.Timestamp), Text: marks.ReplaceAllString(m.Text, "")}
		if m.Quote != nil {
			seen.ReplyTo = messageID(m.Quote.Author, m.Quote.Timestamp)
		}
		if m.File != nil {
			seen.File = &channeltest.Upload{Name: m.File.Name, Media: m.File.Media, Data: m.File.Data, Voice: m.File.Voice}
		}
		all = append(all, seen)
	}
	return all
}

func (p *phone) Change(t *testing.T, id, text string) {
	_, target := parts(t, id)
	p.does(t, "editMessage", func(timestamp int64) object {
		return object{"targetSentTimestamp": target, "dataMessage": object{"timestamp": timestamp, "message": text, "expiresInSeconds": 0, "viewOnce": false}}
	})
}

func (p *phone) Remove(t *testing.T, id string) {
	_, target := parts(t, id)
	p.writes(t, object{"message": nil, "remoteDelete": object{"timestamp": target}})
}

func (p *phone) PersonReacts(t *testing.T, id, emoji string, remove bool) {
	author, target := parts(t, id)
	p.writes(t, object{"message": nil, "reaction": object{
		"emoji": emoji, "targetAuthor": author.Number, "targetAuthorNumber": author.Number, "targetAuthorUuid": author.UUID, "targetSentTimestamp": target, "isRemove": remove,
	}})
}

func (p *phone) Reactions(t *testing.T, id string) []string {
	name, timestamp, _ := strings.Cut(id, ":")
	var n int64
	if _, err := fmt.Sscan(timestamp, &n); err != nil {
		t.Fatal(err)
	}
	return p.server.Reactions(name, n)
}

func (p *phone) Rename(_ *testing.T, name string) { p.name = name }

func (p *phone) Repeat(_ *testing.T, n int) {
	for _, line := range p.lines[len(p.lines)-n:] {
		p.server.Deliver(line)
	}
}

func (p *phone) Typing(*testing.T) bool { return p.server.IsTyping(ada.UUID) }
func (p *phone) Uploads(size int) bool  { return size <= 48<<20 }
func (p *phone) Stop(*testing.T)        { p.server.Vanish() }
func (p *phone) Start(*testing.T)       { p.server.Return() }
func (p *phone) Drop(*testing.T)        { p.server.Drop() }
func (p *phone) Expire(*testing.T)      { p.server.Unlink() }

func (p *phone) Limit(_ *testing.T, wait time.Duration) {
	one := object{"recipientAddress": object{"number": ada.Number}, "type": "RATE_LIMIT_FAILURE", "retryAfterSeconds": int(wait.Seconds())}
	p.server.Inject("send", signaltest.Outcome{Error: &signaltest.Error{
		Code: signaltest.RateLimitError, Message: "Failed to send message due to rate limiting", Data: object{"response": object{"timestamp": 1, "results": []object{one}}},
	}})
}

func (p *phone) Lose(*testing.T) { p.server.Inject("send", signaltest.Outcome{Cut: true}) }
