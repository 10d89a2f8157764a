//go:build !race

package history_test

// usualLife is the number of turns in TestLongLife.
const usualLife = 1000
