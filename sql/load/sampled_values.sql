-- title: A sample of the distinct values of every column, as text
-- source: sqlmicro; an aggregate, since a condition on distinct values would be tried on every row
-- reads: relation
-- returns: place (of the column, from 1), path (empty), value (without blanks around it, and none that is empty then); about as
--   many of each column as were asked for, chosen by their hash: the same ones whatever the order of the table
-- params: relation, plain (columns with their place, and every how many values one is taken), floats (the same; whole
--   numbers are written without a decimal point), nested (the same; written as JSON), most (values of a column), blanks
SELECT 0 AS place, '' AS path, '' AS value
WHERE false
{% for column, place, every in plain %}
UNION ALL
(SELECT DISTINCT {{ place | lit }} AS place, '' AS path, trim(CAST(value AS VARCHAR), {{ blanks | lit }}) AS value
FROM (
  SELECT any_value({{ column.name | ident }}) AS value
  FROM {{ relation | ident }}
  WHERE hash({{ column.name | ident }}) % {{ every | lit }} = 0
  GROUP BY {{ column.name | ident }})
WHERE trim(CAST(value AS VARCHAR), {{ blanks | lit }}) <> ''
ORDER BY hash(value), value
LIMIT {{ most }})
{% endfor %}
{% for column, place, every in floats %}
UNION ALL
(SELECT
  {{ place | lit }} AS place,
  '' AS path,
  CASE
    WHEN abs(value) < 1e18 AND floor(value) = value THEN CAST(CAST(value AS BIGINT) AS VARCHAR)
    ELSE CAST(value AS VARCHAR)
  END AS value
FROM (
  SELECT DISTINCT {{ column.name | ident }} AS value
  FROM {{ relation | ident }}
  WHERE hash({{ column.name | ident }}) % {{ every | lit }} = 0)
WHERE value IS NOT NULL
ORDER BY hash(value), value
LIMIT {{ most }})
{% endfor %}
{% for column, place, every in nested %}
UNION ALL
(SELECT DISTINCT {{ place | lit }} AS place, '' AS path, CAST(to_json(value) AS VARCHAR) AS value
FROM (
  SELECT DISTINCT {{ column.name | ident }} AS value
  FROM {{ relation | ident }}
  WHERE hash({{ column.name | ident }}) % {{ every | lit }} = 0)
WHERE value IS NOT NULL
ORDER BY hash(value), value
LIMIT {{ most }})
{% endfor %}
