package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"org-agent/kernel/protocol"
)

// Kernel makes the requests tool/list and tool/call of the wire. A call returns with its result,
// which may wait for a person's decision. When ctx ends, the call ends too.
type Kernel interface {
	Call(ctx context.Context, method string, params, result any) error
}

// Offer offers the kernel's tools to the program at the other end of in and out. It returns when
// the program has ended, or when ctx ends. Calls that have not returned by then are cancelled.
func Offer(ctx context.Context, kernel Kernel, version string, in io.ReadCloser, out io.WriteCloser) error {
	var list protocol.ToolListResult
	if err := kernel.Call(ctx, protocol.MethodToolList, protocol.Empty{}, &list); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := sdk.NewServer(&sdk.Implementation{Name: "org-agent", Title: "org-agent", Version: version}, &sdk.ServerOptions{
		Logger: slog.New(slog.DiscardHandler), Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		Instructions: "The tools of an agent that lives in Emacs. Each call is judged by the rules that its user wrote. A call that they do not allow waits until the user has decided, which may take long: their Emacs shows it.",
	})
	for _, t := range list.Tools {
		offered, err := offeredTool(t)
		if err != nil {
			return err
		}
		server.AddTool(offered, func(callCtx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			callCtx, cancel := context.WithCancel(callCtx)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return callFor(callCtx, kernel, request)
		})
	}
	input := &messages{from: bufio.NewReaderSize(in, 64<<10), close: in.Close, fault: func(error) {}, noise: func(string) {}}
	err := server.Run(ctx, &sdk.IOTransport{Reader: &endingInput{input, cancel}, Writer: out, MaxLineLength: messageLimit + 1})
	if ctx.Err() != nil { // the program has gone, or ctx has ended
		return nil
	}
	return err
}

// endingInput is the input from another program. It calls onEnd when the input ends.
type endingInput struct {
	io.ReadCloser
	onEnd func()
}

// Read implements [io.Reader].
func (e *endingInput) Read(b []byte) (int, error) {
	n, err := e.ReadCloser.Read(b)
	if err != nil {
		e.onEnd()
	}
	return n, err
}

// offeredTool returns a tool of the kernel as a tool of the protocol.
func offeredTool(t protocol.ToolInfo) (*sdk.Tool, error) {
	text, err := json.Marshal(t.Schema)
	if err != nil {
		return nil, fmt.Errorf("write the schema of %s: %w", t.Name, err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, fmt.Errorf("write the schema of %s: %w", t.Name, err)
	}
	if schema["type"] == nil {
		schema = map[string]any{"type": "object"}
	}
	schema["additionalProperties"] = false
	destroys := t.Effect == ""
	return &sdk.Tool{
		Name: t.Name, Description: t.Does, InputSchema: schema,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: t.Effect == protocol.ToolReads || t.Effect == protocol.ToolAsks, DestructiveHint: &destroys},
	}, nil
}

// callFor makes a call for another program. An error of the call is a result too, with the kind of
// the error in addition.
func callFor(ctx context.Context, kernel Kernel, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	failed := func(text string, code protocol.ToolErrorCode, retryable bool) *sdk.CallToolResult {
		return &sdk.CallToolResult{
			IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}},
			Meta: sdk.Meta{"org-agent/code": string(code), "org-agent/retryable": retryable},
		}
	}
	call := protocol.ToolCallParams{Tool: request.Params.Name, Program: programOf(request)}
	if len(request.Params.Arguments) > 0 {
		if err := json.Unmarshal(request.Params.Arguments, &call.Args); err != nil {
			return failed(fmt.Sprintf("the arguments cannot be read: %v", err), protocol.ToolArguments, false), nil
		}
	}
	var result protocol.ToolCallResult
	err := kernel.Call(ctx, protocol.MethodToolCall, call, &result)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return failed(err.Error(), protocol.ToolFailed, false), nil
	case result.Verdict == "performed":
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: result.Text}}}, nil
	}
	code := result.Code
	if code == "" {
		code = map[protocol.Keyword]protocol.ToolErrorCode{"denied": protocol.ToolDeclined, "refused": protocol.ToolRefused}[result.Verdict]
	}
	if code == "" {
		code = protocol.ToolFailed
	}
	return failed(result.Text, code, result.Retryable), nil
}

// programOf returns the name that the other program gives itself.
func programOf(request *sdk.CallToolRequest) string {
	if p := request.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
		return p.ClientInfo.Name
	}
	return ""
}
