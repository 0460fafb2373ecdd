-- title: One value per record that orders the records: a weighted sum of the columns, each scaled to [0, 1]
-- source: single-axis microaggregation; weights 1/sd give the sum of z-scores, loadings/sd the first principal component
-- reads: relation
-- returns: the strata, row_id, value; a missing value counts as the mean
-- params: relation, by, terms (column, centre, weight)
WITH extent AS (
  SELECT
    count(*) AS records
  {% for column, centre, weight in terms %}
    , min(CAST({{ column | ident }} AS DOUBLE)) AS low_{{ loop.index }}
    , nullif(max(CAST({{ column | ident }} AS DOUBLE)) - low_{{ loop.index }}, 0) AS width_{{ loop.index }}
  {% endfor %}
  FROM {{ relation | ident }}
)
SELECT
  {{ by | listed("{}, ") }}
  row_id,
  0
{% for column, centre, weight in terms %}
  + coalesce(((CAST({{ column | ident }} AS DOUBLE) - low_{{ loop.index }}) / width_{{ loop.index }}
    - {{ centre | lit }}) * {{ weight | lit }}, 0)
{% endfor %}
  AS value
FROM {{ relation | ident }}, extent
