-- The end of a run: its final blob, the results with their caps, the last of its output, and its lock.
-- KEYS 1 rundata 2 rundata:active 3 kron:claims 4 kron:fence 5 kron:outcomes 6 results:<s> 7 results:<job>:<s> 8 output
--      [9 lock]
-- ARGV 1 run_id 2 start time 3 blob before the duration 4 blob after it 5 general cap 6 per-job cap
--      7 lock token 8 the lock is held until this many ms after the start
--      9 only when the heartbeat is older than this many s ('' the run is ours)
--      10 outcome text ('' none) 11 outcomes cap 12 output ttl in s 13 'zset' or 'list'
--      14 number of lines that are there, then lines
-- The first write is one that Redis takes also when it is short of memory: runs must be able to end.
--include result.lua
--include output.lua
local t = redis.call('TIME')
local fence = redis.call('GET', KEYS[4]) or '0'
local now = tonumber(t[1]) + tonumber(t[2]) / 1000000
local stamp = string.format('%d.%06d', t[1], t[2])
local beat = redis.call('ZSCORE', KEYS[2], ARGV[1])
if beat and ARGV[9] ~= '' and tonumber(beat) > now - tonumber(ARGV[9]) then return {'alive', t[1], t[2], fence} end

redis.call('HDEL', KEYS[3], ARGV[1])
if KEYS[9] and redis.call('GET', KEYS[9]) == ARGV[7] then
  local rest = math.ceil((tonumber(ARGV[2]) - now) * 1000 + tonumber(ARGV[8]))
  -- A start in the future, after a step of the clock, must not hold it longer than that.
  if rest > tonumber(ARGV[8]) then rest = tonumber(ARGV[8]) end
  if rest > 0 then
    redis.call('SET', KEYS[9], 'closing:' .. ARGV[1], 'PX', string.format('%.0f', rest))
  else
    redis.call('DEL', KEYS[9])
  end
end
if not beat then return {'over', t[1], t[2], fence} end

if #ARGV > 14 then
  local zset = ARGV[13] == 'zset'
  local have = output_length(KEYS[8], zset)
  append_output(KEYS[8], zset, have, math.min(tonumber(ARGV[14]), have), 15, t)
end
redis.call('EXPIRE', KEYS[8], ARGV[12])
local duration = now - tonumber(ARGV[2])
if duration < 0 then duration = 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3] .. string.format('%.6f', duration) .. ARGV[4])
redis.call('ZREM', KEYS[2], ARGV[1])
keep_result(KEYS[1], KEYS[6], KEYS[7], ARGV[1], stamp, ARGV[5], ARGV[6])
if ARGV[10] ~= '' then redis.call('XADD', KEYS[5], 'MAXLEN', '~', ARGV[11], '*', 'o', ARGV[10]) end
return {'ended', t[1], t[2], fence}
