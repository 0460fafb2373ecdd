-- title: How many records of every stratum are drawn
-- source: proportional allocation by largest remainder (Hamilton): a stratum gets the whole part of size x its share,
--   the records left over go to the strata with the largest remainders, then the larger, then the first ones
-- reads: relation
-- returns: the strata, records, size, high: the draws of 60 bits below which the sample is to be looked for; fewer of a
--   stratum are there with a probability of less than exp(-72) (Chernoff)
-- params: relation, by, size
WITH strata AS (
  SELECT
    {{ by | listed("{}, ") }}
    count(*) AS records
  FROM {{ relation | ident }}
  GROUP BY ALL
),
shares AS (
  SELECT
    *,
    sum(records) OVER () AS total,
    CAST({{ size | lit }} AS HUGEINT) * records % total AS remainder,
    CAST({{ size | lit }} AS HUGEINT) * records // total AS place
  FROM strata
)
SELECT
  {{ by | listed("{}, ") }}
  records,
  CAST(place + CASE
    WHEN row_number() OVER (
      ORDER BY remainder DESC, records DESC{{ by | listed(", {}") }})
      <= {{ size | lit }} - sum(place) OVER () THEN 1
    ELSE 0
  END AS BIGINT) AS size,
  CAST(least(1, (size + 12 * sqrt(size) + 144) / records) * 1152921504606846976e0 AS BIGINT) AS high
FROM shares
