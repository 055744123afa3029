"""Our connection to Redis with a real server: large, refused, encrypted, killed, stopped."""

import unittest

from redis_host import Authority, RedisServer, wait_until
from talker import Talker

# What the documentation tells people to give to Kron.
ACL = "kron on >word ~{cronken}:* &{cronken}:* +@read +@write +@scripting +@pubsub +info +role +wait +client|setname"


class Connection(unittest.TestCase):
    def test_ten_thousand_commands_are_one_pipeline(self):
        with RedisServer() as redis, Talker(redis.url()) as talker:
            self.assertEqual(talker.connect(), f"127.0.0.1:{redis.port}")
            answer = talker.ask(repeat=10_000, command=["INCR", "n"], timeout=60_000)
            self.assertEqual(answer["values"], list(range(1, 10_001)))
            self.assertEqual(redis.cli("GET", "n"), "10000")
            # Commands and answers that fill every buffer on the way, at the same time.
            redis.cli("SET", "large", "x" * 100_000)
            answer = talker.ask(repeat=300, command=["GETSET", "large", "y" * 100_000], timeout=60_000)
            self.assertEqual(answer["counts"], {"reply": 300})
            self.assertIn("name=kron", redis.cli("CLIENT", "LIST"))

    def test_fifty_megabytes_go_there_and_come_back(self):
        with Authority() as authority:
            for options in ({}, {"authority": authority}):
                with RedisServer(**options) as redis, Talker(redis.url()) as talker:
                    self.assertIsInstance(talker.connect(), str)
                    answer = talker.ask(big=50 * 1024 * 1024, timeout=60_000)
                    self.assertTrue(answer["same"], answer)

    def test_a_database_is_selected(self):
        with RedisServer() as redis, Talker(redis.url(db=3)) as talker:
            talker.connect()
            self.assertEqual(talker.values(["SET", "a", "1"]), ["OK"])
            self.assertIn("db3:keys=1", redis.cli("INFO", "keyspace"))
            with Talker(redis.url(db=999)) as other:
                self.assertEqual(other.connect()["code"], "refused")

    def test_a_unix_socket(self):
        with RedisServer(unix_socket=True) as redis:
            with Talker(f"redis+unix://{redis.socket_path}?db=2") as talker:
                self.assertEqual(talker.connect(), str(redis.socket_path))
                talker.values(["SET", "a", "1"])
            with Talker(f"redis+unix://{redis.socket_path}-not") as talker:
                self.assertEqual(talker.connect()["code"], "unreachable")

    def test_nobody_there(self):
        with RedisServer() as redis, Talker(redis.url()) as talker:
            redis.stop()
            answer = talker.connect()
            self.assertEqual(answer["code"], "unreachable")
            self.assertIn("Connection refused", answer["message"])
            redis.start()
            self.assertIsInstance(talker.connect(), str)

    def test_passwords(self):
        with RedisServer(password="se/cr@t", acl=[ACL]) as redis:
            with Talker(redis.url(password="se%2Fcr%40t")) as talker:
                self.assertIsInstance(talker.connect(), str)
            with Talker(redis.url(password="hunter2")) as talker:
                answer = talker.connect()
                self.assertEqual(answer["code"], "refused")
                self.assertIn("WRONGPASS", answer["message"])
                self.assertNotIn("hunter2", answer["message"])
            with Talker(f"redis://127.0.0.1:{redis.port}") as talker:
                answer = talker.connect()
                self.assertEqual(answer["code"], "refused")
                self.assertIn("wants a password", answer["message"])
        with RedisServer() as redis, Talker(redis.url(password="none")) as talker:
            self.assertEqual(talker.connect()["code"], "refused")

    def test_a_user_with_the_documented_permissions(self):
        with RedisServer(password="root", acl=[ACL]) as redis:
            with Talker(redis.url(user="kron", password="word"), "{cronken}:jobs") as talker:
                self.assertIsInstance(talker.connect(), str)
                self.assertEqual(talker.values(["SET", "{cronken}:a", "1"], ["ROLE"])[0], "OK")
                replies = talker.call(["SET", "other", "1"], ["CONFIG", "GET", "save"], ["GET", "{cronken}:a"])
                self.assertEqual([reply["how"] for reply in replies], ["error", "error", "reply"])
                self.assertIn("NOPERM", replies[0]["why"])
                self.assertEqual(talker.subscribe("{cronken}:__events__"), {})
                answer = talker.subscribe("other")
                self.assertEqual(answer["code"], "refused")
                self.assertIn("NOPERM", answer["message"])

    def test_too_many_clients(self):
        with RedisServer(options=["maxclients 1"]) as redis:
            with redis.client(), Talker(redis.url()) as talker:
                self.assertEqual(talker.connect()["code"], "unreachable")


class Tls(unittest.TestCase):
    def test_the_right_authority_and_name(self):
        with Authority() as authority, RedisServer(authority=authority, password="secret") as redis:
            for host in ("127.0.0.1", "localhost"):
                with Talker(redis.url(host=host)) as talker:
                    self.assertEqual(talker.connect(), f"{host}:{redis.port}")
                    self.assertEqual(talker.values(["PING"]), ["PONG"])
                    self.assertEqual(talker.subscribe("channel"), {})
                    redis.cli("PUBLISH", "channel", "hello")
                    self.assertEqual(talker.next()["payload"], "hello")
                    answer = talker.ask(repeat=10_000, command=["ECHO", "x" * 100], timeout=60_000)
                    self.assertEqual(answer["counts"], {"reply": 10_000})

    def test_another_authority(self):
        with Authority() as authority, Authority() as other, RedisServer(authority=authority) as redis:
            for query in (f"?ca_file={other.ca_file}", ""):  # and the system's, which know nothing of ours
                with Talker(f"rediss://127.0.0.1:{redis.port}{query}") as talker:
                    answer = talker.connect()
                    self.assertEqual(answer["code"], "refused", answer)
                    self.assertIn("certificate is not accepted", answer["message"])

    def test_another_name(self):
        with Authority(names=["DNS:redis.example"]) as authority, RedisServer(authority=authority) as redis:
            with Talker(redis.url()) as talker:
                answer = talker.connect()
                self.assertEqual(answer["code"], "refused", answer)
                self.assertIn("127.0.0.1", answer["message"])
            with Talker(redis.url(host="localhost")) as talker:
                self.assertEqual(talker.connect()["code"], "refused")
            with Talker(redis.url() + "&server_name=redis.example") as talker:
                self.assertIsInstance(talker.connect(), str)

    def test_a_certificate_of_ours(self):
        with Authority() as authority:
            with RedisServer(authority=authority, options=["tls-auth-clients yes"]) as redis:
                ours = authority.certificate()
                with Talker(f"{redis.url()}&cert_file={ours.cert_file}&key_file={ours.key_file}") as talker:
                    self.assertIsInstance(talker.connect(), str)
                with Talker(redis.url()) as talker:
                    self.assertEqual(talker.connect()["code"], "unreachable")

    def test_one_side_without_tls(self):
        with Authority() as authority, RedisServer(authority=authority) as redis:
            with Talker(f"redis://127.0.0.1:{redis.port}") as talker:
                self.assertEqual(talker.connect()["code"], "unreachable")
        with RedisServer() as redis, Talker(f"rediss://127.0.0.1:{redis.port}") as talker:
            answer = talker.connect(2000)
            self.assertEqual(answer["code"], "unreachable")
            self.assertIn("TLS", answer["message"])


class Losses(unittest.TestCase):
    def test_a_server_killed_in_the_middle_of_a_pipeline(self):
        with RedisServer() as redis, Talker(redis.url()) as talker:
            talker.connect()
            redis.suspend()
            talker.begin(repeat=1000, command=["INCR", "n"], timeout=60_000)
            redis.kill()
            counts = talker.answer()["counts"]
            self.assertEqual(set(counts) - {"lost", "not_sent", "reply"}, set())
            self.assertGreater(counts.get("lost", 0) + counts.get("not_sent", 0), 0)
            self.assertEqual(talker.hows(["PING"]), ["not_sent"])
            redis.start()
            self.assertIsInstance(talker.connect(), str)
            self.assertEqual(talker.values(["PING"]), ["PONG"])

    def test_a_client_that_is_killed_while_it_is_idle_has_sent_nothing(self):
        with RedisServer() as redis, Talker(redis.url()) as talker:
            talker.connect()
            self.assertEqual(redis.cli("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"), 1)
            self.assertEqual(talker.hows(["INCR", "n"], ["INCR", "n"]), ["not_sent", "not_sent"])
            self.assertIsNone(redis.cli("GET", "n"))
            talker.connect()
            self.assertEqual(talker.values(["INCR", "n"]), [1])

    def test_a_client_that_is_killed_while_it_waits_has_lost_its_answer(self):
        with RedisServer() as redis, Talker(redis.url()) as talker:
            talker.connect()
            talker.begin(call=[["INCR", "n"], ["BLPOP", "list", "0"], ["INCR", "n"]], timeout=60_000)
            wait_until(lambda: "blocked_clients:1" in redis.cli("INFO", "clients"), "it is blocked")
            redis.cli("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            self.assertEqual([reply["how"] for reply in talker.answer()["replies"]], ["reply", "lost", "lost"])

    def test_a_server_that_hangs_loses_what_was_asked_and_its_late_answers_go_nowhere(self):
        with RedisServer() as redis, Talker(redis.url()) as talker:
            talker.connect()
            redis.suspend()
            self.assertEqual(talker.hows(["INCR", "n"], timeout=300), ["lost"])
            answer = talker.connect(300)
            self.assertEqual(answer["code"], "unreachable")
            redis.resume()
            talker.connect()
            # The lost command was executed after all: that is what lost means.
            self.assertEqual(talker.values(["ECHO", "mine"], ["GET", "n"]), ["mine", "1"])

    def test_a_demoted_master_is_an_error_and_the_end_of_the_connection(self):
        with RedisServer() as redis, RedisServer() as other, Talker(redis.url()) as talker:
            talker.connect()
            redis.cli("REPLICAOF", "127.0.0.1", other.port)
            script = "return redis.call('SET', KEYS[1], '1')"
            for command in (["SET", "a", "1"], ["EVAL", script, 1, "a"]):
                talker.connect()
                replies = talker.call(command)
                self.assertIn("READONLY", replies[0]["why"])
                self.assertEqual(talker.hows(["PING"]), ["not_sent"])

    def test_an_answer_beyond_the_limit_is_a_loss(self):
        with RedisServer() as redis, Talker(redis.url()) as talker:
            talker.connect()
            script = "local x = {} for i = 1, 2097152 do x[i] = 1 end return x"
            replies = talker.call(["EVAL", script, 0])
            self.assertEqual(replies[0]["how"], "lost")
            self.assertIn("more than 2097152 values", replies[0]["why"])


class Subscription(unittest.TestCase):
    def test_messages_arrive_and_a_killed_subscriber_is_told(self):
        with RedisServer() as redis, Talker(redis.url()) as talker:
            self.assertEqual(talker.subscribe("one", "two"), {})
            redis.cli("PUBLISH", "two", "a\r\nb")
            self.assertEqual(talker.next(), {"channel": "two", "payload": "a\r\nb"})
            self.assertEqual(talker.next(50), {})
            redis.cli("CLIENT", "KILL", "TYPE", "pubsub")
            answer = talker.next()
            self.assertEqual(answer["code"], "unreachable")
            self.assertEqual(talker.subscribe("one"), {})
            redis.cli("PUBLISH", "one", "again")
            self.assertEqual(talker.next()["payload"], "again")
            redis.kill()
            self.assertEqual(talker.next()["code"], "unreachable")
            self.assertEqual(talker.subscribe("one")["code"], "unreachable")

    def test_signs_of_life_keep_a_silent_subscription_alive_and_a_hanging_server_is_noticed(self):
        with RedisServer() as redis, Talker(redis.url(), ping_after=200) as talker:
            talker.subscribe("one")
            self.assertEqual(talker.next(2000), {})
            self.assertIn("cmd=ping", redis.cli("CLIENT", "LIST", "TYPE", "pubsub"))
            redis.suspend()
            answer = talker.next()
            self.assertIn("no sign of life", answer["message"])

    def test_a_subscriber_that_is_too_slow_is_cut_and_told(self):
        with RedisServer(options=["client-output-buffer-limit pubsub 1mb 1mb 1"]) as redis:
            with Talker(redis.url()) as talker, redis.client() as client:
                talker.subscribe("one")
                wait_until(lambda: client.call("PUBLISH", "one", "x" * 500_000) == 0, "the subscriber is cut")
                for _ in range(1000):
                    answer = talker.next()
                    if "code" in answer:
                        break
                self.assertEqual(answer.get("code"), "unreachable")


if __name__ == "__main__":
    unittest.main()
