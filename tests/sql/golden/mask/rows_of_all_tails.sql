-- title: The records that are known in all columns, where every tail that they are in has k records
-- source: sqlmicro
-- reads: relation, a relation per column (row_id, in_tail, n)
-- returns: row_id
-- params: relation, tails (alias, relation), k
SELECT r.row_id
FROM "staging"."typed" AS r
JOIN "staging"."one" AS "t1"
  ON "t1".row_id = r.row_id AND (NOT "t1".in_tail OR "t1".n >= 2)
JOIN "staging"."two" AS "t2"
  ON "t2".row_id = r.row_id AND (NOT "t2".in_tail OR "t2".n >= 2)
