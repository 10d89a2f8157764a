package archive

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// entry is a file or directory of the home in an archive, or the journal or its archive.
type entry struct {
	*tar.Header
	path    string // the path below the home, or "" for the journal and its archive
	content io.Reader
}

// each calls handle for each file, directory and journal of an archive, in their order, and returns
// the table of contents. It reads at most limit bytes of content, whatever the archive claims.
func each(ctx context.Context, from io.Reader, limit int64, handle func(entry) error) (Contents, error) {
	packed, err := gzip.NewReader(contextReader{ctx, from})
	if err != nil {
		return Contents{}, broken(ctx, err)
	}
	bounded := &bounded{from: packed, left: limit + slack, limit: limit}
	archive := tar.NewReader(bounded)
	seen := map[string]byte{}
	var found Contents
	for {
		header, err := archive.Next()
		if err != nil {
			return found, broken(ctx, err)
		}
		if header.Name == contentsName {
			listed, err := contents(archive)
			if err == nil && (listed.Files != found.Files || listed.Bytes != found.Bytes || listed.Journal != found.Journal) {
				err = unfit("its contents list %d files with %d bytes, but it has %d with %d", listed.Files, listed.Bytes, found.Files, found.Bytes)
			}
			if err == nil {
				_, err = io.Copy(io.Discard, bounded) // the checksum stands at the end
				err = broken(ctx, err)
			}
			return listed, err
		}
		one := entry{Header: header, content: archive}
		if one.path, err = entryPath(header, seen); err != nil {
			return found, err
		}
		found.Files++
		found.Bytes += header.Size
		found.Journal = found.Journal || one.Name == journalName
		if found.Files > filesLimit {
			return found, unfit("it has more than %d files", filesLimit)
		}
		if err := handle(one); err != nil {
			return found, broken(ctx, err)
		}
	}
}

// slack is the allowance for the headers of an archive, in bytes.
const slack = 16 << 20

// entryPath returns the path of an entry, as [entry] has it, or an error for an entry that no
// archive may have. seen has the earlier entries.
func entryPath(header *tar.Header, seen map[string]byte) (path string, err error) {
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeDir:
	case tar.TypeSymlink, tar.TypeLink:
		return "", unfit("it has a link, %q", header.Name)
	default:
		return "", unfit("it has an entry %q that is neither a file nor a directory", header.Name)
	}
	if (header.Name != journalName && header.Name != oldName) || header.Typeflag != tar.TypeReg {
		if path, err = inside(header.Name); err != nil {
			return "", err
		}
		if path == "." {
			return "", unfit("it has an entry for the home itself")
		}
	}
	key := path
	if path == "" {
		key = "/" + header.Name // which no file of a home is called
	}
	if _, twice := seen[key]; twice {
		return "", unfit("it has %q twice", header.Name)
	}
	seen[key] = header.Typeflag
	if above, _, below := cutLast(path); below && seen[above] != tar.TypeDir {
		return "", unfit("it has %q, but not its directory", header.Name)
	}
	return path, nil
}

// cutLast splits a path at its last slash. ok is false if it has none.
func cutLast(path string) (above, name string, ok bool) {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return "", path, false
	}
	return path[:at], path[at+1:], true
}

// contents reads the table of contents.
func contents(from io.Reader) (listed Contents, err error) {
	raw, err := io.ReadAll(io.LimitReader(from, 64<<10))
	if err != nil || json.Unmarshal(raw, &listed) != nil {
		return listed, unfit("its %s cannot be read", contentsName)
	}
	if listed.Format != format {
		return listed, unfit("it has the format %d of org-agent %s, and this program reads %d", listed.Format, listed.Version, format)
	}
	return listed, nil
}

// broken turns an error of reading into a fault of the archive. An error that already is one, an
// error of writing and the end of the context stay as they are.
func broken(ctx context.Context, err error) error {
	var own *writeError
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, ErrUnfit), errors.As(err, &own):
		return err
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, tar.ErrHeader):
		return unfit("it is not an archive that \"org-agent export\" wrote")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return unfit("it is cut off: it has no end")
	}
	return unfit("it cannot be read: %v", err)
}

// writeError is an error of writing here, not a fault of the archive.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// bounded fails if more than the limit is read, because a small archive can unpack to a large one.
type bounded struct {
	from        io.Reader
	left, limit int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, unfit("it unpacks to more than %d MB; --megabytes allows more, if it is yours", b.limit>>20)
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
