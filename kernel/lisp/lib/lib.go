// Package lib says which libraries this repository's Lisp has beside the standard. Each is a
// package of its own below this one, and none is needed by kernel/lisp.
package lib

import (
	"sync"

	"org-agent/kernel/lisp"
	"org-agent/kernel/lisp/lib/dexador"
	"org-agent/kernel/lisp/lib/json"
	"org-agent/kernel/lisp/lib/localtime"
	"org-agent/kernel/lisp/lib/ppcre"
	"org-agent/kernel/lisp/lib/str"
	"org-agent/kernel/lisp/lib/uiop"
)

// All are the libraries, in an order in which they can be added.
func All() []lisp.Library {
	return []lisp.Library{
		ppcre.Library(),
		json.Library(),
		localtime.Library(),
		str.Library(),
		uiop.Library(),
		dexador.Library(),
	}
}

// Language is the standard with all libraries. It is made once.
var Language = sync.OnceValues(func() (*lisp.Language, error) { return lisp.NewLanguage(All()...) })
