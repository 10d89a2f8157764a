package router

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// The limits of what is kept of the files of a message.
const (
	filesLimit   = 10
	fileLimit    = 25 << 20 // bytes of one
	fetchTimeout = 2 * time.Minute
)

// Keeper keeps the files of messages in a directory, each content once. They keep their names in the journal; in the
// directory they are called by what they contain. Nothing is unpacked, and nothing is opened by what its name says.
type Keeper struct {
	Directory string
}

// keep fetches and keeps the files of a message. One that cannot be kept says why.
func (k Keeper) keep(ctx context.Context, files []channel.Attachment) []journal.Attachment {
	var all []journal.Attachment
	for i, f := range files {
		a := journal.Attachment{Name: fileName(f.Name), Media: text.PlainLine(f.Media, 80), Size: max(f.Size, 0), Voice: f.Voice}
		var err error
		switch {
		case i >= filesLimit:
			err = fmt.Errorf("a message keeps at most %d files", filesLimit)
		case f.Size > fileLimit:
			err = fmt.Errorf("it has %d bytes, and at most %d are kept", f.Size, fileLimit)
		case f.Open == nil:
			err = errors.New("the chat does not give it away")
		default:
			err = k.fetch(ctx, f, &a)
		}
		if err != nil {
			a.Fault = text.Line(err.Error())
		}
		all = append(all, a)
	}
	return all
}

// fetch fetches a file into the directory.
func (k Keeper) fetch(ctx context.Context, f channel.Attachment, a *journal.Attachment) (err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	content, err := f.Open(ctx)
	if err != nil {
		return fmt.Errorf("it could not be fetched: %w", err)
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	if err := os.MkdirAll(k.Directory, 0o700); err != nil {
		return fmt.Errorf("it could not be kept: %w", err)
	}
	part, err := os.CreateTemp(k.Directory, ".part-*")
	if err != nil {
		return fmt.Errorf("it could not be kept: %w", err)
	}
	defer os.Remove(part.Name()) // it has another name, or was not wanted
	sum := sha256.New()
	a.Size, err = io.Copy(io.MultiWriter(part, sum), io.LimitReader(content, fileLimit+1))
	if closed := part.Close(); err == nil {
		err = closed
	}
	switch {
	case err != nil:
		return fmt.Errorf("it could not be fetched: %w", err)
	case a.Size > fileLimit:
		return fmt.Errorf("it has more than the %d bytes that are kept", fileLimit)
	}
	if a.Media, err = mediaOf(part.Name(), a.Media); err != nil {
		return err
	}
	path := filepath.Join(k.Directory, hex.EncodeToString(sum.Sum(nil)[:16])+extension(a.Name))
	if err := os.Rename(part.Name(), path); err != nil {
		return fmt.Errorf("it could not be kept: %w", err)
	}
	a.Path = path
	return nil
}

// mediaOf returns what a file is by its first bytes, or what it is said to be where these say nothing.
func mediaOf(path, said string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("it could not be kept: %w", err)
	}
	defer file.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("it could not be kept: %w", err)
	}
	found, _, _ := strings.Cut(http.DetectContentType(head[:n]), ";")
	if said != "" && (found == "application/octet-stream" || found == "text/plain" && strings.HasPrefix(said, "text/") || sameMedia(said, found) || container(found, said)) {
		return said, nil
	}
	return found, nil
}

// container reports whether files of a kind are archives in form, or texts, and the name says which.
func container(found, said string) bool {
	switch found {
	case "application/zip":
		return strings.HasPrefix(said, "application/vnd.") || said == "application/epub+zip" || said == "application/java-archive"
	case "text/plain", "text/xml":
		return strings.HasSuffix(said, "+xml") || strings.HasSuffix(said, "/json") || strings.HasSuffix(said, "/xml") || strings.HasPrefix(said, "application/x-")
	case "application/ogg", "video/mp4", "video/webm":
		return strings.HasPrefix(said, "audio/") || strings.HasPrefix(said, "video/")
	}
	return false
}

// sameMedia reports whether two names of media types mean the same type.
func sameMedia(a, b string) bool {
	a, _, _ = strings.Cut(strings.ToLower(a), ";")
	b, _, _ = strings.Cut(strings.ToLower(b), ";")
	a, b = strings.ReplaceAll(strings.TrimSpace(a), "/x-", "/"), strings.ReplaceAll(strings.TrimSpace(b), "/x-", "/")
	return a == b || a == "audio/wav" && b == "audio/wave" || a == "audio/mp3" && b == "audio/mpeg"
}

// fileName returns a name as people see it: the last part of a path, plain, and never empty.
func fileName(name string) string {
	name = text.PlainLine(name[strings.LastIndexAny(name, `/\`)+1:], 120)
	if strings.Trim(name, ". ") == "" {
		return "file"
	}
	return name
}

// extension returns the ending of a name if it is one of the usual form, so that programs know what the file is.
func extension(name string) string {
	ending := strings.ToLower(filepath.Ext(name))
	if len(ending) < 2 || len(ending) > 9 || strings.ContainsFunc(ending[1:], func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return ""
	}
	return ending
}

// images returns the images among the files that a model can be shown.
func (k Keeper) images(files []journal.Attachment) []protocol.ContextItem {
	var items []protocol.ContextItem
	size := 0
	for _, f := range files {
		if f.Path == "" || !strings.HasPrefix(f.Media, "image/") || f.Size > protocol.ContextImageLimit || size+int(f.Size) > protocol.ContextLimit {
			continue
		}
		data, err := os.ReadFile(f.Path)
		if err != nil {
			continue // it is named with its path
		}
		if item, ok := protocol.ImageItem(f.Name, f.Path, data); ok {
			items, size = append(items, item), size+len(data)
		}
	}
	return items
}

// link returns a link to a file as a conversation has it, or says why it is not there.
func link(a journal.Attachment) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]<>{}", r) {
			return '_'
		}
		return r
	}, a.Name)
	if a.Path == "" {
		return fmt.Sprintf("(%s: %s)", name, a.Fault)
	}
	return fmt.Sprintf("[[file:%s][%s]]", a.Path, name)
}
