-- title: Where the tail of every stratum begins: at the value of the record that is so many places from the end
-- source: Hundepool et al. (2012), top and bottom coding
-- reads: relation
-- returns: the strata, threshold; a stratum with fewer values has none
-- params: relation, by, column, count, top
WITH placed AS (
  SELECT
    {{ by | listed("{}, ") }}
    {{ column | ident }} AS threshold,
    row_number() OVER (
      PARTITION BY {{ by | listed("{}, ") }}true
      ORDER BY {{ column | ident }}) AS position,
    count(*) OVER (PARTITION BY {{ by | listed("{}, ") }}true) AS n
  FROM {{ relation | ident }}
  WHERE {{ column | ident }} IS NOT NULL
)
SELECT
  {{ by | listed("{}, ") }}
  threshold
FROM placed
WHERE CASE WHEN {{ top | lit }} THEN n - position + 1 ELSE position END = {{ count | lit }}
