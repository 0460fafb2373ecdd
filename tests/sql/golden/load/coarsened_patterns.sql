-- title: The records without the values that make their pattern of missing values a rare one
-- source: Hundepool et al. (2012), local suppression; which records of a pattern lose values is drawn by a keyed hash
-- reads: relation (with record and pattern), moves (pattern, stratum, seats from first_seat to last_seat, coarsened)
-- returns: row_id, record, the columns, the others, pattern: what a record lacks now
-- params: relation, moves, columns (in the order of the pattern), others, by, stream (variable with the key)
WITH numbered AS (
  SELECT
    *,
    dense_rank() OVER (ORDER BY "land", true) - 1 AS stratum
  FROM "staging"."patterns"
),
seated AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY pattern, stratum
      ORDER BY sha256(concat(getvariable('sqlmicro_order'), ' ', hash(getvariable('sqlmicro_order'), record))), row_id) AS seat
  FROM numbered
),
decided AS (
  SELECT
    s.*,
    coalesce(m.coarsened, s.pattern) AS bits
  FROM seated AS s
  LEFT JOIN "staging"."moves" AS m
    ON s.pattern = m.pattern AND s.stratum = m.stratum AND s.seat BETWEEN m.first_seat AND m.last_seat
)
SELECT
  row_id
  , record
  , CASE WHEN substr(bits, 1, 1) = '0' THEN "x" END AS "x"
  , CASE WHEN substr(bits, 2, 1) = '0' THEN "y" END AS "y"
  , "net ""income"""
  , "land"
  , bits AS pattern
FROM decided
