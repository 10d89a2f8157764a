package doctor_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"org-agent/kernel/doctor"
)

// TestSearchServer checks that the doctor asks the search server a question with its key, and gives
// advice if the server does not answer.
func TestSearchServer(t *testing.T) {
	answer := `{"web":{"results":[{"title":"Org mode","url":"https://orgmode.org/"}]}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Subscription-Token") != "canary-3301" || r.FormValue("q") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, answer)
	}))
	defer server.Close()
	c := patient(t, nil)
	key := "canary-3301"
	c.Env = func(string) string { return key }
	look := func(settings string) doctor.Finding {
		t.Helper()
		if err := os.WriteFile(c.Paths.Config, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		found := doctor.Examine(t.Context(), c, "search")
		if len(found) != 1 || strings.Contains(fmt.Sprint(found), "canary") {
			t.Fatalf("%+v", found)
		}
		return found[0]
	}
	settings := "* Web\n** Search\n:PROPERTIES:\n:KIND: brave\n:BASE_URL: " + server.URL + "\n:API_KEY: env:K\n:END:\n"
	if f := look(settings); f.State != doctor.OK || !strings.Contains(f.Text, "answers") {
		t.Errorf("%+v", f)
	}
	if f := look(""); f.State != doctor.OK || !strings.Contains(f.Text, "no search server") {
		t.Errorf("without one: %+v", f)
	}
	answer = `{"web":{"results":[]}}`
	if f := look(settings); f.State != doctor.Warn {
		t.Errorf("nothing found: %+v", f)
	}
	key = "canary-other"
	if f := look(settings); f.State != doctor.Fail || !strings.Contains(f.Text, "API_KEY") {
		t.Errorf("a wrong key: %+v", f)
	}
	server.Close()
	if f := look(settings); f.State != doctor.Fail || !strings.Contains(f.Text, "cannot be reached") {
		t.Errorf("no server: %+v", f)
	}
}
