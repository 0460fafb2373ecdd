-- title: How far the distribution of every nominal column in the release is from that in the original
-- source: Hellinger (1909): sqrt(1/2 sum (sqrt p - sqrt q)^2), from 0 to 1; NULL counts as a value
-- reads: original, released (values)
-- returns: column_name, distance
-- params: original, released, columns
SELECT
  'g' AS column_name,
  sqrt(greatest(0, sum((sqrt(before / (SELECT count(*) FROM "staging"."original"))
    - sqrt(after / (SELECT count(*) FROM "staging"."released"))) ** 2) / 2)) AS distance
FROM (
  SELECT "g", sum(before) AS before, sum(after) AS after
  FROM (
    SELECT "g", 1 AS before, 0 AS after FROM "staging"."original"
    UNION ALL
    SELECT "g", 0, 1 FROM "staging"."released")
  GROUP BY "g")
UNION ALL
SELECT
  'name' AS column_name,
  sqrt(greatest(0, sum((sqrt(before / (SELECT count(*) FROM "staging"."original"))
    - sqrt(after / (SELECT count(*) FROM "staging"."released"))) ** 2) / 2)) AS distance
FROM (
  SELECT "name", sum(before) AS before, sum(after) AS after
  FROM (
    SELECT "name", 1 AS before, 0 AS after FROM "staging"."original"
    UNION ALL
    SELECT "name", 0, 1 FROM "staging"."released")
  GROUP BY "name")
