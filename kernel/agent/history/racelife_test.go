//go:build race

package history_test

// usualLife is how many turns TestLongLife has where the race detector makes each ten times
// as long.
const usualLife = 150
