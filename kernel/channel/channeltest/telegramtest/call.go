package telegramtest

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// fileLimit is the size of the largest file that a bot may send.
const fileLimit = 50 << 20

// call is what a method is called with.
type call struct {
	name   string
	values map[string]string // JSON, or a text as it is
	file   []byte
	named  string // the name of the file
}

func (c call) text(name string) string { return c.values[name] }

func (c call) number(name string) (int64, error) {
	text := c.values[name]
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, badRequest("%s must be a number, and is %q", name, text)
	}
	return n, nil
}

// decode reads a value that is JSON. Fields that there are not are refused.
func (c call) decode(name string, to any) error {
	text := c.values[name]
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return badRequest("can't parse %s JSON object: %v", name, err)
	}
	return nil
}

// readCall reads a request, in each of the ways that the manual allows.
func readCall(r *http.Request, m method) (call, error) {
	c := call{name: m.name, values: map[string]string{}}
	for name, values := range r.URL.Query() {
		c.values[name] = values[0]
	}
	media, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var err error
	switch media {
	case "multipart/form-data":
		err = c.readForm(r, m, parameters["boundary"])
	case "application/json":
		err = c.readJSON(r.Body)
	case "application/x-www-form-urlencoded":
		var body []byte
		var values url.Values
		if body, err = io.ReadAll(io.LimitReader(r.Body, 1<<20)); err == nil {
			values, err = url.ParseQuery(string(body))
		}
		for name := range values {
			c.values[name] = values.Get(name)
		}
	}
	if err != nil {
		if p := (*problem)(nil); errors.As(err, &p) {
			return c, err
		}
		return c, badRequest("can't parse the request: %v", err)
	}
	known := strings.Fields(m.takes)
	for name := range c.values {
		if !slices.Contains(known, name) && !slices.Contains(known, name+"!") {
			return c, badRequest("there is no parameter %s", name)
		}
	}
	for _, name := range known {
		if required, must := strings.CutSuffix(name, "!"); must && c.values[required] == "" && c.file == nil {
			return c, badRequest("%s is empty", required)
		}
	}
	return c, nil
}

func (c *call) readForm(r *http.Request, m method, boundary string) error {
	if boundary == "" {
		return errors.New("no boundary")
	}
	reader, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(io.LimitReader(part, fileLimit+1))
		if err != nil {
			return err
		}
		if len(data) > fileLimit {
			return &problem{outcome: Outcome{Code: http.StatusRequestEntityTooLarge, Description: "Request Entity Too Large"}}
		}
		if part.FileName() == "" {
			c.values[part.FormName()] = string(data)
			continue
		}
		if part.FormName() != m.file {
			return badRequest("there is no file %s", part.FormName())
		}
		c.named = part.FileName()
		if c.file = data; len(data) == 0 {
			return badRequest("file must be non-empty")
		}
	}
}

func (c *call) readJSON(body io.Reader) error {
	var values map[string]json.RawMessage
	if err := json.NewDecoder(body).Decode(&values); err != nil {
		return err
	}
	for name, value := range values {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		c.values[name] = text
	}
	return nil
}
