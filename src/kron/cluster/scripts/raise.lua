-- The counter of fencing tokens never goes back: when writes were lost, it jumps beyond every token that was granted, and
-- at least to the microsecond of now: far beyond what any host has seen, though others have seen more than this one.
-- KEYS 1 kron:fence 2 kron:outcomes
-- ARGV 1 highest token that the host has seen 2 how far to jump at least 3 outcomes cap 4 outcome text of lost writes ('' none)
local t = redis.call('TIME')
local fence = redis.call('GET', KEYS[1]) or '0'
if tonumber(fence) >= tonumber(ARGV[1]) then return {'ok', t[1], t[2], fence} end
local now = tonumber(t[1]) * 1000000 + tonumber(t[2])
local raised = string.format('%.0f', math.max(tonumber(ARGV[1]) + tonumber(ARGV[2]), now))
redis.call('SET', KEYS[1], raised)
if ARGV[4] ~= '' then redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '*', 'o', ARGV[4]) end
return {'lost', t[1], t[2], raised, fence}
