package plist_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"org-agent/kernel/plist"
)

// seeds returns the texts of the golden cases.
func seeds(f *testing.F) []string {
	files, err := filepath.Glob("testdata/recover/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	texts := []string{"\x00\ufeff (:type :response :text \"a\r\n\\\"\xff😀\") \x00", "(:TYPE . x)", "'`(a", "\xe2\x82"}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range txtar.Parse(content).Files {
			if !strings.HasSuffix(c.Name, ".want") {
				texts = append(texts, string(c.Data))
			}
		}
	}
	return texts
}

func FuzzReader(f *testing.F) {
	for _, text := range append(seeds(f), strings.Fields(numbersAndNames)...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, src string) {
		_, err := readLisp(src)
		var syntax *plist.SyntaxError
		if err != nil && !errors.As(err, &syntax) {
			t.Fatalf("Lisp mode: %v", err)
		}
		forms, err := readAll(src)
		if err != nil {
			if !errors.As(err, &syntax) || syntax.Message == "" || syntax.Offset > len(src) {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		for _, x := range forms {
			printed := plist.Print(x)
			back, err := plist.Read(printed)
			if err != nil || !plist.Equal(back, x) || strings.Contains(printed, "\n") {
				t.Fatalf("%q came back as %v, %v", printed, back, err)
			}
		}
	})
}

func FuzzRecover(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text, "", true)
		f.Add(text, text, false)
	}
	f.Fuzz(func(t *testing.T, text, input string, finished bool) {
		r := plist.Recover(text, plist.RecoverOptions{Input: []string{input}, Finished: finished})
		if len(r.Steps) == 0 {
			t.Fatal("no steps")
		}
		results := 0
		for _, is := range []bool{r.Proposal != nil, r.Text != "", r.Err != nil} {
			if is {
				results++
			}
		}
		if results != 1 || (r.Reason == "") != (r.Proposal != nil) {
			t.Fatalf("not one result: %+v", r)
		}
		if !utf8.ValidString(r.Text) {
			t.Fatalf("the prose is not UTF-8: %q", r.Text)
		}
		if r.Proposal == nil {
			return
		}
		if err := plist.WellFormed(r.Proposal); err != nil {
			t.Fatalf("%s: %v", plist.Print(r.Proposal), err)
		}
		printed := plist.Print(r.Proposal)
		again := plist.Recover(printed, plist.RecoverOptions{Finished: true})
		if len(printed) < 1<<20 && (!plist.Equal(again.Proposal, r.Proposal) || strings.Join(again.Steps, " ") != "strict") {
			t.Fatalf("%s was recovered as %s by %v", printed, plist.Print(again.Proposal), again.Steps)
		}
	})
}

func FuzzStream(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text, "", 1)
		f.Add(text, "(:type :log)"+text, 5)
	}
	f.Fuzz(func(t *testing.T, text, input string, size int) {
		size = max(1, size&63)
		s := plist.Stream{Input: []string{input}}
		write(t, &s, text, func(rest int) int { return min(rest, size) })
		r := plist.Recover(text, plist.RecoverOptions{Input: []string{input}, Finished: true})
		steps := strings.Join(r.Steps, " ")
		if r.Err != nil || !plain(steps) || strings.Contains(steps, "embedded") && (r.Candidates > 1 || strings.Contains(text, "</")) ||
			strings.Contains(steps, "fence") && r.Candidates > 1 || strings.Contains(steps, "think") {
			return // here a Stream may differ
		}
		want, ok := plist.Text(r.Proposal, "text")
		if !ok {
			payload, _ := plist.Get(r.Proposal, "payload")
			want, _ = plist.Text(payload, "text")
		}
		if r.Text != "" && s.Text() != "" || !strings.HasPrefix(want, s.Text()) {
			t.Fatalf("streamed %q, but %v: %s %q", s.Text(), r.Steps, plist.Print(r.Proposal), r.Text)
		}
	})
}

// plain reports whether the steps only removed something.
func plain(steps string) bool {
	for _, step := range strings.Fields(steps) {
		switch step {
		case "strict", "think", "fence", "embedded", "prose":
		default:
			return false
		}
	}
	return true
}
