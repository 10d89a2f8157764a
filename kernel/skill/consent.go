package skill

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/lisp"
	"org-agent/kernel/withheld"
)

// consent is the decision about the capabilities that a note asks for.
type consent struct {
	note         string // its path without links
	blocks       string
	capabilities []Capability
	granted      bool
	since        string
	// why is the reason why nothing is granted, or "" if everything is granted or nothing is
	// requested.
	why string
}

// same reports whether another decision has the same result.
func (c *consent) same(other consent) bool {
	return c.granted == other.granted && c.why == other.why && c.since == other.since && slices.Equal(c.capabilities, other.capabilities)
}

// names returns the names in policy.org of the capabilities that can be granted.
func (c *consent) names() []string {
	var names []string
	for _, capability := range c.capabilities {
		if capability.Refused == "" && !slices.Contains(names, capability.Name) {
			names = append(names, capability.Name)
		}
	}
	return names
}

// request records the capabilities that the note requests, and warns of those that are not granted.
func (n *Note) request(requested []capabilityRequest) {
	n.requested = requested
	for _, a := range requested {
		n.Capabilities = append(n.Capabilities, a.word())
	}
	n.consent = n.options.Grants.decide(n)
	warn := func(a capabilityRequest, format string, arguments ...any) {
		n.Diagnostics = append(n.Diagnostics, Diagnostic{File: n.File, Line: a.line, Column: a.column, Warning: true, Message: fmt.Sprintf(format, arguments...)})
	}
	for i, c := range n.consent.capabilities {
		if c.Refused != "" {
			warn(requested[i], "%s cannot be granted: %s", encodeName(c.Word, false), c.Refused)
		}
	}
	if names := n.consent.names(); len(names) > 0 && !n.consent.granted {
		first := requested[0]
		first.column = 1
		warn(first, "not granted: %s (%s); C-c C-c here or %q grants it", strings.Join(names, " "), n.consent.why, grantCommand(n.File))
	}
}

// decide decides about the capabilities that a note asks for.
func (g *Grants) decide(n *Note) consent {
	c := consent{blocks: n.Hash}
	if len(n.requested) == 0 {
		return c
	}
	if g == nil {
		g = noGrants()
	}
	for _, a := range n.requested {
		c.capabilities = append(c.capabilities, g.understand(a.kind, a.what))
	}
	if n.options.Shipped {
		c.why = "notes that came with the program are granted nothing"
		return c
	}
	path, err := filepath.Abs(n.File)
	if err == nil {
		path, err = lisp.RealPath(path)
	}
	if err != nil {
		c.why = err.Error()
		return c
	}
	c.note = path
	c.why, c.since = g.withheldReason(&c)
	c.granted = c.why == ""
	return c
}

// withheldReason returns the reason why the capabilities are not granted, or "" if they are, and
// the day since which they are or were granted.
func (g *Grants) withheldReason(c *consent) (why, since string) {
	t := g.table.Load()
	if len(t.faults) > 0 {
		return fmt.Sprintf("%s:%d is faulty, and voids all grants", filepath.Base(t.faults[0].File), t.faults[0].Line), ""
	}
	names := c.names()
	row, found := t.grants[c.note]
	since = row.since
	from := ""
	if since != "" {
		from = " since " + since
	}
	switch {
	case len(names) == 0:
		return "nothing of it can be granted", ""
	case c.note == "" || !found:
		return "never granted", ""
	case row.blocks != c.blocks:
		return "blocks changed" + from, since
	case !slices.Equal(row.capabilities, names):
		return "capabilities changed" + from, since
	}
	return "", since
}

// A withheldError is the error in a note that uses a capability which it was not granted. Its text
// may be shown to the person with whom the agent talks.
type withheldError struct{ message string }

func (e *withheldError) Error() string { return e.message }

// access returns the files, variables and servers that the note's Lisp can reach. Kinds that were requested
// and not granted are withheld.
func (n *Note) access() lisp.Access {
	g, c := n.options.Grants, n.consent
	if len(c.capabilities) == 0 {
		return lisp.Access{}
	}
	access := lisp.Access{
		Check: func(reason any, kind, name string) error { return g.allow(invocationOf(reason), c, n.File, kind, name) },
		Dry:   func(reason any) bool { return invocationOf(reason).effectless() },
		// What a note reads may go to a model.
		Shown: func(path string, text []byte) []byte {
			shown, whole := withheld.Visible(path, string(text))
			if whole {
				return text
			}
			return []byte(shown)
		},
		Keeps: keepsWithheld,
	}
	if g != nil {
		access.Directory, access.Home = g.config.Home, g.config.User
	}
	for _, capability := range c.capabilities {
		switch kind := capability.kind; {
		case kind == "exec":
		case kind == "net":
			access.Ask = n.askServer
		case !c.granted || capability.Refused != "":
			access.Withheld = append(access.Withheld, kind)
		case kind == "read":
			access.Read = append(access.Read, capability.what)
		case kind == "write":
			access.Write = append(access.Write, capability.what)
		case kind == "env":
			access.Environment = append(access.Environment, capability.what)
		}
	}
	return access
}

// keepsWithheld returns an error for a change of a file by which text that no model sees would be lost or
// shown.
func keepsWithheld(path string, after func(before string) string) error {
	before, hides, err := withheld.Hidden(path)
	switch {
	case err != nil:
		return fmt.Errorf("look whether something in %s is not for models: %w", path, err)
	case !hides || after != nil && withheld.Keeps(path, before, after(before)):
		return nil
	}
	return fmt.Errorf("%s has text tagged :noagent:, :@private: or :crypt:, which notes do not read, and this would change it; only the person does that", path)
}

// allow decides about one use of a capability, while the note runs.
func (g *Grants) allow(o *invocation, c consent, file, kind, name string) error {
	var words []string
	for _, capability := range c.capabilities {
		if capability.kind != kind {
			continue
		}
		if capability.Refused != "" && (name == "" || name == capability.what) {
			return &withheldError{fmt.Sprintf("%s is not for notes: %s", encodeName(capability.Word, false), capability.Refused)}
		}
		words = append(words, encodeName(capability.Word, false))
	}
	why := c.why
	if c.granted {
		why, _ = g.withheldReason(&c)
	}
	if why != "" {
		o.withheld = true
		return &withheldError{fmt.Sprintf("%s is not granted (%s); %s", strings.Join(words, " "), why, howToGrant(file))}
	}
	if kind == "env" {
		return nil
	}
	if purpose := o.purpose; kind == "write" && !purpose.mayWrite() {
		return fmt.Errorf("a file was to be written by %s; a note writes in a skill's neuro function", purpose)
	}
	return g.refuseFile(kind, name)
}

func howToGrant(file string) string {
	return fmt.Sprintf("%q grants it, or C-c C-c on the line #+CAPABILITIES", grantCommand(file))
}

// grantCommand returns the command line with which a person grants what a note asks for.
func grantCommand(file string) string {
	return "org-agent skill grant " + strings.TrimSuffix(filepath.Base(file), ".org")
}

// unproven turns the faults of tests that used a capability without a grant into warnings. The note
// becomes live without those proofs.
func unproven(faults []Diagnostic) []Diagnostic {
	warnings := slices.Clone(faults)
	for i := range warnings {
		warnings[i].Warning = true
	}
	return warnings
}
