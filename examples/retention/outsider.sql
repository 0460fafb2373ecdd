-- What somebody finds who has copied the table before and after every night, and has no other access. Run in the folder of
-- the copies, before_01.parquet, after_01.parquet, …:   duckdb < outsider.sql
-- One row: nights; rows that were there before a night and not after it, or the reverse: 0; rows that a night changed before
-- they came of age: 0; the fewest rows that took one combination of values in one night, and the fewest that have it after any
-- night: each at least k. Rows that were emptied are left out of both.
WITH before AS (
  SELECT regexp_extract(filename, '[0-9]+\.')::INTEGER AS night, * EXCLUDE (filename), true AS there
  FROM read_parquet('before_*.parquet', filename = true)
),
after AS (
  SELECT regexp_extract(filename, '[0-9]+\.')::INTEGER AS night, * EXCLUDE (filename), true AS there
  FROM read_parquet('after_*.parquet', filename = true)
),
both_ AS (
  SELECT night, id, b, a, b.there AS b_there, a.there AS a_there
  FROM before AS b FULL JOIN after AS a USING (night, id)
),
changed AS (
  SELECT night, id, a.age, a.income, a.last_visit, b.last_visit AS was, b.name IS NOT NULL AS raw
  FROM both_
  WHERE (b.name, b.age, b.income, b.last_visit) IS DISTINCT FROM (a.name, a.age, a.income, a.last_visit)
),
taken AS (
  SELECT count(*) AS n FROM changed WHERE raw AND age IS NOT NULL GROUP BY night, age, income, last_visit
),
written AS (SELECT DISTINCT age, income, last_visit FROM changed WHERE age IS NOT NULL),
held AS (SELECT count(*) AS n FROM after JOIN written USING (age, income, last_visit) GROUP BY night, age, income, last_visit)
SELECT
  (SELECT count(DISTINCT night) FROM after) AS nights,
  (SELECT count(*) FROM both_ WHERE b_there IS NULL OR a_there IS NULL) AS lost,
  (SELECT count(*) FROM changed WHERE raw AND was >= DATE '2025-12-31' + night::INTEGER - INTERVAL 2 YEAR) AS too_early,
  (SELECT min(n) FROM taken) AS fewest_at_once,
  (SELECT min(n) FROM held) AS fewest_rows;
