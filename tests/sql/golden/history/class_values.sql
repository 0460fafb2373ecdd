-- title: The sensitive values that every class of a release has, as keyed hashes
-- source: sqlmicro: what the classes of later releases of the same people are compared with
-- reads: classed, records (as they are published)
-- returns: column_name (of the sensitive column), class, value
-- params: stream (variable with the key), classed, records, sensitive (columns)
SELECT DISTINCT
  column_name,
  class,
  CAST(concat('0x', substr(sha256(concat(getvariable('sqlmicro_order'), ' ', text)), 1, 15)) AS BIGINT) AS value
FROM (
  SELECT
    'net "income"' AS column_name,
    c.class,
    coalesce('=' || CAST(r."net ""income""" AS VARCHAR), '') AS text
  FROM "staging"."classed" AS c
  JOIN "staging"."records" AS r ON c.row_id = r.row_id
)
