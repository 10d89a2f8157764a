package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSetDialect checks that the dialect is written below the heading of its model, and that every other byte of a
// file that a person wrote stays.
func TestSetDialect(t *testing.T) {
	const drawer = ":PROPERTIES:\n:BASE_URL: http://localhost:1/v1\n:END:\n"
	for name, test := range map[string]struct{ before, after string }{
		"new":       {"* Models\n** mine\n" + drawer + "My words.\n", "* Models\n** mine\n:PROPERTIES:\n:BASE_URL: http://localhost:1/v1\n:DIALECT: native\n:END:\nMy words.\n"},
		"another":   {"* Models\n** mine\n:PROPERTIES:\n:DIALECT:   plist  \n:BASE_URL: http://localhost:1/v1\n:END:\n", "* Models\n** mine\n:PROPERTIES:\n:DIALECT:   native  \n:BASE_URL: http://localhost:1/v1\n:END:\n"},
		"lower":     {"* Models\n** mine\n:properties:\n:dialect: plist\n:base_url: http://localhost:1/v1\n:end:\n", "* Models\n** mine\n:properties:\n:dialect: native\n:base_url: http://localhost:1/v1\n:end:\n"},
		"empty":     {"* Models\n** mine\n:PROPERTIES:\n:DIALECT:\n:BASE_URL: http://localhost:1/v1\n:END:\n", "* Models\n** mine\n:PROPERTIES:\n:DIALECT: native\n:BASE_URL: http://localhost:1/v1\n:END:\n"},
		"the other": {"* Models\n** first\n" + drawer + "** mine\n" + drawer, "* Models\n** first\n" + drawer + "** mine\n:PROPERTIES:\n:BASE_URL: http://localhost:1/v1\n:DIALECT: native\n:END:\n"},
		"indented":  {"* Models\n** mine\n  :PROPERTIES:\n  :BASE_URL: http://localhost:1/v1\n  :END:\n", "* Models\n** mine\n  :PROPERTIES:\n  :BASE_URL: http://localhost:1/v1\n  :DIALECT: native\n  :END:\n"},
		"CRLF":      {"* Models\r\n** mine\r\n:PROPERTIES:\r\n:BASE_URL: http://localhost:1/v1\r\n:END:\r\n", "* Models\r\n** mine\r\n:PROPERTIES:\r\n:BASE_URL: http://localhost:1/v1\r\n:DIALECT: native\r\n:END:\r\n"},
		"same":      {"* Models\n** mine\n:PROPERTIES:\n:BASE_URL: http://localhost:1/v1\n:DIALECT: native\n:END:", "* Models\n** mine\n:PROPERTIES:\n:BASE_URL: http://localhost:1/v1\n:DIALECT: native\n:END:"},
	} {
		t.Run(name, func(t *testing.T) {
			after, _, err := SetDialect(test.before, "mine", "native")
			if err != nil || after != test.after {
				t.Errorf("%v\n%q, want\n%q", err, after, test.after)
			}
		})
	}
	for _, text := range []string{"", "* Models\n** other\n" + drawer, "* Models\n** COMMENT mine\n" + drawer, "* Models\n** mine\n:PROPERTIES:\n:MODEL: x\n:END:\n"} {
		if after, _, err := SetDialect(text, "mine", "native"); err == nil || after != text {
			t.Errorf("%q became %q, %v", text, after, err)
		}
	}
}

// TestSetDialectKeepsTheRest: whatever stands around the models, only one line is new or changed.
func TestSetDialectKeepsTheRest(t *testing.T) {
	line := rapid.SampledFrom([]string{"", "* Settings", ":PROPERTIES:", ":END:", ":DIALECT: plist", "** mine", "text\t ", "#+begin_src org", "#+end_src", "* Presets", "| a | b |", "\u00e4\u20ac"})
	rapid.Check(t, func(t *rapid.T) {
		around := func(label string) string {
			return strings.Join(rapid.SliceOfN(line, 0, 6).Draw(t, label), "\n") + "\n"
		}
		before, behind := around("before"), around("behind")
		text := before + "* Models\n** mine\n:PROPERTIES:\n:BASE_URL: http://localhost:1/v1\n:END:\n" + behind
		after, _, err := SetDialect(text, "mine", "native")
		if err != nil { // what stands around hides the model, or there are two
			if after != text {
				t.Fatalf("an error changed the text: %q", after)
			}
			return
		}
		was, is := strings.Split(text, "\n"), strings.Split(after, "\n")
		for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
			was, is = was[1:], is[1:]
		}
		for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
			was, is = was[:len(was)-1], is[:len(is)-1]
		}
		if len(was) > 1 || len(is) != 1 || is[0] != ":DIALECT: native" {
			t.Fatalf("%q became %q", was, is)
		}
	})
}

// TestWriteDialect checks the file: it is written as a whole, or stays as it is.
func TestWriteDialect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.org")
	if _, _, err := WriteDialect(path, "mine", "native"); err == nil {
		t.Error("a file that is not there was written")
	}
	const text = "* Models\n** mine\n:PROPERTIES:\n:BASE_URL: http://localhost:1/v1\n:END:\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed, line, err := WriteDialect(path, "mine", "native"); !changed || line != 2 || err != nil {
		t.Errorf("%v, line %d, %v", changed, line, err)
	}
	if changed, _, err := WriteDialect(path, "mine", "native"); changed || err != nil {
		t.Errorf("written again: %v, %v", changed, err)
	}
	if _, _, err := WriteDialect(path, "other", "native"); err == nil {
		t.Error("a model that is not there got a dialect")
	}
	written, err := os.ReadFile(path)
	if err != nil || string(written) != strings.Replace(text, ":END:", ":DIALECT: native\n:END:", 1) {
		t.Errorf("%q, %v", written, err)
	}
}

// TestModelAlone checks that a model keeps its properties and no other is beside it, and that its secrets stand in
// variables and not in the text.
func TestModelAlone(t *testing.T) {
	const text = "* Models\n** other\n:PROPERTIES:\n:BASE_URL: http://localhost:2/v1\n:END:\n** mine\n:PROPERTIES:\n:BASE_URL: http://localhost:1/v1\n:MODEL: a\n:DIALECT: plist\n" +
		":API_KEY: env:KEY\n:API_KEY+: command: echo second\n:HEADERS: X-Own: env:HEADER\n:HEADERS+: X-Plain: words\n:TEMPERATURE: 0.5\n:PRICE: 1 2\n:END:\n* Known models\n| model | window | in | cached | written | out |\n|-------+--------+----+--------+---------+-----|\n| a     |  32768 |  3 |        |         |   4 |\n* Settings\n:PROPERTIES:\n:IDLE_TIMEOUT: 7s\n:LLM: other\n:SUBAGENTS: 2\n:END:\n"
	settings := Parse("config.org", text)
	env := func(name string) string { return map[string]string{"KEY": "first", "HEADER": "third"}[name] }
	choice := Configured(settings)[1]
	choice.Model.Model = "b"
	alone, err := ModelAlone(t.Context(), text, choice, env)
	if err != nil {
		t.Fatal(err)
	}
	got := Parse("config.org", alone.Text("native"))
	if len(got.Diagnostics) > 0 || len(got.Models) != 1 || got.LLM != "mine" || got.IdleTimeout != settings.IdleTimeout || got.Subagents != 0 || len(got.Known) != 1 {
		t.Fatalf("%+v of\n%s", got, alone.Text("native"))
	}
	m := got.Models[0]
	if m.Model != "b" || m.Dialect != "native" || *m.Temperature != 0.5 || m.Price == nil || m.Price.Output != 2 || len(m.Extras.Headers) != 2 || m.Extras.Headers[1].Text != "words" {
		t.Errorf("%+v", m)
	}
	for source, want := range map[KeySource]string{m.Key: "first", m.MoreKeys[0]: "second", m.Extras.Headers[0].Source: "third"} {
		if alone.Secret(source.Env) != want {
			t.Errorf("%v is %q, want %q", source, alone.Secret(source.Env), want)
		}
	}
	if constrained := Parse("config.org", alone.Text("constrained")).Models[0]; constrained.Dialect != "auto" {
		t.Errorf("without a field for grammars the dialect is %s", constrained.Dialect)
	}
	for _, secret := range []string{"first", "second", "third"} {
		if strings.Contains(alone.Text(""), secret) {
			t.Errorf("the text has %s", secret)
		}
	}
	if _, err := ModelAlone(t.Context(), text, choice, func(string) string { return "" }); err == nil {
		t.Error("a key that is not there is no error")
	}
	found := Choice{Model: Model{Name: "openai", BaseURL: "http://localhost:3/v1", Driver: "responses", Key: KeySource{Env: "KEY"}, Window: 20000}, Source: "OPENAI_API_KEY"}
	alone, err = ModelAlone(t.Context(), "", found, env)
	if err != nil {
		t.Fatal(err)
	}
	if got := Parse("config.org", alone.Text("")).Models; len(got) != 1 || got[0].Driver != "responses" || got[0].Window != 20000 || alone.Secret(got[0].Key.Env) != "first" {
		t.Errorf("%+v", got)
	}
}
