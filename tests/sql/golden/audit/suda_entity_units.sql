-- title: What SUDA gives a score where entities are counted: every combination of values that an entity has
-- source: Elliot, Manning & Ford (2002); sqlmicro: a person is unique in columns if nobody else has the same values there,
--   however many of her own records have them
-- reads: relation (records)
-- returns: cell (its number), entity (a number; a record without one is an entity of its own), the columns, records (1)
-- params: relation, columns, entity
SELECT
  row_number() OVER () AS cell,
  CASE WHEN n IS NULL THEN dense_rank() OVER (ORDER BY entity) ELSE -n END AS entity,
  "a", "b",
  1 AS records
FROM (
  SELECT DISTINCT
    "a", "b",
    "p" AS entity,
    CASE WHEN "p" IS NULL THEN row_number() OVER () END AS n
  FROM "staging"."records")
