--include tasks.lua
-- Tasks that arrive together.
-- KEYS 1 prefix; ARGV 1 request 2 ageing, then for each task 9 arguments of put_task
-- Answer: time, then for each a word and a task id: accepted, already_known, duplicate, conflict; or wrong and a key.
local q, time = KEYS[1], redis.call('TIME')
local b = batch_of(q, time, ARGV[2])
local wrong = wrong_key(q, 'live', 'zset', 'delayed', 'zset', 'pending', 'hash', 'running', 'hash', 'keys', 'hash',
                        'number', 'string')
if wrong then return wrong end
local out = {time[1], time[2]}
for at = 3, #ARGV, 9 do
  out[#out + 1], out[#out + 2] = put_task(b, at, ARGV[1] .. '.' .. at, '')
end
flush(b)
return out
