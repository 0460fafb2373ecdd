-- title: The persons of every cell, with the number of their records in it
-- source: sqlmicro: how many classes of k persons there can be depends on nothing else
-- reads: relation, cells, members (row_id, counted: the number of the person)
-- returns: in the order of cell and person: cell, person, n
-- params: relation, cells, members, columns
SELECT
  c.cell,
  p.counted AS person,
  count(*) AS n
FROM {{ relation | ident }} AS r
JOIN {{ cells | ident }} AS c
  ON {{ columns | same("r", "c") }}
JOIN {{ members | ident }} AS p
  ON r.row_id = p.row_id
GROUP BY c.cell, p.counted
ORDER BY c.cell, p.counted
