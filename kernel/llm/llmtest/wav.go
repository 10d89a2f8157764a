package llmtest

import "encoding/binary"

// WAV returns a file with so many seconds of silence, 16,000 samples of 16 bits each.
func WAV(seconds float64) []byte {
	const rate = 16000
	data := make([]byte, int(seconds*rate)*2)
	var b []byte
	number := func(n uint32) { b = binary.LittleEndian.AppendUint32(b, n) }
	short := func(n uint16) { b = binary.LittleEndian.AppendUint16(b, n) }
	b = append(b, "RIFF"...)
	number(uint32(36 + len(data)))
	b = append(b, "WAVEfmt "...)
	number(16)
	short(1)
	short(1)
	number(rate)
	number(2 * rate)
	short(2)
	short(16)
	b = append(b, "data"...)
	number(uint32(len(data)))
	return append(b, data...)
}
