-- title: The box of every group as text: its stratum, and its range or set in every column
-- source: LeFevre, DeWitt & Ramakrishnan (2006); the ends are those of the released ranges
-- reads: groups (row_id, label), relation
-- returns: the strata, and per column low, high and whether values are missing; of a set the values stand for low
-- params: groups, relation, strata (column, name), ranges, dates, timestamps, sets (column, low, high, missing),
--   order (low, high, missing)
WITH boxes AS (
  SELECT
    g.label
  {% for column, name in strata %}
    , CAST(min(r.{{ column | ident }}) AS VARCHAR) AS {{ name | ident }}
  {% endfor %}
  {% for column, low, high, missing in ranges %}
    , CAST(min(r.{{ column | ident }}) AS VARCHAR) AS {{ low | ident }}
    , CAST(max(r.{{ column | ident }}) AS VARCHAR) AS {{ high | ident }}
    , count(*) > count(r.{{ column | ident }}) AS {{ missing | ident }}
  {% endfor %}
  {% for column, low, high, missing in dates %}
    , CAST(DATE '1970-01-01' + CAST(min(r.{{ column | ident }}) AS INTEGER) AS VARCHAR) AS {{ low | ident }}
    , CAST(DATE '1970-01-01' + CAST(max(r.{{ column | ident }}) AS INTEGER) AS VARCHAR) AS {{ high | ident }}
    , count(*) > count(r.{{ column | ident }}) AS {{ missing | ident }}
  {% endfor %}
  {% for column, low, high, missing in timestamps %}
    , CAST(make_timestamp(CAST(min(r.{{ column | ident }}) AS BIGINT)) AS VARCHAR) AS {{ low | ident }}
    , CAST(make_timestamp(CAST(max(r.{{ column | ident }}) AS BIGINT)) AS VARCHAR) AS {{ high | ident }}
    , count(*) > count(r.{{ column | ident }}) AS {{ missing | ident }}
  {% endfor %}
  {% for column, low, high, missing in sets %}
    , list_sort(list(DISTINCT CAST(r.{{ column | ident }} AS VARCHAR)) FILTER (WHERE r.{{ column | ident }} IS NOT NULL))
      AS {{ low | ident }}
    , NULL AS {{ high | ident }}
    , count(*) > count(r.{{ column | ident }}) AS {{ missing | ident }}
  {% endfor %}
  FROM {{ groups | ident }} AS g
  JOIN {{ relation | ident }} AS r USING (row_id)
  GROUP BY g.label
)
SELECT
  {{ strata | listed("b.{2}, ") }}
  {{ order | listed("b.{1}, b.{2}, b.{3}") }}
FROM boxes AS b
ORDER BY b.label
