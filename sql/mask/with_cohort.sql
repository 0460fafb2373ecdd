-- title: The records of a night of a series, some as they were recoded by themselves
-- source: sqlmicro
-- reads: relation, cohort (both of recoded_night.sql)
-- returns: row_id, record, the columns, the others, place
-- params: relation, cohort, columns (in the types of relation), others
SELECT
  row_id,
  record,
{% for column in columns %}
  {{ column | ident }},
{% endfor %}
  {{ others | listed("{}, ") }}
  place
FROM {{ relation | ident }}
ANTI JOIN {{ cohort | ident }} USING (row_id)
UNION ALL
SELECT
  row_id,
  record,
{% for column in columns %}
  CAST({{ column | ident }} AS {{ column | sqltype }}),
{% endfor %}
  {{ others | listed("{}, ") }}
  place
FROM {{ cohort | ident }}
