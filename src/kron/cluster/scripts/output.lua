-- Part of other scripts: the output of a run, by its lines. In a sorted set lines are in the order of their scores, and
-- one that is there already, or that looks so, has its number behind it.
local function output_length(key, zset)
  return zset and redis.call('ZCARD', key) or redis.call('LLEN', key)
end

-- Puts ARGV[first] and what follows behind the first `base` lines. Of `have` that are there, those that are more than
-- `base` have come before, and are not put again.
local function append_output(key, zset, have, base, first, t)
  local from = first + have - base
  if not zset then
    for i = from, #ARGV do redis.call('RPUSH', key, ARGV[i]) end
    return
  end
  local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')[2]
  local us = tonumber(t[1]) * 1000000 + tonumber(t[2])
  if last and tonumber(last) * 1000000 >= us then us = math.floor(tonumber(last) * 1000000 + 0.5) + 1 end
  for i = from, #ARGV do
    local line = ARGV[i]
    local score = string.format('%.6f', us / 1000000)
    if string.find(line, '%z%d+$') or redis.call('ZADD', key, 'NX', score, line) == 0 then
      redis.call('ZADD', key, score, line .. '\0' .. string.format('%.0f', base + i - first + 1))
    end
    us = us + 1
  end
end
