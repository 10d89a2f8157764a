//go:build !race

package history_test

// usualLife is how many turns TestLongLife has.
const usualLife = 1000
