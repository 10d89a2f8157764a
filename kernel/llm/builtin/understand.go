package builtin

import (
	"regexp"
	"strings"
)

// topic is the subject of a message.
type topic string

const (
	topicHello    topic = "hello"
	topicHelp     topic = "help"
	topicSelf     topic = "self"
	topicChat     topic = "chat"
	topicUndo     topic = "undo"
	topicStop     topic = "stop"
	topicSkills   topic = "skills"
	topicAuthor   topic = "author"
	topicTools    topic = "tools"
	topicSafety   topic = "safety"
	topicPrivacy  topic = "privacy"
	topicLog      topic = "log"
	topicModel    topic = "model"
	topicOrg      topic = "org"
	topicRepeat   topic = "repeat"
	topicRecall   topic = "recall"
	topicVersion  topic = "version"
	topicThanks   topic = "thanks"
	topicBye      topic = "bye"
	topicNext     topic = "next"
	topicDone     topic = "done" // the tour is over
	topicQuestion topic = "question"
	topicUnknown  topic = "unknown"
)

// tour is the order in which "next" goes through the topics.
var tour = []topic{topicChat, topicUndo, topicSkills, topicAuthor, topicSafety, topicLog, topicModel}

// phrases says which words belong to which topic. The first match counts, so narrow phrases stand
// before wide ones.
var phrases = []struct {
	topic topic
	words *regexp.Regexp
}{
	{topicRepeat, regexp.MustCompile(`^(please )?(repeat|echo|say)\b.*\S`)},
	{topicRecall, regexp.MustCompile(`what did i (just )?(say|ask|write|tell)|my (last|previous|first) (message|question)|do you remember`)},
	{topicAuthor, regexp.MustCompile(`\b(write|writing|make|create|add|build|teach|program|new|own)\b.*\bskills?\b|\bskills?\b.*\b(write|work|made)\b|how do i extend`)},
	{topicModel, regexp.MustCompile(`\b(models?|llm|ollama|llama|gpt|chatgpt|openai|openrouter|claude|anthropic|gemini|mistral|api key|real ai|base url)\b`)},
	{topicSelf, regexp.MustCompile(`\b(who|what) are you\b|\byour name\b|\bare you (an? )?(ai|bot|robot|human|person|real|alive|intelligent|language|machine)|who made you|\babout (you|yourself)\b`)},
	{topicSkills, regexp.MustCompile(`\bskills?\b`)},
	{topicTools, regexp.MustCompile(`\btools?\b|\bshell\b|\bcommands?\b|read (my |a )?files?|search (the )?(web|my notes)`)},
	{topicUndo, regexp.MustCompile(`\bundo\b|take (it|that|this|the answer) back|\bredo\b|\brevert\b`)},
	{topicStop, regexp.MustCompile(`\b(stop|cancel|abort|interrupt|quit|shut ?down|kill|exit)\b|too long|turn (you|it) off`)},
	{topicLog, regexp.MustCompile(`\blogs?\b|\bjournal\b|why did you|what happened|\bdebug\b|\btrace\b|\berrors?\b`)},
	{topicPrivacy, regexp.MustCompile(`\bprivate\b|\bprivacy\b|\bnetwork\b|\binternet\b|\boffline\b|my data|phone home|where (is|are|do).*(stored|saved|kept|files?|go)`)},
	{topicSafety, regexp.MustCompile(`\bsafe(ty|ly)?\b|\bsecur(e|ity)\b|\bdanger(ous)?\b|\btrust\b|\bapprov(e|al|als)\b|\bpolicy\b|\bpermissions?\b|\bverif(y|ied)\b|can you (delete|break|run)`)},
	{topicOrg, regexp.MustCompile(`\borg\b|\btable\b|\bfold(ing)?\b|\bmarkup\b|\bformat(ting)?\b|\bexample\b|\bdemo\b|show me something|how (do|does|will) (things|it|that|this|an answer) look\b|how (things|it) looks?\b`)},
	{topicVersion, regexp.MustCompile(`\bversion\b`)},
	{topicChat, regexp.MustCompile(`this buffer|\bchat\b|\bkeys?\b|\bbuffers?\b|\bsend\b|new session|second conversation|how (do|does) (i|this|it)( \w+)? ?(work|talk|use)`)},
	{topicHelp, regexp.MustCompile(`\bhelp\b|what can (you|i|it|this)\b|what do you (do|know)|how do i (start|begin)|where do i (start|begin)|what (now|else)|\btour\b|\bguide\b|\bintro(duction)?\b|\bstart\b`)},
	{topicThanks, regexp.MustCompile(`\b(thanks|thank you|thx|cheers|merci|danke)\b|^(great|nice|cool|wow|good|perfect|lovely|awesome)( \w+)?$`)},
	{topicBye, regexp.MustCompile(`^(good ?bye|bye|see you|ciao|good night)\b`)},
	{topicNext, regexp.MustCompile(`^(next|more|yes|yes please|ok|okay|go on|continue|and|and then|sure|y|yep|go ahead|please do)$|^tell me more`)},
	{topicHello, regexp.MustCompile(`^(hi|hello|hey|hallo|good (morning|evening|afternoon|day)|greetings|salut|servus|yo|moin|bonjour|hola|test|testing|ping)\b`)},
}

// topicOf returns the topic of a single message.
func topicOf(message string) topic {
	plain := normalize(message)
	for _, p := range phrases {
		if p.words.MatchString(plain) {
			return p.topic
		}
	}
	if strings.HasSuffix(strings.TrimSpace(message), "?") {
		return topicQuestion
	}
	return topicUnknown
}

// wordLimit is how many bytes of a message are searched for phrases.
const wordLimit = 2000

// spaces are the blanks between words. marks are the characters that belong to no word.
var (
	spaces = regexp.MustCompile(`\s+`)
	marks  = regexp.MustCompile(`[^\p{L}\p{N}\s']+`)
)

// normalize returns a message as the phrases expect it: lower case, one blank between words,
// nothing else.
func normalize(message string) string {
	if len(message) > wordLimit {
		message = message[:wordLimit]
	}
	message = marks.ReplaceAllString(strings.ToLower(message), " ")
	return strings.TrimSpace(spaces.ReplaceAllString(message, " "))
}

// resolve returns the topic of the last message of a conversation. "next" is the first topic of the
// tour that has not been mentioned yet.
func resolve(messages []string) topic {
	seen := map[topic]bool{}
	now := topicHello
	for _, message := range messages {
		if now = topicOf(message); now == topicNext {
			now = nextOfTour(seen)
		}
		seen[now] = true
	}
	return now
}

// nextOfTour returns the first topic of the tour that is not in seen.
func nextOfTour(seen map[topic]bool) topic {
	for _, t := range tour {
		if !seen[t] {
			return t
		}
	}
	return topicDone
}

// nextTopic returns what "next" would be after the conversation.
func nextTopic(messages []string) topic {
	return resolve(append(append([]string(nil), messages...), "next"))
}
