-- title: The median of one ordinal column in every group: a value that occurs
-- source: Domingo-Ferrer & Torra (2005); of two middle values the lower. A group has no value where most of its records
--   have none (--nulls keep)
-- reads: grouped
-- returns: label, the column
-- params: grouped, column, type (that has the order)
SELECT
  label,
  CASE WHEN 2 * count({{ column | ident }}) OVER (PARTITION BY label) >= count(*) OVER (PARTITION BY label) THEN
    {{ column | ident }}
  END AS {{ column | ident }}
FROM {{ grouped | ident }}
QUALIFY row_number() OVER (
    PARTITION BY label ORDER BY CAST({{ column | ident }} AS {{ type | sqltype }}) NULLS LAST, {{ column | ident }})
  = greatest(1, (count({{ column | ident }}) OVER (PARTITION BY label) + 1) // 2)
