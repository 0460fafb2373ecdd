-- title: The levels of a column as numbers
-- source: sqlmicro
-- reads: ladder
-- returns: in the order of the values, what is missing last: the number of every class from 0, and its share
-- params: ladder, levels (code, share)
SELECT
  code_0 - 1 AS code_0
{% for code, share in levels %}
  , {{ code | ident }} - 1 AS {{ code | ident }}
  , CAST({{ share | ident }} AS DOUBLE) AS {{ share | ident }}
{% endfor %}
FROM {{ ladder | ident }}
ORDER BY code_0
