package text

import (
	"fmt"
	"strings"
	"time"
)

// Thousands writes a number for people: 950, 12k, 1.5M.
func Thousands(n int) string {
	switch {
	case n >= 1_000_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	case n >= 1000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e3), ".0") + "k"
	}
	return fmt.Sprint(n)
}

// Count writes a number with its noun: 1 file, 2 files, 3 properties.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Dollars writes an amount of money: $1.20, or $0.0012 if it is less than a cent.
func Dollars(amount float64) string {
	if amount < 0.01 {
		return fmt.Sprintf("$%.4f", amount)
	}
	return fmt.Sprintf("$%.2f", amount)
}

// Duration writes a duration without zero units: 30m, 1h, 12s.
func Duration(d time.Duration) string {
	if d > 10*time.Second {
		d = d.Round(time.Second)
	}
	text := d.Round(10 * time.Millisecond).String()
	if rest, found := strings.CutSuffix(text, "m0s"); found {
		text = rest + "m"
	}
	if rest, found := strings.CutSuffix(text, "h0m"); found {
		text = rest + "h"
	}
	return text
}
