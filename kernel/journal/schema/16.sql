-- Schema 16: no count is one that no reply can have had. Servers sent such counts, and SQLite could not add
-- them up.

UPDATE usage SET input = 0, output = 0, cost = NULL
    WHERE input NOT BETWEEN 0 AND 100000000 OR output NOT BETWEEN 0 AND 100000000 OR cost NOT BETWEEN 0 AND 1000000;

UPDATE completion SET input = 0, output = 0, cost = NULL
    WHERE input NOT BETWEEN 0 AND 1000000000000 OR output NOT BETWEEN 0 AND 1000000000000 OR cost NOT BETWEEN 0 AND 1000000000;
