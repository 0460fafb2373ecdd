-- title: The classes of the persons of a night of a series, and what the means of these have of them
-- source: sqlmicro; a mean has what its founders had when they founded it, and nothing of who came later
-- reads: classes (who, class, value: -1 of who founds none tonight), memory (release, who, class, value)
-- returns: who, class, value
-- params: classes, memory, last (release of the night before)
SELECT c.who, c.class, CASE WHEN c.value = -1 THEN coalesce(m.value, -1) ELSE c.value END AS value
FROM {{ classes | ident }} AS c
LEFT JOIN (SELECT who, class, value FROM {{ memory | ident }} WHERE release = {{ last | lit }}) AS m USING (who, class)
