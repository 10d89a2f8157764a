// Package protocol is the vocabulary of the wire: the methods, their
// parameters and results, the words of actions and events, and the error
// codes. It holds no behaviour beyond reading and writing those values.
//
// One vocabulary, two spellings. In JSON an object has lower-case keys and an
// enum is a string; in a plist frame the object is a plist and the enum a
// keyword. nil, null, false, an empty list and a missing key are one value.
// The mapping follows the Go types below ([Methods] names them for each
// method), never the shape of what came in.
//
// Values are plain data: they may be copied freely, and nothing here blocks or
// keeps a reference to an argument.
package protocol

import "reflect"

// Version is the protocol this kernel speaks; a client names the range it can.
const Version = 1

// FrameLimit is the largest message either side may send, in bytes.
const FrameLimit = 8 << 20

// Requests and notifications a client sends.
const (
	MethodInitialize       = "initialize"
	MethodEvent            = "event"
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
	MethodSessionList      = "session/list"
	MethodSessionLoad      = "session/load"
	MethodSessionLeave     = "session/leave"
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
	MethodSkillEvaluate    = "skill/evaluate"
	MethodSkillSymbols     = "skill/symbols"
	MethodTraceGet         = "trace/get"
	MethodSpeechTranscribe = "speech/transcribe"
	MethodSpeechSpeak      = "speech/speak"
	MethodSessionCompact   = "session/compact"
	MethodToolList         = "tool/list"
	MethodToolCall         = "tool/call"
	MethodDoctor           = "doctor"
	MethodLogTail          = "log/tail"
	MethodStatus           = "status"
	MethodShutdown         = "shutdown"
	MethodCancelRequest    = "$/cancelRequest"
)

// Requests and notifications the kernel sends. [MethodAct] and those of emacs.go are requests.
const (
	MethodAct              = "act"
	MethodTurnStarted      = "turn/started"
	MethodTurnDelta        = "turn/delta"
	MethodTurnFinished     = "turn/finished"
	MethodTurnKept         = "turn/kept"
	MethodTurnThought      = "turn/thought"
	MethodTurnPreferred    = "turn/preferred"
	MethodSessionKeeper    = "session/keeper"
	MethodSessionRenamed   = "session/renamed"
	MethodSessionCompacted = "session/compacted"
	MethodModelChanged     = "model/changed"
	MethodPresetChanged    = "preset/changed"
	MethodAskOpened        = "ask/opened"
	MethodAskClosed        = "ask/closed"
	MethodSkillChanged     = "skill/changed"
	MethodFileChanged      = "file/changed"
	MethodLog              = "log"
	MethodNotice           = "notice"
)

// A Method is one row of the wire's table: the Go types that give its
// parameters and its result their schema. Result is nil for a notification.
type Method struct {
	Name   string
	Params reflect.Type
	Result reflect.Type
}

// Methods returns the whole table, client's methods first.
func Methods() []Method {
	return []Method{
		{MethodInitialize, typeOf[InitializeParams](), typeOf[InitializeResult]()},
		{MethodEvent, typeOf[Object](), typeOf[EventResult]()},
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
		{MethodSessionList, typeOf[Empty](), typeOf[SessionListResult]()},
		{MethodSessionLoad, typeOf[SessionLoadParams](), typeOf[SessionLoadResult]()},
		{MethodSessionLeave, typeOf[SessionLeaveParams](), typeOf[Empty]()},
		{MethodSessionSearch, typeOf[SessionSearchParams](), typeOf[SessionSearchResult]()},
		{MethodSessionRename, typeOf[SessionRenameParams](), typeOf[SessionRenameResult]()},
		{MethodSessionFork, typeOf[SessionForkParams](), typeOf[SessionForkResult]()},
		{MethodSessionAsked, typeOf[SessionAskedParams](), typeOf[SessionAskedResult]()},
		{MethodComplete, typeOf[CompleteParams](), typeOf[CompleteResult]()},
		{MethodSessionCompact, typeOf[SessionCompactParams](), typeOf[SessionCompacted]()},
		{MethodAskList, typeOf[Empty](), typeOf[AskListResult]()},
		{MethodAskGet, typeOf[AskGetParams](), typeOf[AskGetResult]()},
		{MethodAskCheck, typeOf[AskCheckParams](), typeOf[AskCheckResult]()},
		{MethodAskDecide, typeOf[AskDecideParams](), typeOf[AskDecideResult]()},
		{MethodSubagentList, typeOf[SubagentListParams](), typeOf[SubagentListResult]()},
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
		{MethodShutdown, typeOf[Empty](), typeOf[Empty]()},
		{MethodCancelRequest, typeOf[CancelRequestParams](), nil},

		{MethodAct, typeOf[Act](), typeOf[Receipt]()},
		{MethodEmacsNotes, typeOf[EmacsNotesParams](), typeOf[EmacsNotes]()},
		{MethodEmacsAgenda, typeOf[EmacsAgendaParams](), typeOf[EmacsAgenda]()},
		{MethodEmacsBuffers, typeOf[EmacsBuffersParams](), typeOf[EmacsBuffers]()},
		{MethodEmacsRead, typeOf[EmacsReadParams](), typeOf[EmacsRead]()},
		{MethodTurnStarted, typeOf[TurnStarted](), nil},
		{MethodTurnDelta, typeOf[TurnDelta](), nil},
		{MethodTurnFinished, typeOf[TurnFinished](), nil},
		{MethodTurnKept, typeOf[TurnKept](), nil},
		{MethodTurnThought, typeOf[TurnThought](), nil},
		{MethodTurnProgress, typeOf[TurnProgress](), nil},
		{MethodSubagentChanged, typeOf[Subagent](), nil},
		{MethodTurnPreferred, typeOf[TurnPreferred](), nil},
		{MethodSessionKeeper, typeOf[SessionKeeper](), nil},
		{MethodSessionRenamed, typeOf[SessionRenamed](), nil},
		{MethodSessionCompacted, typeOf[SessionCompacted](), nil},
		{MethodModelChanged, typeOf[SessionModelParams](), nil},
		{MethodPresetChanged, typeOf[SessionPresetParams](), nil},
		{MethodAskOpened, typeOf[Ask](), nil},
		{MethodAskClosed, typeOf[AskClosed](), nil},
		{MethodSkillChanged, typeOf[SkillListResult](), nil},
		{MethodMemoryProposed, typeOf[MemoryProposed](), nil},
		{MethodMemoryChanged, typeOf[MemoryChange](), nil},
		{MethodFileChanged, typeOf[FileChanged](), nil},
		{MethodLog, typeOf[LogLines](), nil},
		{MethodNotice, typeOf[Notice](), nil},
	}
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// Empty is the parameters or the result of a method that has none.
type Empty struct{}
