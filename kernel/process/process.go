// Package process runs the commands of conversations. Each runs in the fence of package sandbox,
// and its output goes into a file of its own. [Table.Run] waits for a command. [Table.Start] leaves
// it running: the conversation that started it can read its output, write to it and stop it.
// Closing the table ends all commands and waits for them.
//
// A conversation knows only its own commands. Their output can be read for a week, also after the
// kernel was restarted. A [Table] is safe for many goroutines.
package process

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/cover"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/wayout"
)

// Config configures a [Table]. Kind and Directory are required.
type Config struct {
	// Kind returns the kind of the fence. It is called before the first command and may block.
	Kind func() sandbox.Kind
	// Directory is where the output is stored. It is made when the first command runs.
	Directory string
	// Home, Hidden and Environment are as in [sandbox.Command]. Shown returns what Shown is there for
	// a command that starts now. nil: nothing.
	Home        string
	Hidden      []string
	Shown       func() []string
	Environment func(string) string
	// Cover finds what commands do not see of a directory. nil: they see all.
	Cover *cover.Finder
	// Dial connects commands that have the network to servers. nil: they reach none.
	Dial wayout.Dial
	// Warn tells the person what a command made in a directory that other programs obey. It is
	// called while the command runs, when it has ended, and after a kernel was killed while the
	// command ran. nil: nobody is told.
	Warn func(directory, text string)
}

// Request describes a command to run.
type Request struct {
	Session   string // the conversation
	Command   string
	Directory string // "" for an empty one of its own
	Writes    bool   // it may change what is in Directory
	Network   bool
	Secrets   bool // it sees files that may hold keys, and text that is withheld from models
	Terminal  bool // it gets a terminal, if it is started by [Table.Start]
}

// Report is the state of a command.
type Report struct {
	ID        string
	Command   string
	Directory string
	Running   bool
	Took      time.Duration // until now, if it still runs
	// Outcome is how the command ended. Stopped is why it was stopped, or "".
	Outcome sandbox.Outcome
	Stopped string
	Bytes   int64 // how many bytes the command wrote
	Stored  int64 // how many of them are stored: the first ones
	// Covered are the files in its directory that it did not see as they are.
	Covered []cover.File
	// Left is what the command left that other programs obey. It is set when the command has ended.
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

// The limits of a table.
const (
	runLimit  = 16       // commands that run
	keptLimit = 200      // commands that have ended and are still listed
	byteLimit = 64 << 20 // of one command's output
	pastLimit = 512 << 20
	pastAge   = 7 * 24 * time.Hour
)

// grace is how long a command that is asked to end may take before it is killed.
const grace = 2 * time.Second

// Table holds the commands of a kernel.
type Table struct {
	config Config
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu       sync.Mutex
	commands []*command       // the oldest first
	sweeper  *sandbox.Sweeper // nil until a command writes in a directory
}

// New returns a table without commands. The caller must close it.
func New(c Config) *Table {
	t := &Table{config: c}
	t.ctx, t.cancel = context.WithCancel(context.Background()) // until the table is closed
	return t
}

// Kind returns the kind of the fence in which commands run.
func (t *Table) Kind() sandbox.Kind { return t.config.Kind() }

// Close ends all commands and waits until they have ended.
func (t *Table) Close() {
	t.cancel()
	t.work.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sweeper != nil {
		_ = t.sweeper.Close() // it has nothing to do
	}
}

// sweep starts the process that cleans up after commands if this one is killed. The caller holds the lock.
func (t *Table) sweep(kind sandbox.Kind) (err error) {
	if t.sweeper != nil || !kind.Fenced() {
		return nil
	}
	t.sweeper, err = sandbox.StartSweeper(filepath.Join(t.config.Directory, "*"+noteSuffix))
	return err
}

// Check returns why a command cannot be granted its directory, or nil.
func (t *Table) Check(r Request) error { return t.sandboxed(r).Check() }

func (t *Table) sandboxed(r Request) sandbox.Command {
	var shown []string
	if t.config.Shown != nil {
		shown = t.config.Shown()
	}
	return sandbox.Command{
		Text: r.Command, Directory: r.Directory, Writes: r.Writes, Network: r.Network, Terminal: r.Terminal,
		Home: t.config.Home, Hidden: t.config.Hidden, Shown: shown, Environment: t.config.Environment,
	}
}

// Covered returns what a command in a fence does not see of its directory.
func (t *Table) Covered(ctx context.Context, directory string) cover.Found {
	if t.config.Cover == nil || directory == "" || !t.Kind().Fenced() {
		return cover.Found{Whole: true}
	}
	return t.config.Cover.Look(ctx, directory)
}

// Run runs a command until it ends or its time is over. If ctx ends, the command is ended and the
// error is that of ctx.
func (t *Table) Run(ctx context.Context, r Request, most time.Duration) (Report, error) {
	r.Terminal = false
	c, err := t.start(ctx, r, false)
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

// Start starts a command and leaves it running. It returns after half a second, or earlier if the
// command has ended.
func (t *Table) Start(ctx context.Context, r Request) (Report, error) {
	c, err := t.start(ctx, r, true)
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

// start starts a command. If takesInput is true, the conversation can write to it.
func (t *Table) start(ctx context.Context, r Request, takesInput bool) (*command, error) {
	kind := t.config.Kind()
	covered := t.Covered(ctx, r.Directory).Of(r.Secrets)
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
	if r.Writes {
		if err := t.sweep(kind); err != nil {
			return nil, err
		}
	}
	c := &command{id: id, request: r, covered: covered, began: time.Now(), ended: make(chan struct{})}
	var reported sandbox.Left // written while the command runs, read when it has ended
	boxed := t.sandboxed(r)
	for _, file := range covered {
		boxed.Covered = append(boxed.Covered, sandbox.Cover{Path: file.Path, Directory: file.Directory, Text: file.Text})
	}
	if t.config.Dial != nil {
		boxed.WayOut = func(l net.Listener) { _ = wayout.Serve(t.ctx, l, t.config.Dial) } // the command sees that nobody answers
	}
	boxed.Note = t.file(r.Session, id) + noteSuffix
	boxed.Found = func(found sandbox.Left) {
		reported = reported.With(found)
		t.warn(r.Directory, "A command that runs in %s made something that other programs obey. %s", found)
	}
	if err := c.start(t.ctx, kind, boxed, t.file(r.Session, id), takesInput); err != nil {
		return nil, err
	}
	t.work.Go(func() {
		c.follow()
		t.warn(r.Directory, "A command in %s has ended. %s", c.process.Left().Without(reported))
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

// warn tells the person what was left in a directory, if anything.
func (t *Table) warn(directory, format string, left sandbox.Left) {
	if t.config.Warn != nil && !left.Empty() {
		t.config.Warn(directory, fmt.Sprintf(format, directory, left))
	}
}

// noteSuffix ends the name of a command's note, which [Table.Recover] reads. The note exists while
// the command runs. If it still exists when a kernel starts, an earlier kernel was killed.
const noteSuffix = ".guarded"

// Recover finishes the commands that ran when an earlier kernel was killed. It scans their
// directories, puts aside what git would run there, removes the placeholders, and warns the person.
// Only the kernel that holds the home may call it, and before its first command, so that no command
// sees a directory that was not scanned.
func (t *Table) Recover() error {
	notes, _ := filepath.Glob(filepath.Join(t.config.Directory, "*"+noteSuffix)) // the pattern is sound
	var faults []error
	for _, note := range notes {
		directory, left, err := sandbox.Recover(note)
		t.warn(directory, "The kernel was killed while a command ran in %s. %s", left)
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// running returns how many commands run. The caller holds the lock.
func (t *Table) running() int {
	n := 0
	for _, c := range t.commands {
		if c.running() {
			n++
		}
	}
	return n
}

// Running returns how many commands run. A nil table has none.
func (t *Table) Running() int {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running()
}

// newID returns a random name for a command.
func newID() (string, error) {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("name the command: %w", err)
	}
	return "run-" + hex.EncodeToString(b[:]), nil
}

// validID matches the names of commands.
var validID = regexp.MustCompile(`^run-[0-9a-f]{8}$`)

// file returns the path of the output of a command. The name contains a hash of the conversation,
// so that no other conversation finds it.
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

// ErrUnknown is the error for a command that the conversation does not have.
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

// Find returns the state of a command.
func (t *Table) Find(session, id string) (Report, error) {
	c, err := t.find(session, id)
	if err != nil {
		return Report{}, err
	}
	return c.report(), nil
}

// Output reads the output of a command into b, beginning at byte from. stored is the size of the
// stored output.
func (t *Table) Output(session, id string, from int64, b []byte) (n int, stored int64, err error) {
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

// Write writes to a running command. If end is true, it closes the command's input, unless that is
// a terminal.
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

// Stop asks a command to end, and kills it if it does not. It waits until the command has ended.
func (t *Table) Stop(ctx context.Context, session, id string) (Report, error) {
	c, err := t.find(session, id)
	if err != nil {
		return Report{}, err
	}
	c.stop(ctx, "as it was told to")
	<-c.ended
	return c.report(), nil
}

// Prune deletes stored output that is old, and then the oldest until the rest is within the limit.
// It skips files that it cannot read.
func (t *Table) Prune() {
	t.mu.Lock()
	inUse := map[string]bool{}
	for _, c := range t.commands {
		if c.running() {
			inUse[filepath.Base(t.file(c.request.Session, c.id))] = true
		}
	}
	t.mu.Unlock()
	entries, _ := os.ReadDir(t.config.Directory)
	var files []fs.FileInfo
	total := int64(0)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && !strings.HasSuffix(entry.Name(), noteSuffix) {
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
