// RUN: not fhelium-opt %s -p "assign-streams{streams=9}" 2>&1 | filecheck %s --check-prefix=MANY
// RUN: not fhelium-opt %s -p "assign-streams{streams=-1}" 2>&1 | filecheck %s --check-prefix=NEGATIVE
// RUN: not fhelium-opt %s -p "assign-streams{device=abacus}" 2>&1 | filecheck %s --check-prefix=DEVICE

// MANY: error: assign-streams: streams = 9 is not a number from 1 to 8
// NEGATIVE: error: assign-streams: streams = -1 is not a number from 1 to 8
// DEVICE: error: unknown device 'abacus'
func.func private @present() -> ()
