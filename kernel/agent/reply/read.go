package reply

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/plist"
)

// A reply is verified and shown in batches while it comes. Models send hundreds of pieces a second, and
// each batch costs every client a change of its buffer and a redisplay. So the next batch waits for
// shortPause, and longer by readingTime for each byte of the last one: text that comes faster than
// anyone reads comes in fewer and larger batches, at least one in longPause.
const (
	shortPause  = 80 * time.Millisecond
	readingTime = time.Millisecond
	longPause   = 200 * time.Millisecond
)

// pause is how long to wait behind a batch of so many bytes.
func pause(bytes int) time.Duration {
	return min(shortPause+time.Duration(bytes)*readingTime, longPause)
}

// piece is what comes next of a reply.
type piece struct {
	delta llm.Delta
	err   error
}

// reading is a reply that comes.
type reading struct {
	asker    *asker
	reply    llm.Reply
	text     strings.Builder
	begun    time.Time
	show     preview
	thoughts thoughts
	words    *stuck // in the text
	thinking *stuck // in the thoughts
}

// read sends the request, takes the pieces of the reply as they come and shows a batch at a time. With
// an error it returns what had come until then. The request is recorded while the model works on it,
// and before the reply is used. Thoughts between tags are part of the reply's text; its Reasoning has
// those that came beside the text.
func (a *asker) read(ctx context.Context) (llm.Reply, error) {
	ctx, cancel := context.WithCancel(ctx)
	pieces := make(chan piece)
	go func() { // ends with the sequence, which ends with ctx
		defer close(pieces)
		for delta, err := range a.turn.Sender.config.Provider.Stream(ctx, a.request) {
			pieces <- piece{delta, err}
		}
	}()
	defer func() {
		cancel()
		for range pieces { // until the reader is gone
		}
	}()
	begun := time.Now()
	runtime.Gosched() // the request goes first
	a.turn.Screen.Held(a.turn.Requests.Corrected(a.estimate), a.turn.Requests.Window())
	a.turn.Meter.ShowProgress()
	a.recordRequest(ctx)
	a.first = 0
	d := &reading{
		asker: a, begun: begun, words: newStuck(), thinking: newStuck(), thoughts: thoughts{turn: a.turn},
		show: preview{gate: a.turn.Gate, screen: a.turn.Screen, on: a.stream, stream: plist.Stream{Input: a.turn.Steps.Input()}},
	}
	err := d.all(ctx, pieces)
	if err == nil {
		d.show.flush(ctx)
	}
	d.reply.Text, d.reply.Reasoning = d.text.String(), d.thoughts.apart.String()
	d.thoughts.finish(d.reply.Text)
	return d.reply, err
}

// all takes the pieces until there are no more.
func (d *reading) all(ctx context.Context, pieces <-chan piece) error {
	next := time.NewTimer(shortPause)
	defer next.Stop()
	for {
		select {
		case p, open := <-pieces:
			if !open {
				return nil
			}
			if p.err != nil {
				if cause := context.Cause(ctx); cause != nil && errors.Is(p.err, context.Canceled) {
					return cause
				}
				return p.err
			}
			if err := d.take(ctx, p.delta); err != nil {
				return err
			}
		case <-next.C:
			next.Reset(pause(d.show.flush(ctx)))
			d.thoughts.flush(d.show.stream.Thought())
		}
	}
}

// take takes one piece. It fails if the model is stuck: then the reply is what came before the first
// repetition.
func (d *reading) take(ctx context.Context, delta llm.Delta) error {
	a := d.asker
	if a.first == 0 {
		a.first = time.Since(d.begun)
	}
	d.text.WriteString(delta.Text)
	d.thoughts.write(delta.Reasoning)
	if from, found := d.words.write(delta.Text); found {
		once := strings.TrimRight(d.text.String()[:from], "\\") // the cut may be behind the \ of an escape
		d.text.Reset()
		d.text.WriteString(once)
		return errStuck
	}
	if _, found := d.thinking.write(delta.Reasoning); found {
		return errStuck
	}
	d.show.write(delta.Text)
	if d.show.shown == 0 {
		d.show.flush(ctx) // the first words at once
	}
	if delta.Model != "" && delta.Model != a.turn.model {
		a.turn.describe(delta.Model)
	}
	if delta.Usage != nil {
		d.reply.Usage = delta.Usage
	}
	if delta.Finish != "" {
		d.reply.Finish = delta.Finish
	}
	return nil
}
