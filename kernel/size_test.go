package kernel

import (
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
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
	"lisp.Call":              "one evaluation: each builtin charges, signals and calls through it, and is a method in the file of its family",
	"lisp.Compiler":          "a method for each special form and its parts, which compile each other in one scope",
	"org.Converter":          "a state machine over lines: each construct of Markdown has its fields and its methods in a file, and each line can close any of them",
	"org/inert.Writer":       "a state machine over lines as well: a field for each thing of Org that a line can be within",
	"journal.Turn":           "a row: a field for each column",
	"skill.Note":             "what a note is from its text to its calls: reading, loading, checking, testing and applying it, a file for each",
	"config.Settings":        "a field for each setting of config.org",
	"prompt.Facts":           "the values of a prompt: a field for each variable of its templates",
	"protocol.StatusResult":  "a field for each thing that status tells",
	"protocol.SkillStatus":   "a field for each thing that a list of skills tells",
	"cmd/org-agent.commands": "a field for each command",
	"protocol.Ask":           "a field for each thing that is sent about what waits for a person",
	"orgquery.Entry":         "a heading of org and what a query adds to it",
	"daemon.daemon":          "wiring: a field for each part of the kernel, and a method that opens it with what it needs of the others",
	"llm/llmtest.Exchange":   "a field for each thing that a script of a test can tell the server",
	"rpc/rpctest.Editor":     "a field for each thing that a test can look at",
}

// A shape is what a type declares, and the types of this module that it embeds.
type shape struct {
	methods, fields int
	embedded        []string
}

// TestLargeTypes: a type with more methods or fields than one can keep in mind has a reason. What it
// gets by embedding counts as its own.
func TestLargeTypes(t *testing.T) {
	shapes := map[string]*shape{}
	walk(t, func(path string, _ *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		directory := filepath.ToSlash(filepath.Dir(path))
		of := func(name string) *shape {
			name = directory + "." + name
			if shapes[name] == nil {
				shapes[name] = &shape{}
			}
			return shapes[name]
		}
		imported := importedPackages(file)
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if name := receiver(d); name != "" {
					of(name).methods++
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if named, ok := spec.(*ast.TypeSpec); ok {
						of(named.Name.Name).declare(named.Type, directory, imported)
					}
				}
			}
		}
	})
	beyond := map[string]bool{}
	for name := range shapes {
		methods, fields := total(shapes, name)
		if methods <= mostMethods && fields <= mostFields {
			continue
		}
		beyond[name] = true
		if large[name] == "" {
			t.Errorf("%s has %d methods and %d fields, with what it embeds: is it one thing, or several under one name?", name, methods, fields)
		}
	}
	for name := range large {
		if !beyond[name] {
			t.Errorf("%s is within the bounds: take it out of the list", name)
		}
	}
}

// declare notes what a type is declared to be.
func (s *shape) declare(kind ast.Expr, directory string, imported map[string]string) {
	var list *ast.FieldList
	switch kind := kind.(type) {
	case *ast.StructType:
		list = kind.Fields
		s.fields += list.NumFields()
	case *ast.InterfaceType:
		list = kind.Methods
		s.methods += list.NumFields()
	default:
		return
	}
	for _, field := range list.List {
		if len(field.Names) > 0 {
			continue
		}
		kind := field.Type
		if pointer, ok := kind.(*ast.StarExpr); ok {
			kind = pointer.X
		}
		switch kind := kind.(type) {
		case *ast.Ident:
			s.embedded = append(s.embedded, directory+"."+kind.Name)
		case *ast.SelectorExpr:
			if of, ok := kind.X.(*ast.Ident); ok && imported[of.Name] != "" {
				s.embedded = append(s.embedded, imported[of.Name]+"."+kind.Sel.Name)
			}
		}
	}
}

// importedPackages are the directories of this module that a file imports, by the names it has them under.
func importedPackages(file *ast.File) map[string]string {
	imported := map[string]string{}
	for _, i := range file.Imports {
		full, _ := strconv.Unquote(i.Path.Value)
		directory, ours := strings.CutPrefix(full, kernel)
		if !ours {
			continue
		}
		name := path.Base(directory)
		if i.Name != nil {
			name = i.Name.Name
		}
		imported[name] = directory
	}
	return imported
}

// total is how many methods and fields a type has with those of what it embeds.
func total(shapes map[string]*shape, name string) (methods, fields int) {
	s := shapes[name]
	if s == nil {
		return 0, 0
	}
	methods, fields = s.methods, s.fields
	for _, embedded := range s.embedded {
		m, f := total(shapes, embedded)
		methods, fields = methods+m, fields+f
	}
	return methods, fields
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
