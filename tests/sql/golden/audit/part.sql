-- title: Some of the records, by a hash of all their values
-- source: sqlmicro: a model is fitted on some of three parts, and tells the others; equal records are in one part
-- reads: relation
-- returns: the columns, under their own names
-- params: relation, columns, parts
SELECT "x"
FROM "staging"."relation"
WHERE list_contains([0, 1, 2], hash("x") % 3)
