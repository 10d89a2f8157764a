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

// What is kept of results, and for how long.
const (
	keptBytes = 256 << 20
	keptAge   = 7 * 24 * time.Hour
)

// kept is the files of what results held. The name of one begins with the conversation's, so that
// no other finds it.
type kept struct{ directory string }

// keptName is how the ids of kept texts are written.
var keptName = regexp.MustCompile(`^mcp-[0-9a-f]{16}$`)

// text keeps the whole of a result and returns its id.
func (k kept) text(ctx context.Context, text string) (id string, err error) {
	if id, err = newName("mcp-"); err != nil {
		return "", err
	}
	return id, k.write(tool.SessionOf(ctx)+"."+id, []byte(text))
}

// file keeps what is no text, and returns its path.
func (k kept) file(extension string, data []byte) (path string, err error) {
	name, err := newName("file-")
	if err != nil {
		return "", err
	}
	return filepath.Join(k.directory, name+extension), k.write(name+extension, data)
}

func newName(prefix string) (string, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("name what is kept: %w", err)
	}
	return prefix + hex.EncodeToString(b[:]), nil
}

func (k kept) write(name string, data []byte) error {
	err := os.MkdirAll(k.directory, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(k.directory, name), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the whole of the result: %w", err)
	}
	k.prune(time.Now())
	return nil
}

// Result is the whole of a result of a call that was made in the same conversation; found is false
// for an id that is none of ours.
func (h *Servers) Result(ctx context.Context, id string) (text string, found bool, err error) {
	if !keptName.MatchString(id) {
		return "", false, nil
	}
	content, err := os.ReadFile(filepath.Join(h.config.Directory, tool.SessionOf(ctx)+"."+id))
	if errors.Is(err, fs.ErrNotExist) {
		return "", true, protocol.ToolErrorf(protocol.ToolNotFound, "there is no result %s of this conversation, or it was kept longer ago than a week", id)
	}
	if err != nil {
		return "", true, fmt.Errorf("read the result: %w", err)
	}
	return string(content), true, nil
}

// prune throws away what is old, and the oldest of what is too much. What cannot be looked at is
// left.
func (k kept) prune(now time.Time) {
	entries, _ := os.ReadDir(k.directory)
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
		if now.Sub(file.ModTime()) > keptAge || total > keptBytes {
			_ = os.Remove(filepath.Join(k.directory, file.Name()))
			total -= file.Size()
		}
	}
}
