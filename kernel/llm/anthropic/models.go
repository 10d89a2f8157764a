package anthropic

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// The limits of a list of models: its bytes, and its pages.
const (
	modelsLimit = 8 << 20
	pagesLimit  = 20
)

// mostTokens is more than the window of any model.
const mostTokens = 1 << 30

// Models returns the names of the models that the server lists, sorted.
func (p *Provider) Models(ctx context.Context) ([]string, error) {
	list, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, model := range list {
		names[i] = model.ID
	}
	return transport.ModelNames(names), nil
}

// list asks the server for its models, and keeps how long their replies may be.
func (p *Provider) list(ctx context.Context) (all []sdk.ModelInfo, err error) {
	service := sdk.NewModelService(p.options(modelsLimit)...)
	page, err := service.List(ctx, sdk.ModelListParams{Limit: sdk.Int(1000)})
	for pages := 1; err == nil && page != nil; pages++ {
		all = append(all, page.Data...)
		if !page.HasMore || pages == pagesLimit {
			break
		}
		page, err = page.GetNextPage()
	}
	if err != nil {
		failure := p.requestFailure(ctx, err)
		if failure.Class == llm.ClassBadRequest && failure.Status == 0 {
			failure.Class, failure.Message = llm.ClassProtocol, "the list of models cannot be read"
		}
		return nil, failure
	}
	for _, model := range all {
		p.limitReplies(model.ID, int(model.MaxTokens))
	}
	return all, nil
}

// Window asks the server for the context window of a model, in tokens. It returns 0 if the server reports
// none. An empty name means the configured model. Ollama, llama.cpp and vLLM have this protocol, and say their windows
// in OpenAI's.
func (p *Provider) Window(ctx context.Context, model string) (int, error) {
	list, err := p.list(ctx)
	if err != nil {
		return 0, err
	}
	if model == "" {
		model = p.config.Model
	}
	for _, m := range list {
		if (m.ID == model || model == "" && len(list) == 1) && m.MaxInputTokens > 0 && m.MaxInputTokens < mostTokens {
			return int(m.MaxInputTokens), nil
		}
	}
	if "https://"+p.base.Host == DefaultBaseURL {
		return 0, nil
	}
	return p.server.Window(ctx, model)
}

// modelFor returns the model that a request names, or else the configured one, or else the only one that
// the server lists.
func (p *Provider) modelFor(ctx context.Context, requested string) (string, error) {
	return p.only.Of(ctx, p.config.Name, p.Models, requested, p.config.Model)
}

// limitReplies keeps how long the replies of a model may be, in tokens.
func (p *Provider) limitReplies(model string, tokens int) {
	if model == "" || tokens <= 0 || tokens > mostTokens {
		return
	}
	p.longest.Set(model, tokens)
}

// usualReply is how long a reply may be if nobody says. The protocol needs a number.
const usualReply = 32_000

// replyLimit returns how long a reply of a model may be if the request does not say, in tokens.
func (p *Provider) replyLimit(model string) int {
	longest := p.longest.Of(model)
	if major, minor, ok := version(model); longest == 0 && ok && major <= 3 {
		longest = 4096
		if minor >= 5 {
			longest = 8192
		}
	}
	if longest == 0 {
		return usualReply
	}
	return min(longest, usualReply)
}

var versions = regexp.MustCompile(`claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?:\D|$)`)

// version returns the version in the name of one of Anthropic's models.
func version(model string) (major, minor int, ok bool) {
	found := versions.FindStringSubmatch(strings.ToLower(model))
	if found == nil {
		return 0, 0, false
	}
	major, _ = strconv.Atoi(found[1]) // one or two digits
	minor, _ = strconv.Atoi(found[2]) // the same, or none, which is 0
	return major, minor, true
}

// since reports whether a model is one of Anthropic's of at least a version.
func since(model string, major, minor int) bool {
	has, point, ok := version(model)
	return ok && (has > major || has == major && point >= minor)
}
