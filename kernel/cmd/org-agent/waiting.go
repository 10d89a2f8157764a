package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// waiting shows on a terminal what takes long, in one line that is written again and removed at the end. Elsewhere it
// writes nothing: a program that reads the output has no use for it.
type waiting struct {
	screen screen // its Writer is nil where it is no terminal
	stop   chan struct{}
	ticker sync.WaitGroup

	mutex sync.Mutex
	shown bool
}

// lineAnew has a terminal begin its line anew.
const lineAnew = "\r\x1b[K"

// newWaiting returns a waiting that has nothing to say yet.
func newWaiting(stderr io.Writer) *waiting {
	w := &waiting{stop: make(chan struct{})}
	if on, ok := stderr.(screen); ok {
		w.screen = on
	}
	return w
}

// during has what takes long said from the first second on, with how long it has taken. doing is called each time.
func (w *waiting) during(doing func() string) {
	if w.screen.to == nil {
		return
	}
	began := time.Now()
	w.ticker.Go(func() {
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-w.stop:
				tick.Stop()
				return
			case <-tick.C:
				w.say(fmt.Sprintf("%s, %d s", doing(), int(time.Since(began).Seconds())))
			}
		}
	})
}

// say shows a text in place of the one before.
func (w *waiting) say(text string) {
	if w.screen.to == nil {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.shown = true
	fmt.Fprint(w.screen.to, lineAnew)
	fmt.Fprintf(w.screen, "org-agent: %s", text)
}

// end removes what is shown.
func (w *waiting) end() {
	close(w.stop)
	w.ticker.Wait()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.shown {
		fmt.Fprint(w.screen.to, lineAnew)
	}
}
