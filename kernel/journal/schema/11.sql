-- Schema 11: requests to models that go on from earlier ones.
--
-- No table changes. The data of a row of the kind model-request may have "Base", the row of an
-- earlier request, "Same", how many of its messages come first, and "SameSystem": what they say
-- is not written again (request.go). A program that does not know of this must not read them.
SELECT 1;
