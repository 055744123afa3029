-- Forgets tasks that are over, the oldest first. Asked again with the same request id it says the same.
-- KEYS 1 prefix; ARGV 1 'before' a time in s, or 'beyond' a number of tasks 2 that 3 state letter ('': any)
--      4 how many to pass by: those that were looked at before and stay 5 how many to look at at most 6 to remove at most
--      7 request 8 for how many s it is remembered
-- Answer: time, how many were removed, how many were looked at and stay, '1': there may be more
local q, time = KEYS[1], redis.call('TIME')
local grant = q .. 'grant:' .. ARGV[7]
local removed, stay, more = string.match(redis.call('GET', grant) or '', '^(%d+) (%d+) (1?)$')
if removed then return {time[1], time[2], removed, stay, more} end
local ids
if ARGV[1] == 'before' then
  ids = redis.call('ZRANGEBYSCORE', q .. 'over', '-inf', '(' .. ARGV[2], 'LIMIT', ARGV[4], ARGV[5])
else
  local too_many = math.min(redis.call('ZCARD', q .. 'over') - tonumber(ARGV[2]), tonumber(ARGV[5]))
  ids = too_many > 0 and redis.call('ZRANGE', q .. 'over', 0, too_many - 1) or {}
end
local most, looked = tonumber(ARGV[6]), 0
removed, stay = 0, 0
for _, id in ipairs(ids) do
  if removed == most then break end
  looked = looked + 1
  local state = redis.pcall('HGET', q .. 't:' .. id, 's')
  local is_over = state == 'S' or state == 'F'
  if is_over and ARGV[3] ~= '' and state ~= ARGV[3] then
    stay = stay + 1
  else
    redis.call('ZREM', q .. 'over', id)
    redis.call('ZREM', q .. 'succeeded', id)
    redis.call('ZREM', q .. 'failed', id)
    if is_over then
      redis.call('UNLINK', q .. 't:' .. id, q .. 'effects:' .. id)
      removed = removed + 1
    end
  end
end
more = (#ids > looked or #ids == tonumber(ARGV[5])) and '1' or ''
if removed > 0 then redis.call('SET', grant, removed .. ' ' .. stay .. ' ' .. more, 'EX', ARGV[8]) end
return {time[1], time[2], string.format('%d', removed), string.format('%d', stay), more}
