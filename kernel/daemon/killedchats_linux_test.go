package daemon_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/channel/channeltest/matrixtest"
	"org-agent/kernel/channel/channeltest/telegramtest"
	"org-agent/kernel/channel/outbox"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/rpc/rpctest"
)

// bob is somebody else in Telegram, with a chat of his own.
const bob = 1002

// otherRoom is that into which every turn of the test sends something.
const otherRoom = "!other:test"

// roundsOfKills is how often a kernel is killed amid chats, in one home.
const roundsOfKills = 20

// TestKilledAmidChats: a kernel that is killed at any moment, while people talk to it in two chats of Telegram and two rooms of
// Matrix and every turn sends to another room and reacts. Every message is answered once, in its chat and in its order, also if it
// is delivered again. What Telegram did not get is named in the inbox, as what may have been sent. No tool runs again
// that has its receipt.
func TestKilledAmidChats(t *testing.T) {
	for homes, began := 0, time.Now(); homes == 0 || time.Since(began) < *kills; homes++ {
		seed := uint64(time.Now().UnixNano())
		t.Run(fmt.Sprint("seed-", seed), func(t *testing.T) {
			c := newBesiegedChats(t, seed)
			for round := range roundsOfKills {
				c.round(round)
			}
			c.settle()
			c.check()
			t.Logf("%d messages, %d interrupted turns, %d messages of which nobody knows", len(c.said), c.interrupted, c.unknown)
		})
	}
}

// spoken is a message of somebody's.
type spoken struct {
	text    string // unlike all others
	channel string
	chat    string
	id      string // in its chat
}

// besiegedChats is a home whose kernel is killed again and again while it is talked to.
type besiegedChats struct {
	*testing.T
	*instance
	seed     uint64
	random   *rand.Rand
	telegram *telegramtest.Server
	bot      *httptest.Server
	matrix   *matrixtest.Server
	said     []spoken

	interrupted, unknown int
}

var (
	privateChats = []int64{telegramtest.Ada, bob}
	rooms        = []string{"!one:test", "!two:test"}
)

func newBesiegedChats(t *testing.T, seed uint64) *besiegedChats {
	t.Helper()
	var exchanges []llmtest.Exchange
	for round := range roundsOfKills {
		for chat := range len(privateChats) + len(rooms) {
			text := wordsOf(round, chat)
			exchanges = append(exchanges, llmtest.Exchange{
				Match: `:text "` + text + `"`, Times: -1, Chunk: 24, Delay: llmtest.Duration(4 * time.Millisecond),
				Reply: fmt.Sprintf(`(:type :request :target :tool :action :call :tool "send" :args (:text "told of %s" :platform "matrix" :target %q))`, text, otherRoom),
			})
		}
	}
	c := &besiegedChats{T: t, instance: newInstance(t, exchanges...), seed: seed, random: rand.New(rand.NewPCG(seed, 0)), telegram: telegramtest.New(), matrix: matrixtest.New(t)}
	c.bot = c.telegram.Start(t)
	c.telegram.AddChat(telegramtest.Chat{ID: bob, Type: "private", FirstName: "Bob"})
	for _, room := range append([]string{otherRoom}, rooms...) {
		c.matrix.Room(room, false)
	}
	c.variables["BOT"], c.variables["AGENT"] = telegramtest.Token, matrixtest.Token
	c.write(t, "config.org", fmt.Sprintf("* Channels\n** telegram\n:PROPERTIES:\n:TOKEN: env:BOT\n:URL: %s\n:END:\n** matrix\n:PROPERTIES:\n:URL: %s\n:TOKEN: env:AGENT\n:END:\n", c.bot.URL, c.matrix.URL))
	c.write(t, "channels.org", talkers("telegram", strconv.FormatInt(telegramtest.Ada, 10))+
		"| telegram | "+strconv.Itoa(bob)+" | Bob | owner | |\n| matrix | "+matrixtest.Ada+" | me | owner | |\n")
	c.write(t, "policy.org", "* Rules\n| rule | matches | verdict | why | since |\n|-\n| sends | matrix "+otherRoom+" | allow | | |\n")
	c.write(t, "skills/mine.org", deciding(`(defun message (c) (getf (getf c :payload) :message))
(defun think (c)
  (let ((done (length (getf c :results))))
    (cond ((= done 0) (ask-neuro (words c)))
          ((= done 1) (list :type :request :target :tool :action :call :tool "react" :args (list :message-id (getf (message c) :message-id) :emoji "👍")))
          (t (list :type :response :text (format nil "This answers ~a." (words c)))))))
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think)`))
	return c
}

// wordsOf is what somebody says in a chat.
func wordsOf(round, chat int) string { return fmt.Sprintf("q%dx%d", round, chat) }

// say has somebody say something new in a chat.
func (c *besiegedChats) say(round, chat int) {
	s := spoken{text: wordsOf(round, chat)}
	if chat < len(privateChats) {
		in := privateChats[chat]
		fields := map[string]any{"text": s.text}
		if in == bob {
			fields["from"] = map[string]any{"id": bob, "is_bot": false, "first_name": "Bob"}
		}
		s.channel, s.chat, s.id = "telegram", strconv.FormatInt(in, 10), strconv.Itoa(c.telegram.Say(in, fields))
	} else {
		s.channel, s.chat = "matrix", rooms[chat-len(privateChats)]
		s.id = c.matrix.Post(s.chat, matrixtest.Ada, "m.room.message", matrixtest.Object{"msgtype": "m.text", "body": s.text})
	}
	c.said = append(c.said, s)
}

// round runs a kernel that is killed, while one message is said in each chat.
func (c *besiegedChats) round(round int) {
	c.Helper()
	chats := c.random.Perm(len(privateChats) + len(rooms))
	early := c.random.IntN(len(chats))
	for _, chat := range chats[:early] { // while no kernel runs
		c.say(round, chat)
	}
	if c.random.IntN(3) == 0 {
		c.telegram.Rewind(1 + c.random.IntN(6))
	}
	if c.random.IntN(4) == 0 {
		c.telegram.Fail("sendMessage", telegramtest.Outcome{Lost: true})
	}
	p := c.spawn(c.T)
	killed := make(chan struct{})
	time.AfterFunc(time.Duration(c.random.IntN(500))*time.Millisecond, func() { p.kill(); close(killed) })
	for _, chat := range chats[early:] {
		time.Sleep(time.Duration(c.random.IntN(60)) * time.Millisecond)
		c.say(round, chat)
	}
	if c.random.IntN(5) == 0 {
		if e, err := rpctest.Open(within(c.T), rpctest.Config{Socket: c.paths.Socket, Token: c.token(c.T), Codec: rpc.Plist, Session: "watching"}); err == nil {
			c.retry(e)
			e.Kill()
		}
	}
	<-killed
	c.bot.CloseClientConnections() // those of the kernel that is dead
}

// retry has what was interrupted answered again, and reports whether there was something.
func (c *besiegedChats) retry(e *rpctest.Editor) (some bool) {
	c.Helper()
	for turn, state := range c.states() {
		if state == protocol.TurnInterrupted {
			some = true
			_ = e.Call(within(c.T), protocol.MethodTurnRetry, protocol.TurnRetryParams{Turn: turn}, nil) // the kernel may be killed first
		}
	}
	return some
}

// entries reads rows of the journal, beside a kernel or without one.
func (c *besiegedChats) entries(kinds ...journal.Kind) []journal.Entry {
	c.Helper()
	j := c.reading()
	defer j.Close()
	rows, err := j.Records.Entries(c.Context(), journal.Query{Kinds: kinds, Limit: 100_000})
	if err != nil {
		c.Fatal(err)
	}
	return rows
}

func (c *besiegedChats) reading() *journal.Journal {
	c.Helper()
	j, err := journal.OpenToRead(c.Context(), c.paths.Journal)
	if err != nil {
		c.Fatal(err)
	}
	return j
}

// states returns what became of each turn.
func (c *besiegedChats) states() map[string]protocol.TurnState {
	c.Helper()
	states := map[string]protocol.TurnState{}
	for _, row := range c.entries(journal.KindTurn) {
		var turn struct{ State protocol.TurnState }
		if err := json.Unmarshal(row.Data, &turn); err != nil {
			c.Fatal(err)
		}
		states[row.Turn] = turn.State
	}
	return states
}

// settle runs a kernel until everything is answered and sent. What was interrupted is answered again.
func (c *besiegedChats) settle() {
	c.Helper()
	p := c.spawn(c.T)
	defer p.kill()
	e := c.editor(c.T, rpctest.Config{Session: "watching"})
	until(c.T, "that everything is taken and answered", func() bool {
		time.Sleep(50 * time.Millisecond)
		states := c.states()
		for _, state := range states {
			if !state.Final() {
				return false
			}
		}
		return len(states) >= len(c.said) && !c.retry(e) && !slices.ContainsFunc(c.queued(), func(m journal.Outgoing) bool {
			return m.State == journal.OutgoingWaiting || m.State == journal.OutgoingSending
		})
	})
	c.telegram.Rewind(len(c.said)) // and everything once more
	until(c.T, "that what comes again is taken", func() bool { return c.telegram.Unconfirmed() == 0 })
	items := inboxOf(c.T, e)
	for _, m := range c.queued() {
		named := slices.ContainsFunc(items, func(i protocol.InboxItem) bool { return i.ID == "undelivered-"+m.ID })
		switch {
		case m.State == journal.OutgoingUnknown && m.Channel == "telegram":
			c.unknown++
			if !named {
				c.Errorf("seed %d: nobody is told that %s may not have been sent: %+v", c.seed, m.Body, m)
			}
		case m.State != journal.OutgoingSent:
			c.Errorf("seed %d: %s is %s: %s", c.seed, m.Body, m.State, m.Failure)
		case named:
			c.Errorf("seed %d: the owner is told of %s, which was sent", c.seed, m.Body)
		}
	}
}

// queued returns everything that was to be sent, in its order.
func (c *besiegedChats) queued() (all []journal.Outgoing) {
	c.Helper()
	j := c.reading()
	defer j.Close()
	known := map[string]bool{}
	for _, row := range c.entries(journal.KindOutgoing) {
		if known[row.ID] {
			continue
		}
		known[row.ID] = true
		of, err := j.Outgoing.Of(c.Context(), row.ID)
		if err != nil {
			c.Fatal(err)
		}
		all = append(all, of...)
	}
	slices.SortFunc(all, func(a, b journal.Outgoing) int { return int(a.Seq - b.Seq) })
	return all
}

// heard returns what the agent said in a chat, in the order in which people see it.
func (c *besiegedChats) heard(channel, chat string) (texts []string) {
	c.Helper()
	if channel == "matrix" {
		for _, e := range c.matrix.Of(chat, matrixtest.Agent, "m.room.message") {
			texts = append(texts, fmt.Sprint(e.Content["body"]))
		}
		return texts
	}
	id, err := strconv.ParseInt(chat, 10, 64)
	if err != nil {
		c.Fatal(err)
	}
	for _, m := range c.telegram.Sent(id) {
		texts = append(texts, m.Text)
	}
	return texts
}

// check compares what people see with what was said and with what the journal says.
func (c *besiegedChats) check() {
	c.Helper()
	type place struct{ channel, chat string }
	queued := map[place][]journal.Outgoing{}
	for _, m := range c.queued() {
		queued[place{m.Channel, m.Chat}] = append(queued[place{m.Channel, m.Chat}], m)
	}
	all := []place{{"matrix", otherRoom}}
	for _, s := range c.said {
		if !slices.Contains(all, place{s.channel, s.chat}) {
			all = append(all, place{s.channel, s.chat})
		}
	}
	answers := map[string]int{} // by what they answer
	for _, p := range all {
		heard, places := c.heard(p.channel, p.chat), map[int]bool{0: true} // how many of the heard ones may be those so far
		for _, m := range queued[p] {
			said, next := outbox.Text(m), map[int]bool{}
			for _, s := range c.said {
				if said == "This answers "+s.text+"." {
					answers[s.text]++
					if s.channel != m.Channel || s.chat != m.Chat {
						c.Errorf("seed %d: the answer to %s goes to %s", c.seed, s.text, m.Chat)
					}
				}
			}
			for n := range places {
				if n < len(heard) && heard[n] == said {
					next[n+1] = true
				}
				if m.State == journal.OutgoingUnknown {
					next[n] = true
				}
			}
			if places = next; len(next) == 0 {
				c.Errorf("seed %d: %s was queued for %s as number %d and is %s, and people see %q", c.seed, said, p.chat, m.Seq, m.State, heard)
				break
			}
		}
		if len(places) > 0 && !places[len(heard)] {
			c.Errorf("seed %d: people see more than was queued for %s: %q", c.seed, p.chat, heard)
		}
	}
	for _, s := range c.said {
		if answers[s.text] != 1 {
			c.Errorf("seed %d: %s has %d answers", c.seed, s.text, answers[s.text])
		}
	}
	c.checkSteps()
	c.checkNotices()
}

// reactions returns how many reactions of the agent a message has.
func (c *besiegedChats) reactions(to spoken) (n int) {
	c.Helper()
	if to.channel == "telegram" {
		chat, errChat := strconv.ParseInt(to.chat, 10, 64)
		message, errMessage := strconv.Atoi(to.id)
		if err := errors.Join(errChat, errMessage); err != nil {
			c.Fatal(err)
		}
		return len(c.telegram.Reactions(chat, message))
	}
	for _, e := range c.matrix.Of(to.chat, matrixtest.Agent, "m.reaction") {
		if relation, _ := e.Content["m.relates_to"].(matrixtest.Object); relation["event_id"] == to.id {
			n++
		}
	}
	return n
}

// checkSteps checks that no tool ran again that had its receipt.
func (c *besiegedChats) checkSteps() {
	c.Helper()
	type step struct{ turn, tool string }
	performed := map[step]int{}
	for _, row := range c.entries(journal.KindToolStep) {
		var s journal.ToolStep
		if err := json.Unmarshal(row.Data, &s); err != nil {
			c.Fatal(err)
		}
		for _, tool := range []string{"send", "react"} {
			if s.Verdict == "performed" && strings.Contains(s.Action, `:tool "`+tool+`"`) {
				performed[step{row.Turn, tool}]++
			}
		}
	}
	receipts := map[string]int{}
	for s, n := range performed {
		receipts[s.tool] += n
		if n > 1 {
			c.Errorf("seed %d: %s ran %d times in the turn %s", c.seed, s.tool, n, s.turn)
		}
	}
	ran := map[string]int{} // as people see it
	told := map[string]int{}
	for _, text := range c.heard("matrix", otherRoom) {
		told[text]++
	}
	for _, s := range c.said {
		for tool, n := range map[string]int{"send": told["told of "+s.text], "react": c.reactions(s)} {
			if n > 1 {
				c.Errorf("seed %d: for %s people see %d of %s", c.seed, s.text, n, tool)
			}
			ran[tool] += n
		}
	}
	for tool, n := range ran {
		if n < receipts[tool] {
			c.Errorf("seed %d: people see %d of %s, and there are %d receipts", c.seed, n, tool, receipts[tool])
		}
	}
	c.Logf("people see %v, and there are receipts of %v", ran, receipts)
}

// checkNotices checks that a chat is told of each turn that was interrupted.
func (c *besiegedChats) checkNotices() {
	c.Helper()
	turns, told := map[string]bool{}, map[string]bool{}
	for _, row := range c.entries(journal.KindTurn) {
		if strings.Contains(string(row.Data), `"state":"interrupted"`) {
			turns[row.Turn] = true
		}
	}
	for _, m := range c.queued() {
		if strings.HasPrefix(outbox.Text(m), "Interrupted: ") {
			told[m.Turn] = true
		}
	}
	c.interrupted = len(turns)
	for turn := range turns {
		if !told[turn] {
			c.Errorf("seed %d: the turn %s was interrupted, and nobody in its chat is told", c.seed, turn)
		}
	}
}
