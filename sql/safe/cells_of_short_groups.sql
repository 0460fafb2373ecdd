-- title: The cells that have records in a group of fewer than k persons
-- source: sqlmicro
-- reads: groups (row_id, label), relation, cells, members (row_id, counted: the number of the person)
-- returns: in order: cell
-- params: groups, relation, cells, members, columns, k
WITH short_groups AS (
  SELECT g.label
  FROM {{ groups | ident }} AS g
  JOIN {{ members | ident }} AS p
    ON g.row_id = p.row_id
  GROUP BY g.label
  HAVING count(DISTINCT p.counted) < {{ k | lit }}
)
SELECT DISTINCT c.cell
FROM {{ groups | ident }} AS g
JOIN short_groups AS s
  ON g.label = s.label
JOIN {{ relation | ident }} AS r
  ON g.row_id = r.row_id
JOIN {{ cells | ident }} AS c
  ON {{ columns | same("r", "c") }}
ORDER BY c.cell
