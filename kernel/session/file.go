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
	failed bool       // the last write failed, and clients were notified
}

// path returns where the file is, "" if conversations are not kept in files.
func (f *conversationFile) path() string {
	return f.session.sessions.directory.file(f.session.name())
}

// write adds the turns and acts of the journal that the file never had, in the order of the turns,
// and changes no other byte of it. An error is logged, and clients are notified of it once.
func (f *conversationFile) write(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if f.path() == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.add(ctx)
	for tries := 0; tries < 3 && errors.Is(err, atomicfile.ErrChanged); tries++ {
		err = f.add(ctx) // another program saved the file meanwhile: what it wrote stays
	}
	if err != nil {
		f.session.logger().Error("conversation file not written", "err", err)
	}
	if err != nil && !f.failed {
		f.session.viewers.broadcast(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn,
			Text: fmt.Sprintf("%v; nothing is lost: the journal has the conversation, and the file gets it when it can be written", err)})
	}
	f.failed = err != nil
}

// journal returns the journal of the sessions.
func (f *conversationFile) journal() Journal { return f.session.sessions.config.Journal }

// writeUnkept writes the file if no client keeps it.
func (f *conversationFile) writeUnkept(ctx context.Context) {
	if !f.session.viewers.keepFile() {
		f.write(ctx)
	}
}

// add writes what the file lacks, once. The caller holds the lock.
func (f *conversationFile) add(ctx context.Context) error {
	turns, acts, err := f.journal().Turns.Unsaved(ctx, f.session.name())
	if err != nil || len(turns)+len(acts) == 0 {
		return err
	}
	if err := present(ctx, f.journal(), acts); err != nil {
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
	text := grown{string(old), len(old)}
	held := idsIn(text.now)
	for _, t := range turns {
		if subtree := questionSubtree(t); subtree != "" && !held[t.Event] {
			text.put(questionPlace(text.now, t.Parent, subtree))
		}
	}
	for _, a := range acts {
		if !held[a.ID] {
			text.put(f.actPlace(ctx, text.now, a))
		}
	}
	if err := text.write(path, old); err != nil {
		return err
	}
	return f.markSaved(ctx, turns, acts)
}

// grown is a text that something is put into.
type grown struct {
	now   string
	first int // of now, what stands before it was not changed
}

func (g *grown) put(i org.Insertion) {
	g.now, g.first = i.Apply(g.now), min(g.first, i.Offset)
}

const (
	largeFile = 1 << 20   // of a file of so many bytes, what does not change is not written again
	shortEnd  = 256 << 10 // if no more than this does
)

// write makes it the content of the file.
func (g *grown) write(path string, old []byte) error {
	end := g.now[g.first:]
	switch {
	case len(g.now) == len(old):
		return nil
	case len(old) < largeFile || len(end) > shortEnd:
		return replaceFile(path, string(old), g.now)
	}
	if err := atomicfile.Splice(path, old, g.first, []byte(end)); err != nil {
		return fmt.Errorf("keep the conversation: %w", err)
	}
	return nil
}

// questionPlace is a question at the end of what stands below its parent, if the text has
// that, or before the draft.
func questionPlace(text, parent, subtree string) org.Insertion {
	if insertion, ok := org.InsertUnder(text, parent, subtree); ok {
		return insertion
	}
	return org.InsertBeforeDraft(text, subtree)
}

// actPlace is an answer under its question; without the question's heading, before the
// draft under a heading that says what it answers.
func (f *conversationFile) actPlace(ctx context.Context, text string, a journal.Act) org.Insertion {
	if insertion, ok := org.InsertUnder(text, a.Event, a.Text); ok {
		return insertion
	}
	subtree := a.Text
	if turn, err := f.journal().Turns.Turn(ctx, a.Turn); err == nil && words(turn) != "" {
		subtree = org.ReHeading(turn.Question.Text) + subtree
	}
	return org.InsertBeforeDraft(text, subtree)
}

// removedByHand tells whether an id that was once in the file is not there any
// more: a person took it out. A file that is missing altogether says nothing. The file,
// which may be large, is read at the first question, in the caller's goroutine.
func (f *conversationFile) removedByHand() func(id string) bool {
	var ids map[string]bool
	missing, read := false, false
	return func(id string) bool {
		if !read {
			source, err := os.ReadFile(f.path())
			missing, read, ids = err != nil, true, idsIn(string(source))
		}
		return !missing && !ids[id]
	}
}

// idsIn is every :ID: that stands in a line of its own.
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

// markSaved notes in the journal that the file has these.
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

// replaceFile puts a text in the place of the old one of a conversation's file, "" for one
// that is new. A new file can only be read by the person, and keeps the mode that they give it.
func replaceFile(path, old, text string) error {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = atomicfile.Replace(path, []byte(old), []byte(text), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the conversation: %w", err)
	}
	return nil
}

// sentence makes a notice a sentence, or takes the other one.
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
