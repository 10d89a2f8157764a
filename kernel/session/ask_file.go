package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"org-agent/kernel/protocol"
)

// reconcileUnkept reconciles the conversation's file with the journal if no client keeps the file.
// It replaces each subtree of the file that still shows a closed ask as waiting by its closed heading. If
// a person changed the subtree, their text stays below the new heading; if they changed the heading, the
// whole subtree stays.
func (f *conversationFile) reconcileUnkept(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	path := f.path()
	if path == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.session.viewers.hasKeeper() {
		return
	}
	if err := f.reconcileText(ctx, path); err != nil {
		f.session.logger().Error("what is closed still waits in the conversation's file", "err", err)
		f.session.viewers.broadcast(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: err.Error()})
	}
}

func (f *conversationFile) reconcileText(ctx context.Context, path string) error {
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the conversation: %w", err)
	}
	text := string(old)
	for _, id := range waitingIn(text) {
		ask, err := f.session.sessions.config.readAsk(ctx, id)
		if protocol.ErrorCode(err) == protocol.CodeNotFound {
			continue // a heading that is not ours
		}
		if err != nil {
			return err
		}
		if !ask.ask.Waits() {
			text = closeIn(text, ask.waiting, ask.closed)
		}
	}
	if text == string(old) {
		return nil
	}
	return replaceFile(path, old, text)
}

// replaceUnkept replaces a subtree of the conversation's file by another one if no client keeps the file.
func (f *conversationFile) replaceUnkept(ctx context.Context, old, subtree string) {
	path := f.path()
	if path == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.session.viewers.hasKeeper() {
		return
	}
	text, err := os.ReadFile(path)
	if err == nil {
		if replaced := closeIn(string(text), old, subtree); replaced != string(text) {
			err = replaceFile(path, text, replaced)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.session.logger().ErrorContext(ctx, "the conversation's file does not say what was undone", "err", err)
	}
}

// waitingHeading matches a heading that shows a waiting ask, with the :ID: of its drawer. Conversations
// from before 26 November 2026 have "Approve: ".
var waitingHeading = regexp.MustCompile(`(?m)^\*+ TODO (?:Approve: |May I |Answer: ).*\n[ \t]*:PROPERTIES:[ \t]*\n[ \t]*:ID:[ \t]+(\S+)[ \t]*$`)

// waitingIn returns the ids of the asks that a text shows as waiting.
func waitingIn(text string) []string {
	var ids []string
	for _, match := range waitingHeading.FindAllStringSubmatch(text, -1) {
		ids = append(ids, match[1])
	}
	return ids
}

// closeIn replaces the waiting subtree by the closed one. If a person changed the subtree, only
// its heading and drawer are replaced.
func closeIn(text, waiting, closed string) string {
	if at := lineIndex(text, waiting); at >= 0 {
		return text[:at] + closed + text[at+len(waiting):]
	}
	// The drawer has the id, so this is the right heading.
	before := drawer(waiting)
	if at := lineIndex(text, before); at >= 0 {
		return text[:at] + closed + text[at+len(before):]
	}
	return text
}

// drawer is a subtree's heading with the drawer below it.
func drawer(subtree string) string {
	const end = ":END:\n"
	if at := strings.Index(subtree, end); at >= 0 {
		return subtree[:at+len(end)]
	}
	return subtree
}

// lineIndex finds whole lines in a text.
func lineIndex(text, lines string) int {
	if strings.HasPrefix(text, lines) {
		return 0
	}
	if at := strings.Index(text, "\n"+lines); at >= 0 {
		return at + 1
	}
	return -1
}
