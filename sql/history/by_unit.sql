-- title: The records of a night, each as a record of its person or household: all of one draw the same for the same values
-- source: sqlmicro; hashed as in history/whose.sql. Records that lack a part of the key are those of one
-- reads: relation (row_id, the columns), original (row_id, the columns of the unit)
-- returns: row_id, record (of the unit), the columns
-- params: relation, original, unit (columns), columns
SELECT
  r.row_id,
  CASE
    WHEN false{% for column in unit %} OR o.{{ column | ident }} IS NULL{% endfor %} THEN hash(NULL)
    ELSE hash({{ unit | listed("o.{}") }})
  END AS record
{% for column in columns %}
  , r.{{ column | ident }}
{% endfor %}
FROM {{ relation | ident }} AS r
JOIN {{ original | ident }} AS o USING (row_id)
