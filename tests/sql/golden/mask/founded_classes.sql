-- title: The values of the classes that are opened: those of their founders, who are alike
-- source: sqlmicro
-- reads: founders (row_id, label), relation
-- returns: label, the columns
-- params: founders, relation, columns
SELECT DISTINCT
  f.label
  , r."town"
FROM "staging"."founders" AS f
JOIN "staging"."night" AS r USING (row_id)
