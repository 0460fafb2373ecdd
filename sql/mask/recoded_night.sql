-- title: The records of a night of a series as the recoding has them
-- source: sqlmicro
-- reads: relation, values (row_id, the columns that were recoded)
-- returns: row_id, record, the columns, the others, and place: the number of a record that the recoding does not know
-- params: relation, values, columns (column, where it comes from, type), others, partial (who is not recoded stays as she is)
SELECT
  r.row_id,
  r.record,
{% for column, alias, type in columns %}
  CASE WHEN v.row_id IS NOT NULL THEN {{ alias | ident }}.{{ column | ident }}
    WHEN {{ partial | lit }} THEN CAST(r.{{ column | ident }} AS {{ type | sqltype }}) END AS {{ column | ident }},
{% endfor %}
  {{ others | listed("r.{}, ") }}
  CASE WHEN v.row_id IS NULL AND NOT {{ partial | lit }} THEN r.row_id END AS place
FROM {{ relation | ident }} AS r
LEFT JOIN {{ values | ident }} AS v USING (row_id)
