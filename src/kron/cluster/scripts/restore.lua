-- A record is put back, or replaced, by what a host knows: it was lost, or is behind, or is none at all.
-- KEYS 1 kron:state 2 kron:fence
-- ARGV 1 field 2 record after its revision 3 the revision must be greater than this
--      4 what must be there now: 'absent', 'revision' or 'text' 5 that revision or text
--      6 field to which what is there now is moved ('' none)
local t = redis.call('TIME')
local fence = redis.call('GET', KEYS[2]) or '0'
local record = redis.call('HGET', KEYS[1], ARGV[1])
local revision = record and string.match(record, '^{"Revision":(%d+),')
local expected = not record
if ARGV[4] == 'revision' then expected = revision == ARGV[5] end
if ARGV[4] == 'text' then expected = record == ARGV[5] end
if not expected then
  if not record then return {'gone', t[1], t[2], fence} end
  if not revision then return {'corrupt', t[1], t[2], fence, record} end
  return {'newer', t[1], t[2], fence, record}
end
local next = tonumber(t[1]) * 1000000 + tonumber(t[2])
if next <= tonumber(ARGV[3]) then next = tonumber(ARGV[3]) + 1 end
if revision and next <= tonumber(revision) then next = tonumber(revision) + 1 end
next = string.format('%.0f', next)
if ARGV[6] ~= '' then redis.call('HSET', KEYS[1], ARGV[6], record) end
redis.call('HSET', KEYS[1], ARGV[1], '{"Revision":' .. next .. ARGV[2])
return {'done', t[1], t[2], fence, next}
