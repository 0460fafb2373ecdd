-- title: The records whose class has at least k of them
-- source: sqlmicro
-- reads: classes (row_id, n)
-- returns: row_id
-- params: classes, k
SELECT c.row_id
FROM "staging"."classes" AS c
WHERE c.n >= 2
