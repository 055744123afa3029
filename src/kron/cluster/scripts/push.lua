-- Lines of output. A repetition finds more lines than it expects, and skips those.
-- KEYS 1 output
-- ARGV 1 number of lines that are there 2 ttl in s 3 'zset' or 'list', then lines
--include output.lua
local t = redis.call('TIME')
local zset = ARGV[3] == 'zset'
local have = output_length(KEYS[1], zset)
local base = tonumber(ARGV[1])
if have < base then return {'gap', t[1], t[2], '', string.format('%.0f', have)} end
append_output(KEYS[1], zset, have, base, 4, t)
redis.call('EXPIRE', KEYS[1], ARGV[2])
return {'ok', t[1], t[2], '', string.format('%.0f', base + #ARGV - 3)}
