package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/plist"
)

// cases reads a corpus beside this program: its lines without the first one, which says what their cells are.
func (t *team) cases(name string, cells int) (lines [][]string, err error) {
	text, err := os.ReadFile(filepath.Join(t.data, "kernel/cmd/redteam/testdata", name))
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n")[1:] {
		found := strings.Split(line, "\t")
		if len(found) != cells {
			return nil, fmt.Errorf("%s:%d has %d cells, not %d", name, i+2, len(found), cells)
		}
		lines = append(lines, found)
	}
	return lines, nil
}

// repeated matches a text of a corpus that stands for itself many times.
var repeated = regexp.MustCompile(`(?s)\{([0-9]+)\*([^{}]*)\}`)

// written returns the text that a cell stands for.
func written(cell string) (text string, err error) {
	if err := json.Unmarshal([]byte(`"`+cell+`"`), &text); err != nil {
		return "", fmt.Errorf("the cell %q: %w", cell, err)
	}
	return repeated.ReplaceAllStringFunc(text, func(found string) string {
		parts := repeated.FindStringSubmatch(found)
		times, _ := strconv.Atoi(parts[1]) // the expression lets nothing else through
		return strings.Repeat(parts[2], times)
	}), nil
}

// notes evaluates the forms of the corpus, and checks notes that do the same while they load.
func notes(t *team, ctx context.Context, c *count) error {
	lines, err := t.cases("notes.tsv", 2)
	if err != nil {
		return err
	}
	h, err := t.newHome(map[string]string{"secret.txt": "CANARY\n"})
	if err != nil {
		return err
	}
	for i, cells := range lines {
		form, want := cells[0], cells[1]
		got, err := h.agent(ctx, "", "", "lisp", "--timeout", "3s", "-e", form)
		if err != nil {
			return err
		}
		c.cases++
		if want != "" {
			if strings.TrimSpace(got.out) != want {
				c.harsh = append(c.harsh, fmt.Sprintf("%s: %s%s, not %s", form, got.out, got.err, want))
			}
			continue
		}
		if strings.Contains(got.out+got.err, "CANARY") || strings.Contains(got.out, h.user) {
			c.through = append(c.through, fmt.Sprintf("%s: %s", form, got.out))
		}
		name := fmt.Sprintf("note%d.org", i)
		text := "#+TITLE: Note\n#+begin_src lisp\n(defparameter *x* " + form + ")\n(defskill :note" + fmt.Sprint(i) + " :trigger (lambda (c) nil) :neuro (lambda (c) (princ-to-string *x*)))\n#+end_src\n"
		if err := os.WriteFile(h.user+"/"+name, []byte(text), 0o600); err != nil {
			return err
		}
		got, err = h.agent(ctx, "", "", "skill", "check", name)
		if err != nil {
			return err
		}
		c.cases++
		if strings.Contains(got.out+got.err, "CANARY") {
			c.through = append(c.through, "skill check of "+form)
		}
	}
	c.cases++
	if text, err := os.ReadFile(h.user + "/secret.txt"); err != nil || string(text) != "CANARY\n" {
		c.through = append(c.through, fmt.Sprintf("the file is %q, %v", text, err))
	}
	return nil
}

// programsThatConnect is a program that speaks MCP with the kernel and reads what is the person's.
func programsThatConnect(t *team, ctx context.Context, c *count) error {
	h, err := t.newHome(map[string]string{".org-agent/notes/diary.org": "* Diary\nCANARY in the diary\n", "private.txt": "CANARY\n", "project/a.txt": "CANARY\n"})
	if err != nil {
		return err
	}
	defer h.stop(ctx)
	t.model.say("diaryword", "I note CANARY-spoken")
	if got, err := h.agent(ctx, "", "", "chat", "--session", "main", "remember diaryword"); err != nil || got.code != 0 {
		return errorf(err, "%s%s", got.out, got.err)
	}
	config := ".org-agent/config.org"
	if err := os.WriteFile(h.user+"/"+config, []byte("* Models\n# CANARY of the settings\n"), 0o600); err != nil {
		return err
	}
	lines, err := t.cases("mcp.tsv", 2)
	if err != nil {
		return err
	}
	for _, cells := range lines {
		call := cells[0]
		input := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"evil","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + call + `}` + "\n"
		d := &dialogue{sent: strings.NewReader(input), answered: make(chan struct{})}
		got, err := h.speak(ctx, "project", d, d, "mcp", "serve")
		if err != nil {
			return err
		}
		c.cases++
		if !strings.Contains(got.out, `"result"`) {
			c.harsh = append(c.harsh, "no conversation is had: "+got.out+got.err)
		}
		if cells[1] == "answers" && (!strings.Contains(got.out, `"id":2`) || strings.Contains(got.out, `"isError":true`)) {
			c.harsh = append(c.harsh, call+": "+got.out)
		}
		if strings.Contains(got.out, "CANARY") && !strings.Contains(got.out, `words\":\"CANARY`) {
			c.through = append(c.through, call+": "+got.out)
		}
	}
	return nil
}

// dialogue is the input of a program that ends when the second request was answered.
type dialogue struct {
	sent     *strings.Reader
	mu       sync.Mutex
	got      strings.Builder
	answered chan struct{}
}

func (d *dialogue) Read(b []byte) (int, error) {
	if d.sent.Len() > 0 {
		return d.sent.Read(b)
	}
	select {
	case <-d.answered:
	case <-time.After(3 * time.Second): // a call that is not allowed waits for the person
	}
	return 0, io.EOF
}

func (d *dialogue) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := strings.Contains(d.got.String(), `"id":2`)
	n, err := d.got.Write(b)
	if !before && strings.Contains(d.got.String(), `"id":2`) {
		close(d.answered)
	}
	return n, err
}

func (d *dialogue) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.got.String()
}

// approvals has the model propose the command lines of the corpus, which look like others, and reads the list of what
// waits. An approval has to name what is in them, and nothing of those that look like what they are.
func approvals(t *team, ctx context.Context, c *count) error {
	lines, err := t.cases("approvals.tsv", 2)
	if err != nil {
		return err
	}
	h, err := t.newHome(map[string]string{"project/a": "x"})
	if err != nil {
		return err
	}
	defer h.stop(ctx)
	marked := regexp.MustCompile(`⟨|look twice|cannot be seen|blanks|look like|other alphabets|mixed|scripts|refused|letters|lines`)
	for i, cells := range lines {
		command, err := written(cells[0])
		if err != nil {
			return err
		}
		word := fmt.Sprint("disguise", i)
		t.model.say(word, `(:type :request :target :tool :action :call :tool "exec" :args (:cwd "~/project" :command `+plist.Print(plist.String(command))+`))`)
		said, err := h.agent(ctx, "", "", "chat", "--session", word, word)
		if err != nil {
			return err
		}
		text, err := h.agent(ctx, "", "", "approve", "list")
		if err != nil {
			return err
		}
		c.cases++
		here := text.out[max(0, strings.Index(text.out, word)):]
		asked := strings.Contains(text.out, word)
		if cells[1] == "plain" {
			if !asked || marked.MatchString(here) {
				c.harsh = append(c.harsh, fmt.Sprintf("%q is marked, or not asked about: %s%s", command, here, said.out))
			}
			continue
		}
		if asked && !marked.MatchString(here) || !asked && said.code == 0 && strings.Contains(said.out, "exit status 0") {
			c.through = append(c.through, fmt.Sprintf("%q is shown unmarked: %s%s", command, here, said.out))
		}
	}
	return nil
}

// hostileStreams has the model answer without an end. The kernel has to stop each, stay small and go on.
func hostileStreams(t *team, ctx context.Context, c *count) error {
	const most = 200 << 10 // KiB
	h, err := t.newHome(nil)
	if err != nil {
		return err
	}
	defer h.stop(ctx)
	lines, err := t.cases("streams.tsv", 5)
	if err != nil {
		return err
	}
	for _, cells := range lines {
		name := cells[0]
		next, err := endless(cells)
		if err != nil {
			return err
		}
		t.model.mu.Lock()
		t.model.endless["endless-"+name] = next
		t.model.mu.Unlock()
		if _, err := h.agent(ctx, "", "", "chat", "--session", name, "endless-"+name); err != nil {
			return err
		}
		c.cases++
		size, err := h.memory(ctx)
		if err != nil || size > most {
			c.through = append(c.through, fmt.Sprintf("%s: the kernel has %d KiB, %v", name, size, err))
		}
		if got, err := h.agent(ctx, "", "", "chat", "--session", name, "hello"); err != nil || !strings.Contains(got.out, "Yes.") {
			c.through = append(c.through, fmt.Sprintf("%s: the conversation does not go on: %s%s %v", name, got.out, got.err, err))
		}
	}
	return nil
}

// endless returns what makes the next piece of a stream of the corpus.
func endless(cells []string) (next func() string, err error) {
	size, err := strconv.Atoi(cells[2])
	if err != nil {
		return nil, fmt.Errorf("the size of %s: %w", cells[0], err)
	}
	between, err := written(cells[3])
	if err != nil {
		return nil, err
	}
	before, err := written(cells[4])
	return func() string {
		var b strings.Builder
		for b.Len() < size {
			fmt.Fprintf(&b, "%x%s", rand.Uint32(), between)
		}
		if cells[1] == "" {
			return before + b.String()
		}
		return before + event(cells[1], b.String())
	}, err
}

// memory returns the most memory that the kernel of a home has had, in KiB.
func (h *home) memory(ctx context.Context) (int, error) {
	got, err := h.agent(ctx, "", "", "status", "--json")
	if err != nil {
		return 0, err
	}
	var status struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(got.out), &status); err != nil || status.PID == 0 {
		return 0, fmt.Errorf("its status is %s%s", got.out, got.err)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", status.PID))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	return strconv.Atoi(strings.Fields(rest)[0])
}
