-- title: How many persons are alike, of each person by what is rarest in its rows
-- source: sqlmicro: Samarati & Sweeney (1998), counted in persons over what joins tell. Rows without a person are one person;
--   those that are joined with nothing tell no more than their table alone
-- reads: relation (joined records)
-- returns: size (of the smallest class that a person is in), persons
-- params: relation, columns, person (columns that say whose record it is), there (whether each of what is joined was there)
WITH alike AS (
  SELECT DISTINCT
{% for column in columns %}
    {{ column | ident }},
{% endfor %}
    { {{ person | listed("'key_{n}': {}") }}} AS person
  FROM {{ relation | ident }}
  WHERE false{% for column in person %} OR {{ column | ident }} IS NOT NULL{% endfor %}
{%- for column in there %}
 OR {{ column | ident }}
{%- endfor %}
),
sized AS (
  SELECT person, count(*) OVER (PARTITION BY {% for column in columns %}{{ column | ident }}, {% endfor %}1) AS size
  FROM alike),
rarest AS (
  SELECT person, min(size) AS size
  FROM sized
  GROUP BY person)
SELECT size, count(*) AS persons
FROM rarest
GROUP BY size
ORDER BY size
