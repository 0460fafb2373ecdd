-- title: How many values of every column of a release its original does not have
-- source: sqlmicro: a column whose values all occur in the original is released with original values, not with averages
-- reads: released, original (cells)
-- returns: one row: records (combinations of the release), a number per column; NULL is a value
-- params: released, original, columns
SELECT
  (SELECT count(*) FROM "staging"."released") AS records
  , (SELECT count(*) FROM (
      SELECT "a" FROM "staging"."released"
      EXCEPT
      SELECT "a" FROM "staging"."original"
    ) AS foreign_1) AS "a"
  , (SELECT count(*) FROM (
      SELECT "b" FROM "staging"."released"
      EXCEPT
      SELECT "b" FROM "staging"."original"
    ) AS foreign_2) AS "b"
