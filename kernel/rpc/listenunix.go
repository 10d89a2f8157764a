package rpc

import (
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

// UnixListener is a listener on a Unix socket. It may be used by many goroutines.
//
// A socket's file can be removed while somebody listens, for example with the directory of a login session
// that has ended. Nobody can connect then, and the system tells nobody. [UnixListener.Renew] listens again.
type UnixListener struct {
	mu      sync.Mutex
	current *unixSocket
	closed  bool
}

// unixSocket is a socket that has its file.
type unixSocket struct {
	*net.UnixListener
	path string
	made os.FileInfo
}

// there reports whether the file of the socket is at its path.
func (s *unixSocket) there() bool {
	now, err := os.Lstat(s.path)
	return err == nil && os.SameFile(now, s.made)
}

// Path returns where the listener listens.
func (l *UnixListener) Path() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current.path
}

// Addr implements [net.Listener].
func (l *UnixListener) Addr() net.Addr {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current.Addr()
}

// Accept implements [net.Listener].
func (l *UnixListener) Accept() (net.Conn, error) {
	for {
		l.mu.Lock()
		socket, closed := l.current, l.closed
		l.mu.Unlock()
		if closed {
			return nil, net.ErrClosed
		}
		conn, err := socket.Accept()
		if err == nil || !errors.Is(err, net.ErrClosed) {
			return conn, err
		}
	}
}

// Lost reports whether the socket's file is not at its path any more.
func (l *UnixListener) Lost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.closed && !l.current.there()
}

// Renew listens again, at the first of these paths where that is possible. Connections that are open stay
// open. After an error the listener is as before.
func (l *UnixListener) Renew(paths ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	var failed error
	for _, path := range paths {
		socket, err := listenUnix(path)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		_ = l.current.UnixListener.Close() // nobody can connect to it
		l.current = socket
		return nil
	}
	return failed
}

// Close stops listening and removes the socket, unless another process has replaced it.
func (l *UnixListener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	l.closed = true
	var err error
	if l.current.there() {
		err = os.Remove(l.current.path)
	}
	return errors.Join(err, l.current.UnixListener.Close())
}

// ListenUnix listens on a Unix socket of mode 0600. Its directory is made with
// mode 0700; one that exists must be a directory of this user's that nobody else
// can write to. A socket nobody answers on is replaced; anything else at path,
// and a socket that answers ([ErrInUse]), is an error. Closing the listener
// removes the socket.
func ListenUnix(path string) (*UnixListener, error) {
	socket, err := listenUnix(path)
	if err != nil {
		return nil, err
	}
	return &UnixListener{current: socket}, nil
}

// listenUnix does what [ListenUnix] promises.
func listenUnix(path string) (*unixSocket, error) {
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
	return &unixSocket{UnixListener: listener, path: path, made: made}, nil
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
