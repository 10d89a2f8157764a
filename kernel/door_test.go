package kernel

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// doors are the files, and the packages whose name is followed by a slash, that open files by
// themselves. Everybody else is given texts. What judges is empty for code whose texts no model sees;
// otherwise it says who takes out of them what package withheld withholds.
//
// Whoever wants to read a file for a model uses package files, package memory or another one that
// judges. A new line here is a new way for a model to see the person's files.
var doors = []struct{ path, judges, why string }{
	{"withheld/", "", "it is the rule, and reads the files whose tags count"},
	{"files/open.go", "Lines, SearchFile and the edits ask withheld", "the tools read, search and change files through it"},
	{"files/walk.go", "Search asks withheld, Find tells names only", "the tools search directories through it"},
	{"files/find.go", "names only", "lists a directory"},
	{"memory/index.go", "partsOf asks withheld", "the index of the memory and of the notes"},
	{"memory/store.go", "names only", "looks which days there are"},
	{"memory/upkeep.go", "names only", "looks which files there are"},
	{"memory/profile.go", "Profile asks withheld", "the profiles of the person"},
	{"skillmd/", "Skill.Read asks withheld", "skills that are prose for a model"},
	{"prompt/library.go", "addNotes asks withheld", "the person's notes of the prompt"},
	{"lisp/files.go", "Access.Shown and Access.Keeps, which package skill sets, ask withheld", "what a note was granted to read"},
	{"cover/", "judged.text asks withheld", "what no command sees"},
	{"process/", "the sandbox covers what is withheld", "the output of commands"},
	{"sensor/tasks/file.go", "task.Read goes by the entries of orgquery, which asks withheld", "the person's tasks, whose text becomes a message"},
	{"contacts/book.go", "its entries are those of orgquery, which asks withheld", "contacts.org, which a tool lists"},
	{"openfile/openfile.go", "", "changes a file; nobody is shown what is in it"},
	{"mcp/resultstore.go", "", "results of other programs' tools, which the kernel stored itself"},

	{"atomicfile/", "", "writes files, and compares them with what they were"},
	{"archive/", "", "packs a home for the person"},
	{"config/", "", "settings and keys are for the program"},
	{"doctor/", "", "what it finds is told to the person"},
	{"journal/", "", "its own databases"},
	{"keys/", "", "says what is a key, and shows nothing"},
	{"logfile/", "", "the log is for the person"},
	{"llm/route/consent.go", "", "which servers a person agreed to"},
	{"llm/route/learnt.go", "", "what models were found to refuse, of a file of the kernel"},
	{"agent/scripttest/", "", "tests only"},
	{"channel/channeltest/homeserver/", "", "tests only"},
	{"llm/llmtest/", "", "tests only"},
	{"modeltest/", "", "tasks for models, and the files that they make of them; nothing of a person is there"},
	{"org/tangle_write.go", "", "writes blocks of a note for the person"},
	{"policy/", "", "rules, and names of files"},
	{"tablefile/", "", "what it has decides, and is shown to no model"},
	{"prompt/prompttest/", "", "tests only"},
	{"rpc/rpctest/", "", "tests only"},
	{"sandbox/", "", "what a command sees is decided by who starts it"},
	{"session/", "", "the files of conversations, which the kernel writes"},
	{"settings/settings.go", "", "the settings at the head of a conversation's file"},
	{"skill/", "", "notes are programs"},
	{"agent/person/describe.go", "", "a person is shown the file that they decide about"},
	{"act/edit.go", "", "looks whether an edit makes file variables, and asks the person if so"},
	{"act/reconcile.go", "", "looks whether an edit was made, and tells yes or no"},
	{"channel/outbox/message.go", "", "sends the files that a person allowed to be sent"},
	{"channel/router/keeper.go", "", "keeps the files that people on channels sent, and shows a model the images among them"},
	{"service/note.go", "", "checks a note for the client that has it"},
	{"service/kernel.go", "", "how much memory the kernel has"},
	{"service/voice.go", "", "the person's command that speaks, and the sounds that it made"},
	{"service/runtime.go", "", "how many files the kernel has open"},
	{"cmd/", "", "the program's edge: what a person names is sent"},
}

// openers are the functions by which a program comes to what a file holds, or to its name, by package.
var openers = map[string][]string{
	"os":                    {"Open", "OpenFile", "OpenRoot", "OpenInRoot", "ReadFile", "ReadDir", "DirFS", "CopyFS"},
	"io/ioutil":             {"ReadFile", "ReadDir"},
	"io/fs":                 {"ReadFile", "ReadDir", "WalkDir", "Glob", "Sub"},
	"path/filepath":         {"Walk", "WalkDir", "Glob"},
	"os/exec":               {"Command", "CommandContext", "Cmd"},
	"syscall":               {"Open", "Openat", "ForkExec", "StartProcess", "Exec"},
	"embed":                 nil, // what is built in is the program's own
	"golang.org/x/sys/unix": {"Open", "Openat", "Openat2", "OpenTree", "Exec"},
}

// opensFiles returns the places at which a file's code opens files.
func opensFiles(files *token.FileSet, file *ast.File) (places []string) {
	imported := map[string]string{}
	for _, i := range file.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		if name == "." {
			places = append(places, files.Position(i.Pos()).String())
		}
		imported[name] = path
	}
	ast.Inspect(file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if from, ok := selector.X.(*ast.Ident); ok && from.Obj == nil {
			for _, name := range openers[imported[from.Name]] {
				if selector.Sel.Name == name {
					places = append(places, files.Position(n.Pos()).String())
				}
			}
		}
		return true
	})
	return places
}

// TestDoors: files are opened in the places of the table only, and whoever shows them to a model asks
// package withheld.
func TestDoors(t *testing.T) {
	used, asks := map[string]bool{}, map[string]bool{}
	walk(t, func(path string, files *token.FileSet, file *ast.File) {
		path = filepath.ToSlash(path)
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, i := range file.Imports {
			if i.Path.Value == `"`+kernel+`withheld"` {
				asks[filepath.ToSlash(filepath.Dir(path))] = true
			}
		}
		places := opensFiles(files, file)
		for _, d := range doors {
			if path == d.path || strings.HasSuffix(d.path, "/") && strings.HasPrefix(path, d.path) {
				used[d.path] = used[d.path] || len(places) > 0
				return
			}
		}
		for _, place := range places {
			t.Errorf("%s: it opens a file or runs a program, and has no row in the table of doors in door_test.go: a model may see what is withheld; read it through package files, or say there why none does", place)
		}
	})
	for _, d := range doors {
		if !used[d.path] {
			t.Errorf("%s opens nothing: its row in the table of doors is not needed", d.path)
		}
	}
	for _, in := range []string{"files", "memory", "skillmd", "prompt", "skill", "orgquery", "tool", "cover"} {
		if !asks[in] {
			t.Errorf("package %s shows models what files hold, and does not ask package withheld", in)
		}
	}
}
