package reply

import (
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
)

// slowAfter is how long nothing comes of a reply before people are told.
const slowAfter = 10 * time.Second

// waitsLimit is how many waits may be untold. A request waits a few times, and not at once.
const waitsLimit = 16

// waiting tells people why a reply does not come: its server has asked for a pause, or is silent.
type waiting struct {
	meter   Meter
	silence *time.Timer // fires when the server was silent for slowAfter
	since   time.Time   // when the server was asked, or the last piece came
	host    string      // of the server that was asked last
	shown   bool
}

func newWaiting(meter Meter) *waiting {
	return &waiting{meter: meter, silence: time.NewTimer(slowAfter), since: time.Now()}
}

// heard is called with each piece of the reply.
func (w *waiting) heard() {
	w.since = time.Now()
	w.silence.Reset(slowAfter)
	w.clear()
}

// told is called when the request is sent to a server, or waits to be sent again.
func (w *waiting) told(wait llm.Wait) {
	if wait.Host != "" {
		w.host = wait.Host
		w.heard()
		return
	}
	w.silence.Stop()
	reasons := map[llm.Class]protocol.WaitReason{llm.ClassRateLimit: protocol.WaitRateLimit, llm.ClassUnreachable: protocol.WaitUnreachable}
	reason, known := reasons[wait.Class]
	if !known {
		reason = protocol.WaitServer
	}
	w.show(protocol.ModelWait{Host: w.host, Reason: reason, At: stamp(time.Now().Add(wait.Pause)), Attempt: wait.Attempt})
}

// slow is called when silence fires.
func (w *waiting) slow() {
	w.show(protocol.ModelWait{Host: w.host, Reason: protocol.WaitSilent, At: stamp(w.since)})
}

// end is called at the end of the reply, whatever it is.
func (w *waiting) end() {
	w.silence.Stop()
	w.clear()
}

func (w *waiting) show(wait protocol.ModelWait) {
	w.shown = true
	w.meter.ShowWait(&wait)
}

func (w *waiting) clear() {
	if w.shown {
		w.shown = false
		w.meter.ShowWait(nil)
	}
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
