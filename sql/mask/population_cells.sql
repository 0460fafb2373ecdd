-- title: The combinations of the records, then those of the population only, numbered, with how many of both have them
-- source: Sweeney (2002): k-map
-- reads: relation, population
-- returns: cell (from 0), the columns, n (records), members (of the population)
-- params: relation, population, columns
SELECT
  row_number() OVER (ORDER BY count(row_id) = 0, {{ columns | idents }}) - 1 AS cell
{% for column in columns %}
  , {{ column | ident }}
{% endfor %}
  , count(row_id) AS n
  , count(*) - count(row_id) AS members
FROM (
  SELECT {{ columns | idents }}, row_id
  FROM {{ relation | ident }}
  UNION ALL
  SELECT {{ columns | idents }}, NULL
  FROM {{ population | ident }})
GROUP BY {{ columns | idents }}
