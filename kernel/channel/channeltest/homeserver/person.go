package homeserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"testing"
)

// Person is somebody with an account who writes in one room, by plain requests.
type Person struct {
	Account
	t      testing.TB
	server *Server
	room   string
	count  int
}

// Meet returns a person with an account who has made a room and invited somebody into it.
func (s *Server) Meet(t testing.TB, name string, with Account) *Person {
	t.Helper()
	p := &Person{Account: s.Register(t, name), t: t, server: s}
	var made struct {
		Room string `json:"room_id"`
	}
	p.ask(http.MethodPost, "/client/v3/createRoom", map[string]any{"preset": "trusted_private_chat", "is_direct": true, "invite": []string{with.UserID}}, &made)
	p.room = made.Room
	return p
}

// Room is the id of the room.
func (p *Person) Room() string { return p.room }

// Say says a text, and returns the id of the message.
func (p *Person) Say(text string) string {
	p.t.Helper()
	return p.send("m.room.message", map[string]any{"msgtype": "m.text", "body": text})
}

// SendFile sends a file, and returns the id of the message.
func (p *Person) SendFile(name, media string, content []byte) string {
	p.t.Helper()
	var uploaded struct {
		URI string `json:"content_uri"`
	}
	p.do(http.MethodPost, "/media/v3/upload?filename="+url.QueryEscape(name), media, content, &uploaded)
	return p.send("m.room.message", map[string]any{"msgtype": "m.file", "body": name, "filename": name, "url": uploaded.URI, "info": map[string]any{"mimetype": media, "size": len(content)}})
}

// React reacts to a message.
func (p *Person) React(message, emoji string) {
	p.t.Helper()
	p.send("m.reaction", map[string]any{"m.relates_to": map[string]any{"rel_type": "m.annotation", "event_id": message, "key": emoji}})
}

func (p *Person) send(kind string, content any) string {
	p.t.Helper()
	p.count++
	var sent struct {
		ID string `json:"event_id"`
	}
	p.ask(http.MethodPut, fmt.Sprintf("/client/v3/rooms/%s/send/%s/%d", url.PathEscape(p.room), kind, p.count), content, &sent)
	return sent.ID
}

// Seen is an event of the room as a person sees it.
type Seen struct {
	ID      string `json:"event_id"`
	Type    string `json:"type"`
	Sender  string `json:"sender"`
	Content struct {
		Body    string `json:"body"`
		URL     string `json:"url"`
		Kind    string `json:"msgtype"`
		Relates struct {
			ID  string `json:"event_id"`
			Key string `json:"key"`
		} `json:"m.relates_to"`
	} `json:"content"`
}

// Sees returns the events of a type that others sent to the room, in their order.
func (p *Person) Sees(kind string) (all []Seen) {
	p.t.Helper()
	for from := ""; ; {
		var page struct {
			Chunk []Seen `json:"chunk"`
			End   string `json:"end"`
		}
		p.ask(http.MethodGet, fmt.Sprintf("/client/v3/rooms/%s/messages?dir=b&limit=100&from=%s", url.PathEscape(p.room), url.QueryEscape(from)), nil, &page)
		for _, e := range page.Chunk {
			if e.Type == kind && e.Sender != p.UserID {
				all = append(all, e)
			}
		}
		if from = page.End; from == "" || len(page.Chunk) == 0 {
			slices.Reverse(all)
			return all
		}
	}
}

// Download returns the content of a file, by its address.
func (p *Person) Download(address string) []byte {
	p.t.Helper()
	place, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.do(http.MethodGet, "/media/v3/download/"+place.Host+place.Path, "", nil, nil)
}

func (p *Person) ask(method, path string, body, answer any) {
	p.t.Helper()
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			p.t.Fatal(err)
		}
	}
	p.do(method, path, "application/json", content, answer)
}

// do sends a request and returns what is answered, which is also read into answer unless that is nil.
func (p *Person) do(method, path, media string, body []byte, answer any) []byte {
	p.t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, p.server.URL+"/_matrix"+path, bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+p.Token)
	if media != "" {
		request.Header.Set("Content-Type", media)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(io.LimitReader(response.Body, 32<<20))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", response.StatusCode)
	}
	if err == nil && answer != nil {
		err = json.Unmarshal(said, answer)
	}
	if err != nil {
		p.t.Fatalf("the homeserver answers %s %s with %v: %.500s", method, path, err, said)
	}
	return said
}
