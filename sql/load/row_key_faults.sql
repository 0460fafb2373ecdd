-- title: How many records lack a part of their key, or share it with another
-- source: sqlmicro, --row-key; keys are compared as the database orders them, by their collation: GROUP BY ALL would not
-- reads: relation (the user's table)
-- returns: missing, repeated (records)
-- params: relation, columns
SELECT
  CAST(coalesce(sum(size) FILTER (WHERE false{% for column in columns %} OR {{ column | ident }} IS NULL{% endfor %}), 0) AS BIGINT) AS missing,
  CAST(coalesce(sum(size) FILTER (WHERE size > 1), 0) AS BIGINT) AS repeated
FROM (
  SELECT
  {% for column in columns %}
    {{ column.name | ident }} AS {{ column | ident }},
  {% endfor %}
    count(*) AS size
  FROM {{ relation | ident }}
  GROUP BY {{ columns | listed("{name}") }})
