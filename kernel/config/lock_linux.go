package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// lockName takes the name of a home: that of an abstract socket, which is in no directory and so cannot be
// removed. Every user can take every such name, so one that another user has locks nothing; it is then nil.
// Processes that do not see the same files do not share names.
func lockName(home string) (io.Closer, error) {
	files, _ := os.Readlink("/proc/self/ns/mnt") // without it they share names
	sum := sha256.Sum256([]byte(files + "\x00" + home))
	name := fmt.Sprintf("@org-agent-lock-%d-%s", os.Getuid(), hex.EncodeToString(sum[:8]))
	listener, err := net.Listen("unix", name)
	if err == nil {
		return hold(listener), nil
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil, nil // the system has no such names; the other locks hold
	}
	conn, err := net.DialTimeout("unix", name, time.Second)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, errHeld // it is given back at this moment
	}
	if err != nil {
		return nil, nil // a kernel takes connections
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return nil, nil
	}
	var owner *syscall.Ucred
	if failed := raw.Control(func(fd uintptr) {
		owner, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); failed != nil || err != nil || int(owner.Uid) != os.Getuid() {
		return nil, nil
	}
	return nil, heldName{int(owner.Pid)}
}

// nameLock is a name that this process has.
type nameLock struct {
	listener net.Listener
	done     chan struct{} // closed when nobody listens any more
}

// hold keeps a name until it is closed. It takes the connections by which others ask who has the name, so
// that not too many of them wait.
func hold(listener net.Listener) *nameLock {
	l := &nameLock{listener, make(chan struct{})}
	go func() { // ends with the listener; Close waits for it
		defer close(l.done)
		for {
			conn, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				time.Sleep(100 * time.Millisecond) // such as too many open files
				continue
			}
			_ = conn.Close() // nothing is said on it
		}
	}()
	return l
}

// Close gives the name back.
func (l *nameLock) Close() error {
	err := l.listener.Close()
	<-l.done
	return err
}
