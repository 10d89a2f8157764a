package llm_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

// pictureURL returns a picture of a width as a data URL.
func pictureURL(t *testing.T, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 1))); err != nil {
		t.Fatal(err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

func pictureStep(addresses ...string) llmtest.Step {
	return func(_ context.Context, _ llm.Request, emit llmtest.Emit) error {
		return emit(llm.Delta{Pictures: addresses})
	}
}

// Pictures stand behind the text as links, each once, and nothing but a picture is stored.
func TestPictures(t *testing.T) {
	a, b, end := pictureURL(t, 1), pictureURL(t, 2), llmtest.Finish(llm.FinishStop)
	many := make([]string, 20)
	for i := range many {
		many[i] = pictureURL(t, i+1)
	}
	for _, c := range []struct {
		name string
		turn llmtest.Turn
		want string // N is the name of a file
		kept int
	}{
		{"behind the text", llmtest.Turn{llmtest.Text("A cat."), pictureStep(a), end}, "A cat.\n\n![](</home/N>)", 1},
		{"alone", llmtest.Turn{pictureStep(a), end}, "![](</home/N>)", 1},
		{"before the text", llmtest.Turn{pictureStep(a, b), llmtest.Text("Two."), end}, "Two.\n\n![](</home/N>)\n\n![](</home/N>)", 2},
		{"twice", llmtest.Turn{llmtest.Text("A cat."), pictureStep(a), pictureStep(a), end}, "A cat.\n\n![](</home/N>)", 1},
		{"elsewhere", llmtest.Turn{pictureStep("https://a.example/x_(y).png"), end}, "![](https://a.example/x_%28y%29.png)", 0},
		{"no picture", llmtest.Turn{llmtest.Text("A cat."), pictureStep("data:image/png;base64,PHN2Zz4=", "data:image/svg+xml;base64,PHN2Zz4=", "data:image/png,x", "data:image/png;base64,%%", "file:///etc/passwd", "javascript:x", ""), end}, "A cat.", 0},
		{"an action", llmtest.Turn{llmtest.Text(`(:type :log :text "x")`), pictureStep(a), end}, `(:type :log :text "x")`, 0},
		{"too many", llmtest.Turn{llmtest.Text("x"), pictureStep(many...), end}, "x" + strings.Repeat("\n\n![](</home/N>)", 16) + "\n\n(4 more pictures were left out: of one reply 16 are kept, of 32 MB together.)", 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string][]byte{}
			keep := func(name string, content []byte) (string, error) {
				files[name] = content
				return "/home/" + name, nil
			}
			reply, err := llm.Collect(llm.Pictures{Next: script(c.turn), Keep: keep}.Stream(t.Context(), hello))
			got := reply.Text
			for name, content := range files {
				got = strings.ReplaceAll(got, name, "N")
				if len(name) != 20 || !strings.HasSuffix(name, ".png") || !slices.ContainsFunc(append(many, a, b), func(one string) bool {
					return strings.HasSuffix(one, base64.StdEncoding.EncodeToString(content))
				}) {
					t.Errorf("the file %s has %q", name, content)
				}
			}
			if err != nil || got != c.want || len(files) != c.kept {
				t.Errorf("%q with %d files, %v", got, len(files), err)
			}
		})
	}
	t.Run("the disk is full", func(t *testing.T) {
		keep := func(string, []byte) (string, error) { return "", errors.New("the disk is full") }
		reply, err := llm.Collect(llm.Pictures{Next: script(llmtest.Turn{llmtest.Text("A cat."), pictureStep(a), end}), Keep: keep}.Stream(t.Context(), hello))
		if err != nil || reply.Text != "A cat.\n\n(A picture could not be kept: the disk is full.)" {
			t.Errorf("%q, %v", reply.Text, err)
		}
	})
	t.Run("a reply that fails", func(t *testing.T) {
		keep := func(string, []byte) (string, error) { t.Error("a picture is kept"); return "", nil }
		turn := llmtest.Turn{llmtest.Text("A cat."), pictureStep(a), llmtest.FailAs(llm.ClassServer)}
		if reply, err := llm.Collect(llm.Pictures{Next: script(turn), Keep: keep}.Stream(t.Context(), hello)); llm.ClassOf(err) != llm.ClassServer || reply.Text != "A cat." {
			t.Errorf("%q, %v", reply.Text, err)
		}
	})
}
