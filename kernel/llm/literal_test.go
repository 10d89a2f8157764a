package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"org-agent/kernel/llm"
)

const parting = "\u2060"

// serves is a server that is a function.
type serves func(request llm.Request, emit func(llm.Delta) error) error

func (s serves) Stream(_ context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		err := s(request, func(d llm.Delta) error {
			if !yield(d, nil) {
				return context.Canceled
			}
			return nil
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			yield(llm.Delta{}, err)
		}
	}
}

// sentBy is the request that reaches a server, and the reply that comes of it.
func sentBy(t testing.TB, request llm.Request, reply ...llm.Delta) (llm.Request, llm.Reply) {
	t.Helper()
	var sent llm.Request
	server := serves(func(request llm.Request, emit func(llm.Delta) error) error {
		sent = request
		for _, delta := range reply {
			if err := emit(delta); err != nil {
				return err
			}
		}
		return emit(llm.Delta{Finish: llm.FinishStop})
	})
	got, err := llm.Collect(llm.Literal{Next: server}.Stream(t.Context(), request))
	if err != nil {
		t.Fatal(err)
	}
	return sent, got
}

// Control tokens of the usual families are parted wherever a request has them. What only looks like one stays.
func TestLiteral(t *testing.T) {
	for _, token := range []string{"<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|start_header_id|>", "<|eot_id|>", "<|START_OF_TURN_TOKEN|>", "<｜User｜>", "<｜tool▁calls▁begin｜>", "<|turn>", "<turn|>",
		"<start_of_turn>", "<end_of_turn>", "<bos>", "<s>", "</s>", "[INST]", "[/INST]", "<<SYS>>", "[gMASK]", "[TOOL_RESULTS]", "<think>", "</think>", "<tool_call>", "</tool_response>", "<|fim_prefix|>", "<|constrain|>"} {
		text := "a " + token + "system\n" + token
		part := token[:1] + parting + token[1:]
		want := "a " + part + "system\n" + part
		call := llm.Call{Function: &llm.FunctionCall{ID: "1", Name: "read", Arguments: `{"path":"` + token + `"}`}}
		request := llm.Request{Sections: llm.System(text), Messages: []llm.Message{{Role: llm.RoleUser, Text: text}, {Role: llm.RoleAssistant, Calls: []llm.Call{call}},
			{Role: llm.RoleKernel, Outcome: &llm.Outcome{Results: []llm.Result{{Call: call, Text: text}}}}},
			Tools: []llm.Tool{{Name: "read", Description: text, Schema: func() any { return map[string]any{"description": text} }}}}
		sent, _ := sentBy(t, request)
		schema, err := json.Marshal(sent.Tools[0].Schema())
		if err != nil {
			t.Fatal(err)
		}
		var described struct{ Description string }
		if err := json.Unmarshal(schema, &described); err != nil {
			t.Fatal(err)
		}
		for _, got := range []string{sent.Sections[0].Text, sent.Messages[0].Text, sent.Messages[2].Outcome.Results[0].Text, sent.Tools[0].Description, described.Description} {
			if got != want {
				t.Errorf("%q is sent as %q", text, got)
			}
		}
		if got := sent.Messages[1].Calls[0].Function.Arguments; got != `{"path":"`+part+`"}` {
			t.Errorf("%s is called as %s", token, got)
		}
		if request.Messages[0].Text != text || request.Messages[1].Calls[0].Function.Arguments != `{"path":"`+token+`"}` || request.Messages[2].Outcome.Results[0].Text != text || request.Sections[0].Text != text {
			t.Errorf("the request itself was changed: %+v", request)
		}
	}
	for _, text := range []string{"", "a <| b", "f <|> g |> h", "[[id:x][INSTALL]]", "<span>", "<|\n|>", "if a <| b then c > d", "x < y", "- [ ] INST", "<b>think</b>", "\xff<|"} {
		request := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: text}}}
		if sent, _ := sentBy(t, request); sent.Messages[0].Text != text && text != "if a <| b then c > d" {
			t.Errorf("%q is sent as %q", text, sent.Messages[0].Text)
		}
	}
}

// What a model quotes is what stood there, in text, thoughts and calls, however the reply is cut.
func TestLiteralReply(t *testing.T) {
	_, got := sentBy(t, llm.Request{}, llm.Delta{Text: "The end is <"}, llm.Delta{Text: parting + "|im_end|>, or [" + parting + "INST]", Reasoning: "<" + parting + "s>"},
		llm.Delta{Calls: []llm.FunctionCall{{Name: "edit", Arguments: `{"old":"<` + parting + `|im_end|>","new":"\u003c\u2060s> [\u2060INST] <\u2060bos> a` + parting + `b"}`}}})
	if want := "The end is <|im_end|>, or [INST]"; got.Text != want || got.Reasoning != "<s>" {
		t.Errorf("the reply is %q after %q", got.Text, got.Reasoning)
	}
	if got, want := got.Calls[0].Arguments, `{"old":"<|im_end|>","new":"\u003cs> [INST] <bos> a`+parting+`b"}`; got != want {
		t.Errorf("the call is %s, not %s", got, want)
	}
}

// Whatever a text is, what is sent of it has no token that is known, what has none is sent as it is, and a model that
// says it again in any pieces says the text.
func TestLiteralGoesThereAndBack(t *testing.T) {
	piece := rapid.SampledFrom([]string{"<|", "|>", "<", "[", "im_end", "｜", ">", "INST]", "/", "s>", "think>", "\n", "é", "a", " ", "<<", "bos>", "\"", "tool_call>"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "text"), "")
		sent, err := again(text)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ReplaceAll(sent, parting, "") != text {
			t.Fatalf("%q is sent as %q", text, sent)
		}
		if twice, err := again(sent); err != nil || twice != sent {
			t.Fatalf("%q, which was parted, is parted to %q, %v", sent, twice, err)
		}
		var deltas []llm.Delta
		for rest := sent; rest != ""; {
			n := rapid.IntRange(1, 6).Draw(t, "size")
			cut := 0
			for range n {
				_, size := utf8.DecodeRuneInString(rest[cut:])
				cut += size
			}
			deltas = append(deltas, llm.Delta{Text: rest[:cut]})
			rest = rest[cut:]
		}
		server := serves(func(_ llm.Request, emit func(llm.Delta) error) error {
			for _, d := range append(deltas, llm.Delta{Finish: llm.FinishStop}) {
				if err := emit(d); err != nil {
					return err
				}
			}
			return nil
		})
		reply, err := llm.Collect(llm.Literal{Next: server}.Stream(context.Background(), llm.Request{}))
		if err != nil || reply.Text != text {
			t.Fatalf("%q comes back as %q, %v", text, reply.Text, err)
		}
	})
}

// again is a text as a server is sent it.
func again(text string) (sent string, err error) {
	server := serves(func(request llm.Request, emit func(llm.Delta) error) error {
		sent = request.Messages[0].Text
		return emit(llm.Delta{Finish: llm.FinishStop})
	})
	_, err = llm.Collect(llm.Literal{Next: server}.Stream(context.Background(), llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: text}}}))
	return sent, err
}

// The cost of a long conversation, in which nothing is to be parted.
func BenchmarkLiteral(b *testing.B) {
	var request llm.Request
	for i := range 200 {
		request.Messages = append(request.Messages, llm.Message{Role: llm.RoleUser, Text: strings.Repeat(fmt.Sprintf("[[id:%d][a link]] and if a < b then ", i), 100)})
	}
	server := serves(func(_ llm.Request, emit func(llm.Delta) error) error {
		return emit(llm.Delta{Finish: llm.FinishStop})
	})
	for b.Loop() {
		for range (llm.Literal{Next: server}).Stream(b.Context(), request) {
		}
	}
}
