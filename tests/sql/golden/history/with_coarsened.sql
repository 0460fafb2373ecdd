-- title: The records of a night of a series, without values that were taken out of some who have waited
-- source: sqlmicro, --nulls pattern
-- reads: relation, coarsened (both with pattern: which columns a record lacks)
-- returns: row_id, record, the columns, pattern
-- params: relation, coarsened, columns
SELECT row_id, record, "c1", "c2", pattern
FROM "staging"."relation"
ANTI JOIN "staging"."coarsened" USING (row_id)
UNION ALL
SELECT row_id, record, "c1", "c2", pattern
FROM "staging"."coarsened"
