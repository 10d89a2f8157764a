package kernel

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Bounds of what one type may be before somebody has to say why it is one thing.
const (
	mostMethods = 40
	mostFields  = 20
)

// large are the types beyond the bounds, with the reason. A type that has come within them again
// is to be taken out.
var large = map[string]string{
	"lisp.Call":              "the evaluation of one call: what every builtin works with, by families of files",
	"lisp.Compiler":          "a method for each special form and its parts",
	"org.Converter":          "a state machine over lines: each construct of Markdown has its fields and its methods",
	"journal.Turn":           "a row: a field for each column",
	"skill.Note":             "a method for each function that the kernel gives to notes",
	"config.Settings":        "a field for each setting of config.org",
	"protocol.StatusResult":  "a field for each thing that status tells",
	"protocol.SkillStatus":   "a field for each thing that a list of skills tells",
	"cmd/org-agent.commands": "a field for each command",
	"rpc/rpctest.Editor":     "a field for each thing that a test can look at",
}

// TestLargeTypes: a type with more methods or fields than one can keep in mind has a reason.
func TestLargeTypes(t *testing.T) {
	methods, fields := map[string]int{}, map[string]int{}
	walk(t, func(path string, _ *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		of := func(name string) string { return filepath.ToSlash(filepath.Dir(path)) + "." + name }
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if name := receiver(d); name != "" {
					methods[of(name)]++
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if named, ok := spec.(*ast.TypeSpec); ok {
						if s, ok := named.Type.(*ast.StructType); ok {
							fields[of(named.Name.Name)] = s.Fields.NumFields()
						}
					}
				}
			}
		}
	})
	beyond := map[string]bool{}
	for name, n := range methods {
		if n > mostMethods {
			beyond[name] = true
		}
	}
	for name, n := range fields {
		if n > mostFields {
			beyond[name] = true
		}
	}
	for name := range beyond {
		if large[name] == "" {
			t.Errorf("%s has %d methods and %d fields: is it one thing, or several under one name?", name, methods[name], fields[name])
		}
	}
	for name := range large {
		if !beyond[name] {
			t.Errorf("%s is within the bounds: take it out of the list", name)
		}
	}
}

// receiver is the type that a function is a method of, "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	kind := f.Recv.List[0].Type
	if pointer, ok := kind.(*ast.StarExpr); ok {
		kind = pointer.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	name, _ := kind.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}
