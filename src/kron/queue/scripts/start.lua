--include tasks.lua
-- LEASED becomes IN_PROGRESS, or a lease lasts one more term. Both may be asked again.
-- KEYS 1 prefix; ARGV 1 'start' or 'renew', then for each: task id, token in its execution id, token
-- Answer: time, the end of the first lease in us ('': none), then for each a word: accepted, lease_lost, duplicate, not_found; or wrong
local q, time = KEYS[1], redis.call('TIME')
local b = batch_of(q, time, '0')
local wrong = wrong_key(q, 'leased', 'zset')
if wrong then return wrong end
local out = {time[1], time[2], ''}
for at = 2, #ARGV, 3 do
  local id = ARGV[at]
  local key = q .. 't:' .. id
  local v = redis.pcall('HMGET', key, 's', 't', 'e', 'a', 'x', 'n', 'T', 'o')
  local word = judged(v, ARGV[at + 1], ARGV[at + 2], b.us)
  if word == 'accepted' then
    local ends, limit = tonumber(v[3]), tonumber(v[4])
    if ARGV[1] == 'renew' then
      ends = b.us + (tonumber(v[7]) or 60) * 1000000
      redis.call('HSET', key, 'e', whole(ends))
    elseif v[1] == 'L' then
      redis.call('HSET', key, 's', 'R', 'g', time[1], 'u', time[1])
      if tonumber(v[8]) then
        limit = b.us + tonumber(v[8]) * 1000000
        redis.call('HSET', key, 'a', whole(limit))
      end
    end
    later(b.add, 'leased', whole(math.min(ends, limit or ends)), id)
  end
  out[#out + 1] = word
end
flush(b)
out[3] = first_end(q)
return out
