package telegram

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-telegram/bot"

	"org-agent/kernel/channel"
)

// attachment returns a file that is fetched when it is opened. A size of 0 is one that Telegram does not say.
func (d *Driver) attachment(name, media, file string, size int64) channel.Attachment {
	if size <= 0 {
		size = -1
	}
	return channel.Attachment{Name: name, Media: media, Size: size, Open: func(ctx context.Context) (io.ReadCloser, error) {
		if size > downloadLimit {
			return nil, refused("the file has %d bytes, and Telegram gives bots at most %d", size, downloadLimit)
		}
		return d.download(ctx, file)
	}}
}

// download fetches a file. Its address is valid for an hour, so that it is asked for each time.
func (d *Driver) download(ctx context.Context, file string) (io.ReadCloser, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	found, err := d.bot.GetFile(call, &bot.GetFileParams{FileID: file})
	cancel()
	if err != nil {
		return nil, failure("getFile", err, repeatable)
	}
	path, err := escaped(found.FilePath)
	if err != nil {
		return nil, err
	}
	body, err := d.wire.file(ctx, path)
	if err != nil {
		return nil, failure("fetch a file", err, repeatable)
	}
	return body, nil
}

// escaped returns the path of a file as it is in an address. A server that runs with --local gives paths of its machine.
func escaped(path string) (string, error) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part == "" || part == "." || part == ".." {
			return "", refused("the Bot API server gave %q as the path of a file: it must not run with --local", path)
		}
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/"), nil
}

// file fetches what is at a path.
func (w *wire) file(ctx context.Context, path string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+"/file/bot"+w.token.Reveal()+"/"+path, nil)
	if err != nil {
		return nil, w.clean(err)
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return nil, &lost{w.clean(err), true}
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, &refusal{code: resp.StatusCode, text: fmt.Sprintf("the server answered with status %d", resp.StatusCode)}
	}
	return &download{resp.Body, w, downloadLimit}, nil
}

// download is the content of a file.
type download struct {
	body io.ReadCloser
	wire *wire
	left int64 // how many bytes may come
}

func (d *download) Read(p []byte) (int, error) {
	if int64(len(p)) > d.left+1 {
		p = p[:d.left+1]
	}
	n, err := d.body.Read(p)
	if d.left -= int64(n); d.left < 0 {
		return max(0, n-1), refused("the file has more than %d bytes", downloadLimit)
	}
	if err != nil && err != io.EOF {
		err = d.wire.clean(err)
	}
	return n, err
}

func (d *download) Close() error { return d.body.Close() }
