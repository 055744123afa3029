-- How many tasks there are.
-- KEYS 1 prefix; ARGV 1 '1': also by type 2 at how many of a type to look for the oldest
-- Answer: time, pending, running, the second since which the oldest is ready ('': none), then lists: type and number of
--      those that wait, and of those that run
local q, time = KEYS[1], redis.call('TIME')
local leased = redis.call('ZCARD', q .. 'leased')
local pending = math.max(redis.call('ZCARD', q .. 'live') - leased, 0)
local out = {time[1], time[2], string.format('%d', pending), string.format('%d', leased), ''}
if ARGV[1] ~= '1' then return out end
local now = tonumber(time[1])
local oldest
local function note(ready) if ready and ready <= now and (not oldest or ready < oldest) then oldest = ready end end
for i, name in ipairs({'pending', 'running'}) do
  local types = redis.call('HKEYS', q .. name)
  table.sort(types)
  local numbers = {}
  for _, type in ipairs(types) do
    numbers[#numbers + 1] = type
    numbers[#numbers + 1] = redis.call('HGET', q .. name, type)
  end
  out[5 + i] = numbers
end
for i = 1, #out[6], 2 do
  local heads = redis.pcall('ZRANGE', q .. 'ready:' .. out[6][i], 0, tonumber(ARGV[2]) - 1)
  for _, member in ipairs(heads) do note(tonumber(string.sub(member, 1, 10))) end
end
local delayed = redis.call('ZRANGE', q .. 'delayed', 0, 0, 'WITHSCORES')
note(tonumber(delayed[2]))
if oldest then out[5] = string.format('%.0f', oldest) end
return out
