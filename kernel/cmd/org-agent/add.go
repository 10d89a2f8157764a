package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"org-agent/kernel/keys"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// listingLimit is the maximum number of listed entries of an attached directory.
const listingLimit = 500

// encrypted matches the names of encrypted files, which people and Emacs decrypt before they send them.
var encrypted = regexp.MustCompile(`(?i)\.(gpg|asc|age)$`)

// secretPath reports whether a file probably contains secrets. It is sent only if the person confirms it.
func secretPath(path, home string) bool {
	return keys.In(path, home) != keys.None || encrypted.MatchString(path)
}

// attachments are the attachments of a message.
type attachments struct {
	items []any    // for the event
	lines []string // name the items in the message's text
	bytes int      // the size of all items
}

// readAttachments reads the files to attach to a message; "-" is standard input.
func (proc *process) readAttachments(ctx context.Context, names []string) (*attachments, error) {
	a := &attachments{}
	for _, name := range names {
		item, path, err := proc.readAttachment(ctx, name)
		if err != nil {
			return nil, err
		}
		data := item.Data
		if item.Kind != protocol.ContextImage {
			data = []byte(item.Text)
		}
		link := "standard input"
		if path != "" {
			link = fmt.Sprintf("[[file:%s][%s]]", proc.abbreviate(path), item.Name)
		}
		a.bytes += len(data)
		a.items = append(a.items, wireItem(item))
		a.lines = append(a.lines, fmt.Sprintf("- Context: %s, %s", link, size(len(data))))
	}
	if a.bytes > protocol.ContextLimit {
		return nil, fmt.Errorf("the attachments have %s, %s more than the limit of %s: attach less", size(a.bytes), size(a.bytes-protocol.ContextLimit), size(protocol.ContextLimit))
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

// addTo adds the attachments to an event's parameters.
func (a *attachments) addTo(params *protocol.Object) {
	if a == nil || len(a.items) == 0 {
		return
	}
	params.Set("context", a.items)
	if _, _, isCommand := skill.SplitCommand(params.Text("text")); isCommand { // what stands behind its name are its arguments
		if buffer := a.buffer(); buffer != nil {
			params.Set("buffer", buffer)
		}
		return
	}
	params.Set("text", strings.Join(append([]string{params.Text("text")}, a.lines...), "\n"))
}

// buffer returns the first text as the buffer that a command gets, or nil.
func (a *attachments) buffer() protocol.Object {
	if a == nil {
		return nil
	}
	for _, one := range a.items {
		item, _ := one.(protocol.Object)
		if kind := item.Text("kind"); kind != "file" && kind != "buffer" {
			continue
		}
		return protocol.Object{{Key: "name", Value: item.Text("name")}, {Key: "file", Value: item.Text("place")}, {Key: "mode", Value: item.Text("mode")}, {Key: "text", Value: item.Text("text")}}
	}
	return nil
}

// readAttachment reads one attachment and returns the path for its link.
func (proc *process) readAttachment(ctx context.Context, name string) (item protocol.ContextItem, path string, err error) {
	if name == "-" {
		text, err := proc.readInput()
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
	if err := proc.confirmSecret(ctx, name, path, real); err != nil {
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
	total := len(data)
	if info, err := f.Stat(); err == nil {
		total = max(total, int(info.Size()))
	}
	if !strings.HasPrefix(http.DetectContentType(data), "image/") {
		if total > protocol.ContextTextLimit {
			return item, "", tooLarge(name, total, protocol.ContextTextLimit)
		}
		return textItem("file", filepath.Base(path), path, data)
	}
	if total > protocol.ContextImageLimit {
		return item, "", fmt.Errorf("%s has %s, %s more than the limit of %s for an image: make it smaller", name, size(total), size(total-protocol.ContextImageLimit), size(protocol.ContextImageLimit))
	}
	return protocol.ContextItem{Kind: protocol.ContextImage, Name: filepath.Base(path), Place: path, Data: data}, path, nil
}

// textItem makes a text item. It returns an error for data that is not text or is too long.
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

// confirmSecret asks the person before a file that looks like a secret is sent. It always refuses files
// in the kernel's state directory, which contains the token.
func (proc *process) confirmSecret(ctx context.Context, name, path, real string) error {
	paths, err := proc.paths()
	if err != nil {
		return err
	}
	state, err := filepath.EvalSymlinks(paths.State)
	if err == nil && (real == state || strings.HasPrefix(real, state+string(filepath.Separator))) {
		return fmt.Errorf("%s is not sent: it is in the kernel's directory, which contains the token", name)
	}
	if home := proc.env("HOME"); !secretPath(path, home) && !secretPath(real, home) {
		return nil
	}
	if !terminal(proc.stdin) {
		return fmt.Errorf("%s looks like a secret: run this in a terminal to be asked, or copy what may be sent", name)
	}
	yes, err := proc.confirm(ctx, name+" looks like a secret. send it to the model?")
	if err != nil {
		return err
	}
	if !yes {
		return fmt.Errorf("nothing was sent: %s is a secret", name)
	}
	return nil
}

// listDirectory lists a directory, with one entry per line and without hidden entries.
func listDirectory(path string) ([]byte, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	listed, omitted := 0, 0
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if listed++; listed > listingLimit {
			omitted++
			continue
		}
		info, err := entry.Info()
		switch {
		case err != nil: // the entry was removed in the meantime
		case info.IsDir():
			fmt.Fprintf(&b, "%s/\n", entry.Name())
		case info.Mode()&os.ModeSymlink != 0:
			target, _ := os.Readlink(filepath.Join(path, entry.Name()))
			fmt.Fprintf(&b, "%s -> %s\n", entry.Name(), target)
		default:
			fmt.Fprintf(&b, "%s  %d\n", entry.Name(), info.Size())
		}
	}
	if omitted > 0 {
		fmt.Fprintf(&b, "and %d more\n", omitted)
	}
	return b.Bytes(), nil
}

// abbreviate returns a path for an Org link, with ~ for the home directory.
func (proc *process) abbreviate(path string) string {
	if home := proc.env("HOME"); home != "" && strings.HasPrefix(path, home+"/") {
		path = "~" + path[len(home):]
	}
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "\n", "%0A").Replace(path)
}

// size formats a number of bytes for people.
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
