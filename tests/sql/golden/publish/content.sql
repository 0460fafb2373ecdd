-- title: What a table holds, as two numbers that do not depend on the order of its records
-- source: Bellare & Micciancio (1997): a hash of a set is the sum of the hashes of its members; here of DuckDB's 64-bit
--   hash of a record, so that it tells of a change, not of a forgery. Hashed is what is told apart in the output:
--   -0.0 and 0.0, 1 month and 30 days; of an ENUM the label, not its number
-- reads: relation
-- returns: how many records there are, and the sum of their hashes
-- params: relation, plain, floats, nested (floating-point numbers within), texts
SELECT
  count(*) AS records
  , sum(CAST(hashed AS HUGEINT)) AS hashes
FROM (
  SELECT hash(
    "x",
    "net",
    true) AS hashed
  FROM "staging"."relation")
