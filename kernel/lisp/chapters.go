package lisp

import "slices"

// chapter is a part of the language: the tables that define it. What is told about the
// language is told in this order.
type chapter struct {
	title string
	// home is the package of the names, "" for the standard.
	home      string
	functions []Builtin
	forms     []standardForm
	macros    []Macro
}

// grantedChapter is about what needs a capability.
const grantedChapter = "Files and the environment, as granted"

// chapters are those of the standard.
func chapters() []chapter {
	return []chapter{
		{title: "Evaluation, binding and choice", forms: slices.Concat(controlForms(), localForms()), macros: conditionalMacros()},
		{title: "Definitions", forms: definitionForms()},
		{title: "Places", forms: placeForms(), macros: placeMacros(), functions: placeFunctions()},
		{title: "Functions, values and exits", forms: exitForms(), functions: controlFunctions()},
		{title: "Iteration", forms: loopForms(), macros: iterationMacros()},
		{title: "Conditions and restarts", forms: slices.Concat(handlingForms(), restartForms()), functions: slices.Concat(conditionFunctions(), restartFunctions())},
		{title: "Conses and lists", functions: slices.Concat(consFunctions(), listFunctions(), setFunctions(), treeFunctions(), plistFunctions())},
		{title: "Sequences", functions: slices.Concat(sequenceFunctions(), searchFunctions(), editFunctions(), mappingFunctions(), sortFunctions())},
		{title: "Strings and characters", functions: slices.Concat(stringFunctions(), stringComparisons(), characterFunctions())},
		{title: "Numbers", functions: slices.Concat(numberFunctions(), numberPredicates(), bitFunctions(), byteFunctions(), roundingFunctions(), floatFunctions(), floatPartFunctions(), complexFunctions(), randomFunctions())},
		{title: "Arrays", functions: slices.Concat(arrayFunctions(), arrayMakers(), fillPointerFunctions(), bitArrayFunctions())},
		{title: "Hash tables and equality", functions: slices.Concat(hashFunctions(), equalityFunctions())},
		{title: "Symbols and packages", functions: slices.Concat(symbolFunctions(), packageFunctions(), packageChanges()), macros: packageMacros()},
		{title: "Types", functions: typeFunctions()},
		{title: "Classes, structures and methods", forms: classForms(), functions: slices.Concat(classFunctions(), slotFunctions(), methodFunctions(), protocolFunctions())},
		{title: "Streams, printing and reading", functions: slices.Concat(streamFunctions(), outputFunctions(), inputFunctions(), byteStreamFunctions(), compoundStreamFunctions(), printFunctions(), prettyFunctions(), readFunctions(), readtableFunctions()), macros: slices.Concat(resourceMacros(), streamMacros(), prettyMacros())},
		{title: "Pathnames", functions: pathnameFunctions()},
		{title: "Time and surroundings", functions: slices.Concat(timeFunctions(), surroundingFunctions()), macros: surroundingMacros()},
		{title: grantedChapter, functions: fileFunctions(), macros: fileMacros()},
	}
}
