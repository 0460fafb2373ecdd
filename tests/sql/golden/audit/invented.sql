-- title: How many rare combinations a release shows, and how many of these never occurred
-- source: sqlmicro: what fewer than k records of the original have can be denied if others like it were invented
-- reads: released, original (cells)
-- returns: one row: rare (shown combinations that fewer than k records of the original have), invented (that none has),
--   exactly (that k records of the release have), exactly_invented, uniques (of the original), uniques_shown
-- params: released, original, columns, k
SELECT
  count(*) FILTER (WHERE coalesce(o.records, 0) < 3) AS rare,
  count(*) FILTER (WHERE o.records IS NULL) AS invented,
  count(*) FILTER (WHERE r.records = 3) AS exactly,
  count(*) FILTER (WHERE r.records = 3 AND o.records IS NULL) AS exactly_invented,
  (SELECT count(*) FILTER (WHERE records = 1) FROM "staging"."original") AS uniques,
  count(*) FILTER (WHERE o.records = 1) AS uniques_shown
FROM "staging"."released" AS r
LEFT JOIN "staging"."original" AS o
  ON r."a" IS NOT DISTINCT FROM o."a" AND r."b" IS NOT DISTINCT FROM o."b"
