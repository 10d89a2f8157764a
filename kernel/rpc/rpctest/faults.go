package rpctest

import (
	"net"
	"sync"
	"time"
)

// Faults are the ways in which an [Editor] misbehaves. The zero value behaves.
type Faults struct {
	// ReadPause is waited before each read of at most ReadSize bytes.
	ReadPause time.Duration
	// ReadSize and WriteSize are how many bytes pass at once; 0 is any number.
	ReadSize, WriteSize int
	// NoReceipts leaves acts unperformed and unanswered.
	NoReceipts bool
	// LoseDelta reports whether the nth delta, counted from 1, is to be lost
	// between the wire and the buffer.
	LoseDelta func(n int) bool
}

// A Wire is a connection with faults.
type Wire struct {
	net.Conn
	faults Faults

	mu      sync.Mutex
	stalled chan struct{} // closed by Resume; nil while reading goes on
}

func newWire(c net.Conn, faults Faults) *Wire { return &Wire{Conn: c, faults: faults} }

// Stall stops reading, as an Emacs that is busy does, until Resume.
func (w *Wire) Stall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stalled == nil {
		w.stalled = make(chan struct{})
	}
}

// Resume goes on reading.
func (w *Wire) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stalled != nil {
		close(w.stalled)
		w.stalled = nil
	}
}

// Close closes the connection; a stalled read ends.
func (w *Wire) Close() error {
	err := w.Conn.Close()
	w.Resume()
	return err
}

// SetReadDeadline is the connection's; a deadline that has passed ends a stalled
// read.
func (w *Wire) SetReadDeadline(t time.Time) error {
	if !t.IsZero() && !t.After(time.Now()) {
		w.Resume()
	}
	return w.Conn.SetReadDeadline(t)
}

// Read reads in the manner of the faults.
func (w *Wire) Read(b []byte) (int, error) {
	w.mu.Lock()
	stalled := w.stalled
	w.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
	if w.faults.ReadPause > 0 {
		time.Sleep(w.faults.ReadPause)
	}
	if n := w.faults.ReadSize; n > 0 && len(b) > n {
		b = b[:n]
	}
	return w.Conn.Read(b)
}

// Write writes in the manner of the faults.
func (w *Wire) Write(b []byte) (int, error) {
	size := w.faults.WriteSize
	if size == 0 {
		return w.Conn.Write(b)
	}
	written := 0
	for len(b) > 0 {
		n, err := w.Conn.Write(b[:min(size, len(b))])
		written += n
		if err != nil {
			return written, err
		}
		b = b[n:]
	}
	return written, nil
}
