package rpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// ErrInUse is returned if another process answers on the socket.
var ErrInUse = errors.New("another kernel answers there")

// Listen listens on a Unix socket, or on the spare one if another process answers there and a spare one is
// named. It also listens on HOST:PORT if the address is not "". It returns the socket that it took.
func Listen(socket, spare, address string) (listeners []net.Listener, taken string, err error) {
	unix, err := ListenUnix(socket)
	if errors.Is(err, ErrInUse) && spare != "" {
		socket = spare
		unix, err = ListenUnix(socket)
	}
	if err != nil {
		return nil, "", err
	}
	if address == "" {
		return []net.Listener{unix}, socket, nil
	}
	tcp, err := ListenTCP(address)
	if err != nil {
		return nil, "", errors.Join(err, unix.Close())
	}
	return []net.Listener{unix, tcp}, socket, nil
}

// ListenUnix listens on a Unix socket of mode 0600. Its directory is made with
// mode 0700; one that exists must be a directory of this user's that nobody else
// can write to. A socket nobody answers on is replaced; anything else at path,
// and a socket that answers ([ErrInUse]), is an error. Closing the listener
// removes the socket.
func ListenUnix(path string) (net.Listener, error) {
	if most := len(syscall.RawSockaddrUnix{}.Path) - 1; len(path) > most {
		return nil, fmt.Errorf("listen on %s: the path has %d bytes, a socket's may have %d: name a shorter one", path, len(path), most)
	}
	if err := checkDirectory(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := removeStale(path); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	listener.SetUnlinkOnClose(false) // by then it may be another's
	made, err := restrict(path)
	if err != nil {
		_ = listener.Close() // the first error is the one to report
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return &unixListener{UnixListener: listener, path: path, made: made}, nil
}

// restrict makes the socket the user's alone and says which it is.
func restrict(path string) (os.FileInfo, error) {
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, err
	}
	return os.Lstat(path)
}

// checkDirectory creates the socket's directory, or checks that the existing one is safe.
func checkDirectory(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make its directory: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) != os.Getuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("the directory %s must be yours and writable by nobody else: chmod 700 it, or name a socket in another", dir)
	}
	return nil
}

// removeStale removes a socket at path on which no process answers.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("something that is no socket is there: remove it, or name another path")
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = c.Close() // it was only to see whether somebody is there
		return ErrInUse
	}
	if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

type unixListener struct {
	*net.UnixListener
	path   string
	made   os.FileInfo
	closed sync.Once
}

// Close stops listening and removes the socket, unless another process has replaced it.
func (l *unixListener) Close() error {
	err := net.ErrClosed
	l.closed.Do(func() {
		err = nil
		if now, statErr := os.Lstat(l.path); statErr == nil && os.SameFile(now, l.made) {
			err = os.Remove(l.path)
		}
		err = errors.Join(err, l.UnixListener.Close())
	})
	return err
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
