package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/secret"
)

// Base returns the address of a server as a URL. Its only error is for an address that is none; path is how
// the addresses of the protocol's servers usually end.
func Base(provider, address, path string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimSpace(address))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, &llm.Error{Class: llm.ClassBadRequest, Provider: provider,
			Message: fmt.Sprintf("%q is not the address of a server", llm.RedactURL(address)),
			Advice:  fmt.Sprintf("write the base URL as http://HOST:PORT%s or https://HOST%s", path, path)}
	}
	return base, nil
}

// Decorate completes a request to the server at base. The query of base is added to that of the request. The
// headers replace others. What a library tells about this machine is removed.
func Decorate(request *http.Request, base *url.URL, headers map[string]secret.Text) {
	if own := request.URL.Query(); len(own) > 0 {
		maps.Copy(own, base.Query())
		request.URL.RawQuery = own.Encode()
	} else {
		request.URL.RawQuery = base.RawQuery
	}
	for name := range request.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			request.Header.Del(name)
		}
	}
	request.Header.Set("User-Agent", "org-agent")
	for name, value := range headers {
		request.Header.Set(name, value.Reveal())
	}
}

// Send sends a request to the server at base, as Decorate completes it, and returns the answer. An answer that is
// none is an *llm.Error: a redirect, and a status of an error, for which refused makes it of what the body says.
// StatusFailure does for most protocols. RequestFailure makes an *llm.Error of any other error, too.
func Send(client *http.Client, request *http.Request, base *url.URL, headers map[string]secret.Text,
	refused func(status int, code, kind, message string) *llm.Error) (*http.Response, error) {
	Decorate(request, base, headers)
	response, err := client.Do(request)
	if err != nil || response.StatusCode < http.StatusMultipleChoices {
		return response, err
	}
	defer response.Body.Close()
	if response.StatusCode < http.StatusBadRequest {
		return nil, redirect(response)
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, ErrorBodyLimit)) // a part of a message is better than none
	code, kind, message := ErrorOf(body)
	failure := refused(response.StatusCode, code, kind, message)
	failure.RetryAfter = RetryAfter(response.Header, time.Now())
	return nil, failure
}

// JoinBody adds fields to the JSON object in a request's body, which has one at least, in place of others of
// the same names. The field of the conversation comes last, as it is encoded.
func JoinBody(request *http.Request, fields map[string]any, name string, conversation []byte) error {
	defer request.Body.Close()
	all := map[string]json.RawMessage{}
	if err := json.NewDecoder(request.Body).Decode(&all); err != nil {
		return fmt.Errorf("read the request's body: %w", err)
	}
	for key, value := range fields {
		encoded, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("encode the request's field %q: %w", key, err)
		}
		all[key] = encoded
	}
	delete(all, name)
	encoded, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	head := fmt.Appendf(bytes.TrimSuffix(encoded, []byte("}")), ",%q:", name)
	request.ContentLength = int64(len(head) + len(conversation) + len("}"))
	request.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(head), bytes.NewReader(conversation), strings.NewReader("}"))), nil
	}
	request.Body, err = request.GetBody()
	return err
}
