package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"org-agent/kernel/protocol"
)

// maximumChanged is the maximum size of a file that is changed or made, in bytes.
const maximumChanged = 16 << 20

// open opens the regular file at a resolved path. It refuses a path that contains a link now, and
// never blocks on a special file.
func open(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, nil, systemError(path, err)
	}
	if err := regular(path, info.Mode()); err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, systemError(path, err)
	}
	opened, err := file.Stat()
	if err == nil {
		err = regular(path, opened.Mode())
	}
	if err == nil {
		err = checkSame(path, opened)
	}
	if err != nil {
		file.Close() // the file was only read
		return nil, nil, err
	}
	return file, opened, nil
}

// checkSame checks that the path still leads to that file, without links.
func checkSame(path string, info fs.FileInfo) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return systemError(path, err)
	}
	if now, err := os.Lstat(path); err != nil || real != path || !os.SameFile(now, info) {
		return protocol.ToolErrorf(protocol.ToolChanged, "%s leads to another file than it did when that was judged; make the call again", path)
	}
	return nil
}

// regular returns an error for a file that is not regular. The error says what the file is.
func regular(path string, mode fs.FileMode) error {
	kind := "a special file"
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeSymlink != 0:
		return protocol.ToolErrorf(protocol.ToolChanged, "%s has become a link; make the call again", path)
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return protocol.ToolErrorf(protocol.ToolUnfit, "%s is %s and no file", path, kind)
}

// IsDirectory reports whether a resolved path is a directory.
func IsDirectory(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// Whole returns the content of a file that is small enough to be changed.
func Whole(ctx context.Context, path string) ([]byte, error) {
	file, info, err := open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the file is only read
	tooLarge := protocol.ToolErrorf(protocol.ToolTooLarge, "%s has %d bytes; files of more than %d MiB are not changed here", path, info.Size(), maximumChanged>>20)
	if info.Size() > maximumChanged {
		return nil, tooLarge
	}
	content, err := io.ReadAll(io.LimitReader(contextReader{ctx, file}, maximumChanged+1))
	switch {
	case err != nil:
		return nil, systemError(path, err)
	case len(content) > maximumChanged: // it grew
		return nil, tooLarge
	}
	return content, nil
}

// Hash returns a text that identifies a content.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	return shortHash(sum[:])
}

// Digest returns a hash of a file's whole content, and its size. The hash distinguishes any two contents. A file of more than
// limit bytes is an error.
func Digest(ctx context.Context, path string, limit int64) (hash string, size int64, err error) {
	file, info, err := open(path)
	if err != nil {
		return "", 0, err
	}
	defer file.Close() // the file is only read
	sum := sha256.New()
	if info.Size() <= limit {
		size, err = io.Copy(sum, io.LimitReader(contextReader{ctx, file}, limit+1))
	}
	switch {
	case err != nil:
		return "", 0, systemError(path, err)
	case info.Size() > limit || size > limit:
		return "", 0, protocol.ToolErrorf(protocol.ToolTooLarge, "it has %d bytes, more than the %d that can be sent", max(size, info.Size()), limit)
	}
	return hex.EncodeToString(sum.Sum(nil)), size, nil
}

// shortHash returns a hash that a model can repeat. It distinguishes contents unless somebody
// constructed equal ones on purpose.
func shortHash(sum []byte) string { return hex.EncodeToString(sum[:8]) }

// contextReader is a reader that stops when its context ends.
type contextReader struct {
	ctx    context.Context
	reader io.Reader
}

func (a contextReader) Read(p []byte) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, fmt.Errorf("stopped: %w", err)
	}
	return a.reader.Read(p)
}

// contextReaderAt is a file whose reads fail when its context ends.
type contextReaderAt struct {
	ctx  context.Context
	file io.ReaderAt
}

func (a contextReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, fmt.Errorf("stopped: %w", err)
	}
	return a.file.ReadAt(p, at)
}
