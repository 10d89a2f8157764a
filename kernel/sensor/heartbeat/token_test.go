package heartbeat

import "testing"

// The token counts only if it is the whole answer.
func TestIsOK(t *testing.T) {
	for answer, want := range map[string]bool{
		"HEARTBEAT_OK":                         true,
		"  HEARTBEAT_OK \n":                    true,
		"**HEARTBEAT_OK**":                     true,
		"* HEARTBEAT_OK":                       true,
		"`HEARTBEAT_OK`.":                      true,
		"```\nHEARTBEAT_OK\n```":               true,
		"<b>HEARTBEAT_OK</b>":                  true,
		"HEARTBEAT_OK but DB is DOWN":          false,
		"HEARTBEAT_OKAY":                       false,
		"DB is DOWN. HEARTBEAT_OK":             false,
		"HEARTBEAT_OK HEARTBEAT_OK":            false,
		"NOT_HEARTBEAT_OK":                     false,
		"heartbeat ok":                         false,
		"HEARTBEAT_OK\n\n* The rent is due":    false,
		"I would not answer HEARTBEAT_OK here": false,
		"":                                     false,
	} {
		if got := isOK(answer); got != want {
			t.Errorf("%q: %v", answer, got)
		}
	}
}
