-- title: The rows of a night of a series: records that have a seat, and empty seats
-- source: sqlmicro; every row has the stratum of its class, whatever has become of the person since, and an empty seat the
--   sensitive values it always had
-- reads: relation, seats, empty (row_id above all others, label, value), representatives, texts (value, column_name, text)
-- returns: row_id, record (0 for an empty seat), the columns; what a class gives them comes later
-- params: relation, seats, empty, representatives, texts, strata, sensitive, others
SELECT
  r.row_id,
  r.record
{% for column in strata %}
  , v.{{ column | ident }}
{% endfor %}
{% for column in sensitive %}
  , r.{{ column | ident }}
{% endfor %}
{% for column in others %}
  , r.{{ column | ident }}
{% endfor %}
FROM {{ relation | ident }} AS r
JOIN {{ seats | ident }} AS s USING (row_id)
JOIN {{ representatives | ident }} AS v USING (label)
UNION ALL
SELECT
  e.row_id,
  CAST(0 AS UBIGINT)
{% for column in strata %}
  , v.{{ column | ident }}
{% endfor %}
{% for column in sensitive %}
  , (SELECT CAST(max(t.text) AS {{ column | sqltype }}) FROM {{ texts | ident }} AS t
      WHERE t.value = e.value AND t.column_name = {{ column.name | lit }})
{% endfor %}
{% for column in others %}
  , NULL
{% endfor %}
FROM {{ empty | ident }} AS e
JOIN {{ representatives | ident }} AS v USING (label)
