-- title: The records of a release, each with the number of the unit it counts as
-- source: sqlmicro: what says which household a record belongs to is not released; those that say nothing count as one
-- reads: released, members (row_id, counted)
-- returns: row_id, the columns, person
-- params: released, members, columns
SELECT
  r.row_id,
{% for column in columns %}
  r.{{ column | ident }},
{% endfor %}
  m.counted AS person
FROM {{ released | ident }} AS r
JOIN {{ members | ident }} AS m USING (row_id)
