package rpc

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/chewxy/sexp"
	"github.com/sourcegraph/jsonrpc2"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// plistCodec encodes messages as plists after six hex digits.
type plistCodec struct {
	hexFraming
	schema schema
}

// plistEnvelope is a message before its method is known. An absent member is nil, a member with the
// value nil is an empty list.
type plistEnvelope struct {
	version, id, method, params, result, failure, kind sexp.Sexp
}

func (c plistCodec) decode(body []byte, newResult func(id) any) (message, error) {
	x, err := plist.Read(string(body))
	if syntax, ok := errors.AsType[*plist.SyntaxError](err); ok {
		return message{}, malformedf(nullID, protocol.CodeParse, "the frame is not one plist: %w", syntax)
	}
	if err != nil {
		return message{}, malformedf(nullID, protocol.CodeParse, "the frame cannot be read: %w", err)
	}
	list, ok := x.(sexp.List)
	if !ok {
		return message{}, malformedf(nullID, protocol.CodeInvalidRequest, sayNoType)
	}
	if len(list) > 0 && isList(list[0]) {
		return message{}, malformedf(nullID, protocol.CodeInvalidRequest, sayBatch)
	}
	e, ok := splitPlist(list)
	if !ok {
		return message{}, malformedf(nullID, protocol.CodeInvalidRequest, sayNoType)
	}
	key, ok := plistID(e.id)
	if !ok {
		return message{}, malformedf(nullID, protocol.CodeInvalidRequest, sayID)
	}
	if e.version != nil && e.version != sexp.Sexp(plist.String("2.0")) {
		return message{}, malformedf(key, protocol.CodeInvalidRequest, sayVersion)
	}
	answers := e.result != nil || !plist.IsNil(e.failure)
	switch {
	case e.method != nil && answers:
		return message{}, malformedf(key, protocol.CodeInvalidRequest, sayBoth)
	case e.method != nil:
		return c.decodeRequest(e, key)
	case answers:
		return decodePlistResponse(e, key, newResult), nil
	case isRequestForm(e.kind):
		return message{}, malformedf(key, protocol.CodeForbidden, sayOldForm)
	}
	return message{}, malformedf(key, protocol.CodeInvalidRequest, sayNeither)
}

func isList(x sexp.Sexp) bool {
	_, ok := x.(sexp.List)
	return ok
}

// splitPlist finds the envelope's members; false: the list is no plist.
func splitPlist(list sexp.List) (plistEnvelope, bool) {
	var e plistEnvelope
	for i := 0; i < len(list); i += 2 {
		key, ok := list[i].(plist.Keyword)
		if !ok || i+1 == len(list) {
			return e, false
		}
		switch key {
		case "jsonrpc":
			e.version = list[i+1]
		case "id":
			e.id = list[i+1]
		case "method":
			e.method = list[i+1]
		case "params":
			e.params = list[i+1]
		case "result":
			e.result = list[i+1]
		case "error":
			e.failure = list[i+1]
		case "type":
			e.kind = list[i+1]
		}
	}
	return e, true
}

func (c plistCodec) decodeRequest(e plistEnvelope, key id) (message, error) {
	method, ok := e.method.(plist.String)
	switch {
	case !ok:
		return message{}, malformedf(key, protocol.CodeInvalidRequest, sayMethod)
	case e.id != nil && key == nullID:
		return message{}, malformedf(key, protocol.CodeInvalidRequest, sayID)
	}
	m := message{kind: request, id: key, method: string(method)}
	if e.id == nil {
		m.kind = notification
	}
	row, known := c.schema[m.method]
	switch {
	case m.method == protocol.MethodCancelRequest:
		value, _ := plist.Get(e.params, "id")
		named, _ := plistID(value) // one without an id names no request
		m.params = &named
	case !known:
		value, _ := plist.Get(e.params, "type")
		m.oldForm = isRequestForm(value)
	default:
		m.params = row.newParams()
		m.fault = readPlist(e.params, m.params)
	}
	return m, nil
}

func decodePlistResponse(e plistEnvelope, key id, newResult func(id) any) message {
	m := message{kind: response, id: key}
	if !plist.IsNil(e.failure) {
		var body struct { // Data is JSON, and nobody here reads it
			Code    int64  `json:"code"`
			Message string `json:"message"`
		}
		if plist.Unmarshal(e.failure, &body) != nil || body.Code == 0 {
			m.fault = protocol.Errorf(protocol.CodeInvalidRequest, sayError)
			return m
		}
		m.err = &jsonrpc2.Error{Code: body.Code, Message: body.Message}
		return m
	}
	if m.result = newResult(key); m.result != nil {
		m.fault = readPlist(e.result, m.result)
	}
	return m
}

// plistID reads a request's id; absent is null, false for what cannot be one.
func plistID(x sexp.Sexp) (id, bool) {
	switch x := x.(type) {
	case nil:
		return nullID, true
	case sexp.List:
		return nullID, len(x) == 0
	case plist.String:
		return stringID(string(x)), true
	case plist.Int:
		if x >= 0 {
			return numberID(uint64(x)), true
		}
		return integerID(strconv.FormatInt(int64(x), 10))
	case plist.BigInt:
		return integerID(string(x))
	}
	return nullID, false
}

// isRequestForm recognises the old form of a message by its type.
func isRequestForm(x sexp.Sexp) bool {
	switch x := x.(type) {
	case plist.Keyword:
		return isRequestType(string(x))
	case plist.String:
		return isRequestType(string(x))
	}
	return false
}

// readPlist reads params or a result.
func readPlist(x sexp.Sexp, into any) *protocol.Error {
	if plist.IsNil(x) {
		return nil
	}
	if list, ok := x.(sexp.List); !ok {
		return protocol.Errorf(protocol.CodeInvalidParams, sayParams)
	} else if _, ok := list[0].(plist.Keyword); !ok {
		return protocol.Errorf(protocol.CodeInvalidParams, sayParams)
	}
	if err := plist.Unmarshal(x, into); err != nil {
		return protocol.Errorf(protocol.CodeInvalidParams, "%w", err)
	}
	return nil
}

func (c plistCodec) appendMessage(dst []byte, m message) ([]byte, error) {
	list := make(sexp.List, 0, 8)
	list = append(list, plist.Keyword("jsonrpc"), plist.String("2.0"))
	add := func(key plist.Keyword, value sexp.Sexp) { list = append(list, key, value) }
	if m.kind != notification {
		add("id", idPlist(m.id))
	}
	var err error
	var value sexp.Sexp
	switch {
	case m.kind == response && m.err != nil:
		value, err = plist.Marshal(m.err)
		add("error", value)
	case m.kind == response:
		value, err = plist.Marshal(m.result)
		add("result", value) // also if it is nil: it makes the message a response
	default:
		add("method", plist.String(m.method))
		value, err = plist.Marshal(m.params)
		if !plist.IsNil(value) {
			add("params", value)
		}
	}
	if err != nil {
		return dst, fmt.Errorf("write a message: %w", err)
	}
	return plist.AppendPrint(dst, list), nil
}

func idPlist(of id) sexp.Sexp {
	switch {
	case of == nullID:
		return sexp.List(nil)
	case of.other != "":
		return plist.BigInt(of.other) // prints as its digits, whatever their number
	case of.IsString:
		return plist.String(of.Str)
	case of.Num > math.MaxInt64:
		return plist.BigInt(of.String())
	}
	return plist.Int(of.Num)
}
