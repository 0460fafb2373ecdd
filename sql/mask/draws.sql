-- title: Random numbers for the records of an ordered relation; the physical order of the result is its meaning
-- source: sqlmicro: a keyed hash for every eight records, which of its 256 bits get 30 each
-- reads: nothing
-- returns: draw, eight times as many as there are hashes
-- params: stream, hashes
WITH hashed AS (
  SELECT sha256(concat(getvariable('sqlmicro_key'), ' ', {{ stream | lit }}, ' ', range)) AS value
  FROM range({{ hashes | lit }})
),
numbers AS (
  SELECT
    CAST(concat('0x', left(value, 15)) AS BIGINT) AS draw_1,
    CAST(concat('0x', substr(value, 16, 15)) AS BIGINT) AS draw_2,
    CAST(concat('0x', substr(value, 31, 15)) AS BIGINT) AS draw_3,
    CAST(concat('0x', substr(value, 46, 15)) AS BIGINT) AS draw_4
  FROM hashed
)
SELECT
  unnest([
    draw_1 >> 30, draw_1 & 1073741823, draw_2 >> 30, draw_2 & 1073741823,
    draw_3 >> 30, draw_3 & 1073741823, draw_4 >> 30, draw_4 & 1073741823]) AS draw
FROM numbers
