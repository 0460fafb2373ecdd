-- title: Columns of a table as they are staged, text in place of its bytes
-- source: sqlmicro: ranges are read from their text
-- reads: relation (values)
-- returns: the columns, in the order of the table
-- params: relation, numeric, texts
SELECT
{% for column in numeric %}
  {{ column | ident }},
{% endfor %}
{% for column in texts %}
  decode({{ column | ident }}) AS {{ column | ident }},
{% endfor %}
  n
FROM {{ relation | ident }}
