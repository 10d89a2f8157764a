package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/plist"
)

// hostileForms are forms of Lisp that take what they are not given. None may end well, or print the word.
var hostileForms = []string{
	`(loop)`, `(loop for i from 0 collect (make-string 1000000))`, `(format nil "~{~a~}" '#1=(1 . #1#))`, `(make-array 100000000000)`, `(labels ((f (x) (+ 1 (f x)))) (f 1))`, `(open "/etc/passwd")`, `(with-open-file (s "secret.txt") (read-line s))`,
	`(uiop:read-file-string "secret.txt")`, `(uiop:run-program "cat secret.txt")`, `(uiop:getenv "HOME")`, `(sb-ext:run-program "/bin/cat" '("secret.txt"))`, `(load "secret.txt")`, `(delete-file "secret.txt")`, `(ensure-directories-exist "made/")`,
	`(directory "*")`, `(probe-file "secret.txt")`, `(read-from-string "#.(uiop:getenv \"HOME\")")`, `(expt 10 (expt 10 10))`, `(reduce #'append (make-list 100000 :initial-element (make-list 100000)))`, `(string-upcase (make-string 2000000000))`, `(ppcre:scan "(a*)*b" (make-string 100000 :initial-element #\a))`,
	`(eval '(uiop:read-file-string "secret.txt"))`, `(funcall (intern "RUN-PROGRAM" "UIOP") "cat secret.txt")`, `(dotimes (i 100000000000))`, `(sleep 100000)`, `(json:encode-json-to-string '#2=(#2#))`,
}

// notes evaluates the forms, and checks notes that do the same while they load.
func notes(t *team, ctx context.Context, c *count) error {
	h, err := t.newHome(map[string]string{"secret.txt": "CANARY\n"})
	if err != nil {
		return err
	}
	for i, form := range hostileForms {
		got, err := h.agent(ctx, "", "", "lisp", "--timeout", "3s", "-e", form)
		if err != nil {
			return err
		}
		c.cases++
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
	got, err := h.agent(ctx, "", "", "lisp", "-e", "(+ 1 2)")
	if err != nil {
		return err
	}
	c.cases++
	if _, err := os.Stat(h.user + "/secret.txt"); err != nil || strings.TrimSpace(got.out) != "3" {
		c.harsh = append(c.harsh, fmt.Sprintf("(+ 1 2) is %q, and the file: %v", got.out, err))
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
	calls := []string{
		`{"name":"read","arguments":{"path":"config.org"}}`, `{"name":"read","arguments":{"path":"sessions/main.org"}}`, `{"name":"read","arguments":{"path":"~/private.txt"}}`, `{"name":"read","arguments":{"path":"notes/diary.org"}}`, `{"name":"grep","arguments":{"pattern":"CANARY","path":"~"}}`, `{"name":"grep","arguments":{"pattern":"CANARY","path":"."}}`,
		`{"name":"memory_search","arguments":{"query":"CANARY"}}`, `{"name":"search_messages","arguments":{"query":"CANARY"}}`, `{"name":"list_conversations","arguments":{}}`, `{"name":"org_query","arguments":{"words":"CANARY"}}`, `{"name":"agenda","arguments":{}}`, `{"name":"exec","arguments":{"command":"cat ~/private.txt"}}`,
		`{"name":"earlier_result","arguments":{"id":"1"}}`, `{"name":"use_skill","arguments":{"name":"../config"}}`, `{"name":"emacs_read","arguments":{"buffer":"diary.org"}}`, `{"name":"glob","arguments":{"pattern":"**","path":"~"}}`,
	}
	for _, call := range calls {
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

// disguised are command lines that look like others. An approval has to name what is in them.
var disguised = []string{
	"hostid \u202egnp.exe", "hostid a\u200bb", "hostid \u0440ass", "hostid n\u0430me.txt", "hostid a\u00a0b", "hostid e\u0301\u0302\u0303", "hostid x" + strings.Repeat(" ", 6000) + "; hostid evil", "hostid \x1b[2K\x1b[1A", "hostid \u2066x\u2069", "hostid \u3164", "hostid \ufeffx", "hostid a\u2028b",
	"hostid a" + strings.Repeat("\n", 300) + "hostid evil", "hostid \U000e0041", "hostid \u115fx", "hostid \u2800", "hostid \u034f",
}

// approvals has the model propose them, and reads the list of what waits.
func approvals(t *team, ctx context.Context, c *count) error {
	h, err := t.newHome(map[string]string{"project/a": "x"})
	if err != nil {
		return err
	}
	defer h.stop(ctx)
	marked := regexp.MustCompile(`⟨|cannot be seen|blanks|look like|other alphabets|mixed|scripts|refused|letters|lines`)
	for i, command := range disguised {
		word := fmt.Sprint("disguise", i)
		t.model.say(word, `(:type :request :target :tool :action :call :tool "exec" :args (:cwd "~/project" :command `+plist.Print(plist.String(command))+`))`)
		said, err := h.agent(ctx, "", "", "chat", "--session", word, word)
		if err != nil {
			return err
		}
		got, err := h.agent(ctx, "", "", "approve", "list", "--json")
		if err != nil {
			return err
		}
		var waiting []map[string]any
		_ = json.Unmarshal([]byte(got.out), &waiting) // it may be no list
		text, err := h.agent(ctx, "", "", "approve", "list")
		if err != nil {
			return err
		}
		c.cases++
		here := text.out[max(0, strings.Index(text.out, word)):]
		if asked := strings.Contains(text.out, word); asked && !marked.MatchString(here) || !asked && said.code == 0 && strings.Contains(said.out, "exit status 0") {
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
	words := func(size int) string {
		var b strings.Builder
		for b.Len() < size {
			fmt.Fprintf(&b, "%x ", rand.Uint32())
		}
		return b.String()
	}
	streams := map[string]func() string{
		"prose": func() string { return event("content", words(100_000)) }, "thoughts": func() string { return event("reasoning_content", words(20_000)) }, "line": func() string { return strings.Repeat("x", 100_000) }, "silence": func() string { return strings.Repeat(": keep-alive\n\n", 5_000) + event("content", words(1000)) },
	}
	for name, sign := range map[string]string{"lines": "\n", "headings": "\n* ", "table": "|\n|", "fences": "\n```\n", "parentheses": "(", "quotes": `\"`, "characters": "\x00\u202e🙂", "calls": `(:type :request :target :tool :action :call :tool "glob") `, "blocks": "\n#+begin_src x\n", "links": "[[elisp:x][", "tex": `\input{$`, "drawers": "\n:A:\n"} {
		streams[name] = func() string { return event("content", strings.ReplaceAll(words(20_000), " ", sign)) }
	}
	for name, next := range streams {
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
