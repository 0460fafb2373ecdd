-- title: The classes of an epoch of a series that the persons of its last night were ever in
-- source: sqlmicro; who moves has been in several
-- reads: classes (who, class), memory (release, who, class)
-- returns: who, class
-- params: classes, memory, last (release of the night before, 0 for none)
SELECT who, class FROM "staging"."classes"
UNION
SELECT m.who, m.class
FROM "staging"."memory" AS m
SEMI JOIN "staging"."classes" AS c USING (who)
WHERE m.release = 4
