-- title: What tells the classes of a series apart
-- source: sqlmicro; classes with the same values look like one
-- reads: opened (class, column_name, value as text)
-- returns: in the order of class: class, combination
-- params: opened
SELECT
  class,
  CAST(hash(list(coalesce('=' || value, '') ORDER BY column_name)) >> 1 AS BIGINT) AS combination
FROM "staging"."opened"
GROUP BY class
ORDER BY class
