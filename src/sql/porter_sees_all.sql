-- Row-level security: whether this transaction acts for the operator or the service itself, who see every row.
CREATE OR REPLACE FUNCTION porter_sees_all() RETURNS boolean LANGUAGE sql STABLE
AS $$ SELECT coalesce(current_setting('porter.tenant', true) = '*', false) $$;
