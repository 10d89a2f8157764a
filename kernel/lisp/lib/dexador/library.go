// Package dexador is the library dexador for Lisp: it asks servers of the web, as far as the note was granted
// them. Who decides that, and how servers are asked, is not known here: see [lisp.Access].
package dexador

import (
	"net/http"
	"slices"
	"strings"

	"org-agent/kernel/lisp"
)

// failed is the condition of an answer whose status is an error.
const failed = "HTTP-REQUEST-FAILED"

// failures are the statuses with a condition of their own.
var failures = []int{
	400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 426, 428, 429, 431,
	500, 501, 502, 503, 504, 505, 507, 508, 511,
}

// failureOf is the name of the condition of a status.
func failureOf(status int) string {
	if !slices.Contains(failures, status) {
		return failed
	}
	switch status { // the words of HTTP that are no symbols
	case http.StatusTeapot:
		return "HTTP-REQUEST-IM-A-TEAPOT"
	case http.StatusRequestEntityTooLarge:
		return "HTTP-REQUEST-PAYLOAD-TOO-LARGE"
	case http.StatusRequestURITooLong:
		return "HTTP-REQUEST-URI-TOO-LONG"
	case http.StatusRequestedRangeNotSatisfiable:
		return "HTTP-REQUEST-RANGE-NOT-SATISFIABLE"
	}
	return "HTTP-REQUEST-" + strings.ToUpper(strings.ReplaceAll(http.StatusText(status), " ", "-"))
}

// failureSlots are the slots of the conditions, by the functions that read them.
var failureSlots = []struct{ reader, slot, doc string }{
	{"response-body", "BODY", "The body of the answer that failed."},
	{"response-status", "STATUS", "The status of the answer that failed, as 404."},
	{"response-headers", "HEADERS", "The headers of the answer that failed, a hash table by names in lower case."},
	{"request-uri", "URI", "The address that was asked."},
	{"request-method", "METHOD", "The method, as :get."},
}

// Library is the package DEXADOR.
func Library() lisp.Library {
	conditions := []lisp.ConditionClass{{Name: failed, Supers: []string{"ERROR"}}}
	for _, s := range failureSlots {
		conditions[0].Slots = append(conditions[0].Slots, s.slot)
	}
	for _, status := range failures {
		conditions = append(conditions, lisp.ConditionClass{Name: failureOf(status), Supers: []string{failed}})
	}
	return lisp.Library{
		Package: "DEXADOR", Nicknames: []string{"DEX"}, Title: "Dexador", Conditions: conditions,
		Functions: append(requests(), readers()...),
	}
}

// readers are the functions that read a condition.
func readers() (rows []lisp.Builtin) {
	for _, s := range failureSlots {
		rows = append(rows, lisp.Builtin{Name: s.reader, LambdaList: "(condition)", Doc: s.doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			condition, ok := a.(*lisp.Instance)
			if !ok || !strings.HasPrefix(condition.ClassName().Name(), "HTTP-REQUEST-") {
				c.TypeError(a, "DEXADOR:"+failed)
			}
			return condition.Slot(s.slot)
		}})
	}
	return rows
}
