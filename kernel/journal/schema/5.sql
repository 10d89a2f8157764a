-- Schema 5: the index of words can be asked for one stretch of time after the other.

-- As in schema 2, and "place" also has the words of the row's eras (era.go). All words
-- there begin with U+E000, which no word of a text does. The beginnings of up to five
-- letters are indexed: others have few words. (An index of schema 2 that is not empty was put
-- aside before: to drop a large one takes seconds.)
DROP TABLE IF EXISTS search;
CREATE VIRTUAL TABLE search USING fts5(
    words, place,
    content = '', prefix = '1 2 3 4 5', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);
