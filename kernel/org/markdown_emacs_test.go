package org_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/org"
)

// differing are the examples of CommonMark's specification that we deliberately read in another
// way, by the reason.
var differing = map[string][]int{
	"a tab behind a marker stands for whole blanks":                             {5, 6, 7},
	"\\( and \\[ begin mathematics, as models write it":                         {12},
	"the test unescapes in another order":                                       {14},
	"a reference without its semicolon, or to white space, stays":               {28, 29, 39, 40},
	"a heading that is underlined has one line: no paragraph waits for another": {81, 82, 95, 300},
	"a backslash at the end of a paragraph or heading is a line break or none":  {90, 644, 646},
	"a line of blanks in an indented block is empty":                            {112},
	"a definition has one line, and a destination":                              {197, 201, 510},
	"models indent by mistake: too much, or too little":                         {238, 257, 276, 280, 297, 312},
	"an item does not begin with indented code":                                 {273, 274},
	"a line break ends what may go on to the next line":                         {335, 638, 639, 640, 641, 642, 643},
	"code has no blanks at its ends":                                            {336},
	"Org takes no blank, nor what is kept apart by one, for emphasis":           {353, 437, 440},
	"a link's destination may hold what Org cannot":                             {493, 507},
	"links do not nest: the outer one stays":                                    {517, 518, 519, 520, 574, 575},
	"a tag or address in a link's text does not hide its end":                   {524, 526},
	"an address of another kind stays in its brackets":                          {596, 598, 599, 601, 602, 606},
	"a bare mail address stays as it is":                                        {612},
	"a link of Org stays one":                                                   {548, 590},
}

// TestEmacsFindsTheSpecification converts the examples of CommonMark's specification, which the
// module of the Markdown parser contains. Org must find in the result what that parser finds in the
// example.
func TestEmacsFindsTheSpecification(t *testing.T) {
	directory, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(directory)), "_test", "spec.json"))
	if err != nil {
		t.Fatal(err)
	}
	var examples []struct {
		Markdown string
		Example  int
	}
	if err := json.Unmarshal(data, &examples); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, example := range examples {
		texts = append(texts, example.Markdown)
	}
	reasons := map[int]string{}
	for reason, numbers := range differing {
		for _, number := range numbers {
			reasons[number] = reason
		}
	}
	for i, difference := range differences(t, texts) {
		switch reason := reasons[examples[i].Example]; {
		case difference != "" && reason == "":
			t.Errorf("example %d: %s", examples[i].Example, difference)
		case difference == "" && reason != "":
			t.Errorf("example %d is read as others do; the table says that it is not: %s", examples[i].Example, reason)
		}
	}
}

// TestEmacsFindsTheMarkdown does the same with random documents of the kinds that models write.
func TestEmacsFindsTheMarkdown(t *testing.T) {
	var texts []string
	for seed := range 200 {
		texts = append(texts, markdownDocument().Example(seed))
	}
	shown := 0
	for _, difference := range differences(t, texts) {
		if difference != "" && shown < 5 {
			shown++
			t.Error(difference)
		}
	}
}

// differences says for each text how what Org finds in the converted text differs from what a
// Markdown parser finds in the text. It is "" if they do not differ or cannot be compared.
func differences(t *testing.T, texts []string) []string {
	t.Helper()
	results := make([]string, len(texts))
	outlines := make([][]string, len(texts))
	for i, text := range texts {
		lines, broken := markdownOutline(text)
		if broken == "" {
			results[i], outlines[i] = org.MarkdownToOrg(text), lines
		}
	}
	var found [][]string
	runEmacs(t, "org-agent-outline-text", results, &found)
	differences := make([]string, len(texts))
	for i := range found {
		got, want := footnotesLast(found[i]), footnotesLast(outlines[i])
		if k := differentLine(got, want); k >= 0 {
			differences[i] = fmt.Sprintf("Org finds\n\t%s\nin Markdown it is\n\t%s\ninput: %q\noutput:\n%s",
				lineAt(got, k), lineAt(want, k), texts[i], visible(results[i]))
		}
	}
	return differences
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}

// markdownDocument draws documents in which every construct stands where Markdown's readers agree
// about it.
func markdownDocument() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var out strings.Builder
		literals := rapid.IntRange(0, 4).Draw(t, "literals") == 0
		for range rapid.IntRange(1, 5).Draw(t, "blocks") {
			out.WriteString(markdownBlock(t, 0, literals) + "\n")
		}
		return out.String()
	})
}

func markdownBlock(t *rapid.T, depth int, literals bool) string {
	kinds := []string{"paragraph", "paragraph", "paragraph", "fence", "rule", "heading", "table"}
	if depth < 3 {
		kinds = append(kinds, "unordered", "ordered", "quote", "tasks")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "heading":
		return strings.Repeat("#", rapid.IntRange(1, 6).Draw(t, "level")) + " " + markdownText(t, 3, literals) + "\n"
	case "fence":
		mark := rapid.SampledFrom([]string{"```", "~~~", "````", "~~~~~"}).Draw(t, "mark")
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"* x", "  y = \"z\"", "\tif", "", "#+begin_src sh", "#+end_src", ",* a", "``", "> q", "- i", "**b** `c`", "\\input{x}", "中文"}), 1, 5).Draw(t, "lines")
		return mark + rapid.SampledFrom([]string{"", "org", "c++", "sh title=x"}).Draw(t, "info") + "\n" + strings.Join(lines, "\n") + "\n" + mark + "\n"
	case "rule":
		return "---\n"
	case "table":
		columns := rapid.IntRange(1, 3).Draw(t, "columns")
		row := func() string {
			cells := make([]string, columns)
			for i := range cells {
				cells[i] = markdownText(t, 2, literals)
			}
			return "| " + strings.Join(cells, " | ") + " |\n"
		}
		text := row() + "|" + strings.Repeat(rapid.SampledFrom([]string{"---|", ":-:|", "--:|"}).Draw(t, "marks"), columns) + "\n"
		for range rapid.IntRange(0, 3).Draw(t, "rows") {
			text += row()
		}
		return text
	case "unordered":
		return markdownItems(t, depth, literals, func(int) string { return "- " })
	case "tasks":
		return markdownItems(t, 3, literals, func(int) string { return rapid.SampledFrom([]string{"- [ ] ", "- [x] "}).Draw(t, "box") })
	case "ordered":
		return markdownItems(t, depth, literals, func(i int) string { return fmt.Sprintf("%d. ", i+1) })
	case "quote":
		var out strings.Builder
		for l := range strings.SplitSeq(strings.TrimSuffix(markdownBlock(t, 3, literals)+"\n"+markdownBlock(t, 3, literals), "\n"), "\n") {
			out.WriteString(strings.TrimRight("> "+l, " ") + "\n")
		}
		return out.String()
	}
	var lines []string
	for range rapid.IntRange(1, 3).Draw(t, "lines") {
		lines = append(lines, markdownText(t, 6, literals))
	}
	return strings.Join(lines, "\n") + "\n"
}

func markdownItems(t *rapid.T, depth int, literals bool, marker func(int) string) string {
	var out strings.Builder
	for i := range rapid.IntRange(1, 3).Draw(t, "items") {
		mark := marker(i)
		out.WriteString(mark + markdownText(t, 4, literals) + "\n")
		if depth < 3 && rapid.Bool().Draw(t, "more") {
			for l := range strings.SplitSeq("\n"+strings.TrimSuffix(markdownBlock(t, depth+1, literals), "\n"), "\n") {
				out.WriteString(strings.TrimRight(strings.Repeat(" ", len(mark))+l, " ") + "\n")
			}
		}
	}
	return out.String()
}

// markdownText draws a line of text: words, and what may stand among them.
func markdownText(t *rapid.T, most int, literals bool) string {
	pieces := []string{
		"word", "two words", "snake_case_name", "x*y", "2 * 3", "a/b", "C++", "a = b", "`code`", "`a_b*c`", "``a`b``", "`a = b`", "`*x*`",
		"*italic*", "**bold**", "***both***", "~~gone~~", "_it_", "__bo__", "**bold with `code`**", "*a **b** c*", "**a *b* c**", "(*x*)", "**x**:", "\"**q**\"", "a**b**c",
		"[link](http://a.b/c_d)", "[**b** l](https://a.b)", "![image](x.png)", "<https://a.b>", "<me@a.b>", "https://a.b/c_d", "\\*not\\*", "\\_no\\_", "a\\_b", "1\\. x", "&amp;", "&lt;b&gt;", "&#42;",
		"é", "中文", "🙂", "שלום", "[x]", "(y)", "a: b", "TODO", "#tag", "@me", "50%", "**", "*", "_", "~", "=", "==", "+", "a+b+c", "***", "____", "===",
	}
	// A path or number that stays as it is prevents emphasis with the same sign on that line and
	// the next from being recognised. That is better than a path with a hidden character in it.
	if literals {
		pieces = []string{"word", "/usr/lib", "/a/", "+a+", "+49", "=a=", "~5", "**bold**", "[link](http://a.b)", "a/b"}
	}
	words := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, most).Draw(t, "words")
	return "w " + strings.Join(words, " ") + " w"
}
