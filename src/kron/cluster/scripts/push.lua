-- Lines of output. A repetition finds more lines than it expects, and skips those.
-- KEYS 1 output
-- ARGV 1 number of lines that are there 2 ttl in s 3 'zset' or 'list', then lines
local t = redis.call('TIME')
local zset = ARGV[3] == 'zset'
local have = zset and redis.call('ZCARD', KEYS[1]) or redis.call('LLEN', KEYS[1])
local base = tonumber(ARGV[1])
local skip = have - base
if skip < 0 then return {'gap', t[1], t[2], '', string.format('%.0f', have)} end
if zset then
  local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
  local us = tonumber(t[1]) * 1000000 + tonumber(t[2])
  if last and tonumber(last) * 1000000 >= us then us = math.floor(tonumber(last) * 1000000 + 0.5) + 1 end
  for i = 4 + skip, #ARGV do
    local line = ARGV[i]
    local score = string.format('%.6f', us / 1000000)
    if string.find(line, '%z%d+$') or redis.call('ZADD', KEYS[1], 'NX', score, line) == 0 then
      redis.call('ZADD', KEYS[1], score, line .. '\0' .. string.format('%.0f', base + i - 3))
    end
    us = us + 1
  end
else
  for i = 4 + skip, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[i]) end
end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return {'ok', t[1], t[2], '', string.format('%.0f', base + #ARGV - 3)}
