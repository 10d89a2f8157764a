// Package process is the commands that run for conversations: each in the fence of kernel/sandbox,
// with its output in a file of its own. [Table.Run] waits for a command; [Table.Start] leaves it
// running, and the conversation that started it can read what it writes, write to it and stop
// it. Nothing runs on when the table is closed.
//
// A conversation knows only its own commands. What they wrote can be read for a week, whatever
// became of the kernel meanwhile.
package process

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
)

// Config is what commands run with. Kind and Directory are required.
type Config struct {
	// Kind says what fence commands run in, when the first does.
	Kind func() sandbox.Kind
	// Directory is where the output is kept; it is made when the first command runs.
	Directory string
	// Home, Hidden, Shown and Environment are as in [sandbox.Command].
	Home        string
	Hidden      []string
	Shown       []string
	Environment func(string) string
	// Warn tells the person of what a command left that other programs obey, as it has ended; nil
	// tells nobody.
	Warn func(text string)
}

// Request is a command that is to run.
type Request struct {
	Session   string // the conversation
	Command   string
	Directory string // "" for an empty one of its own
	Writes    bool   // it may change what is in Directory
	Network   bool
	Terminal  bool // it gets one, if it is started
}

// Report is what is known of a command.
type Report struct {
	ID        string
	Command   string
	Directory string
	Running   bool
	Took      time.Duration // until now, if it runs
	// Outcome is how it ended, and Stopped why it was made to, "" if it was not.
	Outcome sandbox.Outcome
	Stopped string
	Bytes   int64 // that it wrote
	Kept    int64 // of them, from the first on
	// Left is what came to be where it could write and other programs obey, once it has ended.
	Left sandbox.Left
}

// State says in words whether the command runs, or how it ended.
func (r Report) State() string {
	took := r.Took.Round(10 * time.Millisecond)
	switch {
	case r.Running:
		return fmt.Sprintf("running for %s", r.Took.Round(time.Second))
	case r.Stopped != "":
		return fmt.Sprintf("stopped after %s, %s", took, r.Stopped)
	}
	return fmt.Sprintf("%s after %s", r.Outcome, took)
}

// What a table holds at most.
const (
	runLimit  = 16       // commands that run
	keptLimit = 200      // commands that are known after they ended
	byteLimit = 64 << 20 // of one command's output
	pastLimit = 512 << 20
	pastAge   = 7 * 24 * time.Hour
)

// grace is how long a command has to end when it is asked to, before it is ended.
const grace = 2 * time.Second

// Table is the commands of a kernel.
type Table struct {
	config Config
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu       sync.Mutex
	commands []*command // the oldest is first
}

// New returns a table without commands. The caller closes it.
func New(c Config) *Table {
	t := &Table{config: c}
	t.ctx, t.cancel = context.WithCancel(context.Background()) // until it is closed
	return t
}

// Kind is that of the fence that commands run in.
func (t *Table) Kind() sandbox.Kind { return t.config.Kind() }

// Close ends all commands and waits until they have ended.
func (t *Table) Close() {
	t.cancel()
	t.work.Wait()
}

// Check says why a command could not be granted its directory.
func (t *Table) Check(r Request) error { return t.sandboxed(r).Check() }

func (t *Table) sandboxed(r Request) sandbox.Command {
	return sandbox.Command{
		Text: r.Command, Directory: r.Directory, Writes: r.Writes, Network: r.Network, Terminal: r.Terminal,
		Home: t.config.Home, Hidden: t.config.Hidden, Shown: t.config.Shown, Environment: t.config.Environment,
	}
}

// Run runs a command to its end, or until its time is over. When ctx ends, so does the command,
// and the error is that of ctx.
func (t *Table) Run(ctx context.Context, r Request, most time.Duration) (Report, error) {
	r.Terminal = false
	c, err := t.start(r, false)
	if err != nil {
		return Report{}, err
	}
	over := time.NewTimer(most)
	defer over.Stop()
	select {
	case <-c.ended:
	case <-over.C:
		c.stop(ctx, fmt.Sprintf("as it had %s", most))
	case <-ctx.Done():
		c.kill("as the turn was stopped")
	}
	<-c.ended
	return c.report(), ctx.Err()
}

// Start starts a command that runs on. It returns after a moment, in which the command may have
// ended or said something.
func (t *Table) Start(ctx context.Context, r Request) (Report, error) {
	c, err := t.start(r, true)
	if err != nil {
		return Report{}, err
	}
	moment := time.NewTimer(time.Second / 2)
	defer moment.Stop()
	select {
	case <-c.ended:
	case <-moment.C:
	case <-ctx.Done():
	}
	return c.report(), nil
}

// start starts a command; talks: it can be written to.
func (t *Table) start(r Request, talks bool) (*command, error) {
	kind := t.config.Kind()
	t.mu.Lock()
	defer t.mu.Unlock()
	running := t.running()
	if running >= runLimit {
		return nil, protocol.ToolErrorf(protocol.ToolBusy, "%d commands run already: stop one, or wait until one has ended", running)
	}
	id, err := newID()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(t.config.Directory, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory for what commands write: %w", err)
	}
	c := &command{id: id, request: r, began: time.Now(), ended: make(chan struct{})}
	note := t.file(r.Session, id) + guardedSuffix
	if r.Writes {
		if err := os.WriteFile(note, []byte(r.Directory), 0o600); err != nil {
			return nil, fmt.Errorf("note where the command may write: %w", err)
		}
	}
	if err := c.start(t.ctx, kind, t.sandboxed(r), t.file(r.Session, id), talks); err != nil {
		_ = os.Remove(note) // it is looked at, and thrown away, by the next
		return nil, err
	}
	t.work.Go(func() {
		c.follow()
		_ = os.Remove(note)
		if text := c.process.Left().String(); text != "" && t.config.Warn != nil {
			t.config.Warn("A command in " + r.Directory + " has ended. " + text)
		}
		t.Prune()
	})
	t.commands = append(t.commands, c)
	if len(t.commands) > keptLimit {
		if i := slices.IndexFunc(t.commands, func(c *command) bool { return !c.running() }); i >= 0 {
			t.commands = slices.Delete(t.commands, i, i+1)
		}
	}
	return c, nil
}

// guardedSuffix is behind the name of a note that says in which directory a command may write. It
// is there as long as the command runs: one that is left is of a kernel that was killed, and so may
// be what guarded the directory.
const guardedSuffix = ".guarded"

// unguard takes away what killed kernels left in directories. The caller holds the lock.
func (t *Table) unguard(inUse map[string]bool) {
	notes, _ := filepath.Glob(filepath.Join(t.config.Directory, "*"+guardedSuffix))
	for _, note := range notes {
		if inUse[strings.TrimSuffix(filepath.Base(note), guardedSuffix)] {
			continue
		}
		directory, err := os.ReadFile(note)
		if err == nil && filepath.IsAbs(string(directory)) {
			sandbox.Unguard(string(directory))
		}
		_ = os.Remove(note) // what cannot be read leads nowhere
	}
}

// running counts those that run. The caller holds the lock.
func (t *Table) running() int {
	n := 0
	for _, c := range t.commands {
		if c.running() {
			n++
		}
	}
	return n
}

// Running is how many commands run; a nil table has none.
func (t *Table) Running() int {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running()
}

// newID is a name for a command that nobody guesses.
func newID() (string, error) {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("name the command: %w", err)
	}
	return "run-" + hex.EncodeToString(b[:]), nil
}

// validID is how the names of commands are written.
var validID = regexp.MustCompile(`^run-[0-9a-f]{8}$`)

// file is where the output of a conversation's command is. Its name begins with the
// conversation's, so that no other finds it.
func (t *Table) file(session, id string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(t.config.Directory, hex.EncodeToString(sum[:8])+"."+id)
}

// List returns the conversation's commands, the latest first.
func (t *Table) List(session string) []Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Report
	for _, c := range slices.Backward(t.commands) {
		if c.request.Session == session {
			all = append(all, c.report())
		}
	}
	return all
}

// ErrUnknown: the conversation has no such command.
var ErrUnknown = protocol.ToolErrorf(protocol.ToolNotFound, "this conversation has no such command: list shows those there are")

func (t *Table) find(session, id string) (*command, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.commands {
		if c.id == id && c.request.Session == session {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%q: %w", id, ErrUnknown)
}

// Find returns what is known of a command.
func (t *Table) Find(session, id string) (Report, error) {
	c, err := t.find(session, id)
	if err != nil {
		return Report{}, err
	}
	return c.report(), nil
}

// Output reads what a command wrote, from a byte on, into b. kept is how much there is.
func (t *Table) Output(session, id string, from int64, b []byte) (n int, kept int64, err error) {
	if !validID.MatchString(id) {
		return 0, 0, fmt.Errorf("%q: %w", id, ErrUnknown)
	}
	file, err := os.Open(t.file(session, id))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, fmt.Errorf("%q: %w", id, ErrUnknown)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read what the command wrote: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, 0, fmt.Errorf("read what the command wrote: %w", err)
	}
	if from < 0 || from > info.Size() {
		return 0, info.Size(), protocol.ToolErrorf(protocol.ToolArguments, "it wrote %d bytes: :from is no more than that", info.Size())
	}
	n, err = file.ReadAt(b[:min(int64(len(b)), info.Size()-from)], from)
	if err != nil {
		return 0, 0, fmt.Errorf("read what the command wrote: %w", err)
	}
	return n, info.Size(), nil
}

// Write writes to a command that runs. end ends its input, as far as it is no terminal.
func (t *Table) Write(ctx context.Context, session, id, text string, end bool) (Report, error) {
	c, err := t.find(session, id)
	if err != nil {
		return Report{}, err
	}
	if err := c.write(ctx, text, end); err != nil {
		return c.report(), err
	}
	return c.report(), nil
}

// Stop asks a command to end, and ends it if it does not.
func (t *Table) Stop(ctx context.Context, session, id string) (Report, error) {
	c, err := t.find(session, id)
	if err != nil {
		return Report{}, err
	}
	c.stop(ctx, "as it was told to")
	<-c.ended
	return c.report(), nil
}

// Prune throws away the output that is old, and the oldest of what is too much, and what killed
// kernels left in directories. What cannot be looked at is left.
func (t *Table) Prune() {
	t.mu.Lock()
	inUse := map[string]bool{}
	for _, c := range t.commands {
		if c.running() {
			inUse[filepath.Base(t.file(c.request.Session, c.id))] = true
		}
	}
	t.unguard(inUse)
	t.mu.Unlock()
	entries, _ := os.ReadDir(t.config.Directory)
	var files []fs.FileInfo
	total := int64(0)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && !strings.HasSuffix(entry.Name(), guardedSuffix) {
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, file := range files {
		if old := time.Since(file.ModTime()) > pastAge; !inUse[file.Name()] && (old || total > pastLimit) {
			_ = os.Remove(filepath.Join(t.config.Directory, file.Name()))
			total -= file.Size()
		}
	}
}
