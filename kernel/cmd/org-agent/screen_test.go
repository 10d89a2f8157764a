package main

import (
	"strings"
	"testing"
)

// What is printed on a terminal holds nothing that it obeys, and all the rest.
func TestScreen(t *testing.T) {
	var b strings.Builder
	for _, text := range []string{"good\r\n", "\x1b]0;owned\a\x1b[2J\x00a\u202eb\rover\n", "漢é\t."} {
		if n, err := (screen{&b}).Write([]byte(text)); n != len(text) || err != nil {
			t.Error(n, err)
		}
	}
	if want := "good\n]0;owned[2Jabover\n漢é\t."; b.String() != want {
		t.Errorf("it shows %q, want %q", b.String(), want)
	}
}
