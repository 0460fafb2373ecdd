-- title: How many groups there are, and the smallest and largest
-- source: sqlmicro
-- reads: groups
-- returns: one row: groups, smallest, largest
-- params: groups
SELECT
  count(*) AS groups,
  min(size) AS smallest,
  max(size) AS largest
FROM (SELECT count(*) AS size FROM "staging"."groups" GROUP BY label)
