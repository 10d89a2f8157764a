package lisp

import "time"

// libraryVariables are the variables of libraries that notes may read or bind.
var libraryVariables = []struct {
	name  string
	value Value
	doc   string
}{
	{"JSON:*JSON-IDENTIFIER-NAME-TO-LISP*", named("JSON:CAMEL-CASE-TO-LISP"), "The function that makes the name of a symbol of that of a field."},
	{"JSON:*LISP-IDENTIFIER-NAME-TO-JSON*", named("JSON:LISP-TO-CAMEL-CASE"), "The function that makes the name of a field of that of a symbol."},
	{"JSON:*IDENTIFIER-NAME-TO-KEY*", named("JSON:JSON-INTERN"), "The function that makes the key of the name of a symbol."},
	{"JSON:*JSON-SYMBOLS-PACKAGE*", standardKeyword("KEYWORD"), "The package of the keys of objects; nil for the current one."},
	{"JSON:*JSON-ARRAY-TYPE*", standardSymbol("LIST"), "The type of what arrays are decoded to."},
	{"JSON:*BOOLEAN-HANDLER*", named("JSON:%BOOLEAN"), "The function of the tokens true, false and null."},
	{"JSON:*INTEGER-HANDLER*", named("JSON:%PARSE-NUMBER"), "The function of the tokens of integers."},
	{"JSON:*REAL-HANDLER*", named("JSON:%PARSE-NUMBER"), "The function of the tokens of other numbers."},
	{"JSON:*USE-STRICT-JSON-RULES*", T, "Whether an unknown escape in a string is an error."},
	{"JSON:*JSON-INPUT*", Nil, "Where decode-json reads; nil for the standard input."},
	{"JSON:*JSON-OUTPUT*", Nil, "Where encode-json writes; nil for the standard output."},
	{"JSON:*JSON-LIST-ENCODER-FN*", Nil, "How lists are written: nil guesses, :explicit is told."},
	{"JSON:*JSON-AGGREGATE-CONTEXT*", Nil, "What is written member by member: :array, :object or nil."},
	{"JSON:*JSON-AGGREGATE-FIRST*", T, "Whether the next member is the first."},
	{"LOCAL-TIME:*DEFAULT-TIMEZONE*", Nil, "The zone that moments are told in; nil for that of the clock."},
	{"LOCAL-TIME:+UTC-ZONE+", utcZone, "Coordinated Universal Time."},
	{"LOCAL-TIME:+GMT-ZONE+", gmtZone, "Greenwich Mean Time."},
	{"LOCAL-TIME:+ISO-8601-FORMAT+", isoFormat, "The format of 2026-11-22T10:30:05.000000Z."},
	{"LOCAL-TIME:+ISO-8601-DATE-FORMAT+", dateFormat, "The format of 2026-11-22."},
	{"LOCAL-TIME:+ISO-8601-TIME-FORMAT+", timeOfDay, "The format of 10:30:05.000000."},
	{"LOCAL-TIME:+RFC3339-FORMAT+", isoFormat, "The format of 2026-11-22T10:30:05.000000Z."},
	{"LOCAL-TIME:+RFC3339-FORMAT/DATE-ONLY+", dateFormat, "The format of 2026-11-22."},
	{"LOCAL-TIME:+RFC-1123-FORMAT+", rfc1123Format, "The format of Sun, 22 Nov 2026 10:30:05 +0000."},
	{"LOCAL-TIME:+ASCTIME-FORMAT+", asctimeFormat, "The format of Sun Nov 22 10:30:05 2026."},
	{"LOCAL-TIME:+ISO-WEEK-DATE-FORMAT+", isoWeekFormat, "The format of 2026-W47-7."},
	{"LOCAL-TIME:+MONTH-NAMES+", namesOf(monthNames(99)), "The names of the months, from 1."},
	{"LOCAL-TIME:+SHORT-MONTH-NAMES+", namesOf(monthNames(3)), "The short names of the months, from 1."},
	{"LOCAL-TIME:+DAY-NAMES+", namesOf(dayNames(99)), "The names of the days of the week, from Sunday."},
	{"LOCAL-TIME:+SHORT-DAY-NAMES+", namesOf(dayNames(3)), "The short names of the days of the week, from Sunday."},
	{"LOCAL-TIME:+SECONDS-PER-DAY+", Integer(86400), "Seconds of a day."},
	{"LOCAL-TIME:+SECONDS-PER-HOUR+", Integer(3600), "Seconds of an hour."},
	{"LOCAL-TIME:+SECONDS-PER-MINUTE+", Integer(60), "Seconds of a minute."},
	{"LOCAL-TIME:+MINUTES-PER-DAY+", Integer(1440), "Minutes of a day."},
	{"LOCAL-TIME:+MINUTES-PER-HOUR+", Integer(60), "Minutes of an hour."},
	{"LOCAL-TIME:+HOURS-PER-DAY+", Integer(24), "Hours of a day."},
	{"LOCAL-TIME:+DAYS-PER-WEEK+", Integer(7), "Days of a week."},
	{"LOCAL-TIME:+MONTHS-PER-YEAR+", Integer(12), "Months of a year."},
	{"STR:*IGNORE-CASE*", Nil, "Whether the case of letters does not count in tests."},
	{"STR:*OMIT-NULLS*", Nil, "Whether empty parts are left out."},
	{"STR:*ELLIPSIS*", NewString("..."), "What a string that was cut ends with."},
	{"STR:*PAD-CHAR*", Character(' '), "What strings are filled with."},
	{"STR:*PAD-SIDE*", kwRight, "Where strings are filled: :right, :left or :center."},
	{"STR:*WHITESPACES*", listOf("\b\t\n\v\f\r \x7f\u0085\u3000\u00a0"), "The characters that are trimmed."},
	{"CL-PPCRE:*ALLOW-QUOTING*", Nil, `Whether \Q and \E quote what stands between them in a pattern.`},
	{"CL-PPCRE:*ALLOW-NAMED-REGISTERS*", Nil, "Whether patterns may have (?<name>…) and \\k<name>."},
	{"CL-PPCRE:*REGEX-CHAR-CODE-LIMIT*", int64(0x110000), "Not used: patterns take any character."},
	{"CL-PPCRE:*USE-BMH-MATCHERS*", Nil, "Not used: there is one way of searching."},
	{"CL-PPCRE:*OPTIMIZE-CHAR-CLASSES*", Nil, "Not used: there is one kind of character classes."},
	{"CL-PPCRE:*LOOK-AHEAD-FOR-SUFFIX*", T, "Not used: there is one way of searching."},
}

// namesOf is a vector of names.
func namesOf(names []string) Value {
	var elements []Value
	for _, name := range names {
		elements = append(elements, NewString(name))
	}
	return newVector(elements)
}

// monthNames are the names of months from 1, at most length letters of each.
func monthNames(length int) []string {
	names := []string{""}
	for month := time.January; month <= time.December; month++ {
		names = append(names, month.String()[:min(length, len(month.String()))])
	}
	return names
}

// dayNames are those of the days of the week from Sunday.
func dayNames(length int) []string {
	var names []string
	for day := time.Sunday; day <= time.Saturday; day++ {
		names = append(names, day.String()[:min(length, len(day.String()))])
	}
	return names
}

// listOf is a list of characters.
func listOf(characters string) Value {
	var list builder
	for _, r := range characters {
		list.add(Character(r))
	}
	return list.list()
}

// named is the symbol of that name as the value of a variable.
type named string

// addLibraryVariables adds them to the language.
func (l *language) addLibraryVariables() {
	for _, v := range libraryVariables {
		if name, ok := v.value.(named); ok {
			v.value = l.symbol(string(name))
		}
		l.variables[l.symbol(v.name)] = standardVariable{value: v.value, doc: v.doc}
	}
}
