-- title: The records of a release, each with the number of the person it is about
-- source: sqlmicro: what says whose record it is, is not released; records that lack a part of it are one person
-- reads: released, original (as it was loaded)
-- returns: row_id, the columns, person (a number of her own: 1 + the smallest row_id of hers, 0 for those of nobody)
-- params: released, original, person, columns
SELECT
  r.row_id,
{% for column in columns %}
  r.{{ column | ident }},
{% endfor %}
  CASE
    WHEN false{% for column in person %} OR o.{{ column | ident }} IS NULL{% endfor %} THEN 0
    ELSE 1 + min(o.row_id) OVER (PARTITION BY {{ person | listed("o.{}") }})
  END AS person
FROM {{ released | ident }} AS r
JOIN {{ original | ident }} AS o ON r.row_id = o.row_id
