package pages

import (
	"math/rand/v2"
	"testing"
)

// TestRecordBelievesNothing: whatever the bytes of a record are, reading it ends without a panic and with no value
// that is longer than they are.
func TestRecordBelievesNothing(t *testing.T) {
	if _, _, ok := record([]byte{0x80, 0x01, 0, 0}); ok {
		t.Error("a header that is shorter than the bytes that say how long it is")
	}
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for range 300_000 {
		payload := make([]byte, 1+random.IntN(24))
		for i := range payload {
			if payload[i] = byte(random.Uint32()); i < 4 && random.IntN(3) > 0 {
				payload[i] &= 0x83
			}
		}
		values, _, ok := record(payload)
		if !ok {
			continue
		}
		size := 0
		for _, value := range values {
			switch value := value.(type) {
			case string:
				size += len(value)
			case []byte:
				size += len(value)
			}
		}
		if size >= len(payload) {
			t.Fatalf("%x has %d bytes of text", payload, size)
		}
	}
}
