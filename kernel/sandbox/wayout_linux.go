package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// wayOut is the way out of a command's own network: a listener there, at which this program answers.
type wayOut struct {
	serve    func(net.Listener) // Command.WayOut
	ours     *os.File           // the socket by which the listener comes
	listener net.Listener
	work     sync.WaitGroup
}

// prepare returns the warden's end of the socket.
func (w *wayOut) prepare() (theirs *os.File, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a way out of the command's network: %w", err)
	}
	w.ours = os.NewFile(uintptr(ends[0]), "network")
	return os.NewFile(uintptr(ends[1]), "network"), nil
}

// open takes the listener, which the warden has sent before it said that the command runs, and answers
// there.
func (w *wayOut) open() error {
	defer w.ours.Close()
	control, data := make([]byte, unix.CmsgSpace(4)), make([]byte, 1)
	_, n, _, _, err := unix.Recvmsg(int(w.ours.Fd()), data, control, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	var files []int
	if err == nil {
		var messages []unix.SocketControlMessage
		if messages, err = unix.ParseSocketControlMessage(control[:n]); err == nil && len(messages) == 1 {
			files, err = unix.ParseUnixRights(&messages[0])
		}
	}
	if err == nil && len(files) != 1 {
		err = errors.New("it was not handed out")
	}
	if err != nil {
		return fmt.Errorf("make a way out of the command's network: %w", err)
	}
	file := os.NewFile(uintptr(files[0]), "way out")
	defer file.Close() // the listener has its own
	if w.listener, err = net.FileListener(file); err != nil {
		return fmt.Errorf("make a way out of the command's network: %w", err)
	}
	if w.serve == nil {
		return w.listener.Close() // who connects is told at once
	}
	w.work.Go(func() { w.serve(w.listener) }) // ends when close closes the listener
	return nil
}

// close ends the way out, and waits until nobody answers there.
func (w *wayOut) close() {
	if w.ours != nil {
		w.ours.Close()
	}
	if w.listener != nil {
		w.listener.Close()
	}
	w.work.Wait()
}
