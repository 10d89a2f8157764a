package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// conversationFile is the Org file of one session. It is changed only while no client keeps it, and
// one change is made at a time. Text that other programs wrote into the file stays.
type conversationFile struct {
	session *Session

	mu     sync.Mutex // held while the file is changed or moved
	failed string     // the error of the last write, "" if it succeeded
	retry  bool       // a goroutine tries again
}

// path returns where the file is, "" if conversations are not kept in files.
func (f *conversationFile) path() string {
	return f.session.sessions.directory.file(f.session.name())
}

// write adds the turns and acts of the journal that the file never had, in the order of the turns,
// and changes no other byte of it. An error is logged and reported once, and a goroutine tries again until
// the file can be written.
func (f *conversationFile) write(ctx context.Context) {
	f.writeWhere(ctx, true)
}

// writeUnkept writes the file if no client keeps it.
func (f *conversationFile) writeUnkept(ctx context.Context) { f.writeWhere(ctx, false) }

// writeWhere writes the file, if kept is false only where no client keeps it.
func (f *conversationFile) writeWhere(ctx context.Context, kept bool) {
	if f.path() == "" || f.attempt(ctx, kept) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.retry {
		return
	}
	f.session.hold()
	f.retry = f.session.sessions.start(func() {
		defer f.session.release()
		f.writeAgain(f.session.sessions.ctx)
	})
	if !f.retry {
		f.session.release()
	}
}

// attempt writes the file, and reports whether it could. With kept false it leaves that to a client that
// keeps the file. None begins to keep it meanwhile: the lock is held for that, see [Session.attach].
func (f *conversationFile) attempt(ctx context.Context, kept bool) bool {
	ctx = context.WithoutCancel(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !kept && f.session.viewers.hasKeeper() {
		f.tell(nil)
		return true
	}
	err := f.add(ctx)
	for tries := 0; tries < 3 && errors.Is(err, atomicfile.ErrChanged); tries++ {
		err = f.add(ctx) // another program saved the file meanwhile: its text stays
	}
	f.tell(err)
	return err == nil
}

// tell reports an error of the file, and that there is none any more, once each.
func (f *conversationFile) tell(err error) {
	said := ""
	if err != nil {
		said = err.Error()
	}
	if said == f.failed {
		return
	}
	report, subject := f.session.sessions.config.Report, "the conversation "+f.session.name()
	if f.failed = said; err == nil {
		f.session.logger().Info("conversation file written again")
		report(subject, nil)
		f.session.viewers.broadcast(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelInfo, Text: "the file of this conversation is written again"})
		return
	}
	f.session.logger().Error("conversation file not written", "err", err)
	report(subject, []string{fmt.Sprintf("%v; nothing is lost: the journal has the conversation, and the file gets it when it can be written", err)})
}

const retryFirst, retryMost = time.Second, 30 * time.Second // between attempts to write a file

// writeAgain writes the file as soon as that is possible, or leaves that to a client that keeps it by then.
func (f *conversationFile) writeAgain(ctx context.Context) {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.retry = false
	}()
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if f.attempt(ctx, false) {
			return
		}
	}
}

// journal returns the journal of the sessions.
func (f *conversationFile) journal() Journal { return f.session.sessions.config.Journal }

// add writes the turns and acts that the file lacks, in one attempt. The caller holds the lock.
func (f *conversationFile) add(ctx context.Context) error {
	turns, acts, err := f.journal().Turns.Unsaved(ctx, f.session.name())
	if err != nil || len(turns)+len(acts) == 0 {
		return err
	}
	if err := f.session.sessions.config.replaceClosedAsks(ctx, acts); err != nil {
		return err
	}
	path := f.path()
	if err := atomicfile.Mend(path); err != nil {
		return fmt.Errorf("keep the conversation: %w", err)
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the conversation: %w", err)
	}
	text := growingText{string(old), len(old)}
	held := idsIn(text.text)
	for _, t := range turns {
		if subtree := questionSubtree(t); subtree != "" && !held[t.Event] {
			text.insert(questionInsertion(text.text, t.Parent, subtree))
		}
	}
	for _, a := range acts {
		if !held[a.ID] {
			text.insert(f.actInsertion(ctx, text.text, a))
		}
	}
	if err := text.write(path, old); err != nil {
		return err
	}
	return f.markSaved(ctx, turns, acts)
}

// growingText is a text with insertions.
type growingText struct {
	text  string
	first int // the offset of the first change
}

func (g *growingText) insert(i org.Insertion) {
	g.text, g.first = i.Apply(g.text), min(g.first, i.Offset)
}

const (
	spliceMinimum = 1 << 20   // a file of this size in bytes is spliced
	spliceLimit   = 256 << 10 // if its changed end is at most this size
)

// write writes the text to the file. It writes only the changed end of a large file.
func (g *growingText) write(path string, old []byte) error {
	end := g.text[g.first:]
	switch {
	case len(g.text) == len(old):
		return nil
	case len(old) < spliceMinimum || len(end) > spliceLimit:
		return replaceFile(path, old, g.text)
	}
	if err := atomicfile.Splice(path, old, g.first, []byte(end)); err != nil {
		return fmt.Errorf("keep the conversation: %w", err)
	}
	return nil
}

// questionInsertion inserts a question at the end of its parent's subtree. If the text does not have
// the parent, it inserts the question before the draft.
func questionInsertion(text, parent, subtree string) org.Insertion {
	if insertion, ok := org.InsertUnder(text, parent, subtree); ok {
		return insertion
	}
	return org.InsertBeforeDraft(text, subtree)
}

// actInsertion inserts an answer below its question. If the text does not have the question, it
// inserts the answer before the draft, under a heading with the words of the question.
func (f *conversationFile) actInsertion(ctx context.Context, text string, a journal.Act) org.Insertion {
	if insertion, ok := org.InsertUnder(text, a.Event, a.Text); ok {
		return insertion
	}
	subtree := a.Text
	if turn, err := f.journal().Turns.Turn(ctx, a.Turn); err == nil && headingWords(turn) != "" {
		subtree = org.ReHeading(turn.Question.Text) + subtree
	}
	return org.InsertBeforeDraft(text, subtree)
}

// flush waits until what a client saved is on the disk. Emacs does not wait for that, and a text that the
// journal calls saved must not be missing after a loss of power. A client may keep a file that is elsewhere.
func (f *conversationFile) flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := f.path()
	if path == "" {
		return nil
	}
	err := atomicfile.Flush(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// torn reports whether a text looks like what a loss of power leaves of a file that was being saved: nothing,
// zeros, or its first sectors. Such a file says nothing of what a person removed.
func torn(text string) bool {
	const sector = 512
	return text == "" || strings.IndexByte(text, 0) >= 0 ||
		len(text)%sector == 0 && !strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\n* ")
}

// removedByPerson returns a function that reports whether an id that was saved in the file is not in it
// any more, because a person removed it. It reports false if there is no file, or if the power was lost while
// it was saved. It reads the file, which may be large, at its first call, in the caller's goroutine.
func (f *conversationFile) removedByPerson() func(id string) bool {
	var ids map[string]bool
	missing, read := false, false
	return func(id string) bool {
		if !read {
			source, err := os.ReadFile(f.path())
			missing, read, ids = err != nil || torn(string(source)), true, idsIn(string(source))
		}
		return !missing && !ids[id]
	}
}

// idsIn returns every :ID: that has a line of its own.
func idsIn(text string) map[string]bool {
	const key = ":ID:"
	ids := map[string]bool{}
	for at := 0; ; {
		next := strings.Index(text[at:], key)
		if next < 0 {
			return ids
		}
		start := strings.LastIndexByte(text[:at+next], '\n') + 1
		line, _, _ := strings.Cut(text[start:], "\n")
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), key); ok {
			ids[strings.TrimSpace(value)] = true
		}
		at = start + len(line)
	}
}

// markSaved records in the journal that the file has these turns and acts.
func (f *conversationFile) markSaved(ctx context.Context, turns []journal.Turn, acts []journal.Act) error {
	for _, t := range turns {
		if err := f.journal().Turns.MarkQuestionSaved(ctx, t.Event); err != nil {
			return err
		}
	}
	for _, a := range acts {
		if err := f.journal().Acts.MarkSaved(ctx, a.ID); err != nil {
			return err
		}
	}
	return nil
}

// replaceFile replaces the text of a conversation's file. old is empty for a new file, which only the
// person can read. An existing file keeps its mode.
func replaceFile(path string, old []byte, text string) error {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = atomicfile.Replace(path, old, []byte(text), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the conversation: %w", err)
	}
	return nil
}

// sentence returns text, or otherwise if it is empty, as a sentence.
func sentence(text, otherwise string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		text = otherwise
	}
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
