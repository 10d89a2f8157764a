package signaltest

import (
	"encoding/json"
	"strings"
)

// The codes of errors.
const (
	UserError      = -1
	IOError        = -3
	UntrustedError = -4
	RateLimitError = -5
	ParseError     = -32700
	RequestError   = -32600
	MethodError    = -32601
	ParamsError    = -32602
	InternalError  = -32603
)

// fields are the parameters of the methods; of signal-cli's those that are used. Where true, they are required.
var fields = map[string]map[string]bool{
	"version":            {},
	"listAccounts":       {},
	"subscribeReceive":   {},
	"unsubscribeReceive": {"subscription": true},
	"getUserStatus":      {"recipient": true},
	"send": {
		"recipient": false, "groupId": false, "message": false, "textStyle": false, "attachments": false, "voiceNote": false,
		"quoteTimestamp": false, "quoteAuthor": false, "quoteMessage": false, "editTimestamp": false, "mention": false,
	},
	"sendReaction":  {"recipient": false, "groupId": false, "emoji": true, "targetAuthor": true, "targetTimestamp": true, "remove": false},
	"sendTyping":    {"recipient": false, "groupId": false, "stop": false},
	"remoteDelete":  {"recipient": false, "groupId": false, "targetTimestamp": true},
	"getAttachment": {"recipient": false, "groupId": false, "id": true},
}

// arguments are the parameters of one call.
type arguments map[string]json.RawMessage

// text returns a parameter that is a string, "" if it is missing.
func (a arguments) text(key string) (value string, err *Error) { return decoded[string](a, key) }

// number returns a parameter that is an integer.
func (a arguments) number(key string) (int64, *Error) { return decoded[int64](a, key) }

// list returns a parameter that is a string or a list of strings.
func (a arguments) list(key string) ([]string, *Error) {
	if one, err := a.text(key); err == nil {
		if one == "" {
			return nil, nil
		}
		return []string{one}, nil
	}
	return decoded[[]string](a, key)
}

func decoded[T any](a arguments, key string) (value T, failed *Error) {
	raw, ok := a[key]
	if !ok || string(raw) == "null" {
		return value, nil
	}
	if json.Unmarshal(raw, &value) != nil {
		return value, &Error{Code: RequestError, Message: "Cannot deserialize value of " + key}
	}
	return value, nil
}

// answer answers one line.
func (c *client) answer(line []byte) {
	s := c.server
	var r struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Params  arguments       `json:"params"`
	}
	refuse := func(e *Error) {
		c.write(map[string]any{"jsonrpc": "2.0", "error": e, "id": r.ID})
	}
	if !json.Valid(line) {
		refuse(&Error{Code: ParseError, Message: "Unexpected end-of-input"})
		return
	}
	if err := json.Unmarshal(line, &r); err != nil {
		refuse(&Error{Code: RequestError, Message: err.Error()})
		return
	}
	switch {
	case r.Version != "2.0":
		refuse(&Error{Code: RequestError, Message: "only jsonrpc version 2.0 is supported"})
		return
	case r.Method == nil:
		refuse(&Error{Code: RequestError, Message: "method field must be set"})
		return
	case len(r.ID) == 0 || string(r.ID) == "null":
		s.t.Errorf("signaltest: %s has no id, so that nobody gets to know what became of it", *r.Method)
		return
	}
	outcome := s.injection(*r.Method)
	var result any = map[string]any{}
	err := outcome.Error
	if err == nil {
		var done any
		if done, err = c.perform(*r.Method, r.Params); done != nil {
			result = done
		}
	}
	s.change(func() { s.calls[*r.Method]++ })
	switch {
	case outcome.Cut:
		_ = c.socket.Close()
	case outcome.Hang:
		<-s.done
	case err != nil:
		refuse(err)
	default:
		c.write(map[string]any{"jsonrpc": "2.0", "result": result, "id": r.ID})
	}
}

func (s *Server) injection(method string) (o Outcome) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if list := s.injected[method]; len(list) > 0 {
		o, s.injected[method] = list[0], list[1:]
	}
	return o
}

// shared reports whether the daemon was started without an account.
func (s *Server) shared() bool { return s.config.Shared || len(s.config.Others) > 0 }

// accounts returns the daemon's accounts.
func (s *Server) accounts() (all []Account) {
	if s.config.Account != (Account{}) {
		all = append(all, s.config.Account)
	}
	return append(all, s.config.Others...)
}

// perform does what a call asks for.
func (c *client) perform(method string, a arguments) (any, *Error) {
	s := c.server
	if !s.knows(method) {
		return nil, &Error{Code: MethodError, Message: "Method not implemented"}
	}
	known := fields[method]
	account, failed := s.accountOf(method, a)
	if failed != nil {
		return nil, failed
	}
	delete(a, "account")
	for key := range a {
		if _, ok := known[key]; !ok {
			s.t.Errorf("signaltest: %s has no parameter %s, and signal-cli ignores it", method, key)
		}
	}
	for key, required := range known {
		if _, ok := a[key]; required && !ok {
			return nil, &Error{Code: UserError, Message: "Missing parameter " + key}
		}
	}
	switch method {
	case "version":
		return map[string]string{"version": "0.14.5"}, nil
	case "listAccounts":
		list := []map[string]string{}
		s.mutex.Lock()
		defer s.mutex.Unlock()
		for _, one := range s.accounts() {
			if s.unlinked && one == s.config.Account {
				continue
			}
			list = append(list, map[string]string{"number": one.Number})
		}
		return list, nil
	case "subscribeReceive":
		return s.subscribe(c, account), nil
	case "unsubscribeReceive":
		return c.unsubscribe(a)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.unlinked && account == s.config.Account.Number {
		return nil, &Error{Code: InternalError, Message: "Failed to send message: [401] Authorization failed! (AuthorizationFailedException) (UnexpectedErrorException)"}
	}
	return s.world.perform(account, method, a)
}

// knows reports whether there is a method. Only a daemon without an account lists accounts.
func (s *Server) knows(method string) bool {
	_, known := fields[method]
	return known && !(s.config.Old && strings.HasSuffix(method, "subscribeReceive")) && (method != "listAccounts" || s.shared())
}

// accountOf returns the number of the account of a call.
func (s *Server) accountOf(method string, a arguments) (string, *Error) {
	name, failed := a.text("account")
	if failed != nil {
		return "", failed
	}
	if !s.shared() {
		if _, given := a["account"]; given {
			return "", &Error{Code: RequestError, Message: `Unrecognized field "account"`}
		}
		return s.config.Account.Number, nil
	}
	for _, one := range s.accounts() {
		if name != "" && (name == one.Number || name == one.UUID) {
			return one.Number, nil
		}
	}
	switch {
	case name != "":
		return "", &Error{Code: ParamsError, Message: "Specified account does not exist"}
	case method == "version" || method == "listAccounts" || method == "subscribeReceive" || method == "unsubscribeReceive":
		return "", nil
	case len(s.accounts()) == 1:
		return s.config.Account.Number, nil
	}
	return "", &Error{Code: ParamsError, Message: "Method requires valid account parameter"}
}

func (s *Server) subscribe(c *client, account string) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	number := s.subscription // the first one is 0
	s.subscription++
	c.subscriptions[number] = account
	s.tell()
	return number
}

func (c *client) unsubscribe(a arguments) (any, *Error) {
	number, failed := a.number("subscription")
	if failed != nil {
		return nil, failed
	}
	s := c.server
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, ok := c.subscriptions[int(number)]; !ok {
		return nil, &Error{Code: UserError, Message: "Unknown subscription id"}
	}
	delete(c.subscriptions, int(number))
	s.tell()
	return nil, nil
}
