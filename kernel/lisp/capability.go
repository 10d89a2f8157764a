package lisp

import (
	"slices"
	"strings"
)

// Kinds of capability as a note asks for them. A row of the tables names what its
// function needs; there is such a function only where one of the kinds was granted.
const (
	needsRead      = "read:DIR"
	needsWrite     = "write:DIR"
	needsReadWrite = "read:DIR or write:DIR"
	needsVariable  = "env:NAME"
	needsNetwork   = "net:HOST"
	needsProgram   = "exec:PROGRAM"
)

// absent are functions that the language does not have in any note, with the capability
// for which the kernel may offer something like them.
var absent = map[string]string{
	"UIOP:RUN-PROGRAM": needsProgram, "UIOP:LAUNCH-PROGRAM": needsProgram, "COMPILE-FILE": needsWrite,
}

// networkPackages are libraries whose work needs the network.
var networkPackages = map[string]bool{"DEX": true, "DEXADOR": true, "DRAKMA": true, "USOCKET": true}

// capabilityOf is what a note must ask for to have the function of that name, "" when
// no capability gives it.
func (l *language) capabilityOf(symbol *Symbol) string {
	if need := l.needs[symbol]; need != "" {
		return need
	}
	if networkPackages[symbol.home] {
		return needsNetwork
	}
	if symbol.home == standardPackage {
		return absent[symbol.name]
	}
	return absent[symbol.home+":"+symbol.name]
}

// lacking tells of a function for which nothing was granted.
func lacking(name, need string) string {
	return name + " needs the capability " + need + ": ask for it in the note's #+CAPABILITIES line"
}

// granted reports that a need like "read:DIR or write:DIR" is met.
func (e *Environment) granted(need string) bool {
	if need == "" {
		return true
	}
	kinds := e.config.Access.kinds()
	for _, one := range strings.Split(need, " or ") {
		kind, _, _ := strings.Cut(one, ":")
		if slices.Contains(kinds, kind) {
			return true
		}
	}
	return false
}
