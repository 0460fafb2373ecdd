-- title: The sensitive values that seats of a series have, as texts that give the same values again
-- source: sqlmicro
-- reads: remembered (value, column_name, text), relation, seats
-- returns: column_name, value (their hash together), text
-- params: remembered, relation, seats, sensitive
SELECT column_name, value, text
FROM {{ remembered | ident }}
{% for own in sensitive %}
UNION
SELECT
  {{ own.name | lit }},
  CAST(hash(0{% for column in sensitive %}, CAST(r.{{ column | ident }} AS VARCHAR){% endfor %}) >> 1 AS BIGINT),
  CAST(r.{{ own | ident }} AS VARCHAR)
FROM {{ relation | ident }} AS r
SEMI JOIN {{ seats | ident }} AS s USING (row_id)
{% endfor %}
