#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

#include "kron/core/time_zone.h"
#include "kron/testing/golden.h"

namespace kron {
namespace {

// The zone files below tests/data/zoneinfo decide what their names mean in this test program, whatever the system's
// database says: they are read before the first test, and the zone library reads a name only once per process. All
// other names come from the system.
class PinnedZones : public ::testing::Environment {
 public:
  void SetUp() override {
    namespace fs = std::filesystem;
    const fs::path root = testing::data_path("zoneinfo");
    ASSERT_EQ(setenv("TZDIR", root.c_str(), 1), 0);
    ZoneDatabase zones;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
      const std::string name = fs::relative(entry.path(), root).string();
      if (entry.is_regular_file() && name.find('.') == std::string::npos) {
        ASSERT_TRUE(zones.find(name)) << name;
      }
    }
    ASSERT_EQ(unsetenv("TZDIR"), 0);
  }
};

const ::testing::Environment* const kPinned = ::testing::AddGlobalTestEnvironment(new PinnedZones);

}  // namespace
}  // namespace kron
