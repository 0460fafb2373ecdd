-- title: How often the rarest of some combinations of values occurs
-- source: Samarati & Sweeney (1998): a combination that occurs once makes k 1, whatever the others do
-- reads: relation
-- returns: one row: rarest (NULL for a table without records)
-- params: relation, columns, most (records whose combination is looked at)
WITH looked_at AS (
  SELECT DISTINCT "x", "name"
  FROM (
    SELECT "x", "name"
    FROM "staging"."records"
    LIMIT 9)
)
SELECT min(records) AS rarest
FROM (
  SELECT count(*) AS records
  FROM "staging"."records" AS r
  JOIN looked_at AS l
    ON r."x" IS NOT DISTINCT FROM l."x" AND r."name" IS NOT DISTINCT FROM l."name"
  GROUP BY l."x", l."name")
