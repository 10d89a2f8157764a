-- Counts as schema 15 took them from servers: of two turns in one conversation, and of completions.
INSERT INTO journal VALUES (1, 5, 'event', 'main', 't1', 'q1', '{"sensor":"chat-message","level":1,"text":"one"}');
INSERT INTO session (name, turns, updated, first) VALUES ('main', 2, 5, 1);
INSERT INTO turn (seq, id, session, event, queue, state, attempt, accepted, started, stamp) VALUES (1, 't1', 'main', 'q1', 1, 'answered', 1, 5, 6, 'now');
INSERT INTO journal VALUES (2, 6, 'event', 'main', 't2', 'q2', '{"sensor":"chat-message","level":1,"text":"two"}');
INSERT INTO turn (seq, id, session, event, queue, state, attempt, accepted, started, stamp) VALUES (2, 't2', 'main', 'q2', 2, 'answered', 1, 6, 7, 'now');
INSERT INTO journal VALUES (3, 7, 'usage', 'main', 't1', '', '{"input":9223372036854775807,"output":9223372036854775807}');
INSERT INTO usage VALUES (3, 't1', 'm', 7, 9223372036854775807, 9223372036854775807, NULL);
INSERT INTO journal VALUES (4, 7, 'usage', 'main', 't1', '', '{"input":9223372036854775807,"output":9223372036854775807}');
INSERT INTO usage VALUES (4, 't1', 'm', 7, 9223372036854775807, 9223372036854775807, 0.25);
INSERT INTO journal VALUES (5, 8, 'usage', 'main', 't2', '', '{"input":100,"output":-7,"cost":-99.5}');
INSERT INTO usage VALUES (5, 't2', 'm', 8, 100, -7, -99.5);
INSERT INTO journal VALUES (6, 8, 'usage', 'main', 't2', '', '{"input":1000,"output":20,"cost":0.5}');
INSERT INTO usage VALUES (6, 't2', 'm', 8, 1000, 20, 0.5);
INSERT INTO completion VALUES (5, 'm', 2, 0, 9223372036854775807, 1, NULL);
INSERT INTO completion VALUES (6, 'm', 3, 3, 300, 30, 0.125);
