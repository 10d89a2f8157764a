package policy

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"org-agent/kernel/shell"
)

// argvPattern matches the words of a command. A plain word matches itself, * matches one word, and
// ** at the end matches all remaining words.
type argvPattern []argvWord

type argvWord struct {
	text string
	kind argvKind
}

type argvKind int

const (
	theWord argvKind = iota
	anyWord
	anyWords
)

// newArgvPattern parses a pattern. Its words are quoted as in a shell.
func newArgvPattern(text string, verdict Kind) (argvPattern, error) {
	var p argvPattern
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeft(text, " \t") {
		word, quoted, rest, err := argvWordOf(text)
		if err != nil {
			return nil, err
		}
		text = rest
		w := argvWord{text: word}
		switch {
		case len(p) > 0 && p[len(p)-1].kind == anyWords:
			return nil, errors.New("** stands for all words that follow, so nothing stands behind it")
		case quoted:
		case word == "*":
			w.kind = anyWord
		case word == "**":
			w.kind = anyWords
		case strings.Contains(word, "*"):
			return nil, fmt.Errorf("* stands for a whole word, and not for a part of one as in %s: put quotes around a * that is meant", word)
		case strings.ContainsAny(word, ";&|<>`$()"):
			return nil, fmt.Errorf("a rule is for one command, and %s is more than a word: put quotes around what is meant as it is", word)
		}
		p = append(p, w)
	}
	if len(p) == 0 {
		return nil, errors.New("the rule matches no command: write its words, with * for any word and ** for all that follow")
	}
	switch name, _, assigns := strings.Cut(p[0].text, "="); {
	case verdict == Allow && p[0].kind != theWord:
		return nil, errors.New("a rule that allows begins with the name of a program")
	case verdict != Allow && assigns && !strings.Contains(name, "/"):
		return nil, errors.New("a rule that asks or refuses begins with the program, whatever is set for it")
	case verdict != Allow && p[0].kind == theWord:
		p[0].text = filepath.Base(p[0].text) // a program matches in any directory
	}
	return p, nil
}

// argvWordOf returns the first word of a text, whether it is quoted, and the rest.
func argvWordOf(text string) (word string, quoted bool, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t':
			return b.String(), quoted, text[i:], nil
		case '\'', '"':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return "", false, "", fmt.Errorf("the quote %c has no end", c)
			}
			quoted = true
			b.WriteString(text[i+1 : i+1+end])
			i += end + 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), quoted, "", nil
}

// numeral matches what a word that is a number can become.
var numeral = regexp.MustCompile(`^-?[0-9]+$`)

// is reports whether the pattern has a literal word at place i.
func (p argvPattern) is(i int) bool { return i >= 0 && i < len(p) && p[i].kind == theWord }

// certain reports whether the pattern matches the command whatever its unknown words become.
// Variables that the command sets must stand in the pattern.
func (p argvPattern) certain(c shell.Command) bool {
	for i, w := range p {
		if w.kind == anyWords && i > c.Assigns {
			return true
		}
		if i >= len(c.Words) {
			return false
		}
		word := c.Words[i]
		switch w.kind {
		case anyWords:
			return false
		case anyWord:
			if i < c.Assigns || word.Kind == shell.Many {
				return false
			}
		case theWord:
			if word.Kind != shell.Literal || word.Text != w.text && (i != c.Assigns || shell.Program(word.Text) != w.text) {
				return false
			}
		}
	}
	return len(p) == len(c.Words)
}

// possible reports whether the pattern could match the command. The directory of the program and
// the variables that are set do not matter.
func (p argvPattern) possible(c shell.Command) bool {
	words := c.Words[c.Assigns:]
	if len(words) > 0 && words[0].Kind == shell.Literal && p[0].kind == theWord && !strings.HasSuffix(words[0].Text, p[0].text) {
		return false // fast path for nearly all commands
	}
	// could[j]: the pattern from i on could match the words from j on.
	could := make([]bool, len(words)+1)
	could[len(words)] = true
	for j := len(words) - 1; j >= 0; j-- {
		could[j] = could[j+1] && words[j].Kind == shell.Many
	}
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].kind == anyWords {
			for j := range could {
				could[j] = true
			}
			continue
		}
		next := make([]bool, len(words)+1)
		for j := len(words) - 1; j >= 0; j-- {
			w := words[j]
			switch {
			case w.Kind == shell.Many:
				next[j] = next[j+1] || could[j] || could[j+1]
			case p[i].kind == theWord && w.Number && !numeral.MatchString(p[i].text):
			case p[i].kind == anyWord || w.Kind == shell.One || w.Text == p[i].text || j == 0 && filepath.Base(w.Text) == p[i].text:
				next[j] = could[j+1]
			}
		}
		could = next
	}
	return could[0]
}

// pathPattern matches file names. * matches anything but a slash, ** matches anything, and DIR/**
// also matches the directory itself.
type pathPattern struct {
	match *regexp.Regexp
	fixed string // every matching name begins with it
	deep  bool   // a match of a directory includes its contents
}

func newPathPattern(text, home, user string) (pathPattern, error) {
	switch {
	case text == "":
		return pathPattern{}, errors.New("the rule matches no file: write a name, with * for anything but a slash and ** for anything")
	case text == "~" || strings.HasPrefix(text, "~/"):
		text = user + text[1:]
	case strings.HasPrefix(text, "~"):
		return pathPattern{}, fmt.Errorf("%s names another user's files: write the directory", text)
	case !strings.HasPrefix(text, "/"):
		text = filepath.Join(home, text)
	}
	if !strings.HasPrefix(text, "/") || strings.Contains(text+"/", "/../") || strings.Contains(text, "\x00") {
		return pathPattern{}, fmt.Errorf("%s is no name that begins at /, at ~/ or in the home", text)
	}
	text = filepath.Clean(text)
	star := strings.IndexByte(text, '*')
	if star < 0 {
		star = len(text)
	}
	at := strings.LastIndexByte(text[:star], '/')
	if star == len(text) {
		at = star
	}
	fixed := resolved(max(text[:at], "/"))
	rest := text[at:]
	deep := strings.HasSuffix(rest, "/**")
	pattern := regexp.QuoteMeta(strings.TrimSuffix(fixed, "/") + strings.TrimSuffix(rest, "/**"))
	for _, sign := range [...][2]string{{`/\*\*/`, `/(?:.*/)?`}, {`\*\*`, `.*`}, {`\*`, `[^/]*`}} {
		pattern = strings.ReplaceAll(pattern, sign[0], sign[1])
	}
	if deep {
		pattern += `(?:/.*)?`
	}
	match, err := regexp.Compile(`^(?s:` + pattern + `)$`)
	if err != nil {
		return pathPattern{}, fmt.Errorf("%s cannot be read: %w", text, err)
	}
	return pathPattern{match: match, fixed: fixed, deep: deep}, nil
}

// Resolved returns an absolute path with its links resolved, as far as the path exists.
func Resolved(path string) string { return resolved(path) }

func resolved(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolved(parent), filepath.Base(path))
	}
	return path
}

// certain reports whether the pattern matches a file. A directory matches only if all of its
// contents match.
func (p pathPattern) certain(path string) bool {
	if !p.match.MatchString(path) {
		return false
	}
	if p.deep {
		return true
	}
	info, err := os.Lstat(path)
	return err != nil || !info.IsDir()
}

// possible reports whether the pattern could match the file or something in it.
func (p pathPattern) possible(path string) bool {
	return p.match.MatchString(path) || path == p.fixed || path == "/" || strings.HasPrefix(p.fixed, path+"/") || strings.HasPrefix(path, strings.TrimSuffix(p.fixed, "/")+"/") && isDirectory(path)
}

func isDirectory(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// addressPattern matches an address. The host is a name, *.HOST for all hosts below it, or * for
// any. A path may follow the slash; ** at its end matches every path with that beginning.
type addressPattern struct {
	host string
	path string
	deep bool
}

func newAddressPattern(text string) (addressPattern, error) {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "https://"), "http://")
	host, path, hasPath := strings.Cut(text, "/")
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	switch name := strings.TrimPrefix(host, "*."); {
	case host == "":
		return addressPattern{}, errors.New("the rule matches no address: write a host, as in example.org or *.example.org, and maybe a path")
	case host != "*" && strings.ContainsAny(name, "*?#@ \\"):
		return addressPattern{}, fmt.Errorf("%s is no host: write one, as in example.org, *.example.org or *", host)
	}
	p := addressPattern{host: host, deep: true}
	if hasPath {
		p.path, p.deep = strings.CutSuffix("/"+path, "**")
		if strings.ContainsAny(p.path, "*?#") {
			return addressPattern{}, errors.New("in an address ** stands at the end of the path, and * nowhere in it")
		}
	}
	return p, nil
}

// certain reports whether the pattern matches an address. It never matches an address that contains
// a user or a password, or a port that the pattern does not name.
func (p addressPattern) certain(address string) bool {
	if address == "*" {
		return p.host == "*" && p.deep && p.path == ""
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Host == "" {
		return false
	}
	host := strings.ToLower(u.Host)
	if port := u.Port(); port == "80" || port == "443" {
		host = strings.ToLower(u.Hostname())
	}
	if !p.hosts(host) && p.host != "*" {
		return false
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if p.path == "" {
		return true
	}
	if strings.Contains(path, "/..") || strings.Contains(strings.ToLower(path), "%2") {
		return false
	}
	return path == p.path || p.deep && strings.HasPrefix(path, p.path)
}

// possible reports whether the pattern could match the address.
func (p addressPattern) possible(address string) bool {
	if address == "*" || p.host == "*" && p.path == "" {
		return true
	}
	u, err := url.Parse(address)
	if err != nil {
		return true
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	name, _, _ := strings.Cut(p.host, ":")
	if !(addressPattern{host: name}).hosts(host) && p.host != "*" {
		return false
	}
	if p.path == "" {
		return true
	}
	path := max(u.EscapedPath(), "/")
	return strings.HasPrefix(path, p.path) || path+"/" == p.path || strings.Contains(path, "..") || strings.Contains(path, "%")
}

// names reports whether the address has the host and path of the pattern, whatever else it
// contains.
func (p addressPattern) names(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	name, _, _ := strings.Cut(p.host, ":")
	return (p.host == "*" || (addressPattern{host: name}).hosts(strings.ToLower(u.Hostname()))) && (p.path == "" || u.Path == p.path || p.deep && strings.HasPrefix(u.Path, p.path))
}

// hosts reports whether the pattern's host is this host or a parent of it.
func (p addressPattern) hosts(host string) bool {
	host = strings.TrimSuffix(host, ".")
	if name, below := strings.CutPrefix(p.host, "*."); below {
		return strings.HasSuffix(host, "."+name)
	}
	return host == p.host
}

// chatPattern matches conversations: * for all, CHANNEL * for those of a channel, CHANNEL CHAT for one.
type chatPattern struct{ channel, chat string }

// newChatPattern parses a pattern. The name of the channel may be in any case; the id of a chat is as it is.
func newChatPattern(text string) (chatPattern, error) {
	channel, chat, _ := strings.Cut(text, " ")
	p := chatPattern{strings.ToLower(channel), strings.TrimSpace(chat)}
	if text == "*" {
		p.chat = "*"
	}
	if p.channel == "" || p.chat == "" {
		return chatPattern{}, fmt.Errorf("%q is no conversation: write a channel and the id of a chat, as in telegram 4711, or telegram *", text)
	}
	return p, nil
}

func (p chatPattern) matches(conversation string) bool {
	channel, chat, _ := strings.Cut(conversation, " ")
	return (p.channel == "*" || p.channel == strings.ToLower(channel)) && (p.chat == "*" || p.chat == chat)
}
