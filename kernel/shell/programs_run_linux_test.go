package shell

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// givenTo has what programs are given beside the option that is tried. The others get the file "in".
var givenTo = map[string]string{
	"tar": "-cf - in", "gtar": "-cf - in", "tree": ".", "du": ".", "gdu": ".", "ls": ".", "dir": ".", "vdir": ".", "diff": "in other", "diff3": "in other in", "cmp": "in other", "comm": "in other", "join": "in other", "sdiff": "in other",
	"tr": "a b", "which": "sh", "basename": "in", "date": "", "cal": "", "ncal": "", "grep": "a in", "egrep": "a in", "fgrep": "a in", "rg": "a .", "seq": "2", "numfmt": "1", "shuf": "in", "sleep": "0", "file": "in", "jq": ". in", "yq": ". in", "look": "a in",
	"zgrep": "a in.gz", "zegrep": "a in.gz", "zfgrep": "a in.gz", "xzgrep": "a in.gz", "bzgrep": "a in", "zless": "in.gz", "zmore": "in.gz", "zdiff": "in.gz in.gz", "zcmp": "in.gz in.gz", "zipinfo": "in.zip", "unzip": "-l in.zip", "zip": "- in",
	"column": "in", "xmllint": "in.xml", "strings": "in", "nm": "/bin/true", "objdump": "/bin/true", "readelf": "/bin/true", "size": "/bin/true", "hostname": "", "uname": "", "free": "", "id": "", "groups": "", "iconv": "in", "git": "", "shellcheck": "in",
	"csplit": "in 1", "split": "in", "apropos": "ls", "whatis": "ls", "man": "-w ls", "exiftool": "in", "pdfinfo": "in", "gofmt": "in.go", "curl": "http://127.0.0.1:9/", "wget": "http://127.0.0.1:9/", "ss": "", "netstat": "", "ip": "", "lsof": "in", "dpkg": "", "dpkg-query": "", "gpg": "",
	"apt list": "", "apt search": "ls", "apt show": "ls", "apt policy": "ls", "apt depends": "ls", "apt-cache": "",
	"git show": "HEAD", "git blame": "in", "git annotate": "in", "git grep": "a", "git cat-file": "HEAD", "git ls-tree": "HEAD", "git merge-base": "HEAD HEAD", "git rev-parse": "HEAD", "git rev-list": "HEAD", "git name-rev": "HEAD", "git range-diff": "HEAD HEAD HEAD", "git diff-tree": "HEAD", "git diff-index": "HEAD",
	"git check-ignore": "in", "git check-attr": "a in", "git check-mailmap": "a@b", "git cherry": "HEAD", "git hash-object": "in", "git verify-commit": "HEAD", "git verify-tag": "HEAD", "git merge-tree": "HEAD HEAD", "git log": "HEAD", "git ls-remote": "origin", "git symbolic-ref": "HEAD", "git version": "",
	"git check-ref-format": "x", "openssl version": "", "openssl list": "", "openssl ciphers": "", "openssl rand": "1", "openssl x509": "", "go version": "", "go list": "", "go doc": "x", "go help": "x", "go env": "GOOS",
}

// makesFiles are entries whose programs change the files that they are given, as their name says. Of those only
// what they run and reach is looked at, and the bystander.
var makesFiles = []string{"tree", "xxd", "split", "csplit", "zip", "unzip", "gzip", "tar", "sdiff", "diff3", "wget", "curl", "iconv", "git merge-tree", "gofmt", "cmake", "openssl rand"}

// triedEntry reports whether the program of an entry may be run with its options: none changes the machine, and
// none has files of a project decide what runs.
func triedEntry(e *entry) bool {
	switch name, sub, _ := strings.Cut(e.name, " "); {
	case e.named > 0 || e.fixed:
		return false
	case name == "git":
		return slices.Contains([]string{"log", "reflog", "diff", "diff-tree", "shortlog", "range-diff", "status", "blame", "grep", "rev-list", "rev-parse", "ls-files", "ls-tree", "merge-base", "name-rev", "describe", "for-each-ref", "show-ref", "symbolic-ref", "cat-file", "check-ignore", "check-ref-format", "cherry", "count-objects", "show-branch", "var", "hash-object", "patch-id", "fsck", "merge-tree"}, sub)
	case name == "openssl" || name == "apt":
		return sub != ""
	case name == "npm" || name == "pip" || name == "cargo" || name == "go" || name == "hg" || name == "svn" || name == "ssh" || name == "pytest":
		return false // they need a project
	case name == "gpg" || name == "scp" || name == "sftp" || name == "rsync" || name == "tcpdump" || name == "rustc" || name == "gcc" || name == "latexmk" || name == "pdflatex" || name == "bibtex" || name == "patch" || name == "locate" || name == "man" || name == "ip":
		return false // they keep files of their own, or write what they make beside their input
	}
	return e.reads || slices.Contains(makesFiles, e.name) || strings.HasPrefix(e.name, "git ") || len(e.long)+len(e.flags)+len(e.takes)+len(e.single) > 0 && !e.any && e.obeys == nil
}

// triedOptions are the words to try: each letter and each name that the entry lists. One that is listed as without an
// operand is tried before a further word too, where the table lets it stand there: a program may take that for its operand.
func triedOptions(e *entry, operands int) (tried [][]string) {
	further := (e.most < 0 || e.most > operands) && (e.operands == nil || e.operands.MatchString("in"))
	without := func(option string) {
		tried = append(tried, []string{option})
		if further {
			tried = append(tried, []string{option, "in"})
		}
	}
	for _, letter := range e.flags + e.joined {
		without("-" + string(letter))
	}
	for _, letter := range e.takes + e.joined {
		tried = append(tried, []string{"-" + string(letter) + "1"}, []string{"-" + string(letter), "in"})
	}
	for hyphens, names := range map[string]map[string]operandOf{"--": e.long, "-": e.single} {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			switch names[name] {
			case noOperand:
				without(hyphens + name)
			case mayJoin:
				without(hyphens + name)
				tried = append(tried, []string{hyphens + name + "=1"})
			case hasOperand:
				tried = append(tried, []string{hyphens + name + "=1"}, []string{hyphens + name + "=in"}, []string{hyphens + name, "in"})
			}
		}
	}
	return tried
}

// ground is a directory in which programs are tried.
type ground struct {
	t         *testing.T
	directory string
	tripwires string // first in PATH: programs that do nothing, in place of those that would
	input     string // what programs read that are given no file
}

// tripped are the programs that others are known to start. Each is seen that is started; these do nothing then.
var tripped = []string{"sh", "bash", "less", "more", "pager", "vi", "vim", "nano", "emacs", "editor", "sensible-pager", "ssh", "gpg", "gpg2", "curl", "wget", "man", "python3", "perl", "cat", "cc", "gcc", "ld", "gzip", "bzip2", "xz", "zstd", "lz4", "compress", "lzop", "rsh", "sendmail", "xdg-open", "diff", "cmp", "sort", "grep", "sed", "git-remote-ext", "ssh-askpass", "in", "1"}

// runsItself are the programs that one starts to do what its own name says: scripts around others, and what tar packs with.
var runsItself = map[string]string{
	"gtar": "sh", "tar": "gzip bzip2 xz zstd lzop lz4 compress lzma sh", "diff3": "diff", "sdiff": "diff", "egrep": "grep", "fgrep": "grep", "gunzip": "gzip", "uncompress": "gzip", "zcat": "gzip", "bzcat": "bzip2", "xzcat": "xz", "zstdcat": "zstd",
	"zgrep": "grep gzip sed cat sh", "zegrep": "grep gzip sed cat sh zgrep", "zfgrep": "grep gzip sed cat sh zgrep", "xzgrep": "grep xz gzip bzip2 zstd lzop lz4 sed cat sh", "bzgrep": "grep egrep bzip2 sed cat sh", "zdiff": "cmp diff gzip sed expr", "zcmp": "cmp diff gzip sed expr zdiff", "zless": "less gzip", "zmore": "more gzip sh",
	"zip": "unzip", "lzma": "xz", "ldd": "bash", "git": "git", "apt": "dpkg", "dpkg": "dpkg-query dpkg-deb", "yq": "jq", "diff": "pr",
}

func newGround(t *testing.T) *ground {
	t.Helper()
	root := t.TempDir()
	g := &ground{t: t, directory: filepath.Join(root, "work"), tripwires: filepath.Join(root, "bin"), input: filepath.Join(root, "input")}
	if err := os.Chmod(filepath.Dir(root), 0o711); err != nil { // an ordinary user works below it
		t.Fatal(err)
	}
	if err := os.Mkdir(g.tripwires, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range tripped {
		g.write(filepath.Join(g.tripwires, name), "#!/bin/sh\n", 0o755)
	}
	g.write(g.input, "a b\n", 0o644)
	g.fill()
	return g
}

func (g *ground) write(path, text string, mode fs.FileMode) {
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		g.t.Fatal(err)
	}
	g.own(path)
}

// own gives a file to the user as whom programs are tried.
func (g *ground) own(path string) {
	if os.Getuid() != 0 {
		return
	}
	if err := os.Chown(path, nobody, nobody); err != nil {
		g.t.Fatal(err)
	}
}

// fill makes the directory anew.
func (g *ground) fill() {
	if err := os.RemoveAll(g.directory); err != nil {
		g.t.Fatal(err)
	}
	if err := os.Mkdir(g.directory, 0o755); err != nil {
		g.t.Fatal(err)
	}
	g.own(g.directory)
	at := func(name string) string { return filepath.Join(g.directory, name) }
	g.write(at("in"), "a b\nb 2\nc,d\n", 0o644)
	g.write(at("other"), "a b\nb 3\n", 0o644)
	g.write(at("bystander"), "x", 0o644)
	g.write(at("in.xml"), "<a><b/></a>\n", 0o644)
	g.write(at("in.go"), "package x\n", 0o644)
	commands := "gzip -k in; zip -q in.zip in 2>/dev/null; git init -q . && git add in && git -c user.name=a -c user.email=a@b commit -qm x && git remote add origin https://127.0.0.1:9/x && git status >/dev/null; :"
	command := exec.Command("/bin/sh", "-c", commands)
	command.Dir = g.directory
	if os.Getuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		command.Env = append(os.Environ(), "HOME="+g.directory)
	}
	if out, err := command.CombinedOutput(); err != nil {
		g.t.Fatalf("%v: %s", err, out)
	}
}

// tree is what is in the directory: names, modes and contents.
func (g *ground) tree() map[string]string {
	found := map[string]string{}
	err := filepath.WalkDir(g.directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if name, _ := filepath.Rel(g.directory, path); name != ".git/index" { // git status refreshes it
			found[name] = fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256(text))
		}
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return found
}

// start runs a program, in a network of its own where namespaces may be made, and returns the programs that it
// started.
func (g *ground) start(path string, words []string) (started []string, err error) {
	quiet, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer quiet.Close()
	for _, namespaces := range []uintptr{syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET, 0} {
		input, err := os.Open(g.input)
		if err != nil {
			return nil, err
		}
		w := &watched{path: path, words: words, directory: g.directory, input: input, output: quiet, namespaces: namespaces,
			env: []string{"PATH=" + g.tripwires + ":/usr/bin:/bin", "HOME=" + g.directory, "LC_ALL=C", "PAGER=less", "EDITOR=vi", "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0"}}
		started, err = w.run()
		if err = errors.Join(err, input.Close()); err == nil || namespaces == 0 {
			return started, err
		}
	}
	return nil, nil
}

// run runs a program, and returns what it did that it must not do.
func (g *ground) run(path string, e *entry, words []string, before map[string]string) string {
	started, err := g.start(path, words)
	if err != nil {
		g.t.Errorf("%s cannot be watched: %v", path, err)
	}
	for _, other := range started {
		name := filepath.Base(other)
		if !slices.Contains(strings.Fields(runsItself[filepath.Base(path)]), name) {
			return "started " + other
		}
	}
	after := g.tree()
	if maps.Equal(before, after) {
		return ""
	}
	g.fill()
	if (slices.Contains(makesFiles, e.name) || !e.reads && !strings.HasPrefix(e.name, "git ")) && before["bystander"] == after["bystander"] {
		return ""
	}
	for name := range after {
		if before[name] != after[name] {
			return "wrote " + name
		}
	}
	return "removed files"
}

// TestProgramsDoNoMore runs the programs of the table that are installed with each option that is listed for them.
// None may start another program, by whatever path, or write a file that it was not given, and those that only read may write none. PROGRAMS=all has
// it try them all, which takes minutes; a sample of them is tried otherwise.
func TestProgramsDoNoMore(t *testing.T) {
	table, _ := parsePrograms(programTable)
	sample := []string{"sort", "uniq", "jq", "ss", "git status", "git ls-remote"}
	all := os.Getenv("PROGRAMS") == "all"
	g := newGround(t)
	programs, runs := 0, 0
	for _, name := range slices.Sorted(maps.Keys(table)) {
		e := table[name]
		program, sub, _ := strings.Cut(name, " ")
		path, err := exec.LookPath(program)
		if err != nil || strings.HasPrefix(name, "options/") || !triedEntry(e) || !all && !slices.Contains(sample, name) {
			continue
		}
		programs++
		before := g.tree()
		operands, known := givenTo[name]
		if !known {
			operands = "in"
		}
		for i, option := range triedOptions(e, len(strings.Fields(operands))) {
			if !all && name != "ss" && i%7 > 0 {
				continue
			}
			words := append(strings.Fields(sub), append(option, strings.Fields(operands)...)...)
			if strings.HasPrefix(operands, "-") && e.bundled {
				words = append(strings.Fields(operands), option...)
			}
			runs++
			if did := g.run(path, e, words, before); did != "" {
				t.Errorf("%s %s: %s", program, strings.Join(words, " "), did)
				before = g.tree() // it was filled anew
			}
			if strings.HasPrefix(name, "git") || len(g.tree()) != len(before) {
				before = g.tree()
			}
		}
	}
	t.Logf("%d entries, %d runs", programs, runs)
}
