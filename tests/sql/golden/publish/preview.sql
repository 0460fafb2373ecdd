-- title: Some records of a release, of those that share the values of every class with at least k - 1 others
-- source: sqlmicro: a keyed hash draws them, in another order than that of the release
-- reads: released
-- returns: the columns of the release; size, of the smallest class of the record
-- params: released, classes (pairs of columns and k), most
WITH counted AS (
  SELECT
    row_id
    , count(*) OVER (PARTITION BY "sex", "age") AS size_1
    , count(*) OVER (PARTITION BY "x") AS size_2
  FROM "staging"."released"
), drawn AS (
  SELECT
    row_id,
    least(size_1, size_2) AS size
  FROM counted
  WHERE true
    AND size_1 >= 2
    AND size_2 >= 2
  ORDER BY sha256(concat(getvariable('sqlmicro_order'), ' preview ', row_id))
  LIMIT 10
)
SELECT
  r.*,
  size
FROM "staging"."released" AS r
JOIN drawn USING (row_id)
