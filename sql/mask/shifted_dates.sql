-- title: The dates of every person, all moved by the same number of days
-- source: Hripcsak, Mirhaji, Low & Malin (2016); a day is 24 hours, so that every interval stays what it was
-- reads: relation (days or microseconds since 1970), dates (those to be moved), offsets
-- returns: row_id, the columns; what is not moved stays as it is
-- params: relation, dates, offsets, columns (the column, how many of its units are a day)
SELECT
  r.row_id
{% for column, day in columns %}
  , coalesce(d.{{ column | ident }} + o.days * {{ day | lit }}, r.{{ column | ident }}) AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }} AS r
JOIN {{ dates | ident }} AS d ON d.row_id = r.row_id
JOIN {{ offsets | ident }} AS o ON o.row_id = r.row_id
