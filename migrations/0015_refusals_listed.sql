-- Refused calls can be listed by operators, newest first: of everybody, of a partner, for a practice, or by the ID of the request.
-- The number gives each a place in that order. Refusals are written behind the answers, so an index more is in nobody's way.
ALTER TABLE refused_requests ADD COLUMN no bigint GENERATED ALWAYS AS IDENTITY;
CREATE INDEX refused_requests_in_order ON refused_requests ((no + 0));
CREATE INDEX refused_requests_by_request ON refused_requests (request_id, no);
CREATE INDEX refused_requests_by_partner ON refused_requests (partner_id, no);
CREATE INDEX refused_requests_by_group ON refused_requests (practice_group_id, no) WHERE practice_group_id IS NOT NULL;
