#pragma once

namespace kron::exec {

// The run's own directory, made when the first file is to go into it: a run that is abandoned leaves nothing. Nothing
// in it is synced, so the command does not wait for the disk.
class RunDirectory {
 public:
  // `name` is a run id, and outlives this.
  RunDirectory(int runs, const char* name) : runs_(runs), name_(name) {}
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  // Its descriptor, or -1 and errno.
  int get();

  // Says that the run was let go: the gate is open, and nothing is executed yet. Whoever loses the run's record finds
  // it here. A disk that has no room for it does not stop the run, whose record is safe. A run of this id that was held
  // when its daemon died has said that it never ran; that must not be said of this one, should it leave no record, so
  // it is removed.
  void note_start();

  // What the file says of the command's processes is over: they have ended, and others may follow.
  void forget_processes() const;

  // The file by which it said so, to be written to; -1: there is none.
  int started() const { return started_; }

 private:
  int runs_;
  const char* name_;
  int fd_ = -1;
  int started_ = -1;
  bool was_there_ = false;
};

}  // namespace kron::exec
