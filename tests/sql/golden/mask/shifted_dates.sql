-- title: The dates of every person, all moved by the same number of days
-- source: Hripcsak, Mirhaji, Low & Malin (2016); a day is 24 hours, so that every interval stays what it was
-- reads: relation (days or microseconds since 1970), dates (those to be moved), offsets
-- returns: row_id, the columns; what is not moved stays as it is
-- params: relation, dates, offsets, columns (the column, how many of its units are a day)
SELECT
  r.row_id
  , coalesce(d."seen" + o.days * 1, r."seen") AS "seen"
  , coalesce(d."moment" + o.days * 86400000000, r."moment") AS "moment"
FROM "staging"."typed" AS r
JOIN "staging"."dates" AS d ON d.row_id = r.row_id
JOIN "staging"."offsets" AS o ON o.row_id = r.row_id
