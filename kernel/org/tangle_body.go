package org

import (
	"regexp"
	"strconv"
	"strings"
)

// body returns a block's code as it is written to its target: references expanded, variables and
// prologue added, labels removed, without common indentation and without blank lines at both ends.
func (t *tangler) body(p *place) (string, bool) {
	b := p.block
	lines := b.lines
	if expandsNoweb(p.arguments.text("noweb"), forTangling) {
		before := len(t.web.diagnostics)
		lines = t.web.expand(b, p.begin)
		for _, d := range t.web.diagnostics[before:] {
			if d.Severity == Error {
				return "", false
			}
		}
	}
	if comments := p.arguments.text("comments"); t.web.moved && (comments == "org" || comments == "both") {
		t.refuseMoved(b.Line)
	}
	t.web.moved = false
	body := t.expandBody(p, joinLines(lines))
	if labels := coderefs(b.Switches); labels != nil {
		body = labels.ReplaceAllString(body, "")
	}
	return strings.Trim(unindent(body), " \t\n\r"), true
}

// unindent removes the common indentation from a text.
func unindent(text string) string {
	if text != "" && text[0] != ' ' && text[0] != '\t' && text[0] != '\n' && !isEmacsSpace(text) {
		return text // the first line has none: the common case
	}
	lines := linesAt(strings.Split(text, "\n"), 0)
	removeIndentation(lines)
	return joinLines(lines)
}

// expandBody adds to the code what its header arguments ask for. Variables are added for Emacs Lisp
// only: for other languages they are in parts of Org that are not loaded by default.
func (t *tangler) expandBody(p *place, body string) string {
	if _, plain := p.arguments.get("no-expand"); plain {
		return body
	}
	if language := p.block.Language; language == "emacs-lisp" || language == "elisp" {
		return expandVariables(p.arguments, body)
	}
	parts := []string{body}
	if prologue, _ := p.arguments.get("prologue"); prologue.kind == textValue {
		parts = []string{prologue.Value, body}
	}
	if epilogue, _ := p.arguments.get("epilogue"); epilogue.kind == textValue {
		parts = append(parts, epilogue.Value)
	}
	return strings.Join(parts, "\n")
}

// expandVariables puts Emacs Lisp into a let form with its variables.
func expandVariables(all arguments, body string) string {
	var bindings []string
	for _, a := range all.all {
		if a.Key == "var" {
			name, value, _ := literalVariable(a.Value)
			bindings = append(bindings, "("+name+" '"+value+")")
		}
	}
	if bindings == nil {
		return body + "\n"
	}
	return "(let (" + strings.Join(bindings, "\n      ") + ")\n" + body + "\n)"
}

// plainSymbol matches a name that Emacs prints without escapes and that is no number.
var plainSymbol = regexp.MustCompile(`^[A-Za-z_*/<>!$%&^~][-A-Za-z0-9_*/<>!$%&^~+]*$`)

// checkVariables refuses variables whose values Org would compute or look up.
func (t *tangler) checkVariables(p *place) {
	lisp := p.block.Language == "emacs-lisp" || p.block.Language == "elisp"
	for _, a := range p.arguments.all {
		if a.Key != "var" {
			continue
		}
		name, _, ok := literalVariable(a.Value)
		switch {
		case !ok:
			t.fail(a.Line, ":var %s: the value is the result of something else, which is not evaluated; write a number or a string in quotes", a.Value)
		case lisp && (!plainSymbol.MatchString(name) || name == "quote" || name == "function"):
			t.fail(a.Line, ":var %s: %s is no plain name", a.Value, name)
		}
	}
}

// literalVariable reads "name=value" and prints the value as Emacs does. ok is false if the value
// is no literal.
func literalVariable(assignment string) (name, value string, ok bool) {
	name, written, _ := strings.Cut(assignment, "=")
	name = strings.Trim(name, " \t\n\r")
	read, kind := readValue(strings.Trim(written, " \t\n\r"))
	switch kind {
	case numberValue:
		return name, printNumber(read), true
	case textValue:
		if !strings.HasPrefix(strings.TrimLeft(written, " \t\n\r"), `"`) {
			return name, "", false
		}
		return name, `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(read) + `"`, true
	}
	return name, "", false
}

// printNumber prints a number as Emacs does.
func printNumber(written string) string {
	if strings.ContainsAny(strings.TrimSuffix(written, "."), ".e") {
		value, _ := strconv.ParseFloat(written, 64)
		text := ""
		for precision := 15; precision <= 17; precision++ {
			text = strconv.FormatFloat(value, 'g', precision, 64)
			if back, _ := strconv.ParseFloat(text, 64); back == value {
				break
			}
		}
		if !strings.ContainsAny(text, ".eI") {
			text += ".0"
		}
		return text
	}
	sign := ""
	digits := strings.TrimSuffix(written, ".")
	if digits[0] == '-' || digits[0] == '+' {
		sign, digits = strings.TrimPrefix(digits[:1], "+"), digits[1:]
	}
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return "0"
	}
	return sign + digits
}
