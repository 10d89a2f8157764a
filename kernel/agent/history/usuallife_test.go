//go:build !race

package history

// usualLife is how many turns TestLongLife has.
const usualLife = 1000
