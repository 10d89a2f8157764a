package signal

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest/signaltest"
)

// BenchmarkReceive measures how long a message takes from signal-cli until receive has it, one behind the other.
func BenchmarkReceive(b *testing.B) {
	s := signaltest.Start(b, signaltest.Config{Account: agent})
	took := make(chan struct{}, 1<<20)
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	d := New(Config{Account: agent.Number, Address: s.Address()})
	go func() {
		ended <- d.Run(ctx, func(context.Context, channel.Message) error { took <- struct{}{}; return nil })
	}()
	defer func() { stop(); <-ended }()
	s.Deliver(said(1_699_999_999_999, "first"))
	<-took
	began := time.Now()
	for n := range b.N {
		s.Deliver(said(int64(1_700_000_000_000+n), fmt.Sprint("message ", n)))
	}
	for range b.N {
		<-took
	}
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "messages/s")
}

// BenchmarkIdle measures the processor time of a connected driver that has nothing to do.
func BenchmarkIdle(b *testing.B) {
	s := signaltest.Start(b, signaltest.Config{Account: agent})
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	d := New(Config{Account: agent.Number, Address: s.Address()})
	go func() { ended <- d.Run(ctx, func(context.Context, channel.Message) error { return nil }) }()
	defer func() { stop(); <-ended }()
	<-d.first
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before, began := used(), time.Now()
	for b.Loop() {
		time.Sleep(time.Second)
	}
	b.ReportMetric(100*float64(used()-before)/float64(time.Since(began)), "%CPU")
}
