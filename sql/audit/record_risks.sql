-- title: The risk of every record, beside what the record is known by
-- source: Benedetti & Franconi (1998), individual risk; Templ, Kowarik & Meindl (2015), household risk: whoever is in none
--   is one alone; Elliot & Manning (2003), DIS-SUDA
-- reads: records (the key, the columns, the household), cells (size), classes (measure: the risk of a record), scored (score
--   and probability of the classes that have one), households (measure), linked (row_id: the key as a struct; attack)
-- returns: the key, class_size, individual_risk, household_risk, suda, dis_suda, linked_by; those that are lacking are NULL
--   and come last
-- params: records, key (the column, what it is called), columns, cells, classes, scored (in a list of one, or none; with the
--   DIS-SUDA of a class without a score: 0, or NULL where none is known), households (likewise), household, linked
--   (likewise), lacking (name and type of what was not measured)
SELECT
  {{ key | listed("r.{1} AS {2}") }},
  c.size AS class_size,
  CAST(i.measure AS DOUBLE) AS individual_risk
{% for relation in households %}
  , CAST(coalesce(h.measure, i.measure) AS DOUBLE) AS household_risk
{% endfor %}
{% for relation, least in scored %}
  , CAST(coalesce(s.score, 0) AS DOUBLE) AS suda
  , coalesce(s.dis_suda, CAST({{ least | lit }} AS DOUBLE)) AS dis_suda
{% endfor %}
{% for relation in linked %}
  , l.attack AS linked_by
{% endfor %}
{% for name, kind in lacking %}
  , CAST(NULL AS {{ kind | sqltype }}) AS {{ name | ident }}
{% endfor %}
FROM {{ records | ident }} AS r
JOIN {{ cells | ident }} AS c ON {{ columns | same("r", "c") }}
JOIN {{ classes | ident }} AS i ON {{ columns | same("r", "i") }}
{% for relation, least in scored %}
LEFT JOIN {{ relation | ident }} AS s ON {{ columns | same("r", "s") }}
{% endfor %}
{% for relation in households %}
LEFT JOIN {{ relation | ident }} AS h ON h.n IS NULL AND {{ household | same("r", "h") }}
{% endfor %}
{% for relation in linked %}
LEFT JOIN {{ relation | ident }} AS l ON l.row_id = { {{ key | listed("'key_{n}': r.{1}") }}}
{% endfor %}
