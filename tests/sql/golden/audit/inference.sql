-- title: How often a column is guessed right from all others, of persons who are alone in these
-- source: sqlmicro: whoever knows all other values of somebody who is unique in them looks them up in the release, and takes
--   the value that stands there, if exactly one does
-- reads: released, original (cells)
-- returns: one row: guesses, right_guesses, commonest (the share of the records with the commonest value)
-- params: released, original, column, others
WITH alone AS (
  SELECT "b", min("a") AS "a"
  FROM "staging"."original"
  GROUP BY "b"
  HAVING sum(records) = 1
),
shown AS (
  SELECT "b", min("a") AS "a"
  FROM "staging"."released"
  GROUP BY "b"
  HAVING count(*) = 1
)
SELECT
  count(*) AS guesses,
  count(*) FILTER (WHERE a."a" IS NOT DISTINCT FROM s."a") AS right_guesses,
  (
    SELECT CAST(max(n) AS DOUBLE) / sum(n)
    FROM (SELECT sum(records) AS n FROM "staging"."original" GROUP BY "a") AS by_value
  ) AS commonest
FROM alone AS a
JOIN shown AS s
  ON a."b" IS NOT DISTINCT FROM s."b"
