-- title: The population as the records were recoded; who is in no class is left out
-- source: Sweeney (2002): k-map
-- reads: population, values (row_id and the columns that were recoded)
-- returns: the columns
-- params: population, values, columns (the column, r where it stays or v where it was recoded)
SELECT
{% for column, alias in columns %}
  {{ alias | ident }}.{{ column | ident }},
{% endfor %}
FROM {{ population | ident }} AS r
JOIN {{ values | ident }} AS v USING (row_id)
