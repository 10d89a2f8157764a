package dexador

import (
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"org-agent/kernel/lisp"
)

// options are the keywords of all functions. The first line works; the second is accepted and changes
// nothing, because each request has a connection of its own; what the third wants is not offered.
const (
	optionsThatWork    = " headers basic-auth connect-timeout read-timeout max-redirects force-string force-binary"
	optionsWithout     = " version keep-alive use-connection-pool verbose"
	optionsNotOffered  = " proxy insecure want-stream stream cookie-jar ssl-key-file ssl-cert-file ssl-key-password ca-path"
	options            = optionsThatWork + optionsWithout + optionsNotOffered
	redirectsByDefault = 5
	redirectsMost      = 10
	longestTimeout     = 60 // seconds
)

// requests are the functions that ask a server.
func requests() []lisp.Builtin {
	reading := func(name, doc string) lisp.Builtin {
		return lisp.Builtin{Name: name, Needs: lisp.NeedsServer, LambdaList: "(uri &key" + options + ")", Doc: doc, Many: true,
			Named: func(c *lisp.Call, args lisp.Args) lisp.Value { return request(c, strings.ToUpper(name), nil, args) }}
	}
	sending := func(name, doc string) lisp.Builtin {
		return lisp.Builtin{Name: name, Needs: lisp.NeedsServer, LambdaList: "(uri &key content" + options + ")", Doc: doc, Many: true,
			Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
				return request(c, strings.ToUpper(name), args.Get("content"), args)
			}}
	}
	const values = " The values are the body, the status, the headers in a hash table, and the address."
	return []lisp.Builtin{
		reading("get", "Ask a server for what is at an address."+values),
		reading("head", "Ask a server for the headers of what is at an address."),
		sending("post", "Send content, a string, bytes or an alist of fields, to a server."+values),
		sending("put", "Send what is to be at an address."+values),
		sending("patch", "Send what is to be changed at an address."+values),
		sending("delete", "Ask a server to delete what is at an address."+values),
		{Name: "request", Needs: lisp.NeedsServer, LambdaList: "(uri &key method content" + options + ")", Doc: "Ask a server by a method, as :get." + values, Many: true,
			Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
				method := "GET"
				if given := args.Get("method"); lisp.Given(given) {
					method = strings.ToUpper(c.Name(given))
				}
				return request(c, method, args.Get("content"), args)
			}},
	}
}

// request asks a server and returns what it answers. An answer whose status is an error is a condition.
func request(c *lisp.Call, method string, content lisp.Value, args lisp.Args) lisp.Value {
	for name := range strings.FieldsSeq(optionsNotOffered) {
		if args.True(name) {
			c.Fail(lisp.SimpleError, ":%s is not offered here", name)
		}
	}
	asked := lisp.ServerRequest{Method: method, Address: c.TakeText(args.Get("uri")), Redirects: redirectsByDefault, Timeout: timeout(c, args)}
	if given := args.Get("max-redirects"); given != nil {
		asked.Redirects = bounded(c, given, redirectsMost)
	}
	kind := ""
	if lisp.Given(content) {
		asked.Body, kind = body(c, content)
	}
	asked.Header = headers(c, args.Get("headers"))
	if given := args.Get("basic-auth"); lisp.Given(given) {
		user, password := pair(c, given)
		asked.Header = append(asked.Header, [2]string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))})
	}
	if kind != "" && !hasHeader(asked.Header, "content-type") {
		asked.Header = append(asked.Header, [2]string{"Content-Type", kind})
	}
	return answered(c, asked, c.AskServer(asked), args)
}

// timeout is how long the answer may take: the longer one of both that the note may give.
func timeout(c *lisp.Call, args lisp.Args) time.Duration {
	longest := 0
	for _, name := range []string{"connect-timeout", "read-timeout"} {
		if given := args.Get(name); lisp.Given(given) {
			longest = max(longest, bounded(c, given, longestTimeout))
		}
	}
	return time.Duration(longest) * time.Second
}

// bounded is a number that is not negative, or the largest that is of use.
func bounded(c *lisp.Call, v lisp.Value, most int) int {
	n := c.Integer(v)
	switch {
	case n.Sign() < 0:
		c.TypeError(v, "UNSIGNED-BYTE")
	case n.IsInt64() && n.Int64() < int64(most):
		return int(n.Int64())
	}
	return most
}

// headers reads an alist of names and values. A name may be a keyword, and a value nil, which sends none.
func headers(c *lisp.Call, v lisp.Value) (all [][2]string) {
	if !lisp.Given(v) {
		return nil
	}
	for _, one := range c.Slice(v) {
		if one == lisp.Nil {
			continue
		}
		if cons, ok := one.(*lisp.Cons); ok && cons.Cdr == lisp.Nil {
			continue
		}
		name, value := pair(c, one)
		all = append(all, [2]string{name, value})
	}
	return all
}

func hasHeader(all [][2]string, name string) bool {
	for _, one := range all {
		if strings.EqualFold(one[0], name) {
			return true
		}
	}
	return false
}

// pair reads a name and a value, a dotted pair.
func pair(c *lisp.Call, v lisp.Value) (name, value string) {
	cons, ok := v.(*lisp.Cons)
	if !ok {
		c.TypeError(v, "CONS")
	}
	value = plain(c, cons.Cdr)
	if symbol, ok := cons.Car.(*lisp.Symbol); ok {
		return strings.ToLower(symbol.Name()), value
	}
	return c.TakeText(cons.Car), value
}

// plain is a string, or a number or symbol as it is printed.
func plain(c *lisp.Call, v lisp.Value) string {
	switch v.(type) {
	case *lisp.String:
		return c.TakeText(v)
	case *lisp.Cons:
		c.TypeError(v, "STRING")
	}
	return c.Printed(v, false)
}

// body is the content of a request, and the media type that it has if the note says none.
func body(c *lisp.Call, v lisp.Value) (content []byte, kind string) {
	switch v := v.(type) {
	case *lisp.String:
		return []byte(c.TakeText(v)), "text/plain; charset=utf-8"
	case *lisp.Cons:
		var fields []string
		for _, one := range c.Slice(v) {
			name, value := pair(c, one)
			fields = append(fields, url.QueryEscape(name)+"="+url.QueryEscape(value))
		}
		text := strings.Join(fields, "&")
		c.Charge(2 * len(text))
		return []byte(text), "application/x-www-form-urlencoded"
	}
	items := c.Elements(v)
	c.Charge(len(items))
	content = make([]byte, len(items))
	for i, item := range items {
		n := c.Integer(item)
		if !n.IsInt64() || n.Int64() < 0 || n.Int64() > 255 {
			c.TypeError(item, "(UNSIGNED-BYTE 8)")
		}
		content[i] = byte(n.Int64())
	}
	return content, "application/octet-stream"
}

// answered makes values of an answer, or signals its condition.
func answered(c *lisp.Call, asked lisp.ServerRequest, answer lisp.ServerAnswer, args lisp.Args) lisp.Value {
	var content lisp.Value
	switch {
	case asked.Method == "HEAD":
		content = c.Text("")
	case args.True("force-string") && !answer.IsText:
		content = c.Text(strings.ToValidUTF8(string(answer.Body), "\uFFFD"))
	case answer.IsText && !args.True("force-binary"):
		content = c.Text(answer.Text)
	default:
		octets := lisp.MakeSlice[lisp.Value](c, len(answer.Body))
		for i, b := range answer.Body {
			octets[i] = lisp.Count(int(b))
		}
		content = c.NewVector(octets)
	}
	table := c.Standard("MAKE-HASH-TABLE", lisp.Keyword("TEST"), lisp.CL("EQUAL")).(*lisp.HashTable)
	for _, h := range answer.Header {
		table.Put(c, c.Text(strings.ToLower(h[0])), c.Text(h[1]))
	}
	status, address := lisp.Count(answer.Status), c.Text(answer.Address)
	if answer.Status >= 400 {
		shown, _, _ := strings.Cut(answer.Address, "?") // what is behind it may be a secret, or the person's words
		c.Signal("DEXADOR:"+failureOf(answer.Status), "An HTTP request to "+shown+" returned "+c.Printed(status, false)+".",
			"BODY", content, "STATUS", status, "HEADERS", table, "URI", address, "METHOD", c.Keyword(asked.Method))
	}
	return c.Values(content, status, table, address, lisp.Nil)
}
