-- title: The values permuted among the records, within the given columns
-- source: Höhne's split groups; the order is a keyed hash of the record's number, so that it does not depend on threads and
--   cannot be repeated without the key
-- reads: relation (row_id, value)
-- returns: row_id, value
-- params: relation, within, column
WITH seated AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY true ORDER BY row_id) AS seat,
    row_number() OVER (
      PARTITION BY true
      ORDER BY sha256(concat(getvariable('sqlmicro_key'), ' ', 'net "income"', ' ', row_id)), row_id) AS draw
  FROM "staging"."split"
)
SELECT
  a.row_id,
  b.value
FROM seated AS a
JOIN seated AS b
  ON a.seat = b.draw
