-- title: The group of every record: the records of a cell are handed to the groups that hold members of it
-- source: sqlmicro; records of one cell are equal in every column that takes part, so any of them may go to any group
-- reads: relation, cells, members
-- returns: row_id, label; records of members that were dropped are left out
-- params: relation, cells, members, columns
WITH seated AS (
  SELECT
    r.row_id,
    c.cell,
    row_number() OVER (PARTITION BY c.cell ORDER BY r.row_id) AS seat
  FROM {{ relation | ident }} AS r
  JOIN {{ cells | ident }} AS c
    ON {{ columns | same("r", "c") }}
),
spans AS (
  SELECT
    cell,
    label,
    sum(n) OVER (PARTITION BY cell ORDER BY label) AS last_seat,
    last_seat - n + 1 AS first_seat
  FROM {{ members | ident }}
)
SELECT
  s.row_id,
  p.label
FROM seated AS s
JOIN spans AS p
  ON s.cell = p.cell AND s.seat BETWEEN p.first_seat AND p.last_seat
