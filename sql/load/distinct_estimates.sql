-- title: About how many distinct values every column has
-- source: Flajolet, Fusy, Gandouet & Meunier (2007), HyperLogLog
-- reads: relation
-- returns: one row with a number for every column, in their order
-- params: relation, columns
SELECT
{% for column in columns %}
  approx_count_distinct({{ column.name | ident }}) AS distinct_{{ loop.index }}{% if not loop.last %},{% endif %}

{% endfor %}
FROM {{ relation | ident }}
