package signaltest_test

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"org-agent/kernel/channel/channeltest/signaltest"
)

// TestMain fails if a goroutine is left when the tests have ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestAnswers checks that the server answers as signal-cli does, with the same errors. How a parser calls a fault of the
// JSON is its own.
func TestAnswers(t *testing.T) {
	text, err := os.ReadFile("testdata/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, recorded, _ := strings.Cut(string(text), "\n\n")
	socket, err := net.Dial("unix", signaltest.Start(t, signaltest.Config{Shared: true}).Address())
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	answers := bufio.NewReader(socket)
	asked, count := "", 0
	for line := range strings.Lines(recorded) {
		want, answer := strings.CutPrefix(line, "< ")
		if !answer {
			asked = line
			continue
		}
		count++
		if _, err := socket.Write([]byte(asked)); err != nil {
			t.Fatal(err)
		}
		got, err := answers.ReadString('\n')
		if err != nil {
			t.Fatalf("%s%v", asked, err)
		}
		if !reflect.DeepEqual(comparable(t, got), comparable(t, want)) {
			t.Errorf("%sis answered\n%sand not\n%s", asked, got, want)
		}
	}
	if count < 10 {
		t.Errorf("there are %d answers", count)
	}
}

// comparable returns an answer without the words of a parser.
func comparable(t *testing.T, line string) (answer map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &answer); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if failed, ok := answer["error"].(map[string]any); ok && failed["code"] == float64(signaltest.ParseError) {
		failed["message"] = ""
	}
	return answer
}
