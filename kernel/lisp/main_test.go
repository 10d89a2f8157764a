package lisp_test

import (
	"fmt"
	"os"
	"testing"

	"org-agent/kernel/lisp"
	"org-agent/kernel/lisp/lib"
)

func TestMain(m *testing.M) {
	language, err := lib.Language()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lisp.SetTestLanguage(language)
	os.Exit(m.Run())
}
