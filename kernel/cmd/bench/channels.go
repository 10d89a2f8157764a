package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/channel/channeltest/matrixtest"
	"org-agent/kernel/channel/channeltest/telegramtest"
	"org-agent/kernel/llm/llmtest"
)

const (
	messagesIn = 1000
	repliesOut = 60
	idleTime   = 10 * time.Second
)

// measureChannels measures a kernel that is talked to through servers of chats on this machine: how long it takes until it has
// many messages that come at once, how long after the end of a model's reply a chat has it, and what channels cost in
// which nothing happens.
func measureChannels(ctx context.Context, p programs) ([]row, error) {
	in, err := measureMessagesIn(ctx, p)
	if err != nil {
		return nil, err
	}
	out, err := measureRepliesOut(ctx, p)
	if err != nil {
		return nil, err
	}
	idle, err := measureIdleChannels(ctx, p)
	if err != nil {
		return nil, err
	}
	return []row{
		{what: fmt.Sprintf("%d messages in over Telegram until the journal has them", messagesIn), target: "5 s", unit: seconds, values: in},
		{what: "a model's end until Telegram has the reply", target: "50 ms", unit: seconds, values: out},
		{what: "p95 of these", unit: seconds, values: []float64{quantile(out, 0.95)}},
		{what: fmt.Sprintf("processor time of four idle channels in %v", idleTime), target: "100 ms", unit: seconds, values: []float64{idle}},
	}, nil
}

// telegram is a Bot API server that tells when the agent sends something.
type telegram struct {
	server *telegramtest.Server
	http   *httptest.Server
	sent   chan time.Time // when a message was there
}

func newTelegram() *telegram {
	t := &telegram{server: telegramtest.New(), sent: make(chan time.Time, 4*messagesIn)}
	t.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.server.ServeHTTP(w, r)
		if strings.HasSuffix(r.URL.Path, "/sendMessage") {
			t.sent <- time.Now()
		}
	}))
	return t
}

func (t *telegram) close() {
	t.http.CloseClientConnections()
	t.http.Close()
}

// heading is the heading of the channel in config.org.
func (t *telegram) heading() string {
	return "** telegram\n:PROPERTIES:\n:TOKEN: env:BENCH_BOT\n:URL: " + t.http.URL + "\n:END:\n"
}

// addChannels writes the settings of channels, in which one person of Telegram is the owner.
func (in *instance) addChannels(headings ...string) error {
	in.variables["BENCH_BOT"], in.variables["BENCH_AGENT"] = telegramtest.Token, matrixtest.Token
	for name, text := range map[string]string{
		"config.org":   "* Channels\n" + strings.Join(headings, ""),
		"channels.org": fmt.Sprintf("* People\n| channel | id | who | role | since |\n|-\n| telegram | %d | Ada | owner | |\n", telegramtest.Ada),
	} {
		if err := errors.Join(os.MkdirAll(in.paths.Home, 0o755), os.WriteFile(filepath.Join(in.paths.Home, name), []byte(text), 0o644)); err != nil {
			return fmt.Errorf("write the settings of channels: %w", err)
		}
	}
	return nil
}

// withTelegram runs a kernel that is connected to a Bot API server.
func withTelegram(ctx context.Context, p programs, model llmtest.Exchange, measure func(t *telegram) error) error {
	in, err := newInstance(model)
	if err != nil {
		return err
	}
	defer in.close()
	t := newTelegram()
	defer t.close()
	if err := in.addChannels(t.heading()); err != nil {
		return err
	}
	k, err := in.start(ctx, p.kernel)
	if err != nil {
		return err
	}
	return errors.Join(measure(t), k.stop())
}

// measureMessagesIn has a person say many things at once. The bot says that it has them when the journal has. The model
// thinks longer than that takes.
func measureMessagesIn(ctx context.Context, p programs) (values []float64, err error) {
	for range 3 {
		err := withTelegram(ctx, p, llmtest.Exchange{Times: -1, Reply: "Yes.", FirstDelay: llmtest.Duration(time.Minute)}, func(t *telegram) error {
			t.server.Say(telegramtest.Ada, map[string]any{"text": "the first one"})
			if err := t.taken(ctx); err != nil {
				return err
			}
			began := time.Now()
			for i := range messagesIn {
				t.server.Say(telegramtest.Ada, map[string]any{"text": fmt.Sprintf("message %d: which notes mention Samarkand?", i)})
			}
			if err := t.taken(ctx); err != nil {
				return err
			}
			values = append(values, time.Since(began).Seconds())
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// taken waits until the bot says that it has everything.
func (t *telegram) taken(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, waitLimit)
	defer stop()
	for t.server.Unconfirmed() > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %d messages are taken: %w", t.server.Unconfirmed(), context.Cause(ctx))
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// measureRepliesOut asks things, one after the other. The reply has the time at which the model's server sends it.
func measureRepliesOut(ctx context.Context, p programs) (values []float64, err error) {
	model := llmtest.Exchange{Times: -1, Reply: llmtest.StampPlace, Chunk: len(llmtest.StampPlace), Stamp: true, FirstDelay: llmtest.Duration(20 * time.Millisecond)}
	err = withTelegram(ctx, p, model, func(t *telegram) error {
		for i := range repliesOut {
			t.server.Say(telegramtest.Ada, map[string]any{"text": fmt.Sprintf("which notes mention Samarkand? (%d)", i)})
			select {
			case at := <-t.sent:
				all := t.server.Sent(telegramtest.Ada)
				said := all[len(all)-1].Text
				milliseconds, err := strconv.ParseInt(strings.TrimSpace(said), 10, 64)
				if err != nil {
					return fmt.Errorf("read the reply %q: %w", said, err)
				}
				if i > 0 {
					values = append(values, at.Sub(time.UnixMilli(milliseconds)).Seconds())
				}
			case <-time.After(waitLimit):
				return errors.New("there is no reply")
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
	return values, err
}

// measureIdleChannels returns the processor time, in seconds, of a kernel with four channels in which nothing happens.
func measureIdleChannels(ctx context.Context, p programs) (float64, error) {
	in, err := newInstance()
	if err != nil {
		return 0, err
	}
	defer in.close()
	t := newTelegram()
	defer t.close()
	headings := []string{t.heading()}
	var rooms []*matrixtest.Server
	for _, name := range []string{"work", "home"} {
		rooms = append(rooms, matrixtest.Unserved())
		homeserver := httptest.NewServer(rooms[len(rooms)-1])
		defer homeserver.Close()
		defer homeserver.CloseClientConnections()
		headings = append(headings, "** "+name+"\n:PROPERTIES:\n:DRIVER: matrix\n:URL: "+homeserver.URL+"\n:TOKEN: env:BENCH_AGENT\n:END:\n")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") // a free port
	if err != nil {
		return 0, fmt.Errorf("find a port: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return 0, fmt.Errorf("find a port: %w", err)
	}
	if err := in.addChannels(append(headings, "** door\n:PROPERTIES:\n:DRIVER: webhook\n:LISTEN: "+address+"\n:TOKEN: env:BENCH_AGENT\n:END:\n")...); err != nil {
		return 0, err
	}
	k, err := in.start(ctx, p.kernel)
	if err != nil {
		return 0, err
	}
	time.Sleep(5 * time.Second) // what follows a start
	before, errBefore := k.processorTime()
	time.Sleep(idleTime)
	after, errAfter := k.processorTime()
	if t.server.Calls("getUpdates") == 0 || rooms[0].Polls() == 0 || rooms[1].Polls() == 0 {
		errAfter = errors.Join(errAfter, errors.New("the channels are not connected"))
	}
	return (after - before).Seconds(), errors.Join(errBefore, errAfter, k.stop())
}

// processorTime returns what the kernel has used of the processors. The system counts it in hundredths of a second.
func (k *kernel) processorTime() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", k.command.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the kernel's processor time: %w", err)
	}
	_, after, _ := strings.Cut(string(stat), ") ") // behind the name
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0, fmt.Errorf("read the kernel's processor time: %q", stat)
	}
	user, errUser := strconv.ParseInt(fields[11], 10, 64)
	system, errSystem := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(errUser, errSystem)
}
