package lisp

import (
	"testing"
	"time"
)

// TestLocalTime compares with what local-time is documented to do.
func TestLocalTime(t *testing.T) {
	config := Config{Now: func() time.Time { return time.Date(2026, 11, 22, 10, 30, 5, 0, time.UTC) }}
	for _, test := range []struct{ form, want string }{
		{`(local-time:format-timestring nil (local-time:now))`, `"2026-11-22T10:30:05.000000Z"`},
		{`(local-time:format-timestring nil (local-time:today) :format '(:year "-" (:month 2) #\- (:day 2) " " :short-weekday))`, `"2026-11-22 Sun"`},
		{`(let ((x (local-time:parse-timestring "2024-01-31T00:00:00Z"))) (list (local-time:timestamp-to-unix x) (local-time:timestamp-day (local-time:timestamp+ x 1 :month)) (local-time:timestamp-year (local-time:timestamp- x 1 :day))))`, "(1706659200 29 2024)"},
		{`(let ((a (local-time:unix-to-timestamp 0)) (b (local-time:unix-to-timestamp 90))) (list (local-time:timestamp< a b) (local-time:timestamp>= a b) (local-time:timestamp-difference b a) (local-time:timestamp= b (local-time:timestamp+ a 90 :sec))))`, "(T NIL 90 T)"},
		{`(handler-case (local-time:parse-timestring "soon") (local-time:invalid-timestring () :bad))`, ":BAD"},
		{`(local-time:timestamp-to-universal (local-time:universal-to-timestamp 3900000000))`, "3900000000"},
		{`(princ-to-string (local-time:now))`, `"2026-11-22T10:30:05.000000Z"`},
	} {
		if got, err := evaluated(t, newEnvironment(t, config), test.form); err != nil || got != test.want {
			t.Errorf("%s\n got %s (%v)\nwant %s", test.form, got, err, test.want)
		}
	}
}
