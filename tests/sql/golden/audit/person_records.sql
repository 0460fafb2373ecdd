-- title: The records as an audit of persons sees them: one for every person and combination of values
-- source: sqlmicro: a person with several records must not make a class look larger. NULL is a value of its own: all
--   records that say of nobody whose they are, are one person. Where weights of a person differ within a class the least
--   counts: no class looks larger than it is; one that is missing, NaN or infinite is none. GROUP BY ALL would ignore the
--   collation of a person
-- reads: relation (records)
-- returns: the columns, those of the person, the weight
-- params: relation, columns, person, weights
SELECT
  "a",
  "p"
FROM "staging"."records"
GROUP BY "a", "p"
