//go:build race

package daemon_test

// usualDays is how many TestTwoWeeks has here: with the race detector each takes seconds.
const usualDays = 4
