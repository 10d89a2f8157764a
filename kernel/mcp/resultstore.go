package mcp

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// The limits of the result store. Results that are too old, or beyond the size, are removed, the
// oldest first.
const (
	storeBytes = 256 << 20
	storeAge   = 7 * 24 * time.Hour
)

// resultStore stores results in files of a directory. The name of a text's file begins with that of
// the conversation, so that no other conversation finds it.
type resultStore struct{ directory string }

// resultID matches the ids of texts.
var resultID = regexp.MustCompile(`^mcp-[0-9a-f]{16}$`)

// text stores the text of a result, and returns its id.
func (s resultStore) text(in tool.Conversation, text string) (id string, err error) {
	if id, err = newName("mcp-"); err != nil {
		return "", err
	}
	return id, s.write(in.Key()+"."+id, []byte(text))
}

// file stores data that is not text, and returns its path.
func (s resultStore) file(extension string, data []byte) (path string, err error) {
	name, err := newName("file-")
	if err != nil {
		return "", err
	}
	return filepath.Join(s.directory, name+extension), s.write(name+extension, data)
}

func newName(prefix string) (string, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("name what is kept: %w", err)
	}
	return prefix + hex.EncodeToString(b[:]), nil
}

func (s resultStore) write(name string, data []byte) error {
	err := os.MkdirAll(s.directory, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(s.directory, name), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the whole of the result: %w", err)
	}
	s.prune(time.Now())
	return nil
}

// Result returns the whole text of a result. The result has to belong to the conversation in;
// otherwise the error has the code [protocol.ToolNotFound]. found is false for an id of another
// form.
func (h *Servers) Result(_ context.Context, in tool.Conversation, id string) (text string, found bool, err error) {
	if !resultID.MatchString(id) {
		return "", false, nil
	}
	content, err := os.ReadFile(filepath.Join(h.config.Directory, in.Key()+"."+id))
	if errors.Is(err, fs.ErrNotExist) {
		return "", true, protocol.ToolErrorf(protocol.ToolNotFound, "there is no result %s of this conversation, or it was kept longer ago than a week", id)
	}
	if err != nil {
		return "", true, fmt.Errorf("read the result: %w", err)
	}
	return string(content), true, nil
}

// prune removes the files that are beyond the limits. It leaves a file that cannot be examined.
func (s resultStore) prune(now time.Time) {
	entries, _ := os.ReadDir(s.directory)
	var files []fs.FileInfo
	total := int64(0)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, file := range files {
		if now.Sub(file.ModTime()) > storeAge || total > storeBytes {
			_ = os.Remove(filepath.Join(s.directory, file.Name()))
			total -= file.Size()
		}
	}
}
