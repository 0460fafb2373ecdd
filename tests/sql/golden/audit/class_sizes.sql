-- title: How many equivalence classes of each size there are
-- source: Samarati & Sweeney (1998): a table is k-anonymous if every combination of quasi-identifiers occurs k times.
--   Classes are formed on canonical bytes: what is told apart in the output is told apart here (collations,
--   -0.0 and 0.0, the payloads of NaN, 1 month and 30 days); NULL is a value of its own
-- reads: relation
-- returns: size, classes
-- params: relation, plain, collated, floats, nested (floating-point numbers within), others
SELECT
  size,
  count(*) AS classes
FROM (
  SELECT
    "name" AS plain_1,
    "net ""income""" AS plain_2,
    count(*) AS size
  FROM "staging"."released"
  GROUP BY ALL)
GROUP BY size
ORDER BY size
