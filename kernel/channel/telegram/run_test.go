package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest/telegramtest"
	"org-agent/kernel/channel/telegram"
	"org-agent/kernel/secret"
)

const ada = "1001"

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestConfirmedWhenTaken checks that Telegram is told that a message arrived only after it was taken. One that was not
// is delivered again, before those behind it.
func TestConfirmedWhenTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoft()
		failures := 3
		l.refuse = func(m channel.Message) error {
			if m.Text == "two" && failures > 0 {
				failures--
				return errors.New("the disk is full")
			}
			return nil
		}
		for _, word := range []string{"one", "two", "three"} {
			l.Say(telegramtest.Ada, map[string]any{"text": word})
		}
		before := -1
		former := l.refuse
		l.refuse = func(m channel.Message) error {
			if m.Text == "three" {
				before = l.Unconfirmed()
			}
			return former(m)
		}
		stop := l.run(t.Context())
		synctest.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := texts(l.got); !slices.Equal(got, []string{"one", "two", "three"}) || before != 3 || l.Unconfirmed() != 0 || failures != 0 {
			t.Errorf("it delivered %q; %d updates waited while the last was taken, then %d", got, before, l.Unconfirmed())
		}
		stopped(t, stop)
	})
}

func texts(all []channel.Message) (got []string) {
	for _, m := range all {
		got = append(got, m.Text)
	}
	return got
}

// TestRestart checks that a program that starts again goes on where the last one was, even if Telegram did not hear that
// the last messages arrived. Without a state they come again, with the same IDs.
func TestRestart(t *testing.T) {
	for name, c := range map[string]struct {
		keep  bool
		fails error
		texts string
	}{
		"with a state":                   {true, nil, "one two three"},
		"without":                        {false, nil, "one two one two three"},
		"with a state that cannot store": {true, errors.New("the disk is full"), "one two one two three"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLoft(func(c2 *telegram.Config) {
					if !c.keep {
						c2.State = nil
					}
				})
				l.state.fails = c.fails
				l.Say(telegramtest.Ada, map[string]any{"text": "one"})
				l.Say(telegramtest.Ada, map[string]any{"text": "two"})
				stop := l.run(t.Context())
				synctest.Wait()
				stopped(t, stop)
				l.Rewind(2)
				l.Say(telegramtest.Ada, map[string]any{"text": "three"})
				stop = l.run(t.Context())
				synctest.Wait()
				stopped(t, stop)
				if got := strings.Join(texts(l.got), " "); got != c.texts {
					t.Errorf("it delivered %s, not %s", got, c.texts)
				}
				if n := len(l.got); n == 5 && (l.got[0].ID != l.got[2].ID || l.got[1].ID != l.got[3].ID) {
					t.Errorf("the IDs of what came again are %s and %s, not %s and %s", l.got[2].ID, l.got[3].ID, l.got[0].ID, l.got[1].ID)
				}
			})
		})
	}
}

// TestNumberedAnew checks that updates come after a time without any, when Telegram counts them from another number on.
func TestNumberedAnew(t *testing.T) {
	for _, name := range []string{"while it runs", "while it does not"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLoft()
				l.Say(telegramtest.Ada, map[string]any{"text": "one"})
				stop := l.run(t.Context())
				synctest.Wait()
				if name != "while it runs" {
					stopped(t, stop)
				}
				time.Sleep(8 * 24 * time.Hour)
				if name != "while it runs" {
					stop = l.run(t.Context())
				}
				l.Renumber(70)
				l.Say(telegramtest.Ada, map[string]any{"text": "two"})
				synctest.Wait()
				if got := texts(l.got); !slices.Equal(got, []string{"one", "two"}) {
					t.Errorf("it delivered %q", got)
				}
				stopped(t, stop)
			})
		})
	}
}

// TestDown checks that nothing is lost while the server is away for an hour, that it is asked seldom meanwhile, and that
// everything comes in order, at most five minutes after it is back.
func TestDown(t *testing.T) {
	for _, name := range []string{"from the beginning", "later"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int64
				l := newLoft(func(c *telegram.Config) {
					c.Pause = 0
					inner := c.HTTP.Transport
					c.HTTP.Transport = roundTripper(func(r *http.Request) (*http.Response, error) { asked.Add(1); return inner.RoundTrip(r) })
				})
				if name == "from the beginning" {
					l.Down(true)
				}
				stop := l.run(t.Context())
				synctest.Wait()
				l.Down(true)
				before := asked.Load()
				for i := range 60 {
					l.Say(telegramtest.Ada, map[string]any{"text": fmt.Sprint(i)})
					time.Sleep(time.Minute)
				}
				if n := asked.Load() - before; n < 12 || n > 40 {
					t.Errorf("it asked %d times in an hour", n)
				}
				if _, err := l.driver.Send(t.Context(), text(ada, "hi")); classOf(t, err) != channel.Temporary {
					t.Errorf("a message to a server that is away: %v", err)
				}
				l.Down(false)
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				if len(l.got) != 60 {
					t.Fatalf("%d of 60 messages came", len(l.got))
				}
				for i, m := range l.got {
					if m.Text != fmt.Sprint(i) {
						t.Fatalf("the message %d is %q", i, m.Text)
					}
				}
				stopped(t, stop)
			})
		})
	}
}

// TestIdle checks that a bot to which nobody writes asks about once a minute.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoft(func(c *telegram.Config) { c.Pause = 0 })
		stop := l.run(t.Context())
		time.Sleep(time.Hour)
		if n := l.Calls("getUpdates"); n > 75 {
			t.Errorf("it asked %d times in an hour", n)
		}
		stopped(t, stop)
	})
}

// TestImpatientServer checks that a server which does not wait for updates, or gives out the same ones for ever, is asked
// once a second.
func TestImpatientServer(t *testing.T) {
	for name, updates := range map[string]string{
		"that does not wait":         `[]`,
		"that forgets what arrived":  `[{"update_id":7,"message":{"message_id":1,"date":1,"chat":{"id":1001,"type":"private"},"from":{"id":1001,"first_name":"Ada"},"text":"hi"}}]`,
		"whose updates say nothing":  `[{"update_id":7}]`,
		"whose updates are for none": `null`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLoft(func(c *telegram.Config) {
					c.Pause = 0
					inner := c.HTTP.Transport
					c.HTTP.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
						resp, err := inner.RoundTrip(r)
						if strings.HasSuffix(r.URL.Path, "/getUpdates") && err == nil {
							resp.Body = io.NopCloser(strings.NewReader(`{"ok":true,"result":` + updates + `}`))
						}
						return resp, err
					})
					c.LongPoll = 500 * time.Millisecond // which are no seconds
				})
				stop := l.run(t.Context())
				time.Sleep(time.Minute)
				if n := l.Calls("getUpdates"); n < 30 || n > 62 {
					t.Errorf("it asked %d times in a minute", n)
				}
				stopped(t, stop)
			})
		})
	}
}

// TestSlowDown checks that the bot waits as long as Telegram says, and that pauses grow with failures in a row.
func TestSlowDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoft(func(c *telegram.Config) { c.Pause = 0 })
		l.Fail("getMe", telegramtest.Outcome{Code: 502, Body: "<html>Bad Gateway</html>"})
		l.Fail("getUpdates", telegramtest.TooMany(600))
		stop := l.run(t.Context())
		time.Sleep(9 * time.Minute)
		if n := l.Calls("getUpdates"); n != 1 {
			t.Errorf("it asked %d times in nine minutes, although it was to wait for ten", n)
		}
		time.Sleep(2 * time.Minute)
		if n := l.Calls("getUpdates"); n < 2 {
			t.Errorf("it asked %d times in eleven minutes", n)
		}
		stopped(t, stop)
	})
}

// TestEnds checks that Run ends with an error that says what to do where no attempt can succeed, without the token.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		token string
		set   func(l *loft)
		says  []string
	}{
		"revoked":             {telegramtest.Token, func(l *loft) { l.Revoke() }, []string{"@BotFather", "org-agent channel add telegram"}},
		"of nobody":           {"123:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", func(*loft) {}, []string{"@BotFather"}},
		"no token":            {"", func(*loft) {}, []string{"@BotFather"}},
		"a token with a path": {"7000001:../../getUpdates", func(*loft) {}, []string{"@BotFather"}},
		"a webhook":           {telegramtest.Token, func(l *loft) { l.Webhook(true) }, []string{"webhook", "@BotFather"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoft(func(conf *telegram.Config) { conf.Token = secret.Text(c.token) })
			c.set(l)
			err := l.driver.Run(t.Context(), l.receive)
			if classOf(t, err) != channel.Unauthorized {
				t.Fatalf("it ended with %v", err)
			}
			for _, word := range c.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
			if c.token != "" && (strings.Contains(err.Error(), c.token) || strings.Contains(l.log.String(), c.token)) {
				t.Errorf("the token is in %q or in the log\n%s", err, l.log)
			}
		})
	}
}

// TestAnotherPoller checks that a bot whose updates another program takes as well asks again, and slower each time, and
// goes on when the other has ended.
func TestAnotherPoller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoft(func(c *telegram.Config) { c.Pause = 0 })
		stop := l.run(t.Context())
		synctest.Wait()
		ctx, end := context.WithCancel(t.Context())
		other := telegram.New(telegram.Config{Token: telegramtest.Token, HTTP: l.Client()})
		ended := make(chan error)
		go func() {
			ended <- other.Run(ctx, func(context.Context, channel.Message) error { return errors.New("not mine") })
		}()
		time.Sleep(time.Hour)
		if n := l.Calls("getUpdates"); n > 400 {
			t.Errorf("the two asked %d times in an hour", n)
		}
		if !strings.Contains(l.log.String(), "Conflict") {
			t.Error("nobody was told of the other program")
		}
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		l.Say(telegramtest.Ada, map[string]any{"text": "one"})
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		if got := texts(l.got); !slices.Equal(got, []string{"one"}) {
			t.Errorf("it delivered %q", got)
		}
		stopped(t, stop)
	})
}

// TestOutOfOrder checks that updates that come twice and out of order are delivered in order. Those that come twice have
// the same ID.
func TestOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoft()
		l.Say(telegramtest.Ada, map[string]any{"text": "one"})
		l.Say(telegramtest.Ada, map[string]any{"text": "two"})
		l.Duplicate()
		stop := l.run(t.Context())
		synctest.Wait()
		if got := texts(l.got); !slices.Equal(got, []string{"one", "two", "two"}) || l.got[1].ID != l.got[2].ID {
			t.Errorf("it delivered %+v", l.got)
		}
		stopped(t, stop)
	})
}

// TestOverSocket checks the way over a real connection: what comes, in order, and what is sent.
func TestOverSocket(t *testing.T) {
	l := newLoft()
	address := l.Start(t).URL
	l.driver = telegram.New(telegram.Config{Token: telegramtest.Token, URL: address, State: l.state})
	who, err := l.driver.Check(t.Context())
	if err != nil || who.Username != telegramtest.BotUsername || who.ID != fmt.Sprint(telegramtest.BotID) {
		t.Fatalf("the account is %+v, %v", who, err)
	}
	stop := l.run(t.Context())
	const all = 1000
	for i := range all {
		l.Say(telegramtest.Ada, map[string]any{"text": fmt.Sprint(i)})
	}
	for i, m := range l.messages(t, all) {
		if m.Text != fmt.Sprint(i) {
			t.Fatalf("the message %d is %q", i, m.Text)
		}
	}
	if _, err := l.driver.Send(t.Context(), text(ada, "hi")); err != nil || len(l.Sent(telegramtest.Ada)) != 1 {
		t.Errorf("sent %+v, %v", l.Sent(telegramtest.Ada), err)
	}
	stopped(t, stop)
}

// TestNothingListens checks that the failure of a server that nobody runs has no token in it.
func TestNothingListens(t *testing.T) {
	d := telegram.New(telegram.Config{Token: telegramtest.Token, URL: "http://127.0.0.1:1"})
	_, err := d.Send(t.Context(), text(ada, "hi"))
	_, failed := d.Check(t.Context())
	for _, err := range []error{err, failed} {
		if classOf(t, err) != channel.Temporary || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), telegramtest.Token) {
			t.Errorf("%v", err)
		}
	}
	for _, shown := range []string{fmt.Sprint(d), fmt.Sprintf("%+v", d), fmt.Sprintf("%#v", d), fmt.Sprintf("%#v", telegram.Config{Token: telegramtest.Token})} {
		if strings.Contains(shown, telegramtest.Token) {
			t.Errorf("the token is in %s", shown)
		}
	}
}

// BenchmarkReceive measures how long a message takes from Telegram to the router, over a socket.
func BenchmarkReceive(b *testing.B) {
	l := newLoft()
	l.driver = telegram.New(telegram.Config{Token: telegramtest.Token, URL: l.Start(b).URL, State: l.state})
	for i := range b.N {
		l.Say(telegramtest.Ada, map[string]any{"text": fmt.Sprint(i)})
	}
	ctx, cancel := context.WithCancel(b.Context())
	left := b.N
	b.ResetTimer()
	err := l.driver.Run(ctx, func(context.Context, channel.Message) error {
		if left--; left == 0 {
			cancel()
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSend measures how long a message takes until Telegram has it, over a socket.
func BenchmarkSend(b *testing.B) {
	d := telegram.New(telegram.Config{Token: telegramtest.Token, URL: telegramtest.New().Start(b).URL})
	for b.Loop() {
		if _, err := d.Send(b.Context(), text(ada, "hi")); err != nil {
			b.Fatal(err)
		}
	}
}
