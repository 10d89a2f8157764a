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

// entry is a file or directory of the home in an archive, or the journal.
type entry struct {
	*tar.Header
	path    string // below the home; "" for the journal
	content io.Reader
}

// each calls take for each entry of an archive, in its order, and returns the description of the
// archive. It reads at most limit bytes, whatever sizes the archive declares.
func each(ctx context.Context, from io.Reader, limit int64, take func(entry) error) (Contents, error) {
	packed, err := gzip.NewReader(reading{ctx, from})
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
			said, err := contents(archive)
			if err == nil && (said.Files != found.Files || said.Bytes != found.Bytes || said.Journal != found.Journal) {
				err = unfit("it says that it has %d files with %d bytes, and has %d with %d", said.Files, said.Bytes, found.Files, found.Bytes)
			}
			return said, err
		}
		one := entry{Header: header, content: archive}
		if one.path, err = place(header, seen); err != nil {
			return found, err
		}
		found.Files++
		found.Bytes += header.Size
		found.Journal = found.Journal || one.path == ""
		if found.Files > filesLimit {
			return found, unfit("it has more than %d files", filesLimit)
		}
		if err := take(one); err != nil {
			return found, broken(ctx, err)
		}
	}
}

// slack is the largest size of an archive without the content of files.
const slack = 16 << 20

// place returns the path of an entry, or an error if it may have none.
func place(header *tar.Header, seen map[string]byte) (path string, err error) {
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeDir:
	case tar.TypeSymlink, tar.TypeLink:
		return "", unfit("it has a link, %q", header.Name)
	default:
		return "", unfit("it has an entry %q that is neither a file nor a directory", header.Name)
	}
	if header.Name != journalName || header.Typeflag != tar.TypeReg {
		if path, err = inside(header.Name); err != nil {
			return "", err
		}
		if path == "." {
			return "", unfit("it has an entry for the home itself")
		}
	}
	if _, twice := seen[path]; twice {
		return "", unfit("it has %q twice", header.Name)
	}
	seen[path] = header.Typeflag
	if above, _, below := cutLast(path); below && seen[above] != tar.TypeDir {
		return "", unfit("it has %q, and no directory for it", header.Name)
	}
	return path, nil
}

// cutLast splits a path at its last slash, if it has one.
func cutLast(path string) (above, name string, ok bool) {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return "", path, false
	}
	return path[:at], path[at+1:], true
}

// contents reads the description of an archive.
func contents(from io.Reader) (said Contents, err error) {
	raw, err := io.ReadAll(io.LimitReader(from, 64<<10))
	if err != nil || json.Unmarshal(raw, &said) != nil {
		return said, unfit("its %s cannot be read", contentsName)
	}
	if said.Format != format {
		return said, unfit("it has the format %d of org-agent %s, and this program reads %d", said.Format, said.Version, format)
	}
	return said, nil
}

// broken returns an error of reading as the error of an archive, unless it is an error of this
// package.
func broken(ctx context.Context, err error) error {
	var own *writeError
	switch {
	case ctx.Err() != nil, errors.Is(err, ErrUnfit), errors.As(err, &own):
		return err
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, tar.ErrHeader):
		return unfit("it is no archive that \"org-agent export\" wrote")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return unfit("it is cut off: it has no end")
	}
	return unfit("it cannot be read: %v", err)
}

// writeError is an error of writing on this machine, not a fault of the archive.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// bounded limits the bytes that are read, because a small file can unpack to a large one.
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
