package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"org-agent/kernel/protocol"
)

// jsonCodec spells messages as JSON objects with a Content-Length.
type jsonCodec struct {
	lengthFraming
	schema schema
}

// jsonEnvelope is a message before its method is known. An absent member is
// empty, a null one is "null".
type jsonEnvelope struct {
	Version json.RawMessage `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  json.RawMessage `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
	Type    json.RawMessage `json:"type"`
}

func (c jsonCodec) decode(body []byte, pending func(id) (protocol.Method, bool)) (message, error) {
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		return message{}, malformedf(id{}, protocol.CodeInvalidRequest, sayBatch)
	}
	var e jsonEnvelope
	if err := json.Unmarshal(body, &e); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return message{}, malformedf(id{}, protocol.CodeInvalidRequest, sayNoType)
		}
		return message{}, malformedf(id{}, protocol.CodeParse, "the frame is not one JSON value: %s", clip(err.Error()))
	}
	key, ok := jsonID(e.ID)
	if !ok {
		return message{}, malformedf(id{}, protocol.CodeInvalidRequest, sayID)
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
		return c.decodeResponse(e, key, pending)
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
	case key.kind == idNull:
		return message{}, malformedf(key, protocol.CodeInvalidRequest, sayID)
	}
	m := message{kind: request, id: key, method: method}
	if key.kind == idNone {
		m.kind = notification
	}
	row, known := c.schema[method]
	switch {
	case method == protocol.MethodCancelRequest:
		var params struct {
			ID json.RawMessage `json:"id"`
		}
		_ = json.Unmarshal(e.Params, &params) // one without an id names no request
		named, _ := jsonID(params.ID)
		m.params = &named
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

func (c jsonCodec) decodeResponse(e jsonEnvelope, key id, pending func(id) (protocol.Method, bool)) (message, error) {
	m := message{kind: response, id: key}
	if len(e.Error) > 0 && string(e.Error) != "null" {
		var body struct {
			Code    *protocol.Code `json:"code"`
			Message string         `json:"message"`
		}
		if json.Unmarshal(e.Error, &body) != nil || body.Code == nil {
			return m, malformedf(key, protocol.CodeInvalidRequest, sayError)
		}
		m.err = &protocol.Error{Code: *body.Code, Message: body.Message}
		return m, nil
	}
	if m.awaited(pending) {
		m.fault = readJSON(e.Result, m.result)
	}
	return m, nil
}

// jsonID reads a request's id; absent is none, false for what cannot be one.
func jsonID(raw json.RawMessage) (id, bool) {
	switch {
	case len(raw) == 0:
		return id{}, true
	case string(raw) == "null":
		return id{kind: idNull}, true
	}
	if text, ok := jsonText(raw); ok {
		return id{idString, text}, true
	}
	return parseNumberID(string(raw))
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
// are one value, which JSON writers of languages with one nil rely on: where
// the plain reading fails they are taken out and it is tried again.
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

// wrongType names a value that is not of its type by the way to it.
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
	switch m.id.kind {
	case idNull:
		b.WriteString(`,"id":null`)
	case idNumber:
		b.WriteString(`,"id":` + m.id.text)
	case idString:
		b.WriteString(`,"id":`)
		if err := appendJSON(b, m.id.text); err != nil {
			return dst, err
		}
	}
	var err error
	switch {
	case m.kind == response && m.err != nil:
		b.WriteString(`,"error":`)
		err = appendJSON(b, struct {
			Code    protocol.Code `json:"code"`
			Message string        `json:"message"`
		}{m.err.Code, m.err.Message})
	case m.kind == response:
		b.WriteString(`,"result":`)
		err = appendJSON(b, m.result)
	default:
		b.WriteString(`,"method":`)
		err = appendJSON(b, m.method)
		if err == nil && m.params != nil {
			b.WriteString(`,"params":`)
			err = appendJSON(b, m.params)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), err
}

// appendJSON writes v without escaping what only HTML would need escaped.
func appendJSON(b *bytes.Buffer, v any) error {
	if named, ok := v.(*id); ok {
		v = cancelParams(*named)
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
	return nil
}

// cancelParams is the params of $/cancelRequest as they are written.
func cancelParams(named id) any {
	if named.kind == idNumber {
		return protocol.CancelRequestParams{ID: json.Number(named.text)}
	}
	return protocol.CancelRequestParams{ID: named.text}
}
