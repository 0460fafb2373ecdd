-- title: The records that have a value in every one of the columns
-- source: sqlmicro, --nulls suppress
-- reads: typed
-- returns: the columns of typed
-- params: typed, columns
SELECT *
FROM {{ typed | ident }}
WHERE
{% for column in columns %}
  {{ column | ident }} IS NOT NULL AND
{% endfor %}
  true
