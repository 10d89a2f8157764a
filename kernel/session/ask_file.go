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

// settleUnkept settles the file if no client keeps it.
func (s *Session) settleUnkept(ctx context.Context) {
	if !s.kept() {
		s.settleFile(ctx)
	}
}

// settleFile makes each subtree of the file that shows something as waiting, and is closed,
// the heading that says so. Where a person changed the subtree their text stays, and where
// they changed the heading all of it.
func (s *Session) settleFile(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	path := s.house.file(s.name())
	if path == "" {
		return
	}
	s.fileMu.Lock()
	defer s.fileMu.Unlock()
	if err := s.settleText(ctx, path); err != nil {
		s.logger().Error("what is closed still waits in the conversation's file", "err", err)
		s.broadcast(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: err.Error()})
	}
}

func (s *Session) settleText(ctx context.Context, path string) error {
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the conversation: %w", err)
	}
	text := string(old)
	for _, id := range waitingIn(text) {
		ask, err := s.asked(ctx, id)
		if protocol.ErrorCode(err) == protocol.CodeNotFound {
			continue // a heading of somebody else
		}
		if err != nil {
			return err
		}
		if ask.closed {
			text = closeIn(text, ask.waiting, ask.subtree)
		}
	}
	if text == string(old) {
		return nil
	}
	return replaceFile(path, string(old), text)
}

// waitingHeading is a heading that waits, with the :ID: of its drawer.
var waitingHeading = regexp.MustCompile(`(?m)^\*+ TODO (?:Approve|Answer): .*\n[ \t]*:PROPERTIES:[ \t]*\n[ \t]*:ID:[ \t]+(\S+)[ \t]*$`)

// waitingIn is the ids of what a text shows as waiting.
func waitingIn(text string) []string {
	var ids []string
	for _, match := range waitingHeading.FindAllStringSubmatch(text, -1) {
		ids = append(ids, match[1])
	}
	return ids
}

// closeIn puts the closed subtree in the place of the one that waited; of one that a person
// changed only in that of the heading.
func closeIn(text, waiting, closed string) string {
	if at := lineIndex(text, waiting); at >= 0 {
		return text[:at] + closed + text[at+len(waiting):]
	}
	// The drawer has the id, so this is the heading that is meant.
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
