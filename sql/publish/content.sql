-- title: What a table holds, as two numbers that do not depend on the order of its records
-- source: Bellare & Micciancio (1997): a hash of a set is the sum of the hashes of its members; here of DuckDB's 64-bit
--   hash of a record, so that it tells of a change, not of a forgery
-- reads: relation
-- returns: how many records there are, and the sum of their hashes
-- params: relation, columns
SELECT
  count(*) AS records
  , sum(CAST(hash({{ columns | idents }}) AS HUGEINT)) AS hashes
FROM {{ relation | ident }}
