//go:build !race

package daemon_test

// usualDays is how many TestTwoWeeks has.
const usualDays = 14
