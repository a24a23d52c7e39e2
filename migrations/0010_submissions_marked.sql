-- What has happened is never refused: a form that a patient sent is recorded, and marked where the submission type was not to take it. Nodes of
-- the version before refuse such a form, so what they write has no mark.
ALTER TABLE form_submissions
  -- The type had taken as many forms on that day as its daily_limit allows, or more.
  ADD COLUMN over_limit    boolean NOT NULL DEFAULT false,
  ADD COLUMN suspended     boolean NOT NULL DEFAULT false,
  ADD COLUMN outside_hours boolean NOT NULL DEFAULT false;
