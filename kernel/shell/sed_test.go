package shell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/shell"
)

// quoted returns a text as one word of the shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// isSafe reports whether nothing asks in a command.
func isSafe(t *rapid.T, text string) bool {
	script, err := shell.Parse(text)
	if err != nil {
		return false
	}
	for _, c := range script.Commands {
		if len(c.Opaque) > 0 {
			return false
		}
	}
	return true
}

// sedPieces are the parts of random scripts. mark is a command that would leave a file behind.
var sedPieces = []string{
	"s", "y", "/", "/", "/", "|", "#", ",", ";", ";", "\n", "\\", "[", "]", "[^", "[:", ":]", "a", "b", "e", "w", "p", "d", "q", "r", "R", "W", "{", "}", "!", "$", "1", ",", "~", "+", "I", "M", "g",
	":x", "bx", "t", " ", "\t", "a\\\n", "i text", "c", "=", "n", "N", "h", "x", "l", "z", "F", "e touch mark", "w mark", "s/a/b/", "s/x/touch mark/e", "/a/", "\\,a,", "(", ")", "*", ".", "&", "\\1", "\\n", "v", "#n", "0", "#;", "}e", "e\n", "\\]", "\\/", "é",
}

var sedShapes = []string{"%", "%;%", "%\n%", "1%", "/a/%", "/a%b/p", "s/a/b/%", "s/%/b/p", "s/a/%/g;p", "s|%|b|", "\\,%,p", "{%}", "1{%;p}", "1,3!%", ":x%", ":x;%;bx", "bx%", "a %\np", "a\\\n%\np", "i\\%", "y/ab/%/", "1,/%/d", "#%", "s/a\\/b/%/;p", "s/[%]/x/;p", "$!{%\n}", "q%", "l%"}

// sedScripts makes scripts of shapes and pieces.
var sedScripts = rapid.Custom(func(t *rapid.T) string {
	if rapid.Bool().Draw(t, "loose") {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(sedPieces), 1, 9).Draw(t, "pieces"), "")
	}
	text := "%"
	for range rapid.IntRange(1, 3).Draw(t, "depth") {
		text = strings.Replace(text, "%", rapid.SampledFrom(sedShapes).Draw(t, "shape"), 1)
	}
	for strings.Contains(text, "%") {
		piece := strings.Join(rapid.SliceOfN(rapid.SampledFrom(sedPieces), 0, 3).Draw(t, "pieces"), "")
		text = strings.Replace(text, "%", strings.ReplaceAll(piece, "%", ""), 1)
	}
	return text
})

// TestScriptsAgreeWithSed checks with the sed that is installed that a script which nobody is asked about
// neither runs a command nor touches a file. GNU sed says so itself in its sandbox mode, when it has read
// the script; another one runs it, in a directory in which nothing may appear.
func TestScriptsAgreeWithSed(t *testing.T) {
	sed, err := exec.LookPath("sed")
	if err != nil {
		t.Fatal("no sed to compare with: install one")
	}
	version, _ := exec.Command(sed, "--version").Output() // only GNU sed has it
	gnu := strings.Contains(string(version), "GNU sed")
	directory := t.TempDir()
	input := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(input, []byte("a\nb/c\nxa\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	safe := 0
	check := func(rt *rapid.T) {
		script := sedScripts.Draw(rt, "script")
		scripts := []string{"-n", "-e", script}
		if rapid.Bool().Draw(rt, "two") {
			scripts = append(scripts, "-e", sedScripts.Draw(rt, "second"))
		}
		line := "sed"
		for _, argument := range scripts {
			line += " " + quoted(argument)
		}
		if !isSafe(rt, line) {
			return
		}
		safe++
		arguments := append(scripts, input)
		if gnu {
			arguments = append([]string{"--sandbox"}, append(scripts, os.DevNull)...) // an endless loop reads nothing
		}
		command := exec.Command(sed, arguments...)
		command.Dir = directory
		out, _ := command.CombinedOutput() // a script that sed rejects does nothing
		if strings.Contains(string(out), "sandbox") {
			rt.Fatalf("%q: %s", scripts, out)
		}
		if found, err := os.ReadDir(directory); err != nil || len(found) > 0 {
			rt.Fatalf("%q left %v, %v", scripts, found, err)
		}
	}
	for range 8 {
		rapid.Check(t, check)
	}
	if safe == 0 {
		t.Error("no script was safe: nothing was compared")
	}
}
