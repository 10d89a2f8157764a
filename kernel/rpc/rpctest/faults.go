package rpctest

import (
	"net"
	"sync"
	"time"
)

// Faults configures how an [Editor] misbehaves. The zero value has no faults.
type Faults struct {
	// ReadPause is the pause before each read.
	ReadPause time.Duration
	// ReadSize and WriteSize are the maximum bytes of one read and one write; 0 is no limit.
	ReadSize, WriteSize int
	// NoReceipts leaves acts unperformed and unanswered.
	NoReceipts bool
	// LoseDelta reports whether to drop the nth delta, counted from 1, after it arrived.
	LoseDelta func(n int) bool
}

// Wire is a connection with faults.
type Wire struct {
	net.Conn
	faults Faults

	mu      sync.Mutex
	stalled chan struct{} // closed by Resume; nil while reading goes on
}

func newWire(c net.Conn, faults Faults) *Wire { return &Wire{Conn: c, faults: faults} }

// Stall stops reading until Resume, as a busy Emacs does.
func (w *Wire) Stall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stalled == nil {
		w.stalled = make(chan struct{})
	}
}

// Resume ends a stall.
func (w *Wire) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stalled != nil {
		close(w.stalled)
		w.stalled = nil
	}
}

// Close closes the connection and ends a stalled read.
func (w *Wire) Close() error {
	err := w.Conn.Close()
	w.Resume()
	return err
}

// SetReadDeadline sets the connection's deadline. A deadline that has passed ends a stalled read.
func (w *Wire) SetReadDeadline(t time.Time) error {
	if !t.IsZero() && !t.After(time.Now()) {
		w.Resume()
	}
	return w.Conn.SetReadDeadline(t)
}

// Read reads with the faults.
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

// Write writes with the faults.
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
