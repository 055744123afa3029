#include "editor.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "command_rig.h"
#include "kron/testing/temporary_directory.h"

// The reader's editor.
namespace kron::cli::editor_test {
namespace {

TEST(Editor, ItsWordsAreTakenApartWithoutAShell) {
  const std::pair<const char*, Words> cases[] = {
      {"vi", {"vi"}},
      {"  code   --wait ", {"code", "--wait"}},
      {"'/opt/my editor/ed' -x", {"/opt/my editor/ed", "-x"}},
      {R"("a b"\ c)", {"a b c"}},
      {R"(a'\'b)", {R"(a\b)"}},
      {R"("a\"b")", {R"(a"b)"}},
      {"vi; rm -rf $HOME `x` $(y) *", {"vi;", "rm", "-rf", "$HOME", "`x`", "$(y)", "*"}},
      {"vi ''", {"vi", ""}},
  };
  for (const auto& [command, words] : cases) {
    const auto read = editor_words(command);
    ASSERT_TRUE(read) << command;
    EXPECT_EQ(*read, words) << command;
  }
  for (const char* none : {"", "   ", "''", "vi 'x", "\"vi"}) EXPECT_FALSE(editor_words(none)) << none;
}

TEST(Editor, IsGivenTheLineOnlyIfItIsKnownToTakeIt) {
  EXPECT_EQ(editor_command({"vi"}, "/etc/a.kron", 7), (Words{"vi", "+7", "/etc/a.kron"}));
  EXPECT_EQ(editor_command({"/usr/bin/nano", "-w"}, "/etc/a.kron", 7),
            (Words{"/usr/bin/nano", "-w", "+7", "/etc/a.kron"}));
  EXPECT_EQ(editor_command({"code", "--wait"}, "/etc/a.kron", 7), (Words{"code", "--wait", "/etc/a.kron"}));
  EXPECT_EQ(editor_command({"vi"}, "/etc/a.kron", 0), (Words{"vi", "/etc/a.kron"}));
  EXPECT_EQ(editor_command({"vi"}, "-x.kron", 0), (Words{"vi", "./-x.kron"})) << "no option";
}

TEST(Editor, IsTheOneOfTheEnvironment) {
  const Variable visual("VISUAL", nullptr);
  const Variable editor("EDITOR", "ed");
  EXPECT_EQ(editors(), Words{"ed"});
  const Variable first("VISUAL", "emacs -nw");
  EXPECT_EQ(editors(), Words{"emacs -nw"});
  const Variable none("VISUAL", "");
  const Variable neither("EDITOR", "");
  EXPECT_EQ(editors(), (Words{"sensible-editor", "editor", "vi"}));
}

TEST(Editor, OneThatIsNotThereIsPassedOver) {
  const testing::TemporaryDirectory directory;
  const std::string file = directory.file("a");
  std::ofstream(file) << "x";
  EXPECT_TRUE(edit_file({"/nonexistent/editor", "true"}, file, 1));
  EXPECT_EQ(edit_file({"/nonexistent/editor"}, file, 1).error().code, Code::not_found);
  EXPECT_THAT(edit_file({"false"}, file, 1).error().message, HasSubstr("ended with an error"));
  EXPECT_EQ(edit_file({file}, file, 1).error().code, Code::io) << "not to be executed";
}

}  // namespace
}  // namespace kron::cli::editor_test
