package plist_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// plists returns about a megabyte of typical messages of the wire.
func plists() string {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, `(:jsonrpc "2.0" :id %d :method "turn/delta" :params (:session "main" :turn "01J9%08d" :id "act-%d" :offset %d :text "Both are from *April*: see the note \"Silk road\" and what follows.\nA second line." :final nil))`+"\n", i, i, i, 7*i)
	}
	return b.String()
}

func BenchmarkRead(b *testing.B) {
	src := plists()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		r := plist.NewTreeReader(src, plist.Limits{})
		for {
			if _, err := r.Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkReadOneMessage(b *testing.B) {
	src, _, _ := strings.Cut(plists(), "\n")
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plist.Read(src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrint(b *testing.B) {
	forms, err := readAll(plists())
	if err != nil {
		b.Fatal(err)
	}
	x := sexp.Sexp(sexp.List(forms))
	out := plist.AppendPrint(nil, x)
	b.SetBytes(int64(len(out)))
	b.ReportAllocs()
	for b.Loop() {
		out = plist.AppendPrint(out[:0], x)
	}
}

// BenchmarkStream reads replies of doubling sizes in pieces of doubling sizes. The throughput must
// not fall with the size.
func BenchmarkStream(b *testing.B) {
	for _, size := range []int{1 << 16, 1 << 18, 1 << 20} {
		text := `(:type :response :text "` + strings.Repeat(`word \"é\"\n`, size/11) + `")`
		for _, piece := range []int{1, 16, 4096} {
			b.Run(fmt.Sprintf("reply=%dk/piece=%d", size>>10, piece), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					s := plist.Stream{Input: []string{"what the user said (:type :response)"}}
					for i := 0; i < len(text); i += piece {
						s.Write(text[i:min(i+piece, len(text))])
						_ = s.Text()
					}
					if len(s.Text()) < len(text)/2 {
						b.Fatal("the stream did not see the end")
					}
				}
			})
		}
	}
}

// hostile are texts that a careless recovery takes quadratic time for.
var hostile = []struct {
	name  string
	text  func(n int) string
	input func(n int) string
}{
	{"open-parens", func(n int) string { return strings.Repeat("(", n) }, nil},
	{"nested-candidates", func(n int) string { return strings.Repeat("(:type ", n/7) }, nil},
	{"candidates-in-prose", func(n int) string { return strings.Repeat("a (:type :x) ", n/13) }, nil},
	{"json-opens", func(n int) string { return strings.Repeat(`{"a":`, n/5) }, nil},
	{"json-invalid", func(n int) string { return strings.Repeat(`{"a" `, n/5) }, nil},
	{"json-action-invalid", func(n int) string { return strings.Repeat(`{"type":[`, n/9) }, nil},
	{"quotes", func(n int) string { return strings.Repeat(`"`, n) }, nil},
	{"quotes-in-paragraphs", func(n int) string { return strings.Repeat("\"\n\n", n/3) }, nil},
	{"inner-quotes", func(n int) string { return `(:type :response :text "` + strings.Repeat(`a" :k ("`, n/8) + `")` }, nil},
	{"inner-quotes-readings", func(n int) string { return `(:type :response :text "x" y "` + strings.Repeat(`") `, n/3) }, nil},
	{"inner-quotes-json", func(n int) string { return `{"type":"response","text":"` + strings.Repeat(`a","b":[`, n/8) }, nil},
	{"json-broken-unclosed", func(n int) string { return strings.Repeat(`{"type":1;{`, n/11) }, nil},
	{"json-broken-in-fences", func(n int) string { return strings.Repeat("```json\n{\"type\":1;\n", n/21) }, nil},
	{"quotes-in-quotes", func(n int) string { return strings.Repeat("(quote ", n/7) }, nil},
	{"inner-quotes-keys", func(n int) string { return `(:type :response :text "x" y ` + strings.Repeat(`" :k "`, n/6) }, nil},
	{"fences", func(n int) string { return strings.Repeat("```\n", n/4) }, nil},
	{"fences-unclosed-forms", func(n int) string { return strings.Repeat("```\n(a\n", n/7) }, nil},
	{"info-strings", func(n int) string { return "```" + strings.Repeat("x", n) }, nil},
	{"tags", func(n int) string { return strings.Repeat("<think", n/6) }, nil},
	{"closing-tags", func(n int) string { return strings.Repeat("(:type </think>", n/15) }, nil},
	{"comments", func(n int) string { return strings.Repeat(";\n", n/2) }, nil},
	{"backslashes", func(n int) string { return `(:type :response :text "` + strings.Repeat(`\`, n) }, nil},
	{"blanks", func(n int) string { return "(" + strings.Repeat(" ", n) }, nil},
	{"not-utf8", func(n int) string { return strings.Repeat("\xff(", n/2) }, nil},
	{"quotations", func(n int) string { return strings.Repeat("a (:type :x) ", n/13) },
		func(n int) string { return strings.Repeat("(:type :x) ", n/11) }},
	{"distinct-quotations", distinct, distinct},
}

func distinct(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "a (:type %d) ", i)
	}
	return b.String()
}

// BenchmarkRecoverHostile reads hostile texts. MB/s must not fall as the text doubles.
func BenchmarkRecoverHostile(b *testing.B) {
	benchmarkHostile(b, 1<<17, func(text, input string) {
		plist.Recover(text, plist.RecoverOptions{Finished: true, Input: []string{input}})
	})
}

// BenchmarkStreamHostile does the same, byte by byte.
func BenchmarkStreamHostile(b *testing.B) {
	benchmarkHostile(b, 1<<15, func(text, input string) {
		s := plist.Stream{Input: []string{input}}
		for i := range len(text) {
			s.Write(text[i : i+1])
		}
	})
}

// benchmarkHostile reads each hostile text in three sizes, each twice the one before.
func benchmarkHostile(b *testing.B, least int, read func(text, input string)) {
	for _, h := range hostile {
		for _, n := range []int{least, 2 * least, 4 * least} {
			b.Run(fmt.Sprintf("%s/%dk", h.name, n>>10), func(b *testing.B) {
				text, input := h.text(n), ""
				if h.input != nil {
					input = h.input(n)
				}
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					read(text, input)
				}
			})
		}
	}
}
