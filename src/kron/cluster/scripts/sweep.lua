-- Claims of runs that are not active any more, because somebody else ended them, are removed; a page at a time.
-- KEYS 1 kron:claims 2 rundata:active
-- ARGV 1 cursor 2 about how many
local t = redis.call('TIME')
local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local swept = 0
for i = 1, #page[2], 2 do
  if not redis.call('ZSCORE', KEYS[2], page[2][i]) then
    redis.call('HDEL', KEYS[1], page[2][i])
    swept = swept + 1
  end
end
return {'swept', t[1], t[2], '', page[1], string.format('%.0f', swept)}
