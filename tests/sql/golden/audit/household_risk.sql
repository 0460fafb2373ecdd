-- title: The risk that anybody of a household is re-identified
-- source: Templ, Kowarik & Meindl (2015), sdcMicro: 1 - the product of 1 - r over the members; whoever is found gives the
--   others away. Of a person with several records the largest r counts; who is in no household is a household alone
-- reads: members (the person, the household, measure: the risk of a record)
-- returns: the household, n (the number of whoever is in none, else NULL), records (members of the household: persons, or
--   records where these are counted), measure
-- params: members, household
SELECT
  "h", "i",
  n,
  count(*) AS records,
  CASE WHEN max(measure) >= 1 THEN 1 ELSE 1 - exp(sum(ln(nullif(1 - least(measure, 1), 0)))) END AS measure
FROM (
  SELECT
    "h", "i",
    measure,
    CASE WHEN true AND "h" IS NULL AND "i" IS NULL THEN row_number() OVER () END AS n
  FROM "staging"."members")
GROUP BY "h", "i", n
