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

// An incomplete reply is verified and shown in batches. Models send hundreds of pieces a second, and
// each batch costs every client a change of its buffer and a redisplay. So the next batch waits for
// shortPause, a thirtieth of a second, and for pausePerByte more for each byte of the last one. Text
// that comes faster than people read comes in larger batches, at least one in each fastPause, or in the
// pause that a client wishes to which batches cost more, up to longPause.
const (
	shortPause   = 33 * time.Millisecond
	pausePerByte = time.Millisecond
	fastPause    = 40 * time.Millisecond
	longPause    = 200 * time.Millisecond
)

// pause returns how long to wait after a batch of so many bytes. wish is a client's wish, 0 for none.
func pause(bytes int, wish time.Duration) time.Duration {
	longest := min(max(wish, fastPause), longPause)
	return min(shortPause+time.Duration(bytes)*pausePerByte, longest)
}

// piece is the next part of a reply, or its error.
type piece struct {
	delta llm.Delta
	err   error
}

// replyReader reads one reply.
type replyReader struct {
	asker       *asker
	reply       llm.Reply
	text        strings.Builder
	requestTime time.Time
	show        preview
	thoughts    thoughts
	words       *stuck // watches the text
	thinking    *stuck // watches the thoughts
	calling     *stuck // watches what is written of calls
	waiting     *waiting
}

// read sends the request, reads the reply and shows it in batches. With an error it returns the part of
// the reply that came before. It records the request while the model works on it, before the reply is
// used. Thoughts between tags are part of the reply's Text. Its Reasoning has the thoughts that came
// apart from the text.
func (a *asker) read(ctx context.Context) (llm.Reply, error) {
	ctx, cancel := context.WithCancel(ctx)
	pieces := make(chan piece)
	request := a.request
	waits := make(chan llm.Wait, waitsLimit)
	request.OnWait = func(wait llm.Wait) {
		select {
		case waits <- wait:
		default: // the reader is slower than the server refuses, and has as much to tell
		}
	}
	go func() { // ends with the sequence, which ends with ctx
		defer close(pieces)
		for delta, err := range a.turn.Sender.config.Provider.Stream(ctx, request) {
			pieces <- piece{delta, err}
		}
	}()
	defer func() {
		cancel()
		for range pieces { // until the goroutine has ended
		}
	}()
	begun := time.Now()
	runtime.Gosched() // send the request before the rest
	a.turn.Screen.SetRequestSize(a.turn.Requests.Corrected(a.estimate), a.turn.Requests.Window())
	a.turn.Meter.ShowProgress()
	a.recordRequest(ctx)
	a.firstPiece = 0
	d := &replyReader{
		asker: a, requestTime: begun, words: newStuck(), thinking: newStuck(), calling: newStuck(), thoughts: thoughts{turn: a.turn},
		waiting: newWaiting(a.turn.Meter),
		show:    preview{gate: a.turn.Gate, screen: a.turn.Screen, on: a.stream, stream: plist.Stream{Input: a.turn.Steps.Input()}, plainly: a.turn.Plain, answer: a.turn.Answer},
	}
	err := d.receiveAll(ctx, pieces, waits)
	d.waiting.end()
	if err == nil {
		d.show.finish(ctx)
	}
	d.reply.Text, d.reply.Reasoning = d.text.String(), d.thoughts.beside.String()
	d.thoughts.finish(d.reply.Text)
	return d.reply, err
}

// receiveAll reads the pieces until the last one.
func (d *replyReader) receiveAll(ctx context.Context, pieces <-chan piece, waits <-chan llm.Wait) error {
	next := time.NewTimer(shortPause)
	defer next.Stop()
	for {
		select {
		case p, open := <-pieces:
			if !open {
				return nil
			}
			d.waiting.heard()
			if p.err != nil {
				if cause := context.Cause(ctx); cause != nil && errors.Is(p.err, context.Canceled) {
					return cause
				}
				return p.err
			}
			if err := d.add(ctx, p.delta); err != nil {
				return err
			}
		case wait := <-waits:
			d.waiting.told(wait)
		case <-d.waiting.silence.C:
			d.waiting.slow()
		case <-next.C:
			next.Reset(pause(d.show.flush(ctx), d.asker.turn.Screen.Pause()))
			d.thoughts.flush(d.show.stream.Thought())
		}
	}
}

// add adds one piece to the reply. It returns an error if the model is stuck; the reply then ends
// before the first repetition.
func (d *replyReader) add(ctx context.Context, delta llm.Delta) error {
	a := d.asker
	if a.firstPiece == 0 {
		a.firstPiece = time.Since(d.requestTime)
	}
	d.text.WriteString(delta.Text)
	d.thoughts.write(delta.Reasoning)
	if from, found := d.words.write(delta.Text); found {
		once := strings.TrimRight(d.text.String()[:from], "\\") // the cut may follow the \ of an escape
		d.text.Reset()
		d.text.WriteString(once)
		return errStuck
	}
	if _, found := d.thinking.write(delta.Reasoning); found {
		return errStuck
	}
	if _, found := d.calling.write(delta.CallText); found {
		return errStuck
	}
	d.show.write(delta.Text)
	if d.show.shown == 0 {
		d.show.flush(ctx) // show the first words at once
	}
	if delta.Model != "" && delta.Model != a.turn.model {
		a.turn.setModel(delta.Model)
	}
	d.reply.Calls = append(d.reply.Calls, delta.Calls...)
	if delta.Usage != nil {
		d.reply.Usage = delta.Usage
	}
	if delta.Original != nil {
		d.reply.Original = delta.Original
	}
	if delta.Finish != "" {
		d.reply.Finish = delta.Finish
	}
	return nil
}
