package lib_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/lisp"
	"org-agent/kernel/lisp/lib"
)

// TestDexador checks what a note asks of a server, and what it gets, beside what only the program that embeds
// the Lisp can know.
func TestDexador(t *testing.T) {
	language, err := lib.Language()
	if err != nil {
		t.Fatal(err)
	}
	var asked lisp.ServerRequest
	ask := func(_ context.Context, _ any, r lisp.ServerRequest) (lisp.ServerAnswer, error) {
		asked = r
		if strings.HasSuffix(r.Address, "/none") {
			return lisp.ServerAnswer{}, errors.New("nobody is there")
		}
		status := 200
		if strings.HasSuffix(r.Address, "/404") {
			status = 404
		}
		return lisp.ServerAnswer{Address: r.Address, Status: status, Text: "ü", IsText: true, Body: []byte("\xfc"), Header: [][2]string{{"Set-Cookie", "a=b"}}}, nil
	}
	environment, err := lisp.New(lisp.Config{Language: language, Access: lisp.Access{Ask: ask}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ form, want, method, body, headers string }{
		{`(dex:get "https://a.example/")`, `"ü"`, "GET", "", ""},
		{`(dex:get "https://a.example/" :force-binary t)`, `#(252)`, "GET", "", ""},
		{`(multiple-value-bind (b s h u) (dex:get "https://a.example/?q") (list b s (gethash "set-cookie" h) u))`, `("ü" 200 "a=b" "https://a.example/?q")`, "GET", "", ""},
		{`(dex:get "https://a.example/" :headers (list (cons "A" 1) (cons :b-c "d") (cons "E" nil) nil))`, `"ü"`, "GET", "", "A=1 b-c=d"},
		{`(handler-case (dex:post "https://a.example/404" :content '((:x . "ä"))) (dex:http-request-failed (e) (type-of e)))`, `DEXADOR:HTTP-REQUEST-NOT-FOUND`, "POST", "x=%C3%A4", "Content-Type=application/x-www-form-urlencoded"},
		{`(handler-case (dex:post "https://a.example/a?secret/404" :content "x" :headers '(("content-type" . "a/b"))) (error (e) (format nil "~a" e)))`, `"An HTTP request to https://a.example/a returned 404."`, "POST", "x", "content-type=a/b"},
		{`(handler-case (dex:get "https://a.example/none") (error (e) (format nil "~a" e)))`, `"nobody is there"`, "GET", "", ""},
		{`(handler-case (dex:get 5) (type-error () :no-string))`, `:NO-STRING`, "", "", ""},
		{`(handler-case (dex:post "https://a.example/" :content '("a")) (type-error () :no-pair))`, `:NO-PAIR`, "", "", ""},
		{`(handler-case (dex:post "https://a.example/" :content #(256)) (type-error () :no-octet))`, `:NO-OCTET`, "", "", ""},
		{`(handler-case (dex:get "https://a.example/" :read-timeout -1) (type-error () :no-timeout))`, `:NO-TIMEOUT`, "", "", ""},
	} {
		asked = lisp.ServerRequest{}
		got := ""
		if err := environment.Eval(t.Context(), test.form, "test.lisp", 1, func(printed string) { got = printed }); err != nil {
			got = err.Error()
		}
		var headers []string
		for _, h := range asked.Header {
			headers = append(headers, h[0]+"="+h[1])
		}
		if got != test.want || asked.Method != test.method || string(asked.Body) != test.body || strings.Join(headers, " ") != test.headers {
			t.Errorf("%s\n got %s, asked %+v", test.form, got, asked)
		}
	}
}

// TestServersAreBounded checks that what a call asks of servers and how long it waits for them is bounded, that
// its clock stands meanwhile, and that what they send counts as its memory.
func TestServersAreBounded(t *testing.T) { synctest.Test(t, checkBounds) }

func checkBounds(t *testing.T) {
	language, err := lib.Language()
	if err != nil {
		t.Fatal(err)
	}
	slow, long := time.Duration(0), 0
	ask := func(ctx context.Context, _ any, r lisp.ServerRequest) (lisp.ServerAnswer, error) {
		time.Sleep(min(slow, r.Timeout))
		return lisp.ServerAnswer{Status: 200, Text: strings.Repeat("x", long), IsText: true}, nil
	}
	limits := lisp.Limits{Requests: 3, Waiting: time.Minute, Duration: 10 * time.Second, Bytes: 1 << 20}
	for _, test := range []struct {
		name, form, want string
		slow             time.Duration
		long             int
	}{
		{"within", `(loop repeat 3 do (dex:get "https://a.example/"))`, "", 15 * time.Second, 0},
		{"requests", `(loop repeat 4 do (ignore-errors (dex:get "https://a.example/")))`, "the limit of 3 requests is exceeded", 0, 0},
		{"waiting", `(loop repeat 3 do (ignore-errors (dex:get "https://a.example/")))`, "the limit of 1m0s for servers is exceeded", 35 * time.Second, 0},
		{"memory", `(loop repeat 3 collect (ignore-errors (dex:get "https://a.example/")))`, "limit of", 0, 400_000},
	} {
		environment, err := lisp.New(lisp.Config{Language: language, Access: lisp.Access{Ask: ask}, Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		slow, long = test.slow, test.long
		err = environment.Eval(t.Context(), test.form, "test.lisp", 1, func(string) {})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
