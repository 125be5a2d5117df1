// RUN: not fhelium-opt %s -p 'tune-ntt-schedules{table="%S/Inputs/none.json"}' > %t.out 2> %t.err
// RUN: not fhelium-opt %s -p 'tune-ntt-schedules{table="%S/Inputs/schedules_misfit.json"}' >> %t.out 2>> %t.err
// RUN: not fhelium-opt %s -p 'tune-ntt-schedules{table="%S/Inputs/schedules_field.json"}' >> %t.out 2>> %t.err
// RUN: filecheck %s < %t.err

module {}

// CHECK: error: cannot read schedule table '{{.*}}none.json': No such file or directory
// CHECK: error: schedule table '{{.*}}schedules_misfit.json', entry 0: the schedule has 12 stages, ring degree 8192 needs 13
// CHECK: error: schedule table '{{.*}}schedules_field.json', entry 0: unknown field 'degrees'; did you mean 'degree'?
// CHECK-NOT: error:
