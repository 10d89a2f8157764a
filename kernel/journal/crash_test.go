package journal

// Some tests need a second process: the test's own program, started with a
// role from this table in its environment.
const (
	childRole = "JOURNAL_TEST_ROLE"
	childPath = "JOURNAL_TEST_PATH"
)

var children = map[string]func(path string) int{}
