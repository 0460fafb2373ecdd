-- title: The median of one ordinal column in every group: a value that occurs
-- source: Domingo-Ferrer & Torra (2005); of two middle values the lower. A group has no value where most of its records
--   have none (--nulls keep)
-- reads: grouped
-- returns: label, the column
-- params: grouped, column, type (that has the order)
SELECT
  label,
  CASE WHEN 2 * count("grade") OVER (PARTITION BY label) >= count(*) OVER (PARTITION BY label) THEN
    "grade"
  END AS "grade"
FROM "staging"."grouped"
QUALIFY row_number() OVER (
    PARTITION BY label ORDER BY CAST("grade" AS ENUM('low', 'mid', 'high')) NULLS LAST, "grade")
  = greatest(1, (count("grade") OVER (PARTITION BY label) + 1) // 2)
