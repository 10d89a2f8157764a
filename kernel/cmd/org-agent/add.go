package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"org-agent/kernel/protocol"
)

// listingLimit is the most entries of a directory that are attached.
const listingLimit = 500

// secret matches, by any of their names, the files that are sent only after asking.
var secret = regexp.MustCompile(`(?i)authinfo|\.netrc|/\.password-store/|/\.ssh/|/\.gnupg/|\.(gpg|asc|pem|key|p12|pfx|kdbx)$|/\.env(\.[^/]*)?$|/credentials[^/]*$`)

// addition is what a message carries along: the items, and the lines that name them.
type addition struct {
	items []any
	lines []string
	whole int
}

// added reads the files to attach to a message; "-" is standard input.
func (w *world) added(names []string) (*addition, error) {
	a := &addition{}
	for _, name := range names {
		item, path, err := w.readAdded(name)
		if err != nil {
			return nil, err
		}
		data := item.Data
		if item.Kind != protocol.ContextImage {
			data = []byte(item.Text)
		}
		link := "standard input"
		if path != "" {
			link = fmt.Sprintf("[[file:%s][%s]]", w.abbreviate(path), item.Name)
		}
		a.whole += len(data)
		a.items = append(a.items, wireItem(item))
		a.lines = append(a.lines, fmt.Sprintf("- Context: %s, %s", link, size(len(data))))
	}
	if a.whole > protocol.ContextLimit {
		return nil, fmt.Errorf("the attachments have %s, %s more than the limit of %s: leave something out", size(a.whole), size(a.whole-protocol.ContextLimit), size(protocol.ContextLimit))
	}
	return a, nil
}

// wireItem converts an item to its form in an event.
func wireItem(item protocol.ContextItem) protocol.Object {
	o := protocol.Object{{Key: "kind", Value: item.Kind}, {Key: "name", Value: item.Name}, {Key: "place", Value: item.Place}, {Key: "mode", Value: item.Mode}}
	if item.Kind == protocol.ContextImage {
		return append(o, protocol.Field{Key: "data", Value: base64.StdEncoding.EncodeToString(item.Data)})
	}
	return append(o, protocol.Field{Key: "text", Value: item.Text})
}

// put adds the attachments to an event's parameters.
func (a *addition) put(params *protocol.Object) {
	if a == nil || len(a.items) == 0 {
		return
	}
	params.Set("context", a.items)
	params.Set("text", strings.Join(append([]string{params.Text("text")}, a.lines...), "\n"))
}

// readAdded reads one attachment and returns the path for its link.
func (w *world) readAdded(name string) (item protocol.ContextItem, path string, err error) {
	if name == "-" {
		text, err := w.readInput()
		if err != nil {
			return item, "", err
		}
		return textItem("buffer", "standard input", "", []byte(text))
	}
	if path, err = filepath.Abs(name); err != nil {
		return item, "", fmt.Errorf("add %s: %w", name, err)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return item, "", fmt.Errorf("add a file: %w", err)
	}
	if err := w.agreeToSecret(name, path, real); err != nil {
		return item, "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return item, "", fmt.Errorf("add a file: %w", err)
	}
	switch {
	case info.IsDir():
		listing, err := listDirectory(real)
		if err != nil {
			return item, "", fmt.Errorf("add %s: %w", name, err)
		}
		return textItem("directory", filepath.Base(path)+"/", path, listing)
	case !info.Mode().IsRegular():
		return item, "", fmt.Errorf("%s is not a regular file", name)
	}
	return readFile(name, path, real)
}

// readFile reads a text or an image. Each of the two has its own size limit.
func readFile(name, path, real string) (item protocol.ContextItem, link string, err error) {
	f, err := os.Open(real)
	if err != nil {
		return item, "", fmt.Errorf("add a file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, protocol.ContextImageLimit+1))
	if err != nil {
		return item, "", fmt.Errorf("add a file: %w", err)
	}
	whole := len(data)
	if info, err := f.Stat(); err == nil {
		whole = max(whole, int(info.Size()))
	}
	if !strings.HasPrefix(http.DetectContentType(data), "image/") {
		if whole > protocol.ContextTextLimit {
			return item, "", tooLarge(name, whole, protocol.ContextTextLimit)
		}
		return textItem("file", filepath.Base(path), path, data)
	}
	if whole > protocol.ContextImageLimit {
		return item, "", fmt.Errorf("%s has %s, %s more than the limit of %s for an image: make it smaller", name, size(whole), size(whole-protocol.ContextImageLimit), size(protocol.ContextImageLimit))
	}
	return protocol.ContextItem{Kind: protocol.ContextImage, Name: filepath.Base(path), Place: path, Data: data}, path, nil
}

// textItem makes a text item. Data that is not text, or is too long, is an error.
func textItem(kind, name, path string, data []byte) (protocol.ContextItem, string, error) {
	if bytes.IndexByte(data, 0) >= 0 {
		return protocol.ContextItem{}, "", fmt.Errorf("%s is not a text file", name)
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(string(data), "\uFFFD"), "\r\n", "\n")
	if len(text) > protocol.ContextTextLimit {
		return protocol.ContextItem{}, "", tooLarge(name, len(text), protocol.ContextTextLimit)
	}
	return protocol.ContextItem{Kind: kind, Name: name, Place: path, Mode: strings.TrimPrefix(filepath.Ext(path), "."), Text: text}, path, nil
}

func tooLarge(name string, bytes, limit int) error {
	return fmt.Errorf("%s has %s, %s more than the limit of %s: send a part of it, for example with \"head\" and --add -", name, size(bytes), size(bytes-limit), size(limit))
}

// agreeToSecret asks before a file that looks like a secret is sent. Files of the kernel's own
// directory are always refused: it contains the token.
func (w *world) agreeToSecret(name, path, real string) error {
	paths, err := w.paths()
	if err != nil {
		return err
	}
	state, err := filepath.EvalSymlinks(paths.State)
	if err == nil && (real == state || strings.HasPrefix(real, state+string(filepath.Separator))) {
		return fmt.Errorf("%s is not sent: it is in the kernel's directory, which contains the token", name)
	}
	if !secret.MatchString(path) && !secret.MatchString(real) {
		return nil
	}
	if !terminal(w.in) {
		return fmt.Errorf("%s looks like a secret: run this in a terminal to be asked, or copy what may be sent", name)
	}
	fmt.Fprintf(w.err, "%s looks like a secret. send it to the model? [y/N] ", name)
	var answer string
	_, _ = fmt.Fscanln(w.in, &answer)
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		return fmt.Errorf("nothing was sent: %s is a secret", name)
	}
	return nil
}

// listDirectory lists a directory, one entry a line, without hidden entries.
func listDirectory(path string) ([]byte, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	listed, left := 0, 0
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if listed++; listed > listingLimit {
			left++
			continue
		}
		info, err := entry.Info()
		switch {
		case err != nil: // the entry was removed in the meantime
		case info.IsDir():
			fmt.Fprintf(&b, "%s/\n", entry.Name())
		case info.Mode()&os.ModeSymlink != 0:
			to, _ := os.Readlink(filepath.Join(path, entry.Name()))
			fmt.Fprintf(&b, "%s -> %s\n", entry.Name(), to)
		default:
			fmt.Fprintf(&b, "%s  %d\n", entry.Name(), info.Size())
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "and %d more\n", left)
	}
	return b.Bytes(), nil
}

// abbreviate writes a path below the home with ~, in a form that fits a link.
func (w *world) abbreviate(path string) string {
	if home := w.env("HOME"); home != "" && strings.HasPrefix(path, home+"/") {
		path = "~" + path[len(home):]
	}
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "\n", "%0A").Replace(path)
}

// size writes a number of bytes for people.
func size(bytes int) string {
	switch {
	case bytes == 1:
		return "1 byte"
	case bytes < 1000:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}
