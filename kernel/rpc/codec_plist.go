package rpc

import (
	"errors"
	"fmt"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// plistCodec spells messages as plists behind six hex digits.
type plistCodec struct {
	hexFraming
	schema schema
}

// plistEnvelope is a message before its method is known. An absent member is
// nil, one that is there as nil is an empty list.
type plistEnvelope struct {
	version, id, method, params, result, failure, kind sexp.Sexp
}

func (c plistCodec) decode(body []byte, pending func(id) (protocol.Method, bool)) (message, error) {
	x, err := plist.Read(string(body))
	if syntax, ok := errors.AsType[*plist.SyntaxError](err); ok {
		return message{}, malformedf(id{}, protocol.CodeParse, "the frame is not one plist: %w", syntax)
	}
	if err != nil {
		return message{}, malformedf(id{}, protocol.CodeParse, "the frame cannot be read: %w", err)
	}
	list, ok := x.(sexp.List)
	if !ok {
		return message{}, malformedf(id{}, protocol.CodeInvalidRequest, sayNoType)
	}
	if len(list) > 0 && isList(list[0]) {
		return message{}, malformedf(id{}, protocol.CodeInvalidRequest, sayBatch)
	}
	e, ok := splitPlist(list)
	if !ok {
		return message{}, malformedf(id{}, protocol.CodeInvalidRequest, sayNoType)
	}
	key, ok := plistID(e.id)
	if !ok {
		return message{}, malformedf(id{}, protocol.CodeInvalidRequest, sayID)
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
		return c.decodeResponse(e, key, pending)
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
	case key.kind == idNull:
		return message{}, malformedf(key, protocol.CodeInvalidRequest, sayID)
	}
	m := message{kind: request, id: key, method: string(method)}
	if key.kind == idNone {
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

func (c plistCodec) decodeResponse(e plistEnvelope, key id, pending func(id) (protocol.Method, bool)) (message, error) {
	m := message{kind: response, id: key}
	if !plist.IsNil(e.failure) {
		var body struct {
			Code    protocol.Code `json:"code"`
			Message string        `json:"message"`
		}
		if _, ok := plist.Get(e.failure, "code"); !ok || plist.Unmarshal(e.failure, &body) != nil {
			return m, malformedf(key, protocol.CodeInvalidRequest, sayError)
		}
		m.err = &protocol.Error{Code: body.Code, Message: body.Message}
		return m, nil
	}
	if m.awaited(pending) {
		m.fault = readPlist(e.result, m.result)
	}
	return m, nil
}

// plistID reads a request's id; absent is none, false for what cannot be one.
func plistID(x sexp.Sexp) (id, bool) {
	switch x := x.(type) {
	case nil:
		return id{}, true
	case sexp.List:
		return id{kind: idNull}, len(x) == 0
	case plist.String:
		return id{idString, string(x)}, true
	case plist.Int:
		return parseNumberID(fmt.Sprint(int64(x)))
	case plist.BigInt:
		return parseNumberID(string(x))
	}
	return id{}, false
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
	list := sexp.List{plist.Keyword("jsonrpc"), plist.String("2.0")}
	add := func(key plist.Keyword, value sexp.Sexp) { list = append(list, key, value) }
	if m.id.kind != idNone {
		add("id", idPlist(m.id))
	}
	var err error
	var value sexp.Sexp
	switch {
	case m.kind == response && m.err != nil:
		add("error", sexp.List{
			plist.Keyword("code"), plist.Int(m.err.Code),
			plist.Keyword("message"), plist.String(m.err.Message),
		})
	case m.kind == response:
		value, err = plist.Marshal(m.result)
		add("result", value) // also if it is nil: it makes the message a response
	default:
		add("method", plist.String(m.method))
		value, err = plistParams(m.params)
		if !plist.IsNil(value) {
			add("params", value)
		}
	}
	if err != nil {
		return dst, fmt.Errorf("write %s: %w", m.method, err)
	}
	return plist.AppendPrint(dst, list), nil
}

func plistParams(params any) (sexp.Sexp, error) {
	if named, ok := params.(*id); ok {
		return sexp.List{plist.Keyword("id"), idPlist(*named)}, nil
	}
	return plist.Marshal(params)
}

func idPlist(of id) sexp.Sexp {
	switch of.kind {
	case idString:
		return plist.String(of.text)
	case idNumber:
		return plist.BigInt(of.text) // prints as its digits, whatever their number
	}
	return sexp.List(nil)
}
