package toolcall_test

import (
	"bufio"
	"encoding/json"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/toolcall"
)

// offered is a request with two functions, one with a schema.
func offered(shown ...string) llm.Request {
	request := llm.Request{Tools: []llm.Tool{
		{Name: "read", Schema: func() any {
			return map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}, "limit": map[string]any{"type": "integer"}}}
		}}, {Name: "glob"}}}
	for _, text := range shown {
		request.Messages = append(request.Messages, llm.Message{Role: llm.RoleUser, Text: text})
	}
	return request
}

// reply is a case: a reply, and what is found in it.
type reply struct {
	name, text    string
	calls         []string
	said, thought string
}

// replies reads the cases.
func replies(t *testing.T) (all []reply) {
	t.Helper()
	file, err := os.Open("testdata/calls.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	var one *reply
	within := false
	for lines.Scan() {
		line := lines.Text()
		name, begins := strings.CutPrefix(line, ">>> ")
		switch {
		case begins:
			all = append(all, reply{name: name})
			one, within = &all[len(all)-1], true
		case line == "<<<":
			within = false
		case within:
			one.text += line + "\n"
		case strings.HasPrefix(line, "call "):
			one.calls = append(one.calls, strings.ReplaceAll(line[5:], "%", "\n"))
		case strings.HasPrefix(line, "text "):
			one.said = strings.ReplaceAll(line[5:], "%", "\n")
		case strings.HasPrefix(line, "thought "):
			one.thought = line[8:]
		}
	}
	return all
}

// parse returns what a parser finds in a text that comes in pieces.
func parse(request llm.Request, pieces ...string) (calls []string, said, thought string) {
	p := toolcall.New(request)
	for _, piece := range pieces {
		s, t := p.Write(piece)
		said, thought = said+s, thought+t
	}
	rest, found := p.Finish()
	for _, c := range found {
		calls = append(calls, strings.TrimSpace(c.Name+" "+c.Arguments))
	}
	return calls, strings.TrimRight(said+rest, " \n"), thought
}

// Each notation, whole and in pieces of every size.
func TestReplies(t *testing.T) {
	for _, r := range replies(t) {
		t.Run(r.name, func(t *testing.T) {
			for size := 1; size <= len(r.text)+1; size++ {
				var pieces []string
				for rest := r.text; rest != ""; {
					n := min(size, len(rest))
					pieces, rest = append(pieces, rest[:n]), rest[n:]
				}
				calls, said, thought := parse(offered(), pieces...)
				for i := range calls {
					calls[i] = strings.TrimSpace(calls[i])
				}
				want := slices.Clone(r.calls)
				for i := range want {
					want[i] = strings.TrimSpace(want[i])
				}
				if !slices.Equal(calls, want) || said != strings.TrimRight(r.said, "\n") || thought != r.thought {
					t.Fatalf("in pieces of %d:\ncalls   %q\ntext    %q\nthought %q\nwanted\ncalls   %q\ntext    %q\nthought %q", size, calls, said, thought, want, r.said, r.thought)
				}
			}
		})
	}
}

// marks are words of notations. None is shown to anybody.
var marks = []string{"<tool_call>", "<function=", "[TOOL_CALLS]", "<|python_tag|>", "tool▁call", "<|tool_call", "<|START_ACTION|>", "<start_function_call>", "<|channel|>", "functools[", "minimax:", "<invoke"}

// A reply that is cut off anywhere shows no notation, and its arguments are never taken for whole ones
// that they are not.
func TestCutReplies(t *testing.T) {
	for _, r := range replies(t) {
		if len(r.calls) == 0 || r.said != "" {
			continue
		}
		for end := range r.text {
			_, said, _ := parse(offered(), r.text[:end])
			for _, mark := range marks {
				if strings.Contains(said, mark) {
					t.Errorf("%s, cut at %d: %q is shown", r.name, end, said)
				}
			}
		}
	}
}

// What the model was shown is quoted, and not proposed.
func TestQuotations(t *testing.T) {
	for _, r := range replies(t) {
		if len(r.calls) == 0 || strings.Contains(r.name, "harmony") {
			continue
		}
		if calls, said, _ := parse(offered("What is this?\n"+r.text), r.text); len(calls) > 0 || strings.TrimSpace(said) != strings.TrimSpace(r.text) && r.said == "" {
			t.Errorf("%s: %q was shown and is called: %q %q", r.name, r.text, calls, said)
		}
	}
}

// Whatever a model writes: it is the same in any pieces, nothing but calls is lost, and the arguments of
// the calls of offered functions are JSON.
func TestAnyText(t *testing.T) {
	words := []string{"<", "<tool_call>", "</tool_call>", "{", "}", "[", "]", "(", ")", `"name"`, ":", `"read"`, "read", "glob", "=", "'", `"`, "\n", " ", "```", "json", "tool_code", "#+begin_src", "#+end_src",
		"<think>", "</think>", "<function=", "<parameter=", "</parameter>", "</function>", "[TOOL_CALLS]", "[ARGS]", "<|channel|>", "<|message|>", "<|end|>", "final", "to=functions.", "call:", "<start_function_call>", "<escape>",
		`{"name":"read","arguments":{"path":"a"}}`, "é", "(read :path \"a\")", "<invoke name=\"", "functions.", ">>>", "<arg_key>", "</arg_value>", "\\", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"}
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom(words), 0, 14).Draw(t, "pieces")
		text := strings.Join(pieces, "")
		calls, said, thought := parse(offered(), text)
		inPieces, saidInPieces, thoughtInPieces := parse(offered(), strings.Split(text, "")...)
		if !slices.Equal(calls, inPieces) || said != saidInPieces || thought != thoughtInPieces {
			t.Fatalf("%q is\n%q %q %q at once, and\n%q %q %q in pieces", text, calls, said, thought, inPieces, saidInPieces, thoughtInPieces)
		}
		if len(calls) == 0 && !strings.Contains(text, "<|channel|>") && said != strings.TrimRight(text, " \n") {
			t.Fatalf("of %q only %q is left", text, said)
		}
		for _, c := range calls {
			if name, arguments, _ := strings.Cut(c, " "); (name == "read" || name == "glob") && arguments != "" && !json.Valid([]byte(arguments)) && !strings.Contains(text, "<|channel|>") && !strings.Contains(text, "arguments") {
				t.Fatalf("the arguments of %q are no JSON", c)
			}
		}
	})
}

// What a model writes without end, in the small pieces in which it comes, is not copied with each of them.
func TestEndlessReplies(t *testing.T) {
	const size, piece = 200_000, 4
	fill := func(begin, with string) string { return begin + strings.Repeat(with, size/len(with)) }
	for _, text := range []string{
		fill("<tool_call>", "x"), fill("<|channel|>", "x"), fill("<|channel|>", "<|message|"), fill(`{"name":"`, "x"), fill("[", " "), fill("x\n", " "), fill("x\n```", "x"), fill("x\n#+begin_", "x"),
		fill("", "```"), fill("<think>", "<"), fill("x\n(", "read"), fill("", "\n"), fill("functions.read", ":"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p := toolcall.New(offered())
		for rest := text; rest != ""; rest = rest[min(piece, len(rest)):] {
			p.Write(rest[:min(piece, len(rest))])
		}
		p.Finish()
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 400*size {
			t.Errorf("%.20q…: %d bytes are allocated for %d", text, used, len(text))
		}
	}
}
