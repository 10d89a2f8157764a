package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// jsonCodec encodes messages as JSON objects with a Content-Length.
type jsonCodec struct {
	lengthFraming
	schema schema
}

// jsonEnvelope is a message before its method is known. An absent member is empty, a null member is
// "null".
type jsonEnvelope struct {
	Version json.RawMessage `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  json.RawMessage `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
	Type    json.RawMessage `json:"type"`
}

func (c jsonCodec) decode(body []byte, newResult func(id) any) (message, error) {
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		return message{}, malformedf(nullID, protocol.CodeInvalidRequest, sayBatch)
	}
	var e jsonEnvelope
	if err := json.Unmarshal(body, &e); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return message{}, malformedf(nullID, protocol.CodeInvalidRequest, sayNoType)
		}
		return message{}, malformedf(nullID, protocol.CodeParse, "the frame is not one JSON value: %s", text.Clip(err.Error(), quoted))
	}
	key := nullID
	if len(e.ID) > 0 && json.Unmarshal(e.ID, &key) != nil {
		return message{}, malformedf(nullID, protocol.CodeInvalidRequest, sayID)
	}
	if version, ok := jsonText(e.Version); len(e.Version) > 0 && (!ok || version != "2.0") {
		return message{}, malformedf(key, protocol.CodeInvalidRequest, sayVersion)
	}
	answers := len(e.Result) > 0 || len(e.Error) > 0 && string(e.Error) != "null"
	switch {
	case len(e.Method) > 0 && answers:
		return message{}, malformedf(key, protocol.CodeInvalidRequest, sayBoth)
	case len(e.Method) > 0:
		return c.decodeRequest(e, key)
	case answers:
		return decodeJSONResponse(e, key, newResult), nil
	}
	if text, ok := jsonText(e.Type); ok && isRequestType(text) {
		return message{}, malformedf(key, protocol.CodeForbidden, sayOldForm)
	}
	return message{}, malformedf(key, protocol.CodeInvalidRequest, sayNeither)
}

func (c jsonCodec) decodeRequest(e jsonEnvelope, key id) (message, error) {
	method, ok := jsonText(e.Method)
	switch {
	case !ok:
		return message{}, malformedf(key, protocol.CodeInvalidRequest, sayMethod)
	case len(e.ID) > 0 && key == nullID:
		return message{}, malformedf(key, protocol.CodeInvalidRequest, sayID)
	}
	m := message{kind: request, id: key, method: method}
	if len(e.ID) == 0 {
		m.kind = notification
	}
	row, known := c.schema[method]
	switch {
	case method == protocol.MethodCancelRequest:
		var params struct {
			ID id `json:"id"`
		}
		params.ID = nullID
		if json.Unmarshal(e.Params, &params) != nil { // it names no request
			params.ID = nullID
		}
		m.params = &params.ID
	case !known:
		var params struct {
			Type json.RawMessage `json:"type"`
		}
		if json.Unmarshal(e.Params, &params) == nil {
			text, ok := jsonText(params.Type)
			m.oldForm = ok && isRequestType(text)
		}
	default:
		m.params = row.newParams()
		m.fault = readJSON(e.Params, m.params)
	}
	return m, nil
}

func decodeJSONResponse(e jsonEnvelope, key id, newResult func(id) any) message {
	m := message{kind: response, id: key}
	if len(e.Error) > 0 && string(e.Error) != "null" {
		if json.Unmarshal(e.Error, &m.err) != nil || m.err == nil || m.err.Code == 0 {
			m.err, m.fault = nil, protocol.Errorf(protocol.CodeInvalidRequest, sayError)
		}
		return m
	}
	if m.result = newResult(key); m.result != nil {
		m.fault = readJSON(e.Result, m.result)
	}
	return m
}

func jsonText(raw json.RawMessage) (string, bool) {
	var text *string
	if len(raw) == 0 || json.Unmarshal(raw, &text) != nil || text == nil {
		return "", false
	}
	return *text, true
}

// isRequestType recognises the old form of a message by its type.
func isRequestType(text string) bool {
	return strings.EqualFold(strings.TrimPrefix(text, ":"), string(protocol.TypeRequest))
}

// readJSON reads params or a result. null, false, [], {} and a missing member
// mean the same, because languages with one nil write any of them. Where the
// plain reading fails, such members are removed and the rest is read again.
func readJSON(raw json.RawMessage, into any) *protocol.Error {
	if len(raw) == 0 || isNothing(raw) {
		return nil
	}
	if raw[0] != '{' {
		if pruned, _ := prune(raw); isNothing(pruned) {
			return nil
		}
		return protocol.Errorf(protocol.CodeInvalidParams, sayParams)
	}
	value := reflect.ValueOf(into).Elem()
	err := json.Unmarshal(raw, into)
	if err != nil {
		if pruned, changed := prune(raw); changed {
			value.SetZero()
			err = json.Unmarshal(pruned, into)
		}
	}
	if err == nil {
		foldEnums(value)
		return nil
	}
	value.SetZero()
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return protocol.Errorf(protocol.CodeInvalidParams, "%s", describeMismatch(mismatch))
	}
	return protocol.Errorf(protocol.CodeInvalidParams, "the params cannot be read: %w", err)
}

func describeMismatch(e *json.UnmarshalTypeError) string {
	got, _, _ := strings.Cut(e.Value, " ")
	return wrongType(strings.Split(e.Field, "."), e.Type.Kind(), got)
}

// wrongType returns the error for a value of a wrong type, with the path to the value.
func wrongType(path []string, want reflect.Kind, got string) string {
	return fmt.Sprintf("%s wants %s, not %s", ":"+strings.Join(path, " :"), describeKind(want), article(got))
}

func describeKind(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "an integer"
}

func article(noun string) string {
	switch noun {
	case "string":
		return "text"
	case "bool":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return "a " + noun
}

func (c jsonCodec) appendMessage(dst []byte, m message) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	b.WriteString(`{"jsonrpc":"2.0"`)
	var err error
	add := func(member string, value any) {
		if err == nil {
			b.WriteString(member)
			err = appendJSON(b, value)
		}
	}
	if m.kind != notification {
		add(`,"id":`, m.id)
	}
	switch {
	case m.kind == response && m.err != nil:
		add(`,"error":`, m.err)
	case m.kind == response:
		add(`,"result":`, m.result)
	default:
		add(`,"method":`, m.method)
		if m.params != nil {
			add(`,"params":`, m.params)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), err
}

// appendJSON writes v without the escapes that only HTML needs.
func appendJSON(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
	return nil
}

// isNothing reports whether a value without blanks stands for nil.
func isNothing(raw []byte) bool {
	switch string(raw) {
	case "null", "false", "[]", "{}":
		return true
	}
	return false
}

// prune removes the members that mean nothing from every object in raw, which is
// valid JSON, and all blanks, in one pass. It reports whether a member went.
func prune(raw []byte) (pruned []byte, changed bool) {
	p := pruner{in: raw, out: make([]byte, 0, len(raw))}
	p.value()
	return p.out, p.changed
}

type pruner struct {
	in, out []byte
	at      int
	changed bool
}

// value copies the value that begins at the next character that is no blank.
func (p *pruner) value() {
	p.blanks()
	switch c := p.in[p.at]; c {
	case '{':
		p.members('}', true)
	case '[':
		p.members(']', false)
	case '"':
		p.text()
	default:
		for p.at < len(p.in) && !ends(p.in[p.at]) {
			p.copy()
		}
	}
}

// members copies everything up to the closing bracket.
func (p *pruner) members(closing byte, keyed bool) {
	p.copy()
	empty := len(p.out)
	for {
		p.blanks()
		c := p.in[p.at]
		if c == closing {
			p.copy()
			return
		}
		if c == ',' {
			p.at++
			continue
		}
		begin := len(p.out)
		if begin > empty {
			p.out = append(p.out, ',')
		}
		if keyed {
			p.text()
			p.blanks()
			p.copy() // the colon
		}
		value := len(p.out)
		p.value()
		if keyed && isNothing(p.out[value:]) {
			p.out = p.out[:begin]
			p.changed = true
		}
	}
}

// text copies a string.
func (p *pruner) text() {
	p.copy()
	for p.in[p.at] != '"' {
		if p.in[p.at] == '\\' {
			p.copy()
		}
		p.copy()
	}
	p.copy()
}

func (p *pruner) copy() {
	p.out = append(p.out, p.in[p.at])
	p.at++
}

func (p *pruner) blanks() {
	for p.at < len(p.in) && isBlank(p.in[p.at]) {
		p.at++
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// ends reports whether c stands behind a number or a word.
func ends(c byte) bool { return isBlank(c) || c == ',' || c == '}' || c == ']' }

// foldEnums gives the enums in a value that was read from JSON the spelling they
// have in Go: lower case, without a colon. A plist's keywords have it already.
func foldEnums(v reflect.Value) {
	if _, dynamic := v.Interface().(interface {
		PlistFields() iter.Seq2[string, any]
	}); dynamic {
		return // it reads JSON by its own method
	}
	switch v.Kind() {
	case reflect.String:
		if _, enum := v.Interface().(interface{ PlistKeyword() }); enum {
			v.SetString(foldKeyword(v.String()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				foldEnums(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.String {
			return // arrays hold no keywords
		}
		for i := range v.Len() {
			foldEnums(v.Index(i))
		}
	}
}

// foldKeyword folds ASCII only, as the plist reader does.
func foldKeyword(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.TrimPrefix(name, ":"))
}
