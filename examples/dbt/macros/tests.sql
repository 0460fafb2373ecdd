{# Generic tests of a release: each reads a macro that `sqlmicro macros` installs, and returns a row if it does not hold. #}

{% test sqlmicro_k_anonymity(model, quasi, k) %}
SELECT * FROM sm_k_anonymity({{ sqlmicro.name(model) }}, {{ sqlmicro.names(quasi) }})
WHERE coalesce(k, 0) < {{ sqlmicro.number(k) }}
{% endtest %}

{% test sqlmicro_l_diversity(model, quasi, sensitive, l) %}
SELECT * FROM sm_l_diversity({{ sqlmicro.name(model) }}, {{ sqlmicro.names(quasi) }}, {{ sqlmicro.text(sensitive) }})
WHERE coalesce(distinct_l, 0) < {{ sqlmicro.number(l) }}
{% endtest %}

{% test sqlmicro_entropy_l_diversity(model, quasi, sensitive, l) %}
SELECT * FROM sm_l_diversity({{ sqlmicro.name(model) }}, {{ sqlmicro.names(quasi) }}, {{ sqlmicro.text(sensitive) }})
WHERE coalesce(entropy_l, 0) < {{ sqlmicro.number(l) }} * (1 - 1e-9)
{% endtest %}

{% test sqlmicro_t_closeness(model, quasi, sensitive, t) %}
SELECT * FROM sm_t_closeness({{ sqlmicro.name(model) }}, {{ sqlmicro.names(quasi) }}, {{ sqlmicro.text(sensitive) }}) AS found
WHERE coalesce(found.t, 1) > {{ sqlmicro.number(t) }} * (1 + 1e-9)
{% endtest %}

{% test sqlmicro_prosecutor_risk(model, quasi, highest) %}
SELECT * FROM sm_risk({{ sqlmicro.name(model) }}, {{ sqlmicro.names(quasi) }}) AS found
WHERE coalesce(found.highest, 1) > {{ sqlmicro.number(highest) }} * (1 + 1e-9)
{% endtest %}

{% test sqlmicro_safe_distance(model, original, columns, distance) %}
SELECT * FROM sm_safe_distance({{ sqlmicro.name(original) }}, {{ sqlmicro.name(model) }}, {{ sqlmicro.names(columns) }}) AS found
WHERE coalesce(found.distance, 1) > {{ sqlmicro.number(distance) }} * (1 + 1e-9)
{% endtest %}
