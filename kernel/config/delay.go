package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Delay is the time after which something happens by itself. The zero value means the reader's
// default; Off means never.
type Delay struct {
	After time.Duration
	Off   bool
}

// QuietTime returns how long a conversation must be quiet before the agent proposes what to remember of
// it. 0 means the reader's default, and a negative time never.
func (s Settings) QuietTime() time.Duration {
	if s.ProposeAfter.Off {
		return -1
	}
	return s.ProposeAfter.After
}

func (d *Delay) set(value string) error {
	if strings.EqualFold(value, "off") {
		d.Off = true
		return nil
	}
	if err := setDuration(&d.After, value); err != nil {
		return fmt.Errorf("%w, or off", err)
	}
	return nil
}

// defaultRequestAge is how long the journal keeps what models were sent, unless the file says otherwise.
const defaultRequestAge = 30 * 24 * time.Hour

// RequestAge returns how long the journal keeps what models were sent; 0 means for ever.
func (s Settings) RequestAge() time.Duration {
	switch {
	case s.KeepRequests.Off:
		return 0
	case s.KeepRequests.After == 0:
		return defaultRequestAge
	}
	return s.KeepRequests.After
}

// setDays reads "30d", a time, or "off".
func (d *Delay) setDays(value string) error {
	if text, ok := strings.CutSuffix(value, "d"); ok {
		days, err := strconv.Atoi(text)
		if err != nil || days <= 0 || days > 36500 {
			return fmt.Errorf("%q is not a number of days such as 30d, or off", value)
		}
		d.After = time.Duration(days) * 24 * time.Hour
		return nil
	}
	if err := d.set(value); err != nil {
		return fmt.Errorf("%q is not a time such as 30d or 12h, or off", value)
	}
	return nil
}
