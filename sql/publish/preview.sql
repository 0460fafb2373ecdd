-- title: Some records of a release, of those that share the values of every class with at least k - 1 others
-- source: sqlmicro: a keyed hash draws them, in another order than that of the release
-- reads: released
-- returns: the columns of the release; size, of the smallest class of the record
-- params: released, classes (pairs of columns and k), most
WITH counted AS (
  SELECT
    row_id
  {% for columns, k in classes %}
    , count(*) OVER (PARTITION BY {{ columns | idents }}) AS size_{{ loop.index }}
  {% endfor %}
  FROM {{ released | ident }}
), drawn AS (
  SELECT
    row_id,
    least({{ classes | listed("size_{n}") }}) AS size
  FROM counted
  WHERE true
  {% for columns, k in classes %}
    AND size_{{ loop.index }} >= {{ k }}
  {% endfor %}
  ORDER BY {{ "sqlmicro_order" | draw("row_id", purpose="preview") }}
  LIMIT {{ most }}
)
SELECT
  r.*,
  size
FROM {{ released | ident }} AS r
JOIN drawn USING (row_id)
