-- title: How many of the replaced values another column holds, and in how many records
-- source: sqlmicro: an exact comparison; values that may be met by chance count in a column of the same name only
-- reads: replaced (value, distinctive), relation
-- returns: present (replaced values), records (that hold one)
-- params: replaced, relation, column, kind (type to compare them in), same_name (true or false)
SELECT
  count(DISTINCT v.value) AS present,
  count(*) AS records
FROM {{ relation | ident }} AS t
JOIN {{ replaced | ident }} AS v ON CAST(v.value AS {{ kind | sqltype }}) = CAST(t.{{ column | ident }} AS {{ kind | sqltype }})
WHERE v.distinctive OR {{ same_name | lit }}
