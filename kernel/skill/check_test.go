package skill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestChecks: the checks of a note say why a model is asked at a heartbeat, or that it is not. What they write is dropped.
func TestChecks(t *testing.T) {
	home := t.TempDir()
	note := `#+TITLE: Disk
#+begin_src lisp
(defvar *full* t)
(heartbeat-when disk-is-full (event)
  (when *full* (format nil "the disk is full at ~a" (getf (getf event :payload) :unix-time))))
(heartbeat-when nothing (event) (progn event nil))
(heartbeat-when just-true (event) (eq (getf (getf event :payload) :sensor) :heartbeat))
(heartbeat-when broken (event) (error "no ~a" event))
#+end_src
`
	if err := os.MkdirAll(filepath.Join(home, "skills"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "skills", "disk.org"), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	r := shippedRegistry(t, filepath.Join(home, "skills"))
	if !r.Current().HasChecks() {
		t.Fatalf("there are no checks: %+v", r.Statuses())
	}
	var got []string
	for _, c := range r.Current().Checks(t.Context(), list(t, `(:type :event :payload (:sensor :heartbeat :unix-time 7))`)) {
		if c.Err != nil && !strings.Contains(c.Err.Error(), "disk.org") {
			t.Errorf("the error names no place: %v", c.Err)
		}
		got = append(got, fmt.Sprintf("%s=%s%v", c.Name, c.Reason, c.Err != nil))
	}
	if want := "disk-is-full=the disk is full at 7false nothing=false just-true=just-truefalse broken=true"; strings.Join(got, " ") != want {
		t.Errorf("%s\nnot %s", strings.Join(got, " "), want)
	}
}

// TestMiswrittenChecks: a check that is written wrongly says how it is written.
func TestMiswrittenChecks(t *testing.T) {
	for form, want := range map[string]string{
		`(heartbeat-when "a" ())`:             "gets the event",
		`(heartbeat-when a (event))`:          "is empty",
		`(heartbeat-when 7 (event) t)`:        "the name of a check",
		`(heartbeat-when a (x y) (list x y))`: "gets the event",
	} {
		home := t.TempDir()
		note := "#+TITLE: A\n#+begin_src lisp\n" + form + "\n#+end_src\n"
		if err := os.WriteFile(filepath.Join(home, "a.org"), []byte(note), 0o600); err != nil {
			t.Fatal(err)
		}
		r := shippedRegistry(t, home)
		found := ""
		for _, s := range r.Statuses() {
			for _, d := range s.Diagnostics {
				found += d.Message + "\n"
			}
		}
		if !strings.Contains(found, want) {
			t.Errorf("%s: %q", form, found)
		}
	}
}
