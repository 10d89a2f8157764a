package fetch_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/fetch"
)

// TestTexts checks that texts are decoded, whatever the server declares, and that anything else is
// refused.
func TestTexts(t *testing.T) {
	pages := map[string]struct{ contentType, body, text, refused string }{
		"utf-8":          {"text/plain; charset=utf-8", "naïve Ω", "naïve Ω", ""},
		"latin-1":        {"text/plain; charset=iso-8859-1", "na\xefve", "naïve", ""},
		"wrong":          {"text/plain; charset=iso-8859-1", "naïve Ω", "naïve Ω", ""},
		"unknown":        {"text/plain; charset=klingon", "naïve", "naïve", ""},
		"not said":       {"text/plain", "na\xefve", "naïve", ""},
		"late":           {"text/plain", strings.Repeat("a ", 2000) + "naïve", strings.Repeat("a ", 2000) + "naïve", ""},
		"wrong utf-8":    {"text/plain; charset=utf-8", "na\xefve", "na\uFFFDve", ""},
		"of the page":    {"text/html", "<meta charset=koi8-r><p>\xf0\xf2\xe9", "ПРИ", ""},
		"utf-16":         {"text/plain", "\xff\xfea\x00b\x00", "ab", ""},
		"utf-16 said":    {"text/plain; charset=utf-16le", "a\x00b\x00", "ab", ""},
		"shift-jis":      {"text/plain; charset=shift_jis", "\x93\xfa\x96{", "日本", ""},
		"mark":           {"text/plain", "\xef\xbb\xbfab", "ab", ""},
		"json":           {"application/json", `{"a": "ï"}`, `{"a": "ï"}`, ""},
		"feed":           {"application/rss+xml; charset=utf-8", "<rss><title>A</title></rss>", "<rss><title>A</title></rss>", ""},
		"said twice":     {"text/plain; charset=utf-8; charset=utf-8", "ab", "ab", ""},
		"nothing":        {"", "just words", "just words", ""},
		"nothing, page":  {"", "<!doctype html><p>just words", "just words", ""},
		"pdf":            {"application/pdf", "%PDF-1.7", "", `"application/pdf" and not text`},
		"nothing, pdf":   {"", "%PDF-1.7 x", "", `"application/pdf" and not text`},
		"image":          {"image/svg+xml", "<svg/>", "", "not text"},
		"bytes":          {"application/octet-stream", "\x00\x01", "", "not text"},
		"called text":    {"text/plain", "\x00\x01\x02ELF", "", "called text and is none"},
		"long type":      {"application/" + strings.Repeat("x", 5000), "x", "", "not text"},
		"invisible":      {"text/plain", "a\x1b[31mb\u202ec\U000E0041d\r\ne\u2028f\x00" + strings.Repeat(" ", 1), "a[31mbcd\ne\nf", "called text"},
		"invisible text": {"text/plain", "a\x1b[31mb\u202ec\U000E0041d\r\ne\u2028f", "a[31mbcd\ne\nf", ""},
		"empty":          {"text/plain", "", "", ""},
		"empty page":     {"text/html", "", "", ""},
	}
	address, f := server(t, fetch.Config{}, func(w http.ResponseWriter, r *http.Request) {
		page := pages[strings.TrimPrefix(r.URL.Path, "/")]
		w.Header()["Content-Type"] = []string{page.contentType}
		if page.contentType == "" {
			w.Header()["Content-Type"] = nil
		}
		fmt.Fprint(w, page.body)
	})
	for name, want := range pages {
		page, err := f.Get(t.Context(), address+"/"+name)
		switch {
		case want.refused != "" && (err == nil || !strings.Contains(err.Error(), want.refused) || len(err.Error()) > 300):
			t.Errorf("%s: %q, %v", name, page.Text, err)
		case want.refused == "" && (err != nil || page.Text != want.text):
			t.Errorf("%s: %q, %v; wanted %q", name, page.Text, err, want.text)
		}
	}
}

// TestHostilePages checks that pages which would become much longer as Markdown, or would take too
// long, return what can be read of them.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	words := "Caravans went from Samarkand to the sea, with silk, and with paper. "
	pages := map[string]string{
		"deep":      strings.Repeat("<div>", 5_000) + words,
		"quotes":    strings.Repeat("<blockquote>", 400) + strings.Repeat(words+"<br>", 4_000),
		"lists":     strings.Repeat("<ul><li>", 200) + strings.Repeat("<p>"+words, 100),
		"bytes":     strings.Repeat("<div>", 400) + "<p>" + strings.Repeat(words, 5_000),
		"divs":      strings.Repeat(strings.Repeat("<div>", 60)+"<p>"+words+strings.Repeat("</div>", 59), 8),
		"brackets":  words + strings.Repeat("[", 50_000) + strings.Repeat("](", 50_000),
		"words":     "<p>" + words + strings.Repeat("a\n", 50_000),
		"headings":  "<p>" + words + strings.Repeat("<h2>a</h2>", 1_000),
		"many":      strings.Repeat("<p>"+words+"</p>", 1_000),
		"inline":    strings.Repeat("<b><i>x", 2_000) + words,
		"span":      `<table><tr><td colspan=1000000000 rowspan=1000000000>` + words + `</table>`,
		"wide":      "<table><tr>" + strings.Repeat("<td>x", 2_000) + strings.Repeat("<tr><td>y", 2_000) + "</table>" + words,
		"cell":      "<table><tr><td>" + words + strings.Repeat("z", 1<<16) + strings.Repeat("<tr><td>y", 1_000) + "</table>" + words,
		"stars":     "<p>" + words + strings.Repeat("*_[`", 40_000),
		"links":     words + strings.Repeat(`<a href="/x">l</a> `, 500),
		"data":      `<p>` + words + `<img alt=x src="data:image/png;base64,` + strings.Repeat("A", 1<<19) + `">`,
		"attribute": `<p ` + strings.Repeat(`a`, 1<<17) + `="">` + words,
		"open":      words + strings.Repeat("<!--", 20_000) + strings.Repeat("<", 20_000),
		"nested":    strings.Repeat("<table><tr><td>", 150) + words,
		"code":      words + "<pre><code>" + strings.Repeat("`", 1<<16) + "</code></pre>",
		"json":      `<script type="application/ld+json">` + strings.Repeat("[", 1<<16) + "</script><p>" + words,
	}
	address, f := server(t, fetch.Config{Timeout: time.Minute}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, pages[strings.TrimPrefix(r.URL.Path, "/")])
	})
	for name := range pages {
		page, err := f.Get(t.Context(), address+"/"+name)
		if err != nil || len(page.Text) > 1<<20 || name != "open" && !strings.Contains(page.Text, "Samarkand") && !page.Cut {
			t.Errorf("%s: %v, %d bytes: %.200q", name, err, len(page.Text), page.Text)
		}
	}
}
