package matrixtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// refusal is an error of the specification.
type refusal struct {
	status     int
	code, text string
}

var (
	unrecognized = refusal{404, "M_UNRECOGNIZED", "Unrecognized request"}
	forbidden    = refusal{403, "M_FORBIDDEN", "User @agent:test not in room"}
	notFound     = refusal{404, "M_NOT_FOUND", "Event not found."}
	noJSON       = refusal{400, "M_NOT_JSON", "Content not JSON."}
	badJSON      = refusal{400, "M_BAD_JSON", "The content is not what it has to be."}
	badParameter = refusal{400, "M_INVALID_PARAM", "Query parameter is not valid"}
	tooLarge     = refusal{413, "M_TOO_LARGE", "event too large"}
	unknownToken = refusal{401, "M_UNKNOWN_TOKEN", "Unknown access token"}
	missingToken = refusal{401, "M_MISSING_TOKEN", "Missing access token"}
)

func (e refusal) write(w http.ResponseWriter) {
	answer(w, e.status, Object{"errcode": e.code, "error": e.text})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// Limit answers with the time to wait.
func Limit(w http.ResponseWriter, milliseconds int) {
	answer(w, 429, Object{"errcode": "M_LIMIT_EXCEEDED", "error": "Too Many Requests", "retry_after_ms": milliseconds})
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	fault, expired := s.fault, s.expired
	s.mutex.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	path := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/_matrix/"), "/")
	for i := range path {
		path[i], _ = url.PathUnescape(path[i])
	}
	if open := len(path) > 2 && path[0] == "media" && path[2] == "download"; !open {
		switch {
		case r.URL.Query().Has("access_token"): // it would be in the logs of everybody on the way
			badParameter.write(w)
			return
		case !bearer:
			missingToken.write(w)
			return
		case token != Token || expired:
			unknownToken.write(w)
			return
		}
	}
	if !strings.HasPrefix(r.URL.Path, "/_matrix/") {
		unrecognized.write(w)
		return
	}
	api{s}.route(w, r, path)
}

// api are the requests that there are.
type api struct{ server *Server }

// route finds what is asked for: the method and the path, in which * is any part.
func (a api) route(w http.ResponseWriter, r *http.Request, path []string) {
	for _, known := range []struct {
		method, pattern string
		serve           func(w http.ResponseWriter, r *http.Request, parts []string)
	}{
		{"GET", "client/v3/account/whoami", a.whoami},
		{"GET", "client/v3/profile/*/displayname", a.displayname},
		{"GET", "client/v3/sync", a.sync},
		{"GET", "client/v3/directory/room/*", a.directory},
		{"GET", "client/v3/rooms/*/state", a.inRoom(a.state)},
		{"GET", "client/v3/rooms/*/event/*", a.inRoom(a.event)},
		{"GET", "client/v3/rooms/*/messages", a.inRoom(a.messages)},
		{"GET", "client/v1/rooms/*/relations/*/*/*", a.inRoom(a.relations)},
		{"PUT", "client/v3/rooms/*/send/*/*", a.inRoom(a.send)},
		{"PUT", "client/v3/rooms/*/redact/*/*", a.inRoom(a.putRedaction)},
		{"PUT", "client/v3/rooms/*/typing/*", a.inRoom(a.putTyping)},
		{"POST", "client/v3/rooms/*/receipt/*/*", a.inRoom(a.receipt)},
		{"POST", "client/v3/rooms/*/join", a.join},
		{"POST", "client/v3/rooms/*/leave", a.leave},
		{"POST", "media/v3/upload", a.postMedia},
		{"GET", "client/v1/media/download/*/*", a.download},
		{"GET", "media/v3/download/*/*", a.download},
	} {
		parts, matches := match(known.pattern, path)
		if matches && known.method == r.Method {
			known.serve(w, r, parts)
			return
		}
	}
	unrecognized.write(w)
}

func match(pattern string, path []string) (parts []string, matches bool) {
	wanted := strings.Split(pattern, "/")
	if len(wanted) != len(path) {
		return nil, false
	}
	for i, want := range wanted {
		if want == "*" {
			parts = append(parts, path[i])
		} else if want != path[i] {
			return nil, false
		}
	}
	return parts, true
}

// inRoom serves only members.
func (a api) inRoom(serve func(w http.ResponseWriter, r *http.Request, parts []string)) func(http.ResponseWriter, *http.Request, []string) {
	return func(w http.ResponseWriter, r *http.Request, parts []string) {
		if a.server.Membership(parts[0], Agent) != "join" {
			forbidden.write(w)
			return
		}
		serve(w, r, parts)
	}
}

// body reads a JSON object.
func body(w http.ResponseWriter, r *http.Request) (Object, bool) {
	raw, err := io.ReadAll(r.Body)
	var object Object
	switch {
	case err != nil || json.Unmarshal(raw, &object) != nil || object == nil:
		noJSON.write(w)
		return nil, false
	case len(raw) > 65_000:
		tooLarge.write(w)
		return nil, false
	}
	return object, true
}

func (a api) whoami(w http.ResponseWriter, _ *http.Request, _ []string) {
	answer(w, 200, Object{"user_id": Agent, "device_id": "DEVICE", "is_guest": false})
}

func (a api) displayname(w http.ResponseWriter, _ *http.Request, parts []string) {
	if parts[0] != Agent {
		notFound.write(w)
		return
	}
	answer(w, 200, Object{"displayname": "Agent"})
}

func (a api) directory(w http.ResponseWriter, _ *http.Request, parts []string) {
	s := a.server
	s.mutex.Lock()
	room, ok := s.aliases[parts[0]]
	s.mutex.Unlock()
	if !ok {
		refusal{404, "M_NOT_FOUND", "Room alias not found"}.write(w)
		return
	}
	answer(w, 200, Object{"room_id": room, "servers": []string{"test"}})
}

func (a api) send(w http.ResponseWriter, r *http.Request, parts []string) {
	s := a.server
	content, ok := body(w, r)
	if !ok {
		return
	}
	if parts[1] == "m.room.message" {
		if _, text := content["body"].(string); !text || content["msgtype"] == nil {
			badJSON.write(w)
			return
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	defer s.tellLocked()
	relation, _ := content["m.relates_to"].(Object)
	if parts[1] == "m.reaction" {
		for _, e := range s.events {
			if other, _ := e.Content["m.relates_to"].(Object); e.Sender == Agent && e.Type == "m.reaction" && !e.Redacted && other["event_id"] == relation["event_id"] && other["key"] == relation["key"] && s.sent[r.URL.Path] == "" {
				refusal{400, "M_DUPLICATE_ANNOTATION", "Can't send same reaction twice"}.write(w)
				return
			}
		}
	}
	id, again := s.sent[r.URL.Path]
	if !again {
		id = s.add(&Event{Room: parts[0], Type: parts[1], Sender: Agent, Content: content, Transaction: parts[2]})
		s.sent[r.URL.Path] = id
	}
	answer(w, 200, Object{"event_id": id})
}

func (a api) putRedaction(w http.ResponseWriter, r *http.Request, parts []string) {
	s := a.server
	if _, ok := body(w, r); !ok {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	defer s.tellLocked()
	id, again := s.sent[r.URL.Path]
	if !again {
		if s.find(parts[0], parts[1]) == nil {
			notFound.write(w)
			return
		}
		id = s.redact(parts[0], Agent, parts[1]) // not every homeserver tells whose transaction it was
		s.sent[r.URL.Path] = id
	}
	answer(w, 200, Object{"event_id": id})
}

func (a api) putTyping(w http.ResponseWriter, r *http.Request, parts []string) {
	s := a.server
	content, ok := body(w, r)
	on, isBool := content["typing"].(bool)
	timeout, isNumber := content["timeout"].(float64)
	if ok && (parts[1] != Agent || !isBool || on && (!isNumber || timeout <= 0)) {
		badJSON.write(w)
	} else if ok {
		s.set(func() { s.typing[parts[0]] = on })
		answer(w, 200, Object{})
	}
}

func (a api) receipt(w http.ResponseWriter, r *http.Request, parts []string) {
	s := a.server
	content, ok := body(w, r)
	if !ok {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.find(parts[0], parts[2]) == nil || parts[1] != "m.read" {
		badJSON.write(w)
		return
	}
	thread, _ := content["thread_id"].(string)
	s.receipts = append(s.receipts, parts[2]+" "+thread)
	answer(w, 200, Object{})
}

func (a api) join(w http.ResponseWriter, _ *http.Request, parts []string) {
	s := a.server
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.rooms[parts[0]][Agent] == "" {
		refusal{403, "M_FORBIDDEN", "You are not invited to this room."}.write(w)
		return
	}
	if s.rooms[parts[0]][Agent] == "invite" {
		s.member(parts[0], Agent, Agent, "join", "Agent")
		s.tellLocked()
	}
	answer(w, 200, Object{"room_id": parts[0]})
}

func (a api) leave(w http.ResponseWriter, _ *http.Request, parts []string) {
	s := a.server
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.rooms[parts[0]][Agent] == "" {
		forbidden.write(w)
		return
	}
	s.member(parts[0], Agent, Agent, "leave", "Agent")
	s.tellLocked()
	answer(w, 200, Object{})
}

// largest is the size of the largest file.
const largest = 20 << 20

func (a api) postMedia(w http.ResponseWriter, r *http.Request, _ []string) {
	s := a.server
	data, err := io.ReadAll(io.LimitReader(r.Body, largest+1))
	if err != nil || len(data) > largest {
		refusal{413, "M_TOO_LARGE", "Upload request body is too large"}.write(w)
		return
	}
	if r.ContentLength != int64(len(data)) {
		badParameter.write(w)
		return
	}
	answer(w, 200, Object{"content_uri": s.Upload(r.Header.Get("Content-Type"), data)})
}

func (a api) download(w http.ResponseWriter, r *http.Request, parts []string) {
	s := a.server
	s.mutex.Lock()
	f, ok := s.media[parts[1]]
	old := s.skipped
	s.mutex.Unlock()
	switch isNew := strings.Contains(r.URL.Path, "/client/v1/"); {
	case old && isNew:
		unrecognized.write(w)
	case !old && !isNew: // files are for those who are in a room now
		notFound.write(w)
	case !ok || parts[0] != "test":
		refusal{404, "M_NOT_FOUND", "File not found"}.write(w)
	default:
		w.Header().Set("Content-Type", f.media)
		w.Header().Set("Content-Length", strconv.Itoa(len(f.data)))
		_, _ = w.Write(f.data)
	}
}
