-- A host takes an instance name, or says that it still has it: `host`, or when another owner has that, `host#2` …
-- KEYS 1 kron:hosts 2 instances
-- ARGV 1 host 2 owner 3 the instance that it is now ('' none) 4 a name is free when its heartbeat is older than s
--      5 the entry before its heartbeat, '{"owner":"…",…,"beat":' 6 the entry after it, '}' 7 member of instances ('' none)
local t = redis.call('TIME')
local stamp = string.format('%d.%06d', t[1], t[2])
local now = tonumber(t[1])
local most = 1000
local function name(i)
  if i == 1 then return ARGV[1] end
  return ARGV[1] .. '#' .. string.format('%.0f', i)
end
local function owner_of(instance)
  local value = redis.call('HGET', KEYS[1], instance)
  if not value then return nil end
  local owner = string.match(value, '^{"owner":"([^"]*)"')
  local beat = string.match(value, '"beat":([%d.]+)}$')
  if not owner or not beat then return nil end
  if owner ~= ARGV[2] and now - tonumber(beat) > tonumber(ARGV[4]) then return nil end
  return owner
end
local mine, free
if ARGV[3] ~= '' then
  local owner = owner_of(ARGV[3])
  if not owner or owner == ARGV[2] then mine = ARGV[3] end
end
local holes = 0
local i = 1
-- Names are given from the first on; a long row of unused ones is the end.
while not mine and i <= most and holes < 16 do
  local owner = owner_of(name(i))
  if owner == ARGV[2] then mine = name(i) end
  if not owner then
    free = free or name(i)
    holes = holes + 1
  else
    holes = 0
  end
  i = i + 1
end
local instance = mine or free
if not instance then return {'full', t[1], t[2], ''} end
redis.call('HSET', KEYS[1], instance, ARGV[5] .. stamp .. ARGV[6])
if ARGV[7] ~= '' then redis.call('ZADD', KEYS[2], stamp, ARGV[7]) end
return {'joined', t[1], t[2], '', instance}
