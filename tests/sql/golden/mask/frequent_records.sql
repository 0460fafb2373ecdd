-- title: The records whose combination occurs at least k times
-- source: Samarati (2001): the others are suppressed
-- reads: relation
-- returns: row_id
-- params: relation, columns, k
SELECT row_id
FROM "staging"."values"
QUALIFY count(*) OVER (PARTITION BY "net ""income""", "x") >= 2
