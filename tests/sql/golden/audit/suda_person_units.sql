-- title: What SUDA gives a score where persons are counted: every combination of values that a person has
-- source: Elliot, Manning & Ford (2002); sqlmicro: a person is unique in columns if nobody else has the same values there,
--   however many of her own records have them
-- reads: persons (a record for every person and class)
-- returns: cell (its number), owner (the number of the person), the columns, records (1)
-- params: persons, columns, person
SELECT
  row_number() OVER () AS cell,
  dense_rank() OVER (ORDER BY "p") AS owner,
  "a", "b",
  1 AS records
FROM "staging"."persons"
