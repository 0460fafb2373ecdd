-- title: The classes of an epoch of a series that the persons of its last night were ever in
-- source: sqlmicro; who moves has been in several
-- reads: classes (who, class, value), memory (release, who, class, value)
-- returns: who, class, value
-- params: classes, memory, last (release of the night before, 0 for none)
SELECT who, class, value FROM "staging"."classes"
UNION
SELECT m.who, m.class, m.value
FROM "staging"."memory" AS m
SEMI JOIN "staging"."classes" AS c USING (who)
WHERE m.release = 4
