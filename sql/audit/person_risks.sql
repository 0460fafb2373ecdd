-- title: The risk of every person, beside the household she belongs to
-- source: Templ, Kowarik & Meindl (2015), sdcMicro: hierarchical risk; sqlmicro: of several records of a person the one at
--   the largest risk counts
-- reads: relation (records), classes (measure)
-- returns: the household, measure
-- params: relation, classes, columns, person, household
SELECT
  {{ household | listed("r.{}") }},
  max(c.measure) AS measure
FROM {{ relation | ident }} AS r
JOIN {{ classes | ident }} AS c ON {{ columns | same("r", "c") }}
GROUP BY {{ person | listed("r.{}") }}, {{ household | listed("r.{}") }}
