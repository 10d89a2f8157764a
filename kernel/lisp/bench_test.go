package lisp_test

import (
	"os"
	"strings"
	"testing"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
)

func BenchmarkFib25(b *testing.B) {
	e := newEnvironment(b, lisp.Config{})
	if err := e.Load(b.Context(), `(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))`, "x", 1); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := e.Call(b.Context(), "fib", lisp.Integer(25)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	source, err := os.ReadFile("testdata/chat.lisp")
	if err != nil {
		b.Fatal(err)
	}
	text := string(source)
	config := noteConfig(nil)
	for b.Loop() {
		e, err := lisp.New(config)
		if err != nil {
			b.Fatal(err)
		}
		if err := e.Load(b.Context(), text, "chat.org", 1); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkCall(b *testing.B, function string, arguments ...string) {
	e, _ := chatNote(b)
	var args []lisp.Value
	for _, text := range arguments {
		x, err := plist.Read(text)
		if err != nil {
			b.Fatal(err)
		}
		v, err := e.FromSexp(x)
		if err != nil {
			b.Fatal(err)
		}
		args = append(args, v)
	}
	for b.Loop() {
		if _, err := e.Call(b.Context(), function, args...); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTrigger(b *testing.B) {
	benchmarkCall(b, "greet-trigger", `(:type :event :id "1" :payload (:sensor :chat-message :text "hello"))`)
}

func BenchmarkVerify(b *testing.B) {
	benchmarkCall(b, "greet-verify", `(:type :request :target :emacs :payload (:action :insert-at-end :buffer "*chat*" :text "hello"))`, `nil`)
}

func BenchmarkRefuse(b *testing.B) {
	benchmarkCall(b, "greet-verify", `(:type :request :target :emacs :payload (:action :eval :text "hello"))`, `nil`)
}

func BenchmarkNeuro(b *testing.B) {
	benchmarkCall(b, "greet-neuro", `(:payload (:sensor :chat-message :text "hello there, oops forget it" :channel :matrix :chat-id "!r"))`)
}

func BenchmarkReader(b *testing.B) {
	message, err := os.ReadFile("testdata/message.lisp")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(string(message), 9000)
	e := newEnvironment(b, lisp.Config{Limits: lisp.Limits{Bytes: 1 << 40}})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		err := e.Run(b.Context(), func(c *lisp.Call) {
			if err := c.ReadSource(text); err != nil {
				b.Error(err)
			}
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
