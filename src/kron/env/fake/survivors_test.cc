#include "kron/env/fake/survivors.h"

#include <gtest/gtest.h>
#include <set>

#include "kron/env/fake/power_cut_file_system.h"
#include "kron/testing/property.h"

namespace kron::testing {
namespace {

using ::testing::Test;

class SurvivorsTest : public Test {
 protected:
  SurvivorsTest() {
    fs_.plant_directory("/s");
    fs_.plant_directory("/t");
    s_ = fs_.open_directory("/s").value();
    t_ = fs_.open_directory("/t").value();
  }

  std::unique_ptr<File> write(std::string_view name, std::string_view bytes) {
    auto file = s_->create(name, 0600).value();
    EXPECT_TRUE(file->write(bytes));
    return file;
  }
  void write_synced(std::string_view name, std::string_view bytes) {
    const auto file = write(name, bytes);
    sync(*file);
  }
  void sync(File& file) {
    File* files[] = {&file};
    EXPECT_TRUE(fs_.sync_together(files)[0]);
  }

  // Every state a power cut may leave, each as "directory/name=contents" in order, zeros shown as '0'.
  std::set<std::string> states() const {
    std::set<std::string> texts;
    const Survivors survivors = survivors_of(fs_.disk(), 10'000, 1);
    EXPECT_TRUE(survivors.exhaustive);
    for (const Survivor& survivor : survivors.all) {
      texts.insert(text_of(fs_.disk().after_power_cut(survivor.kept, survivor.contents)));
    }
    EXPECT_EQ(texts.size(), survivors.all.size()) << "a survivor was counted twice";
    return texts;
  }

  static std::string text_of(const Disk& disk) {
    std::string text;
    for (const std::string directory : {"/s", "/t"}) {
      for (const auto& [name, id] : disk.at(*disk.find_path(directory)).entries) {
        std::string data = disk.at(id).data;
        for (char& c : data) c = c == '\0' ? '0' : c;
        text += (text.empty() ? "" : " ") + directory.substr(1) + "/" + name + "=" + data;
      }
    }
    return text;
  }

  using States = std::set<std::string>;
  PowerCutFileSystem fs_;
  std::unique_ptr<Directory> s_;
  std::unique_ptr<Directory> t_;
};

TEST_F(SurvivorsTest, NothingPendingLeavesOneState) {
  fs_.plant_file("/s/a", "A");
  EXPECT_EQ(states(), States{"s/a=A"});
}

TEST_F(SurvivorsTest, AnUnsyncedFileMayVanishOrTear) {
  write("a", "wxyz");
  EXPECT_EQ(states(), (States{"", "s/a=", "s/a=wxyz", "s/a=0000", "s/a=wx", "s/a=wx00", "s/a=00yz", "s/a=wxy"}));
}

TEST_F(SurvivorsTest, ASyncedFileMayLoseItsNameButNotItsContents) {
  write_synced("a", "wxyz");
  EXPECT_EQ(states(), (States{"", "s/a=wxyz"}));
}

TEST_F(SurvivorsTest, ANameSyncedWithoutItsContentsMayTear) {
  write("a", "wxyz");
  ASSERT_TRUE(s_->sync());
  EXPECT_EQ(states(), (States{"s/a=", "s/a=wxyz", "s/a=0000", "s/a=wx", "s/a=wx00", "s/a=00yz", "s/a=wxy"}));
}

TEST_F(SurvivorsTest, AfterBothSyncsItSurvives) {
  write_synced("a", "wxyz");
  ASSERT_TRUE(s_->sync());
  EXPECT_EQ(states(), States{"s/a=wxyz"});
}

TEST_F(SurvivorsTest, OnlyBytesWrittenAfterTheSyncTear) {
  const auto file = write("a", "wx");
  sync(*file);
  ASSERT_TRUE(s_->sync());
  ASSERT_TRUE(file->write("yz"));
  EXPECT_EQ(states(), (States{"s/a=wx", "s/a=wxyz", "s/a=wx00", "s/a=wxy", "s/a=wxy0", "s/a=wx0z"}));
}

TEST_F(SurvivorsTest, ARenameIsKeptOrLostAsAWhole) {
  fs_.plant_file("/s/a", "old");
  write_synced("tmp", "new");
  ASSERT_TRUE(s_->sync());
  ASSERT_TRUE(s_->rename("tmp", *s_, "a", IfTaken::replace));
  EXPECT_EQ(states(), (States{"s/a=old s/tmp=new", "s/a=new"}));
  ASSERT_TRUE(s_->sync());
  EXPECT_EQ(states(), States{"s/a=new"});
}

TEST_F(SurvivorsTest, ARenameOverUnsyncedContentsMayLeaveATornFileUnderTheFinalName) {
  fs_.plant_file("/s/a", "old");
  write("tmp", "wxyz");
  ASSERT_TRUE(s_->rename("tmp", *s_, "a", IfTaken::replace));
  const States found = states();
  EXPECT_TRUE(found.contains("s/a="));
  EXPECT_TRUE(found.contains("s/a=0000"));
  EXPECT_TRUE(found.contains("s/a=old"));
  EXPECT_FALSE(found.contains(""));
}

TEST_F(SurvivorsTest, ARenameBetweenDirectoriesMayLeaveBothNamesNeverNone) {
  fs_.plant_file("/s/a", "A");
  ASSERT_TRUE(s_->rename("a", *t_, "a", IfTaken::refuse));
  EXPECT_EQ(states(), (States{"s/a=A", "s/a=A t/a=A", "t/a=A"}));
  ASSERT_TRUE(t_->sync());
  EXPECT_EQ(states(), (States{"s/a=A t/a=A", "t/a=A"}));
  ASSERT_TRUE(s_->sync());
  EXPECT_EQ(states(), States{"t/a=A"});
}

TEST_F(SurvivorsTest, SyncingOnlyTheSourceOfARenameMakesAllOfItSafe) {
  fs_.plant_file("/s/a", "A");
  ASSERT_TRUE(s_->rename("a", *t_, "a", IfTaken::refuse));
  ASSERT_TRUE(s_->sync());
  EXPECT_EQ(states(), States{"t/a=A"});
}

TEST_F(SurvivorsTest, ARemovalMayBeUndone) {
  fs_.plant_file("/s/a", "A");
  ASSERT_TRUE(s_->remove("a"));
  EXPECT_EQ(states(), (States{"s/a=A", ""}));
  ASSERT_TRUE(s_->sync());
  EXPECT_EQ(states(), States{""});
}

TEST_F(SurvivorsTest, ChangesOfDifferentNamesSurviveInAnyOrder) {
  fs_.plant_file("/s/a", "A");
  write_synced("b", "B");
  ASSERT_TRUE(s_->remove("a"));
  EXPECT_EQ(states(), (States{"s/a=A", "s/a=A s/b=B", "s/b=B", ""}));
}

TEST_F(SurvivorsTest, ChangesOfOneNameSurviveInTheirOrder) {
  write_synced("a", "1");
  ASSERT_TRUE(s_->remove("a"));
  write_synced("a", "2");
  ASSERT_TRUE(s_->rename("a", *s_, "b", IfTaken::refuse));
  EXPECT_EQ(states(), (States{"", "s/a=1", "s/a=2", "s/b=2"})) << "never s/b=2 beside an older s/a";
}

TEST_F(SurvivorsTest, WhatIsInADirectoryWhoseNameIsLostIsLost) {
  ASSERT_TRUE(s_->make_directory("d", 0700));
  auto d = s_->open_directory("d").value();
  auto file = d->create("a", 0600).value();
  ASSERT_TRUE(file->write("A"));
  sync(*file);
  ASSERT_TRUE(d->sync());
  std::set<bool> found;
  for (const Survivor& survivor : survivors_of(fs_.disk(), 100, 1).all) {
    found.insert(fs_.disk().after_power_cut(survivor.kept, survivor.contents).find_path("/s/d/a").has_value());
  }
  EXPECT_EQ(found, (std::set<bool>{false, true}));
}

TEST_F(SurvivorsTest, AFailedFileSyncLosesPagesForGood) {
  const auto file = write("a", "wxyz");
  ASSERT_TRUE(s_->sync());
  fs_.fail_change(fs_.changes(), Fault::io_error);
  File* files[] = {file.get()};
  ASSERT_FALSE(fs_.sync_together(files)[0]);
  EXPECT_TRUE(fs_.sync_together(files)[0]) << "the second sync says ok, as Linux does";
  EXPECT_EQ(s_->read("a", 9)->bytes, "wxyz") << "readers still see the page cache";
  EXPECT_TRUE(states().contains("s/a=0000"));
}

TEST_F(SurvivorsTest, AFailedDirectorySyncLeavesNamesUncertainForGood) {
  write_synced("a", "A");
  fs_.fail_change(fs_.changes(), Fault::io_error);
  ASSERT_FALSE(s_->sync());
  EXPECT_TRUE(s_->sync());
  EXPECT_EQ(states(), (States{"", "s/a=A"}));
}

TEST_F(SurvivorsTest, AnInterruptedSyncLosesNothing) {
  write_synced("a", "A");
  fs_.fail_change(fs_.changes(), Fault::interrupted);
  ASSERT_FALSE(s_->sync());
  ASSERT_TRUE(s_->sync());
  EXPECT_EQ(states(), States{"s/a=A"});
}

TEST_F(SurvivorsTest, HugeProductsAreSampledWithTheExtremesAmongThem) {
  for (int i = 0; i < 20; ++i) write("f" + std::to_string(i), "contents");
  const Survivors survivors = survivors_of(fs_.disk(), 200, 7);
  EXPECT_FALSE(survivors.exhaustive);
  EXPECT_EQ(survivors.all.size(), 200U);
  std::set<std::string> texts;
  for (const Survivor& survivor : survivors.all) {
    texts.insert(text_of(fs_.disk().after_power_cut(survivor.kept, survivor.contents)));
  }
  EXPECT_TRUE(texts.contains("")) << "everything lost";
  EXPECT_TRUE(texts.contains(text_of(fs_.disk()))) << "everything kept";
}

TEST_F(SurvivorsTest, SamplesDependOnTheSeedOnly) {
  for (int i = 0; i < 20; ++i) write("f" + std::to_string(i), "contents");
  const auto text_with = [&](std::uint64_t seed) {
    std::string text;
    for (const Survivor& survivor : survivors_of(fs_.disk(), 100, seed).all) text += describe(fs_.disk(), survivor);
    return text;
  };
  EXPECT_EQ(text_with(7), text_with(7));
  EXPECT_NE(text_with(7), text_with(8));
}

// Random histories: what a reader sees is one of the survivors, and after syncing everything it is the only one.
TEST(Survivors, TheLiveViewIsAlwaysOneOfThem) {
  for_all(60, [](const std::vector<std::uint8_t>& script) {
    PowerCutFileSystem fs;
    fs.plant_directory("/s");
    const auto s = fs.open_directory("/s").value();
    for (std::size_t i = 0; i < std::min<std::size_t>(script.size(), 8); ++i) {
      const std::string a(1, static_cast<char>('a' + script[i] % 3));
      const std::string b(1, static_cast<char>('a' + script[i] / 3 % 3));
      switch (script[i] / 16 % 5) {
        case 0:
          if (auto file = s->create(a, 0600)) RC_ASSERT((*file)->write(b).has_value());
          break;
        case 1:
          static_cast<void>(s->remove(a));
          break;
        case 2:
        case 3:
          static_cast<void>(s->rename(a, *s, b, IfTaken::replace));
          break;
        default:
          static_cast<void>(s->sync());
      }
    }
    const auto entries = fs.disk().at(*fs.disk().find_path("/s")).entries;
    const Survivors survivors = survivors_of(fs.disk(), 100'000, 1);
    RC_ASSERT(survivors.exhaustive);
    const bool found = std::any_of(survivors.all.begin(), survivors.all.end(), [&](const Survivor& survivor) {
      const Disk left = fs.disk().after_power_cut(survivor.kept, survivor.contents);
      return left.at(*left.find_path("/s")).entries == entries;
    });
    RC_ASSERT(found);
    RC_ASSERT(s->sync().has_value());
    for (const Survivor& survivor : survivors_of(fs.disk(), 100'000, 1).all) {
      const Disk left = fs.disk().after_power_cut(survivor.kept, survivor.contents);
      RC_ASSERT(left.at(*left.find_path("/s")).entries == entries);
    }
  });
}

}  // namespace
}  // namespace kron::testing
