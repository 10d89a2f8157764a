package signal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// greetLimit is how long signal-cli has for its first answers.
const greetLimit = time.Minute

// greet finds out whose daemon it is, and who the account is to others.
func (d *Driver) greet(ctx context.Context, c *connection) error {
	ctx, stop := context.WithTimeout(ctx, greetLimit)
	defer stop()
	var accounts []struct {
		Number string `json:"number"`
		ACI    string `json:"aci"`
	}
	switch err := c.call(ctx, "listAccounts", nil, &accounts); {
	case isCode(err, noMethodCode): // it was started for one account, and knows no parameter for it
	case err != nil:
		return err
	default:
		at := slices.IndexFunc(accounts, func(a struct {
			Number string `json:"number"`
			ACI    string `json:"aci"`
		}) bool {
			return a.Number == d.config.Account || strings.EqualFold(a.ACI, d.config.Account)
		})
		if at < 0 {
			missing := fmt.Errorf("signal-cli has no account %s: link or register it with signal-cli, then start its daemon again", d.config.Account)
			if len(accounts) == 0 { // a daemon that was started without a network has none, until it is started again
				return temporary(missing)
			}
			return unauthorized(missing)
		}
		if validUUID(accounts[at].ACI) {
			d.learn(ctx, accounts[at].ACI)
		}
		c.mutex.Lock()
		c.account = d.config.Account
		c.mutex.Unlock()
	}
	return d.identify(ctx, c)
}

// isCode reports whether signal-cli answered with that error.
func isCode(err error, code int) bool {
	var failure *callFailure
	return errors.As(err, &failure) && failure.code == code
}

// uuidKey is the key of the state for the account's UUID.
const uuidKey = "uuid"

// identify finds out the UUID of the account, by which others mention it and answer it. Without it only the number is
// known, until the account itself writes from another device.
func (d *Driver) identify(ctx context.Context, c *connection) error {
	if d.uuid.Load() == nil && d.config.State != nil {
		if kept, err := d.config.State.Load(ctx, uuidKey); err == nil {
			if number, uuid, found := strings.Cut(kept, " "); found && number == d.config.Account && validUUID(uuid) {
				d.uuid.Store(&uuid)
			}
		}
	}
	if d.uuid.Load() != nil {
		return nil
	}
	var users []struct {
		UUID       string `json:"uuid"`
		Registered bool   `json:"isRegistered"`
	}
	err := c.call(ctx, "getUserStatus", params{"recipient": []string{d.config.Account}}, &users)
	switch {
	case c.reason() != nil || ctx.Err() != nil:
		return err
	case err != nil:
		d.log.Info("the UUID of the account is not known yet", "channel", d.Name(), "err", err)
	case len(users) == 1 && !users[0].Registered:
		return unauthorized(fmt.Errorf("%s is not registered on Signal: register it with signal-cli", d.config.Account))
	case len(users) == 1 && validUUID(users[0].UUID):
		d.learn(ctx, users[0].UUID)
	}
	return nil
}

// learn keeps the UUID of the account.
func (d *Driver) learn(ctx context.Context, uuid string) {
	uuid = strings.ToLower(uuid)
	if known := d.uuid.Swap(&uuid); known != nil && *known == uuid || d.config.State == nil {
		return
	}
	if err := d.config.State.Store(ctx, uuidKey, d.config.Account+" "+uuid); err != nil {
		d.log.Warn("store the UUID of the account", "channel", d.Name(), "err", err)
	}
}

// subscribe has signal-cli report messages. One that does so anyway, in its modes on-start and on-connection, would
// report each twice then; intake notices it.
func (c *connection) subscribe(ctx context.Context) error {
	var number int
	err := c.call(ctx, "subscribeReceive", nil, &number)
	if isCode(err, noMethodCode) {
		return nil // it is older than subscriptions, and reports by itself
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.subscription = &number
	return err
}

// unsubscribe takes subscribe back.
func (c *connection) unsubscribe(ctx context.Context) error {
	c.mutex.Lock()
	subscription := c.subscription
	c.subscription = nil
	c.mutex.Unlock()
	if subscription == nil {
		return nil
	}
	return c.call(ctx, "unsubscribeReceive", params{"subscription": *subscription}, nil)
}

// intake puts what one connection reports into the box. Only the connection's reader uses it.
type intake struct {
	driver     *Driver
	connection *connection
	box        *box

	anyway bool   // it reports without a subscription
	last   string // the envelope that came last
}

// report is what signal-cli reports, with a subscription or without.
type report struct {
	Account      string          `json:"account"`
	Envelope     json.RawMessage `json:"envelope"`
	Exception    *exception      `json:"exception"`
	Subscription *int            `json:"subscription"`
	Result       *report         `json:"result"`
}

// exception says why a message could not be read.
type exception struct {
	Message string `json:"message"`
	Type    string `json:"type"`
}

// take takes a notification. It waits while the box is full, until ctx ends: what was read then is put on top, because
// signal-cli does not report it again.
func (i *intake) take(ctx context.Context, n notification, working *sync.WaitGroup) {
	d := i.driver
	if n.method != "receive" {
		return
	}
	var r report
	if err := json.Unmarshal(n.params, &r); err != nil {
		d.log.Warn("signal-cli reported something in another form", "channel", d.Name(), "err", err)
		return
	}
	subscribed := r.Subscription != nil
	if r.Result != nil {
		r = *r.Result
	}
	if !i.mine(r.Account) {
		return
	}
	if !subscribed && !i.anyway {
		i.anyway = true
		working.Go(func() {
			if err := i.connection.unsubscribe(ctx); err != nil && ctx.Err() == nil {
				d.log.Warn("end the subscription", "channel", d.Name(), "err", err)
			}
		})
		if string(r.Envelope) == i.last {
			return // it came by the subscription just before
		}
	} else if subscribed && i.anyway {
		return
	}
	i.last = string(r.Envelope)
	if r.Exception != nil {
		d.log.Warn("a message could not be read by signal-cli", "channel", d.Name(), "type", r.Exception.Type, "err", r.Exception.Message)
	}
	if len(r.Envelope) == 0 {
		return
	}
	i.box.put(ctx, i.last)
}

// mine reports whether something is for the account. A daemon of one other account is the wrong one.
func (i *intake) mine(account string) bool {
	d, c := i.driver, i.connection
	if account == "" || d.self(address{legacy: account}) {
		return true
	}
	c.mutex.Lock()
	shared := c.account != ""
	c.mutex.Unlock()
	if !shared && validNumber(account) && validNumber(d.config.Account) {
		c.close(unauthorized(fmt.Errorf("signal-cli at %s has the account %s and not %s: start its daemon with -a %s", d.config.Address, account, d.config.Account, d.config.Account)))
	}
	return false
}
