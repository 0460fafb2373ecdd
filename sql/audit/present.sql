-- title: How many records there are, and how many have a value in each of some columns
-- source: sqlmicro
-- reads: relation
-- returns: one row: records; present_i for the i-th column
-- params: relation, columns
SELECT
  count(*) AS records
{% for column in columns %}
  , count({{ column | ident }}) AS present_{{ loop.index }}
{% endfor %}
FROM {{ relation | ident }}
