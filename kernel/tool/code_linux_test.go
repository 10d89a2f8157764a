package tool_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/websearch"
)

// TestCodes checks that failures of commands and on the web have a code, whether the call's Reach
// or its Perform fails.
func TestCodes(t *testing.T) {
	commands := shop(t, sandbox.None)
	pages, address := web(t, func(w http.ResponseWriter, r *http.Request) {
		status, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		switch {
		case err != nil && r.URL.Path == "/image":
			w.Header().Set("Content-Type", "image/png")
		case err != nil && r.URL.Path == "/moved":
			http.Redirect(w, r, "https://elsewhere.example.org/", http.StatusFound)
		case err != nil && r.URL.Path == "/inside":
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		case err != nil:
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.WriteHeader(status)
		}
	}, websearch.SearxNG)
	for _, c := range []struct {
		tool, arguments string
		code            protocol.ToolErrorCode
	}{
		{"exec", `(:command " ")`, protocol.ToolArguments},
		{"exec", `(:command "true" :timeout 5000)`, protocol.ToolArguments},
		{"exec", `(:command "true" :writes t)`, protocol.ToolArguments},
		{"exec", `(:command "true" :cwd "relative")`, protocol.ToolArguments},
		{"exec", `(:command "true" :cwd "/not/there")`, protocol.ToolNotFound},
		{"exec", `(:command "true" :cwd "/etc/passwd")`, protocol.ToolUnfit},
		{"exec", `(:command "true" :cwd "/proc")`, protocol.ToolRefused},
		{"exec", `(:comand "true")`, protocol.ToolArguments},
		{"process", `(:action "write" :id "run-00000000" :input "x")`, protocol.ToolNotFound},
		{"process", `(:action "stop" :id "run-00000000")`, protocol.ToolNotFound},
		{"process", `(:action "output" :id "../../x")`, protocol.ToolNotFound},
		{"process", `(:action "stop")`, protocol.ToolArguments},
		{"process", `(:action "list" :command "x")`, protocol.ToolArguments},
		{"web_fetch", `(:url "ftp://example.org/")`, protocol.ToolArguments},
		{"web_fetch", `(:url "example")`, protocol.ToolArguments},
		{"web_fetch", `(:url "http://u:p@example.org/")`, protocol.ToolArguments},
		{"web_fetch", `(:url "http://printer.local/")`, protocol.ToolRefused},
		{"web_fetch", `(:url "http://169.254.169.254/")`, protocol.ToolRefused},
		{"web_fetch", `(:url "http://example.org:22/")`, protocol.ToolRefused},
		{"web_fetch", `(:url "ADDRESS/404")`, protocol.ToolNotFound},
		{"web_fetch", `(:url "ADDRESS/403")`, protocol.ToolDenied},
		{"web_fetch", `(:url "ADDRESS/429")`, protocol.ToolBusy},
		{"web_fetch", `(:url "ADDRESS/image")`, protocol.ToolUnfit},
		{"web_fetch", `(:url "ADDRESS/moved")`, protocol.ToolChanged},
		{"web_fetch", `(:url "ADDRESS/inside")`, protocol.ToolRefused},
		{"web_search", `(:query " ")`, protocol.ToolArguments},
		{"web_search", fmt.Sprintf(`(:query %q)`, strings.Repeat("x", 500)), protocol.ToolArguments},
		{"web_search", `(:query "x")`, protocol.ToolBusy},
	} {
		r := commands
		if strings.HasPrefix(c.tool, "web") {
			r = pages
		}
		r = inConversation(r, "main")
		resolved, _, err := r.Reach(t.Context(), c.tool, given(t, strings.ReplaceAll(c.arguments, "ADDRESS", address)))
		if err == nil {
			_, _, err = r.Call(t.Context(), c.tool, resolved)
		}
		if err == nil || protocol.ToolErrorOf(err).Code != c.code {
			t.Errorf("%s %s: %v, with another code than %s", c.tool, c.arguments, err, c.code)
		}
	}
}
