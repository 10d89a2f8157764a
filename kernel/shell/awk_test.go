package shell_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// awkPieces are the parts of random programs. None of them loops. "mark" and what runs are looked for.
var awkPieces = []string{
	"print", "print ", "printf ", "printf(", "$1", "$2", " > ", ">", ">", " >> ", "\"mark\"", "\"mark\"", "\"a\"", "x", "1", "2", ",", ",\n", "(", ")", "(", ")", "[", "]", "{", "}", ";", "\n", "/", "/a/", "/[/]/", "\"", "\\", "#", " ? ", " : ", " ?\n", " :\n", " && ", " &&\n", " || ", "||\n", "!", "++", "-", " in ", "if (", "if (x) ", "else ", "length", "getline", "\"touch mark\" | getline", "| \"sh\"",
	"system(\"touch mark\")", "return", "BEGIN", "END ", "=", "==", "~", "$", " / ", "\\\n", "substr(x,1)", "delete x", "func", "function f(y) {", "f(1)", "@", " < ", "\"/\"", "/\"/", "[[:alpha:]]", "exit ", "sub(/a/,", ";print ", " x > 1 ",
}

var awkShapes = []string{"BEGIN{print %}", "BEGIN{%}", "{print % > \"mark\"}", "BEGIN{print %\n> \"mark\"}", "BEGIN{print (%) > \"mark\"}", "BEGIN{print %; x > \"mark\"}", "BEGIN{if (x % \"mark\") print %}", "BEGIN{x = % > \"mark\"}", "BEGIN{printf(\"a\" %) % \"mark\"}", "BEGIN{print % / 2 > \"mark\" / 1}", "BEGIN{print /%/ > \"mark\"}", "% {print}", "BEGIN{print \"%\" > \"mark\"}", "BEGIN{print # %\n> \"mark\"}", "BEGIN{print 1 % \n % > \"mark\"}", "BEGIN{x[1]=1; print x[% > \"mark\"]}"}

var awkPrograms = rapid.Custom(func(t *rapid.T) string {
	text := "%"
	if rapid.IntRange(0, 4).Draw(t, "loose") > 0 {
		text = rapid.SampledFrom(awkShapes).Draw(t, "shape")
	}
	for strings.Contains(text, "%") {
		text = strings.Replace(text, "%", strings.Join(rapid.SliceOfN(rapid.SampledFrom(awkPieces), 0, 5).Draw(t, "pieces"), ""), 1)
	}
	return text
})

// TestProgramsAgreeWithAwk runs programs about which nobody is asked with every awk that is installed, in a
// directory in which nothing may appear.
func TestProgramsAgreeWithAwk(t *testing.T) {
	var versions [][]string
	for _, name := range []string{"gawk", "mawk", "original-awk", "bwk", "busybox", "awk"} {
		if path, err := exec.LookPath(name); err == nil {
			versions = append(versions, append([]string{path}, map[bool][]string{true: {"awk"}}[name == "busybox"]...))
		}
	}
	if len(versions) == 0 {
		t.Fatal("no awk to compare with: install one")
	}
	directory, input := t.TempDir(), filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(input, []byte("a b\n1 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	safe := 0
	rapid.Check(t, func(rt *rapid.T) {
		program := awkPrograms.Draw(rt, "program")
		if !isSafe(rt, "awk "+quoted(program)) {
			return
		}
		safe++
		for _, version := range versions {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			command := exec.CommandContext(ctx, version[0], append(version[1:], program, input)...)
			command.Dir = directory
			_ = command.Run() // a program that it rejects does nothing
			cancel()
			if found, err := os.ReadDir(directory); err != nil || len(found) > 0 {
				rt.Fatalf("%s: %q left %v, %v", version, program, found, err)
			}
		}
	})
	if safe == 0 {
		t.Error("no program was safe: nothing was compared")
	}
}
