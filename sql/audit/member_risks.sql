-- title: The risk of every record, beside the household it belongs to
-- source: Templ, Kowarik & Meindl (2015), sdcMicro: hierarchical risk
-- reads: relation (records), classes (measure)
-- returns: the household, measure
-- params: relation, classes, columns, household
SELECT
  {{ household | listed("r.{}") }},
  c.measure
FROM {{ relation | ident }} AS r
JOIN {{ classes | ident }} AS c ON {{ columns | same("r", "c") }}
