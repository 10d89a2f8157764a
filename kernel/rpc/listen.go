package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// ErrInUse is returned if another process answers on the socket.
var ErrInUse = errors.New("another kernel answers there")

// Listen listens on a Unix socket, or on the spare one if another process answers there and a spare one is
// named. It also listens on HOST:PORT if the address is not "". It returns all listeners, and the one on
// the socket that it took.
func Listen(socket, spare, address string) (unix *UnixListener, all []net.Listener, err error) {
	unix, err = ListenUnix(socket)
	if errors.Is(err, ErrInUse) && spare != "" {
		unix, err = ListenUnix(spare)
	}
	if err != nil {
		return nil, nil, err
	}
	if address == "" {
		return unix, []net.Listener{unix}, nil
	}
	tcp, err := ListenTCP(address)
	if err != nil {
		return nil, nil, errors.Join(err, unix.Close())
	}
	return unix, []net.Listener{unix, tcp}, nil
}

// ListenTCP listens on HOST:PORT, which must be a loopback address: what is sent
// is not encrypted.
func ListenTCP(address string) (net.Listener, error) {
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	if resolved.IP == nil || !resolved.IP.IsLoopback() {
		return nil, fmt.Errorf("listen on %s: only a loopback address is allowed, as 127.0.0.1:4711", address)
	}
	listener, err := net.ListenTCP("tcp", resolved)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return listener, nil
}

// accept retries after temporary errors, such as a lack of file descriptors.
func accept(ctx context.Context, listener net.Listener) (net.Conn, error) {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		c, err := listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) || !isTemporary(err) {
			return c, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// isTemporary reports whether an error of accept is temporary.
func isTemporary(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.EINTR, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
