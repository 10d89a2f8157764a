package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"org-agent/kernel/channel"
)

// Send implements [channel.Driver].
func (d *Driver) Send(ctx context.Context, out channel.Outgoing) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", &channel.Failure{Class: channel.Temporary, Err: err}
	}
	message := outgoing{Chat: out.Chat, Text: out.Text.Plain, ReplyTo: out.ReplyTo, Sent: out.ID}
	if len(out.Text.Spans) > 0 {
		message.HTML = out.Text.HTML()
	}
	if out.File != nil {
		content, err := contentOf(out.File)
		if err != nil {
			return "", &channel.Failure{Class: channel.Refused, Err: err}
		}
		message.File = content
	}
	if d.config.URL != "" {
		return d.push(ctx, message)
	}
	id, err := d.kept.add(ctx, message)
	if err != nil {
		return "", &channel.Failure{Class: channel.Temporary, Err: err}
	}
	return id, nil
}

// contentOf reads a file.
func contentOf(f *channel.File) (*file, error) {
	if f.Size > largestFile {
		return nil, fmt.Errorf("the file %s has %d bytes, and %d are the most", f.Name, f.Size, largestFile)
	}
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("open the file %s: %w", f.Name, err)
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, largestFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the file %s: %w", f.Name, err)
	}
	if len(data) > largestFile {
		return nil, fmt.Errorf("the file %s has more than %d bytes", f.Name, largestFile)
	}
	return &file{Name: f.Name, Media: f.Media, Voice: f.Voice, Data: data}, nil
}

// push sends a message to the URL. Its id is that of the outgoing message, so that a program can tell one that it gets again.
func (d *Driver) push(ctx context.Context, message outgoing) (string, error) {
	message.ID = ownID + message.Sent
	body, err := json.Marshal(message)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.config.URL, bytes.NewReader(body))
	if err != nil {
		return "", &channel.Failure{Class: channel.Refused, Err: errors.New("the URL of the channel is not valid")}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+d.config.Token.Reveal())
	response, err := d.client.Do(request)
	if err != nil {
		return "", unsent(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection can be used again
	if response.StatusCode/100 == 2 {
		return message.ID, nil
	}
	failure := &channel.Failure{Class: channel.Refused, Err: fmt.Errorf("%s answered with the status %d", request.URL.Host, response.StatusCode)}
	switch code := response.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		failure.Class = channel.Unauthorized
	case code == http.StatusTooManyRequests || code >= 500:
		failure.Class = channel.Temporary
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
			failure.RetryAfter = min(time.Duration(seconds)*time.Second, time.Hour)
		}
	}
	return "", failure
}

// unsent returns the failure of a request that was not answered. Only one that could not connect was surely not sent.
func unsent(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // without the address, which may have a secret
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		return &channel.Failure{Class: channel.Temporary, Err: err}
	}
	return &channel.Failure{Class: channel.Unknown, Err: err}
}

// get answers with what the agent said in a chat, and waits for it.
func (d *Driver) get(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	after, err := strconv.ParseInt(query.Get("after"), 10, 64)
	if err != nil && query.Get("after") != "" || after < 0 || query.Get("chat") == "" {
		answer(w, http.StatusBadRequest, failed{"chat is missing, or after is not the number of a message"})
		return
	}
	wait := longestWait
	if text := query.Get("wait"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds < 0 {
			answer(w, http.StatusBadRequest, failed{"wait is not a number of seconds"})
			return
		}
		wait = min(wait, time.Duration(seconds)*time.Second)
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	for waiting := true; ; {
		messages, changed, err := d.kept.after(r.Context(), query.Get("chat"), after)
		if err != nil {
			d.config.Logger.Error("what the agent said cannot be fetched", "channel", d.config.Name, "error", err)
			answer(w, http.StatusServiceUnavailable, failed{"the messages cannot be read now"})
			return
		}
		if len(messages) > 0 || !waiting {
			answer(w, http.StatusOK, struct {
				Messages []outgoing `json:"messages"`
			}{messages})
			return
		}
		select {
		case <-changed:
		case <-over.C:
			waiting = false
		case <-r.Context().Done():
			waiting = false
		}
	}
}
