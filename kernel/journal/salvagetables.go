package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/journal/pages"
)

// salvage copies rows from pages into the tables of a new database.
type salvage struct {
	tx      *writer
	reader  *pages.Reader
	version int
	tables  []salvageTable
}

// salvageTable is a table of the new database. Columns are in the order of its records.
type salvageTable struct {
	name    string
	columns []salvageColumn
	index   bool // its rows are the entries of an index: it has no rowid
}

type salvageColumn struct {
	name     string
	kind     string
	nullable bool
	number   bool // it is the rowid, which is not in the record
}

// copyTables copies all rows that a tree leads to. Then it copies those of pages that no tree leads to,
// because a page above them is damaged: a row fits the table that has such columns. Rows of the
// journal come first, because the tables refer to them.
func (s *salvage) copyTables(ctx context.Context) error {
	if err := s.readTables(ctx); err != nil {
		return err
	}
	if s.version >= 17 { // with the rows of the damaged journal comes its identity
		if _, err := s.tx.ExecContext(ctx, "DELETE FROM identity"); err != nil {
			return err
		}
	}
	roots := map[string]uint32{}
	for _, t := range s.reader.Tables() {
		roots[t.Name] = t.Root
	}
	var astray []pages.Row // a damaged page leads from a tree to the pages of another one
	for _, t := range s.tables {
		root, ok := roots[t.name]
		if !ok {
			continue
		}
		for row := range s.reader.Tree(root) {
			if t.fits(row) {
				s.put(ctx, t, row)
			} else {
				astray = append(astray, row)
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	for _, record := range []bool{true, false} {
		for _, row := range astray {
			s.putLone(ctx, row.Number == 0, row, record)
		}
		for leaf := range s.reader.Rest() {
			for _, row := range leaf.Rows {
				s.putLone(ctx, leaf.Index, row, record)
			}
		}
	}
	return s.finish(ctx)
}

// finish writes what the pages had not: an identity, and that the index of words is to be made.
func (s *salvage) finish(ctx context.Context) error {
	var statements []string
	if s.version >= 17 {
		statements = append(statements, "INSERT INTO identity (id, made) SELECT lower(hex(randomblob(16))), coalesce(min(time), 0) FROM journal WHERE NOT EXISTS (SELECT 1 FROM identity)")
	}
	if s.version >= 8 {
		statements = append(statements, "DELETE FROM indexing", "INSERT INTO indexing (until, began) SELECT max(seq) + 1, max(seq) + 1 FROM journal HAVING max(seq) > 0")
	}
	for _, statement := range statements {
		if _, err := s.tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// readTables reads which tables the new database has, without the index of words and its state, which
// are made again.
func (s *salvage) readTables(ctx context.Context) error {
	type listed struct {
		name  string
		index bool
	}
	tables, err := collect(ctx, s.tx, func(row scanner) (l listed, err error) { return l, row.Scan(&l.name, &l.index) },
		`SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name <> 'indexing' AND substr(name, 1, 7) <> 'sqlite_'
			ORDER BY name <> 'journal', name`)
	if err != nil {
		return err
	}
	for _, l := range tables {
		t := salvageTable{name: l.name, index: l.index}
		type column struct {
			salvageColumn
			key int
		}
		columns, err := collect(ctx, s.tx, func(row scanner) (c column, err error) {
			var notNull bool
			err = row.Scan(&c.name, &c.kind, &notNull, &c.key)
			c.nullable = !notNull && (c.key == 0 || !l.index)
			return c, err
		}, `SELECT name, upper(type), "notnull", pk FROM pragma_table_xinfo(?) ORDER BY cid`, l.name)
		if err != nil {
			return err
		}
		if l.index { // the key comes first
			slices.SortStableFunc(columns, func(a, b column) int { return cmp.Compare(cmp.Or(a.key, 1<<10), cmp.Or(b.key, 1<<10)) })
		}
		for _, c := range columns {
			c.number = !l.index && c.key == 1 && c.kind == "INTEGER"
			t.columns = append(t.columns, c.salvageColumn)
		}
		s.tables = append(s.tables, t)
	}
	return nil
}

// fits reports whether the table can have the row. A row from before a column was added is shorter.
func (t salvageTable) fits(row pages.Row) bool {
	if len(row.Values) > len(t.columns) || row.Loose && len(row.Values) < len(t.columns) {
		return false
	}
	for i, value := range row.Values {
		if !t.columns[i].takes(value) {
			return false
		}
	}
	if t.name == "journal" { // a part of its text may have been overwritten
		data, _ := row.Values[len(row.Values)-1].(string)
		return len(row.Values) == len(t.columns) && json.Valid([]byte(data))
	}
	return true
}

func (c salvageColumn) takes(value any) bool {
	switch value := value.(type) {
	case nil:
		return c.nullable || c.number
	case int64:
		if c.number { // the record has NULL in the place of the rowid; a bit of it that changed makes it 0
			return value == 0
		}
		return c.kind == "INTEGER" || c.kind == "REAL"
	case float64:
		return c.kind == "REAL"
	case string:
		return c.kind == "TEXT" && utf8.ValidString(value)
	}
	return c.kind == "BLOB"
}

// put writes a row. A row that the table refuses, or has, is left out.
func (s *salvage) put(ctx context.Context, t salvageTable, row pages.Row) {
	names := make([]string, len(row.Values))
	values := make([]any, len(row.Values))
	for i, value := range row.Values {
		names[i], values[i] = t.columns[i].name, value
		if t.columns[i].number {
			values[i] = row.Number
		}
	}
	query := fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (?%s)", t.name, strings.Join(names, ", "), strings.Repeat(", ?", len(names)-1))
	_, _ = s.tx.ExecContext(ctx, query, values...) // what it refuses was no row of it
}

// putLone writes a row from a page that no tree leads to. With record it takes only rows of the journal
// itself, otherwise only others.
func (s *salvage) putLone(ctx context.Context, index bool, row pages.Row, record bool) {
	var fitting []salvageTable
	for _, t := range s.tables {
		if t.index == index && t.fits(row) && (len(row.Values) == len(t.columns) || !index && len(row.Values) > 2) {
			fitting = append(fitting, t)
		}
	}
	if len(fitting) > 1 { // such as a steer and a rename: the journal's row says which it is
		var kind string
		if s.tx.QueryRowContext(ctx, "SELECT kind FROM journal WHERE seq = ?", row.Number).Scan(&kind) != nil {
			return
		}
		fitting = slices.DeleteFunc(fitting, func(t salvageTable) bool { return t.name != kind })
	}
	if len(fitting) == 1 && (fitting[0].name == "journal") == record {
		s.put(ctx, fitting[0], row)
	}
}
