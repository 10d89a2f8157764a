package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// How often, and after which pauses, Rename looks whether a session is idle: a turn's
// end is told shortly before it is over.
const (
	idleTries = 20
	idlePause = 10 * time.Millisecond
)

// Rename gives a session another name. It moves the file and notifies the clients, which stay
// attached. It refuses with CodeConflict if a session or a file has the name, and with CodeBusy while
// a turn runs or waits; then nothing has changed. The journal first records the new name and that the
// file has not moved. If the kernel is killed before the move, the next start moves the file.
func (h *Sessions) Rename(ctx context.Context, p protocol.SessionRenameParams) (protocol.SessionRenameResult, error) {
	former := sessionOrMain(p.Session)
	if !protocol.ValidSession(p.To) {
		return protocol.SessionRenameResult{}, protocol.Errorf(protocol.CodeInvalidParams,
			"%q is not a session name: use up to %d letters, digits, blanks and . _ -, and do not begin with a dot", p.To, protocol.SessionLimit)
	}
	s, err := h.use(former)
	if err != nil {
		return protocol.SessionRenameResult{}, err
	}
	defer s.release()
	s.acceptMu.Lock() // nothing is asked meanwhile
	defer s.acceptMu.Unlock()
	if !s.awaitIdle(ctx) {
		return protocol.SessionRenameResult{}, protocol.Errorf(protocol.CodeBusy, "a turn of %s runs or waits: rename it when it has ended, or stop it", former)
	}
	s.file.mu.Lock()
	defer s.file.mu.Unlock()
	if err := h.checkExists(ctx, s); err != nil {
		return protocol.SessionRenameResult{}, err
	}
	if err := h.rename(ctx, s, p.To); err != nil {
		return protocol.SessionRenameResult{}, err
	}
	s.viewers.broadcast(protocol.MethodSessionRenamed, protocol.SessionRenamed{Session: former, To: p.To, File: h.directory.file(p.To)})
	return protocol.SessionRenameResult{Session: p.To, File: h.directory.file(p.To)}, nil
}

// awaitIdle reports whether no turn of the session runs or waits.
func (s *Session) awaitIdle(ctx context.Context) bool {
	for range idleTries {
		if !s.queue.busy() {
			return true
		}
		select {
		case <-time.After(idlePause):
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// rename changes the name in the journal, of the file and of the session, whose accept
// and file locks the caller holds. No session is opened meanwhile.
func (h *Sessions) rename(ctx context.Context, s *Session, to string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	former := s.name()
	if err := h.checkFree(ctx, to); err != nil {
		return err
	}
	renaming, err := h.config.Journal.Sessions.Rename(ctx, former, to)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err := h.moveFile(ctx, renaming); err != nil {
		back, backErr := h.config.Journal.Sessions.Rename(ctx, to, former)
		if backErr == nil {
			backErr = errors.Join(h.config.Journal.Sessions.MarkMoved(ctx, renaming.Seq), h.config.Journal.Sessions.MarkMoved(ctx, back.Seq))
		}
		return errors.Join(fmt.Errorf("not renamed: %w", err), backErr)
	}
	delete(h.open, former)
	h.open[to] = s
	s.currentName.Store(&to)
	return nil
}

// checkFree returns an error if a session or a file has the name. The caller holds the lock.
func (h *Sessions) checkFree(ctx context.Context, name string) error {
	taken := h.open[name] != nil
	if !taken {
		var err error
		if taken, err = h.config.Journal.Sessions.HasSession(ctx, name); err != nil {
			return err
		}
	}
	if taken {
		return protocol.Errorf(protocol.CodeConflict, "there is a conversation %q already: choose another name", name)
	}
	if path := h.directory.file(name); path != "" {
		if _, err := os.Lstat(path); err == nil {
			return protocol.Errorf(protocol.CodeConflict, "there is a file %s already: choose another name, or move it away", path)
		}
	}
	return nil
}

// checkExists returns an error if there is nothing to rename: no message, no client and no file.
func (h *Sessions) checkExists(ctx context.Context, s *Session) error {
	has, err := h.config.Journal.Sessions.HasSession(ctx, s.name())
	if err != nil || has || len(s.viewers.attachments()) > 0 {
		return err
	}
	if path := h.directory.file(s.name()); path != "" {
		if _, err := os.Lstat(path); err == nil {
			return nil
		}
	}
	return protocol.Errorf(protocol.CodeNotFound, "there is no conversation %q", s.name())
}

// moveFiles moves the files of the sessions whose renaming the last kernel did not complete.
func (h *Sessions) moveFiles(ctx context.Context) error {
	pending, err := h.config.Journal.Sessions.PendingMoves(ctx)
	for _, renaming := range pending {
		if err := h.moveFile(ctx, renaming); err != nil {
			h.config.Logger.Error("the file of a renamed session has its former name", "former", renaming.Former, "session", renaming.Name, "err", err)
		}
	}
	return err
}

// moveFile gives the file of a renamed session its new name, and records that in the journal.
func (h *Sessions) moveFile(ctx context.Context, r journal.Renaming) error {
	if from, to := h.directory.file(r.Former), h.directory.file(r.Name); from != "" {
		if err := move(from, to); err != nil {
			return err
		}
	}
	return h.config.Journal.Sessions.MarkMoved(ctx, r.Seq)
}

// move renames a file and never replaces one. It does nothing if the file does not exist. If the file
// has both names, because a kernel was killed during the move, it removes the first.
func move(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrExist):
		one, err := os.Lstat(from)
		if err != nil {
			return nil // it was moved already
		}
		if other, err := os.Lstat(to); err == nil && os.SameFile(one, other) {
			return os.Remove(from)
		}
		return fmt.Errorf("there are both %s and %s: move one away", from, to)
	}
	// A file system without links.
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there are both %s and %s: move one away", from, to)
	}
	return os.Rename(from, to)
}

// CurrentName returns the current name of the session that is or was called name. If no session has
// the name now, it is the last one that had it.
func (h *Sessions) CurrentName(ctx context.Context, name string) (string, error) {
	h.mu.Lock()
	open := h.open[name] != nil
	h.mu.Unlock()
	if open {
		return name, nil
	}
	if has, err := h.config.Journal.Sessions.HasSession(ctx, name); has || err != nil {
		return name, err
	}
	now, err := h.config.Journal.Sessions.NameNow(ctx, name)
	if now == "" {
		now = name
	}
	return now, err
}

// attachName returns the current name of the session of a client that knows it by name and has these
// ids. If no session of that name has one of the ids, it may be the last session that had the name.
func (h *Sessions) attachName(ctx context.Context, name string, ids []string) (string, error) {
	if len(ids) == 0 {
		return name, nil
	}
	now, err := h.config.Journal.Sessions.NameNow(ctx, name)
	if err != nil || now == "" {
		return name, err
	}
	for _, candidate := range []string{name, now} {
		known, err := h.config.Journal.Sessions.KnownIDs(ctx, candidate, ids)
		if err != nil || len(known) > 0 {
			return candidate, err
		}
	}
	return name, nil
}
