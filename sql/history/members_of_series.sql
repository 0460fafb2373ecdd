-- title: The classes of an epoch of a series that the persons of its last night were ever in
-- source: sqlmicro; who moves has been in several
-- reads: classes (who, class, value), memory (release, who, class, value)
-- returns: who, class, value
-- params: classes, memory, last (release of the night before, 0 for none)
SELECT who, class, value FROM {{ classes | ident }}
UNION
SELECT m.who, m.class, m.value
FROM {{ memory | ident }} AS m
SEMI JOIN {{ classes | ident }} AS c USING (who)
WHERE m.release = {{ last | lit }}
