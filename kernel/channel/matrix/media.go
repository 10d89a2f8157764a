package matrix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto/attachment"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"org-agent/kernel/channel"
)

// attachment is the file of a message.
func (d *Driver) attachment(content *event.MessageEventContent) channel.Attachment {
	a := channel.Attachment{Name: content.GetFileName(), Size: -1, Voice: content.MSC3245Voice != nil}
	if content.Info != nil {
		a.Media = content.Info.MimeType
		if content.Info.Size > 0 {
			a.Size = int64(content.Info.Size)
		}
	}
	address, encrypted := content.URL, content.File
	if encrypted != nil {
		address = encrypted.URL
	}
	a.Open = func(ctx context.Context) (io.ReadCloser, error) {
		at, err := address.Parse()
		if err != nil || at.IsEmpty() {
			return nil, refuse("the message does not say where its file is")
		}
		body, err := d.download(ctx, at)
		if err != nil || encrypted == nil {
			return body, err
		}
		return decryptFile(encrypted, body)
	}
	return a
}

// download fetches a file: as homeservers have it since 2024, or as older ones do.
func (d *Driver) download(ctx context.Context, at id.ContentURI) (io.ReadCloser, error) {
	var failed error
	for _, path := range []mautrix.PrefixableURLPath{
		mautrix.ClientURLPath{"v1", "media", "download", at.Homeserver, at.FileID},
		mautrix.MediaURLPath{"v3", "download", at.Homeserver, at.FileID},
	} {
		_, response, err := d.client.MakeFullRequestWithResp(ctx, mautrix.FullRequest{Method: http.MethodGet, URL: d.client.BuildURL(path), DontReadResponse: true})
		if err == nil {
			return response.Body, nil
		}
		failed = errors.Join(failed, err)
		if !errors.Is(err, mautrix.MUnrecognized) {
			return nil, unsent(d.failure(ctx, err))
		}
	}
	return nil, unsent(d.failure(ctx, failed))
}

// decryptFile reads an encrypted file. What was changed on its way is an error at its end.
func decryptFile(file *event.EncryptedFileInfo, body io.ReadCloser) (io.ReadCloser, error) {
	key := file.EncryptedFile
	if err := key.PrepareForDecryption(); err != nil {
		return nil, errors.Join(refuse("the file's key cannot be used: "+err.Error()), body.Close())
	}
	return &decryptedFile{stream: key.DecryptStream(io.NopCloser(body)), body: body}, nil
}

type decryptedFile struct {
	stream io.ReadCloser // its Close checks the content
	body   io.Closer
	end    error
}

func (f *decryptedFile) Read(p []byte) (int, error) {
	if f.end != nil {
		return 0, f.end
	}
	n, err := f.stream.Read(p)
	if err == io.EOF {
		if wrong := f.stream.Close(); wrong != nil {
			err = fmt.Errorf("the file was changed on its way: %w", wrong)
		}
	}
	f.end = err
	return n, err
}

func (f *decryptedFile) Close() error { return f.body.Close() }

// upload sends a file to the homeserver, encrypted for an encrypted room, and returns where it is.
func (d *Driver) upload(ctx context.Context, file *channel.File, encrypted bool) (address id.ContentURIString, key *event.EncryptedFileInfo, err error) {
	if file.Size > fileLimit {
		return "", nil, refuse(fmt.Sprintf("the file %s is larger than %d MiB", file.Name, fileLimit>>20))
	}
	opened, err := file.Open()
	if err != nil {
		return "", nil, &channel.Failure{Class: channel.Refused, Err: fmt.Errorf("read the file %s: %w", file.Name, err)}
	}
	defer opened.Close()
	request := mautrix.ReqUploadMedia{Content: io.LimitReader(opened, file.Size), ContentLength: file.Size, ContentType: file.Media, FileName: file.Name}
	var sealed io.ReadCloser
	if encrypted {
		key = &event.EncryptedFileInfo{EncryptedFile: *attachment.NewEncryptedFile()}
		sealed = key.EncryptStream(request.Content)
		request.Content, request.ContentType, request.FileName = io.NopCloser(sealed), "application/octet-stream", ""
	}
	if file.Size == 0 {
		request.Content, request.ContentBytes = nil, []byte{}
	}
	answer, err := d.client.UploadMedia(ctx, request)
	if err != nil {
		return "", nil, unsent(d.failure(ctx, err))
	}
	if answer.ContentURI.IsEmpty() {
		return "", nil, &channel.Failure{Class: channel.Temporary, Err: errors.New("matrix: the homeserver does not say where the file is")}
	}
	if encrypted {
		if err := sealed.Close(); err != nil { // it makes the hash of what was sent
			return "", nil, fmt.Errorf("encrypt the file %s: %w", file.Name, err)
		}
		key.URL = answer.ContentURI.CUString()
		return "", key, nil
	}
	return answer.ContentURI.CUString(), nil, nil
}
