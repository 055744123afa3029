-- The ids behind `after` of some of the sets live, succeeded and failed, at one moment.
-- KEYS 1 prefix; ARGV 1 after ('': from the first on) 2 how many of each at most, then sets
-- Answer: time, then a list of ids for each set
local q, time = KEYS[1], redis.call('TIME')
local out = {time[1], time[2]}
local from = ARGV[1] == '' and '-' or '(' .. ARGV[1]
for i = 3, #ARGV do out[#out + 1] = redis.call('ZRANGEBYLEX', q .. ARGV[i], from, '+', 'LIMIT', 0, ARGV[2]) end
return out
