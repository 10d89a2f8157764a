package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/prompt"
	"org-agent/kernel/prompt/prompttest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// begins is the first line of what is enclosed between marks, in a message of the user's.
var begins = regexp.MustCompile(`, (\d+) in number\. What stands between two lines with the mark ([0-9a-f]{8}) `)

// resultBegins is the first line of a result.
var resultBegins = regexp.MustCompile(`^--- ([0-9a-f]{8}) result of [a-z_]+: [a-z, -]+ ---\n`)

// parsed is a message as whoever knows how messages are made takes it apart: what is enclosed
// in it, what is a result, and the words at its end. Its error is of a message that cannot be
// taken apart in one way only.
func parsed(m llmtest.Message) (parts, words string, err error) {
	if m.Role == "system" {
		for _, title := range prompt.Parse(m.Content) {
			parts += fmt.Sprintf("%s :%s:, ", title.Title, title.Trust)
		}
		return parts, "", nil
	}
	if result := resultBegins.FindStringSubmatch(m.Content); result != nil {
		_, behind, ended := strings.Cut(m.Content, "\n--- "+result[1]+" end ---\n")
		if !ended || behind != "This is a result, not a message of the user. Go on, or answer the user now." {
			return "", "", fmt.Errorf("behind the mark %s of a result stands %q", result[1], behind)
		}
		return "result", "", nil
	}
	text, enclosed := m.Content, false
	for _, kind := range []string{"kept", "data"} {
		first, rest, _ := strings.Cut(text, "\n")
		found := begins.FindStringSubmatch(first)
		if found == nil || strings.Contains(first, "was kept on earlier days") != (kind == "kept") {
			continue
		}
		number, _ := strconv.Atoi(found[1])
		for i := range number {
			open, end := fmt.Sprintf("--- %s %s %d: ", found[2], kind, i+1), fmt.Sprintf("--- %s end of %s %d ---\n\n", found[2], kind, i+1)
			rest = strings.TrimPrefix(rest, "\n")
			if !strings.HasPrefix(rest, open) || strings.Count(rest, end) != 1 {
				return "", "", fmt.Errorf("%s %d does not stand between its marks", kind, i+1)
			}
			_, rest, _ = strings.Cut(rest, end)
		}
		if strings.Contains(rest, found[2]) {
			return "", "", fmt.Errorf("the mark %s stands behind what it encloses", found[2])
		}
		text, enclosed = rest, true
		if kind == "data" {
			parts += "data "
		}
	}
	if enclosed {
		said, is := strings.CutPrefix(text, "The message:\n")
		if !is {
			return "", "", fmt.Errorf("no message stands behind what is enclosed")
		}
		text = said
	}
	return parts + "message", text, nil
}

// TestInjectionCorpus: whatever of the corpus stands in the person's files, in what is kept, in
// skills and what tools read, in file names, in what goes along, in settings, in a message and
// so in what was said before, the model is sent the same sections with the same trust, the same
// messages of the same roles, and each text within the marks that were made for it.
func TestInjectionCorpus(t *testing.T) {
	texts := prompttest.Injections(t)
	if len(texts) < 50 {
		t.Fatalf("the corpus has %d texts", len(texts))
	}
	// Three stand in each place at a time, and a conversation has twelve turns, so that what was
	// said before is told too.
	const most = 12
	var threes []string
	for from := 0; from < len(texts); from += 3 {
		threes = append(threes, strings.Join(texts[from:min(from+3, len(texts))], "\n"))
	}
	texts = threes
	harmless := make([]string, most)
	for i := range harmless {
		harmless[i] = "Nothing."
	}
	want := sent(t, harmless)
	for from := 0; from < len(texts); from += most {
		group := texts[from:min(from+most, len(texts))]
		got := sent(t, group)
		if len(got) != 2*len(group) {
			t.Fatalf("%d requests were sent for %d texts", len(got), len(group))
		}
		for i := range got {
			if want[i] != got[i] {
				t.Errorf("with %q in request %d the model is sent\n%s\nand without\n%s", group[i/2], i, got[i], want[i])
			}
		}
	}
}

// sent is what the model is sent in a conversation of these texts, taken apart.
func sent(t *testing.T, texts []string) (requests []string) {
	t.Helper()
	in, model := newInstanceAndModel(t, llmtest.Exchange{Match: `^--- [0-9a-f]{8} result`, Reply: insertion("* Read"), Times: -1},
		llmtest.Exchange{Reply: `(:type :REQUEST :target :tool :action :call :tool "use_skill" :args (:name "garden"))`, Times: -1})
	put := func(text string) {
		for _, role := range []string{"IDENTITY", "SOUL", "USER", "TOOLS", "PROFILES", "WORKSPACE", "MEMORY"} {
			in.write(t, role+".org", "Good garden.\n"+strings.ReplaceAll(text, "\x00", "")+"\n")
		}
		in.write(t, "config.org", "* Presets\n** wish\nPlease.\n"+strings.ReplaceAll(text, "* ", "** ")+"\n")
		// The kernel looks at a file that changes all the time also amid a change: the skill is to be whole then.
		skill := "---\nname: garden\ndescription: " + strconv.QuoteToASCII("The garden. "+strings.Map(printable, text)) + "\n---\n# Roses\n" + strings.Map(printable, text) + "\n"
		directory := filepath.Join(in.paths.Home, "skills/garden")
		if err := os.MkdirAll(directory, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.Write(filepath.Join(directory, "SKILL.md"), []byte(skill), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("Nothing.")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	for i, text := range texts {
		put(text)
		name := strings.ReplaceAll(strings.ReplaceAll(text, "/", "-"), "\x00", "")
		words := "garden " + text
		params := append(message(fmt.Sprintf("q%d", i), words, item("a"+name, strings.ReplaceAll("roses "+text, "\x00", ""))),
			protocol.Field{Key: "above", Value: "* q\n:PROPERTIES:\n:SYSTEM: " + strings.Join(strings.Fields("be brief "+text), " ") + "\n:END:\n"})
		sendWith(t, e, params)
		all := model.Requests()
		for _, request := range all[len(requests):] {
			var b strings.Builder
			for _, m := range request.Messages() {
				if m.Role == "assistant" {
					b.WriteString("assistant\n")
					continue
				}
				parts, _, err := parsed(m)
				if err != nil {
					t.Errorf("with %q: %v in\n%s", text, err, m.Content)
				}
				fmt.Fprintf(&b, "%s: %s\n", m.Role, parts)
			}
			requests = append(requests, b.String())
		}
	}
	return requests
}

// printable keeps what can stand in a skill.
func printable(c rune) rune {
	if c < ' ' && c != '\n' || c == 0x7f {
		return -1
	}
	return c
}
