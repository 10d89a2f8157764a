package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// noteContent is the content of the file [Command.Note], as JSON.
type noteContent struct {
	Warden string // identity of the command's warden
	View   *view  // the directory before the command
	Left   *Left  // what the sweeper found
}

// writeNote writes the note of a command whose warden was started.
func (p *Process) writeNote() (err error) {
	if p.before == nil {
		p.note = "" // there are no guards, and nothing to look through
	}
	if p.note == "" {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("note where the command may write: %w", err)
		}
	}()
	text, err := json.Marshal(noteContent{Warden: identity(p.warden.Process.Pid), View: p.before})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(p.note, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		p.note = "" // the file belongs to something else
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}

// restore removes the placeholders and scans the directory. Nothing of the command may run any
// more.
func (v *view) restore() Left {
	unguard(v.Directory, v.Repositories, v.Obeyed)
	return v.cleanUp(false)
}

// endLimit is how long [Recover] waits for the warden of a killed program. The system kills it at
// once, but that takes a moment.
const endLimit = 2 * time.Second

// Recover finishes what was left undone when the program that had started a command was killed.
// note is the path that was its [Command.Note]. Recover removes the placeholders, puts aside what
// git would run, returns what else the command left, and deletes the note.
//
// It waits until nothing of the command runs. After an error the note is still there, and Recover
// can be called again.
func Recover(note string) (directory string, left Left, err error) {
	held, err := lock(note, unix.LOCK_EX) // the sweeper may be at it
	if err != nil {
		return "", Left{}, fmt.Errorf("recover after a killed command: %w", err)
	}
	defer held.Close()
	n, err := readNote(note)
	if err != nil {
		return "", Left{}, fmt.Errorf("recover after a killed command: %w", err)
	}
	if n.View == nil {
		return "", Left{}, os.Remove(note)
	}
	directory = n.View.Directory
	if left, err = n.finish(); err != nil {
		return directory, Left{}, err
	}
	if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return directory, left, fmt.Errorf("recover after a killed command: %w", err)
	}
	return directory, left, nil
}

// identity returns a text that distinguishes a process from all others, also from later ones with
// the same number. It is "" for a process that has ended.
func identity(pid int) string {
	state, rest := status(pid)
	if len(rest) < 19 || ended(state, rest) {
		return ""
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without a boot id the start time has to be enough
	return strings.Join([]string{strconv.Itoa(pid), rest[18], strings.TrimSpace(string(boot))}, " ")
}

// runs reports whether the process with an identity still exists.
func runs(process string) bool {
	number, _, _ := strings.Cut(process, " ")
	pid, err := strconv.Atoi(number)
	return err == nil && identity(pid) == process
}

// ended reports whether every thread of a process has ended, given the result of [status]. The main
// thread is a zombie as soon as it has ended itself. Until the last thread has ended, the process
// keeps its files and locks, and its namespace exists.
func ended(state string, rest []string) bool {
	const threads = 16 // the index of their number in rest
	return state == "X" || state == "Z" && (len(rest) <= threads || rest[threads] == "0" || rest[threads] == "1")
}

// status returns the state of a process and the fields after it in /proc/PID/stat, the parent's
// number first. Both are empty if there is no such process.
func status(pid int) (state string, rest []string) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", nil
	}
	// PID (NAME) STATE PARENT …, where NAME may contain any character.
	_, behind, _ := strings.Cut(string(stat[max(0, strings.LastIndexByte(string(stat), ')')):]), " ")
	fields := strings.Fields(behind)
	if len(fields) == 0 {
		return "", nil
	}
	return fields[0], fields[1:]
}
