-- Schema 14: the decision "always" is a row of policy.org, not one of this file.

-- What was always allowed before, one row for each action: seq is the latest such decision. A row goes
-- when the person has kept the decision as a rule, or dropped it.
CREATE TABLE always_before (
    hash TEXT    PRIMARY KEY,
    seq  INTEGER NOT NULL REFERENCES ask
) STRICT;

INSERT INTO always_before (hash, seq)
    SELECT hash, max(seq) FROM ask WHERE decision = 'allow-always' AND edited = '' AND hash <> '' GROUP BY hash;

-- The verdicts that rules of policy.org decided, which are counted for each rule.
CREATE INDEX journal_rules ON journal (time) WHERE kind = 'verdict' AND instr(data, '"rules":') > 0;
