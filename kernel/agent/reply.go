package agent

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/plist"
)

// What has come of a reply is verified and shown in batches. Models send hundreds of
// pieces a second, people read none of them one by one, and each batch costs every client
// a change of its buffer and a redisplay. So the next one waits for shortPause, twelve times
// a second, and for readingTime more for each byte of the last: text that comes faster than
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
	show     streamGate
	thoughts thoughts
	words    *stuck // in the text
	thinking *stuck // in the thoughts
}

// read takes the deltas as they come and shows a batch at a time. With an error
// it returns what had come until then. What is asked is told and recorded while the model has it:
// that has to be known before the reply is used. Thoughts between tags are part of the
// text; Reasoning has those that came apart from it.
func (a *asker) read(ctx context.Context) (llm.Reply, error) {
	ctx, cancel := context.WithCancel(ctx)
	pieces := make(chan piece)
	go func() { // ends with the sequence, which ends with ctx
		defer close(pieces)
		for delta, err := range a.run.agent.config.Provider.Stream(ctx, a.request) {
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
	a.run.turn.Held(a.run.compose.Corrected(a.run.estimate), a.run.compose.Window())
	a.run.progress()
	a.run.recordRequest(ctx, a.request)
	a.first = 0
	d := &reading{
		asker: a, begun: begun, words: newStuck(), thinking: newStuck(), thoughts: thoughts{run: a.run},
		show: streamGate{run: a.run, on: a.stream, stream: plist.Stream{Input: a.run.input}},
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

// take takes one piece. A model that is stuck is not heard any longer, and what it said once is
// kept once.
func (d *reading) take(ctx context.Context, delta llm.Delta) error {
	a := d.asker
	if a.first == 0 {
		a.first = time.Since(d.begun)
	}
	d.text.WriteString(delta.Text)
	d.thoughts.write(delta.Reasoning)
	if from, found := d.words.write(delta.Text); found {
		said := strings.TrimRight(d.text.String()[:from], "\\") // of a character that is escaped
		d.text.Reset()
		d.text.WriteString(said)
		return errStuck
	}
	if _, found := d.thinking.write(delta.Reasoning); found {
		return errStuck
	}
	d.show.write(delta.Text)
	if d.show.shown == 0 {
		d.show.flush(ctx) // the first words at once
	}
	if delta.Model != "" && delta.Model != a.run.model {
		a.run.describe(delta.Model)
	}
	if delta.Usage != nil {
		d.reply.Usage = delta.Usage
	}
	if delta.Finish != "" {
		d.reply.Finish = delta.Finish
	}
	return nil
}
