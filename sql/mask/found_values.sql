-- title: The values that a hierarchy has
-- source: sqlmicro
-- reads: ladder (value, found, …)
-- returns: the columns of the ladder
-- params: ladder
SELECT l.*
FROM {{ ladder | ident }} AS l
WHERE l.found
