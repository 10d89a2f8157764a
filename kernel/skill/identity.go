package skill

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
	"org-agent/kernel/text"
)

// The identity of the agent comes from its user's IDENTITY.org and from a note with defidentity.
// Every note reads it with (identity :name). The file counts first, then the note, so that there is
// one name. The default counts last; for the name it is [defaultName].

// defaultName is the agent's name if nobody sets one.
const defaultName = "org-agent"

const (
	nameRunes     = 80       // of a name
	identityBytes = 64 << 10 // of all that a note says
	personaBytes  = 4 << 10  // of one value of the file
)

// Identity is the identity that a note defines. The zero Identity defines nothing.
type Identity struct {
	File   string // the note's
	Line   int    // of the definition
	fields sexp.List
}

// Name returns the name that the note gives the agent, or "".
func (i Identity) Name() string {
	name, _ := i.value("name").(plist.String)
	return string(name)
}

// value returns a value of the note's definition, or nil.
func (i Identity) value(name string) sexp.Sexp {
	v, _ := plist.Get(i.fields, name)
	return v
}

// Identity returns the identity that the live notes define.
func (s *Set) Identity() Identity {
	if s == nil {
		return Identity{}
	}
	return s.identity
}

// assignIdentity returns the first identity that a note defines. Other notes that define one get a
// warning.
func assignIdentity(order []*slot) (identity Identity) {
	for _, s := range order {
		if !s.published || s.version().Identity.File == "" {
			continue
		}
		own := s.version().Identity
		if identity.File == "" {
			identity = own
			continue
		}
		s.without = append(s.without, Diagnostic{File: own.File, Line: own.Line, Column: 1, Warning: true, Message: fmt.Sprintf(
			"who the agent is, is said by %s already, and what this note says of it is not used; take one of them away", ShownFile(identity.File))})
	}
	return identity
}

// defineIdentity stores the note's definition of the identity.
func defineIdentity(_ context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	data, err := lisp.ToSexp(lisp.NewList(args...))
	if err != nil {
		return nil, fmt.Errorf("read who the agent is: %w", err)
	}
	fields, _ := data.(sexp.List)
	if err := plist.WellFormed(fields); err != nil && len(fields) > 0 {
		return nil, fmt.Errorf("read who the agent is: %w; it is written as (defidentity :name \"Sam\" :manner '(\"Be brief.\"))", err)
	}
	if size := len(plist.Print(fields)); size > identityBytes {
		return nil, fmt.Errorf("who the agent is takes %d bytes, more than the %d that it can", size, identityBytes)
	}
	if name, there := plist.Get(fields, "name"); there {
		if err := checkName(name); err != nil {
			return nil, err
		}
	}
	switch defines, err := defining(call, "defidentity"); {
	case !defines:
		return lisp.Nil, err
	case n.Identity.File != "":
		return nil, errors.New("the note says twice who the agent is")
	}
	n.Identity = Identity{File: n.File, Line: 1, fields: fields}
	if n.block != nil {
		n.Identity.Line = n.block.Line
	}
	return lisp.T, nil
}

// checkName returns an error if a name is not valid.
func checkName(v sexp.Sexp) error {
	name, ok := v.(plist.String)
	switch text := string(name); {
	case !ok || strings.TrimSpace(text) == "":
		return errors.New("the :name of the agent is a string that is not empty")
	case utf8.RuneCountInString(text) > nameRunes:
		return fmt.Errorf("the :name of the agent has more than %d characters", nameRunes)
	case strings.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' }):
		return errors.New("the :name of the agent is one line")
	}
	return nil
}

// readIdentity implements (identity :name default).
func readIdentity(ctx context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	key, ok := args[0].(*lisp.Symbol)
	if !ok {
		return nil, errors.New("a keyword such as :name says what is wanted to be known")
	}
	name := strings.ToLower(key.Name())
	if value := n.options.Persona(name); value != "" {
		value = text.Prefix(strings.ToValidUTF8(value, ""), personaBytes)
		return call.Apply(call.Symbol("COPY-SEQ"), lisp.NewString(value)) // COPY-SEQ charges the copy to the call
	}
	identity := n.options.live()
	if p := invocationOf(call.Reason()).purpose; identity.File == "" || n.Identity.File != "" && (p == purposeLoad || p == purposeTest || p == purposeTyped) {
		identity = n.Identity
	}
	switch value := identity.value(name); {
	case value != nil:
		value, err := n.environment.FromSexp(value)
		if err != nil {
			return nil, fmt.Errorf("read who the agent is: %w", err)
		}
		return call.Apply(call.Symbol("COPY-TREE"), value)
	case len(args) > 1:
		return args[1], nil
	case name == "name":
		return lisp.NewString(defaultName), nil
	}
	return lisp.Nil, nil
}
