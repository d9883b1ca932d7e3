// tests/bench/count_instructions.c - a plugin of QEMU that counts instructions between marks.
//
// A mark is the system call getppid: each prints how many instructions ran before it.
//
//     cc -shared -fPIC -O2 tests/bench/count_instructions.c -o count.so
//     QEMU_PLUGIN=./count.so qemu-aarch64 PROGRAM
//
// One thread is counted rightly. QEMU's header is not needed: what is used of it is declared here,
// as version 1 of the interface has it (QEMU 6.0 to 8.2).
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define VISIBLE __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
typedef void (*on_translation)(plugin_id id, struct qemu_plugin_tb* block);
typedef void (*on_system_call)(plugin_id id, unsigned processor, int64_t number, uint64_t a1,
                               uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                               uint64_t a7, uint64_t a8);
enum operation { add_u64 };

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, on_translation f);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id id, on_system_call f);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* block, enum operation op,
                                              void* counter, uint64_t value);

VISIBLE int qemu_plugin_version = 1;

static uint64_t instructions;
static const int64_t getppid_of_aarch64 = 173;

static void translated(plugin_id id, struct qemu_plugin_tb* block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_inline(block, add_u64, &instructions,
                                           qemu_plugin_tb_n_insns(block));
}

static void called(plugin_id id, unsigned processor, int64_t number, uint64_t a1, uint64_t a2,
                   uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  (void)id, (void)processor, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7,
      (void)a8;
  if (number == getppid_of_aarch64) fprintf(stderr, "instructions %" PRIu64 "\n", instructions);
}

VISIBLE int qemu_plugin_install(plugin_id id, const void* info, int count, char** arguments) {
  (void)info, (void)count, (void)arguments;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_vcpu_syscall_cb(id, called);
  return 0;
}
