package signal

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"regexp"
	"strings"

	"org-agent/kernel/channel"
)

// attachment returns a file that somebody sent to a chat. It is fetched when it is opened, over the connection of that
// moment.
func (d *Driver) attachment(a attachment, chat string) channel.Attachment {
	size := int64(-1)
	if a.Size != nil && *a.Size >= 0 {
		size = *a.Size
	}
	spoken := a.Voice || strings.HasPrefix(a.Media, "audio/") && a.Name == ""
	return channel.Attachment{Name: a.Name, Media: a.Media, Size: size, Voice: spoken, Open: func(ctx context.Context) (io.ReadCloser, error) {
		return d.open(ctx, a.ID, size, chat)
	}}
}

// open fetches a file. One is fetched at a time, because its base64 is in memory meanwhile.
func (d *Driver) open(ctx context.Context, id string, size int64, chat string) (io.ReadCloser, error) {
	if id == "" {
		return nil, refused(errors.New("signal-cli has not fetched the file; its daemon may run with --ignore-attachments"))
	}
	if size > d.limits.file {
		return nil, refused(fmt.Errorf("the file has %d MB, and %d are read at most", size>>20, d.limits.file>>20))
	}
	p, err := destination(chat)
	if err != nil {
		return nil, err
	}
	if to, ok := p["recipient"].([]string); ok {
		p["recipient"] = to[0] // the only method that takes no list
	}
	p["id"] = id
	select {
	case d.files <- struct{}{}:
		defer func() { <-d.files }()
	case <-ctx.Done():
		return nil, temporary(ctx.Err())
	}
	var raw json.RawMessage
	if err := d.do(ctx, "getAttachment", p, nil, &raw); err != nil {
		return nil, err
	}
	var object struct {
		Data []byte `json:"data"` // base64
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, refused(fmt.Errorf("the file in another form: %w", err))
	}
	return io.NopCloser(bytes.NewReader(object.Data)), nil
}

// dataURI is a file that is sent, as RFC 2397 has it, written piece by piece.
type dataURI struct {
	file  *channel.File
	limit int64
}

var mediaForm = regexp.MustCompile(`^[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*$`)

// head returns what is before the content. It has no character that JSON escapes, nor one that ends a parameter.
func (u *dataURI) head() string {
	media, _, err := mime.ParseMediaType(u.file.Media)
	if err != nil || !mediaForm.MatchString(media) {
		media = "application/octet-stream"
	}
	return "data:" + media + ";filename=" + url.QueryEscape(cmp.Or(u.file.Name, "file")) + ";base64,"
}

// writeTo writes the file. If it fails, what was written is no JSON whatever follows: it ends within a string.
func (u *dataURI) writeTo(ctx context.Context, w *bufio.Writer) error {
	r, err := u.file.Open()
	if err != nil {
		return refused(fmt.Errorf("open the file %s: %w", u.file.Name, err))
	}
	defer r.Close()
	w.WriteString(u.head()) // the errors of w are those of its last Flush
	coder := base64.NewEncoder(base64.StdEncoding, w)
	n, err := io.Copy(coder, io.LimitReader(&contextReader{ctx, r}, u.limit+1))
	switch {
	case ctx.Err() != nil:
		return temporary(ctx.Err())
	case err != nil:
		return refused(fmt.Errorf("read the file %s: %w", u.file.Name, err))
	case n > u.limit:
		return tooLarge(u.file, u.limit)
	case n == 0:
		return refused(fmt.Errorf("the file %s is empty, and signal-cli sends none that is", u.file.Name))
	}
	return coder.Close()
}

func tooLarge(f *channel.File, limit int64) error {
	return refused(fmt.Errorf("the file %s is larger than %d MB", f.Name, limit>>20))
}

// contextReader ends when its context does.
type contextReader struct {
	ctx  context.Context
	from io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
