-- title: The records of the people who are held out of a rehearsal, or of all others
-- source: Giomi, Boenisch, Wehmeyer & Tasnadi (2023): a control group that was not in the table
-- reads: relation; drawn (position: numbers of people, from 0)
-- returns: the columns under their own names, in the order of the table
-- params: relation, drawn, columns, unit, held
SELECT{{ columns | listed("\n  {} AS {name}") }}
FROM (
  SELECT *
  FROM (
    SELECT
      *,
      dense_rank() OVER (ORDER BY {{ unit | idents }}) - 1 AS unit
    FROM (
      SELECT
        row_number() OVER () AS position,
        {{ columns | listed("{name} AS {}") }}
      FROM {{ relation | ident }}
    )
  )
  WHERE (unit IN (SELECT position FROM {{ drawn | ident }})) = {{ held | lit }}
  ORDER BY position
)
