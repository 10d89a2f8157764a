-- Schema 15: a read-only set of rules is offered once for each project.

-- The projects with a decision on an approval that offered the set.
CREATE TABLE reading_decided (
    directory TEXT PRIMARY KEY
) STRICT;
