import { branchTests } from './branches.ts'
import { clearTests } from './clear.ts'
import { errorTests } from './errors.ts'
import { executionTests } from './executions.ts'
import { heartbeatTests } from './heartbeats.ts'
import { machineStarter, type OpenMachine } from './machine-fixture.ts'
import { partTests } from './parts.ts'
import { stateTests } from './states.ts'

/** Everything a Machine must do for Sluice; an implementation is admitted by one call of this. */
export function machineSuite(name: string, open: OpenMachine): void {
  const start = machineStarter(open)
  executionTests(name, start)
  stateTests(name, start)
  errorTests(name, start)
  branchTests(name, start)
  partTests(name, open)
  clearTests(name, open)
  heartbeatTests(name, start)
}
