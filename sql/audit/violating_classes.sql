-- title: The equivalence classes with fewer than k records, smallest first
-- source: Samarati & Sweeney (1998); the values are only shown on request (--show-values)
-- reads: cells
-- returns: the columns as text, size
-- params: cells, plain, as_bits, as_bytes, as_nested_bits, k, most
SELECT
{% for column in plain %}
  CAST({{ column | ident }} AS VARCHAR) AS {{ column | ident }},
{% endfor %}
{% for column in as_bits %}
  CAST(CAST({{ column | ident }} AS {{ column | sqltype }}) AS VARCHAR) AS {{ column | ident }},
{% endfor %}
{% for column in as_bytes %}
  decode({{ column | ident }}) AS {{ column | ident }},
{% endfor %}
{% for column in as_nested_bits %}
  CAST(CAST(CAST(decode({{ column | ident }}) AS {{ column.bits | sqltype }}) AS {{ column | sqltype }}) AS VARCHAR) AS {{ column | ident }},
{% endfor %}
  size
FROM {{ cells | ident }}
WHERE size < {{ k }}
ORDER BY size{{ plain | listed(", encode(CAST({} AS VARCHAR))") }}{{ as_bits | listed(", {}") }}{{ as_bytes | listed(", {}") }}{{ as_nested_bits | listed(", {}") }}
LIMIT {{ most }}
