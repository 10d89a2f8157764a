package service

import (
	"bytes"
	"context"
	"encoding/base64"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"runtime/trace"
	"syscall"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// Runtime measures the kernel's process. All fields are required.
type Runtime struct {
	Journal interface {
		Flushes() journal.Flushes
		Waiting() int
	}
	// Pending returns what waits for clients to read it.
	Pending func() (messages, bytes int)
}

// Methods returns the methods of this service.
func (r Runtime) Methods() []Method {
	return []Method{{protocol.MethodProfile, ForRequest(profile)}}
}

// status returns the measures of this moment.
func (r Runtime) status() *protocol.RuntimeStatus {
	flushes := r.Journal.Flushes()
	s := &protocol.RuntimeStatus{
		Goroutines: runtime.NumGoroutine(), Heap: heap(), WaitingRows: r.Journal.Waiting(),
		Flushes: flushes.Count, FlushMedian: flushes.Median.Microseconds(), FlushP99: flushes.P99.Microseconds(), FlushMax: flushes.Longest.Microseconds(),
	}
	s.WaitingMessages, s.WaitingBytes = r.Pending()
	s.Descriptors, s.DescriptorLimit = descriptors()
	return s
}

// heap returns the bytes of the objects of the program, without stopping it.
func heap() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// descriptors returns how many files of the process are open, and how many may be. Both are 0 where the
// system does not tell.
func descriptors() (open, most int) {
	entries, err := os.ReadDir("/dev/fd")
	var limit syscall.Rlimit
	if err != nil || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0, 0
	}
	return len(entries) - 1, int(min(limit.Cur, 1<<31-1)) // without the directory that was read
}

const profileSeconds, profileSecondsMost = 10, 60

// profile measures the process for its owner.
func profile(ctx context.Context, r *rpc.Request, p protocol.ProfileParams) (protocol.ProfileResult, error) {
	if p.Seconds == 0 {
		p.Seconds = profileSeconds
	}
	if p.Seconds < 0 || p.Seconds > profileSecondsMost {
		return protocol.ProfileResult{}, protocol.Errorf(protocol.CodeInvalidParams, "a profile takes 1 to %d seconds", profileSecondsMost)
	}
	r.Release() // the client's next requests must not wait
	var data bytes.Buffer
	err := measure(ctx, &data, p.Kind, time.Duration(p.Seconds)*time.Second)
	if err != nil {
		return protocol.ProfileResult{}, err
	}
	return protocol.ProfileResult{Data: base64.StdEncoding.EncodeToString(data.Bytes())}, nil
}

// measure writes a profile. Some kinds are measured for that time.
func measure(ctx context.Context, to *bytes.Buffer, kind string, during time.Duration) error {
	pause := func() error {
		select {
		case <-time.After(during):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	switch kind {
	case "cpu":
		if err := pprof.StartCPUProfile(to); err != nil {
			return protocol.Errorf(protocol.CodeBusy, "another profile of this kind is being made: %v", err)
		}
		defer pprof.StopCPUProfile()
		return pause()
	case "trace":
		if err := trace.Start(to); err != nil {
			return protocol.Errorf(protocol.CodeBusy, "another profile of this kind is being made: %v", err)
		}
		defer trace.Stop()
		return pause()
	case "block":
		runtime.SetBlockProfileRate(int(10 * time.Microsecond))
		defer runtime.SetBlockProfileRate(0)
	case "mutex":
		before := runtime.SetMutexProfileFraction(10)
		defer runtime.SetMutexProfileFraction(before)
	case "stacks":
		return pprof.Lookup("goroutine").WriteTo(to, 2)
	case "heap", "allocs", "goroutine", "threadcreate":
		return pprof.Lookup(kind).WriteTo(to, 0)
	default:
		return protocol.Errorf(protocol.CodeInvalidParams, "%q is not a profile: use cpu, heap, allocs, goroutine, stacks, threadcreate, block, mutex or trace", kind)
	}
	if err := pause(); err != nil {
		return err
	}
	return pprof.Lookup(kind).WriteTo(to, 0)
}
