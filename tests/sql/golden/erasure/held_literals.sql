-- title: Which of some literals occur in a column of a table, compared as text
-- source: none needed, this is counting
-- reads: relation
-- returns: literal
-- params: relation, columns, literals
SELECT DISTINCT CAST("name" AS VARCHAR) AS literal
FROM "staging"."relation"
WHERE list_contains(['Bo', '31', 'Zacharias'], CAST("name" AS VARCHAR))
UNION
SELECT DISTINCT CAST("age" AS VARCHAR) AS literal
FROM "staging"."relation"
WHERE list_contains(['Bo', '31', 'Zacharias'], CAST("age" AS VARCHAR))
