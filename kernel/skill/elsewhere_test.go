package skill_test

import (
	"os"
	"strings"
	"testing"

	"org-agent/kernel/skill"
)

// TestHintsForOtherSystems checks that a name of the earlier system's interface which means nothing here
// says what to use instead, and that no hint repeats the name it is for.
func TestHintsForOtherSystems(t *testing.T) {
	for form, want := range map[string]string{
		`(proto-get payload :text)`:         "getf reads a property list",
		`(org-agent:vault-get-secret :key)`: "no note reads secrets",
		`(opencortex::spawn-task "x")`:      ":action :spawn",
		`(register-neuro-backend :x #'car)`: "config.org",
		`(push 1 *provider-cascade*)`:       "config.org",
		`(mapcar #'cond '(1))`:              "cond is no function",
	} {
		found := skill.Faults(skill.Check(t.Context(), "a.org", note(`(defun f (payload) (list payload `+form+`))`), skill.Options{})).Error()
		if !strings.Contains(found, want) || strings.Contains(found, "did you mean cond") {
			t.Errorf("%s: %q, want %q", form, found, want)
		}
	}
	api, err := os.ReadFile("api.go")
	if err != nil {
		t.Fatal(err)
	}
	for name := range skill.Elsewhere {
		if strings.Contains(string(api), `Name: "`+strings.ToLower(name)+`"`) {
			t.Errorf("%s is there, and has a hint", name)
		}
	}
}
