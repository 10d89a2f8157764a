package telegramtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/channel/channeltest/telegramtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answer is what the server answered.
type answer struct {
	status      int
	OK          bool            `json:"ok"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Result      json.RawMessage `json:"result"`
	Parameters  map[string]int64
}

// call calls a method with parameters in turn: name, value, name, value.
func call(t *testing.T, s *telegramtest.Server, path string, parameters ...string) answer {
	t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(parameters); i += 2 {
		values.Set(parameters[i], parameters[i+1])
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://telegram.invalid"+path, strings.NewReader(values.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode}
	if err := json.Unmarshal(body, &a); err != nil {
		a.Result = body
	}
	return a
}

const bot = "/bot" + telegramtest.Token + "/"

// TestRefuses checks that the server refuses what Telegram's does, in its words, and what the manual forbids.
func TestRefuses(t *testing.T) {
	s := telegramtest.New()
	s.AddChat(telegramtest.Chat{ID: -1007, Type: "supergroup", Title: "Tower", IsForum: true})
	s.AddChat(telegramtest.Chat{ID: -1008, Type: "group", Title: "Blocked"})
	s.Block(-1008, "Forbidden: bot was kicked from the group chat")
	theirs := fmt.Sprint(s.Say(telegramtest.Ada, map[string]any{"text": "hi"}))
	looks := func(entities string) []string {
		return []string{"chat_id", "1001", "text", "a 🕊 text", "entities", entities}
	}
	for _, c := range []struct {
		path       string
		parameters []string
		code       int
		says       string
	}{
		{"/botnonsense/getMe", nil, 404, "Not Found"},
		{"/bot1:of_nobody/getMe", nil, 401, "Unauthorized"},
		{bot + "getme", nil, 404, "Not Found"},
		{bot + "getMe", []string{"x", "1"}, 400, "no parameter x"},
		{bot + "sendMessage", []string{"text", "hi"}, 400, "chat_id is empty"},
		{bot + "sendMessage", []string{"chat_id", "1001"}, 400, "text is empty"},
		{bot + "sendMessage", []string{"chat_id", "1001", "text", " \n"}, 400, "message text is empty"},
		{bot + "sendMessage", []string{"chat_id", "ada", "text", "hi"}, 400, "chat_id"},
		{bot + "sendMessage", []string{"chat_id", "4711", "text", "hi"}, 400, "chat not found"},
		{bot + "sendMessage", []string{"chat_id", "-1008", "text", "hi"}, 403, "Forbidden: bot was kicked"},
		{bot + "sendMessage", []string{"chat_id", "-1007", "message_thread_id", "5", "text", "hi"}, 400, "message thread not found"},
		{bot + "sendMessage", []string{"chat_id", "1001", "text", strings.Repeat("🕊", 2048)}, 0, ""},
		{bot + "sendMessage", []string{"chat_id", "1001", "text", strings.Repeat("🕊", 2048) + "x"}, 400, "message is too long"},
		{bot + "sendMessage", []string{"chat_id", "1001", "text", "hi", "reply_parameters", `{"message_id":4711}`}, 400, "message to be replied not found"},
		{bot + "sendMessage", []string{"chat_id", "1001", "text", "hi", "reply_parameters", `{"message_id":4711,"allow_sending_without_reply":true}`}, 0, ""},
		{bot + "sendMessage", []string{"chat_id", "1001", "text", "hi", "reply_markup", `{"inline_keyboard":[[{"text":"Yes","callback_data":"` + strings.Repeat("x", 65) + `"}]]}`}, 400, "BUTTON_DATA_INVALID"},
		{bot + "sendMessage", []string{"chat_id", "1001", "text", "hi", "reply_markup", `{"inline_keyboard":[[{"text":"","callback_data":"x"}]]}`}, 400, "Text is empty"},
		{bot + "sendMessage", []string{"chat_id", "1001", "text", "hi", "reply_markup", `{"inline_keyboard":[[{"text":"Yes","callback_data":"x","copy_text":{"text":""}}]]}`}, 400, "copy_text"},
		{bot + "sendMessage", looks(`[{"type":"bold","offset":0,"length":9}]`), 0, ""},
		{bot + "sendMessage", looks(`[{"type":"bold","offset":0,"length":10}]`), 400, "ends after the end"},
		{bot + "sendMessage", looks(`[{"type":"bold","offset":11,"length":1}]`), 400, "begins after the end"},
		{bot + "sendMessage", looks(`[{"type":"bold","offset":3,"length":1}]`), 400, "middle of a UTF-16 symbol"},
		{bot + "sendMessage", looks(`[{"type":"bold","offset":0,"length":0}]`), 400, "entity"},
		{bot + "sendMessage", looks(`[{"type":"bold","offset":0,"length":5},{"type":"italic","offset":4,"length":5}]`), 400, "overlap"},
		{bot + "sendMessage", looks(`[{"type":"bold","offset":0,"length":5},{"type":"code","offset":0,"length":1}]`), 400, "nested"},
		{bot + "sendMessage", looks(`[{"type":"pre","offset":0,"length":5},{"type":"bold","offset":0,"length":1}]`), 400, "nested"},
		{bot + "sendMessage", looks(`[{"type":"blockquote","offset":0,"length":5},{"type":"code","offset":0,"length":1}]`), 0, ""},
		{bot + "sendMessage", looks(`[{"type":"text_link","offset":0,"length":5,"url":"javascript:alert(1)"}]`), 400, "text_link"},
		{bot + "sendMessage", looks(`[{"type":"blink","offset":0,"length":5}]`), 400, "unsupported entity type"},
		{bot + "sendMessage", looks(`[{`), 400, "can't parse entities JSON"},
		{bot + "editMessageText", []string{"chat_id", "1001", "message_id", theirs, "text", "x"}, 400, "message can't be edited"},
		{bot + "editMessageText", []string{"chat_id", "1001", "message_id", "4711", "text", "x"}, 400, "message to edit not found"},
		{bot + "deleteMessage", []string{"chat_id", "1001", "message_id", "4711"}, 400, "message to delete not found"},
		{bot + "setMessageReaction", []string{"chat_id", "1001", "message_id", theirs, "reaction", `[{"type":"emoji","emoji":"🦖"}]`}, 400, "REACTION_INVALID"},
		{bot + "setMessageReaction", []string{"chat_id", "1001", "message_id", theirs, "reaction", `[{"type":"emoji","emoji":"❤️"}]`}, 400, "REACTION_INVALID"},
		{bot + "setMessageReaction", []string{"chat_id", "1001", "message_id", theirs, "reaction", `[{"type":"emoji","emoji":"❤"},{"type":"emoji","emoji":"👍"}]`}, 400, "REACTIONS_TOO_MANY"},
		{bot + "setMessageReaction", []string{"chat_id", "1001", "message_id", "4711"}, 400, "message to react not found"},
		{bot + "sendChatAction", []string{"chat_id", "1001", "action", "thinking"}, 400, "wrong parameter action"},
		{bot + "getFile", []string{"file_id", "nothing"}, 400, "invalid file_id"},
		{bot + "answerCallbackQuery", []string{"callback_query_id", "1"}, 400, "query is too old"},
		{bot + "getUpdates", []string{"limit", "101"}, 400, "getUpdates"},
		{bot + "getUpdates", []string{"allowed_updates", `["messages"]`}, 400, "getUpdates"},
		{bot + "getUpdates", []string{"offset", "x"}, 400, "getUpdates"},
		{"/file" + bot + "documents/nothing", nil, 404, "Not Found"},
	} {
		a := call(t, s, c.path, c.parameters...)
		if a.OK != (c.code == 0) || a.Code != c.code || c.code != 0 && a.status != c.code || !strings.Contains(a.Description, c.says) {
			t.Errorf("%s %q: %+v, %s", c.path, c.parameters, a, a.Result)
		}
	}
}

// TestUpdatesStay checks that updates come again until a request for later ones, and only the kinds that are wanted.
func TestUpdatesStay(t *testing.T) {
	s := telegramtest.New()
	s.Say(telegramtest.Ada, map[string]any{"text": "one"})
	s.Update("channel_post", map[string]any{"message_id": 1})
	s.Say(telegramtest.Ada, map[string]any{"text": "three"})
	numbers := func(parameters ...string) (got []int64) {
		var updates []struct {
			ID int64 `json:"update_id"`
		}
		if err := json.Unmarshal(call(t, s, bot+"getUpdates", parameters...).Result, &updates); err != nil {
			t.Fatal(err)
		}
		for _, u := range updates {
			got = append(got, u.ID-900000000)
		}
		return got
	}
	for _, c := range []struct {
		parameters []string
		want       []int64
	}{
		{nil, []int64{1, 2, 3}}, {nil, []int64{1, 2, 3}}, {[]string{"allowed_updates", `["message"]`}, []int64{1, 3}}, {[]string{"limit", "1"}, []int64{1}},
		{[]string{"offset", "900000002"}, []int64{2, 3}}, {nil, []int64{2, 3}}, {[]string{"offset", "900000009"}, nil},
	} {
		if got := numbers(c.parameters...); !slices.Equal(got, c.want) {
			t.Errorf("%q gives %v, not %v", c.parameters, got, c.want)
		}
	}
}

// TestTwoPollers checks that a request for updates ends the one before, that one waits as long as it asked to, and that
// there are none beside a webhook.
func TestTwoPollers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := telegramtest.New()
		first := make(chan answer, 1)
		go func() { first <- call(t, s, bot+"getUpdates", "timeout", "50") }()
		synctest.Wait()
		begun := time.Now()
		second := call(t, s, bot+"getUpdates", "timeout", "50")
		if took := time.Since(begun); !second.OK || took != 50*time.Second {
			t.Errorf("the second: %+v after %s", second, took)
		}
		if a := <-first; a.Code != http.StatusConflict || !strings.Contains(a.Description, "terminated by other getUpdates request") {
			t.Errorf("the first: %+v", a)
		}
		s.Webhook(true)
		if a := call(t, s, bot+"getUpdates"); a.Code != http.StatusConflict || !strings.Contains(a.Description, "webhook") {
			t.Errorf("beside a webhook: %+v", a)
		}
	})
}

// TestOutcomes checks the failures that a test asks for, and that a group which moved says where.
func TestOutcomes(t *testing.T) {
	s := telegramtest.New()
	s.Fail("sendMessage", telegramtest.TooMany(5), telegramtest.Outcome{Code: 502, Body: "<html>"})
	hi := []string{"chat_id", "1001", "text", "hi"}
	if a := call(t, s, bot+"sendMessage", hi...); a.status != 429 || a.Parameters["retry_after"] != 5 || a.Description != "Too Many Requests: retry after 5" {
		t.Errorf("%+v", a)
	}
	if a := call(t, s, bot+"sendMessage", hi...); a.status != 502 || string(a.Result) != "<html>" || len(s.Sent(telegramtest.Ada)) != 0 {
		t.Errorf("%+v", a)
	}
	if a := call(t, s, bot+"sendMessage", hi...); !a.OK || len(s.Sent(telegramtest.Ada)) != 1 || s.Calls("sendMessage") != 3 {
		t.Errorf("%+v", a)
	}
	s.AddChat(telegramtest.Chat{ID: -4, Type: "group", Title: "Loft"})
	s.Migrate(-4, -1004)
	if a := call(t, s, bot+"sendMessage", "chat_id", "-4", "text", "hi"); a.Code != 400 || a.Parameters["migrate_to_chat_id"] != -1004 {
		t.Errorf("%+v", a)
	}
	s.Revoke()
	if a := call(t, s, bot+"sendMessage", hi...); a.Code != 401 {
		t.Errorf("%+v", a)
	}
	s.Down(true)
	if resp, err := s.Client().Get("http://telegram.invalid" + bot + "getMe"); err == nil {
		resp.Body.Close()
		t.Errorf("it answers: %v", resp.Status)
	}
}
