package memory

import "time"

// BeginRefresh counts a call of [Index.Refresh] as running until end is called. No door of the
// package keeps one running for as long as a test needs.
func (x *Index) BeginRefresh() (end func()) {
	x.refreshing.Add(1)
	return func() { x.refreshing.Add(-1) }
}

// The text functions of records are tested with thousands of drawn texts. A [Store] would write
// every one to the disk and to the journal.

// AddRecord is addRecord.
func AddRecord(text string, r Record) string { return addRecord(text, r) }

// OwnRecord is own.
func OwnRecord(text, id string, place *time.Location) (Record, error) { return own(text, id, place) }

// UpdateRecord is updateRecord.
func UpdateRecord(text string, r Record, place *time.Location) (after string, was Record, err error) {
	return updateRecord(text, r, place)
}

// RemoveRecord is removeRecord.
func RemoveRecord(text, id string, place *time.Location) (after string, was Record, err error) {
	return removeRecord(text, id, place)
}
