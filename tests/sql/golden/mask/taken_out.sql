-- title: The records, without the values of some columns where they are chosen
-- source: Templ, Kowarik & Meindl (2015), sdcMicro: local suppression by a threshold of the individual risk
-- reads: relation, chosen (row_id)
-- returns: the columns of relation
-- params: relation, chosen, columns, others
SELECT
  r.row_id,
  r.record
  , CASE WHEN c.row_id IS NULL THEN r."net ""income""" END AS "net ""income"""
  , r."town"
FROM "staging"."records" AS r
LEFT JOIN "staging"."chosen" AS c USING (row_id)
