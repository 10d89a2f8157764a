// Package protocol defines the wire protocol: the methods, their parameters and results, the names
// in actions and events, and the error codes. It has no behaviour beyond reading, writing and
// checking those values.
//
// Every value has two encodings. In JSON an object has lower-case keys and an enum is a string. In
// a plist frame an object is a plist and an enum is a keyword. nil, null, false, an empty list and
// a missing key are the same value. The encoding follows the Go types of a method, which [Methods]
// lists, and never the form of the input.
//
// Values are plain data and may be copied. No function of this package blocks or keeps a reference
// to an argument.
package protocol

import "reflect"

// Version is the version of the protocol that this kernel speaks. A client names the range that it
// supports.
const Version = 1

// FrameLimit is the largest size of a message in either direction, in bytes.
const FrameLimit = 8 << 20

// Requests and notifications that a client sends.
const (
	MethodInitialize       = "initialize"
	MethodEvent            = "event"
	MethodEventCheck       = "event/check"
	MethodTurnCancel       = "turn/cancel"
	MethodTurnRetry        = "turn/retry"
	MethodTurnGet          = "turn/get"
	MethodTurnFind         = "turn/find"
	MethodTurnPrefer       = "turn/prefer"
	MethodTurnSteer        = "turn/steer"
	MethodTurnChanges      = "turn/changes"
	MethodTurnUndone       = "turn/undone"
	MethodModelList        = "model/list"
	MethodSessionModel     = "session/model"
	MethodSessionPreset    = "session/preset"
	MethodPresetList       = "preset/list"
	MethodSettingsGet      = "settings/get"
	MethodUsageGet         = "usage/get"
	MethodScheduleList     = "schedule/list"
	MethodScheduleRun      = "schedule/run"
	MethodScheduleArm      = "schedule/arm"
	MethodScheduleWatch    = "schedule/watch"
	MethodSessionList      = "session/list"
	MethodSessionLoad      = "session/load"
	MethodSessionLeave     = "session/leave"
	MethodSessionPace      = "session/pace"
	MethodSessionSearch    = "session/search"
	MethodSessionRename    = "session/rename"
	MethodSessionFork      = "session/fork"
	MethodSessionAsked     = "session/asked"
	MethodComplete         = "complete"
	MethodAskList          = "ask/list"
	MethodAskGet           = "ask/get"
	MethodAskCheck         = "ask/check"
	MethodAskDecide        = "ask/decide"
	MethodPromptGet        = "prompt/get"
	MethodSkillList        = "skill/list"
	MethodSkillReload      = "skill/reload"
	MethodSkillCheck       = "skill/check"
	MethodSkillTest        = "skill/test"
	MethodSkillGrant       = "skill/grant"
	MethodPolicyList       = "policy/list"
	MethodChannelList      = "channel/list"
	MethodChannelAdd       = "channel/add"
	MethodChannelTest      = "channel/test"
	MethodChannelPair      = "channel/pair"
	MethodChannelPeople    = "channel/people"
	MethodChannelAllow     = "channel/allow"
	MethodSetupFind        = "setup/find"
	MethodSetupModels      = "setup/models"
	MethodSetupAdd         = "setup/add"
	MethodPolicyRevoke     = "policy/revoke"
	MethodPolicyKeep       = "policy/keep"
	MethodSkillEvaluate    = "skill/evaluate"
	MethodSkillSymbols     = "skill/symbols"
	MethodTraceGet         = "trace/get"
	MethodSpeechTranscribe = "speech/transcribe"
	MethodSpeechSpeak      = "speech/speak"
	MethodSessionCompact   = "session/compact"
	MethodToolList         = "tool/list"
	MethodToolCall         = "tool/call"
	MethodDoctor           = "doctor"
	MethodProfile          = "profile"
	MethodLogTail          = "log/tail"
	MethodStatus           = "status"
	MethodShutdown         = "shutdown"
	MethodCancelRequest    = "$/cancelRequest"
)

// Requests and notifications that the kernel sends. [MethodAct] and those of emacs.go are requests.
const (
	MethodAct              = "act"
	MethodTurnStarted      = "turn/started"
	MethodTurnDelta        = "turn/delta"
	MethodTurnFinished     = "turn/finished"
	MethodTurnKept         = "turn/kept"
	MethodTurnThought      = "turn/thought"
	MethodTurnCommentary   = "turn/commentary"
	MethodTurnPreferred    = "turn/preferred"
	MethodSessionKeeper    = "session/keeper"
	MethodSessionRenamed   = "session/renamed"
	MethodSessionCompacted = "session/compacted"
	MethodModelChanged     = "model/changed"
	MethodServerChanged    = "server/changed"
	MethodPresetChanged    = "preset/changed"
	MethodAskOpened        = "ask/opened"
	MethodAskClosed        = "ask/closed"
	MethodSkillChanged     = "skill/changed"
	MethodFileChanged      = "file/changed"
	MethodLog              = "log"
	MethodNotice           = "notice"
)

// Method is one row of the table of methods. The Go types are the schema of its parameters and its
// result. Result is nil for a notification.
type Method struct {
	Name   string
	Params reflect.Type
	Result reflect.Type
}

// Methods returns the whole table. The methods that a client sends come first.
func Methods() []Method {
	return []Method{
		{MethodInitialize, typeOf[InitializeParams](), typeOf[InitializeResult]()},
		{MethodEvent, typeOf[Object](), typeOf[EventResult]()},
		{MethodEventCheck, typeOf[Object](), typeOf[EventCheckResult]()},
		{MethodTurnCancel, typeOf[TurnParams](), typeOf[TurnCancelResult]()},
		{MethodTurnRetry, typeOf[TurnRetryParams](), typeOf[EventResult]()},
		{MethodTurnGet, typeOf[TurnGetParams](), typeOf[TurnGetResult]()},
		{MethodTurnFind, typeOf[TurnFindParams](), typeOf[TurnFindResult]()},
		{MethodTurnPrefer, typeOf[TurnPreferParams](), typeOf[TurnPreferred]()},
		{MethodTurnSteer, typeOf[TurnSteerParams](), typeOf[TurnSteerResult]()},
		{MethodTurnChanges, typeOf[TurnChangesParams](), typeOf[TurnChangesResult]()},
		{MethodTurnUndone, typeOf[TurnUndoneParams](), typeOf[Empty]()},
		{MethodModelList, typeOf[ModelListParams](), typeOf[ModelListResult]()},
		{MethodSessionModel, typeOf[SessionModelParams](), typeOf[SessionModelParams]()},
		{MethodSessionPreset, typeOf[SessionPresetParams](), typeOf[SessionPresetParams]()},
		{MethodPresetList, typeOf[PresetListParams](), typeOf[PresetListResult]()},
		{MethodSettingsGet, typeOf[Object](), typeOf[SettingsGetResult]()},
		{MethodUsageGet, typeOf[UsageGetParams](), typeOf[UsageGetResult]()},
		{MethodScheduleList, typeOf[ScheduleListParams](), typeOf[ScheduleListResult]()},
		{MethodScheduleRun, typeOf[ScheduleRunParams](), typeOf[ScheduleRunResult]()},
		{MethodScheduleArm, typeOf[ScheduleArmParams](), typeOf[ScheduledTask]()},
		{MethodScheduleWatch, typeOf[ScheduleWatchParams](), typeOf[Empty]()},
		{MethodSessionList, typeOf[Empty](), typeOf[SessionListResult]()},
		{MethodSessionLoad, typeOf[SessionLoadParams](), typeOf[SessionLoadResult]()},
		{MethodSessionLeave, typeOf[SessionLeaveParams](), typeOf[Empty]()},
		{MethodSessionPace, typeOf[SessionPaceParams](), typeOf[Empty]()},
		{MethodSessionSearch, typeOf[SessionSearchParams](), typeOf[SessionSearchResult]()},
		{MethodSessionRename, typeOf[SessionRenameParams](), typeOf[SessionRenameResult]()},
		{MethodSessionFork, typeOf[SessionForkParams](), typeOf[SessionForkResult]()},
		{MethodSessionAsked, typeOf[InputHistoryParams](), typeOf[InputHistoryResult]()},
		{MethodComplete, typeOf[CompleteParams](), typeOf[CompleteResult]()},
		{MethodSessionCompact, typeOf[SessionCompactParams](), typeOf[SessionCompacted]()},
		{MethodAskList, typeOf[Empty](), typeOf[AskListResult]()},
		{MethodAskGet, typeOf[AskGetParams](), typeOf[AskGetResult]()},
		{MethodAskCheck, typeOf[AskCheckParams](), typeOf[AskCheckResult]()},
		{MethodAskDecide, typeOf[AskDecideParams](), typeOf[AskDecideResult]()},
		{MethodSubagentList, typeOf[SubagentListParams](), typeOf[SubagentListResult]()},
		{MethodInboxList, typeOf[InboxListParams](), typeOf[InboxListResult]()},
		{MethodInboxMark, typeOf[InboxMarkParams](), typeOf[InboxChanged]()},
		{MethodChatList, typeOf[Empty](), typeOf[ChatListResult]()},
		{MethodChatMessages, typeOf[ChatMessagesParams](), typeOf[ChatMessagesResult]()},
		{MethodChatSeen, typeOf[ChatParams](), typeOf[Empty]()},
		{MethodChatSay, typeOf[ChatSayParams](), typeOf[ChatSayResult]()},
		{MethodChatMove, typeOf[ChatMoveParams](), typeOf[Chat]()},
		{MethodPromptGet, typeOf[Object](), typeOf[PromptResult]()},
		{MethodMemorySearch, typeOf[MemorySearchParams](), typeOf[MemorySearchResult]()},
		{MethodMemoryChanges, typeOf[MemoryChangesParams](), typeOf[MemoryChangesResult]()},
		{MethodMemoryUndo, typeOf[MemoryUndoParams](), typeOf[MemoryChange]()},
		{MethodMemoryProposals, typeOf[Empty](), typeOf[MemoryProposalsResult]()},
		{MethodMemoryAccept, typeOf[MemoryAcceptParams](), typeOf[MemoryDecideResult]()},
		{MethodMemoryDrop, typeOf[MemoryDropParams](), typeOf[MemoryDecideResult]()},
		{MethodMemoryIndex, typeOf[MemoryIndexParams](), typeOf[MemoryIndexResult]()},
		{MethodSkillList, typeOf[Empty](), typeOf[SkillListResult]()},
		{MethodSkillReload, typeOf[Empty](), typeOf[SkillListResult]()},
		{MethodSkillCheck, typeOf[SkillParams](), typeOf[SkillCheckResult]()},
		{MethodSkillTest, typeOf[SkillParams](), typeOf[SkillTestResult]()},
		{MethodSkillGrant, typeOf[SkillGrantParams](), typeOf[SkillGrantResult]()},
		{MethodPolicyList, typeOf[Empty](), typeOf[PolicyListResult]()},
		{MethodChannelList, typeOf[Empty](), typeOf[ChannelListResult]()},
		{MethodChannelAdd, typeOf[ChannelAddParams](), typeOf[ChannelAddResult]()},
		{MethodChannelTest, typeOf[ChannelParams](), typeOf[ChannelTestResult]()},
		{MethodChannelPair, typeOf[ChannelPairParams](), typeOf[ChannelPairResult]()},
		{MethodChannelPeople, typeOf[Empty](), typeOf[ChannelPeopleResult]()},
		{MethodChannelAllow, typeOf[ChannelAllowParams](), typeOf[ChannelPeopleResult]()},
		{MethodSetupFind, typeOf[Empty](), typeOf[SetupFindResult]()},
		{MethodSetupModels, typeOf[SetupModelsParams](), typeOf[SetupModelsResult]()},
		{MethodSetupAdd, typeOf[SetupAddParams](), typeOf[SetupAddResult]()},
		{MethodPolicyRevoke, typeOf[PolicyRevokeParams](), typeOf[PolicyListResult]()},
		{MethodPolicyKeep, typeOf[PolicyKeepParams](), typeOf[PolicyListResult]()},
		{MethodSkillEvaluate, typeOf[SkillEvaluateParams](), typeOf[SkillEvaluateResult]()},
		{MethodSkillSymbols, typeOf[Empty](), typeOf[SkillSymbolsResult]()},
		{MethodLogTail, typeOf[LogTailParams](), typeOf[LogTailResult]()},
		{MethodSpeechTranscribe, typeOf[SpeechTranscribeParams](), typeOf[SpeechTranscribeResult]()},
		{MethodSpeechSpeak, typeOf[SpeechSpeakParams](), typeOf[SpeechSpeakResult]()},
		{MethodToolList, typeOf[Empty](), typeOf[ToolListResult]()},
		{MethodToolCall, typeOf[ToolCallParams](), typeOf[ToolCallResult]()},
		{MethodDoctor, typeOf[DoctorParams](), typeOf[DoctorResult]()},
		{MethodTraceGet, typeOf[TraceGetParams](), typeOf[TraceGetResult]()},
		{MethodStatus, typeOf[Empty](), typeOf[StatusResult]()},
		{MethodProfile, typeOf[ProfileParams](), typeOf[ProfileResult]()},
		{MethodShutdown, typeOf[Empty](), typeOf[Empty]()},
		{MethodCancelRequest, typeOf[CancelRequestParams](), nil},

		{MethodAct, typeOf[Act](), typeOf[Receipt]()},
		{MethodEmacsNotes, typeOf[EmacsNotesParams](), typeOf[EmacsNotes]()},
		{MethodEmacsAgenda, typeOf[EmacsAgendaParams](), typeOf[EmacsAgenda]()},
		{MethodEmacsContacts, typeOf[EmacsContactsParams](), typeOf[EmacsContacts]()},
		{MethodEmacsBuffers, typeOf[EmacsBuffersParams](), typeOf[EmacsBuffers]()},
		{MethodEmacsRead, typeOf[EmacsReadParams](), typeOf[EmacsRead]()},
		{MethodTurnStarted, typeOf[TurnStarted](), nil},
		{MethodTurnDelta, typeOf[TurnDelta](), nil},
		{MethodTurnFinished, typeOf[TurnFinished](), nil},
		{MethodTurnKept, typeOf[StoredTurn](), nil},
		{MethodTurnThought, typeOf[TurnThought](), nil},
		{MethodTurnCommentary, typeOf[TurnCommentary](), nil},
		{MethodTurnProgress, typeOf[TurnProgress](), nil},
		{MethodSubagentChanged, typeOf[Subagent](), nil},
		{MethodTurnPreferred, typeOf[TurnPreferred](), nil},
		{MethodSessionKeeper, typeOf[SessionKeeper](), nil},
		{MethodSessionRenamed, typeOf[SessionRenamed](), nil},
		{MethodSessionCompacted, typeOf[SessionCompacted](), nil},
		{MethodModelChanged, typeOf[SessionModelParams](), nil},
		{MethodServerChanged, typeOf[ServerInfo](), nil},
		{MethodPresetChanged, typeOf[SessionPresetParams](), nil},
		{MethodAskOpened, typeOf[Ask](), nil},
		{MethodAskClosed, typeOf[AskClosed](), nil},
		{MethodSkillChanged, typeOf[SkillListResult](), nil},
		{MethodMemoryProposed, typeOf[MemoryProposed](), nil},
		{MethodMemoryChanged, typeOf[MemoryChange](), nil},
		{MethodInboxChanged, typeOf[InboxChanged](), nil},
		{MethodChatChanged, typeOf[ChatParams](), nil},
		{MethodFileChanged, typeOf[FileChanged](), nil},
		{MethodLog, typeOf[LogLines](), nil},
		{MethodNotice, typeOf[Notice](), nil},
	}
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// Empty is the parameters or the result of a method that has none.
type Empty struct{}
