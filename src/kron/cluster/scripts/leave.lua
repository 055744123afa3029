-- A host gives its instance name up. Its member of instances goes too, unless another instance of the host is there.
-- KEYS 1 kron:hosts 2 instances
-- ARGV 1 host 2 owner 3 instance 4 member of instances ('' none)
local t = redis.call('TIME')
local value = redis.call('HGET', KEYS[1], ARGV[3])
if not value or string.match(value, '^{"owner":"([^"]*)"') ~= ARGV[2] then return {'not_ours', t[1], t[2], ''} end
redis.call('HDEL', KEYS[1], ARGV[3])
if ARGV[4] ~= '' then
  local others = redis.call('HEXISTS', KEYS[1], ARGV[1])
  for i = 2, 16 do others = others + redis.call('HEXISTS', KEYS[1], ARGV[1] .. '#' .. i) end
  if others == 0 then redis.call('ZREM', KEYS[2], ARGV[4]) end
end
return {'left', t[1], t[2], ''}
