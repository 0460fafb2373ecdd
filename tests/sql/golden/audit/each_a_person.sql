-- title: Records of which each is a person
-- source: sqlmicro: a row of a table of persons stays one person, however many rows it is joined with
-- reads: relation
-- returns: the columns, and a number under the name `person`
-- params: relation, person
SELECT
  *,
  row_number() OVER () AS "person_7"
FROM "staging"."persons"
