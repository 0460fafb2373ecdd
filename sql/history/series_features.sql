-- title: The records as numbers that mean the same in every night of a series
-- source: sqlmicro; a place in an order is that in the type, not that among tonight's values
-- reads: relation
-- returns: in the order of row_id: the numbers and places as DOUBLE, NULL where missing, and a hash of every category
-- params: relation, numbers, places (column, ENUM type), categories
SELECT
  row_id
{% for column in numbers %}
  , CAST({{ column | ident }} AS DOUBLE) AS {{ column | ident }}
{% endfor %}
{% for column, type in places %}
  , CAST(enum_code(CAST({{ column | ident }} AS {{ type | sqltype }})) AS DOUBLE) AS {{ column | ident }}
{% endfor %}
{% for column in categories %}
  , hash(coalesce('=' || CAST({{ column | ident }} AS VARCHAR), '')) AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }}
ORDER BY row_id
