package autorun

import (
	"regexp"
	"slices"
	"strings"
)

// tail is how many bytes of a file's end hold local variables for Emacs: 3000 characters.
const tail = 12000

var (
	firstVariables = regexp.MustCompile(`-\*-(.*?)-\*-`)
	lastVariables  = regexp.MustCompile(`(?is)local variables:.*`)
)

// harmless are the variables that say only how a text is read and set, and modes are the values of mode
// that are modes of common languages. Any other word could name a function that Emacs calls.
var (
	harmless = []string{"coding", "lexical-binding", "fill-column", "indent-tabs-mode", "tab-width", "c-basic-offset", "buffer-read-only", "truncate-lines", "no-byte-compile"}
	modes    = []string{"org", "emacs-lisp", "lisp", "scheme", "clojure", "sh", "shell-script", "bash", "python", "ruby", "perl", "c", "c++", "java", "js", "javascript", "typescript", "go", "rust", "haskell", "ocaml", "lua", "r",
		"text", "markdown", "html", "xml", "css", "sql", "yaml", "json", "toml", "conf", "makefile", "latex", "tex", "fundamental", "prog", "outline", "diff", "nix", "cmake", "dockerfile", "tcl", "awk", "asm"}
)

// Variables returns what Emacs would read as file variables when it visits a file with this text, "" if
// there is nothing that could run or set more than how the text is read.
func Variables(text string) string {
	var found []string
	for _, line := range strings.SplitN(text, "\n", 3)[:min(2, 1+strings.Count(text, "\n"))] {
		if match := firstVariables.FindStringSubmatch(line); match != nil && !isHarmless(match[1]) {
			found = append(found, match[0])
		}
	}
	end := text[max(0, len(text)-tail):]
	if page := strings.LastIndex(end, "\n\f"); page >= 0 {
		end = end[page:]
	}
	return strings.Join(append(found, lastVariables.FindString(end)), "\n")
}

// isHarmless reports whether the variables of a first line are harmless.
func isHarmless(content string) bool {
	content = strings.ToLower(strings.TrimSpace(content))
	if !strings.Contains(content, ":") {
		return slices.Contains(modes, content)
	}
	for variable := range strings.SplitSeq(content, ";") {
		name, value, _ := strings.Cut(variable, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case name == "" && value == "", slices.Contains(harmless, name):
		case name == "mode" && slices.Contains(modes, value):
		default:
			return false
		}
	}
	return true
}

// SetsVariables reports whether a text that takes the place of another one gives a file variables that
// it did not have.
func SetsVariables(before, after string) bool {
	now := strings.TrimSpace(Variables(after))
	return now != "" && now != strings.TrimSpace(Variables(before))
}
