package rpc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// A message means the same in both codecs: what was read from one, written in
// the other and read again has the same parameters.
func FuzzCodecsAgree(f *testing.F) {
	rpc.Seeds(f)
	both := spellings()
	f.Fuzz(func(t *testing.T, frame []byte) {
		_, body, found := bytes.Cut(frame, []byte("\r\n\r\n"))
		first, second := both[0].wire, both[1].wire
		if !found {
			body, first, second = frame[min(len(frame), len("00004a")):], second, first
		}
		m, err := first.Decode(body, rpc.NoResult)
		if err != nil || m.Method == "" || m.Params == nil || m.Method == protocol.MethodCancelRequest {
			return
		}
		translated, err := second.Encode(m)
		if err != nil {
			return // it holds a word that no keyword can be
		}
		again, err := second.Decode(translated, rpc.NoResult)
		if err != nil {
			t.Fatalf("%s became %s: %v", body, translated, err)
		}
		if o, ok := m.Params.(*protocol.Object); ok {
			*o = withoutEmptyEnums(*o)
		}
		want, err1 := json.Marshal(m.Params)
		got, err2 := json.Marshal(again.Params)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) || again.ID() != m.ID() || again.Method != m.Method {
			t.Errorf("%s became %s\nwhich means %s\nrather than  %s", body, translated, got, want)
		}
	})
}

// withoutEmptyEnums leaves out what JSON can say and a plist cannot: the keyword
// without a name, which is nil.
func withoutEmptyEnums(o protocol.Object) protocol.Object {
	var kept protocol.Object
	for _, f := range o {
		switch v := f.Value.(type) {
		case protocol.Keyword:
			if v == "" {
				continue
			}
		case protocol.Object:
			if f.Value = withoutEmptyEnums(v); len(withoutEmptyEnums(v)) == 0 {
				continue
			}
		case []any:
			for i := range v {
				if inner, ok := v[i].(protocol.Object); ok {
					v[i] = withoutEmptyEnums(inner)
				}
			}
		}
		kept = append(kept, f)
	}
	return kept
}
