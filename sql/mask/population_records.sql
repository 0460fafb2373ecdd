-- title: The population in the types of the records; who has a value that a column of the records cannot have is left out
-- source: Sweeney (2002): k-map; a value is the same if it is so after a cast there and back
-- reads: typed
-- returns: row_id (from 0), the columns
-- params: typed, columns (column, its type in the records, its own type), floats (those that may be infinite or NaN)
SELECT
  row_number() OVER () - 1 AS row_id
{% for column, type, own in columns %}
  , TRY_CAST({{ column | ident }} AS {{ type | sqltype }}) AS {{ column | ident }}
{% endfor %}
FROM {{ typed | ident }}
WHERE true
{% for column, type, own in columns %}
  AND ({{ column | ident }} IS NULL
    OR TRY_CAST(TRY_CAST({{ column | ident }} AS {{ type | sqltype }}) AS {{ own | sqltype }}) = {{ column | ident }})
{% endfor %}
{% for column in floats %}
  AND coalesce(isfinite(CAST({{ column | ident }} AS DOUBLE)), true)
{% endfor %}
