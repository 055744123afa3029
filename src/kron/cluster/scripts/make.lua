-- The record of a job that is seen for the first time. Its revision is the microsecond of now, so that no revision that
-- anybody remembers ever comes again; and it counts from a second that has not begun, because what was due before may
-- have run.
-- KEYS 1 kron:state 2 kron:fence
-- ARGV 1 field 2 record after its revision 3 first sight in it, in s
local t = redis.call('TIME')
local fence = redis.call('GET', KEYS[2]) or '0'
local record = redis.call('HGET', KEYS[1], ARGV[1])
if record then return {'there', t[1], t[2], fence, record} end
if tonumber(ARGV[3]) < tonumber(t[1]) + 1 then return {'early', t[1], t[2], fence} end
local revision = string.format('%.0f', tonumber(t[1]) * 1000000 + tonumber(t[2]))
redis.call('HSET', KEYS[1], ARGV[1], '{"Revision":' .. revision .. ARGV[2])
return {'made', t[1], t[2], fence, revision}
