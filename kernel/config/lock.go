package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// Lock is the right to be the kernel of an instance. The system releases it when the process ends.
//
// It is three locks: on a file of the state directory, on the home, and on a name of the home that is in no
// file. With the first alone a kernel whose state directory was removed would soon have another one beside
// it, and with the first two one whose home was removed as well.
type Lock struct{ parts []io.Closer }

// lockTimeout is how long LockInstance waits for a kernel that is ending.
const lockTimeout = 3 * time.Second

// LockInstance takes the lock of the instance, whose state directory must exist. If a running
// kernel holds it, the error names that kernel. LockInstance waits up to three seconds for a kernel
// that is starting or ending.
func LockInstance(paths Paths) (*Lock, error) {
	l := &Lock{}
	fail := func(err error) (*Lock, error) { return nil, errors.Join(err, l.Release()) }
	state, err := os.OpenFile(paths.Lock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the instance: %w", err)
	}
	l.parts = append(l.parts, state)
	if err := wait(paths, func() error { return lock(state) }); err != nil {
		if errors.Is(err, errHeld) {
			err = heldBy(paths)
		}
		return fail(err)
	}
	if home, err := os.Open(paths.Home); err == nil { // the doctor looks at homes that are gone
		l.parts = append(l.parts, home)
		if err := wait(paths, func() error { return lock(home) }); errors.Is(err, errHeld) { // another error means that the file system cannot lock directories
			return fail(strayKernel(paths, ""))
		}
	}
	err = wait(paths, func() error {
		name, err := lockName(paths.Home)
		if err == nil && name != nil {
			l.parts = append(l.parts, name)
		}
		return err
	})
	if err != nil {
		return fail(strayKernel(paths, holder(err)))
	}
	return l, nil
}

// errHeld is the error of a lock that a running kernel holds.
var errHeld = errors.New("a kernel holds it")

// heldName is errHeld of a name, with the process that holds it.
type heldName struct{ pid int }

func (h heldName) Error() string        { return fmt.Sprintf("the process %d holds it", h.pid) }
func (h heldName) Is(target error) bool { return target == errHeld }

// holder returns words for the process of a [heldName].
func holder(err error) string {
	if held, ok := errors.AsType[heldName](err); ok {
		return fmt.Sprintf("process %d, ", held.pid)
	}
	return ""
}

// strayKernel returns the error for a kernel that has the home and not the state directory.
func strayKernel(paths Paths, process string) error {
	return fmt.Errorf("a kernel with another state directory, or with one that was removed, runs for %s: "+
		"try again in a moment, or end it (%san \"org-agent serve\" among the processes)", paths.Home, process)
}

// lock locks a file or a directory.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errHeld
	case err != nil:
		return fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return nil
}

// wait takes a lock, and waits for a kernel that is starting or ending. The error is errHeld if a running
// kernel holds it.
func wait(paths Paths, take func() error) error {
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(10 * time.Millisecond) {
		err := take()
		if !errors.Is(err, errHeld) {
			return err
		}
		info, unknown := ReadKernelInfo(paths.KernelJSON)
		if unknown == nil && info.Alive() || time.Now().After(deadline) {
			return err
		}
	}
}

// heldBy returns an error that says which kernel holds the lock.
func heldBy(paths Paths) error {
	info, err := ReadKernelInfo(paths.KernelJSON)
	if err != nil || !info.Alive() {
		return fmt.Errorf("another kernel is starting or ending for %s: wait a moment and look with \"org-agent status\"", paths.Home)
	}
	return fmt.Errorf("a kernel runs for %s already: process %d, version %s, since %s, at %s; use it, or end it with \"org-agent stop\"",
		paths.Home, info.PID, info.Version, info.Started.Local().Format("2006-01-02 15:04"), info.Socket)
}

// Release gives the lock back. It does not remove the file: a new file in its place would be
// another lock.
func (l *Lock) Release() error {
	var err error
	for _, part := range l.parts {
		err = errors.Join(err, part.Close())
	}
	if err != nil {
		return fmt.Errorf("release the lock: %w", err)
	}
	return nil
}
