//go:build race

package history_test

// usualLife is the number of turns in TestLongLife with the race detector, which makes each ten times as
// long.
const usualLife = 150
