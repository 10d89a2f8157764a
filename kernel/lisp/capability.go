package lisp

import (
	"slices"
	"strings"
)

// Kinds of capability as a note asks for them. A row of the tables names what its
// function needs; there is such a function only where one of the kinds was granted.
const (
	NeedsRead      = "read:DIR"
	NeedsWrite     = "write:DIR"
	NeedsReadWrite = "read:DIR or write:DIR"
	NeedsVariable  = "env:NAME"
	needsNetwork   = "net:HOST"
	needsProgram   = "exec:PROGRAM"
)

// absent are functions that the language does not have in any note, with the capability
// for which the kernel may offer something like them.
var absent = map[string]string{"UIOP:RUN-PROGRAM": needsProgram, "UIOP:LAUNCH-PROGRAM": needsProgram}

// never are functions that no capability gives to a note, with what to do instead.
var never = map[string]string{
	"LOAD":         "load is not for notes: what a note evaluates stands in its blocks, by which it is known; read data with uiop:read-file-forms",
	"COMPILE-FILE": "compile-file is not for notes: there are no compiled files",
	"UIOP:QUIT":    "uiop:quit is not for notes: a note cannot end the kernel",
	"UIOP:CHDIR":   "uiop:chdir is not for notes: relative names of files have one meaning",
}

// networkPackages are libraries whose work needs the network.
var networkPackages = map[string]bool{"DEX": true, "DEXADOR": true, "DRAKMA": true, "USOCKET": true}

// lacking says why the note does not have the function of that name, "" when that is for
// no want of a capability.
func (l *Language) lacking(symbol *Symbol) string {
	name := symbol.home + ":" + symbol.name
	if symbol.home == standardPackage {
		name = symbol.name
	}
	if reason := never[name]; reason != "" {
		return reason
	}
	need := l.needs[symbol]
	if need == "" {
		need = absent[name]
	}
	if need == "" {
		return ""
	}
	return wanting(displayName(symbol), need)
}

// wanting tells of a function that is not there for want of a capability.
func wanting(name, need string) string {
	if need == needsNetwork || need == needsProgram {
		return name + " needs the capability " + need + ", which no note can be given yet"
	}
	return name + " needs the capability " + need + ": ask for it in the note's #+CAPABILITIES line"
}

// meets returns the first kind of a need like "read:DIR or write:DIR" that is among the
// kinds, "" if none is.
func meets(need string, kinds []string) string {
	for one := range strings.SplitSeq(need, " or ") {
		kind, _, _ := strings.Cut(one, ":")
		if slices.Contains(kinds, kind) {
			return kind
		}
	}
	return ""
}

// provided is the standard function of that name as this note has it: nil without the
// capability it needs, and one that says so where that was asked for and withheld.
func (e *Environment) provided(symbol *Symbol) *Function {
	fn, need := e.language.functions[symbol], e.language.needs[symbol]
	access := &e.config.Access
	if need == "" || meets(need, access.kinds()) != "" {
		return fn
	}
	kind := meets(need, access.Withheld)
	if kind == "" {
		return nil
	}
	return &Function{
		name: fn.name, doc: fn.doc, list: fn.list, least: fn.least, most: fn.most, many: true,
		call: func(c *Call, args []Value) Value {
			err := access.check(c.ctx, kind, "")
			if err == nil {
				err = errWithheld
			}
			c.refuse(kind, displayName(symbol), args, err)
			return nil
		},
	}
}

// refuse signals that a function's capability is withheld: a FILE-ERROR if it is about
// files, so that notes which expect a file to be missing go on.
func (c *Call) refuse(kind, name string, args []Value, err error) {
	condition := c.newCondition(SimpleError, name+": "+err.Error())
	if kind != kindVariable {
		path := Value(Nil)
		if len(args) > 0 {
			switch args[0].(type) {
			case *String, *Pathname:
				path = args[0]
			}
		}
		condition = c.newCondition("FILE-ERROR", name+": "+err.Error(), "PATHNAME", path)
	}
	condition.cause = err
	c.signalError(condition)
}
