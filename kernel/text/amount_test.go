package text_test

import (
	"testing"
	"time"

	"org-agent/kernel/text"
)

func TestAmounts(t *testing.T) {
	for got, want := range map[string]string{
		text.Thousands(0): "0", text.Thousands(999): "999", text.Thousands(1000): "1k", text.Thousands(1540): "1.5k", text.Thousands(12_900): "12k",
		text.Thousands(1_500_000): "1.5M", text.Thousands(2_000_000): "2M",
		text.Count(1, "file"): "1 file", text.Count(0, "file"): "0 files", text.Count(2, "property"): "2 properties",
		text.Dollars(1.2): "$1.20", text.Dollars(0.0012): "$0.0012",
		text.Duration(30 * time.Minute): "30m", text.Duration(time.Hour): "1h", text.Duration(12340 * time.Millisecond): "12s", text.Duration(1234 * time.Millisecond): "1.23s",
		text.Duration(61 * time.Minute): "1h1m",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
