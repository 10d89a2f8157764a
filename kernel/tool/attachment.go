package tool

import (
	"context"
	"fmt"
	"mime"
	"path/filepath"
	"strings"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
	"org-agent/kernel/withheld"
)

// The limits of one message.
const (
	attachmentsMost = 10
	attachmentLimit = 256 << 20 // bytes of a file
)

// attachment is a file that a message has, or why it cannot have it.
type attachment struct {
	path string // real
	hash string
	size int64
	err  error
}

// attachments resolves the files of a call. hashes are those of a call that was judged; a file with another content is none
// of it any more. What is wrong with one file is said of that file.
func (m Messages) attachments(ctx context.Context, by *Caller, names, hashes []string, limit int64) ([]attachment, error) {
	if len(names) > attachmentsMost {
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "a message has at most %d attachments: send the rest with another one", attachmentsMost)
	}
	all := make([]attachment, len(names))
	for i, name := range names {
		a := &all[i]
		if a.path, a.hash, a.size, a.err = m.attachment(ctx, by, name, limit); a.err == nil && hashes != nil && i < len(hashes) && hashes[i] != a.hash {
			a.err = protocol.ToolErrorf(protocol.ToolChanged, "it has another content than when this was judged")
		}
	}
	return all, nil
}

// attachment resolves one file.
func (m Messages) attachment(ctx context.Context, by *Caller, name string, limit int64) (path, hash string, size int64, err error) {
	name = strings.TrimSpace(name)
	for _, prefix := range []string{"[[", "file://", "file:"} { // as links are written
		name = strings.TrimPrefix(name, prefix)
	}
	if target, _, link := strings.Cut(name, "]"); link && strings.HasSuffix(name, "]]") {
		name = target
	}
	if name == "" {
		return "", "", 0, protocol.ToolErrorf(protocol.ToolArguments, "it names no file")
	}
	path, exists, err := files.Resolve(name, m.Files.Home)
	switch {
	case err != nil:
		return name, "", 0, err
	case !exists:
		return path, "", 0, m.Files.missing(path)
	case files.IsDirectory(path):
		return path, "", 0, protocol.ToolErrorf(protocol.ToolUnfit, "it is a directory")
	case limit == 0:
		return path, "", 0, protocol.ToolErrorf(protocol.ToolUnfit, "files cannot be sent there")
	}
	hash, size, err = files.Digest(ctx, path, min(limit, attachmentLimit))
	return path, hash, size, err
}

// media returns the MIME type of a file by its name. What follows a question mark, as in addresses, is no part of it.
func media(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), "?")
	kind, _, _ := strings.Cut(mime.TypeByExtension(strings.ToLower(filepath.Ext(name))), ";")
	if kind == "" {
		return "application/octet-stream"
	}
	return kind
}

// attachmentReach returns the reach of sending files to a place: they are read, and what models do not see of them is shown.
// In a conversation in which others listen a person is asked.
func attachmentReach(by *Caller, p place, all []attachment) (reach []protocol.Reach) {
	if len(all) > 0 && p.same && p.Channel != emacsChannel && by.alone() != nil {
		reach = append(reach, protocol.Reach{Kind: protocol.ReachSends, Chat: p.String()}) // also for a file that is not there: nobody is told which are
	}
	for _, a := range all {
		if a.err != nil {
			continue
		}
		reach = append(reach, protocol.Reach{Kind: protocol.ReachReads, Path: a.path})
		if p.Channel == emacsChannel {
			continue
		}
		if _, hides, err := withheld.Hidden(a.path); hides || err != nil {
			reach = append(reach, protocol.Reach{Kind: protocol.ReachShows, Path: a.path})
		}
	}
	return reach
}

// effect says of an attachment what a person has to know.
func (a attachment) effect() string {
	if a.err != nil {
		return fmt.Sprintf("not with %s: %v", a.path, a.err)
	}
	return fmt.Sprintf("with the file %s, %s", a.path, text.Count(int(a.size), "byte"))
}
