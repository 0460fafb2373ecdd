-- title: The classes of a local recoding, in the order in which a record is tried
-- source: sqlmicro
-- reads: nothing, the classes stand here
-- returns: place, the strata as text, and per column its level (0 is the value as it is) and its value as text
-- params: classes (how many), strata (name, texts), columns (level, value, levels, values)
SELECT
  unnest(range({{ classes | lit }})) AS place
{% for name, texts in strata %}
  , unnest(CAST({{ texts | lit }} AS VARCHAR[])) AS {{ name | ident }}
{% endfor %}
{% for level, value, levels, values in columns %}
  , unnest({{ levels | lit }}) AS {{ level | ident }}
  , unnest(CAST({{ values | lit }} AS VARCHAR[])) AS {{ value | ident }}
{% endfor %}
