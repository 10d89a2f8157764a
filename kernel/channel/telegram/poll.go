package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"org-agent/kernel/channel"
)

const (
	batch    = 100             // how many updates are asked for at once
	longest  = 5 * time.Minute // the longest pause after a failure
	pressed  = 64              // how many buttons wait for being answered
	placeKey = "offset"        // where the state has the place in the stream of updates
)

// kept is how long Telegram counts the updates of a bot on. After a week without any it begins anew with any number.
const kept = 6 * 24 * time.Hour

// wanted are the kinds of updates that are asked for. Posts in channels are not among them.
var wanted = [...]string{
	models.AllowedUpdateMessage, models.AllowedUpdateEditedMessage, models.AllowedUpdateMessageReaction, models.AllowedUpdateMyChatMember, models.AllowedUpdateCallbackQuery,
}

// Run implements [channel.Driver].
func (d *Driver) Run(ctx context.Context, receive func(context.Context, channel.Message) error) error {
	if d.faulty != nil {
		return d.faulty
	}
	defer d.wire.http.CloseIdleConnections()
	p := &poller{Driver: d, receive: receive, pause: pauses{first: d.config.Pause}, pressed: make(chan string, pressed)}
	me, err := p.account(ctx)
	if err != nil || me == nil {
		return err
	}
	p.reader = reader{driver: d, me: *me}
	var answering sync.WaitGroup
	defer answering.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answering.Go(func() { p.answer(ctx) })
	p.resume(ctx)
	return p.run(ctx)
}

// poller is one call of Run.
type poller struct {
	*Driver
	receive func(context.Context, channel.Message) error
	reader  reader
	pause   pauses
	offset  int64       // the first update that did not arrive yet
	last    time.Time   // when the one before it came; zero if that is not known
	pressed chan string // buttons, for whose end of waiting Telegram waits
}

// account asks who the bot is, until Telegram says so. nil: ctx has ended.
func (p *poller) account(ctx context.Context) (*models.User, error) {
	for {
		me, err := p.me(ctx)
		if err == nil {
			p.pause.reset()
			return me, nil
		}
		if again, err := p.failed(ctx, err); !again {
			return nil, err
		}
	}
}

func (p *poller) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if p.config.Now().Sub(p.last) > kept {
			p.offset = 0
		}
		before, asked := p.offset, p.config.Now()
		updates, err := p.wire.updates(ctx, p.offset, p.config.LongPoll)
		if err == nil {
			err = p.take(ctx, updates)
		}
		if err == nil {
			p.pause.reset()
			if p.offset == before && p.config.Now().Sub(asked) < p.config.Pause {
				sleep(ctx, p.config.Pause) // it does not wait, or it gives out the same again
			}
			continue
		}
		if again, err := p.failed(ctx, failure("getUpdates", err, repeatable)); !again {
			return err
		}
	}
	return nil
}

// failed waits after a failure. It returns false if ctx has ended, or with the error that ends the channel.
func (p *poller) failed(ctx context.Context, err error) (again bool, ends error) {
	if ctx.Err() != nil {
		return false, nil
	}
	f := (*channel.Failure)(nil)
	if r := (*refusal)(nil); errors.As(err, &r) && r.code == http.StatusConflict && strings.Contains(r.text, "webhook") {
		return false, unauthorized(errors.New("a webhook of another program gets what is written to this bot: end that one, or make a bot of your own with @BotFather and run org-agent channel add telegram"))
	}
	if errors.As(err, &f) && f.Class == channel.Unauthorized {
		return false, unauthorized(fmt.Errorf("the bot's token is not valid any more (%w): get one from @BotFather and run org-agent channel add telegram", err))
	}
	wait := p.pause.next()
	if f != nil {
		wait = max(wait, f.RetryAfter)
	}
	p.config.Logger.Warn("telegram: there are no updates", "err", err, "pause", wait)
	return sleep(ctx, wait), nil
}

// take delivers updates, and notes that they arrived.
func (p *poller) take(ctx context.Context, raw []json.RawMessage) error {
	updates := make([]update, 0, len(raw))
	for _, r := range raw {
		u, err := decode(r)
		if err != nil {
			return fmt.Errorf("decode an update: %w", err)
		}
		updates = append(updates, u)
	}
	slices.SortStableFunc(updates, func(a, b update) int { return cmp.Compare(a.ID, b.ID) })
	for i, u := range updates {
		if u.err != nil {
			p.config.Logger.Warn("telegram: an update was understood in part only", "update", u.ID, "err", u.err)
		}
		for _, m := range p.reader.read(ctx, u) {
			if !p.deliver(ctx, m) {
				p.store(ctx, i > 0)
				return ctx.Err()
			}
		}
		p.offset, p.last = u.ID+1, p.config.Now()
		if u.CallbackQuery != nil {
			select {
			case p.pressed <- u.CallbackQuery.ID:
			default: // the button stops by itself after a while
			}
		}
	}
	p.store(ctx, len(updates) > 0)
	return nil
}

// deliver hands over a message until it is taken. It returns false if ctx has ended before.
func (p *poller) deliver(ctx context.Context, m channel.Message) bool {
	for pause := (pauses{first: p.config.Pause}); ; {
		err := p.receive(ctx, m)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		wait := pause.next()
		p.config.Logger.Warn("telegram: a message was not taken", "message", m.ID, "err", err, "pause", wait)
		if !sleep(ctx, wait) {
			return false
		}
	}
}

// resume goes to where a former run was.
func (p *poller) resume(ctx context.Context) {
	if p.config.State == nil {
		return
	}
	text, err := p.config.State.Load(ctx, placeKey)
	if err != nil {
		p.config.Logger.Warn("telegram: load the place in the updates", "err", err)
		return
	}
	var offset, last int64
	if n, err := fmt.Sscanf(text, "%d %d", &offset, &last); n == 2 && err == nil && offset > 0 {
		p.offset, p.last = offset, time.Unix(last, 0)
	}
}

// store keeps the place. Without it, what was taken last is delivered again after a restart.
func (p *poller) store(ctx context.Context, changed bool) {
	if p.config.State == nil || !changed {
		return
	}
	if err := p.config.State.Store(context.WithoutCancel(ctx), placeKey, fmt.Sprintf("%d %d", p.offset, p.last.Unix())); err != nil {
		p.config.Logger.Warn("telegram: store the place in the updates", "err", err)
	}
}

// answer tells Telegram that presses of buttons arrived, which people see. It ends with ctx.
func (p *poller) answer(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-p.pressed:
			call, cancel := context.WithTimeout(ctx, callTimeout)
			_, err := p.bot.AnswerCallbackQuery(call, &bot.AnswerCallbackQueryParams{CallbackQueryID: id})
			cancel()
			if err != nil && ctx.Err() == nil {
				p.config.Logger.Info("telegram: a button is not answered", "err", failure("answerCallbackQuery", err, repeatable))
			}
		}
	}
}

// pauses are the pauses after failures in a row: they double, up to [longest], and are shortened at random by up to a
// half, so that many programs do not come back at once.
type pauses struct {
	first, last time.Duration
}

func (p *pauses) next() time.Duration {
	p.last = min(max(p.first, 2*p.last), longest)
	return p.last - rand.N(p.last/2+1)
}

func (p *pauses) reset() { p.last = 0 }

// sleep waits. It returns false if ctx has ended.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
