// Package kernel holds no code: its test is the table of who may import whom.
package kernel

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// layout says what each package under kernel/ is for, and which other packages
// it may import. Packages that do not exist yet have rows already, so that their
// first line of code keeps to the layout. A subpackage without a row of its own
// has its parent's row, and may import the parent.
var layout = []struct {
	path string // below kernel/
	may  string // blank-separated; * is everything
	why  string
}{
	{"text", "", "clips, folds and makes plain what is shown to people; every package may import it"},
	{"plist", "", "reads and prints s-expressions; everything stands on it"},
	{"org", "org/inert", "knows Org text and nothing of who wants it. org/inert, because what it converts is a model's"},
	{"org/inert", "", "the one list of what is held in a model's text; it knows no other package's Org, so that it judges for itself"},
	{"protocol", "", "the wire's words, without behaviour"},
	{"withheld", "", "the one rule of what no model sees of a text; every reader asks it, so it knows none of them"},
	{"orgquery", "suggest org protocol withheld", "finds and changes entries of Org texts; where a text comes from is known above"},
	{"openfile", "atomicfile orgquery", "changes a file that an editor may have open; what is changed is known above"},
	{"contacts", "atomicfile channel openfile org orgquery protocol suggest", "who talked to the agent and where they are found, in the person's own file; who may talk is decided elsewhere"},
	{"agenda", "org orgquery", "what stands on days; it looks at no clock"},
	{"schedule", "org", "when a task is due, by a clock on the wall; it asks for no time"},
	{"task", "org orgquery protocol schedule suggest", "the person's tasks in an Org text, and what is written when one was done; it reads no file and asks for no time"},
	{"journal", "journal/pages protocol lru", "keeps what was said and done; it interprets none of it"},
	{"journal/pages", "", "what is left in a damaged database, page by page; what a row means is known above"},
	{"journal/powerloss", "", "tests only: the file system of its process loses the power, and fails"},
	{"keys", "", "where people and programs keep keys and passwords, as tables that are read from top to bottom"},
	{"autorun", "", "the names by which other programs are told what to run; whoever fences or judges goes by them"},
	{"sandbox", "autorun", "runs commands in a fence"},
	{"shell", "", "what a command line would run; whether it may is judged above"},
	{"files", "orgquery protocol atomicfile withheld", "reads, finds and changes files to the byte; whether one may be touched is judged above. orgquery, because no change may touch what is withheld"},
	{"fetch", "protocol", "asks addresses and cannot be led inside; it does not judge whether it may"},
	{"cover", "keys withheld", "what no command sees of its directory; the sandbox covers it"},
	{"wayout", "", "a proxy for commands; which servers are reached is decided by who starts it"},
	{"process", "cover protocol sandbox wayout", "the commands of conversations, and what they wrote; who may run them is said above"},
	{"websearch", "fetch protocol secret", "asks the one search server that the person named. fetch, because it knows what passes when a server is asked again"},
	{"watch", "", "tells that files changed; what they are is known above"},
	{"diff", "", "what differs between two texts; whoever shows a change asks it"},
	{"action", "plist protocol suggest", "an action as it was proposed and as the kernel sees it, and what there can be, as data; plist, because that is what is written"},
	{"describe", "diff plist", "what a person is shown of an action; it decides nothing"},
	{"suggest", "", "what a misspelt name was meant to be; whoever tells people of one asks it"},
	{"lru", "", "keeps what was used lately; what that is is known above"},
	{"atomicfile", "", "writes a file whole or not at all; whose it is is known above"},
	{"tablefile", "atomicfile", "a person's file of tables that decide: read as it is now, changed only from what was read; what the tables say is known above"},
	{"secret", "", "text that prints as REDACTED; whose it is is known above"},
	{"config", "llm llm/catalog suggest org plist secret atomicfile", "settings are an Org file"},
	{"llm", "llm/transport secret", "talks to models; what the text means is decided above"},
	{"llm/builtin", "envelope llm", "the guide that is no model: it answers what is in a message of a chat, and not what stands around it"},
	{"llm/drivers", "llm llm/*", "the one list of the protocols of model servers"},
	{"llm/transport", "llm secret", "what providers need to ask a server by HTTP, and the errors of answers that are none; it knows no protocol"},
	{"llm/catalog", "llm", "what is known of models by their names: prices, windows; it asks nobody"},
	{"llm/dialect", "llm lru plist protocol", "how models are shown calls and results; plist, because actions are written so; protocol, because they are JSON for servers with functions"},
	{"llm/toolcall", "llm plist protocol", "finds the calls that models write as text; plist, because some write them so"},
	{"llm/route", "atomicfile config llm llm/catalog llm/toolcall llm/transport suggest protocol secret", "which model answers, and what it can take; config, because the settings say which there are; transport says which servers are on this machine"},
	{"lisp", "plist", "the language, without the kernel's functions"},
	{"lisp/lib/dexador", "lisp", "the library dexador, over the tables of the language; it asks nobody itself"},
	{"lisp/lib/json", "lisp", "the library cl-json, over the tables of the language"},
	{"lisp/lib/localtime", "lisp", "the library local-time, over the tables of the language"},
	{"lisp/lib/ppcre", "lisp", "the library cl-ppcre, over the tables of the language"},
	{"lisp/lib/str", "lisp lisp/lib/ppcre", "the library str, over the tables of the language"},
	{"lisp/lib/uiop", "lisp", "the library UIOP, over the tables of the language"},
	{"lisp/lib", "lisp lisp/lib/dexador lisp/lib/json lisp/lib/localtime lisp/lib/ppcre lisp/lib/str lisp/lib/uiop", "the list of the libraries that notes have"},
	{"skill", "action suggest org lisp lisp/lib plist watch atomicfile withheld fetch secret", "notes become functions; it performs nothing. action, because a note defines kinds of actions as specs; withheld, because notes read files; fetch and secret, because they ask servers"},
	{"skillmd", "suggest skill watch withheld", "skills that are prose for a model; it runs nothing. skill, because their faults are told alike"},
	{"prompt", "org plist withheld", "composes text"},
	{"memory", "journal org atomicfile watch withheld", "files and an index over them, which it keeps what the files are"},
	{"memory/embedding", "llm memory", "has a server make the vectors of notes; memory itself asks none. A test asks a real one"},
	{"settings", "config journal suggest org protocol watch", "what holds for a message, from all that can set it; what takes effect is done by whoever answers"},
	{"persona", "memory suggest prompt protocol watch", "who answers and who the person is, by the files of the home; it composes nothing"},
	{"policy", "action autorun keys suggest org protocol journal shell tablefile", "the only maker of verified actions must stay small enough to read; it sees actions and no text"},
	{"kind", "action describe policy protocol", "all that is known of one kind of action, and the one function that performs; the kinds themselves are known above"},
	{"notekind", "action describe kind plist policy skill", "the actions that notes define, as kinds; what a note can do is said in skill"},
	{"notetool", "plist protocol skill suggest tool", "the tools that notes define, as tools; what a note can do is said in skill"},
	{"act", "action autorun describe diff kind plist policy protocol", "the kinds that are built in, and nothing else"},
	{"undo", "action journal kind protocol", "how a turn is taken back, from the journal; what an act is its kind says"},
	{"tool", "agenda autorun contacts cover fetch files memory suggest org orgquery process schedule skillmd protocol sandbox task websearch withheld", "tools do; they do not decide. skillmd, because what they read for a model is in it"},
	{"mcp", "suggest protocol sandbox secret tool", "other people's tools look like ours"},
	{"hook", "action suggest plist policy protocol sandbox skill", "asks what people wrote to be asked; what they say only narrows"},
	{"session", "journal llm org protocol atomicfile envelope", "conversations: order, delivery, files; it does not answer. protocol, because what it delivers are the wire's messages; envelope, because a turn is told messages of chats"},
	{"logfile", "", "the log as a file that grows; what it says is everybody's"},
	{"explain", "action describe journal org protocol", "tells what a turn did, from the journal; it is read by people and decides nothing"},
	{"agent/history", "action journal llm llm/toolcall plist prompt protocol lru", "what a model is shown of earlier turns, and what is noted of them; it answers nothing"},
	{"agent/composer", "action agent/history envelope journal llm memory plist prompt protocol settings skill skillmd tool", "what a model is sent; it reads and composes, sends nothing and writes nothing. action and plist, because it is sent their forms, and what it may call becomes one"},
	{"agent/scripttest", "", "tests only: a script and what is wanted of it, in one file"},
	{"agent/gate", "action journal kind policy protocol tool", "from a proposed action to what becomes of it; it knows neither the turn's rounds nor its model. tool, because a person who declines denies"},
	{"agent/loop", "action agent/gate agent/history config journal llm plist policy protocol session skill", "the steps of a turn and what they take; who it is for and what its model is sent are known above"},
	{"agent/reply", "action agent/composer agent/history agent/loop journal llm lru plist prompt protocol skill suggest", "a request is sent and its reply read, shown and recorded; what it proposes is done elsewhere"},
	{"agent/person", "action agent/gate describe journal kind plist policy protocol session tool", "what waits for people, and the secrets that they give; what follows from a decision is known above"},
	{"agent/subagent", "action config journal policy prompt protocol session skill tool", "what is handed on, and what it may do; how many work at once, and that what came of each is told once. It answers nothing"},
	{"agent/complete", "action agent/composer journal llm policy protocol", "what a person would write next; it is no turn"},
	{"agent/extract", "agent/composer journal llm memory plist protocol tool", "what to keep of a conversation: when it is looked at, and what a model proposes; a person decides"},
	{"agent", "agent/composer agent/gate agent/history agent/loop agent/person agent/reply agent/subagent action kind hook plist protocol journal config llm skill prompt memory policy tool session settings", "how a turn is answered: it wires the packages below it"},
	{"reaction", "journal protocol", "which skills react to what happens in the person's Org files, and how often; what they do is not its business"},
	{"sensor", "plist protocol", "what wakes the agent only reports; plist, because notes write their events so"},
	{"sensor/tasks", "atomicfile journal openfile org orgquery protocol schedule sensor suggest task watch", "has the person's tasks done when they are due, once; how is not its business"},
	{"sensor/heartbeat", "agenda config journal org orgquery plist protocol sensor", "looks whether there is anything to do before a model is asked; how it is asked is not its business"},
	{"channel", "act action channel/rich kind policy protocol", "the words for chats elsewhere, and a kind of action that sends; a driver below it knows only its chat"},
	{"channel/live", "channel channel/drivers config", "runs the channels of the settings; what becomes of messages is known above"},
	{"channel/messenger", "channel channel/outbox channel/rich journal protocol tool", "sends what tools say, through the outbox; whether it may is decided above"},
	{"channel/outbox", "channel channel/rich journal protocol", "sends what is in the journal, once"},
	{"channel/stream", "channel channel/outbox channel/rich journal protocol", "shows an answer while it is written; what is shown is verified above"},
	{"channel/letter", "channel channel/access channel/rich describe journal protocol", "what an owner decides in a private chat, by buttons; what a decision does is known above"},
	{"channel/router", "channel channel/access envelope journal protocol sensor", "takes what happens in chats to conversations; who may talk is decided in access"},
	{"envelope", "plist protocol", "how a model is shown a message of a chat; plist, because that is its form"},
	{"channel/rich", "org", "the text of chats: characters, and how they look"},
	{"channel/signal", "channel channel/rich lru", "the chats of Signal, by a signal-cli that runs beside; it knows nothing of the kernel"},
	{"channel/channeltest", "channel channel/rich", "tests only: a chat in memory, what every driver keeps, and servers of chats"},
	{"channel/webhook", "channel channel/rich secret", "programs of the same machine as a chat; what a message means is known above"},
	{"channel/telegram", "channel channel/rich lru secret", "bots of Telegram: updates and methods; what a message means is known above"},
	{"channel/channeltest/telegramtest", "", "tests only: a Bot API server; it knows none of the driver's types, so that it judges for itself"},
	{"channel/matrix", "channel channel/rich lru secret", "rooms of a homeserver: its events and requests, and the keys of encrypted ones; what a message means is known above"},
	{"channel/channeltest/matrixtest", "", "tests only: a homeserver; it knows none of the driver's types, so that it judges for itself"},
	{"channel/channeltest/homeserver", "", "tests only: runs a homeserver of other people's as a process"},
	{"channel/drivers", "channel channel/* config secret suggest", "the one list of the chats; what one is opened with are the settings of its heading"},
	{"channel/access", "channel org suggest tablefile", "who may talk on the channels, by a file of the person's; what becomes of a message is done above"},
	{"peer", "channel protocol journal", "other agents are a channel with an identity"},
	{"matcher", "llm journal", "finds what fits a request"},
	{"rpc", "suggest protocol plist", "transport knows nothing of what is above it"},
	{"clients", "describe kind protocol rpc tool", "who is connected, and who of them is asked to perform, to answer and is told; it decides nothing else. kind and tool, because their errors say that nobody is there"},
	{"doctor", "action channel/access config journal llm memory policy prompt protocol rpc sandbox secret skill watch websearch", "looks at every package's files from outside, and mends them"},
	{"archive", "config journal protocol", "packs an instance and unpacks it; what the files say is not its business"},
	{"instance", "config cover fetch hook keys mcp policy process sandbox secret skill skillmd wayout websearch", "what one home's paths and settings are for other packages; a kernel and the commands that need none are made of it"},
	{"service", "action agent agent/gate agent/history atomicfile channel channel/access config doctor explain journal kind lisp llm llm/builtin llm/route logfile memory org policy prompt protocol reaction rpc sensor/heartbeat sensor/tasks session settings skill skillmd tool undo", "answers the methods of the wire, a small type for each family; what it answers from is made elsewhere"},
	{"modeltest", "action config journal plist protocol rpc", "what a model does in each dialect; it runs kernels that it is given, and knows them by the wire and the journal"},
	{"daemon", "*", "wiring"},
	{"cmd", "*", "the program's edge"},
	{"walk", "", "tests only: what README.org and the manual tell people to do, done in a real Emacs"},
}

// owners names the packages that may import a dependency which must not spread.
var owners = []struct {
	dependency string // an import path or a prefix of one
	packages   string // blank-separated
	why        string
}{
	{"database/sql", "journal channel/matrix", "one place knows SQL; the keys of encrypted rooms are in a database of the library that uses them"},
	{"modernc.org/sqlite", "journal channel/matrix", "one place knows SQL; the keys of encrypted rooms are in a database of the library that uses them"},
	{"github.com/sashabaranov/go-openai", "llm/openai", "the provider's types stay behind llm.Provider"},
	{"github.com/anthropics/anthropic-sdk-go", "llm/anthropic", "the provider's types stay behind llm.Provider"},
	{"github.com/openai/openai-go", "llm/responses", "the provider's types stay behind llm.Provider"},
	{"github.com/nats-io", "peer", "peers only"},
	{"github.com/netresearch/go-cron", "schedule", "one place reads the rules of cron"},
	{"github.com/sourcegraph/jsonrpc2", "rpc", "the wire stays behind rpc's handler"},
	{"github.com/fsnotify/fsnotify", "watch", "one place waits until files are quiet"},
	{"go.yaml.in/yaml", "skillmd", "front matter is the one place with YAML"},
	{"codeberg.org/readeck/go-readability", "fetch", "one place reads what strangers write as HTML"},
	{"github.com/JohannesKaufmann/html-to-markdown", "fetch", "one place reads what strangers write as HTML"},
	{"golang.org/x/net", "fetch", "one place reads what strangers write as HTML"},
	{"mvdan.cc/sh", "shell", "one place reads what a shell would"},
	{"github.com/landlock-lsm/go-landlock", "sandbox", "one place makes fences"},
	{"github.com/modelcontextprotocol/go-sdk", "mcp", "one place speaks with other people's tools"},
	{"maunium.net/go/mautrix", "channel/matrix", "Matrix's types stay behind channel.Driver"},
	{"github.com/go-telegram/bot", "channel/telegram", "Telegram's types stay behind channel.Driver"},
	{"github.com/creack/pty", "process", "one place gives terminals"},
	{"github.com/rivo/uniseg", "channel/rich", "one place knows what people see as one character"},
	{"github.com/alecthomas/kong", "cmd", "flags are the program's edge"},
}

// forbidden are names that say nothing about what a package provides.
var forbidden = []string{"util", "utils", "common", "types", "helpers", "helper", "manager", "misc", "base", "core", "models"}

type listed struct {
	ImportPath string
	Imports    []string
}

const kernel = "org-agent/kernel/"

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// row finds the table's row for a package path below kernel/.
func row(path string) (name, may, why string, ok bool) {
	for path != "." && path != "" {
		for _, r := range layout {
			if r.path == path {
				return r.path, r.may, r.why, true
			}
		}
		path = filepath.Dir(path)
	}
	return "", "", "", false
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		path, inKernel := strings.CutPrefix(p.ImportPath, kernel)
		if !inKernel {
			continue
		}
		name, may, why, ok := row(path)
		if !ok {
			t.Errorf("%s has no row in the table: what is it for, and what may it import?", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			if err := allowed(path, name, may, imported); err != nil {
				t.Errorf("%s imports %s: %v (%s: %s)", p.ImportPath, imported, err, name, why)
			}
		}
	}
}

func allowed(path, name, may, imported string) error {
	for _, o := range owners {
		if (imported == o.dependency || strings.HasPrefix(imported, o.dependency+"/")) && !isOneOf(path, o.packages) {
			return fmt.Errorf("only %s may: %s", o.packages, o.why)
		}
	}
	target, ours := strings.CutPrefix(imported, kernel)
	if !ours || may == "*" || target == name || strings.HasPrefix(target, name+"/") && path != name {
		return nil
	}
	if fields := strings.Fields(may); target == "text" || slices.Contains(fields, target) || slices.Contains(fields, filepath.Dir(target)+"/*") {
		return nil
	}
	return fmt.Errorf("it may import [%s] of the kernel", may)
}

// isOneOf reports whether path is one of the list or below one.
func isOneOf(path, list string) bool {
	for _, r := range strings.Fields(list) {
		if path == r || strings.HasPrefix(path, r+"/") {
			return true
		}
	}
	return false
}

func TestPackageNames(t *testing.T) {
	for _, p := range packages(t) {
		for _, part := range strings.Split(p.ImportPath, "/") {
			if slices.Contains(forbidden, part) {
				t.Errorf("%s: %q says nothing about what the package provides", p.ImportPath, part)
			}
		}
	}
}

// TestPageNamesEachPackage: README.org says of each package directly below kernel/ what is in it.
func TestPageNamesEachPackage(t *testing.T) {
	page, err := os.ReadFile("README.org")
	if err != nil {
		t.Fatal(err)
	}
	_, where, found := strings.Cut(string(page), "\n* Where things are\n")
	if !found {
		t.Fatal("there is no section \"Where things are\"")
	}
	where, _, _ = strings.Cut(where, "\n* ")
	named := strings.FieldsFunc(where, func(r rune) bool { return !unicode.IsLower(r) && r != '/' })
	for _, p := range packages(t) {
		path, below := strings.CutPrefix(p.ImportPath, kernel)
		if below && !strings.Contains(path, "/") && path != "walk" && !slices.Contains(named, path) {
			t.Errorf("README.org does not say what is in %s", path)
		}
	}
}

// walk parses every Go file below kernel/.
func walk(t *testing.T, visit func(path string, files *token.FileSet, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err == nil {
			visit(path, files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestVerifiedIsMadeInOnePlace: outside kernel/policy nobody writes a composite
// literal of policy.Verified, or declares or converts to a type of that name.
func TestVerifiedIsMadeInOnePlace(t *testing.T) {
	walk(t, func(path string, files *token.FileSet, file *ast.File) {
		if strings.HasPrefix(path, "policy/") || strings.HasSuffix(path, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if s, ok := literal.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Verified" {
				t.Errorf("%s: a policy.Verified made by hand", files.Position(literal.Pos()))
			}
			return true
		})
	})
}

// unjudged are the packages that parse Org text and show no model what a person wrote in it.
var unjudged = []struct{ path, why string }{
	{"org", "it is what takes Org text apart"},
	{"config", "the settings are for the program"},
	{"policy", "the rules are for the program"},
	{"channel/access", "who may talk is for the program"},
	{"skill", "notes are programs"},
	{"channel/rich", "what the agent says is shown to people"},
}

// TestOneRuleOfWhatIsWithheld: whoever takes Org text apart asks package withheld what of it no
// model sees, and nobody else knows the tags that say so.
func TestOneRuleOfWhatIsWithheld(t *testing.T) {
	asks, parses := map[string]bool{}, map[string]string{}
	others := map[string]string{ // the same words, which mean something else there
		"memory/index.go": "@private", // a scope
	}
	walk(t, func(path string, files *token.FileSet, file *ast.File) {
		in := filepath.Dir(path)
		if strings.HasSuffix(path, "_test.go") || in == "withheld" {
			return
		}
		for _, i := range file.Imports {
			asks[in] = asks[in] || i.Path.Value == `"`+kernel+`withheld"`
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				word := strings.ToLower(strings.Trim(n.Value, "\"`"))
				if slices.Contains([]string{"noagent", "@private", "crypt"}, word) && others[filepath.ToSlash(path)] != word {
					t.Errorf("%s: %s is a tag that only package withheld knows: ask it", files.Position(n.Pos()), n.Value)
				}
			case *ast.SelectorExpr:
				if from, ok := n.X.(*ast.Ident); ok && from.Name == "org" && (n.Sel.Name == "Parse" || n.Sel.Name == "ParseWith") {
					parses[in] = files.Position(n.Pos()).String()
				}
			}
			return true
		})
	})
	for in, place := range parses {
		shown := slices.ContainsFunc(unjudged, func(u struct{ path, why string }) bool { return u.path == in })
		if !asks[in] && !shown {
			t.Errorf("%s: it takes Org text apart, and does not ask package withheld what of it no model sees", place)
		}
	}
	if len(parses) < 3 {
		t.Errorf("org.Parse is called in %v only: the test looks for something else", parses)
	}
}

// TestNoInit: what exists is in explicit lists, not registered on import.
func TestNoInit(t *testing.T) {
	walk(t, func(path string, files *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: init()", files.Position(f.Pos()))
			}
		}
	})
}

// TestFileLength: a file that needs scrolling holds more than one concept.
func TestFileLength(t *testing.T) {
	const limit = 620
	walk(t, func(path string, files *token.FileSet, file *ast.File) {
		if lines := files.Position(file.End()).Line; lines > limit {
			t.Errorf("%s has %d lines, more than about 600", path, lines)
		}
	})
}
