-- Place by place, the sum of two lists of counts; the longer one decides how many there are.
CREATE OR REPLACE FUNCTION add_counts(one bigint[], other bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT array_agg(coalesce(a, 0) + coalesce(b, 0) ORDER BY place) FROM unnest(one, other) WITH ORDINALITY AS both_of_them (a, b, place)
$$;
