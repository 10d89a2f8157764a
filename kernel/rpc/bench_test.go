package rpc_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

func BenchmarkCall(b *testing.B) {
	path := serve(b, &rpc.Server{Handler: handlerFunc(func(_ context.Context, r *rpc.Request) (any, error) {
		return protocol.EventResult{Event: r.Params.(*protocol.Object).Text("id"), Turn: "t"}, nil
	})})
	event := protocol.Object{{Key: "sensor", Value: protocol.Keyword("chat-message")}, {Key: "id", Value: "q1"}, {Key: "text", Value: "Which notes mention Samarkand?"}}
	for _, codec := range codecs {
		b.Run(codec.name, func(b *testing.B) {
			c := dial(b, rpc.DialConfig{Socket: path, Codec: codec.codec})
			b.ReportAllocs()
			for b.Loop() {
				var result protocol.EventResult
				if err := c.Call(b.Context(), protocol.MethodEvent, event, &result); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Time for a notification to be queued, written, read and handled.
func BenchmarkNotify(b *testing.B) {
	for _, codec := range codecs {
		for _, kind := range []string{"notice", "delta"} {
			b.Run(codec.name+"/"+kind, func(b *testing.B) {
				who := newPresence()
				path := serve(b, &rpc.Server{Handler: handlerFunc(nothing), Presence: who})
				heard, total := 0, make(chan int)
				dial(b, rpc.DialConfig{Socket: path, Codec: codec.codec, Handler: func(_ context.Context, r *rpc.Request) (any, error) {
					switch p := r.Params.(type) {
					case *protocol.Notice:
						heard++
					case *protocol.TurnDelta:
						heard += len(p.Text) / 8
					}
					if heard%1000 == 0 {
						total <- heard
					}
					return nil, nil
				}})
				who.await(b, 1)
				client := who.all()[0]
				b.ReportAllocs()
				b.ResetTimer()
				for done := 0; done < b.N; { // a thousand at a time: a flood would be dropped
					for i := done; i < done+1000; i++ {
						if kind == "notice" {
							client.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelInfo, Text: "forty characters of text, or nearly so.."})
						} else {
							client.Notify(protocol.MethodTurnDelta, protocol.TurnDelta{Session: "main", Turn: "t", Event: "e", ID: "a", Offset: 8 * i, Text: "a token "})
						}
					}
					done += 1000
					for n := 0; n < done; n = <-total {
					}
				}
			})
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	text := strings.Repeat("Größe \"x\"\nline ", 1000)
	for _, spelling := range spellings() {
		for _, size := range []int{40, len(text)} {
			frame := rpc.AppendRequest(b, spelling.wire, nil, 1, protocol.MethodEvent, protocol.Object{{Key: "sensor", Value: protocol.Keyword("chat-message")}, {Key: "text", Value: text[:size]}})
			body := frame[strings.IndexAny(string(frame), "({"):]
			b.Run(fmt.Sprintf("%s/%d", spelling.name, size), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := spelling.wire.Decode(body, rpc.NoResult); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
