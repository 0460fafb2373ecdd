-- title: The values that a hierarchy has
-- source: sqlmicro
-- reads: ladder (value, found, …)
-- returns: the columns of the ladder
-- params: ladder
SELECT l.*
FROM "staging"."ladder" AS l
WHERE l.found
