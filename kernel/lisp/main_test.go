package lisp_test

import (
	"fmt"
	"os"
	"testing"

	"org-agent/kernel/lisp"
	"org-agent/kernel/lisp/lib"
)

// testLanguage is the language of the tests: with all libraries.
var testLanguage *lisp.Language

func TestMain(m *testing.M) {
	var err error
	if testLanguage, err = lib.Language(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// Classes of errors, by the names that consumers and the reports of the kernel have for them.
const (
	stepsCondition   = "STEP-LIMIT"
	timeCondition    = "TIME-LIMIT"
	storageCondition = "STORAGE-CONDITION"
	outputCondition  = "OUTPUT-LIMIT"
	internalError    = "INTERNAL-ERROR"
	readerError      = "READER-ERROR"
	packageError     = "PACKAGE-ERROR"
)
