-- title: Whose every record is
-- source: sqlmicro: records that say of nobody whose they are, are one person
-- reads: relation (values)
-- returns: person (a number from 0), in the order of the table
-- params: relation, person
SELECT person
FROM (
  SELECT
    position,
    dense_rank() OVER (ORDER BY "person_1", "person_2") - 1 AS person
  FROM (SELECT *, row_number() OVER () AS position FROM "staging"."released"))
ORDER BY position
