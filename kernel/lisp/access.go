package lisp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Access is what a note may reach outside of the language. The functions that need it
// exist only where it is granted, or withheld.
type Access struct {
	// Read and Write are the directories whose files, and those of the directories
	// below, may be read and written: absolute, and without links. Links in the names a
	// note gives are followed before they are looked up; one that comes into the way
	// afterwards, also in the place of a directory named here, is refused.
	Read, Write []string
	// Environment are the names of the environment variables that may be read.
	Environment []string
	// Ask, if set, asks a server of the network, or says why it does not. The functions that need it exist
	// only if it is set. It is called while other calls of the environment may run. Reason is the call's.
	Ask func(ctx context.Context, reason any, request ServerRequest) (ServerAnswer, error)
	// Directory is what relative paths are relative to. Default: the working directory.
	Directory string
	// Home is what ~ is. Default: the user's home directory.
	Home string
	// Withheld are the kinds of capability ("read", "write", "env") that the note asked
	// for and was not given: the functions that need them exist, and signal what Check
	// says.
	Withheld []string
	// Check, if set, is asked before a file or a variable is touched, by its path without
	// links or its name, and with name "" by the functions of what is withheld. Its error
	// refuses, and is what the note is told. Reason is the call's: see [Environment.For]. It must
	// not call into the environment.
	Check func(reason any, kind, name string) error
	// Shown, if set, returns what the note may see of the text of a file, by its path without links.
	Shown func(path string, text []byte) []byte
	// Keeps, if set, is asked before a file that is there is written, renamed or deleted. after
	// returns its text after that, from the one before; it is nil if there is none then. An error
	// refuses, and is what the note is told.
	Keeps func(path string, after func(before string) string) error
	// Dry, if set, reports whether the call is to have no effect: what it writes, renames
	// and deletes is dropped then.
	Dry func(reason any) bool
}

// The kinds of capability that give access to something.
const (
	kindRead     = "read"
	kindWrite    = "write"
	kindVariable = "env"
	kindServer   = "net"
)

// kinds are the kinds of capability that something is granted of.
func (a *Access) kinds() []string {
	var kinds []string
	for kind, granted := range map[string][]string{kindRead: a.Read, kindWrite: a.Write, kindVariable: a.Environment} {
		if len(granted) > 0 {
			kinds = append(kinds, kind)
		}
	}
	if a.Ask != nil {
		kinds = append(kinds, kindServer)
	}
	return kinds
}

// check asks whether a use of what was granted is to be.
func (a *Access) check(reason any, kind, name string) error {
	if a.Check == nil {
		return nil
	}
	return a.Check(reason, kind, name)
}

// change does something to a file, unless the call is to have no effect.
func (a *Access) change(reason any, do func() error) error {
	if a.Dry != nil && a.Dry(reason) {
		return nil
	}
	return do()
}

// keeps asks whether a file may get another text, or none.
func (a *Access) keeps(at location, after func(before string) string) error {
	if a.Keeps == nil {
		return nil
	}
	return a.Keeps(at.path(), after)
}

// locate finds a path in the directories granted for reading or writing.
func (a *Access) locate(reason any, path, kind string) (location, error) {
	full, err := a.absolute(path)
	if err != nil {
		return location{}, err
	}
	granted := a.Read
	if kind == kindWrite {
		granted = a.Write
	}
	for _, directory := range granted {
		if name, err := filepath.Rel(directory, full); err == nil && filepath.IsLocal(name) {
			return location{root: directory, name: name}, a.check(reason, kind, full)
		}
	}
	return location{}, fmt.Errorf("%s is outside of what was granted: ask for %s:%s in the note's #+CAPABILITIES line", path, kind, filepath.Dir(path))
}

// absolute makes a path absolute and follows the links of as much of it as exists.
func (a *Access) absolute(path string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		home := a.Home
		if home == "" {
			var err error
			if home, err = os.UserHomeDir(); err != nil {
				return "", fmt.Errorf("find the home directory: %w", err)
			}
		}
		path = filepath.Join(home, path[1:])
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Directory, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the file: %w", err)
	}
	return RealPath(path)
}

// RealPath follows the links of as much of an absolute path as exists. A link that leads
// nowhere, or round in a circle, is an error: it must not be taken for a name.
func RealPath(path string) (string, error) {
	rest := ""
	for existing := filepath.Clean(path); ; existing = filepath.Dir(existing) {
		if _, err := os.Lstat(existing); err == nil {
			real, err := filepath.EvalSymlinks(existing)
			if err != nil {
				return "", fmt.Errorf("%s is a link that leads nowhere", path)
			}
			return filepath.Join(real, rest), nil
		}
		if existing == filepath.Dir(existing) {
			return path, nil
		}
		rest = filepath.Join(filepath.Base(existing), rest)
	}
}

// variable returns an environment variable that was granted.
func (a *Access) variable(reason any, name string) (value string, set bool, err error) {
	if err := a.check(reason, kindVariable, name); err != nil {
		return "", false, err
	}
	if !slices.Contains(a.Environment, name) {
		return "", false, fmt.Errorf("the environment variable %s was not granted: ask for env:%s in the note's #+CAPABILITIES line", name, name)
	}
	value, set = os.LookupEnv(name)
	return value, set, nil
}

// errWithheld is what a function of a withheld capability says when Check says nothing.
var errWithheld = errors.New("it was asked for and not granted")

// Kinds of capability as a note asks for them. A row of the tables names what its
// function needs; there is such a function only where one of the kinds was granted.
const (
	NeedsRead      = "read:DIR"
	NeedsWrite     = "write:DIR"
	NeedsReadWrite = "read:DIR or write:DIR"
	NeedsVariable  = "env:NAME"
	NeedsServer    = "net:HOST"
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

// networkPackages are libraries whose work needs the network, with what notes have instead of them.
var networkPackages = map[string]string{
	"DRAKMA":  "notes ask servers with dex:get and dex:post, which need the capability net:HOST",
	"USOCKET": "notes have no sockets; they ask servers with dex:get and dex:post, which need the capability net:HOST",
}

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
	if need == needsProgram {
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
			err := access.check(c.reason, kind, "")
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
