package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sweeperName is the argument that makes this program a sweeper.
const sweeperName = "sandbox-sweeper"

// Sweeper is a process that outlives this one if it is killed. It then does at once what [Recover] would
// do at the next start: it removes the placeholders and puts aside what git would run. The notes stay, with
// what it found, because a person has to be told of that.
//
// A directory cannot be guarded without placeholders: the system mounts only on what exists, and forgets a
// mount whose directory somebody else removes.
type Sweeper struct {
	process *exec.Cmd
	life    *os.File // closed when this process ends, in whatever way
	end     sync.Once
	err     error
}

// StartSweeper starts a sweeper for the commands whose [Command.Note] matches the pattern of [filepath.Glob].
// The caller closes it when all commands have ended.
func StartSweeper(pattern string) (*Sweeper, error) {
	line, err := json.Marshal(pattern)
	if err != nil {
		return nil, fmt.Errorf("start the sweeper: %w", err)
	}
	read, life, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the sweeper: %w", err)
	}
	defer read.Close()
	// Neither the name of the process nor its arguments are the program's, so that whoever ends all
	// processes of that name leaves it.
	s := &Sweeper{life: life, process: &exec.Cmd{Path: "/proc/self/exe", Args: []string{sweeperName, sweeperName}, Env: []string{}, Dir: "/", Stdin: read}}
	s.process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := s.process.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the sweeper: %w", err), life.Close())
	}
	if _, err := life.Write(append(line, '\n')); err != nil {
		return nil, errors.Join(fmt.Errorf("start the sweeper: %w", err), s.Close())
	}
	return s, nil
}

// Close ends the sweeper. A second call does nothing.
func (s *Sweeper) Close() error {
	s.end.Do(func() {
		if s.err = errors.Join(s.life.Close(), s.process.Wait()); s.err != nil {
			s.err = fmt.Errorf("end the sweeper: %w", s.err)
		}
	})
	return s.err
}

// beSweeper waits for the end of the program that started this process.
func beSweeper() error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) // it ends with that program
	_ = unix.CloseRange(3, math.MaxInt32, 0)                       // on old systems the files stay open
	reader := bufio.NewReader(os.Stdin)
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return err
	}
	var pattern string
	if err := json.Unmarshal(line, &pattern); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, reader) // until its end
	notes, err := filepath.Glob(pattern)
	for _, note := range notes {
		err = errors.Join(err, sweep(note))
	}
	return err
}

// sweep finishes a command of a killed program, and adds what was found to its note.
func sweep(note string) error {
	held, err := lock(note, unix.LOCK_EX)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another program has recovered it
	}
	if err != nil {
		return err
	}
	defer held.Close()
	n, err := readNote(note)
	if err != nil || n.View == nil {
		return err // the command did not begin
	}
	left, err := n.finish()
	if err != nil {
		return err
	}
	n.Left = &left
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(note, os.O_WRONLY|os.O_TRUNC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the command was of a later program, which has finished it
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// readNote reads a note. It has no view if the program was killed before the note was complete, and so
// before the command began.
func readNote(note string) (n noteContent, err error) {
	text, err := os.ReadFile(note)
	if err != nil {
		return n, err
	}
	if json.Unmarshal(text, &n) != nil {
		return noteContent{}, nil
	}
	return n, nil
}

// finish waits until nothing of the command runs, removes the placeholders, and scans the directory.
func (n noteContent) finish() (Left, error) {
	for began := time.Now(); runs(n.Warden); time.Sleep(time.Millisecond) {
		if time.Since(began) > endLimit {
			return Left{}, fmt.Errorf("a command still runs in %s", n.View.Directory)
		}
	}
	// The warden's end kills the command's other processes, which hold the locks of the guards until
	// they are gone. A lock that is held for longer belongs to another command.
	for began := time.Now(); unguard(n.View.Directory, n.View.Repositories, n.View.Obeyed) && time.Since(began) < endLimit; {
		time.Sleep(time.Millisecond)
	}
	left := n.View.restore()
	if n.Left != nil {
		left = Left{Aside: n.Left.Aside}.With(left) // the sweeper has put these aside
	}
	return left, nil
}
