-- title: The records of a release, each with the number of the person it is about
-- source: sqlmicro: what says whose record it is, is not released; records without it are one person
-- reads: released, original (as it was loaded)
-- returns: row_id, the columns, person
-- params: released, original, person, columns
SELECT
  r.row_id,
{% for column in columns %}
  r.{{ column | ident }},
{% endfor %}
  dense_rank() OVER (ORDER BY {{ person | listed("o.{}") }}) - 1 AS person
FROM {{ released | ident }} AS r
JOIN {{ original | ident }} AS o ON r.row_id = o.row_id
